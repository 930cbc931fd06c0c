// The one axis of everything that has time on it: seconds of playing from left to right, between the same gutters,
// with the same folds. The overview shows the whole; what lies below it a window.
const GUTTER = 158,
  MARGIN = 22,
  NARROW_GUTTER = 92;
const axis = { from: 0, to: 1, width: 600 };
// As wide as its place; while that is not shown, as for a moment when JupyterLab changes its theme, as it was.
const measureAxis = () => {
  if (foot.clientWidth) axis.width = Math.max(200, foot.clientWidth);
};
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

const STEPS = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3] * 10 ** (Math.floor(i / 3) - 6)),
  MOST_OF_STEP = 200;
// Round numbers between two: wherever the axis is even the multiples of one step of 1, 2 or 5, the finest whose
// neighbours are `least` apart there, as `place` puts them.
/** @type {(low: number, high: number, place: (value: number) => number, least: number) => number[]} */
const roundMarks = (low, high, place, least) => {
  const found = [],
    apart = (a, b) => Math.abs(place(a) - place(b)) >= least;
  for (const step of STEPS) {
    const first = Math.ceil(low / step - 1e-9),
      count = Math.floor(high / step + 1e-9) - first + 1;
    if (count > MOST_OF_STEP) continue;
    for (let i = 0; i < count; i++) {
      const value = Number(((first + i) * step).toPrecision(12)),
        beside = [value - step, value + step].filter((other) => other >= low && other <= high);
      if ([...beside, ...found].every((other) => apart(value, other))) found.push(value);
    }
    if (step > high - low && found.length) break;
  }
  return found.sort((a, b) => a - b);
};

// Round times of the run, with even steps wherever it passes evenly; never on top of a fold's length.
/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawRuler = (pen, y, from, to) => {
  const p = player.panels[0],
    { x0 = [], x1 = [] } = p.data("folds"),
    least = axis.width < 700 ? 50 : 62,
    unit = isLong() ? 1000 : 1,
    place = (round) => xOf(player.storyTime(round * unit), from, to),
    end = axis.width - MARGIN;
  const stretches = [];
  let x = gutter();
  x0.forEach((fold, i) => {
    stretches.push([x, Math.min(end, xOf(fold, from, to) - 44)]);
    x = Math.max(x, xOf(x1[i], from, to) + 44);
  });
  stretches.push([x, end]);
  for (const [left, right] of stretches) {
    if (right <= left) continue;
    const [low, high] = [left, right].map((at) => player.runTime(p, timeAt(at, from, to)) / unit);
    for (const round of roundMarks(low, high, place, least)) {
      const us = round * unit * 1000,
        at = place(round);
      if (Math.abs(us - Math.round(us)) > 1e-6) continue; // a run has no time between two microseconds
      pen.fillStyle = player.colour("line2");
      pen.fillRect(at, y - 8, 1, 3);
      write(pen, `${round} ${unit > 1 ? "s" : "ms"}`, at, y, {
        size: 10.5,
        align: at > gutter() + 20 ? "center" : "left"
      });
    }
  }
};

player.on("load", () => {
  axis.from = 0;
  axis.to = player.duration;
});
