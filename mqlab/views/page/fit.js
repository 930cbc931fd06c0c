// How large everything is, and where. Wide: the panel stands beside stage and foot; narrow: below them, so that the
// buttons stay in sight. In a notebook the player takes three fifths of the window's height, four while one draws, in a
// page of its own all of it; what is above and below the stage keeps its height, and the stage gets the rest, as large
// as its shape allows.
const SPARE = 920; // px, below which the buttons leave no room for how long the run is
const SHARE = 0.6,
  DRAWING = 0.8,
  LEAST = 260,
  PANEL = 372,
  WIDE_PANEL = 420,
  NARROW_PANEL = 320,
  BESIDE = 1000,
  CAPS = 1240,
  ONE_ROW = 820;
// In a low window a panel below the stage would lie under the window's edge, and with it every answer.
const LOW = 960,
  BESIDE_IF_LOW = 860;
const GRID = {
  beside: (panel) => ({
    gridTemplate: `"top top" auto "middle panel" auto "foot panel" 1fr / minmax(0, 1fr) ${panel}px`
  }),
  below: () => ({ gridTemplate: `"top" auto "middle" auto "foot" auto "panel" ${NARROW_PANEL}px / minmax(0, 1fr)` })
};

const heightOf = (name) => viewOf(get(name))?.el.offsetHeight ?? 0;
const tracksHeight = () => /** @type {HTMLElement} */ (foot.querySelector(".tracks"))?.offsetHeight ?? 0;
const isOwnPage = () => player.element.closest("[data-mqlab=view]") == null;

const headings = () => (player.panels.length > 1 ? HEADING_HIGH : 0);

// The room of one run: `each` px wide and `room` px high.
const measureRoom = () => {
  const wide = player.element?.clientWidth ?? 0,
    beside = wide >= (innerHeight < LOW ? BESIDE_IF_LOW : BESIDE) && !player.projector;
  const panel = player.projector || !beside ? 0 : wide >= 1400 ? WIDE_PANEL : wide >= BESIDE ? PANEL : NARROW_PANEL;
  const own = wide > 0 && isOwnPage(),
    around = heightOf("top") + heightOf("foot") - (own ? 0 : tracksHeight());
  const room =
    Math.max(
      LEAST,
      (own ? 1 : player.projector || lab.mode === "build" ? DRAWING : SHARE) * innerHeight - around - (own ? 2 : 0)
    ) - headings();
  return { wide, beside, panel, room, each: (wide - panel) / player.panels.length };
};
player.room = () => {
  const { wide, room, each } = measureRoom();
  return wide ? { width: each, height: room } : null;
};

const placeAll = ({ beside, panel }) => {
  // By style, not by Bokeh's properties: those would draw a place anew, without what the page has put into it.
  Object.assign(player.element.style, {
    display: "grid",
    gap: 0,
    background: "var(--mq-bg)",
    ...(beside ? GRID.beside(panel) : GRID.below())
  });
  for (const name of ["top", "middle", "foot", "panel"]) {
    Object.assign(viewOf(get(name)).el.style, { gridArea: name, width: "auto", minWidth: 0 });
  }
  Object.assign(viewOf(get("panel")).el.style, {
    height: "auto",
    minHeight: 0,
    display: player.projector ? "none" : "block"
  });
  Object.assign(viewOf(get("middle")).el.style, {
    display: "flex",
    flexDirection: "row",
    flexWrap: "nowrap",
    justifyContent: "flex-start",
    alignItems: "center",
    background: "var(--mq-stage)"
  });
};

// Whether the bar has room for its lists as wide as they want to be, and for a clock that grows (px).
const GROWS = 40;
const fitsInOneRow = () => {
  const bar = foot.querySelector(".transport");
  if (!foot.classList.contains("one-row")) return true;
  bar.classList.add("natural");
  const fits = /** @type {HTMLElement} */ (bar.querySelector(".gap")).offsetWidth >= GROWS;
  bar.classList.remove("natural");
  return fits;
};

const fitAll = () => {
  if (player.begun == null || !player.element?.clientWidth || viewOf(get("middle")) == null) return;
  foot.classList.toggle("short", innerHeight < 800 && !isOwnPage()); // the key is in the help then
  placeAll(measureRoom());
  const { room, each } = measureRoom();
  foot.classList.toggle("spare", foot.clientWidth < SPARE);
  foot.classList.toggle("narrow", foot.clientWidth < BESIDE);
  foot.classList.toggle("tight", foot.clientWidth < CAPS);
  foot.classList.toggle("one-row", foot.clientWidth >= ONE_ROW);
  foot.classList.remove("keyless");
  foot.classList.toggle("keyless", !fitsInOneRow()); // lists are cut last
  player
    .place("top")
    .querySelector(".mq-top")
    .classList.toggle("one-row", player.element.clientWidth >= ONE_ROW);
  foot.classList.toggle("phone", player.element.clientWidth < 700);
  for (const p of player.panels) {
    const stage = p.source("stage"),
      shape = Math.abs((stage.x_range.end - stage.x_range.start) / (stage.y_range.end - stage.y_range.start)) || 1.6;
    const tall = Math.min(room, each / shape);
    if (viewOf(stage)) viewOf(stage).el.style.margin = `${headings()}px auto 0`;
    stage.setv({ sizing_mode: "fixed", width: Math.floor(tall * shape), height: Math.floor(tall) });
  }
  viewOf(get("middle")).el.style.minHeight = `${Math.floor(Math.min(room, Math.max(LEAST, each))) + headings()}px`;
};

player.on("ready", () => {
  addEventListener("resize", fitAll, { signal: life.signal });
  // The strips have drawn themselves by then: it is known what room they leave to the stage.
  player.on("size", () => {
    player.panels.forEach(layOut);
    fitAll();
    drawStage(true);
  });
});
for (const name of /** @type {const} */ (["load", "theme", "tracks"])) player.on(name, fitAll);
