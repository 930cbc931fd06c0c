// Runs that left one another, as lanes below the overview on its axis: each begins where it left its parent, with what
// moves in it as bars, and ends where it ends. The name at the left is the way there.
const LANE_HIGH = 20,
  MOST_RUNS = 3;
const LANES_STYLE = `
  .lanes { position: relative; }
  .lanes[hidden] { display: none; }
  .lanes .names { position: absolute; left: 0; top: 0; }
  .foot .lanes button { position: absolute; left: 8px; height: ${LANE_HIGH - 2}px; min-width: 0; padding: 0 6px; font-size: 11.5px; line-height: 16px; display: block;
    text-align: left; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; border-radius: 5px; }
  .foot .lanes button[aria-pressed=true] { font-weight: 700; }
  .foot .lanes button.beside { border-style: dashed; border-color: var(--mq-active); }
  .foot.phone .lanes button { height: ${LANE_HIGH - 2}px; min-width: 0; }`;

// Which runs have a lane: the shown ones, whom they left, the first, then the youngest; in their order.
/** @param {LabState} state */
const chosenLanes = ({ branches, current, beside }) => {
  const wanted = [current, beside, branches[current].parent, 0, ...branches.map((_, i) => branches.length - 1 - i)];
  return [...new Set(wanted.filter((no) => no != null))].slice(0, MOST_RUNS).sort((a, b) => a - b);
};
const branchName = (branch, number) =>
  `${number + 1} ${number ? "\u0394 " : ""}${branch.name}${branch.ms == null ? "" : ` ${worded("at", timeText(branch.ms))}`}`;

// The place of a time of the run; what is after the end of the shown run lies at its end.
const laneX = (ms) => xOf(Math.max(0, Math.min(player.duration, player.storyTime(ms))), 0, player.duration);

/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawLane = (pen, branch, y, isShown) => {
  const x0 = laneX(branch.ms ?? 0),
    x1 = laneX(branch.end),
    { density } = branch,
    most = Math.max(1, ...density),
    base = y + LANE_HIGH - 4;
  pen.fillStyle = player.colour(isShown ? "active" : "line2");
  pen.fillRect(x0, base, Math.max(1, x1 - x0), isShown ? 2 : 1);
  pen.fillStyle = player.colour(isShown ? "ink2" : "line2");
  density.forEach((count, i) => {
    const from = laneX((branch.end * i) / density.length),
      to = laneX((branch.end * (i + 1)) / density.length);
    if (!count || to < x0 + 1) return;
    const tall = Math.max(1.5, (count / most) * (LANE_HIGH - 9));
    pen.fillRect(Math.max(from, x0) + 0.5, base - tall, Math.max(1, to - Math.max(from, x0) - 1), tall);
  });
  const end = axis.width - MARGIN;
  pen.fillStyle = player.colour("line");
  for (let x = x1 + 4; x < end; x += 6) {
    pen.fillRect(x, base - 3, 1, 6);
  } // what this run has not
  pen.fillStyle = player.colour(isShown ? "active" : "line2");
  pen.fillRect(x1 - 1, base - 6, 2, 8);
};

// Which lane a run leaves: that of its parent, or whom the parent has left only later.
const leftAt = (branches, number) => {
  let parent = branches[number].parent;
  while (parent != null && branches[parent].ms > branches[number].ms) parent = branches[parent].parent;
  return parent;
};

// From its parent's lane a fork comes down in a curve, with a dot where it left.
/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawFork = (pen, branch, y, parentY) => {
  if (branch.ms == null) return;
  const x = laneX(branch.ms),
    from = parentY + LANE_HIGH - 4,
    to = y + LANE_HIGH - 4;
  pen.strokeStyle = pen.fillStyle = player.colour("ink");
  pen.lineWidth = 1.6;
  pen.beginPath();
  pen.moveTo(x - 9, from);
  pen.bezierCurveTo(x - 2, from, x - 9, to, x, to);
  pen.stroke();
  pen.beginPath();
  pen.arc(x - 9, from, 3, 0, 2 * Math.PI);
  pen.fill();
};

player.on("ready", () => {
  styled(player.place("foot"), LANES_STYLE);
  const { canvas, fit } = makeCanvas(LANE_HIGH),
    names = element("div", { class: "names" });
  const strip = element(
    "div",
    { class: "lanes", role: "group", "aria-label": worded("runs_of_this_session"), hidden: true },
    canvas,
    names
  );
  foot.append(strip);
  const otherRuns = (state, shown) => (event) =>
    openMenu(
      below(event),
      worded("runs_of_this_session"),
      state.branches
        .map((branch, number) => [branch, number])
        .filter(([, number]) => !shown.includes(number))
        .map(([branch, number]) => ({ text: branchName(branch, number), act: () => lab.do("show", { number }) })),
      event.currentTarget
    );
  const draw = () => {
    const state = player.kernel ? lab.state : null,
      few = (state?.branches.length ?? 0) < 2;
    if (strip.hidden !== few) {
      strip.hidden = few;
      player.emit("tracks");
    }
    if (few) return;
    const shown = chosenLanes(state),
      rest = state.branches.length - shown.length,
      held = names.contains(player.place("foot").activeElement);
    measureAxis();
    const pen = fit(LANE_HIGH * (shown.length + (rest > 0 ? 0.9 : 0)) + 4),
      y = (number) => shown.indexOf(number) * LANE_HIGH;
    for (const number of shown)
      drawLane(pen, state.branches[number], y(number), number === state.current || number === state.beside);
    for (const number of shown) {
      const parent = leftAt(state.branches, number);
      drawFork(
        pen,
        state.branches[number],
        y(number),
        shown.includes(parent) ? y(parent) : y(number) - LANE_HIGH * 0.6
      );
    }
    names.replaceChildren(
      ...shown.map((number) =>
        element(
          "button",
          {
            type: "button",
            "aria-label": branchName(state.branches[number], number),
            "aria-pressed": `${number === state.current}`,
            class: number === state.beside ? "beside" : "",
            title: `${branchName(state.branches[number], number)}${state.branches[number].changes.length ? `: ${state.branches[number].changes.join("; ")}` : ""}`,
            style: `top:${y(number) + 1}px;width:${gutter() - 20}px`,
            onclick: () => lab.do("show", { number })
          },
          branchName(state.branches[number], number)
        )
      )
    );
    if (rest > 0)
      names.append(
        element(
          "button",
          {
            type: "button",
            "aria-haspopup": "menu",
            style: `top:${shown.length * LANE_HIGH + 1}px`,
            onclick: otherRuns(state, shown)
          },
          worded("more_run_more_runs", rest)
        )
      );
    if (held) /** @type {HTMLElement} */ (names.querySelector("[aria-pressed=true]"))?.focus();
  };
  canvas.style.cursor = "pointer";
  canvas.addEventListener("click", (event) => {
    const number = chosenLanes(lab.state)[Math.floor(event.offsetY / LANE_HIGH)];
    if (number == null) return;
    if (number === lab.state.current || number === lab.state.beside) {
      player.setPlaying(false);
      player.seek(Math.max(0, Math.min(player.duration, timeAt(event.offsetX, 0, player.duration))));
    } else lab.do("show", { number });
  });
  for (const name of /** @type {const} */ (["lab", "kernel", "theme", "size"])) player.on(name, draw);
});
