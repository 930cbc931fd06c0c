// Of very many brokers those that belong together are one part of the stage. A click opens a group, or Enter on it, and
// closes it again at the tab of its frame; who selects a broker or a client that is in a closed one opens it. Each has a
// button of its own above the stage, which only the keyboard reaches.
const GROUPS_STYLE = `
  .mq-groups button { position: absolute; background: none; border: 0; padding: 0; pointer-events: none; border-radius: 12px; }
  .mq-groups button:focus-visible { outline: 2.5px solid var(--mq-active); outline-offset: 3px; }`;
const TAB_HIGH = 18; // units of the stage

// The node as which a broker is drawn: itself, or its group where this is closed.
/** @param {Panel} p @param {number} node */
const seenAs = (p, node) => (p.brokerOf.has(node) || p.clientOf.has(node) ? node : (p.groupOf.get(node) ?? node));
/** @param {Panel} p @param {number} node */
const isOpen = (p, node) => p.data("plan").open?.[0] === node;

const toggleGroup = (name, open = memory().open !== name) => {
  memory().open = open ? name : null;
  const links = player.panels[0].data("links"),
    chosen = player.selection,
    was = chosen?.kind === "connector" ? rowOf(links, chosen.node) : null;
  for (const p of player.panels) {
    p.laid = null;
    layOut(p);
  }
  if (was?.name != null) {
    // lines are others now
    const now = player.panels[0].data("links"),
      node = now.name.findIndex((one, i) => one === was.name && now.a[i] === was.a && now.b[i] === was.b);
    player.select(node < 0 ? null : { ...chosen, node });
  }
  fitAll();
  drawStage(true);
  player.emit("groups");
};

/** @param {Panel} p @param {number} node */
const brokersIn = (p, node) =>
  [...p.groupOf]
    .filter(([one, group]) => group === node && ["broker", "endpoint"].includes(p.data("nodes").role[one]))
    .map(([one]) => one);
/** @param {Panel} p @param {RunState} s @param {number} node */
const countOf = (p, s, node) => {
  const brokers = brokersIn(p, node).map((one) => s.brokers.get(one)),
    waiting = brokers.reduce((sum, one) => sum + (one?.depth ?? 0), 0);
  const fullest = brokers.reduce((most, one) => ((one?.depth ?? 0) > (most?.depth ?? 0) ? one : most), null);
  const [dest = 0] = [...(fullest?.queues ?? [])].find(([, queue]) => queue.size) ?? [];
  return {
    brokers: brokers.length,
    waiting,
    dest,
    down: brokers.filter((one) => ["crashed", "stopped", "suspended"].includes(one?.condition)).length
  };
};
const saidMany = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
/** @param {Panel} p @param {RunState} s @param {number} node */
const groupWords = (p, s, node) => {
  const { brokers, waiting, down } = countOf(p, s, node);
  return [
    `${saidMany(brokers, "broker")}${down ? worded("of_them_down", down) : ""}`,
    worded("waiting", saidMany(waiting, "message")),
    isOpen(p, node) ? worded("click_to_collapse") : worded("click_to_expand")
  ];
};

// A closed group: a card that stands for several.
/** @type {(p: Panel, ink: Ink, s: RunState, shape: BrokerShape, size: string) => void} */
const drawGroup = (p, ink, s, { x, y, w, h, name, node }, size) => {
  const { brokers, waiting, dest, down } = countOf(p, s, node),
    card = size === "L" || size === "M",
    more = card ? 4 : 2.5;
  for (const k of [2, 1])
    ink.box(card ? "cards" : "pills", x + k * more, y - k * more, w - 2 * k, h, { fill: "sunken", edge: "line2" });
  ink.box(card ? "cards" : "pills", x, y, w, h, { fill: "card", edge: down ? "fault" : "line2" });
  const left = x - w / 2 + (card ? 10 : 7),
    right = x + w / 2 - (card ? 10 : 4),
    top = card ? y - h / 2 + 15 : y;
  const look = lookOf(p, dest),
    wide = waiting ? ink.wide(String(waiting), 10.5, true) + 9 : 0;
  if (waiting) {
    ink.box("cells", right - wide / 2, top, wide, 16, { fill: look.token, edge: `${look.token}e` });
    ink.say(right - wide / 2, top, String(waiting), 10.5, { bold: true, align: "center", token: "on_d" });
  }
  const free = right - left - wide - 4,
    called = card ? name : name.replace(/ …$/, ""); // the number says that there are more
  const words = [saidMany(brokers, "broker"), `×${brokers}`],
    room = free - ink.wide(called, 10.5, true) - 4,
    many = words.find((text) => ink.wide(text, 10) < room) ?? words[1];
  const taken = card
    ? 0
    : 4 + ink.say(right - wide - 4, y, many, 10, { token: down ? "fault" : "ink3", align: "right" });
  ink.name(left, top, called, card ? 13 : 10.5, free - taken);
  if (card)
    ink.say(
      left,
      y + h / 2 - 14,
      down ? worded("down", saidMany(brokers, "broker"), down) : saidMany(brokers, "broker"),
      11,
      { token: down ? "fault" : "ink2", room: right - left }
    );
};

/** @param {Panel} p */
const tabOf = (p) => {
  const g = p.data("groups"),
    i = g.node.findIndex((node) => isOpen(p, node));
  return i < 0
    ? null
    : {
        ...rowOf(g, i),
        left: g.x[i] - g.w[i] / 2,
        top: g.y[i] - g.h[i] / 2,
        text: `− ${g.name[i]}, ${saidMany(g.count[i], "broker")}`
      };
};
/** @param {Panel} p @param {Ink} ink */
const drawOpenGroup = (p, ink) => {
  const tab = tabOf(p);
  if (tab == null) return;
  ink.box("frames", tab.x, tab.y, tab.w, tab.h, { fill: "sunken", edge: "line2", dash: "solid" });
};
/** @param {Panel} p @param {Ink} ink */
const drawTab = (p, ink) => {
  const tab = tabOf(p);
  if (tab == null) return;
  p.tabWide = Math.min(tab.w, ink.wide(tab.text, 11, true) + 20);
  ink.box("pills", tab.left + p.tabWide / 2, tab.top - TAB_HIGH / 2, p.tabWide, TAB_HIGH, {
    fill: "card",
    edge: "line2"
  });
  ink.say(tab.left + 10, tab.top - TAB_HIGH / 2, tab.text, 11, { bold: true, room: p.tabWide - 14 });
};

/** @param {Panel} p @param {number} x @param {number} y */
const groupAt = (p, x, y) => {
  const tab = tabOf(p),
    b = p.data("brokers");
  if (tab && x > tab.left && x < tab.left + p.tabWide && y < tab.top && y > tab.top - TAB_HIGH)
    return { kind: "group", node: tab.node, name: tab.name };
  const i = b.node.findIndex((_, k) => b.role[k] === "group" && inside(b, k, x, y));
  return i < 0 ? null : { kind: "group", node: b.node[i], name: b.name[i] };
};

// The buttons: they stay as long as their group is there, so that the focus does.
/** @param {Panel} p @param {RunState} s */
const placeGroups = (p, s) => {
  const within = viewOf(p.source("stage"))?.shadow_el,
    g = p.data("groups"),
    unit = p.unit();
  if (within == null || (!g.node?.length && p.groupButtons == null)) return;
  if (p.groupButtons == null) {
    p.groupButtons = new Map();
    p.groupPlace = element("div", { class: "mq-groups", role: "group", "aria-label": worded("groups_of_brokers") });
    styled(within, GROUPS_STYLE);
  }
  if (p.groupPlace.parentNode !== within) within.append(p.groupPlace);
  for (const [name, button] of p.groupButtons)
    if (!g.name.includes(name)) {
      button.remove();
      p.groupButtons.delete(name);
    }
  g.name.forEach((name, i) => {
    const button = part(p.groupButtons, name, () =>
      element("button", { type: "button", onclick: () => toggleGroup(name) })
    );
    if (button.parentNode == null) p.groupPlace.append(button);
    const [brokers, waiting] = groupWords(p, s, g.node[i]),
      open = isOpen(p, g.node[i]);
    const [w, h] = open ? [p.tabWide, TAB_HIGH] : [g.w[i], g.h[i]],
      top = g.y[i] - g.h[i] / 2 - (open ? TAB_HIGH : 0),
      [x, y] = p.xy(g.x[i] - g.w[i] / 2, top) ?? [0, 0];
    const told = { "aria-label": `${name}: ${brokers}, ${waiting}`, "aria-expanded": String(open) };
    for (const [key, value] of Object.entries(told))
      if (button.getAttribute(key) !== value) button.setAttribute(key, value);
    Object.assign(button.style, { left: `${x}px`, top: `${y}px`, width: `${w * unit}px`, height: `${h * unit}px` });
  });
};

player.on("select", (selection) => {
  const p = player.panels[0],
    { name = [] } = p.data("nodes"),
    node = selection?.node ?? name.indexOf(selection?.name);
  if (!["broker", "client", "producer", "consumer"].includes(selection?.kind)) return;
  const group = seenAs(p, node),
    g = p.data("groups"),
    i = g.node?.indexOf(group) ?? -1;
  if (i >= 0) toggleGroup(g.name[i], true);
});
