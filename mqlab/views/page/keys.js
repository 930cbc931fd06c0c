// Keys, while the focus is inside; single letters not while one types. Fields, buttons and lists keep their own keys.
const HELP = [
  ["Space", worded("play_pause")],
  ["← →", worded("previous_next_event")],
  ["Shift ← →", worded("previous_next_event_of_the_same")],
  ["N", worded("next_of_a_kind")],
  ["Page ↑ ↓", worded("next_previous_chapter")],
  ["Home End", worded("beginning_end")],
  ["+ −", worded("faster_slower")],
  ["[ ] L", worded("set_loop_start_end_loop_on")],
  [worded("shift_alt_and_drag"), worded("on_the_overview_zoom_loop")],
  ["P", "breakpoints"],
  ["F", worded("fork_here")],
  ["X", worded("inject_a_fault")],
  ["D", worded("next_difference")],
  ["W E Q O C K", worded("why_events_options_check_code")],
  ["Z, Shift Z", worded("undo_redo")],
  ["T", "projector"],
  ["Alt ← ↑ → ↓", worded("move_the_selected_part")],
  [worded("on_the_stage"), worded("walk_the_stage")],
  ["M", worded("walk_the_messages")],
  ["0", worded("zoom_out_to_the_whole_run")],
  ["Esc", worded("clear_the_selection")],
  ["?", worded("show_this_list")]
];
const KEYS_STYLE = `
  .help { position: absolute; z-index: 20; right: 14px; bottom: calc(100% + 4px); background: var(--mq-card); border: 1px solid var(--mq-line2); border-radius: 10px;
    padding: 12px 16px; box-shadow: 0 6px 24px #0004; }
  .help[hidden] { display: none; }
  .foot .help .key { display: flex; background: none; padding: 10px 0 0; max-width: 560px; }
  .help dl { display: grid; grid-template-columns: auto 1fr auto 1fr; gap: 3px 12px; margin: 0; font-size: 12.5px; }
  .help dt { font-weight: 600; } .help dd { margin: 0; color: var(--mq-ink2); }
  .foot.projector .caption { font-size: 24px; line-height: 32px; } .foot.projector .clock { font-size: 26px; }
  .foot.projector .key { font-size: 16px; } .foot.projector .said { -webkit-line-clamp: 2; }
  @media (max-width: 700px) { .help dl { grid-template-columns: auto 1fr; } }`;
const letters = { w: "why", e: "events", q: "counters", o: "options", c: "check", k: "code" };
let help = null;
const toggleHelp = () => {
  help.hidden = !help.hidden;
};
const setProjector = (on) => {
  player.projector = on;
  foot.classList.toggle("projector", on);
  player.emit("projector", on);
  player.emit("size", player.element.clientWidth);
};

const sameKind = (direction) => {
  const kind = player.panels[0].data("events").kind[player.row];
  if (kind) nextOfAKind(direction, kind);
};
const KEYS = {
  " ": () => player.setPlaying(!player.playing),
  ArrowRight: () => stepTo(1),
  ArrowLeft: () => stepTo(-1),
  "Shift+ArrowRight": () => sameKind(1),
  "Shift+ArrowLeft": () => sameKind(-1),
  Home: () => player.seek(0),
  End: () => player.seek(player.duration),
  n: () => nextOfAKind(1),
  "Shift+N": () => nextOfAKind(-1),
  "+": () => player.emit("speed", 1),
  "-": () => player.emit("speed", -1),
  "[": () => setLoop(loop.on, player.t, loop.to),
  "]": () => setLoop(true, loop.from, player.t),
  l: () => setLoop(!loop.on),
  p: () => player.emit("breakpoints"),
  f: () => player.emit("fork"),
  x: () => player.emit("break"),
  d: () => player.emit("difference"),
  z: () => player.emit("undo"),
  "Shift+Z": () => player.emit("redo"),
  t: () => setProjector(!player.projector),
  0: () => {
    setWindow(0, player.duration);
    forgetPlaces();
  },
  "Alt+ArrowLeft": () => nudge(-10, 0),
  "Alt+ArrowRight": () => nudge(10, 0),
  "Alt+ArrowUp": () => nudge(0, -10),
  "Alt+ArrowDown": () => nudge(0, 10),
  "?": toggleHelp,
  PageUp: () => nextOfAKind(1, "chapter"),
  PageDown: () => nextOfAKind(-1, "chapter"),
  Escape: () => {
    player.emit("escape");
    if (drawn.part) choosePart(drawn.part);
    else if (help && !help.hidden) help.hidden = true;
    else player.select(null);
  },
  ...Object.fromEntries(Object.entries(letters).map(([key, tab]) => [key, () => player.emit("tab", tab)]))
};
const OWN = { BUTTON: [" ", "Enter"], SELECT: null, TEXTAREA: null, INPUT: null }; // null: every key is theirs

const onKey = (event) => {
  const target = event.composedPath()[0],
    tag = target.tagName;
  if (
    event.ctrlKey ||
    event.metaKey ||
    (event.altKey && !(player.selection && event.key.startsWith("Arrow"))) ||
    event.defaultPrevented ||
    target.isContentEditable
  )
    return;
  if (tag in OWN && (OWN[tag] === null || OWN[tag].includes(event.key))) return;
  const shifted = event.altKey
    ? `Alt+${event.key}`
    : event.shiftKey && /^([A-Z]|Arrow.*)$/.test(event.key)
      ? `Shift+${event.key}`
      : event.key;
  const act = KEYS[shifted] ?? KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act === undefined) return;
  act();
  event.preventDefault();
  event.stopPropagation();
};

player.on("ready", () => {
  styled(player.place("foot"), KEYS_STYLE);
  help = element(
    "div",
    { class: "help", role: "dialog", "aria-label": worded("keys"), hidden: true },
    element("dl", {}, ...HELP.flatMap(([key, does]) => [element("dt", {}, key), element("dd", {}, does)]))
  );
  const signs = element("div", { class: "key", role: "list", "aria-label": worded("legend") });
  signPlaces.push(signs);
  help.append(signs);
  foot.append(help);
  player.element.tabIndex = 0;
  player.element.setAttribute("role", "region");
  player.element.setAttribute("aria-label", worded("player_of_a_run"));
  player.element.style.outlineOffset = "-2px";
  player.element.addEventListener("keydown", onKey);
  // JupyterLab (4.6) prevents each line break in a cell, and with it the Enter that sends a form.
  player.element.addEventListener("beforeinput", (event) => {
    if (event.inputType === "insertLineBreak" && event.composedPath()[0] instanceof HTMLInputElement)
      event.stopImmediatePropagation();
  });
});
