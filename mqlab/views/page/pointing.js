// Pointing at the stage: what lies under the pointer is selected by a click, and told in a lens (lens.js) when one rests on it.
const REST = 120; // ms
/** @type {(table: Boxes, i: number, x: number, y: number, more?: number) => boolean} */
const inside = (table, i, x, y, more = 0) =>
  Math.abs(x - table.x[i]) <= table.w[i] / 2 + more && Math.abs(y - table.y[i]) <= table.h[i] / 2 + more;

/** @type {(l: Curves, i: number, x: number, y: number) => number} */
const distanceTo = (l, i, x, y) => {
  let least = Infinity;
  for (let k = 0; k <= 24; k++) {
    const [px, py] = along(l, i, k / 24);
    least = Math.min(least, Math.hypot(px - x, py - y));
  }
  if (!isStraight(l, i)) return least;
  const dx = l.x1[i] - l.x0[i],
    dy = l.y1[i] - l.y0[i],
    u = Math.max(0, Math.min(1, ((x - l.x0[i]) * dx + (y - l.y0[i]) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(l.x0[i] + u * dx - x, l.y0[i] + u * dy - y);
};

// What is at a point of the stage: {kind, node, name, ...} as player.select takes it, or null.
/** @type {(p: Panel, x: number, y: number, whole?: boolean) => Selected | null} */
const partAt = (p, x, y, whole = false) => {
  const group = groupAt(p, x, y);
  if (group) return group;
  const b = p.data("brokers"),
    c = p.data("clients"),
    links = p.data("links"),
    reach = Math.max(5, p.data("plan").pipe[0] / 2);
  const client = c.node.findIndex((_, i) => inside(c, i, x, y));
  if (client >= 0) return { kind: c.role[client], node: c.node[client], name: c.name[client] };
  const broker = b.node.findIndex((_, i) => inside(b, i, x, y));
  if (broker >= 0)
    return (whole ? null : messageIn(p, x, y)) ?? { kind: "broker", node: b.node[broker], name: b.name[broker] };
  let best = null,
    least = reach + 3;
  for (let i = 0; i < links.name.length; i++) {
    const far = distanceTo(links, i, x, y);
    if (far < least) {
      least = far;
      best = i;
    }
  }
  return best == null
    ? null
    : {
        kind: links.count[best] > 1 ? "connectors" : "connector",
        node: best,
        name: links.name[best],
        from: cardName(p, links.a[best]),
        to: cardName(p, links.b[best])
      };
};
/** @param {Panel} p @param {number} node */
const cardName = (p, node) =>
  p.data("brokers").name[p.brokerOf.get(node)] ??
  p.data("clients").name[p.clientOf.get(node)] ??
  p.data("nodes").name?.[node] ??
  "";

// The message whose cell of a queue is at a point: the cells are where drawStrip has put them.
/** @param {Panel} p @param {number} x @param {number} y */
const messageIn = (p, x, y) => {
  const cells = p.source("draw cells").data,
    words = p.source("draw words").data;
  const cell = cells.x.findIndex(
    (cx, k) =>
      cells.w[k] > 12 &&
      cells.w[k] < 20 &&
      Math.abs(cx - x) <= cells.w[k] / 2 &&
      Math.abs(cells.y[k] - y) <= cells.h[k] / 2
  );
  if (cell < 0) return null;
  const word = words.x.findIndex(
    (wx, k) =>
      Math.abs(wx - cells.x[cell]) < 1 && Math.abs(words.y[k] - cells.y[cell]) < 2 && /^\d+$/.test(words.text[k])
  );
  return word < 0
    ? null
    : { kind: "message", msg: Number(words.text[word]), name: worded("message", words.text[word]) };
};

// Palette and editor lie on the stage: what is done in them is not done to it.
const isOnTool = (event) =>
  event.composedPath().some((one) => one.classList?.contains("mq-palette") || one.classList?.contains("mq-editor"));

// The stage's own units of a point of the page.
/** @type {(p: Panel, event: MouseEvent) => At | null} */
const unitsAt = (p, event) => {
  const zero = p.xy?.(0, 0),
    box = viewOf(p.source("stage"))?.el.getBoundingClientRect();
  if (zero == null || box == null) return null;
  const px = event.clientX - box.left,
    py = event.clientY - box.top,
    unit = p.unit();
  return { px, py, x: (px - zero[0]) / unit, y: (py - zero[1]) / unit, room: box };
};
/** @type {(p: Panel, event: MouseEvent) => [found: Selected | null, at: At | null]} */
const foundAt = (p, event) => {
  const at = unitsAt(p, event);
  if (at == null || p.brokerOf == null) return [null, at];
  const mark = p.hit?.(at.px, at.py);
  if (mark && mark.msg >= 0) return [{ kind: "message", msg: mark.msg, name: worded("message", mark.msg) }, at];
  return [partAt(p, at.x, at.y), at];
};

player.on("ready", () =>
  player.panels.forEach((p) => {
    const view = viewOf(p.source("stage"));
    if (view == null) return;
    const lens = makeLens(p, view.shadow_el);
    let rest = null,
      down = null;
    // A card goes with the pointer; in Build one takes it by its middle, its rim is where a connector begins.
    const drag = (event) => {
      const line =
        down != null &&
        event.buttons &&
        down.part?.kind === "broker" &&
        player.building &&
        (drawn.part ? PARTS[drawn.part].on === "line" : down.rim);
      if (line && Math.hypot(event.clientX - down.x, event.clientY - down.y) > 5) {
        const [end] = foundAt(p, event),
          over = end?.kind === "message" ? null : end;
        p.ghost?.show(down.part, over?.kind === "broker" && over.node !== down.part.node ? over : null, event);
        return true;
      }
      const at = down?.at,
        table = { broker: "brokers", producer: "clients", consumer: "clients", client: "clients" }[down?.part?.kind];
      if (at == null || table == null || !event.buttons || (player.building && drawn.part)) return false;
      if (!down.moved && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 5) return false;
      if (!down.moved) view.el.setPointerCapture(event.pointerId);
      down.moved = true;
      view.el.style.cursor = "grabbing";
      const now = unitsAt(p, event);
      player.put(p, table, down.part.name, down.card.x + now.x - at.x, down.card.y + now.y - at.y);
      return true;
    };
    const cardAt = (part) => {
      for (const table of /** @type {const} */ (["brokers", "clients"])) {
        const rows = p.data(table),
          i = rows.node.indexOf(part?.node);
        if (i >= 0 && part.kind !== "connector") return rowOf(rows, i);
      }
      return null;
    };
    const isRim = (card, at) =>
      card != null && Math.max(Math.abs(at.x - card.x) - card.w / 2, Math.abs(at.y - card.y) - card.h / 2) > -16;
    view.el.addEventListener("pointermove", (event) => {
      clearTimeout(rest);
      lens.hide();
      if (drag(event) || isOnTool(event)) return;
      rest = setTimeout(() => {
        const [found, at] = foundAt(p, event);
        if (found && root.document != null) lens.show(found, at.px, at.py, at.room);
      }, REST);
    });
    view.el.addEventListener("pointerleave", () => {
      clearTimeout(rest);
      lens.hide();
    });
    view.el.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || isOnTool(event)) return;
      const [found, at] = foundAt(p, event),
        part = found?.kind === "message" && at ? partAt(p, at.x, at.y, true) : found,
        card = cardAt(part);
      down = { x: event.clientX, y: event.clientY, part, card, at, rim: at && isRim(card, at), moved: false };
    });
    view.el.addEventListener("pointerup", (event) => {
      if (event.button !== 0 || down == null) return;
      const { x, y, part: from, moved } = down,
        [found, at] = foundAt(p, event),
        far = Math.hypot(event.clientX - x, event.clientY - y),
        part = drawn.part;
      down = null;
      view.el.style.cursor = part ? "crosshair" : "";
      p.ghost?.clear();
      if (moved) return;
      if (far < 5 && found?.kind === "group") {
        toggleGroup(found.name);
        return;
      }
      if (found?.kind === "connectors") return; // what is done is done to one
      if (player.building && part && PARTS[part].on !== "line") {
        if (far < 5) {
          choosePart(part);
          putPart(p, part, found?.kind === "message" ? from : found, at);
        }
        return;
      }
      if (Math.hypot(event.clientX - x, event.clientY - y) < 5) player.select(found);
      else if (player.building && from?.kind === "broker" && found?.kind === "broker" && from.node !== found.node) {
        if (part) choosePart(part);
        player.emit("connect", { from: from.name, to: found.name, duplex: part === "duplex" || event.shiftKey });
      }
    });
    player.on("escape", () => {
      if (down) {
        down = null;
        p.ghost?.clear();
      }
    });
    view.el.addEventListener("contextmenu", (event) => {
      const [found] = foundAt(p, event);
      if (!found || ["message", "group", "connectors"].includes(found.kind)) return;
      event.preventDefault();
      event.stopPropagation(); // JupyterLab would open its own menu over ours
      player.select(found);
      player.emit("break", { x: event.clientX, y: event.clientY });
    });
  })
);
