// The one axis of everything that has time on it: seconds of playing from left to right, between the same gutters,
// with the same folds. The overview shows the whole; what lies below it a window.
const GUTTER = 158,
  MARGIN = 22,
  NARROW_GUTTER = 92;
const axis = { from: 0, to: 1, width: 600 };
const gutter = () => (axis.width < 700 ? NARROW_GUTTER : GUTTER);
const span = () => Math.max(1, axis.width - gutter() - MARGIN);
const xOf = (t, from = axis.from, to = axis.to) => gutter() + ((t - from) / (to - from || 1)) * span();
const timeAt = (x, from = axis.from, to = axis.to) => from + ((x - gutter()) / span()) * (to - from);

const setWindow = (from, to) => {
  const least = player.duration / 5000,
    length = Math.max(least, Math.min(player.duration, to - from));
  axis.from = Math.max(0, Math.min(player.duration - length, from));
  axis.to = axis.from + length;
  player.emit("window");
};

// The axis of a long run is in seconds.
const isLong = () => (player.panels[0].data("clock").t?.at(-1) ?? 0) >= 2000;
// With as many digits as an eye can follow.
const roughTime = (ms) => (ms >= 1000 ? `${(ms / 1000).toFixed(3)} s` : `${ms.toFixed(1)} ms`);
// The time at which the picture stands, to the microsecond where something happens.
const nowText = () => {
  const ms = player.runTime(player.panels[0], player.t),
    { t = [] } = player.panels[0].data("clock");
  return !player.playing && Math.abs(t[after(t, ms - 5e-4)] - ms) < 5e-4 ? timeText(ms) : roughTime(ms);
};

// A canvas as sharp as the screen, `draw`n again when told to.
const makeCanvas = (height, attributes) => {
  const canvas = element("canvas", { "aria-hidden": "true", ...attributes });
  canvas.style.display = "block";
  const fit = (tall = height) => {
    const ratio = devicePixelRatio || 1,
      wide = Math.max(1, axis.width);
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(tall * ratio);
      Object.assign(canvas.style, { width: `${wide}px`, height: `${tall}px` });
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, tall);
    return pen;
  };
  return { canvas, fit };
};

/** @type {(pen: Pen, text: string, x: number, y: number, look?: Letters) => void} */
const write = (pen, text, x, y, { token = "ink3", size = 11, weight = 400, align = "left" } = {}) => {
  pen.font = `${weight} ${size}px ${FONT}`;
  pen.textAlign = /** @type {CanvasTextAlign} */ (align);
  pen.textBaseline = "middle";
  pen.fillStyle = player.colour(token);
  pen.fillText(text, x, y);
};

// A name that does not fit loses its middle, so that what tells names apart at either end stays.
/** @param {CanvasRenderingContext2D} pen @param {string} text */
const shortened = (pen, text, room) => {
  if (pen.measureText(text).width <= room) return text;
  for (let keep = text.length - 1; keep > 2; keep--) {
    const head = Math.ceil(keep * 0.6),
      short = `${text.slice(0, head)}…${text.slice(text.length - (keep - head))}`;
    if (pen.measureText(short).width <= room) return short;
  }
  return "…";
};

// Folds: a zigzag, under it (if there is room) what is folded.
/** @param {CanvasRenderingContext2D} pen */
const drawFolds = (pen, top, bottom, from, to, textY) => {
  const { x0 = [], x1 = [], text = [] } = player.panels[0].data("folds");
  let last = -Infinity;
  for (let i = 0; i < x0.length; i++) {
    const a = xOf(x0[i], from, to),
      b = xOf(x1[i], from, to);
    if (b < gutter() || a > axis.width - MARGIN) continue;
    pen.fillStyle = player.colour("bg");
    pen.fillRect(a, top, Math.max(2, b - a), bottom - top);
    const middle = (a + b) / 2;
    pen.strokeStyle = player.colour("line2");
    pen.lineWidth = 1.2;
    for (const x of b - a > 10 ? [middle - 2.5, middle + 2.5] : [middle]) {
      pen.beginPath();
      for (let y = top, k = 0; y <= bottom; y += 5, k++) pen[k ? "lineTo" : "moveTo"](x + (k % 2 ? 2 : -2), y);
      pen.stroke();
    }
    if (textY == null) continue;
    pen.font = `600 10.5px ${FONT}`;
    const half = pen.measureText(text[i]).width / 2;
    if (middle - half < last + 4) continue;
    write(pen, text[i], middle, textY, { token: "ink2", size: 10.5, weight: 600, align: "center" });
    last = middle + half;
  }
};

// The roundest number between two: a multiple of the greatest of 1, 2, 5 times a power of ten that there is.
/** @param {number} low @param {number} high */
const roundest = (low, high) => {
  if (low <= 0 && high >= 0) return 0;
  for (let power = Math.ceil(Math.log10(high)); power > -7; power--)
    for (const digit of [5, 2, 1]) {
      const step = digit * 10 ** power,
        found = Math.ceil(low / step - 1e-9) * step;
      if (found <= high * (1 + 1e-9)) return Number(found.toPrecision(12));
    }
  return low;
};

// Round times of the run, about a hundred pixels apart; never on top of a fold's length.
/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawRuler = (pen, y, from, to) => {
  const p = player.panels[0],
    { x0 = [], x1 = [] } = p.data("folds"),
    wide = axis.width < 700 ? 80 : 108,
    unit = isLong() ? 1000 : 1;
  const spans = x0.map((x, i) => [xOf(x, from, to) - 44, xOf(x1[i], from, to) + 44]);
  for (let x = gutter(); x <= axis.width - MARGIN + 1; x += wide) {
    if (spans.some(([a, b]) => x > a && x < b)) continue;
    const near = [x - wide / 3, x + wide / 3].map((at) => player.runTime(p, timeAt(at, from, to)) / unit),
      round = roundest(Math.min(...near), Math.max(...near)),
      place = xOf(player.storyTime(round * unit), from, to);
    const us = round * unit * 1000;
    if (Math.abs(us - Math.round(us)) > 1e-6) continue; // a run has no time between two microseconds
    if (spans.some(([a, b]) => place > a && place < b)) continue;
    pen.fillStyle = player.colour("line2");
    pen.fillRect(place, y - 8, 1, 3);
    write(pen, `${round} ${unit > 1 ? "s" : "ms"}`, place, y, {
      size: 10.5,
      align: place > gutter() + 20 ? "center" : "left"
    });
  }
};

player.on("load", () => {
  axis.from = 0;
  axis.to = player.duration;
});
