// Walking on the stage by keys: arrows go from a part to the nearest one in their direction, M to the messages that are
// seen, the nearest first; Enter chooses. What it stands at is told as the lens tells it.
const WALK_STYLE = `
  .mq-walk button { position: absolute; z-index: 5; pointer-events: none; background: none; border: 0; padding: 0; border-radius: 12px; }
  .mq-walk button:focus-visible { outline: 3px solid var(--mq-active); outline-offset: 3px; }`;
const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const ASIDE = 2.5; // how much dearer it is to go aside than ahead
const PIPE = 26; // units: what stands for a connector, at its middle

/** @typedef {{ part: Selected; x: number; y: number; w: number; h: number }} Station */

// Everything that a click could choose at this moment but messages.
/** @type {(p: Panel) => Station[]} */
const stationsOf = (p) => {
  const cards = (table, kindOf) =>
    table.node.map((node, i) => ({ ...rowOf(table, i), part: { kind: kindOf(i), node, name: table.name[i] } }));
  const c = p.data("clients"),
    links = p.data("links");
  return [
    ...cards(p.data("brokers"), () => "broker"),
    ...cards(c, (i) => c.role[i]),
    ...links.name.map((name, i) => {
      const [x, y] = along(links, i, 0.5),
        ends = { from: cardName(p, links.a[i]), to: cardName(p, links.b[i]) };
      return {
        part: { kind: links.count[i] > 1 ? "connectors" : "connector", node: i, name, ...ends },
        x,
        y,
        w: PIPE,
        h: PIPE
      };
    })
  ];
};

// The messages that are seen: on their way, and the numbered cells of queues.
/** @type {(p: Panel) => Station[]} */
const messagesOf = (p) => {
  const found = new Map(),
    add = (msg, x, y) =>
      found.set(msg, { part: { kind: "message", msg, name: worded("message", msg) }, x, y, w: 18, h: 18 });
  for (const { msg, x, y } of p.marks ?? []) if (msg >= 0) add(msg, x, y);
  const cells = p.source("draw cells").data;
  cells.x?.forEach((x, k) => {
    const one = messageIn(p, x, cells.y[k]);
    if (one) add(one.msg, x, cells.y[k]);
  });
  return [...found.values()];
};

/** @type {(all: Station[], here: Station, direction: number[]) => Station | null} */
const nextTo = (all, here, [dx, dy]) => {
  let best = null,
    least = Infinity;
  for (const one of all) {
    const [vx, vy] = [one.x - here.x, one.y - here.y],
      ahead = vx * dx + vy * dy,
      cost = ahead + ASIDE * Math.abs(vx * dy - vy * dx);
    if (ahead > 4 && cost < least) {
      least = cost;
      best = one;
    }
  }
  return best;
};

/** @type {(a: Selected | null, b: Selected | null) => boolean} */
const isSame = (a, b) => a != null && b != null && a.kind === b.kind && a.msg === b.msg && a.name === b.name;

/** @type {(p: Panel, part: Selected) => string} */
const toldOf = (p, part) => {
  if (part.kind === "message") return part.name;
  const { head, lines } = TOLD[part.kind](p, stateAt(p, player.t), part),
    said = lines.map((line) => (line instanceof Node ? queueSaid(line) : line));
  return [`${part.kind} ${part.name}`, ...(head === part.kind ? [] : [head]), ...said].filter(Boolean).join(", ");
};
// A row of a queue without its cells, which only repeat in numbers what their count says.
const queueSaid = (row) =>
  `${row.querySelector("em")?.textContent ?? ""} ${row.querySelector("strong")?.textContent ?? ""}`;

/** @param {Panel} p */
const makeWalk = (p, within) => {
  // Two buttons in turn: a screen reader tells whatever comes into focus, not what changes under it.
  const steps = [0, 1].map(() =>
      element("button", { type: "button", tabindex: "-1", hidden: true, "aria-label": worded("stage") })
    ),
    box = element("div", { class: "mq-walk", role: "group", "aria-label": worded("stage_walk") }, ...steps);
  /** @type {Station | null} */
  let here = null;
  let base = { x: 0, y: 0 }; // the last part that was no message
  let turn = 0;
  const first = () => {
    const all = stationsOf(p);
    return all.find(({ part }) => isSame(part, player.selection)) ?? all.toSorted((a, b) => a.x + a.y - b.x - b.y)[0];
  };
  const put = () => {
    const at = p.xy?.(here.x - here.w / 2, here.y - here.h / 2),
      unit = p.unit();
    if (at == null) return;
    const [left, top] = at;
    Object.assign(steps[turn].style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${here.w * unit}px`,
      height: `${here.h * unit}px`
    });
    steps[turn].setAttribute("aria-label", toldOf(p, here.part));
  };
  const goTo = (station) => {
    if (station == null) return;
    here = station;
    if (here.part.kind !== "message") base = here;
    const before = steps[turn];
    turn = 1 - turn;
    Object.assign(steps[turn], { tabIndex: 0, hidden: false });
    put();
    steps[turn].focus({ preventScroll: true });
    Object.assign(before, { tabIndex: -1, hidden: true });
  };
  const choose = () => {
    const part = drawn.part,
      at = p.xy && { x: here.x, y: here.y, px: 0, py: 0, room: box.getBoundingClientRect() };
    if (player.building && part && PARTS[part].on === "broker") {
      choosePart(part);
      putPart(p, part, here.part, at);
    } else if (player.building && part && PARTS[part].on === "line") connect(part);
    else if (here.part.kind !== "connectors") player.select(here.part); // what is done is done to one
  };
  // The first Enter takes a broker as the beginning, the next one as the end.
  let from = null;
  const connect = (part) => {
    const { kind, name } = here.part;
    if (kind !== "broker" || from == null || name === from) {
      if (kind === "broker") from = name;
      lab.say(from == null ? worded("arrow_keys_lead_to_a_broker") : worded("connect_from", from));
      return;
    }
    const ends = { from, to: name, duplex: part === "duplex" };
    choosePart(part); // and the beginning is forgotten
    player.emit("connect", ends);
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || here == null) return;
    const direction = DIRECTIONS[event.key],
      far = ({ x, y }) => Math.hypot(x - base.x, y - base.y);
    if (direction && !event.shiftKey) goTo(nextTo(stationsOf(p), here, direction));
    else if (event.key.toLowerCase() === "m") {
      const seen = messagesOf(p).toSorted((a, b) => far(a) - far(b)),
        place = seen.findIndex(({ part }) => isSame(part, here.part)),
        next = place < 0 ? 0 : place + (event.shiftKey ? seen.length - 1 : 1);
      goTo(seen[next % seen.length]);
    } else if (event.key === "Enter" || event.key === " ") choose();
    else if (event.key === "x" && here.part.kind !== "message") {
      const room = steps[turn].getBoundingClientRect();
      player.select(here.part);
      player.emit("break", { x: room.left + room.width / 2, y: room.top + room.height / 2 });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const again = () => {
    if (here == null || player.unseen) return;
    here =
      (here.part.kind === "message" ? messagesOf(p) : stationsOf(p)).find(({ part }) => isSame(part, here.part)) ??
      first() ??
      null;
    if (here) put();
  };
  styled(within, WALK_STYLE);
  within.append(box);
  box.addEventListener("keydown", press);
  box.addEventListener("focusin", () => {
    here ??= first() ?? null;
    if (here == null) return;
    base = here;
    put();
  });
  Object.assign(steps[0], { tabIndex: 0, hidden: false });
  player.on("part", () => {
    from = null;
  });
  player.on("time", () => {
    if (here && box.contains(/** @type {ShadowRoot} */ (box.getRootNode()).activeElement) && !player.playing) again();
  });
  for (const name of /** @type {const} */ (["load", "size", "places", "groups"])) player.on(name, again);
  p.walk = () => goTo(first());
};

player.on("ready", () => {
  for (const p of player.panels) {
    const view = viewOf(p.source("stage"));
    if (view) makeWalk(p, view.shadow_el);
  }
});
