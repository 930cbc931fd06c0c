// Compare: the first difference in words, what each consumer received in both runs, and what ended elsewhere.
const COMPARE_STYLE = `
  .bells { display: grid; grid-template-columns: auto 1fr auto; gap: 4px 10px; align-items: center; margin: 6px 0; }
  .bells svg { width: 100%; height: 18px; overflow: visible; }
  .bells .num { font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
  .which { display: inline-block; min-width: 18px; text-align: center; border-radius: 4px; background: var(--mq-ink); color: var(--mq-bg); font-weight: 700; margin-right: 8px; }`;

const drawing = (tag, attributes) => {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  return found;
};
const bellOf = (before, after, most) => {
  const x = (count) => 3 + (94 * count) / (most || 1),
    svg = drawing("svg", { "aria-hidden": true });
  const line = { y1: 9, y2: 9, stroke: "var(--mq-line2)" };
  svg.append(
    drawing("line", { x1: "3%", x2: "97%", ...line, "stroke-width": 1, "stroke-dasharray": "2 4" }),
    drawing("line", { x1: `${x(before)}%`, x2: `${x(after)}%`, ...line, stroke: "var(--mq-ink)", "stroke-width": 2 }),
    drawing("circle", {
      cx: `${x(before)}%`,
      cy: 9,
      r: 6,
      fill: "var(--mq-bg)",
      stroke: "var(--mq-ink)",
      "stroke-width": 2
    }),
    drawing("circle", { cx: `${x(after)}%`, cy: 9, r: 5, fill: "var(--mq-ink)" })
  );
  return svg;
};

// Where the two tables first say something else after the moment: the next difference.
const nextDifference = () => {
  if (player.panels.length < 2) return;
  const [one, other] = player.panels.map((p) => p.data("events"));
  const told = (events, i) => `${events.time[i]} ${events.what[i]}`;
  const left = new Set(Array.from(one.what, (_, i) => told(one, i))),
    right = new Set(Array.from(other.what, (_, i) => told(other, i)));
  const times = [];
  for (const [events, there] of /** @type {const} */ ([
    [one, right],
    [other, left]
  ])) {
    for (let i = 0; i < events.what.length; i++)
      if (events.play[i] > player.t + 1e-6 && !there.has(told(events, i))) {
        times.push(events.play[i]);
        break;
      }
  }
  if (times.length) {
    player.setPlaying(false);
    player.seek(Math.min(...times));
  } else lab.say("", worded("no_further_differences"));
};

addTab({
  id: "compare",
  title: worded("compare"),
  hidden: true,
  make(_body, place) {
    styled(place, COMPARE_STYLE);
  },
  show(body) {
    const state = lab.state,
      found = state?.comparison;
    if (!found) {
      body.replaceChildren(needsKernel());
      return;
    }
    const names = state.sides.map((number) => state.branches[number].name),
      both = element("div");
    names.forEach((name, i) => {
      both.append(
        element(
          "p",
          {},
          element("span", { class: "which" }, String(i + 1)),
          short(name, 80),
          element("span", { class: "dim" }, worded("events_end_at", found.events[i], timeText(found.ends[i])))
        )
      );
    });
    body.replaceChildren(element("h3", {}, worded("side_by_side_on_one_clock")), both);
    if (found.first) {
      const at = Math.min(...found.first.filter(Boolean).map((one) => one.ms));
      body.append(
        element("h4", {}, worded("first_difference_at", timeText(at))),
        ...found.first.map((one, i) =>
          element("p", {}, element("span", { class: "which" }, i + 1), one ? one.text : worded("has_ended"))
        ),
        element(
          "div",
          { class: "chips" },
          element(
            "button",
            {
              type: "button",
              class: "main",
              onclick: () => {
                player.setPlaying(false);
                player.seek(player.storyTime(at));
              }
            },
            worded("go_to", timeText(at))
          ),
          element("button", { type: "button", class: "plain", onclick: nextDifference }, worded("next_difference_2"))
        )
      );
    } else body.append(sentence(worded("the_two_runs_are_identical")));
    const most = Math.max(1, ...found.received.flatMap(([, a, b]) => [a, b])),
      bells = element("div", { class: "bells" });
    for (const [name, before, after] of found.received) {
      bells.append(
        element("span", {}, short(name, 24)),
        bellOf(before, after, most),
        element(
          "span",
          { class: "num" },
          before === after
            ? `${before}`
            : `${before} \u2192 ${after}  \u0394 ${after > before ? "+" : "\u2212"}${Math.abs(after - before)}`
        )
      );
    }
    if (found.received.length) body.append(element("h4", {}, worded("received_at_the_end")), bells);
    for (const [what, pair] of [
      ["stuck", found.stuck],
      ["lost", found.lost]
    ])
      if (pair[0] || pair[1]) body.append(element("p", {}, `${what}: ${pair[0]} \u2192 ${pair[1]}`));
    body.append(
      element("h4", {}, worded("messages_with_a_different_destination_or")),
      element(
        "p",
        {},
        found.moved.length
          ? `${found.moved.join(", ")}${found.more ? worded("and_more", found.more) : ""}`
          : worded("none_every_message_reaches_the_same")
      ),
      element(
        "div",
        { class: "chips" },
        element(
          "button",
          { type: "button", class: "plain", onclick: () => lab.do("show", { number: state.sides[1] }) },
          worded("continue_with_run_2")
        ),
        element(
          "button",
          { type: "button", class: "plain", onclick: () => lab.do("show", { number: state.sides[0] }) },
          worded("continue_with_run_1")
        )
      )
    );
  }
});
