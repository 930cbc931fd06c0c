// How what moves looks: one small picture a look, drawn once and put wherever such a thing is. Queues are round,
// topics square; a ring is not persistent, a second outline redelivered, a second one behind a duplicate.
const NUMBERS = 60; // marks that carry a number, at most; a number is dear
const CORNERS = { hexagon: 6, triangle: 3, diamond: 4, square: 4, square_pin: 4 };
const TURNED = { triangle: -Math.PI / 2, square: Math.PI / 4, square_pin: Math.PI / 4, diamond: 0, hexagon: 0 };

/** @param {Pen} pen @param {number} x @param {number} y */
const outline = (pen, shape, x, y, r) => {
  pen.beginPath();
  const n = CORNERS[shape];
  if (n === undefined) pen.arc(x, y, r, 0, 2 * Math.PI);
  for (let i = 0; i < (n ?? 0); i++) {
    const angle = TURNED[shape] + (2 * Math.PI * i) / n,
      reach = r * (n === 3 ? 1.25 : 1.12);
    pen[i ? "lineTo" : "moveTo"](x + reach * Math.cos(angle), y + reach * Math.sin(angle));
  }
  pen.closePath();
};

/** @param {Pen} pen */
const drawMessage = (pen, token, shape, flags, middle, r) => {
  const fill = player.colour(token),
    edge = player.colour(`${token}e`);
  pen.lineWidth = 1.5;
  pen.strokeStyle = edge;
  if (flags & DUPLICATE) {
    outline(pen, shape, middle + 4, middle - 4, r);
    pen.fillStyle = player.colour("card");
    pen.fill();
    pen.stroke();
  }
  outline(pen, shape, middle, middle, r);
  pen.fillStyle = flags & NON_PERSISTENT ? player.colour("card") : fill;
  pen.fill();
  pen.lineWidth = flags & NON_PERSISTENT ? 3 : 1.5;
  pen.stroke();
  if (flags & REDELIVERED) {
    pen.lineWidth = 1.5;
    outline(pen, shape, middle, middle, r + 3.5);
    pen.stroke();
  }
};

// What is no message: an acknowledgement, a consumer advisory, an attempt to connect, a vote.
/** @type {Record<string, (pen: Pen, middle: number, r: number) => void>} */
const SIGNS = {
  ack: (pen, middle, r) => {
    pen.fillStyle = player.colour("ok");
    outline(pen, "circle", middle, middle, r * 0.72);
    pen.fill();
    line(
      pen,
      "on_active",
      1.6,
      [
        [-0.35, 0.02],
        [-0.1, 0.28],
        [0.36, -0.26]
      ],
      middle,
      r
    );
  },
  subscription: (pen, middle, r) => hollow(pen, "circle", middle, r * 0.62, "demand_soft", "demand"),
  attempt: (pen, middle, r) => hollow(pen, "diamond", middle, r * 0.66, "card", "fault"),
  vote: (pen, middle, r) => {
    pen.fillStyle = player.colour("ink");
    pen.fillRect(middle - r * 0.6, middle - r * 0.6, r * 1.2, r * 1.2);
  }
};
/** @param {Pen} pen */
const hollow = (pen, shape, middle, r, fill, edge) => {
  outline(pen, shape, middle, middle, r);
  pen.fillStyle = player.colour(fill);
  pen.fill();
  pen.lineWidth = 2;
  pen.strokeStyle = player.colour(edge);
  pen.stroke();
};
/** @param {Pen} pen */
const line = (pen, token, width, points, middle, r) => {
  pen.beginPath();
  points.forEach(([x, y], i) => {
    pen[i ? "lineTo" : "moveTo"](middle + x * r, middle + y * r);
  });
  pen.strokeStyle = player.colour(token);
  pen.lineWidth = width;
  pen.lineCap = "round";
  pen.stroke();
};

/** @param {Panel} p */
const sprite = (p, look, flags, r, ratio) => {
  const key = `${look} ${flags} ${r} ${ratio}`,
    known = p.sprites.get(key);
  if (known) return known;
  const side = Math.ceil(2 * r * 1.25 + (flags ? 12 : 4)),
    canvas = new OffscreenCanvas(side * ratio, side * ratio);
  const pen = canvas.getContext("2d"),
    kind = p.looks.kind[look];
  pen.scale(ratio, ratio);
  if (SIGNS[kind]) SIGNS[kind](pen, side / 2, r);
  else drawMessage(pen, p.looks.token[look] ?? "d0", p.looks.shape[look] ?? "circle", flags, side / 2, r);
  const picture = canvas.transferToImageBitmap(); // drawn without a copy, other than a canvas
  p.sprites.set(key, picture);
  return picture;
};

/** @param {Pen} pen @param {number} x @param {number} y */
const drawHalo = (pen, x, y, r) => {
  pen.fillStyle = player.colour("mark");
  pen.strokeStyle = player.colour("mark_edge");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
};

// Under reduced motion: the way that it has come, thin.
/** @param {Pen} pen @param {Panel} p */
const drawTail = (pen, p, m, at, ratio) => {
  const w = p.ways,
    e = m.way;
  pen.beginPath();
  for (let i = 0; i <= 8; i++) {
    const u = w.from[e] + ((HALFWAY * i) / 8) * (w.to[e] - w.from[e]),
      v = 1 - u;
    pen[i ? "lineTo" : "moveTo"](
      ratio * at.x(v * v * w.x0[e] + 2 * u * v * w.cx[e] + u * u * w.x1[e]),
      ratio * at.y(v * v * w.y0[e] + 2 * u * v * w.cy[e] + u * u * w.y1[e])
    );
  }
  pen.strokeStyle = player.colour("line2");
  pen.lineWidth = 1.5 * ratio;
  pen.stroke();
};

// The number of a message inside its mark, if there is room; beside it how many a mark stands for.
/** @param {Pen} pen @param {Panel} p */
const drawNumbers = (pen, p, at, ratio, chosen) => {
  let left = NUMBERS,
    last = "";
  const setFont = (font) => {
    if (font !== last) pen.font = last = font;
  }; // a font is dear: it may be one of the page
  pen.textBaseline = "middle";
  for (const m of p.marks) {
    if (m.msg < 0 || SIGNS[p.looks.kind[m.look]] || (left <= 0 && m.msg !== chosen)) continue;
    const x = at.x(m.x) * ratio,
      y = at.y(m.y) * ratio;
    if (m.count > 1) {
      setFont(`700 ${11 * ratio}px ${FONT}`);
      pen.textAlign = "left";
      pen.fillStyle = player.colour("ink");
      pen.fillText(`×${m.count}`, x + (p.size + 3) * ratio, y - p.size * 0.7 * ratio);
    } else if (p.size >= 7) {
      const text = String(m.msg),
        fits = text.length < 3 ? 11 : 9;
      setFont(`700 ${Math.min(fits, p.size * 1.2) * ratio}px ${FONT}`);
      pen.textAlign = "center";
      pen.fillStyle = player.colour(m.flags & NON_PERSISTENT ? "ink" : "on_d");
      pen.fillText(text, x, y + 0.5 * ratio);
    } else continue;
    left--;
  }
};
