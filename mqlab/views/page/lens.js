// The lens: what lies under the pointer, larger and in words. Whatever a size of the stage leaves out of a card stands here:
// each queue with its messages, the window of a consumer and what sets it apart, options of a connector, who is joined.
const LENS_STYLE = `
  .mq-lens { position: absolute; z-index: 9; pointer-events: none; min-width: 170px; max-width: 300px; padding: 8px 11px; border-radius: 9px;
    background: var(--mq-card); color: var(--mq-ink); border: 1.5px solid var(--mq-ink2); font: 12px/1.45 var(--mq-font);
    box-shadow: 0 3px 12px rgb(0 0 0 / 18%); overflow-wrap: anywhere; }
  .mq-lens header { display: flex; gap: 10px; align-items: baseline; } .mq-lens header span { color: var(--mq-ink2); margin-left: auto; }
  .mq-lens b { font-size: 13.5px; }
  .mq-lens div { color: var(--mq-ink2); }
  .mq-lens .queue { display: flex; align-items: center; gap: 2.5px; margin: 3px 0; } .mq-lens .queue em { font-style: normal; margin-right: 5px; }
  .mq-lens .queue strong { margin-left: auto; padding-left: 8px; color: var(--mq-ink); }
  .mq-lens i { flex: none; box-sizing: border-box; width: 13px; height: 14px; border-radius: 3px; border: 1.5px solid; font: 600 8.5px/11px var(--mq-font); text-align: center; color: var(--mq-on_d); }
  .mq-lens i.out { background: var(--mq-card); color: var(--mq-ink); border-bottom-width: 3.5px; line-height: 9px; }
  .mq-lens i.sign { width: 10px; height: 10px; border-radius: 5px; margin-right: 3px; } .mq-lens i.sign.topic { border-radius: 1px; }
  .mq-ring { position: absolute; z-index: 6; pointer-events: none; box-sizing: border-box; border: 2px solid var(--mq-ink); border-radius: 13px; }`;
const LENS_CELLS = 10,
  LENS_QUEUES = 4; // shown one by one

const cellOf = (look, msg, out) => {
  const cell = element("i", { class: out ? "out" : "" }, msg >= 0 && msg < 100 ? String(msg) : "");
  Object.assign(cell.style, {
    borderColor: `var(--mq-${look.token}e)`,
    ...(out ? {} : { background: `var(--mq-${look.token})` })
  });
  return cell;
};
/** @param {Panel} p @param {number} dest */
const signOf = (p, dest) => {
  const look = lookOf(p, dest),
    sign = element("i", { class: p.isTopic[dest] ? "sign topic" : "sign" });
  Object.assign(sign.style, { background: `var(--mq-${look.token})`, borderColor: `var(--mq-${look.token}e)` });
  return sign;
};
/** @param {Panel} p @param {number} dest */
const queueRow = (p, dest, messages, count) => {
  const cells = messages
      .slice(0, LENS_CELLS)
      .map(([msg, out]) => cellOf(lookOf(p, dest), msg, out))
      .reverse(),
    more = messages.length - cells.length;
  return element(
    "div",
    { class: "queue" },
    signOf(p, dest),
    element("em", {}, shortName(p.data("destinations").name[dest])),
    ...(more > 0 ? [`+${more}`] : []),
    ...cells,
    element("strong", {}, count)
  );
};
/** @param {Panel} p */
const queueRows = (p, queues) => {
  const rows = queues.slice(0, LENS_QUEUES).map(([dest, queue]) =>
    queueRow(
      p,
      dest,
      [...queue].map(([msg, to]) => [msg, to != null]),
      queue.size
    )
  );
  const out = queues.flatMap(([, queue]) => [...queue.values()]).filter((to) => to != null).length;
  return [
    ...rows,
    ...(queues.length > LENS_QUEUES
      ? [worded("and_more_destination_and_more_destinations", queues.length - LENS_QUEUES)]
      : []),
    ...(out ? [worded("dispatched_but_not_acknowledged_hollow_cells", out)] : [])
  ];
};

// What crossed a broker's connectors, in and out, and who its clients are.
/** @param {Panel} p @param {RunState} s @param {number} node */
const aroundBroker = (p, s, node) => {
  const links = p.data("links"),
    of = bridgesOf(p),
    back = p.data("bridges").back,
    passed = { in: 0, out: 0 };
  let joined = 0;
  links.a.forEach((a, i) => {
    if (a !== node && links.b[i] !== node) return;
    joined += links.count[i];
    for (const bridge of of.get(i) ?? [])
      passed[(back[bridge] ? links.b[i] : a) === node ? "out" : "in"] += s.bridges.get(bridge)?.passed ?? 0;
  });
  const c = p.data("clients"),
    here = c.node.map((_, i) => i).filter((i) => s.clients.get(c.node[i])?.at === node);
  const named = (role, does) => {
    const names = here.filter((i) => (c.role[i] === "producer") === (role === "producer")).map((i) => c.name[i]);
    return names.length
      ? [`${names.slice(0, 3).join(", ")}${names.length > 3 ? worded("and_more", names.length - 3) : ""} ${does}`]
      : [];
  };
  return {
    joined,
    lines: [
      ...(passed.in + passed.out ? [worded("forwarded_in_out", passed.in, passed.out)] : []),
      ...named("producer", worded("sends_here")),
      ...named("consumer", worded("connected_here"))
    ]
  };
};

// Why messages of this broker's queues are stuck.
/** @param {Panel} p @param {number} node @param {number} t */
const stuckWords = (p, node, t) => {
  const s = p.data("stuck"),
    { name } = p.data("destinations");
  return s.node.flatMap((of, k) =>
    of === node && t >= s.t[k] ? [worded("stuck_because", s.count[k], shortName(name[s.dest[k]]), s.why[k])] : []
  );
};

/** @type {Record<string, (p: Panel, s: RunState, part: Selected) => { head: string; lines: (string | HTMLElement)[] }>} */
const TOLD = {
  broker: (p, s, { node }) => {
    const state = s.brokers.get(node),
      role = roleOf(p, state),
      { joined, lines } = aroundBroker(p, s, node);
    return {
      head: joined ? saidMany(joined, "connector") : "",
      lines: [
        [role.word || "runs", ...(state?.lock ? [worded("holds_the_lock")] : [])].join(", "),
        ...queueRows(p, queuesOf(p, state, node)),
        ...stuckWords(p, node, player.t),
        ...lines
      ]
    };
  },
  connector: (p, s, { node, from, to }) => {
    const links = p.data("links"),
      bridges = (bridgesOf(p).get(node) ?? []).map((bridge) => s.bridges.get(bridge));
    const passed = bridges.reduce((sum, b) => sum + (b?.passed ?? 0), 0),
      held = bridges.flatMap((b) => [...(b?.subscriptions.values() ?? [])]);
    const consumers = held.reduce((sum, n) => sum + n, 0);
    return {
      head: "connector",
      lines: [
        worded("to", from, to, links.both[node] ? worded("both_ways") : ""),
        worded("forwarded", passed),
        ...(held.length ? [`${saidMany(consumers, "consumer")}, ${saidMany(held.length, "subscription")}`] : []),
        ...(links.chips[node] ? links.chips[node].split("; ") : [])
      ]
    };
  },
  producer: (p, s, { node }) => ({
    head: "producer",
    lines: [worded("sent", s.clients.get(node)?.sent ?? 0), clientWords(p, s.clients.get(node), player.t)]
  }),
  consumer: (p, s, { node }) => ({ head: "consumer", lines: clientLines(p, s, node) }),
  client: (p, s, { node }) => ({
    head: "client",
    lines: [
      ...(s.clients.get(node)?.sent ? [worded("sent", s.clients.get(node).sent)] : []),
      ...clientLines(p, s, node)
    ]
  }),
  message: () => ({ head: "", lines: [worded("click_for_its_history")] }),
  group: (p, s, { node }) => ({ head: "group", lines: groupWords(p, s, node) }),
  get connectors() {
    return TOLD.connector;
  }
};
/** @param {Panel} p @param {RunState} s @param {number} node */
const clientLines = (p, s, node) => [
  clientWords(p, s.clients.get(node), player.t),
  ...(consumersOf(p).get(node) ?? []).flatMap((c) => {
    const state = s.consumers.get(c.node),
      held = [...(state?.window ?? [])],
      dest = held[0]?.[1].dest;
    return [
      worded("received", c.name, state?.got ?? 0, windowWords(held.length, c.prefetch)),
      ...(held.length
        ? [
            queueRow(
              p,
              dest,
              held.map(([msg, m]) => [msg, !m.working]),
              held.length
            )
          ]
        : []),
      ...apartWords(p, s, c)
    ];
  })
];

/** @param {Panel} p */
const makeLens = (p, within) => {
  const lens = element("div", { class: "mq-lens", hidden: true, role: "tooltip" }),
    ring = element("div", { class: "mq-ring", hidden: true });
  styled(within, LENS_STYLE);
  within.append(ring, lens);
  const mark = ({ node, kind }) => {
    const table = ["broker", "group"].includes(kind) ? p.data("brokers") : p.data("clients"),
      i = ["connector", "connectors", "message"].includes(kind) ? -1 : table.node.indexOf(node),
      u = p.unit();
    ring.hidden = i < 0;
    if (i < 0) return;
    const [x, y] = p.xy(table.x[i] - table.w[i] / 2, table.y[i] - table.h[i] / 2);
    Object.assign(ring.style, {
      left: `${x - 4}px`,
      top: `${y - 4}px`,
      width: `${table.w[i] * u + 8}px`,
      height: `${table.h[i] * u + 8}px`
    });
  };
  return {
    hide: () => {
      lens.hidden = ring.hidden = true;
    },
    show: (found, px, py, room) => {
      const { head, lines } = TOLD[found.kind](p, stateAt(p, player.t), found);
      lens.replaceChildren(
        element("header", {}, element("b", {}, found.name), element("span", {}, head)),
        ...lines.map((line) => (line instanceof Node ? line : element("div", {}, line)))
      );
      lens.hidden = false;
      mark(found);
      const x = px + 16 + lens.offsetWidth > room.width ? px - 16 - lens.offsetWidth : px + 16;
      const y = Math.max(4, Math.min(room.height - lens.offsetHeight - 4, py + 14));
      Object.assign(lens.style, { left: `${Math.max(4, x)}px`, top: `${y}px` });
    }
  };
};
