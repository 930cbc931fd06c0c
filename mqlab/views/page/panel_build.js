// Build: parts are added, connected and removed; the network runs after each step, and what came of it stands below.
const BUILD_STYLE = `
  .mq-build form { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0 0 8px; padding: 8px 0; border-top: 1px solid var(--mq-line); }
  .mq-build form b { flex: 0 0 84px; }
  .mq-build form .bad { flex: 1 0 100%; } .mq-build [aria-invalid] { border-color: var(--mq-fault); }
  .mq-build input { width: 76px; } .mq-build input.wide { width: 118px; }
  .counts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 6px 0; }
  .counts b { font-variant-numeric: tabular-nums; }`;

const choiceOf = (label, values, chosen) =>
  element(
    "select",
    { "aria-label": label },
    ...values.map((one) => element("option", { value: one, selected: one === chosen }, short(one, 24)))
  );
/** @param {string} name what the request calls it */
const fieldOf = (name, label, hint, wide = false) =>
  element("input", { name, "aria-label": label, placeholder: hint, autocomplete: "off", class: wide ? "wide" : "" });

/** @param {Element} from @returns {HTMLInputElement[]} */
const textsIn = (from) => [...from.querySelectorAll(/** @type {"input"} */ ("input:not([type=checkbox])"))];
/** @param {string} title @returns {HTMLFormElement | undefined} */
const formNamed = (title) =>
  [...player.place("panel").querySelectorAll("form")].find((one) => one.dataset.of === title);

// One part is added after the other: each has its place where the one before left room.
/** @type {Promise<any>} */
let turn = Promise.resolve(null);
const inTurn = (act) => (turn = turn.catch(() => null).then(act));

// What was refused is told at its fields, and stands there again where nothing else was typed meanwhile.
const refuse = (form, texts, found) => {
  const told = element("div", { class: "bad", role: "alert", id: `f${Math.random().toString(36).slice(2)}` });
  told.textContent = found?.errors.map(({ text }) => text).join(". ") ?? lab.error;
  form.append(told);
  for (const field of textsIn(form)) field.value ||= texts.get(field.name) ?? "";
  for (const { path } of found?.errors.toReversed() ?? []) {
    const field = form.querySelector(`[name="${path[0]}"]`);
    field?.setAttribute("aria-invalid", "true");
    field?.setAttribute("aria-describedby", told.id);
    /** @type {HTMLElement | null} */ (field)?.focus();
  }
};

// One line of the form: a verb, its fields, and what it asks the desk for. Sent, it is empty for what is typed next.
const formOf = (title, fields, press, request) => {
  const form = element(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        form.querySelector(".bad")?.remove();
        const asked = request(),
          texts = new Map();
        for (const field of textsIn(form)) {
          texts.set(field.name, field.value);
          field.value = "";
          field.removeAttribute("aria-invalid");
        }
        const found = await inTurn(() =>
          asked.add === "connector" ? lab.do("build", asked) : addPart(player.panels[0], asked)
        );
        if (found && !found.errors) return;
        refuse(formNamed(title) ?? form, texts, found); // an answer to another one may have drawn the forms anew
      }
    },
    element("b", {}, title),
    ...fields,
    element(
      "button",
      { type: "submit", class: "plain", "aria-label": title === press ? press : `${press} ${title.toLowerCase()}` },
      press
    )
  );
  form.dataset.of = title;
  return form;
};

// What is not a number is sent as it was typed: the desk says what the field takes.
const numberOf = (text) => (Number.isNaN(Number(text)) ? text : Number(text));

const outcomeNow = (state) => {
  const found = state.outcome,
    sends = state.parts.some((part) => part.kind === "producer"),
    box = element("div", { class: "counts", role: "status" });
  for (const [name, , count] of found.received)
    box.append(
      element(
        "span",
        { class: count || !sends ? "" : "bad" },
        worded("receives", short(name, 20)),
        element("b", {}, count)
      )
    );
  const { left } = found;
  const fate = (count, kind, text) => count > 0 && box.append(element("span", { class: kind }, text));
  fate(found.stuck[1], "bad", worded("stuck", found.stuck[1]));
  fate(left.waiting - found.stuck[1], "", worded("waiting", left.waiting - found.stuck[1]));
  fate(left.lost, "bad", worded("lost", left.lost));
  fate(left.twice, "bad", worded("received_twice", left.twice));
  fate(left.expired, "bad", worded("expired", left.expired));
  if (!box.childElementCount) box.append(worded("there_is_no_consumer_add_one"));
  else if (!sends) box.append(worded("there_is_no_producer_add_one"));
  for (const text of left.unread) box.append(element("div", { class: "bad" }, text));
  return box;
};

const buildForms = (state) => {
  const of = (kind) => state.parts.filter((part) => part.kind === kind).map((part) => part.name),
    brokers = of("broker");
  const chosen = lab.part()?.kind === "broker" ? lab.part().name : brokers[0],
    last = brokers.at(-1);
  const broker = fieldOf("name", worded("name_of_the_broker"), "name", true);
  const from = choiceOf(worded("from"), brokers, chosen),
    to = choiceOf(worded("to_2"), brokers, chosen === last ? brokers[0] : last),
    duplex = element("input", { type: "checkbox", "aria-label": "duplex", style: "width:auto" });
  const known = state.destinations[0]?.replace("queue://", "") ?? "queue";
  const reader = fieldOf("name", worded("name_of_the_consumer"), "name"),
    readerOn = choiceOf(worded("broker_of_the_consumer"), brokers, chosen),
    queue = fieldOf("queue", worded("queue_of_the_consumer"), known, true),
    selector = fieldOf("selector", worded("selector"), "selector", true);
  const count = fieldOf("count", worded("messages"), "10"),
    sender = choiceOf(worded("broker_of_the_producer"), brokers, chosen),
    sent = fieldOf("queue", worded("queue_of_the_producer"), known, true);
  const kind = state.product === "openmq" ? ["broker"] : ["broker", "pair"],
    what = choiceOf(worded("what"), kind, "broker");
  const forms = [
    formOf(worded("broker"), [what, broker], worded("add"), () => ({
      add: what.value,
      name: broker.value.trim() || null
    }))
  ];
  if (!brokers.length) return forms;
  if (state.product === "activemq" && brokers.length > 1)
    forms.push(
      formOf(
        worded("connect"),
        [from, "to", to, element("label", {}, duplex, worded("duplex_2"))],
        worded("connect"),
        () => ({
          add: "connector",
          from: from.value,
          to: to.value,
          duplex: duplex.checked
        })
      )
    );
  forms.push(
    formOf(worded("consumer"), [reader, "on", readerOn, queue, selector], worded("add"), () => ({
      add: "consumer",
      name: reader.value.trim() || null,
      on: readerOn.value,
      queue: queue.value.trim(),
      selector: selector.value.trim()
    }))
  );
  forms.push(
    formOf(worded("producer"), [count, worded("messages_on"), sender, sent], worded("add"), () => ({
      add: "producer",
      on: sender.value,
      queue: sent.value.trim(),
      ...(count.value.trim() && { count: numberOf(count.value) })
    }))
  );
  return forms;
};

// What was typed and not yet sent outlives an answer to what was sent before; so does a refusal.
const typedIn = (body) =>
  textsIn(body)
    .filter((field) => field.value)
    .map((field) => [field.getAttribute("aria-label"), field.value]);
const typeAgain = (body, typed) => {
  const fields = textsIn(body);
  for (const [label, text] of typed) {
    const field = fields.find((one) => one.getAttribute("aria-label") === label);
    if (field) field.value = text;
  }
};

addTab({
  id: "build",
  title: worded("build"),
  hidden: true,
  make(body, place) {
    styled(place, BUILD_STYLE);
    body.classList.add("mq-build");
  },
  show(body) {
    const state = lab.state,
      part = lab.part();
    if (!state || !player.kernel) {
      body.replaceChildren(needsKernel());
      return;
    }
    const fresh = ["activemq", "openmq", "artemis"].map((product) =>
      element(
        "button",
        { type: "button", class: "plain", onclick: () => lab.do("begin", { product }) },
        worded("new", PRODUCTS[product])
      )
    );
    const typed = typedIn(body),
      refused = [...body.querySelectorAll("form")].map((form) => [form.dataset.of, ...form.querySelectorAll(".bad")]);
    body.replaceChildren(
      element("h3", {}, worded("draw_a_network")),
      element("div", { class: "chips" }, ...fresh),
      ...buildForms(state)
    );
    typeAgain(body, typed);
    for (const [title, ...told] of refused) formNamed(title)?.append(...told);
    if (part) {
      body.append(
        element(
          "div",
          { class: "chips" },
          element(
            "button",
            { type: "button", class: "plain", onclick: () => lab.do("build", { remove: part.kind, name: part.name }) },
            worded("remove_3", part.name)
          ),
          element(
            "button",
            { type: "button", class: "plain", onclick: () => panel.show("options", true) },
            worded("options")
          )
        )
      );
    } else body.append(sentence(worded("select_a_part_on_the_stage")));
    body.append(element("h4", {}, worded("result_recomputed_after_every_change")), outcomeNow(state));
    if (state.problems)
      body.append(
        element(
          "button",
          { type: "button", class: "plain", onclick: () => panel.show("check") },
          worded("problem_look_problems_look", state.problems)
        )
      );
    if (state.changes.length)
      body.append(
        element("h4", {}, worded("history")),
        element(
          "div",
          { class: "chips" },
          ...state.changes.map((text, i) => element("span", { class: "chip" }, `${i + 1} ${text}`))
        )
      );
  }
});

// What was drawn is selected: its options stand beside it.
player.on("connect", async ({ from, to, duplex = false }) => {
  if (lab.mode !== "build") return;
  const known = new Set(lab.state.parts.map((one) => one.name)),
    state = await lab.do("build", { add: "connector", from, to, duplex });
  const fresh = state?.parts.find((one) => one.kind === "connector" && !known.has(one.name)),
    names = player.panels[0].data("links").name;
  if (fresh)
    player.select({
      kind: "connector",
      name: fresh.name,
      node: names.findIndex((one) => one === fresh.name || one.endsWith(`/${fresh.name}`))
    });
});
