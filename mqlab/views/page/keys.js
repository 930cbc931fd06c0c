// Keys, while the focus is inside. Fields and buttons keep their own.
const KEYS = { " ": () => player.setPlaying(!player.playing), ArrowRight: () => stepTo(1), ArrowLeft: () => stepTo(-1),
               Home: () => player.seek(0), End: () => player.seek(player.duration) };
const onKey = (event) => {
  const target = event.composedPath()[0];
  if (["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(target.tagName) || event.ctrlKey || event.metaKey) return;
  if (target.getAttribute?.("role") === "slider" || !(event.key in KEYS)) return;
  KEYS[event.key]();
  event.preventDefault();
  event.stopPropagation();
};
player.on("ready", () => {
  player.element.tabIndex = 0;
  player.element.addEventListener("keydown", onKey);
});
