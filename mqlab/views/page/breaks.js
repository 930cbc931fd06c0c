// Where playing stops or begins again by itself: breakpoints, each a sentence, and a range that is played in a loop.
const breaks = { list: [], hits: [] }; // what stops it; rows of the table at which something does
const loop = { on: false, from: 0, to: 0 };
const BREAKS_STYLE = `
  .breaks { position: absolute; z-index: 20; right: 14px; bottom: calc(100% + 4px); background: var(--mq-card); border: 1px solid var(--mq-line2); border-radius: 10px;
    padding: 12px; box-shadow: 0 6px 24px #0004; min-width: 340px; max-width: min(480px, 94vw); }
  .breaks[hidden] { display: none; }
  .breaks h3 { margin: 0 0 8px; font-size: 13px; }
  .breaks form { display: flex; gap: 6px; flex-wrap: wrap; align-items: center; }
  .breaks input[type=number] { width: 76px; }
  .breaks ul { list-style: none; margin: 10px 0 0; padding: 0; }
  .breaks li { display: flex; justify-content: space-between; align-items: center; gap: 8px; padding: 2px 0; }`;

// What can be waited for: its sentence, and the rows of the table at which it holds.
const CONDITIONS = {
  message: {
    words: worded("an_event_concerns_message"),
    sentence: (c) => worded("message", c.value),
    holds: (e, row, c) => e.msg[row] === Number(c.value)
  },
  broker: {
    words: worded("an_event_occurs_at_broker"),
    sentence: (c) => worded("an_event_occurs_at", c.value),
    holds: (e, row, c) => e.broker[row] === c.value
  },
  rule: {
    words: worded("a_rule_applies"),
    sentence: (c) => player.panels[0].data("rules").sentence[c.value],
    holds: (e, row, c) => e.rule[row] === Number(c.value)
  },
  depth: {
    words: worded("a_queue_holds_more_than"),
    sentence: (c) => worded("a_queue_holds_more_than_2", c.value),
    holds: () => false
  }
};

const rowsOf = (condition) => {
  const events = player.panels[0].data("events"),
    found = [];
  if (condition.kind === "depth") return deepRows(Number(condition.value));
  for (let row = 0; row < events.play.length; row++) {
    if (CONDITIONS[condition.kind].holds(events, row, condition)) found.push(row);
  }
  return found;
};

// The rows at which a queue comes to hold more than so many.
const deepRows = (limit) => {
  const { t = [], lane = [], value = [] } = player.panels[0].data("steps"),
    { track = [] } = player.panels[0].data("lanes");
  const { play } = player.panels[0].data("events"),
    before = new Map(),
    found = [];
  for (let i = 0; i < t.length; i++) {
    if (track[lane[i]] !== "depth") continue;
    if (value[i] > limit && (before.get(lane[i]) ?? 0) <= limit) found.push(Math.max(0, after(play, t[i] + 1e-6) - 1));
    before.set(lane[i], value[i]);
  }
  return found;
};

const setBreaks = (list) => {
  breaks.list = list;
  breaks.hits = [...new Set(list.flatMap(rowsOf))].sort((a, b) => a - b);
  player.emit("breaks");
};
player.addBreak = (kind, value) => setBreaks([...breaks.list, { kind, value }]);
const sayBreak = (condition) => `${CONDITIONS[condition.kind].sentence(condition)}`;

// Where playing from one moment to a later one comes to: past nothing that stops it, and round the loop.
const course = (before, t) => {
  const { play } = player.panels[0].data("events");
  const row = breaks.hits.find((hit) => play[hit] > before + 1e-9 && play[hit] <= t);
  if (row !== undefined) return { t: play[row], row, stop: true };
  if (loop.on && loop.to > loop.from && t >= loop.to) return { t: loop.from };
  return { t };
};

const setLoop = (on, from = loop.from, to = loop.to) => {
  Object.assign(loop, { on, from, to });
  if (on && loop.to <= loop.from) Object.assign(loop, { from: 0, to: player.duration });
  player.emit("loop");
};
const loopButton = () => {
  const found = button(worded("loop_a_range"), "loop", "L", () => setLoop(!loop.on), { "aria-pressed": "false" });
  player.on("loop", () => found.setAttribute("aria-pressed", String(loop.on)));
  return found;
};

const breakForm = () => {
  const kind = element(
    "select",
    { "aria-label": worded("stop_when") },
    ...Object.entries(CONDITIONS).map(([name, { words }]) => element("option", { value: name }, words))
  );
  const place = element("span"),
    list = element("ul", { "aria-label": worded("breakpoints") });
  const field = () => {
    const names = kind.value === "broker" ? player.panels[0].data("events").broker : [],
      { sentence = [] } = player.panels[0].data("rules");
    const options =
      kind.value === "rule"
        ? sentence.map((text, i) => [i, text]).filter(([, text]) => text)
        : [...new Set(names)].filter(Boolean).map((n) => [n, n]);
    place.replaceChildren(
      options.length
        ? element(
            "select",
            { "aria-label": "Which" },
            ...options.map(([value, text]) => element("option", { value }, String(text)))
          )
        : element("input", { type: "number", min: 0, value: 1, "aria-label": worded("which_number") })
    );
  };
  kind.addEventListener("change", field);
  const add = (event) => {
    event.preventDefault();
    player.addBreak(kind.value, /** @type {HTMLInputElement | HTMLSelectElement} */ (place.firstChild).value);
  };
  const form = element("form", { onsubmit: add }, kind, place, element("button", { type: "submit" }, worded("add")));
  const box = element(
    "div",
    { class: "breaks", role: "dialog", "aria-label": worded("breakpoints"), hidden: true },
    element("h3", {}, worded("stop_playing_when")),
    form,
    list
  );
  player.on("breaks", () =>
    list.replaceChildren(
      ...breaks.list.map((one, i) =>
        element(
          "li",
          {},
          sayBreak(one),
          element(
            "button",
            {
              type: "button",
              "aria-label": worded("remove", sayBreak(one)),
              onclick: () => setBreaks(breaks.list.filter((_, k) => k !== i))
            },
            worded("remove_2")
          )
        )
      )
    )
  );
  player.on("load", () => {
    field();
    setBreaks([]);
    setLoop(false, 0, 0);
  });
  return box;
};

const breakButton = () => {
  const box = breakForm(),
    count = element("span");
  const found = button(worded("breakpoints"), "stop", "P", () => toggle(), {
    "aria-expanded": "false",
    "aria-haspopup": "dialog"
  });
  const toggle = (open = box.hidden) => {
    box.hidden = !open;
    found.setAttribute("aria-expanded", String(open));
    (open ? box.querySelector("select") : found).focus();
  };
  found.insertBefore(count, found.lastChild);
  player.on("breaks", () => {
    count.textContent = String(breaks.list.length || "");
  });
  player.on("breakpoints", () => toggle());
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      toggle(false);
      event.stopPropagation();
    }
  });
  styled(player.place("foot"), BREAKS_STYLE);
  foot.append(box);
  return found;
};
