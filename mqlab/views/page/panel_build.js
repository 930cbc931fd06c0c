// Build: parts are added, connected and removed; the network runs after each step, and what came of it stands below.
const BUILD_STYLE = `
  .mq-build form { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0 0 8px; padding: 8px 0; border-top: 1px solid var(--mq-line); }
  .mq-build form b { flex: 0 0 84px; }
  .mq-build input { width: 76px; } .mq-build input.wide { width: 118px; }
  .counts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 6px 0; }
  .counts b { font-variant-numeric: tabular-nums; }`;

const choiceOf = (label, values, chosen) =>
  element(
    "select",
    { "aria-label": label },
    ...values.map((one) => element("option", { value: one, selected: one === chosen }, short(one, 24)))
  );
const fieldOf = (label, hint, wide = false) =>
  element("input", { "aria-label": label, placeholder: hint, autocomplete: "off", class: wide ? "wide" : "" });

// One line of the form: a verb, its fields, and what it asks the desk for.
const formOf = (title, fields, press, request) => {
  const told = element("div", { class: "bad", role: "alert" });
  const form = element(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        told.textContent = "";
        const found = await lab.do("build", request());
        if (!found && lab.error) {
          told.textContent = lab.error;
          form.append(told);
        }
      }
    },
    element("b", {}, title),
    ...fields,
    element("button", { type: "submit", class: "plain" }, press)
  );
  return form;
};

const outcomeNow = (state) => {
  const found = state.outcome,
    box = element("div", { class: "counts", role: "status" });
  for (const [name, , count] of found.received)
    box.append(element("span", { class: count ? "" : "bad" }, `${short(name, 20)} receives `, element("b", {}, count)));
  for (const what of ["stuck", "lost"])
    if (found[what][1]) box.append(element("span", { class: "bad" }, `${what} `, element("b", {}, found[what][1])));
  if (!box.childElementCount) box.append("There is no consumer: add one.");
  return box;
};

const buildForms = (state) => {
  const of = (kind) => state.parts.filter((part) => part.kind === kind).map((part) => part.name),
    brokers = of("broker");
  const chosen = lab.part()?.kind === "broker" ? lab.part().name : brokers[0],
    last = brokers.at(-1);
  const broker = fieldOf("Name of the broker", "name");
  const from = choiceOf("From", brokers, chosen),
    to = choiceOf("To", brokers, chosen === last ? brokers[0] : last),
    duplex = element("input", { type: "checkbox", "aria-label": "duplex", style: "width:auto" });
  const reader = fieldOf("Name of the consumer", "name"),
    readerOn = choiceOf("Broker of the consumer", brokers, chosen),
    queue = fieldOf("Queue of the consumer", state.destinations[0]?.replace("queue://", "") ?? "queue", true),
    selector = fieldOf("Selector", "selector", true);
  const count = fieldOf("Messages", "10"),
    sender = choiceOf("Broker of the producer", brokers, chosen),
    sent = fieldOf("Queue of the producer", state.destinations[0]?.replace("queue://", "") ?? "queue", true);
  const kind = state.product === "openmq" ? ["broker"] : ["broker", "pair"],
    what = choiceOf("What", kind, "broker");
  const forms = [
    formOf("Broker", [what, broker], "Add", () => ({ add: what.value, name: broker.value.trim() || null }))
  ];
  if (state.product === "activemq")
    forms.push(
      formOf("Connect", [from, "to", to, element("label", {}, duplex, " duplex")], "Connect", () => ({
        add: "connector",
        from: from.value,
        to: to.value,
        duplex: duplex.checked
      }))
    );
  forms.push(
    formOf("Consumer", [reader, "on", readerOn, queue, selector], "Add", () => ({
      add: "consumer",
      name: reader.value.trim() || null,
      on: readerOn.value,
      queue: queue.value.trim(),
      selector: selector.value.trim()
    }))
  );
  forms.push(
    formOf("Producer", [count, "messages on", sender, sent], "Add", () => ({
      add: "producer",
      on: sender.value,
      queue: sent.value.trim(),
      count: Number(count.value) || 10
    }))
  );
  return forms;
};

addTab({
  id: "build",
  title: "Build",
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
        `New: ${PRODUCTS[product]}`
      )
    );
    body.replaceChildren(
      element("h3", {}, "Draw a network"),
      element("div", { class: "chips" }, ...fresh),
      ...buildForms(state)
    );
    if (part) {
      body.append(
        element(
          "div",
          { class: "chips" },
          element(
            "button",
            { type: "button", class: "plain", onclick: () => lab.do("build", { remove: part.kind, name: part.name }) },
            `Remove ${part.name}`
          ),
          element("button", { type: "button", class: "plain", onclick: () => panel.show("options") }, "Options")
        )
      );
    } else body.append(sentence("Select a part on the stage to remove it or to change its options."));
    body.append(element("h4", {}, "Result (recomputed after every change)"), outcomeNow(state));
    if (state.problems)
      body.append(
        element(
          "button",
          { type: "button", class: "plain", onclick: () => panel.show("check") },
          `${state.problems} problem${state.problems > 1 ? "s" : ""}: look`
        )
      );
    if (state.changes.length)
      body.append(
        element("h4", {}, "History"),
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
