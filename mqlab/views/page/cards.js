// Brokers and stores: a card tells its role, and its queues as strips of cells, the oldest message at the right.
const SIZES = {
  L: { name: 15, cell: [18, 17], gap: 2.5, numbers: 10, pill: 11, high: 20, pad: 12, head: 19, foot: 15, share: 0.56 },
  M: { name: 12.5, cell: [10, 10], gap: 2, numbers: 0, pill: 10, high: 15, pad: 9, head: 14, foot: 13, share: 0.6 },
  S: { name: 11, cell: [6, 11], gap: 1.5, numbers: 0, pill: 10, high: 15 }
};
const WIDE_PILL = 100; // px of the stage, from which a pill has its messages in it
const CONDITION_WORDS = {
  crashed: "crashed",
  stopped: "stopped",
  suspended: "suspended",
  absent: worded("not_started")
};

// What a broker is now: its word, and which look its pill and its card have.
/** @type {(p: Panel, state: BrokerState | undefined) => Role} */
const roleOf = (p, broker) => {
  if (broker == null) return { word: worded("not_started"), kind: "absent" };
  if (broker.condition !== "up") return { word: CONDITION_WORDS[broker.condition], kind: broker.condition };
  const roles = p.data("roles"),
    word = roles.word[broker.role] ?? "",
    kind = roles.kind[broker.role] ?? "serves";
  if (kind === "down") return { word, kind: "stopped" };
  return { word: word === "running" ? "" : word, kind };
};
const PILLS = {
  serves: { fill: "active", edge: "active", text: "on_active" },
  next: { fill: "active_soft", edge: "active", text: "active_t" },
  waits: { fill: "card", edge: "active", text: "active_t", dash: "4 3" },
  starts: { fill: "sunken", edge: "line2", text: "ink2" },
  crashed: { fill: "fault", edge: "fault", text: "on_active" },
  stopped: { fill: "card", edge: "line2", text: "ink2", dash: "4 3" },
  suspended: { fill: "card", edge: "line2", text: "ink2" },
  absent: { fill: "stage", edge: "line2", text: "ink3", dash: "3 3" }
};
const FRAMES = {
  serves: { fill: "card", edge: "line2" },
  waits: { fill: "card", edge: "line2" },
  starts: { fill: "card", edge: "line2" },
  crashed: { fill: "card", edge: "fault", width: 2, hatch: "/", hatched: "line" },
  stopped: { fill: "stage", edge: "line2", dash: "5 4" },
  suspended: { fill: "card", edge: "line2", hatch: "/", hatched: "line" },
  absent: { fill: "stage", edge: "line", dash: "3 4" }
};

/** @type {(role: Role) => string} */
const pillText = (role) => (({ crashed: "✕ ", suspended: "Ⅱ " })[role.kind] ?? "") + role.word;
/** @type {(ink: Ink, role: Role, size: CardSize) => number} */
const pillWidth = (ink, role, size) => ink.wide(pillText(role), size.pill, true) + 16;
/** @param {Ink} ink @param {number} y */
const drawPill = (ink, right, y, role, size, room) => {
  const look = PILLS[role.kind],
    text = ink.fitted(pillText(role), room - 16, size.pill, true),
    w = ink.wide(text, size.pill, true) + 16;
  ink.box("pills", right - w / 2, y, w, size.high, look);
  ink.say(right - w / 2, y, text, size.pill, { token: look.text, bold: true, align: "center" });
  return w;
};

// At the right of the name; beside a long one the role is cut, or the name: then it goes to the lower end if there is
// `room`. Says where it is, and how wide.
/** @type {(ink: Ink, shape: Pick<BrokerShape, "x" | "y" | "w" | "h" | "name">, role: Role, size: CardSize, room: boolean) => { low: boolean; drawn: number }} */
const drawRole = (ink, { x, y, w, h, name }, role, size, room) => {
  if (!role.word) return { low: false, drawn: 0 };
  const inner = w - 2 * size.pad,
    beside = inner - ink.wide(name, size.name * SMALLEST_NAME, true) - 8,
    low = room && pillWidth(ink, role, size) > beside,
    most = low ? inner + 8 : Math.max(w * size.share, beside);
  const line = low ? y + h / 2 - size.foot : y - h / 2 + size.head;
  return { low, drawn: drawPill(ink, x + w / 2 - size.pad + 4, line, role, size, most) };
};

// A queue from its head at the right: full cells wait, hollow ones are dispatched and not acknowledged.
/** @type {(p: Panel, ink: Ink, left: number, right: number, y: number, queue: Iterable<[msg: number, to: Held]>, dest: number, size: CardSize, red?: boolean) => void} */
const drawStrip = (p, ink, left, right, y, queue, dest, size, red = false) => {
  const [w, h] = size.cell,
    step = w + size.gap,
    all = [...queue],
    look = lookOf(p, dest);
  const chosen = player.selection?.kind === "message" ? player.selection.msg : null;
  ink.box("pills", (left + right) / 2, y, right - left, h + (size.numbers ? 4 : 3), red ? RED : { fill: "sunken" });
  let fit = Math.floor((right - left - 6) / step);
  if (all.length > fit) fit = Math.floor((right - left - 6 - (size.numbers ? 26 : 20)) / step);
  for (let i = 0; i < Math.min(fit, all.length); i++) {
    const [msg, to] = all[i],
      x = right - 4 - w / 2 - i * step,
      out = to != null;
    if (msg === chosen) ink.box("cells", x, y, w + 5, h + 5, { fill: "mark", edge: "mark_edge" });
    ink.box("cells", x, y, w, h, { fill: out ? "card" : look.token, edge: `${look.token}e` });
    if (p.elsewhere?.has(msg)) drawDelta(ink, x + w / 2 - 1, y - h / 2);
    if (out) ink.bar(x, y + h / 2 - 2, w - 4, Math.max(2, h / 6), look.token);
    if (size.numbers && msg >= 0) {
      ink.say(x, y - (out ? 1 : 0), String(msg), String(msg).length > 2 ? 8.5 : size.numbers, {
        bold: true,
        align: "center",
        token: out ? "ink" : "on_d"
      });
    }
  }
  if (all.length > fit)
    ink.say(left + 5, y, `+${all.length - fit}`, size.numbers ? 11 : 10, { bold: true, token: red ? "fault" : "ink2" });
};
const RED = { fill: "fault_soft", edge: "fault" };

// Why a queue's messages stay where they are, from the moment on at which no consumer gets them any more; "" else.
/** @param {Panel} p @param {number} node @param {number} dest @param {number} t */
const stuckFor = (p, node, dest, t) => {
  const s = p.data("stuck"),
    i = s.node.findIndex((of, k) => of === node && s.dest[k] === dest && t >= s.t[k]);
  return i < 0 ? "" : s.why[i];
};
/** @type {(p: Panel, node: number, queues: Queue[], t: number) => boolean} */
const anyStuck = (p, node, queues, t) =>
  queues.some(([dest, queue]) => queue.size > 0 && stuckFor(p, node, dest, t) !== "");

/** @type {(p: Panel, broker: BrokerState | undefined, node: number) => Queue[]} */
const queuesOf = (p, broker, node) => {
  /** @type {Queue[]} */
  const known = [...(p.queuesOf.get(node) ?? [])].map((dest) => [dest, broker?.queues.get(dest) ?? new Map()]);
  return known.sort((a, b) => Number(b[1].size > 0) - Number(a[1].size > 0) || a[0] - b[0]);
};
/** @param {Queue[]} queues */
const sumOf = (queues) => queues.reduce((sum, [, queue]) => sum + queue.size, 0);

/** @type {(p: Panel, ink: Ink, node: number, queues: Queue[], left: number, right: number, top: number, bottom: number, size: CardSize, t: number) => void} */
const drawQueues = (p, ink, node, queues, left, right, top, bottom, size, t) => {
  const rows = Math.min(queues.length, 2),
    pitch = rows > 1 ? 34 : 40,
    under = rows > 1 ? 15.5 : 18;
  const first = rows > 1 ? top + 5 : top + (bottom - top - pitch) / 2 + 8,
    low = rows > 1 ? { ...size, cell: [18, 14] } : size;
  for (let i = 0; i < rows; i++) {
    const [dest, queue] = queues[i],
      y = first + i * pitch,
      look = lookOf(p, dest);
    const rest = i === rows - 1 ? queues.length - rows : 0;
    ink.dot(left + 5, y, 10, MARKERS[look.shape] ?? look.shape, look.token, `${look.token}e`, 1.2);
    const name = shortName(p.data("destinations").name[dest]) + (rest ? worded("and_more", rest) : ""),
      red = anyStuck(p, node, [queues[i]], t);
    const count = red ? worded("stuck", queue.size) : String(queue.size),
      wide = ink.say(right, y, count, 12.5, { bold: true, align: "right", token: red ? "fault" : "ink" });
    ink.say(left + 14, y, name, 11, { token: "ink2", room: right - left - 24 - wide });
    drawStrip(p, ink, left, right, y + under, queue, dest, low, red);
  }
};

// Whose turn it is: who reads from the queue here, and who gets its next message.
/** @param {Panel} p @param {Ink} ink @param {number} y @param {number} node @param {number} dest */
const drawTurn = (p, ink, left, right, y, state, node, dest) => {
  const takers = [
    ...new Set([...(state?.subs.values() ?? [])].filter((sub) => sub.dest === dest).map((sub) => sub.to))
  ];
  if (takers.length < 2 || p.isTopic[dest]) return false;
  const turns = p.turns.get(`${node} ${dest}`),
    next = turns?.to[after(turns.rows, p.state.next - 1)];
  const c = p.data("consumers"),
    row = (to) => c.node.indexOf(to),
    first = (to) => c.priority?.[row(to)] ?? 0,
    only = (to) => Number(c.exclusive?.[row(to)] === true);
  let x = left + ink.say(left, y, takers.some(only) ? "exclusive" : "turn", 10.5, { token: "ink3" }) + 7;
  const shown = [...takers].sort(
    (a, b) =>
      only(b) - only(a) ||
      first(b) - first(a) ||
      Number(b === next) - Number(a === next) ||
      Number(a < 0) - Number(b < 0) ||
      a - b
  );
  shown.forEach((to, i) => {
    const above = i > 0 && first(to) < first(shown[i - 1]); // higher priorities first: nobody behind this has a turn before
    if (above) x += ink.say(x, y, "then", 10, { token: "ink3" }) + 5;
    const text = `${to === next ? "▸ " : ""}${takerName(p, to)}`,
      w = Math.min(ink.wide(text, 10.5, true) + 12, 78),
      rest = shown.length - i;
    if (x + w > right + 2) {
      if (x < right) {
        ink.say(x, y, `+${rest}`, 10.5, { token: "ink2", bold: true });
        x = right + 9;
      }
      return;
    }
    const look = to === next ? PILLS.next : { fill: "card", edge: "line2", text: "ink2" };
    ink.box("pills", x + w / 2, y, w, 17, look);
    ink.say(x + w / 2, y, text, 10.5, { bold: to === next, align: "center", token: look.text, room: w - 8 });
    x += w + 4;
  });
  return true;
};
/** @param {Panel} p */
const takerName = (p, to) => {
  const c = p.data("consumers");
  if (to >= 0) return c.name[c.node.indexOf(to)] ?? "";
  const { link } = p.data("bridges"),
    links = p.data("links"),
    i = link[~to];
  if (i < 0) return "";
  return cardName(p, p.data("bridges").back[~to] ? links.a[i] : links.b[i]);
};

// How much of a destination's memory is used, where it has a limit.
/** @type {(p: Panel, ink: Ink, left: number, right: number, y: number, node: number, queue: Queue) => void} */
const drawMemory = (p, ink, left, right, y, node, [dest, queue]) => {
  const limits = p.data("limits"),
    i = limits.node.findIndex((of, k) => of === node && limits.dest[k] === dest);
  if (i < 0) return;
  const used = queue.size * limits.size[i],
    share = Math.min(1, used / limits.bytes[i]),
    text = worded("memory_of", sayBytes(used), sayBytes(limits.bytes[i]));
  const room = right - left;
  ink.say(right, y - 5, text, 10, { token: share >= 0.9 ? "fault" : "ink3", align: "right", room });
  ink.bar(right - room / 2, y + 6, room, 6, "sunken");
  ink.bar(right - room + (share * room) / 2, y + 6, share * room, 6, share >= 0.9 ? "fault" : "ink3");
};
const sayBytes = (bytes) =>
  bytes >= 1048576
    ? `${Math.round(bytes / 104857.6) / 10} MB`
    : bytes >= 1024
      ? `${Math.round(bytes / 102.4) / 10} kB`
      : `${bytes} B`;

// What a vote has come to, and the ballot of each that was asked: yes, no, or no answer.
const BALLOTS = [
  { sign: "✕", token: "fault", fill: "card", dash: "solid" },
  { sign: "✓", token: "ok", fill: "ok_soft", dash: "solid" },
  { sign: "✂", token: "fault", fill: "card", dash: "3 2" }
];
/** @type {(p: Panel, ink: Ink, left: number, right: number, y: number, vote: Vote) => void} */
const drawVote = (p, ink, left, right, y, { yes, needed, won, asked }) => {
  const words = needed ? worded("of_required_votes", yes, needed) : worded("no_voters");
  ink.say(left, y, words, 11.5, { bold: true, token: won ? "ok" : "fault", room: right - left });
  let x = left;
  for (const { node, said } of asked) {
    const { sign, token, fill, dash } = BALLOTS[said],
      text = `${sign} ${cardName(p, node)}`,
      w = Math.min(ink.wide(text, 10.5, true) + 12, 76);
    if (x + w > right + 4) {
      ink.say(x, y + 21, "…", 11, { bold: true, token: "ink2" });
      break;
    }
    ink.box("pills", x + w / 2, y + 21, w, 17, { fill, edge: token, dash });
    ink.say(x + w / 2, y + 21, text, 10.5, { bold: true, align: "center", token, room: w - 6 });
    x += w + 4;
  }
};

// The second line of a card without queues: what it does, in words.
/** @type {(p: Panel, broker: BrokerState, role: Role, t: number) => string} */
const stateWords = (p, broker, role, t) => {
  if (role.kind === "crashed" || role.kind === "stopped") return worded("since", sayTime(p, broker.since));
  if (role.kind === "waits" && broker.wait) {
    const left = broker.wait.ms - (player.runTime(p, t) - player.runTime(p, broker.wait.since));
    return left > 0 ? worded("retries_the_lock_in", sayMs(left)) : worded("retries_the_lock");
  }
  return "";
};
const sayMs = (ms) => (ms >= 999.5 ? `${(ms / 1000).toFixed(ms >= 10000 ? 0 : 1)} s` : `${Math.round(ms)} ms`);
/** @param {Panel} p @param {number} t */
const sayTime = (p, t) => {
  return timeText(player.runTime(p, t));
};

const isChosen = (kind, node) =>
  player.selection != null && player.selection.kind === kind && player.selection.node === node;

/** @param {Ink} ink @param {number} x @param {number} y */
const halo = (ink, x, y, w, h) => ink.box("cards", x, y, w + 10, h + 10, { fill: "mark", edge: "mark_edge", width: 1 });

/** @param {Panel} p @param {Ink} ink @param {RunState} s @param {number} t */
const drawBrokers = (p, ink, s, t) => {
  const b = p.data("brokers"),
    kind = p.data("plan").size[0];
  for (let i = 0; i < b.node.length; i++) {
    const node = b.node[i],
      state = s.brokers.get(node),
      role = roleOf(p, state);
    if (b.role[i] === "group") {
      drawGroup(p, ink, s, rowOf(b, i), kind);
      continue;
    }
    if (b.role[i] === "endpoint") Object.assign(role, { word: worded("not_listening"), kind: "stopped" });
    if (isChosen("broker", node)) halo(ink, b.x[i], b.y[i], b.w[i], b.h[i]);
    const shape = { x: b.x[i], y: b.y[i], w: b.w[i], h: b.h[i], name: b.name[i], node };
    let queues = queuesOf(p, state, node);
    if (b.store[i] >= 0 && role.kind !== "serves") queues = [];
    (BROKERS[kind] ?? BROKERS.XS)(p, ink, shape, state, role, queues, t);
  }
  drawStores(p, ink, s);
};

/** @type {Record<string, BrokerDrawing>} */
const BROKERS = {
  L: (p, ink, { x, y, w, h, name, node }, state, role, queues, t) => {
    const left = x - w / 2 + 12,
      right = x + w / 2 - 12,
      top = y - h / 2;
    ink.box("cards", x, y, w, h, FRAMES[role.kind]);
    if (role.kind === "serves" && role.word) ink.bar(x, top + 1.5, w - 18, 3, "active");
    // Below one queue or none there is room.
    const { low, drawn } = drawRole(ink, { x, y, w, h, name }, role, SIZES.L, queues.length < 2),
      pill = low ? 0 : drawn;
    ink.name(left, top + 19, name, 15, right - left - pill - 4, role.kind === "absent" ? "ink3" : "ink");
    const words = state ? stateWords(p, state, role, t) : "",
      empty = queues.every(([, q]) => q.size === 0);
    if (words && empty) {
      ink.say(left, top + 48, words, 11.5, {
        token: role.kind === "crashed" ? "fault" : "ink2",
        room: right - left,
        bold: role.kind === "crashed"
      });
    } else if (state?.vote && empty) {
      drawVote(p, ink, left, right, top + 48, state.vote);
    } else if (queues.length) {
      const end = low ? right - drawn - 4 : right,
        more = queues.length === 1 && drawTurn(p, ink, left, end, y + h / 2 - 15, state, node, queues[0][0]);
      if (!drawn) drawMemory(p, ink, left + ink.wide(name, 15, true) + 10, right, top + 19, node, queues[0]);
      drawQueues(p, ink, node, queues, left - 2, right + 2, top + 32, y + h / 2 - (more || low ? 20 : 4), SIZES.L, t);
    }
    if (role.kind === "waits" && state?.wait?.ms) {
      const gone = (player.runTime(p, t) - player.runTime(p, state.wait.since)) / state.wait.ms;
      ink.bar(x, top + 68, w - 28, 6, "sunken");
      const long = (w - 28) * Math.max(0, Math.min(1, gone));
      ink.bar(x - (w - 28) / 2 + long / 2, top + 68, long, 6, "line2");
    }
  },
  M: (p, ink, { x, y, w, h, name, node }, _state, role, queues, t) => {
    const left = x - w / 2 + 9,
      right = x + w / 2 - 9,
      top = y - h / 2;
    ink.box("cards", x, y, w, h, FRAMES[role.kind]);
    if (role.kind === "serves" && role.word) ink.bar(x, top + 1.5, w - 18, 3, "active");
    const { low, drawn } = drawRole(ink, { x, y, w, h, name }, role, SIZES.M, !queues.length),
      pill = low ? 0 : drawn;
    const sum = sumOf(queues),
      red = anyStuck(p, node, queues, t),
      token = red ? "fault" : "ink";
    const count =
      !role.word && queues.length
        ? ink.say(right, top + 14, String(sum), 12, { bold: true, align: "right", token })
        : 0;
    ink.name(left, top + 14, name, 12.5, right - left - pill - count - 6, role.kind === "absent" ? "ink3" : "ink");
    if (!queues.length) return;
    const [dest, queue] = queues[0];
    drawStrip(p, ink, left - 2, right + 2, y + h / 2 - 13, queue, dest, SIZES.M, red);
  },
  S: (p, ink, { x, y, w, h, name, node }, _state, role, queues, t) => {
    const sum = sumOf(queues),
      look = PILLS[role.word ? role.kind : ""] ?? { fill: "card", edge: "line2", text: "ink" };
    ink.box("pills", x, y, w, h, { ...look, fill: role.kind === "serves" && !role.word ? "card" : look.fill });
    const wide = w > WIDE_PILL && queues.length,
      count = wide ? 52 : sum ? ink.wide(String(sum), 10.5, true) + 8 : 0;
    const named = ink.say(x - w / 2 + 8, y, name, 11, { bold: true, room: w - 16 - count, token: look.text });
    if (wide) {
      drawInline(p, ink, x, y, w, queues, sum, named, anyStuck(p, node, queues, t));
      return;
    }
    if (!sum) return;
    const red = anyStuck(p, node, queues, t),
      fill = red ? "fault" : lookOf(p, queues[0][0]).token;
    ink.box("cells", x + w / 2 - 5 - count / 2, y, count, h - 8, { fill });
    const token = red ? "on_active" : "on_d";
    ink.say(x + w / 2 - 5 - count / 2, y, String(sum), 10.5, { bold: true, align: "center", token });
  },
  XS: (p, ink, { x, y, w, name, node }, _state, role, queues, t) => {
    const sum = sumOf(queues),
      look = PILLS[role.word ? role.kind : ""] ?? { fill: "card", edge: "line2", text: "ink" };
    const letters = [...name].slice(p.data("plan").shared[0]),
      told = letters.join(""),
      room = letters.length > 4 ? w - 3 : w + 12, // a short name may stand over the rim
      over = ink.wide(told, 9.5, true) + 3;
    if (over > w - 3 && over < room + 3) ink.bar(x, y, over, 11, look.fill); // no connector strikes it out
    ink.dot(x, y, w - 3, "circle", look.fill, look.edge, 1.5, look.dash ?? "solid");
    ink.say(x, y, told, 9.5, { bold: true, align: "center", room, token: look.text });
    if (!sum) return;
    const { token } = lookOf(p, queues[0][0]),
      red = anyStuck(p, node, queues, t),
      [fill, edge, text] = red ? ["fault", "fault", "on_active"] : [token, `${token}e`, "on_d"];
    ink.ring(x, y, w / 2 - 3.5, w / 2 + 0.5, Math.min(1, sum / 25), edge);
    const wide = ink.wide(String(sum), 9, true) + 7;
    ink.box("cells", x + w / 2 - 2, y + w / 2 - 3, wide, 12, { fill, edge, width: 1 });
    ink.say(x + w / 2 - 2, y + w / 2 - 3, String(sum), 9, { bold: true, align: "center", token: text });
  }
};

// In one line with the name: the fullest queue or topic as a sign, its messages as cells, and their number.
/** @param {Panel} p @param {Ink} ink @param {number} x @param {number} y */
const drawInline = (p, ink, x, y, w, queues, sum, named, red) => {
  const right = x + w / 2 - 7,
    token = red ? "fault" : sum ? "ink" : "ink3",
    number = ink.say(right, y, String(sum), 11, { bold: true, align: "right", token });
  const [dest, queue] = queues.reduce((a, b) => (b[1].size > a[1].size ? b : a)),
    look = lookOf(p, dest),
    left = x - w / 2 + 8 + named + 13;
  ink.dot(left - 3, y, 8, MARKERS[look.shape] ?? look.shape, look.token, `${look.token}e`, 1.1);
  drawStrip(p, ink, left + 4, right - number - 4, y, queue, dest, SIZES.S, red);
};

// A store that is shared: a cylinder, with the queue in it while no member serves.
/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawStores = (p, ink, s) => {
  const stores = p.data("stores"),
    b = p.data("brokers"),
    low = p.data("plan").size[0] !== "L";
  for (let i = 0; i < stores.name.length; i++) {
    const x = stores.x[i],
      y = stores.y[i],
      rx = stores.w[i] / 2,
      top = y - stores.h[i] / 2 + 9,
      bottom = y + stores.h[i] / 2 - 9;
    const arc = (cy, from, to) =>
      Array.from({ length: 17 }, (_, k) => {
        const a = from + ((to - from) * k) / 16;
        return [x + rx * Math.cos(a), cy + 9 * Math.sin(a)];
      });
    const holder = b.node.findLast(
      (node, k) =>
        b.store[k] === i && s.brokers.get(node)?.depth > 0 && roleOf(p, s.brokers.get(node)).kind !== "serves"
    );
    const state = holder == null ? null : s.brokers.get(holder),
      queues = queuesOf(p, state, holder).filter(([, q]) => q.size);
    const body = [...arc(top, Math.PI, 2 * Math.PI), ...arc(bottom, 0, Math.PI)];
    const put = (points, fill) =>
      ink.put("shapes", {
        xs: points.map((q) => q[0]),
        ys: points.map((q) => q[1]),
        fill: ink.colour(fill),
        edge: ink.colour("line2")
      });
    put(body, "card");
    put(arc(top, 0, 2 * Math.PI), "sunken");
    if (stores.kind[i] === "database") put([...arc(top + 8, Math.PI, 0), ...arc(top + 8, 0, Math.PI)], null);
    ink.name(x - rx + 12, top + 24, stores.name[i], 12.5, 2 * rx - 20);
    if (!low || !queues.length)
      ink.say(
        x - rx + 12,
        top + 40,
        stores.kind[i] === "database" ? worded("shared_database") : worded("shared_files"),
        10.5,
        {
          token: "ink3",
          room: 2 * rx - 20
        }
      );
    if (queues.length)
      drawStrip(
        p,
        ink,
        x - rx + 8,
        x + rx - 8,
        bottom - (low ? 2 : 8),
        queues[0][1],
        queues[0][0],
        low ? SIZES.M : SIZES.L
      );
  }
};
