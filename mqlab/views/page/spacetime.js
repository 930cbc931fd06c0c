// The space-time diagram: a row for each broker and client, in the network's order, messages as arrows from when they
// left to when they came. Above four hundred arrows in sight those between the same two rows are one band.
const MOST_ARROWS = 400,
  PLACE_HIGH = 30;

// Brokers in their order, clients next to their broker: what is sent to the left, what reads to the right of it.
const places = () => {
  const { name = [], role = [], home = [] } = player.panels[0].data("nodes"),
    found = [],
    seen = new Set();
  const put = (i, depth) => {
    if (seen.has(name[i])) return;
    seen.add(name[i]);
    const mine = name.map((_, k) => k).filter((k) => home[k] === name[i] && k !== i);
    for (const k of mine) if (role[k] === "producer") put(k, depth + 1);
    found.push({ name: name[i], role: role[i], inner: depth > 0 });
    for (const k of mine) if (role[k] !== "producer") put(k, depth + 1);
  };
  name.forEach((_, i) => {
    if (!home[i] || !name.includes(home[i])) put(i, 0);
  });
  name.forEach((_, i) => {
    put(i, 0);
  });
  return found;
};

// What went from whom to whom: from the row of the table that caused it to the row itself.
const ARRIVALS = new Set(["Enqueued", "Received", "Advised", "Attached", "Attempted"]);
const crossings = { of: null, found: [] }; // the arrows of these columns
const arrows = () => {
  const e = player.panels[0].data("events"),
    { beat = [0.35] } = player.panels[0].data("meta"),
    found = [];
  if (crossings.of === e) return crossings.found;
  for (let row = 0; row < e.play.length; row++) {
    if (!ARRIVALS.has(e.kind[row]) || !e.frm[row]) continue;
    const to = e.to[row] || e.broker[row],
      cause = e.cause[row],
      moves = e.msg[row] >= 0 && cause >= 0;
    if (!to || to === e.frm[row]) continue;
    found.push({
      row,
      a: e.frm[row],
      b: e.kind[row] === "Enqueued" ? e.broker[row] : to,
      t1: e.play[row],
      t0: moves ? e.play[cause] : Math.max(0, e.play[row] - beat[0] * 0.8),
      msg: e.msg[row],
      kind: e.kind[row]
    });
  }
  Object.assign(crossings, { of: e, found });
  return found;
};

/** @type {(kind: string) => [token: string, dash: number[]]} */
const arrowLook = (kind) =>
  kind === "Advised"
    ? ["demand", [2, 3]]
    : kind === "Attempted" || kind === "Attached"
      ? ["ink3", [4, 3]]
      : ["ink2", []];

/** @param {CanvasRenderingContext2D} pen */
const drawArrow = (pen, x0, y0, x1, y1, token, dash, wide = 1.2) => {
  pen.strokeStyle = pen.fillStyle = player.colour(token);
  pen.lineWidth = wide;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
  pen.setLineDash([]);
  const angle = Math.atan2(y1 - y0, x1 - x0);
  pen.beginPath();
  for (const [r, turn] of [
    [0, 0],
    [7, 2.75],
    [7, -2.75]
  ])
    pen.lineTo(x1 + r * Math.cos(angle + turn), y1 + r * Math.sin(angle + turn));
  pen.fill();
};

const drawSpacetime = (fit) => {
  const rows = places().slice(0, 40),
    high = rows.length * PLACE_HIGH + 22,
    pen = fit(high),
    yOf = new Map(rows.map((one, i) => [one.name, i * PLACE_HIGH + 20]));
  const chosen = player.selection;
  rows.forEach((one) => {
    const y = yOf.get(one.name),
      broker = one.role === "broker",
      ours = chosen?.name === one.name;
    pen.fillStyle = player.colour(ours ? "active" : broker ? "ink2" : "line2");
    pen.fillRect(gutter(), y - (broker ? 1.5 : 0.5), span(), broker ? 3 : 1);
    pen.font = `${broker || ours ? 700 : 400} 12px ${FONT}`;
    write(pen, shortened(pen, one.name, gutter() - 30), one.inner ? 26 : 14, y, {
      token: ours ? "active_t" : "ink",
      size: 12,
      weight: broker || ours ? 700 : 400
    });
  });
  pen.save();
  pen.beginPath();
  pen.rect(gutter(), 0, span() + 1, high);
  pen.clip();
  drawHeld(pen, rows, yOf);
  const seen = arrows().filter((one) => one.t1 >= axis.from && one.t0 <= axis.to && yOf.has(one.a) && yOf.has(one.b));
  if (seen.length > MOST_ARROWS) drawBands(pen, seen, yOf);
  else for (const one of seen) drawOne(pen, one, yOf, seen.length <= 120);
  drawFolds(pen, 8, high - 18, axis.from, axis.to, null);
  pen.restore();
  drawRuler(pen, high - 7, axis.from, axis.to);
  const told =
    seen.length > MOST_ARROWS ? worded("arrows_drawn_as_bands_zoom_in", seen.length.toLocaleString("en")) : "";
  if (told) write(pen, told, gutter() + 4, 8, { token: "ink2", weight: 600 });
};

// On a broker's row how many messages lie there; below a consumer's row, thin, that it has some in hand.
/** @param {CanvasRenderingContext2D} pen */
const drawHeld = (pen, rows, yOf) => {
  const p = player.panels[0],
    queues = lanesOf(p, "depth"),
    hands = lanesOf(p, "unacknowledged"),
    most = Math.max(1, ...queues.map((one) => one.most));
  for (const one of rows) {
    const y = yOf.get(one.name);
    for (const lane of queues) if (lane.name.startsWith(`${one.name} `)) drawSteps(pen, lane, y - 14, 16, most, "d1");
    const hand = hands.find((lane) => lane.name === one.name);
    if (!hand) continue;
    pen.fillStyle = player.colour("d1");
    pen.strokeStyle = player.colour("d1e");
    hand.t.forEach((t, i) => {
      if (!hand.v[i]) return;
      const a = xOf(t),
        b = xOf(hand.t[i + 1] ?? player.duration);
      pen.fillRect(a, y + 2, b - a, 5);
      pen.strokeRect(a, y + 2, b - a, 5);
    });
  }
};

/** @param {CanvasRenderingContext2D} pen */
const drawOne = (pen, one, yOf, numbered) => {
  const [x0, x1] = [xOf(one.t0), xOf(one.t1)],
    [y0, y1] = [yOf.get(one.a), yOf.get(one.b)],
    [token, dash] = arrowLook(one.kind);
  const chosen = player.selection?.kind === "message" && player.selection.msg === one.msg && one.msg >= 0;
  if (chosen) {
    pen.strokeStyle = player.colour("mark");
    pen.lineWidth = 6;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }
  drawArrow(pen, x0, y0, x1, y1, chosen ? "mark_edge" : token, dash, chosen ? 2 : 1.2);
  if (one.msg >= 0 && (numbered || chosen)) {
    const x = (x0 + x1) / 2,
      y = (y0 + y1) / 2;
    pen.fillStyle = player.colour(chosen ? "mark" : "card");
    pen.strokeStyle = player.colour("line2");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(x, y, 8, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
    write(pen, String(one.msg), x, y + 0.5, { token: chosen ? "on_d" : "ink", size: 10, align: "center" });
  }
  pen.globalAlpha = 1;
};

// One band per pair of rows and stretch of forty pixels, as dark as it is busy, with its count where there is room.
/** @param {CanvasRenderingContext2D} pen */
const drawBands = (pen, seen, yOf) => {
  const bands = new Map();
  for (const one of seen) {
    const cell = Math.floor(xOf(one.t0) / 40),
      key = `${one.a}\n${one.b}\n${cell}`,
      band = bands.get(key);
    if (band) band.count++;
    else bands.set(key, { ...one, cell, count: 1 });
  }
  const most = Math.max(...[...bands.values()].map((band) => band.count));
  for (const band of bands.values()) {
    const x = band.cell * 40,
      y0 = yOf.get(band.a),
      y1 = yOf.get(band.b);
    pen.globalAlpha = 0.15 + (0.6 * band.count) / most;
    pen.fillStyle = player.colour(arrowLook(band.kind)[0]);
    pen.beginPath();
    for (const [dx, y] of [
      [0, y0],
      [30, y0],
      [38, y1],
      [8, y1]
    ])
      pen.lineTo(x + dx, y);
    pen.fill();
    pen.globalAlpha = 1;
    if (Math.abs(y1 - y0) < 3 * PLACE_HIGH)
      write(pen, String(band.count), x + 19, (y0 + y1) / 2, { token: "ink", size: 10.5, weight: 600, align: "center" });
  }
};

// Who has sent how many to whom, up to the play head.
const flowTable = () => {
  const counts = new Map(),
    froms = [],
    tos = [];
  for (const one of arrows()) {
    if (one.msg < 0 || one.t1 > player.t) continue;
    if (!froms.includes(one.a)) froms.push(one.a);
    if (!tos.includes(one.b)) tos.push(one.b);
    counts.set(`${one.a}\n${one.b}`, (counts.get(`${one.a}\n${one.b}`) ?? 0) + 1);
  }
  const head = element(
    "tr",
    {},
    element("th", {}, worded("from_to")),
    ...tos.map((name) => element("th", { scope: "col" }, name))
  );
  const rows = froms.map((from) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, from),
      ...tos.map((to) => element("td", {}, String(counts.get(`${from}\n${to}`) ?? "")))
    )
  );
  return element("table", { "aria-label": worded("messages_by_sender_and_receiver") }, head, ...rows);
};
