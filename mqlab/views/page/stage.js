// The stage: the state of each run at this moment, drawn. While it plays, at most fifteen times a second: what moves
// in between has a canvas of its own (moving.js).
const BEAT = 1000 / 15;
const STATIC = [
  "frames",
  "halos",
  "pipes",
  "strands",
  "shapes",
  "cards",
  "pills",
  "bars",
  "cells",
  "wedges",
  "rings",
  "dots",
  "words"
];

// A network is laid out for several rooms: the one is taken in which it is largest, and the figure shows all of the
// room that there is, so that its shape is that of the page (fit.js).
const MOST_SCALE = 1.7,
  TELLS = { L: 1, M: 0.8, S: 0.6 }, // how much a size tells, for its room
  HIDES = 0.6; // and what a layout loses of that where every connector is too short to show anything
/** @param {Panel} p */
const layOut = (p) => {
  const room = player.room?.(),
    texts = p.data("plans").text ?? [];
  if (room == null || p.brokerOf == null || !texts.length) return;
  const plans = plansOf(p, texts);
  // Who draws wants the whole of the paper, and nothing below the palette; who watches what is on it.
  const beside = p.palette ?? 0,
    frameOf = (one) => {
      if (!beside) return withOwn(one);
      const [right, bottom] = [one.plan.width[0], one.plan.height[0]],
        left = withOwn(one).left + AROUND / 2, // of a card at the edge of the palette
        over = one.used.bottom - one.used.top - 2 * AROUND - bottom; // a column that is higher than its paper
      return {
        left: Math.min(0, left),
        right,
        top: Math.min(0, -over / 2),
        bottom: Math.max(bottom, bottom + over / 2)
      };
    };
  const scaleFor = (f) => Math.min((room.width - beside) / (f.right - f.left), room.height / (f.bottom - f.top)),
    scaleOf = (one) => scaleFor(frameOf(one));
  const windowOn = (f) => {
    const scale = Math.min(MOST_SCALE, scaleFor(f)),
      [w, h] = [room.width / scale, room.height / scale],
      [x, y] = [(f.left + f.right - beside / scale) / 2, (f.top + f.bottom) / 2];
    return { left: x - w / 2, right: x + w / 2, top: y - h / 2, bottom: y + h / 2 };
  };
  const worth = (one) =>
    Math.min(1.1, scaleOf(one)) *
    (TELLS[one.plan.size[0]] ?? 0.5) *
    (1 - (HIDES * one.plan.hidden[0]) / Math.max(1, one.links.name.length));
  const best = plans.reduce((a, b) => (worth(b) > worth(a) * 1.03 ? b : a)),
    frame = frameOf(best),
    stage = p.source("stage");
  const seen = windowOn(frame),
    own = beside ? withOwn(best) : seen,
    { left, right, top, bottom } = holds(seen, withoutRims(own)) ? seen : windowOn(both(frame, own)); // beyond the paper
  stage.x_range.setv({ start: left, end: right });
  stage.y_range.setv({ start: bottom, end: top });
  if (p.laid === best && !Object.keys(ownPlaces.all).length) return;
  p.laid = best;
  p.data("meta").mark[0] = best.plan.mark[0];
  settle(p);
};

// The layouts to choose from: all of them, or of a network in groups the one on which the same are open. Each is read
// when it is wanted.
/** @type {(p: Panel, texts: string[]) => UsedPlan[]} */
const plansOf = (p, texts) => {
  p.plans ??= [];
  const read = (i) => (p.plans[i] ??= ((plan) => ({ ...plan, used: usedBy(plan) }))(JSON.parse(texts[i])));
  const groups = read(0).groups.name;
  return groups.length ? [read(1 + groups.indexOf(memory().open))] : texts.map((_, i) => read(i));
};

// The part of a layout in which something is; what stands on the rims of cards has room around it.
const AROUND = 16;
// What was put by hand at the edge may be cut by so much, and stays below the hand.
const CUT = 24;
const withoutRims = ({ left, right, top, bottom }) => ({
  left: left + AROUND + CUT,
  right: right - AROUND - CUT,
  top: top + AROUND + CUT,
  bottom: bottom - AROUND - CUT
});
const both = (a, b) => ({
  left: Math.min(a.left, b.left),
  right: Math.max(a.right, b.right),
  top: Math.min(a.top, b.top),
  bottom: Math.max(a.bottom, b.bottom)
});
const holds = (a, b) => a.left <= b.left && a.right >= b.right && a.top <= b.top && a.bottom >= b.bottom;
/** @type {(plan: Plan) => Frame} */
const usedBy = ({ plan, brokers, clients, stores, hosts, labels, links, wires }) => {
  const xs = [],
    ys = [];
  for (const { x, y, w, h } of [brokers, clients, stores, hosts, labels]) {
    x.forEach((_, i) => {
      xs.push(x[i] - w[i] / 2, x[i] + w[i] / 2);
      ys.push(y[i] - h[i] / 2, y[i] + h[i] / 2);
    });
  }
  for (const [lines, reach] of /** @type {[Curves, number][]} */ ([
    [links, plan.pipe[0] / 2],
    [wires, 0]
  ])) {
    lines.x0.forEach((_, i) => {
      for (const u of [0, 0.25, 0.5, 0.75, 1]) {
        const [x, y] = along(lines, i, u);
        xs.push(x - reach, x + reach);
        ys.push(y - reach, y + reach);
      }
    });
  }
  if (!xs.length) return { left: 0, right: plan.width[0], top: 0, bottom: plan.height[0] };
  const ends = (all) =>
    all.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)], [Infinity, -Infinity]);
  const [[left, right], [top, bottom]] = [ends(xs), ends(ys)];
  return { left: left - AROUND, right: right + AROUND, top: top - AROUND, bottom: bottom + AROUND };
};

// The same with what the reader has put elsewhere.
/** @type {(one: UsedPlan) => Frame} */
const withOwn = (one) => {
  const found = { ...one.used },
    [mx, my] = [one.plan.width[0] / 2, one.plan.height[0] / 2];
  for (const table of /** @type {Movable[]} */ (Object.keys(MOVABLE))) {
    one[table].name.forEach((name, i) => {
      const own = ownPlaces.all[placeKey(table, name)],
        [w, h] = [one[table].w[i] / 2 + AROUND, one[table].h[i] / 2 + AROUND];
      if (!own) return;
      const [x, y] = [mx + own[0], my + own[1]];
      Object.assign(found, {
        left: Math.min(found.left, x - w),
        right: Math.max(found.right, x + w),
        top: Math.min(found.top, y - h),
        bottom: Math.max(found.bottom, y + h)
      });
    });
  }
  return found;
};

// Everything at its place of this layout, or where the reader has put it.
/** @param {Panel} p */
const settle = (p) => {
  for (const [name, table] of Object.entries(withPlaces(p.laid))) if (p.source(name)) p.source(name).data = table;
  p.ways = p.data("ways");
  indexCards(p);
};

/** @param {Panel} p @param {number} t */
const drawPanel = (p, t) => {
  compareWith(p, t);
  const s = stateAt(p, t),
    ink = makeInk(p);
  drawSides(p, ink, s);
  drawHosts(p, ink, s);
  drawOpenGroup(p, ink);
  drawLines(p, ink, s);
  drawBrokers(p, ink, s, t);
  drawClients(p, ink, s, t);
  drawLinkNames(p, ink);
  drawTab(p, ink);
  drawCounts(p, ink, s);
  drawProblems(p, ink);
  pour(p, ink, STATIC);
  placeGroups(p, s);
  p.drawn = { next: s.next, unit: ink.unit, at: performance.now(), t };
};

// What counts down changes without an event; everything else only where the next change has come.
/** @param {Panel} p @param {number} t */
const isDue = (p, t) => {
  const rows = p.data("changes"),
    next = after(rows.t, t);
  return (
    p.drawn == null ||
    next !== p.drawn.next ||
    p.unit?.() !== p.drawn.unit ||
    (p.waits && Math.abs(t - p.drawn.t) > 0.05)
  );
};

const drawStage = (forced) => {
  if (player.unseen) return;
  for (const p of player.panels) {
    if (p.brokerOf == null) continue;
    if (!forced && !isDue(p, player.t)) continue;
    const now = performance.now(),
      early = p.drawn != null && now - p.drawn.at < BEAT;
    if (!forced && player.playing && early) {
      p.later ??= setTimeout(
        () => {
          p.later = null;
          if (root.document != null) drawPanel(p, player.t);
        },
        BEAT - (now - p.drawn.at)
      );
      continue;
    }
    drawPanel(p, player.t);
  }
};

player.on("load", () => {
  for (const p of player.panels) {
    loadModel(p);
    p.plans = null;
    p.waits = p.data("changes").what.includes(WHAT.indexOf("wait"));
    p.locks = p.data("changes").what.includes(WHAT.indexOf("lock"));
    p.drawn = null;
    p.laid = null;
    layOut(p);
  }
});
player.on("time", () => drawStage(false));
player.on("kernel", () => {
  if (Object.keys(ownPlaces.all).length) player.emit("places");
});
player.on("places", () => {
  for (const p of player.panels) if (p.laid) settle(p);
  drawStage(true);
  moveAll();
});
player.on("select", () => drawStage(true));
player.on("theme", () => {
  for (const p of player.panels) {
    const colour = player.colour("stage");
    p.source("stage").setv({
      background_fill_color: colour,
      background_fill_alpha: 1,
      border_fill_color: colour,
      border_fill_alpha: 1
    });
  }
  drawStage(true);
});
