// How large everything is: the player takes three fifths of the window's height, with its controls in sight; what is
// above and below the stage keeps its height, and the stage gets the rest, as large as its shape allows.
const SHARE = 0.6, LEAST = 260, PANEL = 372, WIDE_PANEL = 420, NARROW_PANEL = 180;

const fitAll = () => {
  const wide = player.element.clientWidth, beside = wide >= 1000, middle = viewOf(get("middle"));
  if (!wide || middle == null) return;
  foot.classList.toggle("short", innerHeight < 800 && beside); // the key is in the help then
  const around = [get("top"), get("foot")].reduce((sum, model) => sum + (viewOf(model)?.el.offsetHeight ?? 0), 0) - tracksHeight();
  const room = Math.max(LEAST, (player.projector ? 0.8 : SHARE) * innerHeight - around);
  const panelWide = player.projector ? 0 : beside ? (wide >= 1400 ? WIDE_PANEL : PANEL) : wide;
  const each = (beside ? wide - panelWide : wide) / player.panels.length;
  for (const p of player.panels) {
    const stage = p.source("stage"), shape = Math.abs((stage.x_range.end - stage.x_range.start) / (stage.y_range.end - stage.y_range.start)) || 1.6;
    const tall = beside ? Math.min(room, each / shape) : Math.min(each / shape, Math.max(LEAST, room));
    if (viewOf(stage)) viewOf(stage).el.style.margin = "0 auto";
    stage.setv({ sizing_mode: "fixed", width: Math.floor(tall * shape), height: Math.floor(tall) });
  }
  Object.assign(middle.el.style, { display: "flex", flexDirection: "row", flexWrap: beside ? "nowrap" : "wrap", justifyContent: "flex-start", boxSizing: "border-box",
                                   alignItems: "center", background: player.colour("stage"), paddingRight: beside ? `${panelWide}px` : "0", minHeight: `${Math.floor(room)}px` });
  viewOf(get("foot")).el.style.width = beside ? `${wide - panelWide}px` : "100%";
  // By style, not by Bokeh's properties: those would draw the place anew, without what the page has put into it.
  Object.assign(viewOf(get("panel")).el.style, {
    position: beside ? "absolute" : "relative", right: 0, top: 0, width: `${beside ? panelWide : wide}px`, flex: "none", minHeight: 0,
    display: player.projector ? "none" : "block", background: player.colour("bg"), order: 9, alignSelf: "stretch", maxHeight: "none",
  });
  fitPanel();
};
// Where there is room the panel stands beside the stage and what is below it.
const fitPanel = () => {
  const [middle, below, panelView] = ["middle", "foot", "panel"].map((name) => viewOf(get(name)));
  if (!middle || !below || !panelView) return;
  const beside = panelView.el.style.position === "absolute";
  panelView.el.style.height = `${beside ? middle.el.offsetHeight + below.el.offsetHeight : NARROW_PANEL}px`;
};
const tracksHeight = () => foot.querySelector(".tracks")?.offsetHeight ?? 0;

player.on("ready", () => {
  const again = () => (root.document == null ? removeEventListener("resize", again) : fitAll());
  addEventListener("resize", again);
  new ResizeObserver(() => { if (root.document != null) fitPanel(); }).observe(viewOf(get("foot")).el);
});
for (const name of ["size", "load", "theme"]) player.on(name, fitAll);
