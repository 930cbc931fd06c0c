// Below the stage: the buttons and the time.
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const FOOT_STYLE = `
  .mq-transport { display: flex; gap: 8px; align-items: center; font: 13px/20px var(--mq-font); color: var(--mq-ink); padding: 6px; }
  .mq-transport input { flex: 1; accent-color: var(--mq-active); }
  .mq-transport .now { min-width: 96px; text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
  .mq-transport button, .mq-transport select { font: inherit; color: inherit; background: var(--mq-card);
    border: 1px solid var(--mq-line2); border-radius: 6px; padding: 5px 10px; }
  .mq-transport :focus-visible { outline: 2px solid var(--mq-active); outline-offset: 1px; }
  .mq-transport .play { color: var(--mq-on_active); background: var(--mq-active); border-color: var(--mq-active); min-width: 64px; }`;

player.on("ready", () => {
  const place = player.place("foot");
  const play = element("button", { type: "button", class: "play", "aria-pressed": "false",
                                   onclick: () => player.setPlaying(!player.playing) }, "Play");
  const back = element("button", { type: "button", onclick: () => stepTo(-1) }, "Back");
  const step = element("button", { type: "button", onclick: () => stepTo(1) }, "Step");
  const time = element("input", { type: "range", min: 0, step: 0.001, "aria-label": "Time",
                                  oninput: () => { player.setPlaying(false); player.seek(time.value >= time.max - 0.002 ? player.duration : Number(time.value)); } });
  const now = element("span", { class: "now" });
  const speed = element("select", { "aria-label": "Speed", onchange: () => { clock.speed = Number(speed.value); } },
                        ...SPEEDS.map((s) => element("option", { value: s, selected: s === 1 }, `${s} x`)));
  styled(place, FOOT_STYLE);
  place.append(element("div", { class: "mq-transport" }, play, back, step, time, now, speed));
  player.on("load", () => { time.max = player.duration; });
  player.on("play", (on) => play.setAttribute("aria-pressed", on));
  player.on("time", (t) => {
    time.value = t;
    now.textContent = `${player.runTime(player.panels[0], t).toFixed(1)} ms`;
  });
});
