// Tracks below the overview, one kind at a time, all on its axis: how deep queues are, what consumers hold and have
// received, how long messages took, who serves. The wheel with Ctrl zooms, with Shift it moves along.
const ROW_HIGH = 26,
  MOST_LANES = 9;
const TRACKS = {
  none: worded("hide_tracks"),
  depth: worded("queue_depth"),
  unacknowledged: "unacknowledged",
  received: "received",
  latency: "latency",
  roles: worded("roles_and_locks"),
  spacetime: "space-time",
  flow: worded("sender_receiver_matrix")
};
const tracks = { shown: "depth", chosen: false };
const TRACKS_STYLE = `
  .tracks { position: relative; }
  .tracks .line { position: absolute; top: 0; bottom: 0; left: 0; width: 2px; background: var(--mq-active); pointer-events: none; will-change: transform; }
  .tracks .to-come { position: absolute; top: 0; bottom: 0; left: 0; right: ${MARGIN}px; overflow: hidden; pointer-events: none; }
  .tracks .value { position: absolute; left: 0; text-align: right; font: 700 12.5px/${ROW_HIGH}px var(--mq-font); color: var(--mq-ink);
    font-variant-numeric: tabular-nums; pointer-events: none; }
  .tracks table { border-collapse: collapse; margin: 6px 14px; font-size: 12px; }
  .tracks td, .tracks th { border: 1px solid var(--mq-line); padding: 3px 9px; text-align: right; font-variant-numeric: tabular-nums; }
  .tracks th { text-align: left; font-weight: 600; }`;

const tracksChooser = () => {
  const found = element("select", {
    class: "tracks-of",
    "aria-label": worded("tracks"),
    onchange: () => {
      Object.assign(tracks, { shown: found.value, chosen: true });
      player.emit("tracks");
    }
  });
  player.on("load", () => {
    const there = new Set(player.panels[0].data("lanes").track);
    if (player.panels[0].data("changes").what.includes(WHAT.indexOf("work"))) there.add("received").add("latency");
    const names = Object.keys(TRACKS).filter((name) => ["none", "spacetime", "flow"].includes(name) || there.has(name));
    // Where who serves changes, that is what to look at first.
    const { kind, chapter } = player.panels[0].data("events"),
      turns = kind.some((one, row) => one === "RoleChanged" && chapter[row]);
    if (!tracks.chosen) tracks.shown = turns ? "roles" : "depth";
    if (!names.includes(tracks.shown)) tracks.shown = "none";
    found.replaceChildren(
      ...names.map((name) => element("option", { value: name, selected: name === tracks.shown }, TRACKS[name]))
    );
  });
  return found;
};

// The lanes of a track, each with its steps; the highest first.
const lanesOf = (panel, track) => {
  const found = new Map(),
    put = (lane, name, t, v) => {
      if (!found.has(lane)) found.set(lane, { name, t: [], v: [], most: 0 });
      const one = found.get(lane);
      if (track !== "latency" && one.t.at(-1) === t) {
        one.t.pop();
        one.v.pop();
      } // of one moment the last
      one.t.push(t);
      one.v.push(v);
      one.most = Math.max(one.most, v);
    };
  if (track === "received" || track === "latency") deliveries(panel, track === "latency", put);
  else {
    const { track: kinds = [], name = [] } = panel.data("lanes"),
      { t = [], lane = [], value = [] } = panel.data("steps");
    for (let i = 0; i < t.length; i++) if (kinds[lane[i]] === track) put(lane[i], name[lane[i]], t[i], value[i]);
  }
  return [...found.values()].sort((a, b) => b.most - a.most);
};

// What consumers receive: how many by then, or how long (ms) each was on its way. Read off the changes, which tell the
// whole run however long it is.
const deliveries = (panel, latency, put) => {
  const { t, what, a, c } = panel.data("changes"),
    names = panel.data("nodes").name,
    sent = new Map(),
    counts = new Map();
  for (let i = 0; i < t.length; i++) {
    const kind = WHAT[what[i]];
    if (kind === "sent" && !sent.has(c[i])) sent.set(c[i], t[i]);
    if (kind !== "work") continue;
    const name = names[a[i]] ?? "";
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (!latency) put(name, name, t[i], counts.get(name));
    else if (sent.has(c[i])) put(name, name, t[i], player.runTime(panel, t[i]) - player.runTime(panel, sent.get(c[i])));
  }
};

/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawSteps = (pen, one, y, tall, most, colour) => {
  const base = y + tall - 3,
    room = tall - 6,
    first = Math.max(0, after(one.t, axis.from) - 1),
    clamp = (t) => Math.max(axis.from, Math.min(axis.to, t));
  pen.beginPath();
  pen.moveTo(xOf(axis.from), base);
  let high = one.t[first] <= axis.from ? one.v[first] : 0;
  pen.lineTo(xOf(axis.from), base - (high / most) * room);
  for (let i = first; i < one.t.length && one.t[i] <= axis.to; i++) {
    const x = xOf(clamp(one.t[i]));
    pen.lineTo(x, base - (high / most) * room);
    high = one.v[i];
    pen.lineTo(x, base - (high / most) * room);
  }
  const end = xOf(axis.to);
  pen.lineTo(end, base - (high / most) * room);
  pen.lineTo(end, base);
  pen.globalAlpha = 0.45;
  pen.fillStyle = player.colour(colour);
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = player.colour(`${colour}e`);
  pen.lineWidth = 1.3;
  pen.stroke();
};

/** @param {CanvasRenderingContext2D} pen @param {number} y */
const drawDots = (pen, one, y, tall, most) => {
  const middle = [...one.v].sort((a, b) => a - b)[one.v.length >> 1],
    at = (v) => y + tall - 4 - (v / most) * (tall - 8);
  pen.fillStyle = player.colour("line");
  pen.fillRect(gutter(), at(middle), span(), 1);
  pen.fillStyle = player.colour("d1e");
  for (let i = 0; i < one.t.length; i++) {
    if (one.t[i] < axis.from || one.t[i] > axis.to) continue;
    pen.fillRect(xOf(one.t[i]) - 1.5, at(one.v[i]) - 1.5, 3, 3);
  }
};

const valueAt = (one, t) => (after(one.t, t) ? one.v[after(one.t, t) - 1] : 0);

// Who serves and who waits: bars with their words; what is not alive is hatched, what waits is dashed.
const SERVES = new Set(["master", "live", "running"]),
  GONE = new Set(["down", "stopped", "crashed", "reconnects"]);
/** @param {CanvasRenderingContext2D} pen */
const drawRoles = (pen, lanes, top) => {
  const { t0 = [], t1 = [], lane = [], text = [] } = player.panels[0].data("spans");
  for (let i = 0; i < t0.length; i++) {
    const row = lanes.indexOf(lane[i]);
    if (row < 0 || t1[i] < axis.from || t0[i] > axis.to) continue;
    const a = Math.max(gutter(), xOf(t0[i])),
      b = Math.min(axis.width - MARGIN, xOf(t1[i])),
      y = top + row * ROW_HIGH + 4,
      tall = ROW_HIGH - 8;
    const serves = SERVES.has(text[i]) || text[i].startsWith("at "),
      gone = GONE.has(text[i]);
    pen.setLineDash(serves ? [] : [4, 3]);
    pen.fillStyle = player.colour(serves ? "active" : gone ? "fault_soft" : "active_soft");
    pen.strokeStyle = player.colour(serves ? "active" : gone ? "fault" : "active");
    pen.lineWidth = 1.3;
    pen.fillRect(a, y, b - a, tall);
    pen.strokeRect(a + 0.5, y + 0.5, Math.max(0, b - a - 1), tall - 1);
    pen.setLineDash([]);
    pen.font = `600 11px ${FONT}`;
    if (pen.measureText(text[i]).width < b - a - 8) {
      write(pen, text[i], (a + b) / 2, y + tall / 2, {
        token: serves ? "on_active" : gone ? "fault" : "active_t",
        weight: 600,
        align: "center"
      });
    }
  }
};

const PLAIN = ["none", "flow"]; // what is no picture over time
const isPicture = () => !PLAIN.includes(tracks.shown);
const OWN_RULER = 18; // px, below tracks that show a part of the time
const isZoomed = () => axis.from > 0 || axis.to < player.duration;
const lanesShown = () => {
  if (tracks.shown === "roles") {
    const { track = [], name = [] } = player.panels[0].data("lanes");
    return track
      .map((kind, i) => [kind, i])
      .filter(([kind]) => kind === "roles")
      .map(([, i]) => ({ lane: i, name: name[i] }))
      .slice(0, 24);
  }
  return player.panels
    .flatMap((p) => lanesOf(p, tracks.shown).map((one) => ({ ...one, panel: p })))
    .slice(0, MOST_LANES);
};

// Where all lanes are of one destination it need not be said; names of a second run carry its number.
/** @param {CanvasRenderingContext2D} pen */
const drawNames = (pen, rows) => {
  const dests = new Set(rows.map((one) => one.name.split(" ").at(-1)).filter((name) => name.includes("://")));
  rows.forEach((one, i) => {
    const chosen = player.selection?.name && one.name.split(" ").includes(player.selection.name);
    const short =
      dests.size === 1 ? one.name.replace(/ \S*:\/\/\S*$/, "") : one.name.replace(/(temp-)?(queue|topic):\/\//, "");
    pen.font = `${chosen ? 700 : 400} 12px ${FONT}`;
    const side = player.panels.indexOf(one.panel);
    const name = shortened(pen, `${short}${side > 0 ? ` (${side + 1})` : ""}`, gutter() - (one.t ? 50 : 22));
    write(pen, name, 14, i * ROW_HIGH + ROW_HIGH / 2, {
      token: chosen ? "active_t" : "ink2",
      size: 12,
      weight: chosen ? 700 : 400
    });
  });
};

/** @param {CanvasRenderingContext2D} pen */
const drawLanes = (pen, rows) => {
  const most = Math.max(1, ...rows.map((one) => one.most ?? 1)),
    high = rows.length * ROW_HIGH + 4;
  pen.fillStyle = player.colour("sunken");
  rows.forEach((_, i) => {
    pen.fillRect(gutter(), i * ROW_HIGH + 2, span(), ROW_HIGH - 4);
  });
  pen.save();
  pen.beginPath();
  pen.rect(gutter(), 0, span() + 1, high);
  pen.clip();
  if (tracks.shown === "roles")
    drawRoles(
      pen,
      rows.map((one) => one.lane),
      0
    );
  else {
    const draw = tracks.shown === "latency" ? drawDots : drawSteps;
    rows.forEach((one, i) => {
      draw(pen, one, i * ROW_HIGH, ROW_HIGH, most, one.panel.end ? "d2" : "d1");
    });
    drawFolds(pen, 0, high, axis.from, axis.to, null);
  }
  pen.restore();
  drawNames(pen, rows);
};

// Zooms with Ctrl and the wheel, moves along with Shift; a click goes to that time.
const steerBy = (box) => {
  const left = (event) => event.clientX - box.getBoundingClientRect().left;
  box.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const t = timeAt(left(event)),
        wide = axis.to - axis.from,
        delta = event.deltaY || event.deltaX,
        k = Math.exp(delta / 300);
      if (event.ctrlKey) setWindow(t - (t - axis.from) * k, t - (t - axis.from) * k + wide * k);
      else setWindow(axis.from + (wide * delta) / 800, axis.from + (wide * delta) / 800 + wide);
    },
    { passive: false }
  );
  box.addEventListener("click", (event) => {
    if (left(event) < gutter() || PLAIN.includes(tracks.shown)) return;
    player.setPlaying(false);
    player.seek(timeAt(left(event)));
  });
};

player.on("ready", () => {
  styled(player.place("foot"), TRACKS_STYLE);
  const named = () => worded("over_time", TRACKS[tracks.shown]);
  const { canvas, fit } = makeCanvas(10, { role: "img", "aria-hidden": false, "aria-label": named() }),
    line = element("div", { class: "line" }),
    veil = element("div"),
    toCome = element("div", { class: "to-come" }, veil);
  const table = element("div"),
    values = element("div", { "aria-hidden": "true" }),
    box = element("div", { class: "tracks" }, canvas, table, toCome, line, values);
  foot.append(box);
  steerBy(box);
  let rows = [],
    told = 0,
    at = null;
  const draw = () => {
    if (player.unseen) return;
    measureAxis();
    const plain = PLAIN.includes(tracks.shown);
    for (const one of [canvas, line, toCome, values]) one.style.display = plain ? "none" : "block";
    canvas.setAttribute("aria-label", named());
    table.replaceChildren(...(tracks.shown === "flow" ? [flowTable()] : []));
    if (tracks.shown === "spacetime") drawSpacetime(fit);
    else if (!plain) {
      const high = rows.length * ROW_HIGH + 4,
        pen = fit(high + (isZoomed() ? OWN_RULER : 0));
      drawLanes(pen, rows);
      if (isZoomed()) drawRuler(pen, high + 9, axis.from, axis.to);
    }
    at = null;
    follow();
    tell();
  };
  const renew = () => {
    if (player.unseen) return;
    rows = [...PLAIN, "spacetime"].includes(tracks.shown) ? [] : lanesShown();
    const counted = rows.some((one) => one.t) && tracks.shown !== "latency";
    values.replaceChildren(
      ...(counted ? rows : []).map((_, i) =>
        element("div", { class: "value", style: `top: ${i * ROW_HIGH}px; width: ${gutter() - 8}px` })
      )
    );
    draw();
  };
  // The values at the play head stand at the left; what is to come is faint.
  const follow = () => {
    const before = at,
      x = Math.round(Math.max(gutter(), Math.min(axis.width - MARGIN, xOf(player.t))));
    at = x;
    if (x === before) return;
    line.style.transform = `translateX(${x - 1}px)`;
    veil.style.transform = `translateX(${x}px)`;
  };
  const tell = () => {
    [...values.children].forEach((one, i) => {
      setText(one, String(valueAt(rows[i], player.t)));
    });
    if (tracks.shown !== "flow" || (player.playing && performance.now() - told < 400)) return;
    told = performance.now();
    table.replaceChildren(flowTable());
  };
  player.on("time", follow);
  seldom(tell);
  for (const name of /** @type {const} */ (["load", "tracks", "size"])) player.on(name, renew);
  for (const name of /** @type {const} */ (["theme", "select", "window"])) player.on(name, draw);
});
