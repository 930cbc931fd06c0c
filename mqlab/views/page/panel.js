// The right side: what happened, in words. It is as high as the stage beside it, whatever is in it.
const PANEL_STYLE = `
  :host { position: relative; min-height: 240px; }
  .mq-panel { position: absolute; inset: 0; display: flex; flex-direction: column; padding-left: 6px; }
  .mq-panel > .mq-log { flex: 1; min-height: 0; }`;

player.on("ready", () => {
  const place = player.place("panel"), box = element("div", { class: "mq-panel" });
  styled(place, PANEL_STYLE);
  place.append(box);
  const log = makeLog(place, box, player.panels.length > 1 ? "what happened on the left" : "what happened", player.goTo);
  player.on("load", () => log.load(player.panels[0].data("events")));
  player.on("time", (t, row) => log.mark(row));
});
