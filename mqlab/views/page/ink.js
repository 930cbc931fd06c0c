// Rows for the glyphs of a figure (sources "draw ...", see views/drawing.py), and what all drawing needs: colours,
// letters that grow with the picture, names without their middle.
const GLYPHS = {
  frames: { x: 0, y: 0, w: 0, h: 0, fill: null, edge: null, dash: "6 4", hatch: " ", hatched: null },
  halos: { xs: null, ys: null, w: 9, colour: null },
  pipes: { xs: null, ys: null, w: 1, inner: 0, edge: null, fill: null, dash: "solid", alpha: 1 },
  strands: { xs: null, ys: null, w: 2, colour: null, dash: "solid" },
  shapes: { xs: null, ys: null, fill: null, edge: null, w: 1.5, dash: "solid", hatch: " " },
  cards: { x: 0, y: 0, w: 0, h: 0, fill: null, edge: null, width: 1.5, dash: "solid", hatch: " ", hatched: null },
  pills: { x: 0, y: 0, w: 0, h: 0, fill: null, edge: null, dash: "solid" },
  bars: { x: 0, y: 0, w: 0, h: 0, fill: null },
  cells: { x: 0, y: 0, w: 0, h: 0, fill: null, edge: null, width: 1.5 },
  wedges: { xs: null, ys: null, fill: null, edge: null, w: 1 },
  rings: { x: 0, y: 0, r0: 0, r1: 0, a0: 0, a1: 0, fill: null },
  dots: { x: 0, y: 0, size: 0, marker: "circle", fill: null, edge: null, width: 1.5, dash: "solid" },
  words: { x: 0, y: 0, text: "", font: "11px", style: "normal", colour: null, align: "left" }
};
const LETTERS = document.createElement("canvas").getContext("2d");
const SMALLEST_NAME = 0.76; // of its size, before a name is cut
const LEAST_PX = 9; // px: smaller letters cannot be read

/** @type {(p: Panel) => Ink} */
const makeInk = (p) => {
  const unit = p.unit?.() ?? 1;
  const columns = /** @type {Ink["columns"]} */ (
    Object.fromEntries(
      Object.entries(GLYPHS).map(([name, row]) => [
        name,
        Object.fromEntries(Object.keys(row).map((column) => [column, []]))
      ])
    )
  );
  const put = (name, row) => {
    const table = columns[name];
    for (const column in GLYPHS[name]) table[column].push(row[column] ?? GLYPHS[name][column]);
  };
  const colour = (token) => (token == null ? "rgba(0,0,0,0)" : player.colour(token));
  const px = (size) => Math.max(LEAST_PX, size * unit);
  const wide = (text, size, bold) => {
    LETTERS.font = `${bold ? "bold " : ""}${px(size)}px ${FONT}`;
    return LETTERS.measureText(text).width / unit;
  };
  // Both ends of a name tell it apart: what does not fit loses its middle.
  const fitted = (text, room, size, bold) => {
    if (wide(text, size, bold) <= room) return text;
    const letters = [...text];
    let low = 1,
      high = letters.length;
    const cut = (keep) =>
      `${letters.slice(0, keep - (keep >> 1)).join("")}…${letters.slice(letters.length - (keep >> 1)).join("")}`;
    while (low < high) {
      const keep = (low + high + 1) >> 1;
      if (wide(cut(keep), size, bold) <= room) low = keep;
      else high = keep - 1;
    }
    return cut(Math.max(2, low));
  };
  return {
    unit,
    columns,
    put,
    colour,
    wide,
    fitted,
    line: (width) => width * Math.min(1.4, Math.max(0.7, unit)),
    // Words: `size` in px of the stage, `room` is how wide they may be. Returns how wide they are.
    say: (x, y, text, size, { token = "ink", bold = false, align = "left", room = 1e4 } = {}) => {
      const said = fitted(text, room, size, bold);
      put("words", {
        x,
        y,
        text: said,
        font: `${px(size).toFixed(1)}px`,
        style: bold ? "bold" : "normal",
        colour: colour(token),
        align
      });
      return wide(said, size, bold);
    },
    // A name: smaller letters before it loses its middle.
    name: (x, y, text, size, room, token = "ink") => {
      // Letters do not shrink quite as their size does: with nothing to spare the name would lose its middle.
      const own = Math.max(
          size * SMALLEST_NAME,
          Math.min(size, (0.97 * size * room) / Math.max(1, wide(text, size, true)))
        ),
        said = fitted(text, room, own, true);
      put("words", {
        x,
        y,
        text: said,
        font: `${px(own).toFixed(1)}px`,
        style: "bold",
        colour: colour(token),
        align: "left"
      });
      return wide(said, own, true);
    },
    box: (name, x, y, w, h, row) =>
      put(name, {
        ...row,
        x,
        y,
        w,
        h,
        fill: colour(row.fill),
        edge: colour(row.edge ?? null),
        hatched: colour(row.hatched ?? row.edge ?? null)
      }),
    bar: (x, y, w, h, token) => {
      if (w > 0) put("bars", { x, y, w, h, fill: colour(token) });
    },
    dot: (x, y, size, marker, fill, edge, width = 1.5, dash = "solid") =>
      put("dots", { x, y, size: size * unit, marker, fill: colour(fill), edge: colour(edge), width, dash }),
    path: (xs, ys, token, w = 2, dash = "solid") =>
      put("strands", { xs, ys, w: w * Math.max(0.7, unit), colour: colour(token), dash }),
    ring: (x, y, r0, r1, share, token) => {
      if (share > 0)
        put("rings", {
          x,
          y,
          r0,
          r1,
          a0: Math.PI / 2,
          a1: Math.PI / 2 - 2 * Math.PI * Math.min(0.9999, share),
          fill: colour(token)
        });
    }
  };
};

// Give the figure what was drawn. Only sources that have changed are sent: each costs a paint of the figure.
const sameColumn = (a, b) =>
  a.length === b.length &&
  a.every(
    (value, i) =>
      value === b[i] ||
      (Array.isArray(value) &&
        Array.isArray(b[i]) &&
        value.length === b[i].length &&
        value.every((v, k) => v === b[i][k]))
  );
const FAR = -9e3,
  CLEAR = "rgba(0,0,0,0)";
const UNSEEN = {
  x: FAR,
  y: FAR,
  xs: [FAR, FAR],
  ys: [FAR, FAR],
  w: 0,
  h: 0,
  size: 0,
  edge: CLEAR,
  fill: CLEAR,
  colour: CLEAR,
  hatched: CLEAR
};
/** @param {Panel} p @param {Ink} ink */
const pour = (p, ink, names) => {
  for (const name of names) {
    const source = p.source(`draw ${name}`),
      columns = ink.columns[name];
    // Bokeh may paint with the index of before while it takes new columns in: rows that nobody sees take the places of
    // those that went, so that the number of rows never shrinks.
    for (let rows = Object.values(columns)[0].length; rows < Math.max(1, source?.get_length() ?? 0); rows++)
      ink.put(name, UNSEEN);
    if (source == null || Object.keys(columns).every((c) => sameColumn(columns[c], source.data[c] ?? []))) continue;
    source.data = columns;
  }
};

const shortName = (destination) => destination.replace(/^(temp-)?(queue|topic):\/\//, "");
/** @param {Panel} p @param {number} dest */
const lookOf = (p, dest) => {
  const looks = p.data("looks"),
    look = p.data("destinations").look[dest] ?? 0;
  return { token: looks.token[look] ?? "d0", shape: looks.shape[look] ?? "circle" };
};
const MARKERS = { hexagon: "hex" };
