// The colours of everything, light and dark: as CSS variables --mq-... on the root's element, and for canvases as
// player.colour(token). Text on its surfaces has a contrast of at least 4.5.
const TOKENS = {
  bg: ["#ffffff", "#111418"],
  stage: ["#f4f6f8", "#15191e"],
  card: ["#ffffff", "#1f262e"],
  sunken: ["#e9edf1", "#0c0f12"],
  line: ["#cfd6dd", "#353f4a"],
  line2: ["#74808c", "#7f8b98"],
  ink: ["#16202a", "#ebeff3"],
  ink2: ["#43505c", "#bcc6d0"],
  ink3: ["#5b6773", "#9aa6b2"],
  active: ["#0072b2", "#56b4e9"],
  on_active: ["#ffffff", "#0b141b"],
  active_t: ["#005e96", "#7cc6f0"],
  active_soft: ["#dcebf5", "#17374b"],
  demand: ["#9a3d70", "#e79cc6"],
  demand_soft: ["#f6e3ed", "#40233a"],
  fault: ["#b23e00", "#ff9058"],
  fault_soft: ["#fbe4d8", "#4a2413"],
  ok: ["#00704e", "#4cd3ab"],
  ok_soft: ["#ddf1ea", "#123a2f"],
  mark: ["#f0e442", "#f0e442"],
  mark_edge: ["#16202a", "#f0e442"],
  d1: ["#e69f00", "#e69f00"],
  d1e: ["#8a5a00", "#ffc65c"],
  d2: ["#56b4e9", "#56b4e9"],
  d2e: ["#16699b", "#9ad5f7"],
  d3: ["#009e73", "#009e73"],
  d3e: ["#00644a", "#4cd3ab"],
  d0: ["#a7b0ba", "#828d98"],
  d0e: ["#5b6773", "#bcc6d0"],
  on_d: ["#14100a", "#0b0d10"]
};
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

// As JupyterLab says; in a page of its own as the reader's system says.
const isDark = () =>
  document.body?.dataset.jpThemeLight !== undefined
    ? document.body.dataset.jpThemeLight === "false"
    : matchMedia("(prefers-color-scheme: dark)").matches;

player.dark = false;
player.colour = (token) => TOKENS[token]?.[player.dark ? 1 : 0] ?? token;

const paint = () => {
  if (player.element == null) return;
  player.dark = isDark();
  for (const name of Object.keys(TOKENS)) player.element.style.setProperty(`--mq-${name}`, player.colour(name));
  player.element.style.setProperty("--mq-font", FONT);
  player.element.style.colorScheme = player.dark ? "dark" : "light";
  if (document.body && document.body.dataset.jpThemeLight === undefined) {
    Object.assign(document.body.style, {
      background: player.colour("bg"),
      color: player.colour("ink"),
      fontFamily: FONT
    });
  }
  player.emit("theme", player.dark);
};

player.on("ready", () => {
  untilEnd(new MutationObserver(paint)).observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light"]
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint, { signal: life.signal });
});
