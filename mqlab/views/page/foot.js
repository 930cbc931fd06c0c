// Below the stage: a column of strips. Each part puts its own into it, in the order of the scripts.
const FOOT_STYLE = `
  :host { display: block; }
  .foot { font: 13px/20px var(--mq-font); color: var(--mq-ink); background: var(--mq-bg); position: relative; }
  .foot *, .foot *::before { box-sizing: border-box; }
  .foot button, .foot select, .foot input { font: inherit; color: var(--mq-ink); background: var(--mq-card);
    border: 1px solid var(--mq-line); border-radius: 6px; height: 30px; padding: 0 9px; margin: 0; }
  .foot button { display: inline-flex; align-items: center; gap: 6px; cursor: pointer; white-space: nowrap; }
  .foot button:hover, .foot select:hover { border-color: var(--mq-line2); background: var(--mq-sunken); }
  .foot :focus-visible { outline: 2px solid var(--mq-active); outline-offset: 1px; }
  .foot button[aria-pressed=true], .foot button[aria-expanded=true] { background: var(--mq-active_soft); border-color: var(--mq-active);
    color: var(--mq-active_t); }
  .foot svg { width: 16px; height: 16px; fill: currentColor; flex: none; }
  .foot kbd { font: 10.5px/16px var(--mq-font); color: var(--mq-ink3); border: 1px solid var(--mq-line); border-radius: 4px; padding: 0 4px;
    background: var(--mq-bg); }
  .foot kbd::after { content: attr(data-key); }
  .foot .plain { border-color: transparent; background: none; }
  .foot .chip { font-size: 12px; color: var(--mq-ink2); background: var(--mq-sunken); border-radius: 4px; padding: 1px 8px; white-space: nowrap; }
  .foot .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .foot .narrow-only { display: none; }
  .foot.keyless .transport kbd, .foot.tight .transport kbd, .foot.tight .wide-only, .foot.narrow kbd, .foot.narrow .wide-only { display: none; }
  .foot.short .key, .foot.spare .of { display: none; }
  .foot.phone .bar, .foot.phone .of, .foot.phone .help-button { display: none; }
  .foot.phone .clock { order: -1; width: 100%; text-align: left; }
  .foot.phone .transport select { max-width: 132px; height: 44px; }
  .foot.phone button { height: 44px; min-width: 44px; justify-content: center; }`;
const ICONS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M4 3h2v10H4zM13 3v10L7 8z",
  on: "M10 3h2v10h-2zM3 3v10l6-5z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M2 3v10l5-5zM7 3v10l5-5zM12 3h2v10h-2z",
  loop: "M4 5h6V3l4 3.5L10 10V8H4v2H2V7a2 2 0 0 1 2-2zM12 11H6V9l-4 3 4 3v-2h8v-3h-2z",
  stop: "M8 1l7 7-7 7-7-7zM8 4L4 8l4 4 4-4z",
  fork: "M4 2a2 2 0 0 1 1 3.7V7h4a2 2 0 0 0 2-1.6A2 2 0 1 1 12.7 5 4 4 0 0 1 9 8.7H5v1.6A2 2 0 1 1 3 10.300V5.700A2 2 0 0 1 4 2z",
  bolt: "M9 1L3 9h4l-1 6 7-9H8.500z"
};
const icon = (name) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
};

const foot = element("div", { class: "foot" });
player.on("ready", () => {
  const place = player.place("foot");
  styled(place, FOOT_STYLE);
  place.append(foot);
});
