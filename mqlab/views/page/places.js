// Places of one's own: cards that were dragged stay where they were put, whatever is shown next, and their lines follow.
// A place is kept by the part's name as px of the stage from its middle, which is the same in every layout.
const MOVABLE = { brokers: "broker", clients: "client", stores: "store" };
// Each network has its own: what was put somewhere in one says nothing of another that has parts of the same names.
const ownPlaces = {
  get all() {
    const kept = memory(),
      network = String(kept.network ?? "");
    kept.places ??= { [network]: globalThis.mqlabPlaces ?? {} };
    kept.places[network] ??= {};
    return kept.places[network];
  }
};
player.on("lab", (state) => {
  const kept = memory();
  if (state?.name == null || state.name === kept.network) return;
  // Before the session has said what it shows, places belong to what is there.
  if (kept.network == null && kept.places) kept.places = { [state.name]: ownPlaces.all };
  kept.network = state.name;
  for (const p of player.panels) if (p.laid) layOut(p);
  player.emit("places");
});
/** @type {(table: Movable, name: string) => string} */
const placeKey = (table, name) => `${MOVABLE[table]} ${name}`;

// Where the line between two boxes leaves the first one, for who aims at a point.
/** @type {(box: { x: number; y: number; w: number; h: number }, x: number, y: number) => [x: number, y: number]} */
const edgeTowards = (box, x, y) => {
  const dx = x - box.x,
    dy = y - box.y,
    far = Math.max(Math.abs(dx) / (box.w / 2), Math.abs(dy) / (box.h / 2)) || 1;
  return [box.x + dx / far, box.y + dy / far];
};
/** @type {<T extends object>(table: T, i: number) => Row<T>} */
const rowOf = (table, i) =>
  /** @type {Row<typeof table>} */ (Object.fromEntries(Object.keys(table).map((name) => [name, table[name][i]])));
const CURVE = ["x0", "y0", "cx", "cy", "x1", "y1"];

// The line anew: as far aside, and as much bent, as it was between the cards in their old places.
const rerouted = (line, from, to, was) => {
  const side = (a, b) => {
    const dx = b.x - a.x,
      dy = b.y - a.y,
      long = Math.hypot(dx, dy) || 1;
    return [-dy / long, dx / long];
  };
  const [ox, oy] = side(was.from, was.to),
    [nx, ny] = side(from, to);
  const aside = (x, y) => (x - was.from.x) * ox + (y - was.from.y) * oy;
  const bend = aside(line.cx, line.cy),
    least = Math.min(from.w, from.h, to.w, to.h) / 2 - 4;
  const off = Math.max(-least, Math.min(least, (aside(line.x0, line.y0) + aside(line.x1, line.y1)) / 2));
  const mx = (from.x + to.x) / 2 + nx * bend,
    my = (from.y + to.y) / 2 + ny * bend,
    aim = Math.abs(bend - off) > 6 ? [mx, my, mx, my] : [to.x, to.y, from.x, from.y];
  const [x0, y0] = edgeTowards(from, aim[0], aim[1]),
    [x1, y1] = edgeTowards(to, aim[2], aim[3]);
  if (Math.abs(bend - off) > 6) return { x0, y0, cx: mx, cy: my, x1, y1 };
  return { x0: x0 + nx * off, y0: y0 + ny * off, cx: mx, cy: my, x1: x1 + nx * off, y1: y1 + ny * off };
};

// Tables of a layout with everything where the reader has put it. What nobody has moved stays as it was.
/** @type {(plan: Plan) => Plan} */
const withPlaces = (plan) => {
  const all = ownPlaces.all,
    [width, height] = [plan.plan.width[0], plan.plan.height[0]],
    found = { ...plan },
    before = new Map(),
    after = new Map();
  let moved = false;
  for (const table of /** @type {Movable[]} */ (Object.keys(MOVABLE))) {
    const rows = plan[table],
      x = [...rows.x],
      y = [...rows.y];
    rows.name.forEach((name, i) => {
      const own = all[placeKey(table, name)],
        key = "node" in rows ? rows.node[i] : worded("store", i);
      if (own) {
        [x[i], y[i]] = [width / 2 + own[0], height / 2 + own[1]];
        moved = true;
      }
      before.set(key, rowOf(rows, i));
      after.set(key, { ...rowOf(rows, i), x: x[i], y: y[i] });
    });
    Object.assign(found, { [table]: { ...rows, x, y } });
  }
  if (!moved) return plan;
  const isMoved = (key) => {
    const a = before.get(key),
      b = after.get(key);
    return a && (a.x !== b.x || a.y !== b.y);
  };
  const reroute = (table, ends) => {
    const lines = { ...plan[table] };
    for (const name of CURVE) lines[name] = [...lines[name]];
    for (let i = 0; i < lines.x0.length; i++) {
      const [a, b] = ends(lines, i);
      if (!isMoved(a) && !isMoved(b)) continue;
      const fresh = rerouted(rowOf(plan[table], i), after.get(a), after.get(b), {
        from: before.get(a),
        to: before.get(b)
      });
      for (const name of CURVE) lines[name][i] = fresh[name];
    }
    found[table] = lines;
  };
  reroute("links", (l, i) => [l.a[i], l.b[i]]);
  reroute("wires", (w, i) => [w.kind[i] === "store" ? worded("store", w.frm[i]) : w.frm[i], w.to[i]]);
  found.ways = waysAlong(plan, found);
  found.labels = labelsAlong(plan, found);
  found.hosts = framesAround(plan, found);
  found.clients = { ...found.clients, mouth: mouthsOf(found) };
  return found;
};

// What moves goes along its line: a lane keeps its distance from the middle of its pipe.
/** @param {Plan} plan @param {Plan} found */
const waysAlong = (plan, found) => {
  const old = plan.ways,
    ways = structuredClone(old);
  /** @type {[was: Curves, is: Curves, ends: (i: number) => number[]][]} */
  const lines = [
    [plan.links, found.links, (i) => [plan.links.a[i], plan.links.b[i]]],
    [plan.wires, found.wires, (i) => (plan.wires.kind[i] === "wire" ? [plan.wires.frm[i], plan.wires.to[i]] : [])]
  ];
  for (let e = 0; e < old.x0.length; e++) {
    let best = null;
    for (const [was, is, ends] of lines) {
      for (let i = 0; i < was.x0.length; i++) {
        const [a, b] = ends(i),
          back = a === old.to_node[e] && b === old.frm[e];
        if (!back && !(a === old.frm[e] && b === old.to_node[e])) continue;
        const far = Math.hypot(old.cx[e] - was.cx[i], old.cy[e] - was.cy[i]);
        if (best == null || far < best.far) best = { far, was, is, i, back };
      }
    }
    if (best == null || CURVE.every((name) => best.was[name][best.i] === best.is[name][best.i])) continue;
    const { was, is, i, back } = best,
      ends = back ? ["x1", "y1", "cx", "cy", "x0", "y0"] : CURVE;
    const [ox, oy] = normal(was, i, 0.5),
      [nx, ny] = normal(is, i, 0.5),
      off = (old.cx[e] - was.cx[i]) * ox + (old.cy[e] - was.cy[i]) * oy;
    CURVE.forEach((name, k) => {
      ways[name][e] = is[ends[k]][i] + (k % 2 ? ny : nx) * off;
    });
  }
  return ways;
};

/** @param {Plan} plan @param {Plan} found */
const labelsAlong = (plan, found) => {
  const l = plan.labels,
    middle = (links, i) => along(links, i, 0.5),
    shift = (i, k) => middle(found.links, l.link[i])[k] - middle(plan.links, l.link[i])[k];
  const on = (i) => l.link[i] >= 0 && l.link[i] < plan.links.x0.length;
  return {
    ...l,
    x: l.x.map((x, i) => (on(i) ? x + shift(i, 0) : x)),
    y: l.y.map((y, i) => (on(i) ? y + shift(i, 1) : y))
  };
};

/** @param {Plan} plan @param {Plan} found */
const framesAround = (plan, found) => {
  const h = plan.hosts,
    frames = { ...h, x: [...h.x], y: [...h.y], w: [...h.w], h: [...h.h] };
  for (let i = 0; i < h.name.length; i++) {
    const own = plan.brokers.node.map((_, k) => k).filter((k) => inside(h, i, plan.brokers.x[k], plan.brokers.y[k]));
    const far = (rows, f) => Math.max(...own.map((k) => f(rowOf(rows, k)))),
      sides = (rows) => [
        far(rows, (b) => b.w / 2 - b.x),
        far(rows, (b) => b.x + b.w / 2),
        far(rows, (b) => b.h / 2 - b.y),
        far(rows, (b) => b.y + b.h / 2)
      ];
    if (!own.length) continue;
    const [l0, r0, t0, b0] = sides(plan.brokers),
      [l1, r1, t1, b1] = sides(found.brokers),
      left = h.x[i] - h.w[i] / 2 + l0 - l1,
      right = h.x[i] + h.w[i] / 2 + r1 - r0;
    const top = h.y[i] - h.h[i] / 2 + t0 - t1,
      bottom = h.y[i] + h.h[i] / 2 + b1 - b0;
    Object.assign(frames, {
      x: frames.x.with(i, (left + right) / 2),
      w: frames.w.with(i, right - left),
      y: frames.y.with(i, (top + bottom) / 2),
      h: frames.h.with(i, bottom - top)
    });
  }
  return frames;
};

/** @param {Plan} plan */
const mouthsOf = ({ clients: c, wires: w }) =>
  c.node.map((node, i) => {
    const k = w.frm.findIndex((from, at) => from === node && w.kind[at] === "wire");
    if (k < 0) return c.mouth[i];
    const far = {
      left: Math.abs(w.x0[k] - c.x[i] + c.w[i] / 2),
      right: Math.abs(w.x0[k] - c.x[i] - c.w[i] / 2),
      top: Math.abs(w.y0[k] - c.y[i] + c.h[i] / 2),
      bottom: Math.abs(w.y0[k] - c.y[i] - c.h[i] / 2)
    };
    return Object.keys(far).reduce((a, b) => (far[b] < far[a] ? b : a));
  });

// Not over the rim of the stage.
/** @type {(p: Panel, x: number, y: number, w: number, h: number) => [x: number, y: number]} */
const inSight = (p, x, y, w, h) => {
  const { x_range: xr, y_range: yr } = p.source("stage"),
    held = (at, low, high, room) => Math.max(low + room / 2, Math.min(high - room / 2, at));
  return [held(x, xr.start, xr.end, w), held(y, yr.end, yr.start, h)];
};
/** @type {(p: Panel, table: Movable, name: string, x: number, y: number) => void} */
const keepPlace = (p, table, name, x, y) => {
  ownPlaces.all[placeKey(table, name)] = [x - p.laid.plan.width[0] / 2, y - p.laid.plan.height[0] / 2];
};

// Put a part where a point of its stage is.
player.put = (p, table, name, x, y) => {
  const rows = p.data(table),
    i = rows.name.indexOf(name);
  keepPlace(p, table, name, ...inSight(p, x, y, rows.w[i], rows.h[i]));
  player.emit("places");
};
const forgetPlaces = () => {
  for (const key of Object.keys(ownPlaces.all)) delete ownPlaces.all[key];
  player.emit("places");
};

// By keyboard: the part that is selected goes ten px at a time.
const nudge = (dx, dy) => {
  const chosen = player.selection,
    p = player.panels[0],
    table = chosen?.kind === "broker" ? "brokers" : "clients",
    rows = p.data(table),
    i = rows.name.indexOf(chosen?.name);
  if (i >= 0) player.put(p, table, chosen.name, rows.x[i] + dx, rows.y[i] + dy);
};
