// The stage: the state of each run at this moment, drawn. While it plays, at most fifteen times a second: what moves
// in between has a canvas of its own (moving.js).
const BEAT = 1000 / 15;
const STATIC = ["frames", "halos", "pipes", "strands", "shapes", "cards", "pills", "bars", "cells", "wedges", "rings", "dots", "words"];

// A network is laid out for several rooms: the one is taken in which it is largest, and the figure shows all of the
// room that there is, so that its shape is that of the page (fit.js).
const MOST_SCALE = 1.35, TELLS = { L: 1, M: 0.8, S: 0.6 }; // how much a size tells, for its room
const layOut = (p) => {
  const room = player.room?.(), texts = p.data("plans").text ?? [];
  if (room == null || p.brokerOf == null || !texts.length) return;
  p.plans ??= texts.map((text) => JSON.parse(text));
  const scaleOf = ({ plan }) => Math.min(room.width / plan.width[0], room.height / plan.height[0]);
  const worth = (one) => Math.min(1.1, scaleOf(one)) * (TELLS[one.plan.size[0]] ?? 0.5);
  const best = p.plans.reduce((a, b) => (worth(b) > worth(a) * 1.03 ? b : a));
  if (p.laid !== best) {
    p.laid = best;
    for (const [name, table] of Object.entries(best)) if (p.source(name)) p.source(name).data = table;
    p.data("meta").mark[0] = best.plan.mark[0];
    p.ways = p.data("ways");
    indexCards(p);
  }
  const scale = Math.min(MOST_SCALE, scaleOf(best)), stage = p.source("stage");
  const [w, h] = [room.width / scale, room.height / scale], [x, y] = [best.plan.width[0] / 2, best.plan.height[0] / 2];
  stage.x_range.setv({ start: x - w / 2, end: x + w / 2 });
  stage.y_range.setv({ start: y + h / 2, end: y - h / 2 });
};

const drawPanel = (p, t) => {
  compareWith(p, t);
  const s = stateAt(p, t), ink = makeInk(p);
  drawHosts(p, ink, s);
  drawLines(p, ink, s, t);
  drawBrokers(p, ink, s, t);
  drawClients(p, ink, s, t);
  drawLinkNames(p, ink);
  drawCounts(p, ink, s);
  pour(p, ink, STATIC);
  p.drawn = { next: s.next, unit: ink.unit, at: performance.now(), t };
};

// What counts down changes without an event; everything else only where the next change has come.
const isDue = (p, t) => {
  const rows = p.data("changes"), next = after(rows.t, t);
  return p.drawn == null || next !== p.drawn.next || p.unit?.() !== p.drawn.unit || (p.waits && Math.abs(t - p.drawn.t) > 0.05);
};

const drawStage = (forced) => {
  for (const p of player.panels) {
    if (p.brokerOf == null) continue;
    if (!forced && !isDue(p, player.t)) continue;
    const now = performance.now(), early = p.drawn != null && now - p.drawn.at < BEAT;
    if (!forced && player.playing && early) {
      p.later ??= setTimeout(() => { p.later = null; if (root.document != null) drawPanel(p, player.t); }, BEAT - (now - p.drawn.at));
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
player.on("size", () => { player.panels.forEach(layOut); drawStage(true); });
player.on("select", () => drawStage(true));
player.on("theme", () => {
  for (const p of player.panels) {
    const colour = player.colour("stage");
    p.source("stage").setv({ background_fill_color: colour, background_fill_alpha: 1, border_fill_color: colour, border_fill_alpha: 1 });
  }
  drawStage(true);
});
