// Plays the scenes of a document. Runs once, when the document is ready; everything it reads lies in
// column data sources, so that new columns are a new scene in the same document.
const CAPACITY = 1500; // moving things of one look that are drawn at once
const LOOKS = 7;
const doc = root.document;
const get = (name) => doc.get_model_by_name(name);
const state = { t: 0, duration: 0.01, playing: false, running: false, before: 0, quiet: false, row: -1 };

// The first place in a sorted array whose value is greater than t.
const after = (sorted, t) => {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= t) low = middle + 1; else high = middle;
  }
  return low;
};

// One run on the stage; a comparison has two.
const makePanel = (end) => ({
  source: (name) => get(name + end),
  data: (name) => get(name + end).data,
  dots: Array.from({ length: LOOKS }, (_, look) => get(`dots ${look}${end}`)),
  glyph: (name) => get(name + end).glyph,
  used: new Array(LOOKS).fill(0),
  shown: -1,
});

const loadPanel = (p) => {
  for (const source of p.dots) {
    source.data = { x: new Float64Array(CAPACITY).fill(NaN), y: new Float64Array(CAPACITY).fill(NaN),
                    msg: new Array(CAPACITY).fill("") };
  }
  p.used.fill(0);
  p.shown = -1;
  p.scale = 1;
  p.flights = p.data("flights");
  p.ways = p.data("ways");
  p.longest = p.flights.took.reduce((a, b) => Math.max(a, b), 0);
  p.changes = Float64Array.from([...p.data("depths").t, ...p.data("received").t, ...p.data("states").t]).sort();
  p.brokerOf = new Map(p.data("brokers").node.map((node, i) => [node, i]));
  p.clientOf = new Map(p.data("clients").node.map((node, i) => [node, i]));
  p.duration = p.data("meta").duration[0] ?? 0.01;
  p.data("words").text[0] = p.data("meta").title[0] ?? "";
};

// What moves: every flight under way, put on its curve. In place, so that nothing leaves the page.
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

// The last value that each node has at time t.
const valuesAt = (table, t) => {
  const found = new Map();
  for (let i = 0, n = after(table.t, t); i < n; i++) found.set(table.node[i], table.value[i]);
  return found;
};

// What stays until something happens: depths, counts, who is up, the clock's row in the table.
const drawStanding = (p, t) => {
  const brokers = p.data("brokers"), clients = p.data("clients"), links = p.data("links");
  const depths = valuesAt(p.data("depths"), t), got = valuesAt(p.data("received"), t);
  brokers.up.fill(1); clients.up.fill(0.25); links.up.fill(0.15);
  const s = p.data("states");
  for (let i = 0, n = after(s.t, t); i < n; i++) {
    if (s.what[i] === "broker") brokers.up[p.brokerOf.get(s.number[i])] = s.up[i] || 0.25;
    else if (s.what[i] === "link") links.up[s.number[i]] = s.up[i] || 0.15;
    else clients.up[p.clientOf.get(s.number[i])] = 1;
  }
  for (const [node, i] of p.brokerOf) {
    brokers.font[i] = `${Math.max(6, Math.round(brokers.letters[i] * p.scale))}px`;
    const depth = depths.get(node) ?? 0;
    brokers.depth[i] = depth;
    brokers.gauge[i] = depth ? String(depth) : "";
    brokers.shown[i] = depth ? 1 : 0;
  }
  for (const [node, i] of p.clientOf) {
    const counts = clients.role[i] === "consumer";
    clients.text[i] = counts ? `${clients.name[i]}: ${got.get(node) ?? 0}` : clients.name[i];
  }
  for (const name of ["brokers", "clients", "links"]) p.source(name).change.emit();
};

// Letters inside the circles shrink with the picture; all other words keep their size.
const pixelsPerUnit = (p) => {
  const stage = p.source("stage"), view = Bokeh.index.find_one?.(stage);
  return (view?.frame?.bbox?.width ?? stage.x_range.end) / stage.x_range.end;
};

const runTime = (p, t) => {
  const { play, t: times } = p.data("clock"), i = after(play, t);
  if (i >= play.length) return times[times.length - 1] ?? 0;
  const share = (t - play[i - 1]) / (play[i] - play[i - 1] || 1);
  return times[i - 1] + share * (times[i] - times[i - 1]);
};

// With *at* it is that row of the table; several rows may be of one moment.
const draw = (t, at) => {
  for (const p of panels) {
    drawMoving(p, t);
    const changed = after(p.changes, t), scale = pixelsPerUnit(p);
    if (scale !== p.scale) { p.scale = scale; p.shown = -1; }
    if (changed !== p.shown) { drawStanding(p, t); p.shown = changed; }
    p.data("words").text[1] = `${runTime(p, t).toFixed(1)} ms`;
    p.source("words").change.emit();
  }
  state.row = at ?? after(panels[0].data("events").play, t) - 1;
  log?.mark(state.row);
  state.quiet = true;
  if (Math.abs(time.value - t) > 0.004) time.value = Math.min(t, state.duration);
  state.quiet = false;
};

const seek = (t) => { state.t = Math.max(0, Math.min(state.duration, t)); draw(state.t); };

const tick = (now) => {
  if (!state.playing || root.document == null) { state.running = false; return; }
  state.t += Math.min(0.1, (now - state.before) / 1000) * Number(speed.value);
  state.before = now;
  if (state.t >= state.duration) { play.active = false; seek(state.duration); return; }
  draw(state.t);
  requestAnimationFrame(tick);
};

const setPlaying = (on) => {
  state.playing = on;
  if (!on || state.running) return;
  if (state.t >= state.duration - 1e-6) state.t = 0;
  state.running = true;
  state.before = performance.now();
  requestAnimationFrame(tick);
};

// To one row of the table, however many are of the same moment.
const goTo = (row) => {
  play.active = false;
  const moments = panels[0].data("events").play;
  if (!moments.length) return;
  const at = Math.max(0, Math.min(moments.length - 1, row));
  state.t = Math.min(state.duration, moments[at]);
  draw(state.t, at);
};
const stepTo = (direction) => goTo(state.row + direction);

const load = () => {
  play.active = false;
  state.playing = false;
  panels.forEach(loadPanel);
  state.duration = Math.max(0.01, ...panels.map((p) => p.duration));
  time.setv({ start: 0, end: state.duration, value: 0 });
  log?.load(panels[0].data("events"));
  seek(0);
};

const KEYS = { " ": () => { play.active = !play.active; }, ArrowRight: () => stepTo(1),
               ArrowLeft: () => stepTo(-1), Home: () => seek(0), End: () => seek(state.duration) };
const onKey = (event) => {
  const tag = event.composedPath()[0].tagName;
  if (["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(tag) || event.ctrlKey || event.metaKey) return;
  if (event.composedPath()[0].getAttribute?.("role") === "slider" || !(event.key in KEYS)) return;
  KEYS[event.key]();
  event.preventDefault();
  event.stopPropagation();
};

// Light or dark, as JupyterLab says; in a page of its own as the reader's system says.
const isDark = () => document.body?.dataset.jpThemeLight !== undefined
  ? document.body.dataset.jpThemeLight === "false"
  : matchMedia("(prefers-color-scheme: dark)").matches;
const paint = () => {
  const view = Bokeh.index.find_one?.(root), dark = isDark(), ink = dark ? "#e8e8e8" : "#22262b", line = dark ? "#77838f" : "#8b95a1";
  const paper = dark ? "#1b1e22" : "#ffffff";
  if (document.body && document.body.dataset.jpThemeLight === undefined) {
    Object.assign(document.body.style, { background: paper, color: ink, fontFamily: "Helvetica, Arial, sans-serif" });
  }
  const colours = { ink, paper, stripe: dark ? "#24282d" : "#f3f5f7", mark: dark ? "#3b4a5a" : "#dcebf9" };
  for (const [name, colour] of Object.entries(colours)) view?.el.style.setProperty(`--mq-${name}`, colour);
  for (const p of panels) {
    for (const name of ["client names", "legend words", "title words"]) p.glyph(name).text_color = ink;
    p.glyph("edges").line_color = p.glyph("heads").fill_color = p.glyph("tethers").line_color = line;
    p.glyph("circles").line_color = p.glyph("marks").line_color = p.glyph("discs").fill_color = paper;
  }
};

let log = null; // once its place is on the page
const play = get("play"), time = get("time"), speed = get("speed");
const panels = [makePanel("")];
if (get("stage 2") != null) panels.push(makePanel(" 2"));
load();
paint();
play.properties.active.change.connect(() => setPlaying(play.active));
time.properties.value.change.connect(() => { if (!state.quiet) { play.active = false; seek(time.value >= time.end - 0.002 ? state.duration : time.value); } });
get("back").on_event("button_click", () => stepTo(-1));
get("step").on_event("button_click", () => stepTo(1));
for (const p of panels) p.source("meta").properties.data.change.connect(load);
const watcher = new MutationObserver(() => (root.document == null ? watcher.disconnect() : paint()));
watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
const listen = () => {
  const view = Bokeh.index.find_one ? Bokeh.index.find_one(root) : null;
  if (view == null) { if (root.document != null) requestAnimationFrame(listen); return; }
  const place = Bokeh.index.find_one(get("table"))?.shadow_el;
  if (place == null) { requestAnimationFrame(listen); return; }
  log = makeLog(place, get("table").name, goTo);
  log.load(panels[0].data("events"));
  draw(state.t);
  view.el.tabIndex = 0;
  view.el.addEventListener("keydown", onKey);
  new ResizeObserver(() => { if (root.document != null) draw(state.t); }).observe(view.el);
  paint();
};
listen();
