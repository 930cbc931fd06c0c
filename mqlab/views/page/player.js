// The beginning: as soon as the places are on the page, every part is made, then the columns are loaded.
const begin = () => {
  if (root.document == null) return;
  if (player.element == null || ["top", "panel", "foot"].some((name) => viewOf(get(name))?.shadow_el == null)) {
    requestAnimationFrame(begin);
    return;
  }
  player.place("top");
  paint();
  player.emit("ready");
  for (const p of player.panels) p.source("meta").properties.data.change.connect(load);
  load();
  paint();
  player.begun = true;
  new ResizeObserver(() => { if (root.document != null) player.emit("size", player.element.clientWidth); }).observe(player.element);
};
begin();
