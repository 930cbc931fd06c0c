// What of the page's scripts needs no browser; `node --test`, which test_scripts.py calls.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { closure } from "./closure.mjs";

const near = (found, wanted) => {
  assert.equal(found.length, wanted.length);
  found.forEach((value, i) => {
    assert.ok(Math.abs(value - wanted[i]) < 1e-9, `${found} is not ${wanted}`);
  });
};

test("roundMarks: even steps of 1, 2 or 5, finer where the axis is stretched", () => {
  const { roundMarks } = closure(["bus", "axis"]);
  const even = (x) => 30 * x;
  assert.deepEqual(roundMarks(0, 23, even, 62), [0, 5, 10, 15, 20]);
  assert.deepEqual(roundMarks(0, 23, even, 60), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]);
  assert.deepEqual(
    roundMarks(7.4421, 7.4467, (x) => 1e5 * x, 62),
    [7.443, 7.444, 7.445, 7.446]
  );
  const stretched = (x) => (x < 10 ? x : 10 + 100 * (x - 10)); // ten times nothing, then one after the other
  assert.deepEqual(roundMarks(0, 14, stretched, 62), [0, 11, 12, 13, 14]);
  assert.deepEqual(roundMarks(7, 7, even, 62), [7]);
  assert.deepEqual(roundMarks(-3, 4, even, 62), [0]);
});

test("after: the first place whose value is greater", () => {
  const { after } = closure(["bus"]);
  assert.deepEqual(
    [0, 1, 1.5, 2, 3, 4].map((t) => after([1, 2, 2, 3], t)),
    [0, 1, 1, 3, 4, 4]
  );
  assert.equal(after([], 1), 0);
});

test("player: one that is told is told with all values, and a selection only if it is another", () => {
  const { player } = closure(["bus"]),
    told = [];
  player.on("select", (selection) => told.push(selection));
  player.on("time", (...values) => told.push(values));
  player.emit("time", 1.5, 3);
  player.select({ kind: "broker", node: 1 });
  player.select({ kind: "broker", node: 1 });
  player.select(null);
  assert.deepEqual(told, [[1.5, 3], { kind: "broker", node: 1 }, null]);
});

// As pack.py writes: heads as JSON, a zero, and numbers as differences of seven bits a byte.
const packed = (heads, ...columns) => {
  const bytes = columns.flatMap((values) =>
    values.flatMap((value, i) => {
      const more = value - (i ? values[i - 1] : 0),
        out = [];
      let rest = more < 0 ? -2 * more - 1 : 2 * more;
      for (; rest >= 128; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128);
      return [...out, rest];
    })
  );
  return deflateSync(Buffer.concat([Buffer.from(JSON.stringify(heads)), Buffer.from([0, ...bytes])])).toString(
    "base64"
  );
};

test("unpack: numbers, also negative, broken and of more than 32 bits", async () => {
  const { unpack } = closure(["bus", "clock", "unpack"]);
  const heads = [
    { table: "a", column: "x", n: 4, scale: 10 },
    { table: "a", column: "y", n: 3, scale: 1 },
    { table: "b", column: "z", plain: [null, 1], nan: true }
  ];
  const found = await unpack(packed(heads, [5, -3, 12, 12], [2 ** 39, -7, 0]));
  assert.deepEqual(found, { a: { x: [0.5, -0.3, 1.2, 1.2], y: [2 ** 39, -7, 0] }, b: { z: [NaN, 1] } });
});

test("unpack: times by their places among the clock's moments, and others beside them", async () => {
  const { unpack } = closure(["bus", "clock", "unpack"]);
  const heads = [
    { table: "clock", column: "play", n: 3, scale: 10 },
    { table: "clock", column: "t", n: 3, scale: 1 },
    { table: "e", column: "play", n: 2, others: 1, scale: 10 },
    { table: "f", column: "t0", n: 2, scale: 10 },
    { table: "f", column: "took", n: 2, ends: true },
    { table: "g", column: "play", n: 2, others: 0, scale: 1 },
    { table: "g", column: "time", written: true }
  ];
  const found = await unpack(packed(heads, [0, 5, 20], [0, 1, 123456], [2, 0], [1], [7], [1, 5], [1, 2], [1, 2]));
  assert.deepEqual(found.e.play, [2, 0.7, 0]);
  assert.deepEqual(found.f.took, [0.4, 1.5]);
  assert.deepEqual(found.g.time, ["1 ms", "123.456 s"]);
});

test("unpack: patterns get back what was left out, `what` last of all", async () => {
  const { unpack } = closure(["bus", "clock", "unpack"]);
  const heads = [
    {
      table: "e",
      column: "what",
      n: 2,
      count: 1,
      scale: 10,
      patterns: ["\x06: from \x03 after \x07 ms.", "\x06: at \x05."]
    },
    { table: "e", column: "msg", n: 2, scale: 1 },
    { table: "e", column: "frm", n: 2, count: 0, scale: 1, patterns: ["A", "B"] },
    { table: "e", column: "broker", n: 2, count: 0, scale: 1, patterns: ["C"] }
  ];
  const found = await unpack(packed(heads, [0, 1], [15], [7, 8], [1, 0], [], [0, 0]));
  assert.deepEqual(found.e.what, ["7: from B after 1.5 ms.", "8: at C."]);
});

test("clock: between the moments a time lies in proportion, beyond them at the end", () => {
  const { between, player } = closure(["bus", "clock"], { clock: { play: [0, 1, 3], t: [0, 10, 20] } });
  assert.deepEqual(
    [-1, 0, 0.5, 1, 2, 3, 9].map((t) => player.runTime(player.panels[0], t)),
    [0, 0, 5, 10, 15, 20, 20]
  );
  assert.deepEqual([5, 15].map(player.storyTime), [0.5, 2]);
  assert.equal(between([], [], 1), 0);
});

test("said: the row's sentence with its rule and source", () => {
  const { player } = closure(["bus", "clock"], {
    events: { what: ["1: sent.", "2: waits."], rule: [0, 1] },
    rules: { sentence: ["", "nobody reads"], source: ["", "ActiveMQ rule 1.6"] }
  });
  assert.equal(player.said(0), "1: sent.");
  assert.equal(player.said(1), "2: waits: nobody reads [ActiveMQ rule 1.6].");
});

test("timeText: a time reads as in Python's told_time", () => {
  const { timeText } = closure(["bus", "clock"]);
  const cases = [
    [0, "0 ms"],
    [12.345, "12.345 ms"],
    [999.9996, "1 s"],
    [12104.4, "12.1044 s"],
    [0.1 + 0.2, "0.3 ms"]
  ];
  assert.deepEqual(
    cases.map(([ms]) => timeText(ms)),
    cases.map(([, text]) => text)
  );
});

test("nowText: to the microsecond at a moment, else as many digits as an eye can follow", () => {
  const { nowText, player } = closure(["bus", "tokens", "clock", "axis"], { clock: { play: [0, 1], t: [0, 12104.4] } });
  player.t = 0.5;
  assert.equal(nowText(), "6.052 s");
  player.t = 1;
  assert.equal(nowText(), "12.1044 s");
  player.playing = true;
  assert.equal(nowText(), "12.104 s");
});

test("axis: xOf and timeAt are each other's way back; a window stays within the run", () => {
  const { xOf, timeAt, setWindow, axis, player } = closure(["bus", "tokens", "clock", "axis"]);
  player.duration = 10;
  assert.equal(xOf(0, 0, 10), 92); // narrow: its own gutter
  assert.equal(xOf(10, 0, 10), 600 - 22);
  near(
    [0, 2.5, 10].map((t) => timeAt(xOf(t, 0, 10), 0, 10)),
    [0, 2.5, 10]
  );
  axis.width = 1000;
  assert.equal(xOf(0, 0, 10), 158);
  setWindow(-3, 4);
  assert.deepEqual([axis.from, axis.to], [0, 7]);
  setWindow(8, 14);
  assert.deepEqual([axis.from, axis.to], [4, 10]);
  setWindow(5, 5);
  near([axis.to - axis.from], [0.002]);
});

test("shortened: a name that does not fit loses its middle", () => {
  const { shortened } = closure(["bus", "tokens", "axis"]),
    pen = { measureText: (text) => ({ width: text.length }) };
  assert.equal(shortened(pen, "brokerA", 7), "brokerA");
  assert.equal(shortened(pen, "abcdefghij", 7), "abcd…ij");
  assert.equal(shortened(pen, "abcdefghij", 1), "…");
});

test("course: playing stops at a hit on the way, and a loop begins again", () => {
  const { course, breaks, loop } = closure(["bus", "clock", "breaks"], { events: { play: [1, 2, 3] } });
  breaks.hits = [1];
  assert.deepEqual(course(1.5, 2.5), { t: 2, row: 1, stop: true });
  assert.deepEqual(course(2, 2.5), { t: 2.5 });
  Object.assign(loop, { on: true, from: 0.5, to: 2.4 });
  assert.deepEqual(course(2, 2.5), { t: 0.5 });
});

test("words: kinds, speeds, bytes, times, numbers of things", () => {
  const { kindWord, speedText, sayBytes, sayMs, saidMany, shortName } = closure(
    ["bus", "clock", "model", "ink", "cards", "groups", "transport"],
    { meta: { beat: [0.35], unit: [1] } }
  );
  assert.equal(kindWord("DeadLettered"), "Dead lettered");
  assert.equal(speedText(2), "1 ms in 0.17 s");
  assert.deepEqual([999, 1024, 1536, 1048576].map(sayBytes), ["999 B", "1 kB", "1.5 kB", "1 MB"]);
  assert.deepEqual([999.4, 1500, 12345].map(sayMs), ["999 ms", "1.5 s", "12 s"]);
  assert.deepEqual(
    [1, 0, 1200].map((n) => saidMany(n, "broker")),
    ["1 broker", "0 brokers", "1,200 brokers"]
  );
  assert.deepEqual(["queue://a", "temp-topic://b", "c"].map(shortName), ["a", "b", "c"]);
});

const LINE = { x0: [0], y0: [0], cx: [5], cy: [0], x1: [10], y1: [0] },
  BENT = { x0: [0], y0: [0], cx: [5], cy: [10], x1: [10], y1: [0] };
test("lines: along a curve, to its right, as a path", () => {
  const { along, normal, isStraight, pathOf, distanceTo } = closure(["bus", "lines", "pointing"]);
  assert.deepEqual(
    [0, 0.5, 1].map((u) => along(BENT, 0, u)),
    [
      [0, 0],
      [5, 5],
      [10, 0]
    ]
  );
  near(normal(LINE, 0, 0.3), [0, 1]);
  assert.deepEqual([isStraight(LINE, 0), isStraight(BENT, 0)], [true, false]);
  assert.deepEqual(
    pathOf(LINE, 0, 0.2, 0.8, 3).map((one) => one.map((value) => +value.toFixed(6))),
    [[2, 8].map((x) => +along(LINE, 0, x / 10)[0].toFixed(6)), [3, 3]]
  );
  assert.equal(pathOf(BENT, 0)[0].length, 29);
  near([distanceTo(LINE, 0, 5, 4), distanceTo(LINE, 0, 13, 4), distanceTo(BENT, 0, 5, 5)], [4, 5, 0]);
});

test("places: a line follows its cards, and keeps its lane", () => {
  const { rerouted, edgeTowards } = closure(["bus", "places"]),
    box = (x, y) => ({ x, y, w: 20, h: 20 });
  assert.deepEqual(edgeTowards(box(0, 0), 100, 0), [10, 0]);
  assert.deepEqual(edgeTowards(box(0, 0), 0, -100), [0, -10]);
  const was = { from: box(0, 0), to: box(100, 0) },
    line = { x0: 10, y0: 0, cx: 50, cy: 0, x1: 90, y1: 0 };
  assert.deepEqual(rerouted(line, box(0, 0), box(0, 100), was), { x0: 0, y0: 10, cx: 0, cy: 50, x1: 0, y1: 90 });
  const lane = { ...line, y0: 2, cy: 2, y1: 2 };
  assert.deepEqual(rerouted(lane, box(0, 50), box(100, 50), was), { x0: 10, y0: 52, cx: 50, cy: 52, x1: 90, y1: 52 });
});

// Two brokers, a consumer with its client, a queue and a topic.
const RUN = {
  brokers: { node: [0, 1] },
  clients: { node: [2] },
  consumers: { node: [3], card: [2] },
  members: {},
  destinations: { name: ["queue://q", "topic://t"] }
};
const changes = (...rows) =>
  Object.fromEntries(["t", "what", "a", "b", "c", "d"].map((name, k) => [name, rows.map((row) => row[k])]));
const stateAfter = (t, ...rows) => {
  const all = closure(["bus", "model"], RUN),
    what = (name) => all.WHAT.indexOf(name),
    p = all.player.panels[0];
  const { data } = p;
  p.data = (name) =>
    name === "changes" ? changes(...rows.map(([at, kind, ...more]) => [at, what(kind), ...more])) : data(name);
  all.loadModel(p);
  return { p, stateAt: all.stateAt, s: all.stateAt(p, t) };
};

test("model: a message waits, is handed out, comes back when its consumer's connection is lost", () => {
  const rows = [
    [0, "state", 0, 5, 0, 0],
    [1, "put", 0, 0, 7, 0],
    [2, "at", 2, 0, 0, 0],
    [3, "out", 0, 0, 7, 3],
    [4, "take", 0, 0, 7, 3]
  ];
  const { s, p, stateAt } = stateAfter(3, ...rows);
  assert.equal(s.brokers.get(0).queues.get(0).get(7), 3);
  assert.deepEqual([...s.consumers.get(3).window.keys()], [7]);
  const end = stateAt(p, 4);
  assert.deepEqual([end.brokers.get(0).depth, end.consumers.get(3).window.size], [0, 0]);
  const back = stateAt(p, 1);
  assert.deepEqual(
    [back.brokers.get(0).queues.get(0).get(7), back.brokers.get(0).depth, back.consumers.size],
    [null, 1, 0]
  );
});

test("model: going back from far is as if one had only gone there", () => {
  const rows = Array.from({ length: 3000 }, (_, i) => [i, i % 2 ? "take" : "put", 0, 0, i >> 1, -1]);
  const { p, stateAt } = stateAfter(2999, ...rows);
  assert.ok(p.snapshots.length > 2);
  for (const t of [2000, 1200.5, 700, 1]) assert.deepEqual(stateAt(p, t), stateAfter(t, ...rows).s);
});

test("model: a crash takes a topic's copies and leaves a queue's messages to nobody", () => {
  const { s } = stateAfter(
    9,
    [0, "state", 0, 5, 0, 0],
    [1, "at", 2, 0, 0, 0],
    [2, "put", 0, 0, 7, 0],
    [3, "out", 0, 0, 7, 3],
    [4, "out", 0, 1, 8, 3],
    [5, "state", 0, 2, 0, 0]
  );
  const broker = s.brokers.get(0);
  assert.equal(broker.condition, "crashed");
  assert.deepEqual([...broker.queues.get(0)], [[7, null]]);
  assert.deepEqual([broker.queues.get(1).size, broker.depth, s.consumers.get(3).window.size], [0, 1, 0]);
});

test("isCut: a line that is cut is so both ways, a node with all of its lines", () => {
  const { isCut } = closure(["bus", "lines"]),
    s = {
      cuts: new Map([
        ["0 1", [0, 1]],
        ["4 -1", [4, -1]]
      ])
    };
  assert.deepEqual(
    [
      [0, 1],
      [1, 0],
      [0, 2],
      [4, 9],
      [9, 4]
    ].map(([a, b]) => isCut(s, a, b)),
    [true, true, false, true, true]
  );
});

test("bursts: what leaves together is one", () => {
  const { bursts } = closure(["bus", "moving"]);
  const found = bursts({
    t0: [0, 0, 0, 0, 1],
    took: [1, 1, 1, 2, 1],
    way: [0, 0, 1, 0, 0],
    look: [2, 2, 2, 2, 2],
    flags: [0, 0, 0, 0, 0],
    msg: [1, 2, 3, 4, 5]
  });
  assert.deepEqual([...found.head], [0, 0, 2, 3, 4]);
  assert.deepEqual([...found.size], [2, 0, 1, 1, 1]);
  assert.deepEqual([[...found.order], found.count], [[0, 0, 0, 1, 2], 2]);
});

test("tellingRow: of one moment a chapter, else what moves, else the first", () => {
  const told = (chapter) =>
    closure(["bus", "clock", "caption"], {
      events: { play: [1, 2, 2, 2], chapter, kind: ["Sent", "Enqueued", "Dispatched", "Enqueued"] }
    }).tellingRow(3);
  assert.equal(told(["", "", "", ""]), 2);
  assert.equal(told(["", "failover", "", ""]), 1);
});

test("lanes: which runs have one, and which lane a run leaves", () => {
  const { chosenLanes, leftAt, branchName } = closure(["bus", "tokens", "clock", "axis", "lanes"]);
  const branches = [
    { name: "run", parent: null },
    { name: "cut", parent: 0, ms: 5 },
    { name: "late", parent: 1, ms: 3 },
    { name: "x", parent: 1, ms: 9 },
    { name: "y", parent: 3, ms: 12 }
  ];
  assert.deepEqual(chosenLanes({ branches, current: 3, beside: null }), [0, 1, 3]);
  assert.deepEqual(chosenLanes({ branches, current: 1, beside: 4 }), [0, 1, 4]);
  assert.deepEqual(
    [1, 2, 3, 4].map((number) => leftAt(branches, number)),
    [0, 0, 1, 3]
  );
  assert.deepEqual(
    [0, 1].map((number) => branchName(branches[number], number)),
    ["1 run", "2 Δ cut at 5 ms"]
  );
});

test("vector: text is no markup", () => {
  const { asText, pathData } = closure(["bus", "ink", "vector"]);
  assert.equal(asText('a<b>&"\u0007c'), "a&#60;b&#62;&#38;&#34;c");
  assert.equal(pathData([0, 1.25], [2, 3], true), "M0.0 2.0L1.3 3.0Z");
});

// A model of ipywidgets as the host sees it.
const hosted = (values) =>
  Object.assign(new EventEmitter(), {
    get: (key) => values[key],
    sent: [],
    send(message) {
      this.sent.push(message);
    },
    widget_manager: { get_model: () => Promise.reject(new Error("unknown")) }
  });
const element = () => ({ dataset: {}, style: {}, append() {}, remove() {}, setAttribute() {} });

test("host: who asks a kernel that is restarted meanwhile is told, and the next picture asks again", async () => {
  const { default: host } = await import("../../mqlab/views/host.js");
  const item = JSON.stringify({ template: "t", panels: 1, prefix: "a", title: "", columns: "" });
  const words = { kernel_gone: "The kernel was restarted." };
  const model = hosted({ version: "3", item, words, template: "t", answers: false });
  globalThis.window = { Bokeh: { version: "3", Models: { has: () => true } }, __mqlabBokeh: Promise.resolve() };
  globalThis.document = { createElement: element };
  for (const asked of [1, 2]) {
    const shown = host.render({ model, el: element() });
    await new Promise((go) => setTimeout(go, 5));
    assert.equal(model.sent.length, asked);
    model.emit("comm_live_update");
    await assert.rejects(shown, /The kernel was restarted/);
    assert.deepEqual(model.eventNames(), []);
  }
});
