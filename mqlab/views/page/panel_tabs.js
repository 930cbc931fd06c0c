// Options, Check and Code. Each asks for what it shows when it is looked at.
const OPTION_STYLE = `
  .option { display: grid; grid-template-columns: 1fr auto; gap: 2px 10px; padding: 8px 0; border-top: 1px solid var(--mq-line); }
  .option > label { font: 600 13px/19px var(--mq-font); overflow-wrap: anywhere; }
  .option .dim { grid-column: 1; font-size: 12px; line-height: 16px; }
  .option .side { grid-column: 2; grid-row: 1 / span 3; text-align: right; max-width: 150px; font-size: 12px; }
  .option .side input:not([type=checkbox]), .option .side select { width: 128px; }
  .option .side button { font: inherit; color: var(--mq-active_t); background: none; border: 0; padding: 2px 0; cursor: pointer; text-decoration: underline; }
  .option .bad { grid-column: 1 / -1; }
  .option.edited > label::before, .option.changed > label::before { content: "\\0394\\00a0"; }
  .sticky { position: sticky; bottom: -12px; background: var(--mq-bg); padding: 10px 0 12px; display: flex; gap: 8px; flex-wrap: wrap; border-top: 1px solid var(--mq-line); }
  pre { margin: 0; padding: 10px; background: var(--mq-sunken); border-radius: 7px; font: 12px/17px ui-monospace, Menlo, Consolas, monospace; overflow: auto; white-space: pre; }`;

const edits = new Map(); // path -> what was typed, until it is applied or taken back
const shownOf = (value, type) => (type === "list" ? (value ?? []).join(", ") : value == null ? "" : String(value));
const readOf = (field, type) => {
  if (type === "switch") return field.checked;
  const text = field.value.trim();
  if (type === "list")
    return text
      ? text
          .split(",")
          .map((part) => part.trim())
          .filter(Boolean)
      : [];
  return text === "" ? null : text;
};

const makeField = (row, id) => {
  const key = JSON.stringify(row.path),
    given = edits.has(key) ? edits.get(key) : row.value;
  if (row.type === "switch") return element("input", { type: "checkbox", id, checked: given === true });
  if (row.type === "choice") {
    const choices = row.default == null ? ["", ...row.choices] : row.choices;
    return element(
      "select",
      { id },
      ...choices.map((one) => element("option", { value: one, selected: one === (given ?? "") }, one || "default"))
    );
  }
  return element("input", {
    id,
    value: shownOf(given, row.type),
    inputmode: row.type === "number" ? "numeric" : null,
    placeholder: row.default == null ? worded("not_set") : shownOf(row.default, row.type),
    autocomplete: "off"
  });
};

const makeOption = (row, changed) => {
  const id = `o${Math.random().toString(36).slice(2)}`,
    key = JSON.stringify(row.path),
    field = makeField(row, id);
  const box = element("div", { class: "option" }),
    value = shownOf(row.default, row.type);
  // What it was in the first run, and the way back to it.
  const back = element(
    "button",
    {
      type: "button",
      onclick: () => {
        if (field instanceof HTMLInputElement && row.type === "switch") field.checked = row.was === true;
        else field.value = shownOf(row.was, row.type);
        take();
        field.focus();
      }
    },
    worded("reset_to", shownOf(row.was, row.type) || worded("not_set"))
  );
  const take = () => {
    const given = readOf(field, row.type);
    if (shownOf(given, row.type) === shownOf(row.value, row.type)) edits.delete(key);
    else edits.set(key, given);
    box.querySelector(".bad")?.remove();
    mark();
    changed();
  };
  const mark = () => {
    box.classList.toggle("edited", edits.has(key));
    box.classList.toggle("changed", row.changed);
    back.hidden = !edits.has(key) && !row.changed;
  };
  field.addEventListener("input", take);
  field.addEventListener("change", take);
  const side = element("div", { class: "side" }, field, element("div", {}, row.unit), back);
  if (row.section !== "script")
    side.append(element("div", {}, row.written ? worded("default", value || worded("not_set")) : "default"));
  box.append(
    element("label", { for: id }, row.name),
    side,
    element("div", { class: "dim" }, row.sentence),
    element("div", { class: "dim" }, element("span", { class: "chip" }, row.source))
  );
  box.dataset.path = key;
  mark();
  return box;
};

const options = { all: false, more: false, asked: 0, key: "" };
const optionsPart = () => {
  const part = lab.part();
  if (!part || part.kind === "message") return { kind: "", name: "" };
  return { kind: part.kind, name: part.kind === "connector" && options.all ? "*" : part.name };
};

const applyOptions = async (body, part, beside) => {
  const sent = [...edits].map(([key, value]) => [JSON.parse(key), value]);
  const found = await lab.do("apply", { ...part, edits: sent, beside });
  for (const old of body.querySelectorAll(".option .bad")) old.remove();
  for (const { path, text } of found?.errors ?? []) {
    const box = [...body.querySelectorAll(".option")].find((one) => one.dataset.path === JSON.stringify(path));
    box?.append(element("div", { class: "bad", role: "alert" }, text));
    box?.querySelector("input, select")?.focus();
  }
  if (found && !found.errors) {
    edits.clear();
    options.key = "";
    panel.refresh();
  }
};

const showOptions = (body, part, told) => {
  const scroll = body.scrollTop,
    rows = told.rows,
    often = rows.filter((row) => row.often || row.written || row.changed);
  const rest = rows.filter((row) => !often.includes(row)),
    main = often.length ? often : rest;
  const apply = element(
    "button",
    { type: "button", class: "main", onclick: () => applyOptions(body, part, false) },
    worded("apply_as_a_fork")
  );
  const both = element(
    "button",
    { type: "button", class: "plain", onclick: () => applyOptions(body, part, true) },
    worded("apply_and_compare")
  );
  const none = element(
    "button",
    {
      type: "button",
      class: "plain",
      onclick: () => {
        edits.clear();
        options.key = "";
        panel.refresh();
      }
    },
    worded("discard_changes")
  );
  const changed = () => {
    for (const one of [apply, both, none]) one.disabled = !edits.size;
    apply.textContent = edits.size ? worded("apply_as_a_fork_2", edits.size) : worded("apply_as_a_fork");
  };
  const list = (some) => {
    let section = null;
    return some.flatMap((row) => {
      const head = row.section === section ? [] : [element("h4", {}, row.section)];
      section = row.section;
      return [...head, makeOption(row, changed)];
    });
  };
  body.replaceChildren(element("h3", {}, told.title));
  if (part.kind === "connector" && told.connectors > 1) {
    body.append(
      element(
        "div",
        { class: "chips" },
        .../** @type {[boolean, string][]} */ ([
          [false, worded("this_one")],
          [true, worded("all", told.connectors)]
        ]).map(([all, text]) =>
          element(
            "button",
            {
              type: "button",
              class: "plain",
              "aria-pressed": `${options.all === all}`,
              onclick: () => {
                options.all = all;
                edits.clear();
                panel.refresh();
              }
            },
            text
          )
        )
      )
    );
  }
  if (!rows.length) {
    body.append(sentence(worded("it_has_no_options")));
    return;
  }
  if (!part.kind) body.append(sentence(worded("select_a_broker_connector_consumer_or")));
  body.append(...list(main));
  if (rest.length && main !== rest) {
    const more = element(
      "details",
      {
        ontoggle: () => {
          options.more = more.open;
        }
      },
      element("summary", {}, worded("more_option_more_options", rest.length)),
      ...list(rest)
    );
    more.open = options.more;
    body.append(more);
  }
  body.append(element("div", { class: "sticky" }, apply, both, none));
  changed();
  body.scrollTop = scroll;
};

addTab({
  id: "options",
  title: worded("options"),
  key: "o",
  make(_body, place) {
    styled(place, OPTION_STYLE);
  },
  async show(body) {
    if (!player.kernel) {
      body.replaceChildren(needsKernel());
      return;
    }
    const part = optionsPart(),
      key = JSON.stringify([part, lab.state?.current, lab.state?.undo, lab.state?.redo]);
    if (key === options.key) return;
    if (JSON.stringify(part) !== options.part) edits.clear();
    Object.assign(options, { key, part: JSON.stringify(part) });
    const number = ++options.asked;
    try {
      const told = await lab.ask("options", part);
      if (number === options.asked) showOptions(body, part, told);
    } catch (error) {
      body.replaceChildren(sentence(error.message, "bad"));
    }
  }
});

addTab({
  id: "check",
  title: worded("check"),
  key: "c",
  async show(body) {
    if (!player.kernel) {
      body.replaceChildren(needsKernel());
      return;
    }
    try {
      const { problems } = await lab.ask("check");
      body.replaceChildren(
        element(
          "h3",
          {},
          problems.length === 1
            ? worded("1_problem")
            : problems.length
              ? worded("problem_problems", problems.length)
              : worded("no_problems_found")
        )
      );
      problems.forEach((problem, number) => {
        const card = element(
          "div",
          { class: "card" },
          element(
            "h3",
            {},
            problem.where,
            " ",
            element("span", { class: problem.level === "error" ? "chip error" : "chip" }, problem.level)
          ),
          element("p", {}, `${problem.what}.`),
          element("p", { class: "dim" }, `${problem.remedy} `, element("span", { class: "chip" }, problem.source))
        );
        const chips = element("div", { class: "chips" });
        if (problem.part)
          chips.append(
            element(
              "button",
              { type: "button", class: "plain", onclick: () => player.select(problem.part) },
              worded("show", problem.part.name)
            )
          );
        if (problem.fix)
          chips.append(
            element(
              "button",
              { type: "button", class: "main", onclick: () => lab.do("fork", { change: number }) },
              worded("fix", problem.fix)
            )
          );
        card.append(chips);
        for (const text of problem.fix ? problem.brings : [])
          card.append(element("p", { class: "dim" }, worded("effect_of_the_fix", text)));
        body.append(card);
      });
      if (!problems.length) body.append(sentence(worded("nothing_here_would_make_a_real")));
    } catch (error) {
      body.replaceChildren(sentence(error.message, "bad"));
    }
  }
});

addTab({
  id: "code",
  title: worded("code"),
  key: "k",
  async show(body) {
    if (!player.kernel) {
      body.replaceChildren(needsKernel());
      return;
    }
    try {
      const told = await lab.ask("code"),
        text = element("pre", { tabindex: 0 });
      const kinds = [
        ["python", "Python"],
        ["lab", worded("lab_file")]
      ].filter(([kind]) => told[kind]);
      const buttons = kinds.map(([kind, name]) =>
        element("button", { type: "button", class: "plain", onclick: () => choose(kind) }, name)
      );
      const copy = element(
        "button",
        {
          type: "button",
          class: "plain",
          onclick: async () => {
            try {
              await navigator.clipboard.writeText(text.textContent);
              copy.textContent = worded("copied");
            } catch {
              getSelection().selectAllChildren(text);
              copy.textContent = worded("selected_press_ctrl_c");
            }
          }
        },
        worded("copy")
      );
      const choose = (kind) => {
        text.textContent = told[kind];
        kinds.forEach(([one], i) => {
          buttons[i].setAttribute("aria-pressed", String(one === kind));
        });
        copy.textContent = worded("copy");
      };
      body.replaceChildren(
        element("h3", {}, worded("this_network_as_code")),
        element("div", { class: "chips" }, ...buttons, copy),
        text
      );
      choose("python");
    } catch (error) {
      body.replaceChildren(sentence(error.message, "bad"));
    }
  }
});
