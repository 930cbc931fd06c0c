// What the parts of the page share: the player, its panels, what was chosen, and who wants to know. All scripts of
// this folder are one closure with `root`; a part adds itself with player.on(...) and is called
//   ready   once, when the places of the page are there
//   load    new columns have come            time   the moment (seconds of playing) or the row has changed
//   play    it plays or has stopped          select something was chosen, or nothing
//   theme   light or dark                    size   the width of the page
//   kernel  somebody answers now, or no more      end    the picture is taken away
const doc = root.document;
// A text of words.toml with its values; of a singular and a plural the one that fits the first value.
/** @param {string} key @param {...(string | number)} values */
const worded = (key, ...values) => {
  const [one, many = one] = TEXTS[key].split(" | ");
  return (String(values[0]) === "1" ? one : many).replace(/\{(\d)\}/g, (_, no) => String(values[no]));
};
doc.mqlab ??= {};
const shared = doc.mqlab; // host.js puts `ask` here where there is a kernel
const models = new Map(); // they stay as long as the document: a search through all of it each would be dear
const get = (name) => {
  if (!models.has(name)) models.set(name, doc.get_model_by_name(name));
  return models.get(name);
};
const viewOf = (model) => Bokeh.index.find_one?.(model) ?? null;

// One run on the stage; a comparison has two, up to four. The sources of the second end with " 2", and so on.
/** @type {(end: string) => Panel} */
const makePanel = (end) => ({
  end,
  source: (name) => get(name + end),
  data: (name) => get(name + end)?.data ?? {},
  glyph: (name) => get(name + end)?.glyph
});

const listeners = new Map();
/** @type {Player} */
const player = {
  panels: ["", " 2", " 3", " 4"].filter((end) => !end || get(`stage${end}`) != null).map(makePanel),
  t: 0,
  row: -1,
  duration: 0.01,
  playing: false,
  selection: null,
  unseen: true, // until its room is known it is not drawn: it would be for nothing
  on(name, f) {
    listeners.set(name, [...(listeners.get(name) ?? []), f]);
  },
  emit(name, ...values) {
    for (const f of listeners.get(name) ?? []) f(...values);
  },
  select(selection) {
    if (JSON.stringify(selection) === JSON.stringify(player.selection)) return;
    player.selection = selection;
    player.emit("select", selection);
  },
  get kernel() {
    return shared.ask != null;
  },
  ask: (kind, data = {}) => shared.ask?.(kind, data) ?? Promise.reject(new Error(worded("requires_a_running_kernel"))),
  place: (name) => {
    const found = viewOf(get(name)).shadow_el,
      empty = found.querySelector(".bk-clearfix");
    if (empty) empty.style.display = "none"; // the line of Bokeh's own text, which there is not
    return found;
  },
  get element() {
    return viewOf(root)?.el ?? null;
  }
};
shared.player = player;

// What listens or watches outside the picture would keep it for as long as the page lives: it ends with the picture.
const life = new AbortController();
player.on("end", () => life.abort());
/** @type {<T extends { disconnect(): void }>(observer: T) => T} */
const untilEnd = (observer) => {
  life.signal.addEventListener("abort", () => observer.disconnect());
  return observer;
};

// The first place in a sorted array whose value is greater than t.
/** @type {(sorted: number[], t: number) => number} */
const after = (sorted, t) => {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
};

// An element: what is said in it is text, never markup.
/** @type {<K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Record<string, any>, ...inside: (Node | string)[]) => HTMLElementTagNameMap[K]} */
const element = (tag, attributes = {}, ...inside) => {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value === true) found.setAttribute(name, "");
    else if (value !== false && value != null) found.setAttribute(name, value);
  }
  found.append(...inside);
  return found;
};

// Text that is there already is left alone: the same words again would be a layout for nothing.
/** @type {(place: Node, text: string) => void} */
const setText = (place, text) => {
  if (place.textContent !== text) place.textContent = text;
};

/** @type {(place: ShadowRoot, css: string) => void} */
const styled = (place, css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  place.adoptedStyleSheets = [...place.adoptedStyleSheets, sheet];
};
