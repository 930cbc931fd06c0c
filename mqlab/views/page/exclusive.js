// Exclusive consumers: of those that ask for all messages of a queue one has it, the others wait until it leaves. Who
// has it is who was given the queue's last message; before the first, who will be given it.
/** @param {Panel} p @param {number} node */
const asksForAll = (p, node) => {
  const c = p.data("consumers");
  return c.exclusive?.[c.node.indexOf(node)] === true;
};
/** @param {Panel} p @param {RunState} s @param {number} dest */
const holderOf = (p, s, broker, dest) => {
  const rivals = new Set(
    [...(s.brokers.get(broker)?.subs.values() ?? [])]
      .filter((sub) => sub.dest === dest && asksForAll(p, sub.to) && !s.consumers.get(sub.to)?.left)
      .map((sub) => sub.to)
  );
  if (rivals.size < 2) return { holder: [...rivals][0] ?? null, rivals };
  const turns = p.turns.get(`${broker} ${dest}`),
    next = turns ? after(turns.rows, p.state.next - 1) : 0;
  const given =
    turns?.to.slice(0, next).findLast((to) => rivals.has(to)) ?? turns?.to.slice(next).find((to) => rivals.has(to));
  return { holder: given ?? [...rivals][0], rivals };
};

// Whether an exclusive consumer has its queue now: "holds", "waits", or nothing if it reads from none.
/** @param {Panel} p @param {RunState} s @param {number} node */
const exclusivity = (p, s, node) => {
  if (!asksForAll(p, node)) return "";
  for (const [broker, { subs }] of s.brokers) {
    for (const { dest, to } of subs.values())
      if (to === node) return holderOf(p, s, broker, dest).holder === node ? "holds" : "waits";
  }
  return "";
};
const EXCLUSIVE_WORDS = { holds: worded("exclusive_active"), waits: worded("exclusive_waits"), "": "exclusive" };

// What sets a consumer apart, in words, one each.
/** @type {(p: Panel, s: RunState, consumer: { node: number; chips: string }) => string[]} */
const apartWords = (p, s, { node, chips }) =>
  chips
    ? chips.split("; ").map((chip) => (chip === "exclusive" ? EXCLUSIVE_WORDS[exclusivity(p, s, node)] : chip))
    : [];

// On the rim of a small card: who has the queue, and who waits for it.
/** @type {(p: Panel, ink: Ink, s: RunState, shape: ClientShape, consumers: ShownConsumer[]) => void} */
const drawHolds = (p, ink, s, { x, y, w, h, mouth }, [consumer]) => {
  const state = consumer ? exclusivity(p, s, consumer.node) : "";
  if (!state) return;
  const text = state === "holds" ? "exclusive" : "waits",
    wide = ink.wide(text, 9.5, true) + 10,
    rim = y + (mouth === "bottom" ? -h / 2 : h / 2);
  ink.box("pills", x + w / 2 - 6 - wide / 2, rim, wide, 13, PILLS[state === "holds" ? "next" : "absent"]);
  ink.say(x + w / 2 - 6 - wide / 2, rim, text, 9.5, {
    bold: true,
    align: "center",
    token: state === "holds" ? "active_t" : "ink2"
  });
};
