// The picture of this moment as SVG: what the figure draws (ink.js), source by source in the same order, and above it
// what moves.
const paintOf = (name, colour) => (colour == null || colour === CLEAR ? `${name}="none"` : `${name}="${colour}"`);
const dashOf = (dash, w = 1) =>
  dash && dash !== "solid" ? ` stroke-dasharray="${dash}" stroke-width="${w}"` : ` stroke-width="${w}"`;
const asText = (text) =>
  String(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML may not have them, not even escaped
    .replace(/[\u0000-\u001f]/g, "")
    .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const pathData = (xs, ys, close = false) =>
  xs.map((x, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${ys[i].toFixed(1)}`).join("") + (close ? "Z" : "");
const boxOf = (r, radius, more) =>
  `<rect x="${(r.x - r.w / 2).toFixed(1)}" y="${(r.y - r.h / 2).toFixed(1)}" width="${r.w.toFixed(1)}" height="${r.h.toFixed(1)}" rx="${Math.min(radius, r.h / 2)}" ${more}/>`;
const hatchOf = (r) =>
  r.hatch && r.hatch !== " " ? boxOf(r, 10, `fill="url(#hatch)" style="color:${r.hatched ?? r.edge}"`) : "";
const cornersOf = (n, turn, x, y, r) =>
  Array.from({ length: n }, (_, i) => {
    const a = turn + (2 * Math.PI * i) / n;
    return `${(x + r * Math.cos(a)).toFixed(1)},${(y + r * Math.sin(a)).toFixed(1)}`;
  }).join(" ");
const MARKS_OF = {
  square: [4, Math.PI / 4, 1.41],
  square_pin: [4, Math.PI / 4, 1.41],
  diamond: [4, 0, 1.2],
  triangle: [3, -Math.PI / 2, 1.2],
  hex: [6, 0, 1.1]
};
const markOf = (marker, x, y, r, more) => {
  const shape = MARKS_OF[marker],
    cross =
      marker === "circle_x"
        ? `<path d="M${x - r * 0.7} ${y - r * 0.7}L${x + r * 0.7} ${y + r * 0.7}M${x + r * 0.7} ${y - r * 0.7}L${x - r * 0.7} ${y + r * 0.7}" ${more}/>`
        : "";
  return shape
    ? `<polygon points="${cornersOf(shape[0], shape[1], x, y, r * shape[2])}" ${more}/>`
    : `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" ${more}/>${cross}`;
};
const ringOf = ({ x, y, r0, r1, a0, a1, fill }) => {
  const at = (r, a) => `${(x + r * Math.cos(a)).toFixed(1)} ${(y - r * Math.sin(a)).toFixed(1)}`,
    large = a0 - a1 > Math.PI ? 1 : 0;
  return `<path d="M${at(r1, a0)}A${r1} ${r1} 0 ${large} 1 ${at(r1, a1)}L${at(r0, a1)}A${r0} ${r0} 0 ${large} 0 ${at(r0, a0)}Z" fill="${fill}"/>`;
};

// How a row of each source looks; `u` is how many px of the screen a unit of the stage has.
/** @type {{ [K in GlyphName]: (r: { [C in keyof (typeof GLYPHS)[K]]?: any }, u: number) => string }} */
const VECTORS = {
  frames: (r) => boxOf(r, 10, `fill="none" ${paintOf("stroke", r.edge)}${dashOf(r.dash, 1.5)}`) + hatchOf(r),
  halos: (r, u) =>
    `<path d="${pathData(r.xs, r.ys)}" fill="none" ${paintOf("stroke", r.colour)} stroke-width="${r.w / u}" stroke-linecap="round"/>`,
  pipes: (r, u) =>
    `<g opacity="${r.alpha}" fill="none"><path d="${pathData(r.xs, r.ys)}" ${paintOf("stroke", r.edge)}${dashOf(r.dash, r.w / u)}/>${r.inner ? `<path d="${pathData(r.xs, r.ys)}" ${paintOf("stroke", r.fill)} stroke-width="${r.inner / u}"/>` : ""}</g>`,
  strands: (r, u) =>
    `<path d="${pathData(r.xs, r.ys)}" fill="none" ${paintOf("stroke", r.colour)}${dashOf(r.dash, r.w / u)} stroke-linejoin="round"/>`,
  shapes: (r) =>
    `<path d="${pathData(r.xs, r.ys, true)}" ${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)}${dashOf(r.dash, r.w)}/>`,
  cards: (r) =>
    boxOf(r, 10, `${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)}${dashOf(r.dash, r.width)}`) + hatchOf(r),
  pills: (r) => boxOf(r, 9, `${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)}${dashOf(r.dash, 1.5)}`),
  bars: (r) => boxOf(r, 2, paintOf("fill", r.fill)),
  cells: (r) => boxOf(r, 3, `${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)} stroke-width="${r.width}"`),
  rings: ringOf,
  dots: (r, u) =>
    markOf(
      r.marker,
      r.x,
      r.y,
      r.size / u / 2,
      `${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)}${dashOf(r.dash, r.width)}`
    ),
  wedges: (r) =>
    `<path d="${pathData(r.xs, r.ys, true)}" ${paintOf("fill", r.fill)} ${paintOf("stroke", r.edge)} stroke-width="${r.w}"/>`,
  words: (r, u) =>
    `<text x="${r.x.toFixed(1)}" y="${r.y.toFixed(1)}" dy=".35em" font-size="${(parseFloat(r.font) / u).toFixed(1)}"${r.style === "bold" ? ' font-weight="700"' : ""} ${paintOf("fill", r.colour)} text-anchor="${{ left: "start", center: "middle", right: "end" }[r.align]}">${asText(r.text)}</text>`
};

/** @param {Panel} p */
const movingVectors = (p, u) =>
  (p.marks ?? []).map((m) => {
    const kind = p.looks.kind[m.look],
      token = p.looks.token[m.look] ?? "d0",
      message = kind === "queue" || kind === "topic",
      r = (p.size / u) * (message ? 1 : 0.66);
    const fill = player.colour(!message && kind !== "ack" ? "card" : m.flags & NON_PERSISTENT ? "card" : token),
      edge = player.colour(message ? `${token}e` : token);
    const told = m.count > 1 ? `×${m.count}` : message && m.msg >= 0 && p.size >= 7 ? String(m.msg) : "";
    return (
      markOf(
        MARKERS[p.looks.shape[m.look]] ?? p.looks.shape[m.look],
        m.x,
        m.y,
        r,
        `fill="${fill}" stroke="${edge}" stroke-width="1.5"`
      ) +
      (told
        ? `<text x="${m.x.toFixed(1)}" y="${m.y.toFixed(1)}" dy=".35em" font-size="10" font-weight="700" text-anchor="middle" fill="${player.colour(m.count > 1 ? "ink" : "on_d")}">${told}</text>`
        : "")
    );
  });

// One stage as SVG, `x` px from the left of the picture.
/** @param {Panel} p @param {number} x */
const vectorOf = (p, x) => {
  const { x_range: xr, y_range: yr } = p.source("stage"),
    u = p.unit(),
    w = xr.end - xr.start,
    h = yr.start - yr.end;
  const parts = Object.entries(VECTORS).flatMap(([name, draw]) => {
    const table = p.data(`draw ${name}`),
      rows = Object.values(table)[0]?.length ?? 0;
    return Array.from({ length: rows }, (_, i) => rowOf(table, i))
      .filter((row) => row.x !== FAR && row.xs?.[0] !== FAR)
      .map((row) => draw(row, u));
  });
  return {
    w,
    h,
    text: `<svg x="${x}" width="${w}" height="${h}" viewBox="${xr.start} ${yr.end} ${w} ${h}"><rect x="${xr.start}" y="${yr.end}" width="${w}" height="${h}" fill="${player.colour("stage")}"/>${parts.join("")}${movingVectors(p, u).join("")}</svg>`
  };
};
player.svg = () => {
  let x = 0;
  const stages = player.panels.map((p) => {
      const one = vectorOf(p, x);
      x += one.w;
      return one;
    }),
    tall = Math.max(...stages.map((one) => one.h));
  const title = asText(player.panels[0].data("meta").title?.[0] ?? "");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${x.toFixed(0)}" height="${tall.toFixed(0)}" font-family="${FONT.replace(/"/g, "'")}"><title>${title}</title>` +
    `<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V8" stroke="currentColor" stroke-opacity=".5"/></pattern></defs>${stages.map((one) => one.text).join("")}</svg>`
  );
};
