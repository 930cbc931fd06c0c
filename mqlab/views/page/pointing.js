// Pointing at the stage: what lies under the pointer is selected by a click, and told in a lens when one rests on it.
const REST = 120; // ms
const LENS_STYLE = `
  .mq-lens { position: absolute; z-index: 9; pointer-events: none; max-width: 280px; padding: 7px 10px; border-radius: 8px;
    background: var(--mq-card); color: var(--mq-ink); border: 1.5px solid var(--mq-ink2); font: 12px/1.45 var(--mq-font);
    box-shadow: 0 3px 12px rgb(0 0 0 / 18%); overflow-wrap: anywhere; }
  .mq-lens b { font-size: 13px; }
  .mq-lens div { color: var(--mq-ink2); }`;

const inside = (table, i, x, y, more = 0) => Math.abs(x - table.x[i]) <= table.w[i] / 2 + more && Math.abs(y - table.y[i]) <= table.h[i] / 2 + more;

const distanceTo = (l, i, x, y) => {
  let least = Infinity;
  for (let k = 0; k <= 24; k++) { const [px, py] = along(l, i, k / 24); least = Math.min(least, Math.hypot(px - x, py - y)); }
  if (!isStraight(l, i)) return least;
  const dx = l.x1[i] - l.x0[i], dy = l.y1[i] - l.y0[i], u = Math.max(0, Math.min(1, ((x - l.x0[i]) * dx + (y - l.y0[i]) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(l.x0[i] + u * dx - x, l.y0[i] + u * dy - y);
};

// What is at a point of the stage: {kind, node, name, ...} as player.select takes it, or null.
const partAt = (p, x, y) => {
  const b = p.data("brokers"), c = p.data("clients"), links = p.data("links"), reach = Math.max(5, p.data("plan").pipe[0] / 2);
  const client = c.node.findIndex((_, i) => inside(c, i, x, y));
  if (client >= 0) return { kind: c.role[client], node: c.node[client], name: c.name[client] };
  const broker = b.node.findIndex((_, i) => inside(b, i, x, y));
  if (broker >= 0) return messageIn(p, b, broker, x, y) ?? { kind: "broker", node: b.node[broker], name: b.name[broker] };
  let best = null, least = reach + 3;
  for (let i = 0; i < links.name.length; i++) { const far = distanceTo(links, i, x, y); if (far < least) { least = far; best = i; } }
  return best == null ? null : { kind: "connector", node: best, name: links.name[best], from: cardName(p, links.a[best]), to: cardName(p, links.b[best]) };
};
const cardName = (p, node) => p.data("brokers").name[p.brokerOf.get(node)] ?? p.data("clients").name[p.clientOf.get(node)] ?? "";

// The message whose cell of a queue is at a point: the cells are where drawStrip has put them.
const messageIn = (p, b, i, x, y) => {
  const cells = p.source("draw cells").data, words = p.source("draw words").data;
  const cell = cells.x.findIndex((cx, k) => cells.w[k] > 12 && cells.w[k] < 20 && Math.abs(cx - x) <= cells.w[k] / 2 && Math.abs(cells.y[k] - y) <= cells.h[k] / 2);
  if (cell < 0) return null;
  const word = words.x.findIndex((wx, k) => Math.abs(wx - cells.x[cell]) < 1 && Math.abs(words.y[k] - cells.y[cell]) < 2 && /^\d+$/.test(words.text[k]));
  return word < 0 ? null : { kind: "message", msg: Number(words.text[word]), name: `message ${words.text[word]}` };
};

const countWords = (p, queues) => queues.map(([dest, queue]) => {
  const out = [...queue.values()].filter((to) => to != null).length;
  return `${shortName(p.data("destinations").name[dest])}: ${queue.size}${out ? `, ${out} of them dispatched, not acknowledged` : ""}`;
});
const TOLD = {
  broker: (p, s, { node }) => {
    const state = s.brokers.get(node), role = roleOf(p, state);
    return [role.word || "runs", ...(state?.lock ? ["holds the lock"] : []), ...countWords(p, queuesOf(p, state, node).slice(0, 4))];
  },
  connector: (p, s, { node, from, to }) => {
    const links = p.data("links"), bridges = (bridgesOf(p).get(node) ?? []).map((bridge) => s.bridges.get(bridge));
    const passed = bridges.reduce((sum, b) => sum + (b?.passed ?? 0), 0), held = bridges.flatMap((b) => [...(b?.subscriptions.values() ?? [])]);
    const consumers = held.reduce((sum, n) => sum + n, 0);
    return [`${from} to ${to}${links.both[node] ? ", both ways" : ""}`, `${passed} forwarded`,
            ...(held.length ? [`${consumers} consumer${consumers === 1 ? "" : "s"}, ${held.length} subscription${held.length === 1 ? "" : "s"}`] : []),
            ...(links.chips[node] ? links.chips[node].split("; ") : [])];
  },
  producer: (p, s, { node }) => [`sent ${s.clients.get(node)?.sent ?? 0}`, clientWords(p, s.clients.get(node), player.t)],
  consumer: (p, s, { node }) => clientLines(p, s, node),
  client: (p, s, { node }) => [...(s.clients.get(node)?.sent ? [`sent ${s.clients.get(node).sent}`] : []), ...clientLines(p, s, node)],
  message: () => [],
};
const clientLines = (p, s, node) => [clientWords(p, s.clients.get(node), player.t),
  ...(consumersOf(p).get(node) ?? []).map((c) => {
    const state = s.consumers.get(c.node);
    return `${c.name}: received ${state?.got ?? 0}, ${windowWords(state?.window.size ?? 0, c.prefetch)}`;
  })];

const makeLens = (p, within) => {
  const lens = element("div", { class: "mq-lens", hidden: true, role: "tooltip" });
  styled(within, LENS_STYLE);
  within.append(lens);
  return {
    hide: () => { lens.hidden = true; },
    show: (found, px, py, room) => {
      const s = stateAt(p, player.t), word = found.kind === "message" ? "" : ` ${found.kind}`;
      lens.replaceChildren(element("b", {}, found.name), element("span", {}, word), ...TOLD[found.kind](p, s, found).map((line) => element("div", {}, line)));
      lens.hidden = false;
      const x = px + 16 + lens.offsetWidth > room.width ? px - 16 - lens.offsetWidth : px + 16;
      const y = Math.max(4, Math.min(room.height - lens.offsetHeight - 4, py + 14));
      Object.assign(lens.style, { left: `${Math.max(4, x)}px`, top: `${y}px` });
    },
  };
};

// The stage's own units of a point of the page.
const unitsAt = (p, event) => {
  const zero = p.xy?.(0, 0), box = viewOf(p.source("stage"))?.el.getBoundingClientRect();
  if (zero == null || box == null) return null;
  const px = event.clientX - box.left, py = event.clientY - box.top, unit = p.unit();
  return { px, py, x: (px - zero[0]) / unit, y: (py - zero[1]) / unit, room: box };
};
const foundAt = (p, event) => {
  const at = unitsAt(p, event);
  if (at == null || p.brokerOf == null) return [null, at];
  const mark = p.hit?.(at.px, at.py);
  if (mark && mark.msg >= 0) return [{ kind: "message", msg: mark.msg, name: `message ${mark.msg}` }, at];
  return [partAt(p, at.x, at.y), at];
};

player.on("ready", () => player.panels.forEach((p) => {
  const view = viewOf(p.source("stage"));
  if (view == null) return;
  const lens = makeLens(p, view.shadow_el);
  let rest = null, down = null;
  view.el.addEventListener("pointermove", (event) => {
    clearTimeout(rest);
    lens.hide();
    rest = setTimeout(() => { const [found, at] = foundAt(p, event); if (found && root.document != null) lens.show(found, at.px, at.py, at.room); }, REST);
  });
  view.el.addEventListener("pointerleave", () => { clearTimeout(rest); lens.hide(); });
  view.el.addEventListener("pointerdown", (event) => { if (event.button === 0) down = [event.clientX, event.clientY, foundAt(p, event)[0]]; });
  view.el.addEventListener("pointerup", (event) => {
    if (event.button !== 0 || down == null) return;
    const [x, y, from] = down, [found] = foundAt(p, event);
    down = null;
    if (Math.hypot(event.clientX - x, event.clientY - y) < 5) player.select(found);
    else if (player.building && from?.kind === "broker" && found?.kind === "broker" && from.node !== found.node) player.emit("connect", { from: from.name, to: found.name });
  });
  view.el.addEventListener("contextmenu", (event) => {
    const [found] = foundAt(p, event);
    if (!found || found.kind === "message") return;
    event.preventDefault();
    player.select(found);
    player.emit("break", { x: event.clientX, y: event.clientY });
  });
}));
