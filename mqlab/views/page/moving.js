// What moves, on a canvas of our own above the figure: all flights of a run in one pass, without a paint of Bokeh.
// Messages that leave together are one mark with their number; of very many each mark stands for k, and the caption
// says so: none is left out in silence.
const MOST_MARKS = 400,
  STANDS_FOR = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];
const HALFWAY = 0.45; // where a message stands under reduced motion
const NON_PERSISTENT = 1,
  REDELIVERED = 2,
  DUPLICATE = 4; // bits of flights.flags
const USUAL_LOOKS = {
  token: ["d1", "d2", "d3", "d0", "d0", "d0", "demand"],
  shape: ["circle", "hexagon", "triangle", "circle", "hexagon", "triangle", "chevron"],
  kind: ["queue", "queue", "queue", "queue", "queue", "queue", "subscription"]
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const moving = { most: MOST_MARKS }; // marks of one run at once

player.moving = moving;

// Flights of one way, look and moment are one burst: `head` is its first, `size` how many they are. `chain` numbers
// the ways and looks, `order` the bursts in each, so that marks that stand for several are always the same ones.
/** @type {(flights: Tables["flights"]) => Bursts} */
const bursts = (flights) => {
  const n = flights.t0.length,
    head = new Int32Array(n),
    size = new Int32Array(n);
  const chain = new Int32Array(n),
    order = new Int32Array(n);
  const open = new Map(),
    chains = new Map(),
    lengths = [];
  for (let i = 0; i < n; i++) {
    const lane = `${flights.way[i]} ${flights.look[i]} ${flights.flags?.[i] ?? 0}`;
    if (!chains.has(lane)) {
      chains.set(lane, chains.size);
      lengths.push(0);
    }
    const c = chains.get(lane),
      last = open.get(c);
    const same = last !== undefined && flights.t0[last] === flights.t0[i] && flights.took[last] === flights.took[i];
    head[i] = same ? last : i;
    if (same) {
      size[last]++;
      continue;
    }
    open.set(c, i);
    size[i] = 1;
    chain[i] = c;
    order[i] = lengths[c]++;
  }
  return { head, size, chain, order, count: chains.size };
};

// All marks at time t: where each is, how many it stands for. Kept in one list that is used again.
/** @type {(p: Panel, t: number) => { marks: Mark[]; total: number; k: number }} */
const marksAt = (p, t) => {
  const { t0, took, way, look, msg } = p.flights,
    { head, size, chain, order } = p.bursts,
    w = p.ways,
    found = [];
  let total = 0;
  for (let i = after(t0, t - p.longest - 1e-9); i < t0.length && t0[i] <= t; i++) {
    if (head[i] !== i || t >= t0[i] + took[i]) continue;
    total += size[i];
    if (p.groupOf?.size && w.frm[way[i]] === w.to_node[way[i]]) continue; // within a closed group
    found.push(i);
  }
  const k = STANDS_FOR.find((k) => found.length <= k * moving.most) ?? STANDS_FOR.at(-1);
  const taken = new Map();
  const marks = [];
  // Between groups one line stands for several: what goes over them together is one mark.
  const keyOf =
    p.groupOf?.size && k === 1
      ? (i) => `${w.frm[way[i]]} ${w.to_node[way[i]]} ${look[i]} ${p.flights.flags?.[i] ?? 0} ${t0[i]} ${took[i]}`
      : (i) => chain[i] * 1e6 + Math.floor(order[i] / k);
  const merges = k > 1 || p.groupOf?.size > 0;
  for (const i of found) {
    if (merges) {
      const key = keyOf(i),
        before = taken.get(key);
      if (before) {
        before.count += size[i];
        continue;
      }
    }
    const share = calm.matches ? HALFWAY : (t - t0[i]) / took[i],
      e = way[i];
    const u = w.from[e] + share * (w.to[e] - w.from[e]),
      v = 1 - u;
    const mark = {
      x: v * v * w.x0[e] + 2 * u * v * w.cx[e] + u * u * w.x1[e],
      y: v * v * w.y0[e] + 2 * u * v * w.cy[e] + u * u * w.y1[e],
      look: look[i],
      flags: p.flights.flags?.[i] ?? 0,
      count: size[i],
      msg: msg[i],
      way: e
    };
    if (merges) taken.set(keyOf(i), mark);
    marks.push(mark);
  }
  return { marks, total, k };
};

// A figure's frame and ranges, in CSS px; y may run up or down.
/** @param {Panel} p */
const measure = (p) => {
  const stage = p.source("stage"),
    box = viewOf(stage)?.frame?.bbox;
  if (box == null || box.width <= 0) return null;
  const { x_range: xr, y_range: yr } = stage;
  return {
    left: box.left,
    top: box.top,
    width: box.width,
    height: box.height,
    x: (x) => box.left + ((x - xr.start) / (xr.end - xr.start)) * box.width,
    y: (y) => box.bottom - ((y - yr.start) / (yr.end - yr.start)) * box.height,
    unit: box.width / Math.abs(xr.end - xr.start)
  };
};
player.panels.forEach((p) => {
  p.xy = (x, y) => {
    const at = measure(p);
    return at && [at.x(x), at.y(y)];
  };
  p.unit = () => measure(p)?.unit ?? 1;
  p.hit = (px, py) => {
    const at = measure(p),
      near = (p.marks ?? []).filter((m) => at && Math.hypot(at.x(m.x) - px, at.y(m.y) - py) <= p.size + 3);
    return near.length ? near.at(-1) : null;
  };
});

// The canvas lies above Bokeh's and takes no pointer; it is made again if Bokeh has replaced what it lay in.
/** @param {Panel} p */
const surface = (p) => {
  const view = viewOf(p.source("stage")),
    within = view?.shadow_el;
  if (within == null) return null;
  if (p.canvas == null) {
    p.canvas = element("canvas", { class: "mq-moving", "aria-hidden": "true" });
    Object.assign(p.canvas.style, { position: "absolute", left: 0, top: 0, pointerEvents: "none", zIndex: 5 });
  }
  if (p.canvas.parentNode !== within) {
    within.append(p.canvas);
    const { overlays, primary } = view.canvas_view;
    overlays.el.style.display = "none"; // stays empty: what is not shown is not composed
    primary.el.style.clipPath = "inset(1px 0 0 1px)"; // Bokeh begins half a pixel in, and never clears what is before
  }
  const ratio = devicePixelRatio || 1,
    { width, height } = view.bbox;
  if (p.canvas.width !== Math.round(width * ratio) || p.canvas.height !== Math.round(height * ratio)) {
    p.canvas.width = Math.round(width * ratio);
    p.canvas.height = Math.round(height * ratio);
    Object.assign(p.canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const pen = p.canvas.getContext("2d");
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, p.canvas.width, p.canvas.height);
  return pen;
};

/** @param {Panel} p */
const drawMoving = (p) => {
  const pen = surface(p),
    at = measure(p);
  if (pen == null || at == null || p.flights == null) return;
  const { marks, total, k } = marksAt(p, player.t),
    ratio = devicePixelRatio || 1;
  p.marks = marks;
  p.under = { total, marks: marks.length, k };
  p.size = Math.max(3, Math.min(13, (p.data("meta").mark?.[0] ?? 8) * at.unit));
  const chosen = player.selection?.kind === "message" ? player.selection.msg : null;
  for (const m of marks) {
    const x = at.x(m.x) * ratio,
      y = at.y(m.y) * ratio;
    if (calm.matches) drawTail(pen, p, m, at, ratio);
    if (chosen != null && m.msg === chosen) drawHalo(pen, x, y, (p.size + 5) * ratio);
    const picture = sprite(p, m.look, m.flags, p.size, ratio);
    pen.drawImage(picture, Math.round(x - picture.width / 2), Math.round(y - picture.height / 2));
  }
  drawNumbers(pen, p, at, ratio, chosen);
};

player.on("load", () =>
  player.panels.forEach((p) => {
    p.flights = p.data("flights");
    p.ways = p.data("ways");
    p.bursts = bursts(p.flights);
    p.longest = p.flights.took.reduce((a, b) => Math.max(a, b), 0);
    p.looks = p.data("looks").token?.length ? p.data("looks") : USUAL_LOOKS;
    p.sprites = new Map();
  })
);
const moveAll = () => player.panels.forEach(drawMoving);
// Bokeh lays its figure out after its size has been set: once it has, what moves is put where it belongs.
player.on("ready", () => {
  const watch = untilEnd(new ResizeObserver(() => requestAnimationFrame(() => root.document != null && moveAll())));
  for (const p of player.panels) watch.observe(viewOf(p.source("stage")).el);
});
player.on("theme", () => {
  for (const p of player.panels) p.sprites = new Map();
  moveAll();
});
for (const name of /** @type {const} */ (["time", "size", "select"])) player.on(name, moveAll);
