// The beginning: as soon as the places are on the page and the columns are unpacked, every part is made and loaded.
const fill = async () => {
  if (!root.tags.length) return;
  const tables = await unpack(root.tags[0]);
  if (root.document == null || get("meta").data.title?.length) return; // others have come in between
  for (const [name, columns] of Object.entries(tables)) get(name).data = columns;
};
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
  fitAll();
  let before = "";
  const watch = new ResizeObserver(() => {
    player.unseen = false;
    const now = JSON.stringify([player.element.clientWidth, player.room(), player.panels.map((p) => p.unit())]);
    if (now !== before) player.emit("size", player.element.clientWidth);
    before = now;
  });
  untilEnd(watch).observe(player.element);
};
fill().then(begin);
