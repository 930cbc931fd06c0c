// The state of a run at a moment: who is up, what lies where, who is connected to whom. It is made by applying the
// rows of `changes` (codes: views/changes.py); snapshots on the way make going back as cheap as going on.
const WHAT = ["role", "state", "put", "take", "out", "back", "work", "bridge", "at", "attempt", "wait", "sent",
              "subscribe", "unsubscribe", "lock", "cut", "left"];
const HEALTH = ["absent", "up", "crashed", "stopped", "suspended"];

const newState = () => ({ next: 0, brokers: new Map(), clients: new Map(), consumers: new Map(), bridges: new Map(), cuts: new Map() });
const newBroker = () => ({ condition: "absent", role: -1, lock: false, since: 0, queues: new Map(), wait: null, depth: 0 });
const newClient = () => ({ at: -1, since: 0, sent: 0, tries: new Map(), wait: null, met: false });
const newConsumer = () => ({ window: new Map(), got: 0, left: false });
const newBridge = () => ({ up: false, known: false, passed: 0, subscriptions: new Map() });
const part = (map, key, make) => { let found = map.get(key); if (!found) map.set(key, found = make()); return found; };

const copyMap = (map, copy) => new Map([...map].map(([key, value]) => [key, copy(value)]));
const copyState = (s) => ({
  next: s.next,
  brokers: copyMap(s.brokers, (b) => ({ ...b, queues: copyMap(b.queues, (q) => new Map(q)) })),
  clients: copyMap(s.clients, (c) => ({ ...c, tries: new Map(c.tries) })),
  consumers: copyMap(s.consumers, (c) => ({ ...c, window: new Map(c.window) })),
  bridges: copyMap(s.bridges, (b) => ({ ...b, subscriptions: new Map(b.subscriptions) })),
  cuts: new Map(s.cuts),
});
const sizeOf = (s) => {
  let size = s.brokers.size + s.clients.size + s.consumers.size + s.bridges.size;
  for (const b of s.brokers.values()) size += b.depth;
  return size;
};

// What a broker's end or a lost connection does to what was handed out: the windows are empty.
const forget = (s, p, gone) => {
  for (const [node, consumer] of s.consumers) if (gone(p.cardOf.get(node) ?? node)) consumer.window.clear();
};

const APPLY = {
  role: (s, p, b, role) => { part(s.brokers, b, newBroker).role = role; },
  state: (s, p, b, code, c, d, t) => {
    const broker = part(s.brokers, b, newBroker);
    broker.condition = code === 5 ? "up" : HEALTH[code];
    broker.since = t;
    if (code !== 2 && code !== 3) return;
    broker.lock = false; broker.wait = null; broker.role = -1;
    for (const queue of broker.queues.values()) for (const msg of queue.keys()) queue.set(msg, null);
    forget(s, p, (card) => s.clients.get(card)?.at === b);
  },
  put: (s, p, b, dest, msg) => {
    const broker = part(s.brokers, b, newBroker), queue = part(broker.queues, dest, () => new Map());
    if (!queue.has(msg)) broker.depth++;
    queue.set(msg, null);
  },
  take: (s, p, b, dest, msg, holder) => {
    const broker = part(s.brokers, b, newBroker);
    if (broker.queues.get(dest)?.delete(msg)) broker.depth--;
    if (holder >= 0) s.consumers.get(holder)?.window.delete(msg);
  },
  out: (s, p, b, dest, msg, to) => {
    const queue = part(s.brokers, b, newBroker).queues.get(dest);
    if (queue?.has(msg)) queue.set(msg, to);
    if (to >= 0) part(s.consumers, to, newConsumer).window.set(msg, { dest, working: false });
    else part(s.bridges, ~to, newBridge).passed++;
  },
  back: (s, p, b, dest, msg, holder) => {
    const queue = part(s.brokers, b, newBroker).queues.get(dest);
    if (queue?.has(msg)) queue.set(msg, null);
    if (holder >= 0) s.consumers.get(holder)?.window.delete(msg);
  },
  work: (s, p, to, dest, msg, d, t) => {
    const consumer = part(s.consumers, to, newConsumer);
    consumer.got++;
    consumer.window.set(msg, { dest, working: true, since: t });
  },
  bridge: (s, p, bridge, up) => {
    const found = part(s.bridges, bridge, newBridge);
    found.up = up === 1; found.known = true;
    if (!up) found.subscriptions.clear();
  },
  at: (s, p, client, broker, c, d, t) => {
    const found = part(s.clients, client, newClient);
    if (broker < 0) forget(s, p, (card) => card === client);
    found.at = broker; found.since = t; found.met = true; found.wait = null;
    found.tries.clear();
  },
  attempt: (s, p, from, to) => {
    const tries = part(p.brokerOf.has(from) ? s.brokers : s.clients, from, p.brokerOf.has(from) ? newBroker : newClient);
    tries.tries ??= new Map();
    tries.tries.set(to, (tries.tries.get(to) ?? 0) + 1);
    tries.met = true;
  },
  wait: (s, p, node, ms, lock, d, t) => {
    const of = p.brokerOf.has(node) ? part(s.brokers, node, newBroker) : part(s.clients, node, newClient);
    of.wait = { ms, since: t, lock: lock === 1 };
  },
  sent: (s, p, client) => { const found = part(s.clients, client, newClient); found.sent++; found.met = true; },
  subscribe: (s, p, bridge, dest, sub) => {
    const known = part(s.bridges, bridge, newBridge).subscriptions;
    known.set(sub, (known.get(sub) ?? 0) + 1);
  },
  unsubscribe: (s, p, bridge, dest, sub) => {
    for (const found of s.bridges.values()) found.subscriptions.delete(sub);
  },
  lock: (s, p, b, held) => { const broker = part(s.brokers, b, newBroker); broker.lock = held === 1; broker.wait = null; },
  cut: (s, p, a, b, on) => { if (on) s.cuts.set(`${a} ${b}`, [a, b]); else s.cuts.delete(`${a} ${b}`); },
  left: (s, p, consumer) => { const found = part(s.consumers, consumer, newConsumer); found.left = true; found.window.clear(); },
};

// Where each node is in the tables of cards; these are other ones when the room has another shape.
const indexCards = (p) => {
  p.paths = new Map(); // of links: the same arrays as before need not be sent again
  p.brokerOf = new Map(p.data("brokers").node.map((node, i) => [node, i]));
  p.clientOf = new Map(p.data("clients").node.map((node, i) => [node, i]));
  p.cardOf = new Map(p.data("consumers").node.map((node, i) => [node, p.data("consumers").card[i]]));
};

const loadModel = (p) => {
  indexCards(p);
  p.state = newState();
  p.snapshots = [];
  p.queuesOf = new Map(); // the queues that a broker ever has: their places stay the same
  const { what, a, b } = p.data("changes");
  for (let i = 0; i < what.length; i++) if (WHAT[what[i]] === "put") part(p.queuesOf, a[i], () => new Set()).add(b[i]);
};

// The state after all changes up to t. The object is the panel's own: read it, do not keep it.
const stateAt = (p, t) => {
  const rows = p.data("changes"), goal = after(rows.t, t);
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
