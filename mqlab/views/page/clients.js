// Clients: a producer is a tag with a nose towards its broker, a consumer a tray with its prefetch window, a client
// with a connection of its own a card with a row for each of its consumers.
/** @type {(p: Panel) => Map<number, ShownConsumer[]>} */
const consumersOf = (p) => {
  const found = new Map(),
    c = p.data("consumers");
  for (let i = 0; i < c.node.length; i++) {
    part(found, c.card[i], () => []).push({
      node: c.node[i],
      name: c.name[i],
      prefetch: c.prefetch[i],
      chips: c.chips?.[i] ?? ""
    });
  }
  return found;
};

// The window from the left: what is processed, then what waits; the places that are free are dashed.
/** @param {Panel} p @param {Ink} ink @param {number} x @param {number} y */
const drawWindow = (p, ink, consumer, x, y, room, r, prefetch) => {
  const all = [...(consumer?.window ?? [])],
    chosen = player.selection?.kind === "message" ? player.selection.msg : null;
  const working = all.filter(([, m]) => m.working),
    waiting = all.filter(([, m]) => !m.working);
  const put = (cx, message) => {
    const [msg, { dest }] = message,
      look = lookOf(p, dest);
    if (msg === chosen) ink.dot(cx, y, 2 * r + 9, "circle", "mark", "mark_edge", 1);
    const marker = MARKERS[look.shape] ?? look.shape,
      flags = message[1].flags ?? 0;
    if (flags & REDELIVERED) ink.dot(cx, y, 2 * r + 5, marker, null, `${look.token}e`, 1.2);
    if (flags & DUPLICATE) ink.dot(cx + 3, y - 3, 2 * r, marker, "card", `${look.token}e`, 1.2);
    ink.dot(cx, y, 2 * r, marker, look.token, `${look.token}e`);
    if (p.elsewhere?.has(msg)) drawDelta(ink, cx + r * 0.8, y - r * 0.9);
    if (r >= 8 && msg >= 0)
      ink.say(cx, y, String(msg), String(msg).length > 2 ? 8 : 10, { bold: true, align: "center", token: "on_d" });
  };
  if (working.length) {
    put(x + r, working[0]);
    ink.ring(x + r, y, r + 2, r + 4, 0.75, "ink");
  } else ink.dot(x + r, y, 2 * r, "circle", "sunken", "line", 1);
  ink.bar(x + 2 * r + 6, y, 1.2, 2 * r + 2, "line");
  const step = 2 * r + (r >= 8 ? 4 : 2),
    queue = [...working.slice(1), ...waiting];
  let slots = Math.max(1, Math.floor((room - 2 * r - 10) / step));
  if (queue.length > slots) slots = Math.max(1, Math.floor((room - 2 * r - 34) / step));
  if (prefetch > 0) slots = Math.min(slots, prefetch);
  for (let i = 0; i < slots; i++) {
    const cx = x + 2 * r + 12 + r + i * step;
    if (i < queue.length) put(cx, queue[i]);
    else ink.dot(cx, y, 2 * r - 1, "circle", null, "line2", 1, "3 3");
  }
  if (queue.length > slots)
    ink.say(x + 2 * r + 14 + slots * step, y, `+${queue.length - slots}`, r >= 8 ? 11 : 10, {
      bold: true,
      token: "ink2"
    });
  return all.length;
};

const windowWords = (held, prefetch) =>
  prefetch > 0 ? worded("prefetch_of", held, prefetch) : worded("unacknowledged", held);

// A count as it is read. Of a part of a long run it is what was counted since the part began, and with messages left
// out nothing was.
/** @param {Panel} p */
const counted = (p, word, count) => {
  if (p.data("traffic").count?.length) return "";
  return `${word} ${p.data("window").from?.length ? "+" : ""}${count}`.trim();
};

// A port at the edge of a card, where its line begins.
/** @param {Ink} ink */
const drawMouth = (ink, shape, size) => ink.dot(shape.px, shape.py, size, "circle", "stage", "line2");

// A tag that points to its broker: at the left or right with a nose, else a plain card.
/** @type {(ink: Ink, shape: ClientShape, fill: Token, edge: Token, dash?: string) => void} */
const drawTag = (ink, { x, y, w, h, mouth }, fill, edge, dash) => {
  const nose = Math.min(14, h * 0.36),
    sign = mouth === "right" ? 1 : -1;
  if (mouth !== "right" && mouth !== "left") {
    ink.box("cards", x, y, w, h, { fill, edge, dash });
    return;
  }
  const back = x - (sign * w) / 2,
    neck = x + sign * (w / 2 - nose),
    tip = x + (sign * w) / 2;
  ink.put("shapes", {
    xs: [back, neck, tip, neck, back],
    ys: [y - h / 2, y - h / 2, y, y + h / 2, y + h / 2],
    fill: ink.colour(fill),
    edge: ink.colour(edge),
    w: 1.5,
    dash
  });
};

// What sets a consumer apart, on the rim of its card that has no port.
/** @type {(ink: Ink, shape: ClientShape, parts: string[], holds: boolean) => void} */
const drawChips = (ink, { x, y, w, h, mouth }, parts, holds) => {
  const most = w - 20,
    rim = y + (mouth === "bottom" ? -h / 2 : h / 2),
    before = parts
      .slice(0, -1)
      .map((one) => `${one} · `)
      .join("");
  const text = before + ink.fitted(parts.at(-1), most - 14 - ink.wide(before, 10.5, true), 10.5, true); // a selector is cut first
  const wide = Math.min(most, ink.wide(text, 10.5, true) + 14),
    left = x - w / 2 + 10;
  ink.box("pills", left + wide / 2, rim, wide, 16, holds ? PILLS.next : { fill: "card", edge: "ink2" });
  ink.say(left + wide / 2, rim, text, 10.5, { bold: true, align: "center", token: "ink2", room: wide - 8 });
};

/** @type {Record<string, Record<string, ClientDrawing>>} */
const CLIENTS = {
  producer: {
    L: (p, ink, shape, client) => {
      const left = shape.x - shape.w / 2 + (shape.mouth === "left" ? 18 : 9),
        room = shape.w - 25;
      ink.name(left, shape.y - 10, shape.name, 14, room, client?.met ? "ink" : "ink3");
      const away = client?.met && client.at < 0,
        waits = client?.held != null;
      ink.say(
        left,
        shape.y + 9,
        away ? worded("no_broker") : waits ? "waits" : counted(p, "sent", client?.sent ?? 0),
        11,
        {
          token: away || waits ? "fault" : "ink2",
          room,
          bold: waits
        }
      );
      if (waits) drawSign(ink, shape.x, shape.y - shape.h / 2, "Ⅱ", "fault", 17);
    },
    M: (p, ink, shape, client) => {
      const left = shape.x - shape.w / 2 + (shape.mouth === "left" ? 15 : 8),
        room = shape.w - 20;
      ink.name(left, shape.y - 7, shape.name, 12, room);
      ink.say(left, shape.y + 8, counted(p, "sent", client?.sent ?? 0), 10.5, { token: "ink2", room });
    }
  },
  consumer: {
    L: (p, ink, shape, client, [consumer], s) => {
      const left = shape.x - shape.w / 2 + 13,
        right = shape.x + shape.w / 2 - 12,
        top = shape.y - shape.h / 2,
        state = s.consumers.get(consumer.node);
      const got = ink.say(right, top + 16, counted(p, "received", state?.got ?? 0), 11, {
        token: "ink2",
        align: "right"
      });
      ink.name(left, top + 16, shape.name, 14, right - left - got - 6, client?.met ? "ink" : "ink3");
      const held = drawWindow(p, ink, state, left, top + 36, right - left, 9, consumer.prefetch);
      const words = ink.say(right, top + shape.h - 15, windowWords(held, consumer.prefetch), 10.5, {
        token: "ink3",
        align: "right"
      });
      const away = client?.met && client.at < 0,
        doing = away
          ? worded("no_broker")
          : state?.left
            ? "closed"
            : [...(state?.window.values() ?? [])].some((m) => m.working)
              ? "processing"
              : "";
      if (consumer.chips)
        drawChips(ink, shape, apartWords(p, s, consumer), exclusivity(p, s, consumer.node) === "holds");
      if (ink.wide(doing, 10.5) < right - left - words - 4)
        ink.say(left, top + shape.h - 15, doing, 10.5, { token: away ? "fault" : "ink3" });
    },
    M: (p, ink, shape, _client, [consumer], s) => {
      const left = shape.x - shape.w / 2 + 9,
        right = shape.x + shape.w / 2 - 8,
        top = shape.y - shape.h / 2,
        state = s.consumers.get(consumer.node);
      const got = ink.say(right, top + 11, counted(p, "", state?.got ?? 0), 11.5, { bold: true, align: "right" });
      ink.say(left, top + 11, shape.name, 12, { bold: true, room: right - left - got - 6 });
      drawWindow(p, ink, state, left, top + 27, right - left, 5, consumer.prefetch);
    }
  },
  client: {
    L: (p, ink, shape, client, consumers, s, t) => {
      const left = shape.x - shape.w / 2 + 13,
        right = shape.x + shape.w / 2 - 12,
        top = shape.y - shape.h / 2;
      const away = client?.met && client.at < 0;
      const pill = away ? drawPill(ink, right + 3, top + 18, { word: "reconnects", kind: "lost" }, SIZES.L, 110) : 0;
      const named = ink.say(left, top + 18, shape.name, 15, { bold: true, room: right - left - pill - 34 });
      ink.say(left + named + 6, top + 19, "client", 11, { token: "ink3" });
      ink.say(left, top + 40, clientWords(p, client, t), 11.5, {
        token: away ? "fault" : "ink2",
        room: right - left - (client?.sent ? 56 : 0)
      });
      if (client?.sent)
        ink.say(right, top + 40, counted(p, "sent", client.sent), 11, { token: "ink2", align: "right" });
      consumers.forEach((consumer, i) => {
        const state = s.consumers.get(consumer.node),
          y = top + 60 + i * 46;
        ink.bar(shape.x, y - 4, shape.w - 16, 1, "line");
        const got = ink.say(right, y + 9, counted(p, "received", state?.got ?? 0), 11, {
          token: "ink2",
          align: "right"
        });
        ink.say(left, y + 9, consumer.name, 12.5, { bold: true, room: right - left - got - 6 });
        drawWindow(p, ink, state, left, y + 28, right - left, 8, consumer.prefetch);
      });
    },
    M: (p, ink, shape, client, consumers, s, t) => {
      const left = shape.x - shape.w / 2 + 9,
        right = shape.x + shape.w / 2 - 8,
        top = shape.y - shape.h / 2;
      ink.say(left, top + 11, shape.name, 12, { bold: true, room: right - left });
      ink.say(left, top + 25, client?.sent ? counted(p, "sent", client.sent) : clientWords(p, client, t), 10.5, {
        token: client?.met && client.at < 0 ? "fault" : "ink2",
        room: right - left
      });
      consumers.forEach((consumer, i) => {
        const state = s.consumers.get(consumer.node),
          y = top + 42 + i * 22;
        const got = ink.say(right, y, counted(p, "", state?.got ?? 0), 11, { bold: true, align: "right" });
        const named = ink.say(left, y, consumer.name, 11, { bold: true, room: 40 });
        drawWindow(p, ink, state, left + named + 6, y, right - left - named - got - 12, 4.5, consumer.prefetch);
      });
    }
  }
};
PILLS.lost = { fill: "fault_soft", edge: "fault", text: "fault" };

// Where the client is connected, or when it tries again.
/** @param {Panel} p @param {number} t */
const clientWords = (p, client, t) => {
  if (!client?.met) return worded("not_connected_yet");
  if (client.at >= 0) return worded("at", cardName(p, client.at));
  const tries = [...client.tries.values()].reduce((sum, n) => sum + n, 0);
  const left = client.wait ? client.wait.ms - (player.runTime(p, t) - player.runTime(p, client.wait.since)) : 0;
  return left > 0 ? worded("retries_in", sayMs(left)) : tries ? worded("attempt_attempts", tries) : "reconnecting";
};

/** @param {Panel} p @param {Ink} ink @param {RunState} s @param {number} t */
const drawClients = (p, ink, s, t) => {
  const c = p.data("clients"),
    size = p.data("plan").size[0],
    owned = consumersOf(p),
    w = p.data("wires");
  for (let i = 0; i < c.node.length; i++) {
    const node = c.node[i],
      client = s.clients.get(node),
      consumers = owned.get(node) ?? [];
    const wire = w.frm.findIndex((from, k) => from === node && w.kind[k] === "wire");
    const shape = {
      x: c.x[i],
      y: c.y[i],
      w: c.w[i],
      h: c.h[i],
      name: c.name[i],
      mouth: c.mouth[i],
      node,
      role: c.role[i],
      px: w.x0[wire],
      py: w.y0[wire]
    };
    if (isChosen(c.role[i], node)) halo(ink, shape.x, shape.y, shape.w, shape.h);
    const faint = !client?.met,
      fill = faint ? "stage" : "card",
      edge = faint ? "line" : client.at < 0 ? "fault" : "line2",
      dash = faint ? "3 4" : "solid";
    if (c.role[i] === "producer") drawTag(ink, shape, fill, edge, dash);
    else ink.box("cards", shape.x, shape.y, shape.w, shape.h, { fill, edge, dash });
    if (wire >= 0 && c.role[i] !== "producer" && size !== "XS")
      drawMouth(ink, shape, size === "L" ? 13 : size === "M" ? 9 : 6);
    const draw = CLIENTS[c.role[i]]?.[size];
    if (draw) draw(p, ink, shape, client, consumers, s, t);
    else drawSmall(p, ink, shape, client, consumers, s, size);
    if (size !== "L" && consumers.length === 1) drawHolds(p, ink, s, shape, consumers);
  }
};

// In one line: the name, what is in hand, what was received or sent.
const WIDE_CLIENT = 75; // px of the stage
/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawInlineClient = (p, ink, shape, client, consumers, s) => {
  const nose = shape.role === "producer" ? 9 : 0,
    left = shape.x - shape.w / 2 + 7 + (shape.mouth === "left" ? nose : 0),
    right = shape.x + shape.w / 2 - 7 - (shape.mouth === "right" ? nose : 0);
  const got = consumers.reduce((sum, { node }) => sum + (s.consumers.get(node)?.got ?? 0), 0);
  const number = ink.say(
    right,
    shape.y,
    consumers.length ? counted(p, "", got) : counted(p, "", client?.sent ?? 0),
    10.5,
    { align: "right", token: "ink2", bold: consumers.length > 0 }
  );
  const named = ink.say(left, shape.y, shape.name, 11, { bold: true, room: Math.min(52, right - left - number - 6) });
  const room = right - left - named - number - 12;
  if (consumers.length === 1 && room > 34)
    drawWindow(p, ink, s.consumers.get(consumers[0].node), left + named + 6, shape.y, room, 3.6, consumers[0].prefetch);
};

// From S down a client is a tag with its name, and what it has received.
/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawSmall = (p, ink, shape, client, consumers, s, size) => {
  const got = consumers.reduce((sum, { node }) => sum + (s.consumers.get(node)?.got ?? 0), 0),
    px = size === "S" ? 11 : 9.5;
  if (size === "S" && shape.w > WIDE_CLIENT) {
    drawInlineClient(p, ink, shape, client, consumers, s);
    return;
  }
  const count =
    consumers.length && size === "S"
      ? ink.say(shape.x + shape.w / 2 - 7, shape.y, String(got), 10.5, { align: "right", token: "ink2" })
      : 0;
  ink.say(shape.x - shape.w / 2 + 7, shape.y, shape.name, px, { bold: true, room: shape.w - 14 - count });
};
