// The whole of a long run, of which the player shows a part: above, all of it with the part marked; below, the part's
// messages sent and received per second. The wheel zooms at the pointer, a drag moves along, with Shift it draws the
// part. What is wished is told to whoever has the run (source `wish`), and comes back as other columns: one wish at a
// time, and of those that came up meanwhile the last.
const MAP_HIGH = 14,
  RATES_HIGH = 44,
  WHOLE_HIGH = MAP_HIGH + RATES_HIGH + 22,
  PATIENCE = 3000; // px; ms
const WHOLE_STYLE = `
  .whole { position: relative; border-bottom: 1px solid var(--mq-line); cursor: grab; touch-action: none; user-select: none; }
  .whole[hidden] { display: none; }
  .whole-told { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; padding: 3px 14px; min-height: 30px; box-sizing: border-box; font-size: 12px; color: var(--mq-ink2); }
  .whole-told[hidden] { display: none; }
  .whole-told b { color: var(--mq-ink); font-weight: 600; }
  .whole-told .live { color: var(--mq-ok); font-weight: 600; }
  .foot .whole-told button { height: 24px; font-size: 12px; }
  .whole:focus-visible { outline: 2px solid var(--mq-active); outline-offset: -2px; }`;

player.on("ready", () => {
  styled(player.place("foot"), WHOLE_STYLE);
  const { canvas, fit } = makeCanvas(WHOLE_HIGH),
    part = { from: 0, to: 1, low: 0, high: 1 };
  const strip = element(
    "div",
    {
      class: "whole",
      role: "slider",
      tabindex: 0,
      "aria-label": worded("visible_part_of_the_run"),
      "aria-valuemin": 0,
      hidden: true
    },
    canvas
  );
  const told = element("div", { class: "whole-told", hidden: true });
  const asked = { no: 0, at: 0, next: null, before: null }; // the last wish, when (0: it is answered), what is wished after it
  foot.prepend(strip, told);
  /** @type {Panel["data"]} */
  const of = (name) => player.panels[0].data(name),
    least = () => (part.high - part.low) / 1e6;
  const x = (ms, low, high) => gutter() + ((ms - low) / (high - low || 1)) * span();
  const ms = (px, low, high) => low + ((px - gutter()) / span()) * (high - low);

  /** @param {CanvasRenderingContext2D} pen @param {Tables["rates"]} rates */
  const drawRates = (pen, rates, low, high, base, room) => {
    const { t = [], sent = [], received = [] } = rates,
      most = Math.max(1, ...sent, ...received);
    for (const [values, token, filled] of /** @type {[number[], string, boolean][]} */ ([
      [sent, "ink3", true],
      [received, "ok", false]
    ])) {
      pen.beginPath();
      pen.moveTo(x(t[0] ?? low, low, high), base);
      t.forEach((at, i) => {
        pen.lineTo(x(at, low, high), base - ((i ? values[i - 1] : 0) / most) * room);
        pen.lineTo(x(at, low, high), base - (values[i] / most) * room);
      });
      pen.lineTo(x(t.at(-1) ?? high, low, high), base);
      pen.fillStyle = pen.strokeStyle = player.colour(token);
      pen.lineWidth = 1.4;
      pen.globalAlpha = filled ? 0.35 : 1;
      if (filled) pen.fill();
      else pen.stroke();
      pen.globalAlpha = 1;
    }
    return most;
  };
  const draw = () => {
    measureAxis();
    const pen = fit(),
      base = MAP_HIGH + RATES_HIGH + 4,
      { low, high, from, to } = part;
    pen.fillStyle = player.colour("sunken");
    pen.fillRect(gutter(), 1, span(), MAP_HIGH - 2);
    pen.fillRect(gutter(), MAP_HIGH + 4, span(), RATES_HIGH);
    drawRates(pen, of("whole"), low, high, MAP_HIGH - 1, MAP_HIGH - 3);
    pen.strokeStyle = player.colour("active");
    pen.lineWidth = 2;
    pen.strokeRect(x(from, low, high), 1, Math.max(3, x(to, low, high) - x(from, low, high)), MAP_HIGH - 2);
    pen.save();
    pen.beginPath();
    pen.rect(gutter(), MAP_HIGH, span(), RATES_HIGH + 4);
    pen.clip();
    const most = drawRates(pen, of("rates"), from, to, base, RATES_HIGH - 4);
    pen.restore();
    const few = axis.width < 700; // px: names are short then
    write(pen, few ? worded("whole_run") : worded("the_whole_run"), 14, MAP_HIGH / 2, {
      token: "ink",
      weight: 700,
      size: few ? 11 : 12.5
    });
    write(
      pen,
      worded("to_4", Math.round(most).toLocaleString("en"), few ? "/s" : worded("a_second")),
      gutter() - 8,
      MAP_HIGH + 14,
      {
        align: "right",
        token: "ink2"
      }
    );
    write(pen, "sent", gutter() - 8, base - 20, { align: "right", token: "ink3" });
    write(pen, "received", gutter() - 8, base - 7, { align: "right", token: "ok" });
    for (const [share, align] of /** @type {const} */ ([
      [0, "left"],
      [1, "right"]
    ])) {
      const at = from + share * (to - from);
      write(pen, timeText(at), gutter() + share * span(), base + 10, { align, size: 10.5 });
    }
    strip.setAttribute("aria-valuemax", String(high));
    strip.setAttribute("aria-valuenow", String(from));
    strip.setAttribute("aria-valuetext", worded("span", timeText(from), timeText(to), of("window").told?.[0] ?? ""));
  };
  const send = (wished) => {
    if (asked.at && performance.now() - asked.at < PATIENCE) {
      asked.next = wished;
      return;
    }
    Object.assign(asked, { no: asked.no + 1, at: performance.now(), next: null });
    if (root.document != null) get("wish").data = { ...wished, no: [asked.no] };
  };
  const wish = (from, to) => {
    const wide = Math.max(least(), Math.min(part.high - part.low, to - from)),
      begin = Math.max(part.low, Math.min(part.high - wide, from));
    Object.assign(part, { from: begin, to: begin + wide });
    asked.before = null;
    draw();
    send({ from: [part.from], to: [part.to], msg: [] });
  };
  const zoomAt = (at, factor) => wish(at - (at - part.from) * factor, at + (part.to - at) * factor);

  strip.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoomAt(ms(event.clientX - strip.getBoundingClientRect().left, part.from, part.to), Math.exp(event.deltaY / 300));
    },
    { passive: false }
  );
  let grip = null;
  const pxOf = (event) => event.clientX - strip.getBoundingClientRect().left;
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const onMap = event.clientY - strip.getBoundingClientRect().top < MAP_HIGH;
    strip.setPointerCapture(event.pointerId);
    grip = { px: pxOf(event), from: part.from, to: part.to, onMap, draws: event.shiftKey };
    if (onMap && !event.shiftKey) {
      const at = ms(grip.px, part.low, part.high),
        half = (part.to - part.from) / 2;
      wish(at - half, at + half);
    }
  });
  strip.addEventListener("pointermove", (event) => {
    if (grip == null) return;
    const [low, high] = grip.onMap ? [part.low, part.high] : [grip.from, grip.to],
      a = ms(grip.px, low, high),
      b = ms(pxOf(event), low, high);
    if (grip.draws) grip.range = [Math.min(a, b), Math.max(a, b)];
    else if (grip.onMap) {
      const half = (grip.to - grip.from) / 2;
      wish(b - half, b + half);
    } else wish(grip.from + a - b, grip.to + a - b);
  });
  strip.addEventListener("pointerup", () => {
    if (grip?.range) wish(...grip.range);
    grip = null;
  });
  strip.addEventListener("dblclick", () => wish(part.low, part.high));
  strip.addEventListener("keydown", (event) => {
    const wide = part.to - part.from,
      act = {
        ArrowLeft: () => wish(part.from - wide / 4, part.to - wide / 4),
        ArrowRight: () => wish(part.from + wide / 4, part.to + wide / 4),
        "+": () => zoomAt((part.from + part.to) / 2, 0.5),
        "-": () => zoomAt((part.from + part.to) / 2, 2),
        Home: () => wish(part.low, part.low + wide),
        End: () => wish(part.high - wide, part.high),
        0: () => wish(part.low, part.high)
      }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  });
  // What is shown, in words, and the ways from one message to all that happened to it, and back.
  const tell = () => {
    const [count, level, live] = ["told", "level", "live"].map((name) => of("window")[name]?.[0] ?? ""),
      chosen = player.selection;
    const parts = [
      element("b", {}, count),
      element("span", {}, level),
      ...(live ? [element("span", { class: "live", role: "status" }, live)] : [])
    ];
    const button = (text, act) => parts.push(element("button", { type: "button", onclick: act }, text));
    if (asked.before) button(worded("back_to_this_section"), () => wish(...asked.before));
    else if (chosen?.kind === "message")
      button(worded("full_route_of_message", chosen.msg), () => {
        const before = [part.from, part.to];
        send({ from: [], to: [], msg: [chosen.msg] });
        asked.before = before;
      });
    told.replaceChildren(...parts);
  };
  const load = () => {
    const { from = [], to = [], low = [], high = [], no = [] } = of("window");
    strip.hidden = told.hidden = !from.length;
    if (strip.hidden) return;
    if (no[0] === asked.no) asked.at = 0;
    Object.assign(part, { low: low[0], high: high[0] });
    if (grip == null && asked.next == null) Object.assign(part, { from: from[0], to: to[0] });
    draw();
    tell();
    if (!asked.at && asked.next) send(asked.next);
  };
  player.on("load", load);
  player.on("select", tell);
  // Of two parts without messages only these tables differ: no new scene begins.
  player.panels[0].source("window").properties.data.change.connect(() =>
    queueMicrotask(() => {
      load();
      drawStage(true);
    })
  );
  for (const name of /** @type {const} */ (["theme", "size"]))
    player.on(name, () => {
      if (!strip.hidden) draw();
    });
});
