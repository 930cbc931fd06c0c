// The state of a run at a moment: who is up, what lies where, who is connected to whom. It is made by applying the
// rows of `changes` (codes: views/changes.py); snapshots on the way make going back as cheap as going on.
const WHAT = [
  "role",
  "state",
  "put",
  "take",
  "out",
  "back",
  "work",
  "bridge",
  "at",
  "attempt",
  "wait",
  "sent",
  "subscribe",
  "unsubscribe",
  "lock",
  "cut",
  "left",
  "stands",
  "vote",
  "full",
  "ballot",
  "before"
];
const HEALTH = ["absent", "up", "crashed", "stopped", "suspended"];

/** @type {() => RunState} */
const newState = () => ({
  next: 0,
  brokers: new Map(),
  clients: new Map(),
  consumers: new Map(),
  bridges: new Map(),
  cuts: new Map()
});
/** @type {() => BrokerState} */
const newBroker = () => ({
  condition: "absent",
  role: -1,
  lock: false,
  since: 0,
  queues: new Map(),
  wait: null,
  depth: 0,
  subs: new Map(),
  vote: null
});
/** @type {() => ClientState} */
const newClient = () => ({ at: -1, since: 0, sent: 0, tries: new Map(), wait: null, met: false, held: null });
/** @type {() => ConsumerState} */
const newConsumer = () => ({ window: new Map(), got: 0, left: false });
/** @type {() => BridgeState} */
const newBridge = () => ({ up: false, known: false, passed: 0, subscriptions: new Map() });
/** @type {<K, V>(map: Map<K, V>, key: K, make: () => V) => V} */
const part = (map, key, make) => {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
};

/** @type {<K, V>(map: Map<K, V>, copy: (value: V) => V) => Map<K, V>} */
const copyMap = (map, copy) => new Map([...map].map(([key, value]) => [key, copy(value)]));
/** @type {(s: RunState) => RunState} */
const copyState = (s) => ({
  next: s.next,
  brokers: copyMap(s.brokers, (b) => ({ ...b, queues: copyMap(b.queues, (q) => new Map(q)), subs: new Map(b.subs) })),
  clients: copyMap(s.clients, (c) => ({ ...c, tries: new Map(c.tries) })),
  consumers: copyMap(s.consumers, (c) => ({ ...c, window: new Map(c.window) })),
  bridges: copyMap(s.bridges, (b) => ({ ...b, subscriptions: new Map(b.subscriptions) })),
  cuts: new Map(s.cuts)
});
/** @param {RunState} s */
const sizeOf = (s) => {
  let size = s.brokers.size + s.clients.size + s.consumers.size + s.bridges.size;
  for (const b of s.brokers.values()) size += b.depth;
  return size;
};

/** @param {Panel} p @param {number} node */
const isBroker = (p, node) => p.brokerOf.has(node) || p.groupOf.has(node);

// What a broker's end or a lost connection does to what was handed out: the windows are empty, and the copies of a
// topic that lay in them are nobody's.
/** @param {RunState} s @param {Panel} p */
const forget = (s, p, gone) => {
  for (const [node, consumer] of s.consumers) {
    if (!gone(p.cardOf.get(node) ?? node, node)) continue;
    for (const [msg, { dest }] of consumer.window) for (const b of s.brokers.values()) dropCopy(p, b, dest, msg, node);
    consumer.window.clear();
  }
};

// At a broker a topic keeps a message as long as somebody has a copy of it that is not acknowledged: in the place of
// who has it stands the list of all who do. A list is never changed, as states share it.
const addCopy = (broker, dest, msg, to) => {
  const copies = part(broker.queues, dest, () => new Map());
  if (!copies.has(msg)) broker.depth++;
  copies.set(msg, [...(copies.get(msg) ?? []), to]);
};
/** @param {Panel} p @param {number} dest @param {number} msg */
const dropCopy = (p, broker, dest, msg, to) => {
  const copies = p.isTopic[dest] ? broker.queues.get(dest) : null,
    all = copies?.get(msg);
  if (all == null) return;
  const at = to < 0 ? 0 : all.indexOf(to),
    left = at < 0 ? all : all.filter((_, i) => i !== at);
  if (left.length) {
    copies.set(msg, left);
    return;
  }
  copies.delete(msg);
  broker.depth--;
};

/** @type {Record<string, Change>} */
const APPLY = {
  role: (s, _p, b, role) => {
    part(s.brokers, b, newBroker).role = role;
  },
  state: (s, p, b, code, _c, _d, t) => {
    const broker = part(s.brokers, b, newBroker);
    broker.condition = code === 5 ? "up" : HEALTH[code];
    broker.since = t;
    if (code !== 2 && code !== 3) return;
    Object.assign(broker, { lock: false, wait: null, role: -1, vote: null });
    broker.subs.clear();
    for (const [dest, queue] of broker.queues) {
      if (p.isTopic[dest]) {
        broker.depth -= queue.size;
        queue.clear();
      }
      for (const msg of queue.keys()) queue.set(msg, null);
    }
    forget(s, p, (card) => s.clients.get(card)?.at === b);
  },
  put: (s, _p, b, dest, msg) => {
    const broker = part(s.brokers, b, newBroker),
      queue = part(broker.queues, dest, () => new Map());
    if (!queue.has(msg)) broker.depth++;
    queue.set(msg, null);
    for (const client of s.clients.values()) if (client.held?.msg === msg && client.held.at === b) client.held = null;
  },
  take: (s, p, b, dest, msg, holder) => {
    const broker = part(s.brokers, b, newBroker);
    if (p.isTopic[dest]) dropCopy(p, broker, dest, msg, holder);
    else if (broker.queues.get(dest)?.delete(msg)) broker.depth--;
    if (holder >= 0) s.consumers.get(holder)?.window.delete(msg);
  },
  out: (s, p, b, dest, msg, to) => {
    const broker = part(s.brokers, b, newBroker),
      queue = broker.queues.get(dest);
    if (p.isTopic[dest]) addCopy(broker, dest, msg, to);
    else if (queue?.has(msg)) queue.set(msg, to);
    if (to >= 0) part(s.consumers, to, newConsumer).window.set(msg, { dest, working: false });
    else part(s.bridges, ~to, newBridge).passed++;
  },
  back: (s, p, b, dest, msg, holder) => {
    const broker = part(s.brokers, b, newBroker),
      queue = broker.queues.get(dest);
    if (p.isTopic[dest]) dropCopy(p, broker, dest, msg, holder);
    else if (queue?.has(msg)) queue.set(msg, null);
    if (holder >= 0) s.consumers.get(holder)?.window.delete(msg);
  },
  work: (s, _p, to, dest, msg, flags, t) => {
    const consumer = part(s.consumers, to, newConsumer);
    consumer.got++;
    consumer.window.set(msg, { dest, working: true, since: t, flags });
  },
  before: (s, _p, consumer, count) => {
    part(s.consumers, consumer, newConsumer).got = count;
  },
  bridge: (s, _p, bridge, up) => {
    const found = part(s.bridges, bridge, newBridge);
    found.up = up === 1;
    found.known = true;
    if (!up) found.subscriptions.clear();
  },
  at: (s, p, client, broker, _c, _d, t) => {
    const found = part(s.clients, client, newClient);
    if (broker < 0) forget(s, p, (card) => card === client);
    found.at = broker;
    found.since = t;
    found.met = true;
    found.wait = null;
    found.tries.clear();
  },
  attempt: (s, p, from, to) => {
    const tries = isBroker(p, from) ? part(s.brokers, from, newBroker) : part(s.clients, from, newClient);
    tries.tries ??= new Map();
    tries.tries.set(to, (tries.tries.get(to) ?? 0) + 1);
    tries.met = true;
  },
  wait: (s, p, node, ms, lock, _d, t) => {
    const of = isBroker(p, node) ? part(s.brokers, node, newBroker) : part(s.clients, node, newClient);
    of.wait = { ms, since: t, lock: lock === 1 };
  },
  sent: (s, _p, client) => {
    const found = part(s.clients, client, newClient);
    found.sent++;
    found.met = true;
  },
  full: (s, _p, b, _dest, msg, client) => {
    part(s.clients, client, newClient).held = { msg, at: b };
  },
  stands: (s, _p, b, dest, sub, to) => {
    part(s.brokers, b, newBroker).subs.set(sub, { dest, to });
  },
  vote: (s, _p, b, yes, needed, won, t) => {
    part(s.brokers, b, newBroker).vote = { yes, needed, won: won === 1, since: t, asked: [] };
  },
  ballot: (s, _p, b, node, said) => {
    const broker = part(s.brokers, b, newBroker); // states share the vote: it is not changed, but another
    if (broker.vote) broker.vote = { ...broker.vote, asked: [...broker.vote.asked, { node, said }] };
  },
  subscribe: (s, _p, bridge, _dest, sub) => {
    const known = part(s.bridges, bridge, newBridge).subscriptions;
    known.set(sub, (known.get(sub) ?? 0) + 1);
  },
  unsubscribe: (s, _p, _bridge, _dest, sub) => {
    for (const found of s.bridges.values()) found.subscriptions.delete(sub);
    for (const found of s.brokers.values()) found.subs.delete(sub);
  },
  lock: (s, _p, b, held) => {
    const broker = part(s.brokers, b, newBroker);
    broker.lock = held === 1;
    broker.wait = null;
  },
  cut: (s, _p, a, b, on) => {
    if (on) s.cuts.set(`${a} ${b}`, [a, b]);
    else s.cuts.delete(`${a} ${b}`);
  },
  left: (s, p, consumer) => {
    part(s.consumers, consumer, newConsumer).left = true;
    forget(s, p, (_card, node) => node === consumer);
  }
};

// Where each node is in the tables of cards; these are other ones when the room has another shape, or a group is open.
/** @param {Panel} p */
const indexCards = (p) => {
  const { node = [], group = [] } = p.data("members");
  p.groupOf = new Map(node.map((one, i) => [one, group[i]]));
  p.paths = new Map(); // of links: the same arrays as before need not be sent again
  p.brokerOf = new Map(p.data("brokers").node.map((node, i) => [node, i]));
  p.clientOf = new Map(p.data("clients").node.map((node, i) => [node, i]));
  p.cardOf = new Map(p.data("consumers").node.map((node, i) => [node, p.data("consumers").card[i]]));
};

/** @param {Panel} p */
const loadModel = (p) => {
  indexCards(p);
  p.state = newState();
  p.snapshots = [];
  p.isTopic = p.data("destinations").name.map((name) => name.includes("topic://"));
  p.queuesOf = new Map(); // the queues and topics that a broker ever has messages of: their places stay the same
  p.turns = new Map(); // of each broker and destination: who got its messages, in order
  const { what, a, b, d } = p.data("changes");
  for (let i = 0; i < what.length; i++) {
    const kind = WHAT[what[i]],
      out = kind === "out";
    if (kind === "put" || (out && p.isTopic[b[i]])) part(p.queuesOf, a[i], () => new Set()).add(b[i]);
    if (out && !p.isTopic[b[i]]) {
      const turns = part(p.turns, `${a[i]} ${b[i]}`, () => ({ rows: [], to: [] }));
      turns.rows.push(i);
      turns.to.push(d[i]);
    }
  }
};

// The state after all changes up to t. The object is the panel's own: read it, do not keep it.
/** @param {Panel} p @param {number} t */
const stateAt = (p, t) => {
  const rows = p.data("changes"),
    goal = after(rows.t, t);
  if (goal < p.state.next) {
    const last = p.snapshots.findLast((s) => s.next <= goal);
    p.state = last ? copyState(last) : newState();
  }
  const s = p.state;
  while (s.next < goal) {
    const i = s.next++;
    APPLY[WHAT[rows.what[i]]](s, p, rows.a[i], rows.b[i], rows.c[i], rows.d[i], rows.t[i]);
    const last = p.snapshots.at(-1)?.next ?? 0;
    if (s.next - last > 500 && s.next - last > 4 * sizeOf(s)) p.snapshots.push(copyState(s));
  }
  return s;
};
player.stateOf = stateAt;
