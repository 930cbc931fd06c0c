// The stage: the state of each run at this moment, drawn. While it plays, at most fifteen times a second: what moves
// in between has a canvas of its own (moving.js).
const BEAT = 1000 / 15;
const STATIC = ["frames", "halos", "pipes", "strands", "shapes", "cards", "pills", "bars", "cells", "rings", "dots", "words"];

const drawPanel = (p, t) => {
  const s = stateAt(p, t), ink = makeInk(p);
  drawHosts(p, ink, s);
  drawLines(p, ink, s, t);
  drawBrokers(p, ink, s, t);
  drawClients(p, ink, s, t);
  drawLabels(p, ink);
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
    p.waits = p.data("changes").what.includes(WHAT.indexOf("wait"));
    p.locks = p.data("changes").what.includes(WHAT.indexOf("lock"));
    p.drawn = null;
    const { width, height } = p.data("meta"), stage = p.source("stage");
    if (width.length) { stage.x_range.setv({ start: 0, end: width[0] }); stage.y_range.setv({ start: height[0], end: 0 }); }
  }
});
player.on("time", () => drawStage(false));
player.on("size", () => drawStage(true));
player.on("select", () => drawStage(true));
player.on("theme", () => {
  for (const p of player.panels) {
    const colour = player.colour("stage");
    p.source("stage").setv({ background_fill_color: colour, background_fill_alpha: 1, border_fill_color: colour, border_fill_alpha: 1 });
  }
  drawStage(true);
});
