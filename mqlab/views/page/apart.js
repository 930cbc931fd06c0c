// Beside its other run: what lies elsewhere there carries a small Δ, and a consumer that has received more or fewer
// says so. Both are states of one moment of the one clock.
const MOST_COMPARED = 3000; // messages of a run that are looked at for every picture

// Message -> the names of all who have it, as one text.
/** @param {Panel} p @param {RunState} s */
const whereabouts = (p, s) => {
  const found = new Map(),
    consumers = p.data("consumers");
  const add = (msg, place) => found.set(msg, `${found.get(msg) ?? ""}${place}\n`);
  for (const [node, broker] of s.brokers) {
    for (const queue of broker.queues.values())
      for (const msg of queue.keys()) add(msg, worded("at", cardName(p, node)));
  }
  consumers.node.forEach((node, i) => {
    for (const msg of s.consumers.get(node)?.window.keys() ?? []) add(msg, worded("with", consumers.name[i]));
  });
  return found;
};
/** @param {RunState} s */
const countHeld = (s) => [...s.brokers.values()].reduce((sum, broker) => sum + broker.depth, 0);

/** @param {Panel} p @param {number} t */
const compareWith = (p, t) => {
  p.elsewhere = new Set();
  p.gotThere = null;
  const q = player.panels.find((other) => other !== p);
  if (q == null || q.brokerOf == null) return;
  const here = stateAt(p, t),
    there = stateAt(q, t),
    { node, name } = q.data("consumers");
  p.gotThere = new Map(name.map((one, i) => [one, there.consumers.get(node[i])?.got ?? 0]));
  if (countHeld(here) + countHeld(there) > MOST_COMPARED) return;
  const ours = whereabouts(p, here),
    theirs = whereabouts(q, there);
  for (const [msg, places] of ours) if (theirs.get(msg) !== places) p.elsewhere.add(msg);
};

/** @param {Ink} ink @param {number} x @param {number} y */
const drawDelta = (ink, x, y) =>
  ink.put("wedges", {
    xs: [x - 4, x, x + 4],
    ys: [y + 3.5, y - 4, y + 3.5],
    fill: ink.colour("ink"),
    edge: ink.colour("card"),
    w: 1
  });

// Above each of two runs: its number, its name, and how many events it has.
const HEADING_HIGH = 28; // px
const HEADING_STYLE = `
  .mq-heading { position: absolute; left: 0; right: 0; top: -${HEADING_HIGH}px; height: ${HEADING_HIGH}px; display: flex; gap: 8px; align-items: center; padding: 0 10px;
    font: 13px/20px var(--mq-font); color: var(--mq-ink); white-space: nowrap; overflow: hidden; box-sizing: border-box; }
  .mq-heading b { flex: none; min-width: 18px; text-align: center; border-radius: 4px; background: var(--mq-ink); color: var(--mq-bg); }
  .mq-heading .named { font-weight: 600; overflow: hidden; text-overflow: ellipsis; } .mq-heading .events { margin-left: auto; color: var(--mq-ink2); }`;
const runNames = () => {
  const { sides, branches } = lab.state ?? {};
  if (sides?.length === 2) return sides.map((number) => branches[number].name);
  const titles = player.panels.map((p) => p.data("meta").title?.[0] ?? "");
  return titles[0] === titles[1] ? [worded("one_run"), worded("the_other")] : titles;
};
const drawHeadings = () => {
  if (player.panels.length < 2) return;
  runNames().forEach((name, i) => {
    const p = player.panels[i],
      within = viewOf(p.source("stage"))?.shadow_el;
    if (within == null) return;
    if (p.heading == null) {
      p.heading = element("div", { class: "mq-heading" });
      styled(within, HEADING_STYLE);
    }
    if (p.heading.parentNode !== within) within.append(p.heading);
    const events = (p.data("meta").events?.[0] ?? 0).toLocaleString("en");
    p.heading.replaceChildren(
      element("b", {}, String(i + 1)),
      element("span", { class: "named", title: name }, name),
      element("span", { class: "events" }, worded("event_events", events))
    );
  });
};
for (const name of /** @type {const} */ (["load", "lab", "size"])) player.on(name, drawHeadings);

/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawCounts = (p, ink, s) => {
  if (p.gotThere == null) return;
  const c = p.data("consumers"),
    cards = p.data("clients");
  for (let i = 0; i < c.node.length; i++) {
    const got = s.consumers.get(c.node[i])?.got ?? 0,
      there = p.gotThere.get(c.name[i]),
      card = p.clientOf.get(c.card[i]);
    if (there == null || there === got || card == null) continue;
    const text = worded("not", got, there),
      w = ink.wide(text, 10.5, true) + 14;
    const edge = cards.mouth[card] === "top" ? 1 : -1,
      alone = cards.role[card] === "consumer"; // not over the port
    const x = cards.x[card] + cards.w[card] / 2 - (alone ? w / 2 : 6),
      y = cards.y[card] + edge * (cards.h[card] / 2 + (alone ? 6.5 : -1 - 18 * c.row[i]));
    ink.box("pills", x, y, w, 16, { fill: "ink", edge: "ink" });
    ink.say(x, y, text, 10.5, { bold: true, align: "center", token: "card" });
  }
};
