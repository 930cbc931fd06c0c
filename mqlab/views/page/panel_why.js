// Why: the story of what is selected as steps to click, why somebody did not get it, and what would change that.
const stepsOf = (steps, at = lab.now()) => {
  if (steps.every((step) => step.ms == null))
    return element("ul", {}, ...steps.map((step) => element("li", {}, step.text)));
  const list = element("ol", { class: "steps" });
  let current = -1;
  steps.forEach((step, i) => {
    if (step.ms != null && step.ms <= at + 1e-6) current = i;
  });
  steps.forEach((step, i) => {
    const chips = element(
      "div",
      {},
      ...(step.rule ? [element("span", { class: "chip rule" }, step.rule), " "] : []),
      ...(step.source ? [element("span", { class: "chip" }, step.source)] : [])
    );
    const say = element(
      "div",
      {},
      step.text,
      ...(step.rule || step.source ? [chips] : []),
      ...(step.change ? [element("div", { class: "dim" }, worded("would_not_apply_with", step.change))] : [])
    );
    const cell = element(
      "button",
      { type: "button", class: i === current ? "now" : step.ms > at ? "later" : "", onclick: () => goToStep(step) },
      element("span", { class: "ms", "data-ms": step.ms ?? null }, step.ms == null ? "" : timeText(step.ms)),
      element("span", { class: "dot" }),
      say
    );
    cell.disabled = step.ms == null;
    cell.style.opacity = "1";
    list.append(element("li", {}, cell));
  });
  return list;
};

// As the clock says it, and no finer than it matters to one who reads.

// To the row of the table that tells the same; several rows may be of one moment.
const goToStep = (step) => {
  const rows = player.panels[0].data("events").row;
  const at = step.row == null || rows == null ? -1 : Array.prototype.indexOf.call(rows, step.row);
  if (at >= 0) player.goTo(at);
  else if (step.ms != null) {
    player.setPlaying(false);
    player.seek(player.storyTime(step.ms));
  }
};

const numbersOf = (change) => {
  const moved = change.received.filter(([, before, after]) => before !== after);
  const texts = moved.map(([name, before, after]) => `${name} ${before} \u2192 ${after}`);
  for (const what of ["stuck", "lost"])
    if (change[what][0] !== change[what][1]) texts.push(`${what} ${change[what][0]} \u2192 ${change[what][1]}`);
  return texts.length ? texts.join(", ") : worded("counts_unchanged");
};

// Without a kernel: the rows of the table that speak of what is selected, as steps.
const tellFromTable = (body) => {
  const events = player.panels[0].data("events"),
    rules = player.panels[0].data("rules"),
    chosen = player.selection;
  if (!chosen) {
    body.append(element("h3", {}, worded("what_happens_here")), sentence(worded("click_a_message_a_broker_a")));
    return;
  }
  const about =
    chosen.kind === "message"
      ? (i) => events.msg[i] === Number(chosenName(chosen))
      : chosen.kind === "connector"
        ? (i) => events.link[i] === chosen.name
        : (i) => [events.broker[i], events.frm[i], events.to[i]].includes(chosen.name);
  const steps = [];
  for (let i = 0; i < events.time.length && steps.length < 60; i++) {
    if (about(i))
      steps.push({
        ms: player.runTime(player.panels[0], events.play[i]),
        text: events.what[i].replace(chosen.kind === "message" ? /^\d+: / : "", ""),
        row: events.row[i],
        source: rules.source?.[events.rule[i]]
      });
  }
  body.append(element("h3", {}, worded("what_happened_to", short(String(chosen.name), 40))), stepsOf(steps));
};

// The last value of each node until now, the greatest first, by name.
const valuesNow = (table, names) => {
  const found = new Map();
  for (let i = 0; i < table.t.length && table.t[i] <= player.t; i++) found.set(table.node[i], table.value[i]);
  return [...found].map(([node, value]) => [names.name[node], names.role[node], value]).sort((a, b) => b[2] - a[2]);
};
const chipsOf = (title, rows, kind) =>
  !rows.length
    ? []
    : [
        element("h4", {}, title),
        element(
          "div",
          { class: "chips" },
          ...rows
            .slice(0, 6)
            .map(([name, role, value, called = name]) =>
              element(
                "button",
                { type: "button", class: "plain", onclick: () => player.select({ kind: kind ?? role, name }) },
                `${short(called, 24)}: ${value}`
              )
            )
        )
      ];

// What is stuck at the moment, everywhere or at the broker that is selected: why, and what would deliver it.
const stuckRows = (body) => {
  const p = player.panels[0],
    stuck = p.data("stuck"),
    chosen = player.selection,
    rows = [];
  for (let i = 0; i < stuck.t.length; i++) {
    const broker = p.data("nodes").name[stuck.node[i]],
      destination = p.data("destinations").name[stuck.dest[i]];
    if (player.t < stuck.t[i] || (chosen && chosen.name !== broker)) continue;
    const cure = () => asked(body, "cures", { broker, destination }, (answer) => offerChanges(body, answer));
    rows.push(
      element(
        "p",
        {},
        element("b", { class: "bad" }, worded("stuck_at", stuck.count[i], shortName(destination), broker)),
        ` ${stuck.why[i]}.`
      ),
      ...(player.kernel
        ? [element("button", { type: "button", class: "plain", onclick: cure }, worded("what_would_deliver_them"))]
        : [])
    );
  }
  return rows;
};

// What the moment shows by itself: who has received what, where most waits, which connectors are busiest.
const tellMoment = (body) => {
  const p = player.panels[0],
    events = p.data("events"),
    names = p.data("nodes"),
    over = new Map();
  for (let i = 0; i <= player.row && events.link; i++) {
    if (!events.link[i] || events.kind[i] !== "Forwarded") continue;
    const way = part(over, events.link[i], () => ({ count: 0, called: worded("to_3", events.frm[i], events.to[i]) }));
    way.count += 1;
  }
  const box = element("div", { class: "moment" }, ...stuckRows(body));
  if (names?.name && !player.selection) {
    box.append(
      ...chipsOf(worded("received_so_far"), valuesNow(p.data("received"), names)),
      ...chipsOf(
        worded("fullest_queues"),
        valuesNow(p.data("depths"), names).filter(([, , depth]) => depth),
        "broker"
      )
    );
  }
  if (!player.selection)
    box.append(
      ...chipsOf(
        worded("busiest_connectors"),
        [...over].map(([name, { count, called }]) => [name, "connector", count, called]).sort((a, b) => b[2] - a[2]),
        "connector"
      )
    );
  body.querySelector(".moment")?.remove();
  body.append(box);
};

const why = { key: "", answer: null };

// What would come of a part's own options, each set otherwise alone: one press runs it and shows both.
const tryOptions = async (body, part) => {
  const { rows } = await lab.ask("options", part),
    key = why.key;
  const tried = rows.filter(
    (row) => row.often && row.section !== "script" && (row.type === "switch" || row.name === "networkTTL")
  );
  if (!tried.length || key !== why.key) return;
  const otherwise = (row) => (row.type === "switch" ? row.value !== true : Number(row.value) + 1);
  body.querySelector("ol.steps, ul")?.before(
    element("h4", {}, worded("what_if_compared_with_this_run")),
    element(
      "div",
      { class: "chips" },
      ...tried.slice(0, MOST_TRIED).map((row) =>
        element(
          "button",
          {
            type: "button",
            class: "plain",
            title: row.sentence,
            onclick: () => lab.do("apply", { ...part, edits: [[row.path, otherwise(row)]], beside: true })
          },
          `${row.name} ${otherwise(row)}`
        )
      )
    )
  );
};
const MOST_TRIED = 5;

// Questions stand above the steps: of a long story one sees the beginning.
const showWhy = (body, answer) => {
  const chips = element("div", { class: "chips" });
  body.replaceChildren(element("h3", {}, answer.title), element("p", {}, answer.answer), chips, stepsOf(answer.steps));
  if (answer.twice?.length) {
    chips.before(
      element("h4", {}, worded("received_more_than_once")),
      element(
        "div",
        { class: "chips" },
        ...answer.twice.map(({ number, name }) =>
          element(
            "button",
            {
              type: "button",
              class: "plain",
              onclick: () => player.select({ kind: "message", msg: number, name: worded("message", number) })
            },
            name
          )
        )
      )
    );
  }
  for (const name of answer.why_not ?? []) {
    chips.append(
      element(
        "button",
        { type: "button", class: "plain", onclick: () => askWhyNot(body, answer.message, name) },
        worded("why_not", name)
      )
    );
  }
  for (const name of answer.got ?? []) {
    chips.append(
      element(
        "button",
        { type: "button", class: "plain", onclick: () => askWhatIf(body, answer.message, name) },
        worded("what_would_keep_it_from", name)
      )
    );
  }
  for (const one of answer.missed ?? []) {
    chips.append(
      element(
        "button",
        { type: "button", class: "plain", onclick: () => askWhyNot(body, one.number, player.selection.name) },
        worded("why_not", one.name)
      )
    );
  }
  const part = lab.part();
  if (part) {
    chips.append(
      element(
        "button",
        { type: "button", class: "plain", onclick: (event) => lab.breakIt(below(event), event.currentTarget) },
        worded("break", part.name)
      ),
      element(
        "button",
        { type: "button", class: "plain", onclick: () => panel.show("options", true) },
        worded("options")
      )
    );
    tryOptions(body, { kind: part.kind, name: part.name });
  }
  chips.hidden = !chips.childElementCount;
};
const below = (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: box.left, y: box.bottom + 4 };
};

// Each question belongs to what is selected: an answer that comes after another selection is not shown.
const asked = async (body, kind, data, show) => {
  const number = ++lab.asked;
  try {
    const answer = await lab.ask(kind, data);
    if (number === lab.asked && panel.active === "why") show(answer);
  } catch (error) {
    if (number === lab.asked) body.append(sentence(error.message, "bad"));
  }
};

const askWhyNot = (body, message, consumer) =>
  asked(body, "why not", { message, consumer }, (answer) => {
    body.replaceChildren(
      element(
        "button",
        {
          type: "button",
          class: "plain",
          onclick: () => {
            why.key = "";
            panel.refresh();
          }
        },
        worded("back")
      ),
      element("h3", {}, answer.title),
      element("p", {}, answer.answer),
      stepsOf(answer.steps),
      element(
        "button",
        { type: "button", class: "main", onclick: () => askWhatIf(body, message, consumer) },
        worded("what_if")
      )
    );
  });

const askWhatIf = (body, message, consumer) =>
  asked(body, "what if", { message, consumer }, (answer) => offerChanges(body, answer));

// Changes that were found, each with its result, as a fork to make.
const offerChanges = (body, answer) => {
  body.querySelector(".card.whatif")?.remove();
  const card = element("div", { class: "card strong whatif" }, element("h3", {}, answer.title));
  if (!answer.changes.length)
    card.append(
      sentence(
        worded("no_single_change_achieves_this_tried", answer.tried, answer.all ? "" : worded("and_there_are_more"))
      )
    );
  answer.changes.forEach((change, number) => {
    card.append(
      element("p", {}, element("span", { class: "chip delta" }, `\u0394 ${change.text}`)),
      element("p", {}, worded("result", numbersOf(change))),
      element(
        "div",
        { class: "chips" },
        element(
          "button",
          { type: "button", class: number ? "plain" : "main", onclick: () => lab.do("fork", { change: number }) },
          worded("fork")
        ),
        element(
          "button",
          { type: "button", class: "plain", onclick: () => lab.do("fork", { change: number, beside: true }) },
          worded("compare_both_runs")
        )
      )
    );
  });
  body.append(card);
  card.scrollIntoView?.({ block: "nearest" });
};

const outcomeOf = (body) => {
  const state = lab.state;
  if (!state) return;
  for (const text of state.notes ?? []) body.append(element("p", { class: "dim" }, text));
};

const chosenName = (chosen) => (chosen.kind === "message" ? (chosen.msg ?? chosen.name) : chosen.name);
addTab({
  id: "why",
  title: worded("why"),
  key: "w",
  make(_body, place) {
    styled(place, SPREAD_STYLE);
  },
  show(body) {
    const chosen = player.selection;
    if (!player.kernel) {
      body.replaceChildren();
      if (memory().lost) body.append(needsKernel());
      tellFromTable(body);
      tellMoment(body);
      return;
    }
    const state = lab.state && [lab.state.current, lab.state.undo, lab.state.branches.length];
    const key = JSON.stringify([chosen, state]);
    // The first state of a slow kernel changes nothing of a choice: an answer that stands there stays.
    const same = key === why.key || (chosen && why.key === JSON.stringify([chosen, null]));
    why.key = key;
    if (same && body.childElementCount) return;
    const data = chosen && chosen.kind !== "event" ? { kind: chosen.kind, name: chosenName(chosen) } : {};
    asked(body, "why", data, (answer) => {
      why.answer = answer;
      showWhy(body, answer);
      if (!chosen) {
        if (lab.state?.question) body.prepend(element("p", { class: "dim" }, lab.state.question));
        outcomeOf(body);
        tellSpread(body);
      }
      if (!chosen || chosen.kind === "broker") tellMoment(body);
    });
  }
});

// The step of the moment is marked as time goes on, without asking anybody again.
player.on("time", () => {
  const there = tabs.find((one) => one.id === "why")?.body;
  if (there?.querySelector(".moment") && !player.playing) tellMoment(there);
  if (panel.active !== "why" || (player.playing && why.mark > performance.now() - 200)) return;
  why.mark = performance.now();
  const body = tabs.find((one) => one.id === "why")?.body,
    at = lab.now();
  let current = null;
  for (const step of body?.querySelectorAll("ol.steps button") ?? []) {
    const ms = parseFloat(step.firstChild.dataset.ms);
    step.classList.toggle("later", ms > at + 1e-6);
    step.classList.remove("now");
    if (ms <= at + 1e-6) current = step;
  }
  current?.classList.add("now");
});
