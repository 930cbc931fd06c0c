// Counters: those of each destination at each broker under the names that its console has, at the moment shown, beside
// what they were: at the chapter before, at the fork or at the last fault.
const COUNTER_STYLE = `
  .counters { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
  .counters th, .counters td { padding: 1px 0 1px 10px; text-align: right; font-weight: 400; white-space: nowrap; }
  .counters th:first-child { text-align: left; padding-left: 0; }
  .counters thead th { color: var(--mq-ink2); font-weight: 600; font-size: 12px; position: sticky; top: -12px; background: var(--mq-bg); padding-block: 4px; }
  .counters .place th { padding-top: 10px; font-weight: 600; white-space: normal; overflow-wrap: anywhere; border-bottom: 1px solid var(--mq-line); }
  .counters .other td { font-weight: 700; }
  .counters .same { color: var(--mq-ink2); }
  .counter-bar { display: flex; gap: 4px 12px; flex-wrap: wrap; align-items: center; margin-bottom: 6px; }
  .counter-bar label { display: flex; gap: 6px; align-items: center; }`;
const COUNTED = ["a", "b", "c", "d", "e", "f", "g"];
const counting = { since: "chapter", all: false, lines: [] };

// Of each line the times of its changes, and its counters after each of them.
const loadCounters = () => {
  const { t, line, step } = player.panels[0].data("counted"),
    steps = player.panels[0].data("counter_steps");
  counting.lines = player.panels[0].data("counter_lines").broker.map(() => ({ times: [], counts: [] }));
  for (let row = 0; row < t.length; row++) {
    const { times, counts } = counting.lines[line[row]],
      before = counts.at(-1);
    times.push(t[row]);
    counts.push(COUNTED.map((column, i) => steps[column][step[row]] + (before?.[i] ?? 0)));
  }
};
// The row of a line's counters after all changes up to t, those at t among them or not; -1 before the first.
const countedAt = ({ times }, t, before) => (before ? times.findLastIndex((one) => one < t) : after(times, t) - 1);

// The moments to compare with: the last of its kind up to now. Each has its name, and whether it has come.
const momentOf = {
  chapter: () => {
    const { play, chapter } = player.panels[0].data("events");
    return play.findLast((t, row) => chapter[row] && t < player.t);
  },
  fork: () => {
    const state = lab.state,
      ms = state?.branches[state.current].ms;
    return ms == null ? undefined : playedAt(ms);
  },
  fault: () => {
    const { play, kind } = player.panels[0].data("events");
    return play.findLast((t, row) => FAULTS.has(kind[row]) && t <= player.t);
  },
  beginning: () => 0
};
// When a time of the run (ms) plays.
const playedAt = (ms) => {
  const { play, t } = player.panels[0].data("clock"),
    place = t.findIndex((one) => one >= ms);
  return place < 0 ? player.duration : play[place];
};
const sinceNames = () => ({
  chapter: worded("the_chapter_before"),
  fork: worded("the_fork"),
  fault: worded("the_last_fault"),
  beginning: worded("the_beginning")
});

const countText = (count) => (count < 0 ? "–" : String(count));
const differs = (was, now) => {
  const by = Math.max(0, now) - Math.max(0, was);
  return by ? `${by > 0 ? "+" : "−"}${Math.abs(by)}` : "";
};

// What is selected narrows it: a broker's lines, or those of a connector's ends.
const isWantedBroker = (broker) => {
  const chosen = player.selection;
  return chosen?.kind !== "broker" || chosen.name === broker;
};

const counterRows = (number, then) => {
  const line = counting.lines[number],
    { name, hint } = player.panels[0].data("counter_names");
  const was = then === undefined ? null : countedAt(line, then, then > 0),
    now = countedAt(line, player.t, false);
  if (now < 0) return [];
  return name.flatMap((one, i) => {
    const count = line.counts[now][i],
      before = was == null ? null : was < 0 ? 0 : line.counts[was][i];
    const by = before == null ? "" : differs(before, count);
    if (!counting.all && !by && count <= 0) return [];
    return [
      element(
        "tr",
        { class: by ? "other" : "same" },
        element("th", { scope: "row", title: hint[i] }, one),
        element("td", {}, before == null ? "" : countText(before)),
        element("td", {}, countText(count)),
        element("td", {}, by)
      )
    ];
  });
};

const showCounters = (place) => {
  const { broker, destination } = player.panels[0].data("counter_lines"),
    then = momentOf[counting.since]();
  const bodies = broker.flatMap((name, number) => {
    const rows = isWantedBroker(name) ? counterRows(number, then) : [];
    if (!rows.length) return [];
    const head = element(
      "tr",
      { class: "place" },
      element("th", { scope: "rowgroup", colspan: 4 }, `${name} · ${destination[number]}`)
    );
    return [element("tbody", {}, head, ...rows)];
  });
  const head = element(
    "thead",
    {},
    element("tr", {}, ...["", worded("was"), worded("now"), worded("difference")].map((one) => element("th", {}, one)))
  );
  const time = nowText();
  place.note.textContent =
    then === undefined
      ? worded("nothing_to_compare_with_at", time)
      : worded("counters_at_since", time, timeText(player.runTime(player.panels[0], then)));
  place.table.replaceChildren(head, ...bodies);
  place.table.hidden = !bodies.length;
  place.empty.hidden = bodies.length > 0;
  place.empty.textContent = player.panels[0].data("counter_names").name.length
    ? worded("no_counters_yet")
    : worded("too_long_for_counters");
};

addTab({
  id: "counters",
  title: worded("counters"),
  key: "q",
  make(body, place) {
    styled(place, COUNTER_STYLE);
    const choose = element("select", {
      onchange: () => {
        counting.since = choose.value;
        showCounters(this);
      }
    });
    for (const [value, text] of Object.entries(sinceNames()))
      choose.append(element("option", { value, selected: value === counting.since }, text));
    const all = element("input", {
      type: "checkbox",
      onchange: () => {
        counting.all = all.checked;
        showCounters(this);
      }
    });
    this.note = sentence("");
    this.table = element("table", { class: "counters", "aria-label": worded("counters") });
    this.empty = sentence("");
    body.append(
      element(
        "div",
        { class: "counter-bar" },
        element("label", {}, worded("compared_with"), choose),
        element("label", {}, all, worded("zeros_too"))
      ),
      this.note,
      this.table,
      this.empty
    );
    player.on("load", loadCounters);
    seldom(() => {
      if (panel.active === this.id) showCounters(this);
    });
  },
  show() {
    if (player.panels[0].flights != null) showCounters(this);
  }
});
