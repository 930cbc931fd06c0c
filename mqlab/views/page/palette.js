// Drawing: a palette of parts at the left of the stage. A part is chosen, then put by a click: brokers where there is
// room, clients on a broker; a connector is drawn from one broker to another and shows itself as a ghost on the way.
/** @type {Record<string, { text: string; on: string | null; hint: string; not?: string; only?: string }>} */
const PARTS = {
  broker: { text: worded("broker"), on: null, hint: worded("click_where_to_place_it") },
  pair: { text: worded("pair"), on: null, hint: worded("click_where_to_place_the_master"), not: "openmq" },
  producer: { text: worded("producer"), on: "broker", hint: worded("click_the_broker_that_it_sends") },
  consumer: { text: worded("consumer"), on: "broker", hint: worded("click_the_broker_that_it_reads") },
  connector: {
    text: worded("connector"),
    on: "line",
    hint: worded("drag_from_one_broker_to_another"),
    only: "activemq"
  },
  duplex: {
    text: worded("duplex"),
    on: "line",
    hint: worded("drag_from_one_broker_to_another_2"),
    only: "activemq"
  }
};
const SIGNS_OF_PARTS = {
  broker: "M2 3h12v10H2z",
  pair: "M2 1h12v6H2zM2 9h12v6H2z",
  producer: "M1 4h9l5 4-5 4H1z",
  consumer: "M4 4h10v8H4zM2 8a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  connector: "M1 6h14M1 10h14M6 6l3 2-3 2",
  duplex: "M1 6h14M1 10h14M6 6l-3 2 3 2M10 6l3 2-3 2"
};
const PALETTE_STYLE = `
  .mq-palette { position: absolute; left: 8px; top: 8px; z-index: 8; display: flex; flex-direction: column; gap: 2px; padding: 5px; border-radius: 10px;
    background: var(--mq-card); border: 1px solid var(--mq-line2); font: 12.5px/18px var(--mq-font); }
  .mq-palette[hidden] { display: none; }
  .mq-palette button { font: inherit; color: var(--mq-ink); background: none; border: 1px solid transparent; border-radius: 6px; padding: 3px 8px; display: flex; gap: 8px; align-items: center; cursor: pointer; }
  .mq-palette button:hover { background: var(--mq-sunken); }
  .mq-palette button[aria-pressed=true] { background: var(--mq-active_soft); border-color: var(--mq-active); color: var(--mq-active_t); font-weight: 600; }
  .mq-palette :focus-visible { outline: 2px solid var(--mq-active); }
  .mq-palette svg { width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.4; }
  .mq-ghost { position: absolute; inset: 0; width: 100%; height: 100%; z-index: 7; pointer-events: none; }
  .mq-hint { position: absolute; z-index: 9; pointer-events: none; padding: 4px 9px; border-radius: 7px; background: var(--mq-ink); color: var(--mq-bg); font: 12px/17px var(--mq-font); white-space: nowrap; }
  .mq-hint[hidden] { display: none; }
  .mq-empty { position: absolute; inset: 40% 24px auto 132px; margin: 0; pointer-events: none; text-align: center; color: var(--mq-ink2); font: 15px/22px var(--mq-font); }
  .mq-empty[hidden] { display: none; }`;
const PALETTE_WIDE = 124; // px of the stage
const drawn = { part: null, made: 0 }; // the part that the next click puts

/** @param {{ not?: string; only?: string }} part */
const isOffered = ({ not, only }) =>
  lab.state != null && lab.state.product !== not && (only == null || lab.state.product === only);
const choosePart = (name) => {
  drawn.part = drawn.part === name ? null : name;
  player.emit("part", drawn.part);
};

// While one draws, what stands already stays where it is.
/** @param {Panel} p */
const pinAll = (p) => {
  for (const table of /** @type {const} */ (["brokers", "clients"])) {
    const rows = p.data(table);
    rows.name.forEach((name, i) => {
      if (!ownPlaces.all[placeKey(table, name)]) keepPlace(p, table, name, rows.x[i], rows.y[i]);
    });
  }
};
// Whether a box covers no card and no connector.
/** @param {Panel} p @param {{ x: number; y: number; w: number; h: number }[]} cards */
const isClear = (p, cards, x, y, w, h) => {
  const links = p.data("links"),
    points = [...Array(21).keys()].map((k) => k / 20),
    apart = (bx, by, bw = 0, bh = 0) => Math.abs(bx - x) > (bw + w) / 2 || Math.abs(by - y) > (bh + h) / 2;
  return (
    cards.every((one) => apart(one.x, one.y, one.w, one.h)) &&
    links.x0.every((_, i) => points.every((t) => apart(...along(links, i, t))))
  );
};
// A place for a client beside its broker at which it covers nothing; before it if it sends, else behind it.
const CLIENT_ROOM = { producer: [86, 52], consumer: [160, 74] };
/** @param {Panel} p @param {number} node */
const spotBeside = (p, node, part) => {
  const b = p.data("brokers"),
    home = rowOf(b, b.node.indexOf(node)),
    [w, h] = CLIENT_ROOM[part],
    { x_range: xr, y_range: yr } = p.source("stage");
  const cards = [b, p.data("clients")].flatMap((rows) => rows.x.map((_, i) => rowOf(rows, i))),
    dx = (home.w + w) / 2 + 46,
    dy = (home.h + h) / 2 + 40,
    side = part === "producer" ? -1 : 1;
  const spots = [
    [side, 0],
    [0, 1],
    [0, -1],
    [-side, 0],
    [side, 1],
    [side, -1],
    [-side, 1],
    [-side, -1]
  ].map(([x, y]) => [home.x + x * dx, home.y + y * dy]);
  const isFree = ([x, y]) =>
    x - w / 2 > xr.start &&
    x + w / 2 < xr.end &&
    y - h / 2 > yr.end &&
    y + h / 2 < yr.start &&
    isClear(p, cards, x, y, w + 16, h + 16);
  return spots.find(isFree) ?? spots[0];
};

// The place nearest to the middle of the stage at which a broker covers nothing, with room for a connector's name if
// there is such a place; beyond the stage, which then shows more, where all of it is full.
const BROKER_ROOM = [200, 130],
  NAMED_ROOM = [470, 200],
  MOST_BEYOND = 1300;
/** @param {Panel} p @returns {[x: number, y: number]} */
const freeSpot = (p) => {
  const { x_range: xr, y_range: yr } = p.source("stage"),
    [w, h] = BROKER_ROOM,
    middle = /** @type {[x: number, y: number]} */ ([(xr.start + xr.end) / 2, (yr.start + yr.end) / 2]),
    cards = [p.data("brokers"), p.data("clients")].flatMap((rows) => rows.x.map((_, i) => rowOf(rows, i))),
    far = ([x, y]) => Math.hypot(x - middle[0], y - middle[1]);
  for (let more = 0; more <= MOST_BEYOND; more += h) {
    const spots = /** @type {[x: number, y: number][]} */ ([]);
    for (let x = xr.start + w / 2 - more; x <= xr.end - w / 2 + more; x += w / 4)
      for (let y = yr.end + h / 2 - more; y <= yr.start - h / 2 + more; y += h / 4) spots.push([x, y]);
    spots.sort((a, b) => far(a) - far(b));
    for (const [wide, high] of [NAMED_ROOM, BROKER_ROOM]) {
      const found = spots.find(([x, y]) => isClear(p, cards, x, y, wide, high));
      if (found) return found;
    }
  }
  return middle;
};
// By keyboard: a broker is put where there is room, a client on the broker that is selected; else one walks to it.
/** @param {Panel} p @param {string} name */
const putByKey = (p, name) => {
  const [x, y] = freeSpot(p),
    at = { x, y, px: 0, py: 0, room: viewOf(p.source("stage")).el.getBoundingClientRect() },
    selected = player.selection?.kind === "broker" ? player.selection : null,
    { on } = PARTS[name];
  if (on == null || (on === "broker" && selected)) {
    putPart(p, name, selected, at);
    return;
  }
  choosePart(name);
  if (!drawn.part) return;
  p.walk();
  lab.say(worded("arrow_keys_lead_to_a_broker"));
};

// A new part stands where it was put, or where there is room, and nothing else moves for it.
/** @param {Panel} p @param {Asked} asked @param {[x: number, y: number]} [spot] */
const addPart = async (p, asked, spot) => {
  const client = asked.add in CLIENT_ROOM,
    kind = client ? asked.add : "broker",
    table = client ? "clients" : "brokers",
    known = new Set(lab.state.parts.map((one) => one.name)),
    b = p.data("brokers");
  pinAll(p);
  const [x, y] = spot ?? (client ? spotBeside(p, b.node[b.name.indexOf(asked.on)], asked.add) : freeSpot(p)),
    from = [x - p.laid.plan.width[0] / 2, y - p.laid.plan.height[0] / 2], // the next layout may have another middle
    state = await lab.do("build", asked);
  const fresh = (state?.parts ?? []).filter((one) => one.kind === kind && !known.has(one.name));
  fresh.forEach(({ name }, i) => {
    ownPlaces.all[placeKey(table, name)] = [from[0], from[1] + i * 140];
  });
  if (!fresh.length) return state;
  layOut(p);
  player.emit("places");
  const rows = player.panels[0].data(table);
  player.select({ kind, name: fresh[0].name, node: rows.node[rows.name.indexOf(fresh[0].name)] });
  keepFocus(); // what shows the selection has been drawn anew
  return state;
};
/** @param {Panel} p */
const putPart = (p, part, found, at) => {
  if (PARTS[part].on == null) addPart(p, { add: part }, [at.x, at.y]);
  else if (found?.kind !== "broker") lab.say("", `${PARTS[part].hint}.`);
  else addPart(p, { add: part, on: found.name });
};

// The pipe that is being drawn, and the broker on which it would end.
/** @param {Panel} p */
const makeGhost = (p, within) => {
  const svg = drawing("svg", { class: "mq-ghost", "aria-hidden": "true" }),
    hint = element("div", { class: "mq-hint", hidden: true });
  within.append(svg, hint);
  const clear = () => {
    svg.replaceChildren();
    hint.hidden = true;
  };
  return {
    clear,
    show: (from, to, event) => {
      const at = unitsAt(p, event),
        card = rowOf(p.data("brokers"), p.data("brokers").node.indexOf(from.node)),
        [x0, y0] = p.xy(card.x, card.y),
        u = p.unit();
      const look = { stroke: "var(--mq-active)", "stroke-dasharray": "8 5" };
      svg.replaceChildren(
        drawing("line", {
          x1: x0,
          y1: y0,
          x2: at.px,
          y2: at.py,
          stroke: "var(--mq-active_soft)",
          "stroke-width": 20 * u,
          "stroke-opacity": 0.8
        }),
        drawing("line", { x1: x0, y1: y0, x2: at.px, y2: at.py, ...look, "stroke-width": 2 })
      );
      if (to) {
        const end = rowOf(p.data("brokers"), p.data("brokers").node.indexOf(to.node)),
          [cx, cy] = p.xy(end.x, end.y);
        svg.append(
          drawing("rect", {
            x: cx - (end.w * u) / 2 - 7,
            y: cy - (end.h * u) / 2 - 7,
            width: end.w * u + 14,
            height: end.h * u + 14,
            rx: 12,
            fill: "none",
            ...look,
            "stroke-width": 2.5
          })
        );
      }
      hint.textContent = to ? `${from.name}_to_${to.name}: release here` : worded("release_on_a_broker_esc_cancels");
      hint.hidden = false;
      Object.assign(hint.style, {
        left: `${Math.max(4, Math.min(at.room.width - hint.offsetWidth - 4, at.px + 14))}px`,
        top: `${Math.max(4, at.py - 34)}px`
      });
    }
  };
};

player.on("ready", () =>
  player.panels.slice(0, 1).forEach((p) => {
    const view = viewOf(p.source("stage"));
    if (view == null) return;
    styled(view.shadow_el, PALETTE_STYLE);
    const list = element("div", {
      class: "mq-palette",
      role: "toolbar",
      "aria-label": worded("parts_to_draw"),
      "aria-orientation": "vertical",
      hidden: true
    });
    const start = element("p", { class: "mq-empty", hidden: true }, worded("the_network_is_empty"));
    view.shadow_el.append(list, start);
    p.ghost = makeGhost(p, view.shadow_el);
    const show = () => {
      start.hidden = !player.kernel || lab.state == null || lab.state.parts.length > 0;
      list.hidden = !(player.kernel && lab.mode === "build" && lab.state);
      const wide = list.hidden ? 0 : PALETTE_WIDE;
      if ((p.palette ?? 0) !== wide) {
        p.palette = wide;
        player.emit("size", player.element.clientWidth);
      }
      if (list.hidden) {
        drawn.part = null;
        return;
      }
      list.replaceChildren(
        ...Object.entries(PARTS)
          .filter(([, part]) => isOffered(part))
          .map(([name, { text, hint }]) => {
            const sign = drawing("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
            sign.append(drawing("path", { d: SIGNS_OF_PARTS[name] }));
            return element(
              "button",
              {
                type: "button",
                "data-part": name,
                "aria-pressed": `${drawn.part === name}`,
                title: hint,
                onclick: (event) => (event.detail === 0 ? putByKey(p, name) : choosePart(name))
              },
              sign,
              text
            );
          })
      );
    };
    for (const name of /** @type {const} */ (["lab", "kernel"])) player.on(name, show);
    player.on("part", (part) => {
      for (const one of list.querySelectorAll("button"))
        one.setAttribute("aria-pressed", String(one.dataset.part === part)); // who pressed it keeps the focus
      view.el.style.cursor = part ? "crosshair" : "";
      if (part) lab.say(`${PARTS[part].hint}. Esc cancels.`);
      else lab.say("");
    });
  })
);
