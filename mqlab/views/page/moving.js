// What moves: every flight under way, put on its curve. In place, so that nothing leaves the page.
const CAPACITY = 1500; // moving things of one look that are drawn at once
const LOOKS = 7;

const loadMoving = (p) => {
  p.dots = Array.from({ length: LOOKS }, (_, look) => get(`dots ${look}${p.end}`));
  for (const source of p.dots) {
    source.data = { x: new Float64Array(CAPACITY).fill(NaN), y: new Float64Array(CAPACITY).fill(NaN),
                    msg: new Array(CAPACITY).fill("") };
  }
  p.used = new Array(LOOKS).fill(0);
  p.flights = p.data("flights");
  p.ways = p.data("ways");
  p.longest = p.flights.took.reduce((a, b) => Math.max(a, b), 0);
};

const drawMoving = (p, t) => {
  const { t0, took, way, look, msg } = p.flights, w = p.ways, count = new Array(LOOKS).fill(0);
  for (let i = after(t0, t - p.longest - 1e-9); i < t0.length && t0[i] <= t; i++) {
    const share = (t - t0[i]) / took[i], e = way[i];
    if (share >= 1 || count[look[i]] >= CAPACITY) continue;
    const u = w.from[e] + share * (w.to[e] - w.from[e]), v = 1 - u;
    const k = count[look[i]]++, dots = p.dots[look[i]].data;
    dots.x[k] = v * v * w.x0[e] + 2 * u * v * w.cx[e] + u * u * w.x1[e];
    dots.y[k] = v * v * w.y0[e] + 2 * u * v * w.cy[e] + u * u * w.y1[e];
    dots.msg[k] = String(msg[i]);
  }
  for (let l = 0; l < LOOKS; l++) {
    for (let k = count[l]; k < p.used[l]; k++) p.dots[l].data.x[k] = NaN;
    if (count[l] || p.used[l]) p.dots[l].change.emit();
    p.used[l] = count[l];
  }
};

player.on("load", () => player.panels.forEach(loadMoving));
player.on("time", (t) => player.panels.forEach((p) => drawMoving(p, t)));
