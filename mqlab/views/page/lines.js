// What joins the cards: pipes of connectors with the subscriptions under them, replication, clients' connections with
// the attempts to make one, and the lines to a shared store with its lock.
/** @type {(l: Curves, i: number, u: number) => [x: number, y: number]} */
const along = (l, i, u) => {
  const v = 1 - u;
  return [
    v * v * l.x0[i] + 2 * u * v * l.cx[i] + u * u * l.x1[i],
    v * v * l.y0[i] + 2 * u * v * l.cy[i] + u * u * l.y1[i]
  ];
};
/** @type {(l: Curves, i: number) => boolean} */
const isStraight = (l, i) =>
  Math.abs((l.cx[i] - l.x0[i]) * (l.y1[i] - l.y0[i]) - (l.cy[i] - l.y0[i]) * (l.x1[i] - l.x0[i])) <
  0.5 * Math.hypot(l.x1[i] - l.x0[i], l.y1[i] - l.y0[i]);
/** @type {(l: Curves, i: number, from?: number, to?: number, off?: number) => [xs: number[], ys: number[]]} */
const pathOf = (l, i, from = 0, to = 1, off = 0) => {
  const steps = isStraight(l, i) ? 1 : 28,
    xs = [],
    ys = [];
  for (let k = 0; k <= steps; k++) {
    const u = from + ((to - from) * k) / steps,
      [x, y] = along(l, i, u),
      [nx, ny] = normal(l, i, u);
    xs.push(x + nx * off);
    ys.push(y + ny * off);
  }
  return [xs, ys];
};
// To the right of who goes along the line.
/** @type {(l: Curves, i: number, u: number) => [x: number, y: number]} */
const normal = (l, i, u) => {
  const dx = 2 * (1 - u) * (l.cx[i] - l.x0[i]) + 2 * u * (l.x1[i] - l.cx[i]),
    dy = 2 * (1 - u) * (l.cy[i] - l.y0[i]) + 2 * u * (l.y1[i] - l.cy[i]);
  const size = Math.hypot(dx, dy) || 1;
  return [-dy / size, dx / size];
};

/** @param {Panel} p */
const bridgesOf = (p) => {
  const found = new Map(),
    b = p.data("bridges");
  for (let i = 0; i < b.link.length; i++) part(found, b.link[i], () => []).push(i);
  return found;
};
/** @param {RunState} s */
const isCut = (s, a, b) =>
  [...s.cuts.values()].some(([x, y]) => (y < 0 ? x === a || x === b : (x === a && y === b) || (x === b && y === a)));
// Of a line that stands for several: how many of those that it joins are cut off from each other, and all that it joins.
/** @param {Panel} p @param {RunState} s @param {Tables["links"]} links @param {number} i */
const cutsOf = (p, s, links, i) => {
  if (links.count[i] === 1) return isCut(s, links.a[i], links.b[i]) ? 1 : 0;
  const ends = new Set([links.a[i], links.b[i]]);
  return [...s.cuts.values()].filter(
    ([a, b]) => b >= 0 && seenAs(p, a) !== seenAs(p, b) && ends.has(seenAs(p, a)) && ends.has(seenAs(p, b))
  ).length;
};
/** @param {RunState} s @param {number} node */
const isUp = (s, node) => s.brokers.get(node)?.condition === "up";

/** @param {Ink} ink @param {number} x @param {number} y */
const drawSign = (ink, x, y, sign, token, size = 20) => {
  ink.dot(x, y, size, "circle", "stage", token, 1.5);
  ink.say(x, y, sign, size * 0.6, { bold: true, align: "center", token });
};

/** @param {Panel} p */
const crossedOf = (p, bridges) => {
  const counts = p.data("traffic").count ?? [];
  return bridges.reduce((sum, bridge) => sum + (counts[bridge] ?? 0), 0);
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s @param {Tables["links"]} links @param {number} i @param {number[]} bridges */
const drawPipe = (p, ink, s, links, i, bridges) => {
  const pipe = p.data("plan").pipe[0],
    states = bridges.map((bridge) => s.bridges.get(bridge)),
    up = states.some((b) => b?.up);
  const passed = states.reduce((sum, b) => sum + (b?.passed ?? 0), 0),
    cuts = cutsOf(p, s, links, i),
    cut = cuts >= links.count[i],
    many = links.name.length > 60;
  const long = Math.hypot(links.x1[i] - links.x0[i], links.y1[i] - links.y0[i]) || 1,
    more = (0.4 * pipe) / long; // its ends lie under the cards
  const [xs, ys] = part(p.paths, i, () => pathOf(links, i, -more, 1 + more)),
    chosen = isChosen("connector", i);
  if (chosen) ink.put("halos", { xs, ys, w: (pipe + 8) * ink.unit, colour: ink.colour("mark") });
  const put = (w, inner, edge, fill, dash = "solid", alpha = 1) =>
    ink.put("pipes", {
      xs,
      ys,
      w: Math.max(0.8, w * ink.unit),
      inner: inner * ink.unit,
      edge: ink.colour(edge),
      fill: ink.colour(inner ? fill : null),
      dash,
      alpha
    });
  const [mx, my] = along(links, i, 0.5);
  if (cut) {
    put(2.2, 0, "fault", "stage", "9 6");
    drawSign(ink, mx, my, "✂", "fault", pipe > 20 ? 22 : 15);
    return;
  }
  if (cuts) drawSign(ink, ...along(links, i, 0.25), "✂", "fault", 15);
  if (links.kind[i] === "replication") {
    const on = isUp(s, links.a[i]) && isUp(s, links.b[i]);
    put(on ? 7 : 2, on ? 3.4 : 0, on ? "active" : "line2", "stage", on ? "solid" : "2 4");
    if (on) drawHead(ink, links, i, "active", pipe > 10 ? 12 : 7);
    return;
  }
  if (!up) {
    put(1.5, 0, "line2", "stage", "5 4");
    return;
  }
  const crossed = crossedOf(p, bridges);
  if (crossed > 0) {
    // a part of a long run: as wide as what crossed it, to the power of ten
    put(1.6 + 2.4 * Math.log10(crossed + 1), 0, "ink2", "stage");
    if (pipe > 5)
      ink.say(mx, my - 14, worded("event_events", crossed.toLocaleString("en")), 11, { bold: true, align: "center" });
    return;
  }
  if (links.kind[i] === "cluster") {
    put(many ? 1 : 3.5, many ? 0 : 1.2, "line2", "stage", "solid", passed || links.name.length < 8 ? 1 : 0.45);
    return;
  }
  if (pipe < 5) {
    if (passed)
      drawTraffic(
        p,
        ink,
        links,
        i,
        bridges.map((bridge, k) => [bridge, states[k]?.passed ?? 0])
      );
    else put(many ? 0.8 : 1.6, 0, "line2", "stage", "solid", 1);
    return;
  }
  const faint = links.name.length > 24 && !passed;
  put(faint ? 3 : pipe, faint ? 0 : pipe - 2.8, "line2", "card", "solid", faint ? 0.3 : 1);
  if (!faint) drawChevrons(ink, links, i, pipe);
};

// What has crossed a thin line, each way for itself: where both ways were used there are two lines, each at the right
// of who goes along it, as wide as its traffic to the power of ten.
const MOST_HEADS = 240,
  HEAD_ROOM = 30; // lines that may have wedges, and how long one is for that (px of the stage)
/** @param {Panel} p @param {Ink} ink @param {Tables["links"]} links @param {number} i */
const drawTraffic = (p, ink, links, i, passed) => {
  const back = p.data("bridges").back,
    sums = [false, true].map((way) =>
      passed.reduce((sum, [bridge, n]) => sum + (Boolean(back[bridge]) === way ? n : 0), 0)
    );
  const wide = sums.map((sum) => 1.6 + 1.7 * Math.log10(sum + 1)),
    both = sums.every(Boolean);
  const hasRoom =
    links.name.length <= MOST_HEADS && Math.hypot(links.x1[i] - links.x0[i], links.y1[i] - links.y0[i]) > HEAD_ROOM;
  sums.forEach((sum, way) => {
    if (!sum) return;
    const sign = way ? -1 : 1,
      off = both ? sign * (wide[way] / 2 + 0.8) : 0,
      [xs, ys] = pathOf(links, i, 0, 1, off);
    ink.put("pipes", {
      xs,
      ys,
      w: Math.max(0.8, wide[way] * ink.unit),
      inner: 0,
      edge: ink.colour("ink2"),
      fill: ink.colour(null),
      dash: "solid",
      alpha: 1
    });
    if (hasRoom) drawHead(ink, links, i, "ink2", 4 + wide[way], sign, off);
  });
};

// A wedge that tells a line's direction, a little beyond its middle.
/** @param {Ink} ink @param {Tables["links"]} links @param {number} i */
const drawHead = (ink, links, i, token, size, sign = 1, off = 0) => {
  const u = 0.5 + 0.07 * sign,
    [nx, ny] = normal(links, i, u),
    [ox, oy] = along(links, i, u),
    [x, y] = [ox + nx * off, oy + ny * off],
    [dx, dy] = [ny * sign, -nx * sign],
    half = size / 2;
  ink.put("shapes", {
    xs: [x + dx * half, x - dx * half + nx * half, x - dx * half - nx * half],
    ys: [y + dy * half, y - dy * half + ny * half, y - dy * half - ny * half],
    fill: ink.colour(token),
    edge: ink.colour(token),
    w: 1
  });
};

/** @param {Ink} ink @param {Tables["links"]} links @param {number} i */
const drawChevrons = (ink, links, i, pipe) => {
  const long = Math.hypot(links.x1[i] - links.x0[i], links.y1[i] - links.y0[i]),
    high = pipe * 0.2;
  const places = long < 70 ? [0.5] : long < 150 ? [0.25, 0.75] : [0.15, 0.38, 0.62, 0.85];
  places.forEach((u, k) => {
    const sign = links.both[i] && k >= places.length / 2 ? -1 : 1,
      [x, y] = along(links, i, u),
      [nx, ny] = normal(links, i, u),
      [dx, dy] = [ny * sign, -nx * sign];
    ink.path(
      [x - dx * high + nx * high, x + dx * high, x - dx * high - nx * high],
      [y - dy * high + ny * high, y + dy * high, y - dy * high - ny * high],
      "line",
      2
    );
  });
};

// Subscriptions run under the pipe, against the messages: a line each, a dot at the far end for each consumer that it
// stands for, a socket at the near end. Under a conduit several dots share a line.
/** @param {Panel} p @param {Ink} ink @param {RunState} s @param {Tables["links"]} links @param {number} i @param {number[]} bridges */
const drawStrands = (p, ink, s, links, i, bridges) => {
  const pipe = p.data("plan").pipe[0],
    back = p.data("bridges").back;
  let lane = 0;
  for (const bridge of bridges) {
    const sign = back[bridge] ? -1 : 1,
      held = [...(s.bridges.get(bridge)?.subscriptions.values() ?? [])];
    for (const count of held.slice(0, 4)) {
      const off = links.under[i] * (pipe / 2 + 8 + 8 * lane++),
        at = (u) => (sign > 0 ? u : 1 - u),
        dots = Math.min(5, count);
      const [xs, ys] = pathOf(links, i, at(0.04), at(dots > 1 ? 0.7 : 0.94), off);
      ink.path(xs, ys, "demand", 2);
      ink.dot(xs[0], ys[0], 8, "circle", "stage", "demand", 2);
      for (let k = 0; k < dots; k++) {
        const spread = dots > 1 ? (k - (dots - 1) / 2) * 6 : 0,
          [ex, ey] = pathOf(links, i, at(0.8), at(0.94), off + spread);
        if (dots > 1) ink.path([xs.at(-1), ...ex], [ys.at(-1), ...ey], "demand", 1.4, "3 2");
        ink.dot(ex.at(-1), ey.at(-1), 5.5, "circle", "demand", "demand", 1);
      }
    }
  }
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawWires = (p, ink, s) => {
  const w = p.data("wires"),
    size = p.data("plan").size[0],
    thin = size === "L" ? 1.6 : 1.2;
  for (let i = 0; i < w.frm.length; i++) {
    const [xs, ys] = pathOf(w, i),
      token = (name, wide, dash) => ink.path(xs, ys, name, wide, dash);
    if (w.kind[i] === "store") {
      drawStoreLine(p, ink, s, w, i, token);
      continue;
    }
    const client = s.clients.get(w.frm[i]),
      here = client != null && seenAs(p, client.at) === w.to[i],
      tries = triesAt(p, client, w.to[i]);
    const [bx, by] = along(w, i, 1),
      role = p.data("clients").role[p.clientOf.get(w.frm[i])];
    if (isChosen(role, w.frm[i]) && here) ink.put("halos", { xs, ys, w: 9 * ink.unit, colour: ink.colour("mark") });
    if (here) {
      token("line2", thin);
      ink.dot(bx, by, size === "L" ? 8 : 5, "circle", "stage", "line2", 1.5);
    } else if (tries) {
      token("fault", 1.3, "4 4");
      drawTries(ink, w, i, tries, size === "L");
    } else if (role === "client" && size !== "XS") token("line2", 1, "1 5");
  }
};

/** @param {Panel} p */
const triesAt = (p, client, to) =>
  [...(client?.tries ?? [])].reduce((sum, [node, n]) => sum + (seenAs(p, node) === to ? n : 0), 0);

// Attempts as ticks before the port, seven at most; then their number.
/** @param {Ink} ink @param {number} i */
const drawTries = (ink, w, i, tries, large) => {
  const long = Math.hypot(w.x1[i] - w.x0[i], w.y1[i] - w.y0[i]),
    shown = Math.min(tries, Math.max(1, Math.min(7, Math.floor((long - 34) / 7))));
  for (let k = 0; k < shown; k++) {
    const u = 1 - (16 + 6 * k) / long,
      [x, y] = along(w, i, u),
      [nx, ny] = normal(w, i, u);
    ink.path([x - nx * 4, x + nx * 4], [y - ny * 4, y + ny * 4], "fault", 1.6);
  }
  const [x, y] = along(w, i, 1 - 7 / long),
    [mx, my] = along(w, i, Math.min(0.4, 26 / long)),
    [nx, ny] = normal(w, i, 0.4);
  ink.dot(x, y, large ? 11 : 7, "circle_x", "stage", "fault", 1.4);
  if (tries > shown)
    ink.say(mx - nx * 10, my - ny * 10, `×${tries}`, 10.5, { bold: true, token: "fault", align: "center" });
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s @param {number} i @param {Tables["wires"]} w */
const drawStoreLine = (p, ink, s, w, i, line) => {
  const broker = s.brokers.get(w.to[i]),
    [x, y] = along(w, i, 0.5),
    up = broker?.condition === "up";
  if (broker?.condition === "crashed") {
    line("fault", 1.6, "2 5");
    ink.dot(x, y, 15, "circle_x", "stage", "fault", 1.5);
    return;
  }
  if (!up) {
    line("line", 1.2, "2 5");
    return;
  }
  if (broker.lock) {
    line("active", 5);
    drawLock(ink, x, y);
  } else line("line2", 1.6, p.locks ? "5 4" : "solid");
};

// A padlock in a disc: a body and a shackle.
/** @param {Ink} ink @param {number} x @param {number} y */
const drawLock = (ink, x, y) => {
  ink.ring(x, y, 0, 12, 1, "active");
  ink.ring(x, y - 2, 2.6, 4.4, 1, "on_active");
  ink.dot(x, y + 2, 8.5, "square", "on_active", "on_active", 0);
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawLines = (p, ink, s) => {
  const links = p.data("links"),
    of = bridgesOf(p),
    large = p.data("plan").size[0] === "L";
  for (let i = 0; i < links.name.length; i++) {
    const bridges = of.get(i) ?? [];
    drawPipe(p, ink, s, links, i, bridges);
    if (large) drawStrands(p, ink, s, links, i, bridges);
    if (links.count[i] > 1) drawHowMany(ink, links, i);
  }
  drawWires(p, ink, s);
  if (player.selection?.kind === "message") drawRoute(p, ink, player.selection.msg);
};

// A line that stands for several connectors says how many.
/** @param {Ink} ink @param {Tables["links"]} links @param {number} i */
const drawHowMany = (ink, links, i) => {
  const [x, y] = along(links, i, 0.5),
    text = `×${links.count[i]}`,
    w = ink.wide(text, 9.5, true) + 8;
  ink.box("pills", x, y, w, 14, { fill: "stage", edge: "line2" });
  ink.say(x, y, text, 9.5, { bold: true, align: "center", token: "ink2" });
};

// The way of the selected message, all of it: where it has been and where it will be.
/** @param {Panel} p @param {Ink} ink @param {number} msg */
const drawRoute = (p, ink, msg) => {
  const { msg: whose, way, look } = p.flights,
    w = p.ways,
    used = new Set();
  for (let i = 0; i < whose.length; i++) if (whose[i] === msg && !SIGNS[p.looks.kind[look[i]]]) used.add(way[i]);
  for (const e of used) {
    const [xs, ys] = pathOf(w, e);
    ink.put("halos", { xs, ys, w: 9 * ink.unit, colour: ink.colour("mark") });
  }
};

// Smaller letters before it is cut; of which too little would be left is told by the lens alone.
/** @param {Ink} ink @param {number} x @param {number} y @param {string} text */
const drawLinkName = (ink, x, y, text, room) => {
  const size = Math.max(10, Math.min(12.5, (12.5 * room) / Math.max(1, ink.wide(text, 12.5, true)))),
    said = ink.fitted(text, room, size, true);
  if (said !== text && [...said].length <= 9) return;
  ink.bar(x, y, ink.wide(said, size, true) + 4, size + 3, "stage"); // it may stand on its own line
  ink.say(x, y, said, size, { align: "center", bold: true });
};

/** @param {Panel} p @param {Ink} ink */
const drawLinkNames = (p, ink) => {
  const l = p.data("labels");
  for (let i = 0; i < l.text.length; i++) {
    if (l.kind[i] === "chip") {
      ink.box("pills", l.x[i], l.y[i], l.w[i], l.h[i], { fill: "card", edge: "line2" });
      ink.say(l.x[i], l.y[i], l.text[i], 11, { align: "center", token: "ink2", room: l.w[i] - 8 });
    } else if (l.kind[i] === "common")
      ink.say(l.x[i], l.y[i], l.text[i], 10.5, { align: "center", token: "ink3", room: l.w[i] + 4 });
    else drawLinkName(ink, l.x[i], l.y[i], l.text[i], l.w[i] + 6);
  }
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawHosts = (p, ink, s) => {
  const h = p.data("hosts"),
    b = p.data("brokers");
  for (let i = 0; i < h.name.length; i++) {
    const inside = b.node.filter(
      (_, k) => Math.abs(b.x[k] - h.x[i]) < h.w[i] / 2 && Math.abs(b.y[k] - h.y[i]) < h.h[i] / 2
    );
    const down = inside.length > 0 && inside.every((node) => s.brokers.get(node)?.condition === "crashed");
    ink.box("frames", h.x[i], h.y[i], h.w[i], h.h[i], { fill: null, edge: down ? "fault" : "line2", dash: "6 4" });
    const left = h.x[i] - h.w[i] / 2 + 12,
      top = h.y[i] - h.h[i] / 2,
      w = ink.wide(h.name[i], 11, true);
    ink.bar(left + w / 2, top, w + 8, 14, "stage");
    ink.say(left, top, h.name[i], 11, { bold: true, token: down ? "fault" : "ink3" });
  }
};
