// The overview: the whole run as a strip, which is the seek bar. What there is of messages, acknowledgements (up) and
// consumer advisories (down), faults and chapters with their names, folds, and the run's own time below.
const LANE = 17,
  DENSITY = 34,
  BELOW = 9,
  RULER = 16,
  BIN = 5;
const OVERVIEW = LANE + DENSITY + BELOW + RULER;
const OVERVIEW_STYLE = `
  .overview { position: relative; cursor: pointer; touch-action: none; user-select: none; }
  .overview .head { position: absolute; top: 0; left: 0; pointer-events: none; width: 2px; background: var(--mq-active); bottom: ${RULER}px; will-change: transform; }
  .overview .head span { position: absolute; top: 0; left: 1px; transform: translateX(-50%); background: var(--mq-active); color: var(--mq-on_active);
    font: 600 11px/17px var(--mq-font); padding: 0 6px; border-radius: 4px; white-space: nowrap; font-variant-numeric: tabular-nums; }
  .overview .names { position: absolute; top: 0; left: 0; }
  .overview .to-come { position: absolute; top: ${LANE}px; height: ${DENSITY + BELOW}px; right: ${MARGIN}px; left: 0; overflow: hidden; pointer-events: none; }
  .to-come > div { height: 100%; background: #888; mix-blend-mode: saturation; will-change: transform; }`;
const FAULTS = new Set([
  "Crashed",
  "Stopped",
  "Interrupted",
  "LockLost",
  "Partitioned",
  "Disconnected",
  "BridgeDown",
  "Suspended",
  "Failed",
  "DeadLettered"
]);
const BARS = { up: ["ink2", "ok"], down: ["demand", "fault"] };

// How many things set out in each bin of the strip: messages, acknowledgements, advisories, attempts.
const density = (bins) => {
  const counts = Array.from({ length: 4 }, () => new Float64Array(bins));
  for (const p of player.panels) {
    const { t0, look } = p.flights,
      kinds = p.looks.kind;
    const row = kinds.map((kind) => ({ ack: 1, subscription: 2, attempt: 3, vote: 3 })[kind] ?? 0);
    for (let i = 0; i < t0.length; i++) {
      const bin = Math.min(bins - 1, Math.max(0, Math.floor((t0[i] / player.duration) * bins)));
      counts[row[look[i]] ?? 0][bin] += 1;
    }
  }
  return counts;
};

/** @param {CanvasRenderingContext2D} pen */
const drawDensity = (pen) => {
  const bins = Math.max(10, Math.floor(span() / BIN)),
    counts = density(bins);
  const up = Float64Array.from(counts[0], (n, i) => n + counts[1][i]),
    down = Float64Array.from(counts[2], (n, i) => n + counts[3][i]);
  const scales = [up, down].map((counts) => {
    const used = Array.from(counts)
        .filter(Boolean)
        .sort((a, b) => a - b),
      highest = used.at(-1) ?? 1;
    return highest > 20 * (used[used.length >> 1] ?? 1)
      ? (n) => Math.log1p(n) / Math.log1p(highest)
      : (n) => n / highest;
  });
  const base = LANE + DENSITY,
    wide = span() / bins;
  for (let i = 0; i < bins; i++) {
    const x = gutter() + i * wide;
    const bar = (n, whole, from, room, token, sign) => {
      if (!n) return from;
      const tall = Math.max(2, scales[sign < 0 ? 0 : 1](whole) * room * (n / whole));
      pen.fillStyle = player.colour(token);
      pen.fillRect(x + 0.5, sign < 0 ? from - tall : from, wide - 1.5, tall);
      return from + sign * tall;
    };
    const top = bar(counts[0][i], up[i], base, DENSITY - 3, BARS.up[0], -1);
    bar(counts[1][i], up[i], top, DENSITY - 3, BARS.up[1], -1);
    const low = bar(counts[2][i], down[i], base + 1, BELOW - 1, BARS.down[0], 1);
    bar(counts[3][i], down[i], low, BELOW - 1, BARS.down[1], 1);
  }
  pen.fillStyle = player.colour("line2");
  pen.fillRect(gutter(), base, span(), 1);
};

// The names of chapters, as many as have room, what matters most first; all of them have a tick. A name yields to the
// play head.
const weight = (kind) => (FAULTS.has(kind) ? 0 : ["RoleChanged", "Received", "Attached"].includes(kind) ? 1 : 2);
/** @param {CanvasRenderingContext2D} pen */
const drawTicks = (pen) => {
  const { play, chapter, kind } = player.panels[0].data("events");
  for (let row = 0; row < play.length; row++) {
    if (!chapter[row]) continue;
    pen.fillStyle = player.colour(FAULTS.has(kind[row]) ? "fault" : "active");
    pen.fillRect(xOf(play[row], 0, player.duration) - 0.75, LANE - 2, 1.5, DENSITY + BELOW + 2);
  }
};
/** @param {CanvasRenderingContext2D} pen */
const chapterLabels = (pen) => {
  const { play, chapter, kind } = player.panels[0].data("events"),
    placed = [];
  const rows = play
    .map((_, row) => row)
    .filter((row) => chapter[row])
    .sort((a, b) => weight(kind[a]) - weight(kind[b]) || a - b);
  pen.font = `600 11px ${FONT}`;
  for (const row of rows) {
    const fault = FAULTS.has(kind[row]),
      text = `${fault ? "✕ " : ""}${chapter[row]}`,
      wide = pen.measureText(text).width;
    const x = xOf(play[row], 0, player.duration),
      a = Math.min(x, axis.width - 6 - wide),
      b = a + wide;
    if (placed.every((one) => b + 8 < one.a || a - 8 > one.b)) placed.push({ a, b, text, fault });
  }
  return placed;
};
/** @param {CanvasRenderingContext2D} pen */
const drawChapters = (pen, labels) => {
  for (const { a, text, fault } of labels)
    write(pen, text, a, LANE / 2, { token: fault ? "fault" : "ink2", weight: 600 });
};

/** @param {CanvasRenderingContext2D} pen */
const drawChosen = (pen) => {
  const rows = rowsOfSelection(),
    { play } = player.panels[0].data("events");
  pen.fillStyle = player.colour("mark_edge");
  for (const row of rows) pen.fillRect(xOf(play[row], 0, player.duration) - 1, LANE + DENSITY + BELOW - 4, 2, 6);
  pen.fillStyle = player.colour("ink");
  for (const row of breaks.hits) {
    const x = xOf(play[row], 0, player.duration);
    pen.beginPath();
    for (const [dx, dy] of [
      [0, -5],
      [5, 0],
      [0, 5],
      [-5, 0]
    ])
      pen.lineTo(x + dx, LANE + 6 + dy);
    pen.fill();
  }
  if (loop.to > loop.from) {
    const a = xOf(loop.from, 0, player.duration),
      b = xOf(loop.to, 0, player.duration);
    pen.strokeStyle = player.colour(loop.on ? "active" : "line2");
    pen.lineWidth = 2;
    pen.strokeRect(a, LANE + 1, b - a, DENSITY + BELOW - 2);
  }
};

// The rows of the table that are about what is selected.
const rowsOfSelection = () => {
  const events = player.panels[0].data("events"),
    chosen = player.selection,
    found = [];
  if (chosen == null) return found;
  for (let row = 0; row < events.play.length; row++) {
    if (
      chosen.kind === "message"
        ? events.msg[row] === chosen.msg
        : chosen.kind === "connector"
          ? events.link[row] === chosen.name
          : chosen.kind === "event"
            ? row === chosen.row
            : [events.broker[row], events.frm[row], events.to[row]].includes(chosen.name)
    )
      found.push(row);
  }
  return found;
};

player.on("ready", () => {
  styled(player.place("foot"), OVERVIEW_STYLE);
  const { canvas, fit } = makeCanvas(OVERVIEW),
    names = makeCanvas(LANE, { class: "names" }),
    bubble = element("span");
  const head = element("div", { class: "head" }, bubble),
    veil = element("div"),
    toCome = element("div", { class: "to-come" }, veil);
  const strip = element(
    "div",
    { class: "overview", role: "slider", tabindex: 0, "aria-label": worded("time"), "aria-valuemin": 0 },
    canvas,
    names.canvas,
    toCome,
    head
  );
  foot.append(strip);
  let spoken = -Infinity,
    labels = [],
    named = "",
    at = null;
  const draw = () => {
    if (player.unseen || player.panels[0].flights == null) return;
    measureAxis();
    const pen = fit();
    pen.fillStyle = player.colour("sunken");
    pen.fillRect(gutter(), LANE, span(), DENSITY + BELOW);
    if (isZoomed() && isPicture()) drawWedge(pen);
    drawDensity(pen);
    drawFolds(pen, LANE, LANE + DENSITY + BELOW, 0, player.duration, LANE + DENSITY + BELOW + RULER / 2 + 1);
    drawTicks(pen);
    labels = chapterLabels(pen);
    at = named = null;
    if (isZoomed()) drawHandles(pen);
    drawRuler(pen, LANE + DENSITY + BELOW + RULER / 2 + 1, 0, player.duration);
    drawChosen(pen);
    if (axis.width >= 700) {
      write(pen, worded("overview"), 14, LANE / 2, { token: "ink", weight: 700, size: 12.5 });
      write(pen, "messages", gutter() - 8, LANE + 12, { align: "right", token: "ink2" });
      write(pen, worded("advisories_attempts"), gutter() - 8, LANE + DENSITY + 3, { align: "right", token: "demand" });
    }
    move(player.t);
  };
  /** @param {CanvasRenderingContext2D} pen */
  const drawHandles = (pen) => {
    const a = xOf(axis.from, 0, player.duration),
      b = xOf(axis.to, 0, player.duration);
    pen.strokeStyle = player.colour("ink");
    pen.lineWidth = 1.5;
    pen.strokeRect(a, LANE, b - a, DENSITY + BELOW);
    pen.fillStyle = player.colour("ink");
    for (const x of [a, b]) pen.fillRect(x - 2.5, LANE + 12, 5, 20);
  };
  /** @param {CanvasRenderingContext2D} pen */
  const drawWedge = (pen) => {
    const a = xOf(axis.from, 0, player.duration),
      b = xOf(axis.to, 0, player.duration);
    const top = LANE + DENSITY + BELOW; // the part opens to the width of what lies below
    pen.beginPath();
    for (const [x, y] of [
      [a, top],
      [b, top],
      [gutter() + span(), OVERVIEW],
      [gutter(), OVERVIEW]
    ])
      pen.lineTo(x, y);
    pen.closePath();
    pen.globalAlpha = 0.5;
    pen.fillStyle = player.colour("active_soft");
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 1;
    pen.strokeStyle = player.colour("line2");
    pen.stroke();
  };
  const move = (t) => {
    const before = at,
      x = Math.round(xOf(t, 0, player.duration));
    at = x;
    if (x === before) return; // most paints move it by less than a pixel
    const seen = labels.filter(({ a, b }) => b < x - 38 || a > x + 38),
      said = seen.map(({ a }) => a).join(" ");
    if (said !== named) {
      named = said;
      drawChapters(names.fit(), seen);
    }
    head.style.transform = `translateX(${x - 1}px)`;
    veil.style.transform = `translateX(${x}px)`;
  };
  // The flag stays whole at both ends of the axis; it is measured there only, as that lays the page out anew.
  const keepWhole = (flag) => {
    const near = Math.min(at, axis.width - at) < 60,
      half = near ? flag.offsetWidth / 2 : 0,
      aside = Math.max(half - at, 0) - Math.max(at + half - axis.width, 0);
    flag.style.transform = `translateX(calc(-50% + ${aside}px))`;
  };
  const tell = () => {
    const text = nowText();
    setText(bubble, text);
    keepWhole(bubble);
    if (player.playing && performance.now() - spoken < 400) return; // not as often as it is drawn
    spoken = performance.now();
    strip.setAttribute("aria-valuenow", player.t.toFixed(3));
    strip.setAttribute("aria-valuetext", text);
  };
  // With Shift a range is drawn that the tracks show, with Alt one that is played in a loop; the handles of the
  // range that is shown can be pulled.
  const timeOf = (event) =>
    Math.max(
      0,
      Math.min(player.duration, timeAt(event.clientX - strip.getBoundingClientRect().left, 0, player.duration))
    );
  const handleAt = (event) => {
    if (axis.from <= 0 && axis.to >= player.duration) return null;
    const x = event.clientX - strip.getBoundingClientRect().left;
    return ["from", "to"].find((end) => Math.abs(xOf(axis[end], 0, player.duration) - x) < 7) ?? null;
  };
  const brush = (event) => {
    const t = timeOf(event),
      { start, kind } = grip;
    if (kind === "from") setWindow(Math.min(t, axis.to - player.duration / 5000), axis.to);
    else if (kind === "to") setWindow(axis.from, Math.max(t, axis.from + player.duration / 5000));
    else if (Math.abs(t - start) < player.duration / 500) return;
    else if (kind === "zoom") setWindow(Math.min(t, start), Math.max(t, start));
    else setLoop(true, Math.min(t, start), Math.max(t, start));
  };
  let grip = null; // what the pointer holds: a handle, or a range that is being drawn
  const pull = (event) => {
    player.setPlaying(false);
    const t = timeAt(event.clientX - strip.getBoundingClientRect().left, 0, player.duration);
    player.seek(Math.max(0, Math.min(player.duration, t)));
  };
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    strip.setPointerCapture(event.pointerId);
    const kind = event.shiftKey ? "zoom" : event.altKey ? "loop" : handleAt(event);
    grip = kind && { kind, start: timeOf(event) };
    if (grip == null) pull(event);
  });
  strip.addEventListener("pointermove", (event) => {
    strip.style.cursor = grip || handleAt(event) ? "ew-resize" : "";
    if (strip.hasPointerCapture(event.pointerId)) (grip ? brush : pull)(event);
  });
  strip.addEventListener("pointerup", () => {
    grip = null;
  });
  strip.addEventListener("dblclick", () => setWindow(0, player.duration));
  player.on("load", () => {
    strip.setAttribute("aria-valuemax", player.duration.toFixed(3));
    draw();
  });
  player.on("time", move);
  seldom(tell);
  for (const name of /** @type {const} */ (["theme", "size", "select", "breaks", "loop", "window", "tracks"]))
    player.on(name, draw);
});
