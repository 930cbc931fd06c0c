// Faults that can be moved, on a lane below the overview: drag one, or move it with the arrow keys, and see how the run
// ends with it there. Behind a fault that is held lies a strip: the outcome for every moment.
const FAULT_HIGH = 24,
  SAMPLES = 60; // moments of the strip
const FAULTS_STYLE = `
  .faults { position: relative; height: ${FAULT_HIGH}px; }
  .faults[hidden] { display: none; }
  .faults canvas { position: absolute; left: 0; top: 0; }
  .faults .label { position: absolute; left: 14px; top: 4px; font-size: 11.5px; color: var(--mq-ink2); white-space: nowrap; }
  .foot .faults button { position: absolute; top: 2px; height: ${FAULT_HIGH - 4}px; min-width: 0; padding: 0 6px; font-size: 11px; line-height: 16px; border-radius: 5px;
    border-color: var(--mq-fault); color: var(--mq-fault); transform: translateX(-50%); cursor: ew-resize; touch-action: none; white-space: nowrap; }
  .foot .faults button.mends { border-color: var(--mq-active); color: var(--mq-active_t); }
  .foot .faults button.held { background: var(--mq-fault); color: var(--mq-on_active); z-index: 2; }
  .faults .told { position: absolute; bottom: 100%; transform: translateX(-50%); background: var(--mq-card); color: var(--mq-ink); border: 1px solid var(--mq-line2);
    border-radius: 6px; padding: 4px 8px; font-size: 12px; max-width: 320px; width: max-content; z-index: 3; pointer-events: none; }
  .faults .told[hidden] { display: none; }`;

// What is held: the fault, where it is now (ms), the strip so far, and what comes of the newest place.
/** @type {Holding} */
const held = { fault: null, ms: 0, strip: [], asked: 0, busy: false, told: null };

/** @param {FaultOutcome} end */
const endWords = (end) => (end.error || end.text !== "" ? end.text : worded("as_in_this_run"));
/** @param {FaultOutcome} end */
const endToken = (end) => {
  if (end.error) return "line";
  if (end.lost) return "fault";
  if (end.twice) return "demand";
  return end.text ? "active_soft" : "ok_soft";
};
const withinRun = (t) => player.runTime(player.panels[0], Math.max(0, Math.min(player.duration, t)));

player.on("ready", () => {
  styled(player.place("foot"), FAULTS_STYLE);
  const { canvas, fit } = makeCanvas(FAULT_HIGH),
    names = element("div"),
    told = element("div", { class: "told", role: "status", hidden: true }),
    label = element("span", { class: "label" }, worded("faults"));
  const lane = element(
    "div",
    { class: "faults", role: "group", "aria-label": worded("faults_that_can_be_moved"), hidden: true },
    canvas,
    label,
    names,
    told
  );
  foot.append(lane);

  const place = (ms) => Math.max(gutter(), Math.min(axis.width - MARGIN, laneX(ms)));
  const drawStrip = () => {
    const pen = fit();
    pen.fillStyle = player.colour("line");
    pen.fillRect(gutter(), FAULT_HIGH / 2 - 1, span(), 2);
    const ends = held.fault == null ? [] : [...held.strip].sort((a, b) => a.ms - b.ms);
    ends.forEach((end, i) => {
      const from = i ? (place(ends[i - 1].ms) + place(end.ms)) / 2 : gutter(),
        to = i + 1 < ends.length ? (place(ends[i + 1].ms) + place(end.ms)) / 2 : axis.width - MARGIN;
      pen.fillStyle = player.colour(endToken(end));
      pen.fillRect(from, 3, Math.max(1, to - from), FAULT_HIGH - 6);
    });
  };
  const tell = () => {
    told.hidden = held.fault == null;
    if (told.hidden) return;
    const at = `${held.fault.text} ${worded("at", timeText(held.ms))}`,
      half = 164;
    told.textContent = held.told ? `${at}: ${endWords(held.told)}` : `${at} …`;
    told.style.left = `${Math.max(half, Math.min(axis.width - half, place(held.ms)))}px`;
  };

  // The newest place is asked first; while the kernel is at it, only the last one that is wanted waits.
  const askPlace = async () => {
    const number = ++held.asked,
      { fault, ms } = held;
    if (held.busy || fault == null) return;
    held.busy = true;
    try {
      const { found } = await player.ask("outcomes", { action: fault.action, times: [ms] });
      if (held.fault === fault && number === held.asked) {
        held.told = found[0];
        tell();
      }
    } catch (error) {
      lab.say("", error.message);
    } finally {
      held.busy = false;
      if (number !== held.asked) askPlace();
    }
  };
  const fillStrip = async (fault) => {
    let times = Array.from({ length: SAMPLES }, (_, i) => withinRun((player.duration * (i + 0.5)) / SAMPLES));
    while (times.length && held.fault === fault) {
      const { found } = await player.ask("outcomes", { action: fault.action, times });
      if (held.fault !== fault) return;
      held.strip.push(...found);
      times = times.slice(found.length);
      drawStrip();
    }
  };
  const hold = (fault) => {
    Object.assign(held, { fault, ms: fault.ms, strip: [], told: null });
    player.setPlaying(false);
    draw();
    fillStrip(fault).catch((error) => lab.say("", error.message));
  };
  const moveTo = (ms) => {
    Object.assign(held, { ms, told: null });
    const button = /** @type {HTMLElement} */ (names.querySelector(".held"));
    if (button) button.style.left = `${place(ms)}px`;
    askPlace();
    tell();
  };
  const letGo = (keep) => {
    const { fault, ms } = held;
    if (fault == null) return;
    held.fault = null;
    draw();
    if (keep && Math.abs(ms - fault.ms) > 1e-6) lab.do("move", { action: fault.action, ms });
  };
  const drag = (fault) => (event) => {
    event.preventDefault();
    event.stopPropagation();
    hold(fault);
    const { left } = lane.getBoundingClientRect();
    const pulled = (moved) => moveTo(withinRun(timeAt(moved.clientX - left, 0, player.duration)));
    const ended = ({ type }) => {
      removeEventListener("pointermove", pulled);
      for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, ended);
      letGo(type === "pointerup");
    };
    addEventListener("pointermove", pulled);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, ended);
  };
  const press = (fault) => (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key],
      mine = held.fault?.action === fault.action;
    if (by) {
      if (!mine) hold(fault);
      moveTo(withinRun(player.storyTime(held.ms) + (by * player.duration) / (event.shiftKey ? 20 : 100)));
      /** @type {HTMLElement} */ (names.querySelector(".held"))?.focus();
    } else if (mine && (event.key === "Enter" || event.key === "Escape")) letGo(event.key === "Enter");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const button = (fault) => {
    const mine = held.fault?.action === fault.action;
    const found = element(
      "button",
      {
        type: "button",
        class: `${mine ? "held" : ""} ${fault.mends ? "mends" : ""}`,
        title: worded("drag_or_arrow_keys"),
        "aria-label": `${fault.text} ${worded("at", timeText(fault.ms))}`,
        style: `left:${place(mine ? held.ms : fault.ms)}px`
      },
      `${fault.mends ? "↻" : "✕"} ${short(fault.text, 18)}`
    );
    found.addEventListener("pointerdown", drag(fault));
    found.addEventListener("keydown", press(fault));
    return found;
  };
  const draw = () => {
    const movable = player.kernel && lab.mode !== "build" && player.panels.length === 1,
      faults = movable ? (lab.state?.faults ?? []) : [];
    if (lane.hidden !== !faults.length) {
      lane.hidden = !faults.length;
      player.emit("tracks");
    }
    if (lane.hidden) return;
    measureAxis();
    drawStrip();
    names.replaceChildren(...faults.map(button));
    tell();
  };
  for (const name of /** @type {const} */ (["lab", "kernel", "theme", "size"])) player.on(name, draw);
});
