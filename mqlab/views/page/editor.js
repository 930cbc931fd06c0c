// What one builds with is edited where it stands: the options that people change most beside the part, each taken at
// once, and the problems of mq.check: numbered at their parts, in words beside the fields.
const EDITOR_WIDE = 252; // px; a stage that it would cover half of has its options in the panel alone
const EDITOR_STYLE = `
  .mq-editor { position: absolute; z-index: 8; width: ${EDITOR_WIDE}px; padding: 9px 11px; border-radius: 10px; background: var(--mq-card); color: var(--mq-ink);
    border: 1.5px solid var(--mq-ink2); box-shadow: 0 4px 18px rgb(0 0 0 / .2); font: 12.5px/17px var(--mq-font); }
  .mq-editor[hidden] { display: none; }
  .mq-editor h4 { margin: 0 0 4px; font: 700 13px/18px var(--mq-font); overflow-wrap: anywhere; }
  .mq-editor label { display: flex; justify-content: space-between; gap: 8px; align-items: center; padding: 3px 0; font-weight: 600; overflow-wrap: anywhere; }
  .mq-editor input:not([type=checkbox]), .mq-editor select { font: inherit; width: 92px; box-sizing: border-box; padding: 2px 6px; border-radius: 6px; border: 1px solid var(--mq-line2); background: var(--mq-card); color: var(--mq-ink); }
  .mq-editor p { margin: 4px 0; color: var(--mq-ink2); } .mq-editor .bad { color: var(--mq-fault); }
  .mq-editor button { font: inherit; color: var(--mq-ink); background: var(--mq-card); border: 1px solid var(--mq-line2); border-radius: 7px; padding: 2px 8px; cursor: pointer; margin: 2px 4px 0 0; }
  .mq-editor :focus-visible { outline: 2px solid var(--mq-active); outline-offset: 1px; }`;
const MOST_FIELDS = 3;
const built = { problems: [], asked: 0 }; // as mq.check tells them for the run that is shown

const isBuilding = () => player.kernel && lab.mode === "build" && lab.state != null;
const problemsOf = (part) =>
  built.problems
    .map((problem, number) => ({ ...problem, number }))
    .filter(
      (one) =>
        one.part &&
        part &&
        one.part.kind === part.kind &&
        (one.part.name === part.name || part.name.endsWith(`/${one.part.name}`))
    );

// Where a part is on the stage, in its units: the middle of a card's upper right corner, or of a line.
/** @type {(p: Panel, part: { kind: string; name?: string }) => [x: number, y: number] | null} */
const cornerOf = (p, { kind, name }) => {
  if (kind === "connector") {
    const links = p.data("links"),
      i = links.name.findIndex((one) => one === name || one.endsWith(`/${name}`));
    return i < 0 ? null : along(links, i, 0.5);
  }
  for (const table of /** @type {const} */ (["brokers", "clients"])) {
    const rows = p.data(table),
      i = rows.name.indexOf(name);
    if (i >= 0) return [rows.x[i] + rows.w[i] / 2, rows.y[i] - rows.h[i] / 2];
  }
  return null;
};
/** @param {Panel} p @param {Ink} ink */
const drawProblems = (p, ink) => {
  if (!isBuilding() || p !== player.panels[0]) return;
  const seen = new Map();
  built.problems.forEach((problem, number) => {
    const at = problem.part && cornerOf(p, problem.part);
    if (!at) return;
    const key = at.join(),
      k = seen.get(key) ?? 0,
      [x, y] = [at[0] - 22 * k, at[1]];
    seen.set(key, k + 1);
    ink.put("wedges", {
      xs: [x - 11, x, x + 11],
      ys: [y + 8, y - 11, y + 8],
      fill: ink.colour("fault"),
      edge: ink.colour("card"),
      w: 1.5
    });
    ink.say(x, y + 2.5, String(number + 1), 10, { bold: true, align: "center", token: "on_active" });
  });
};

const takeOne = async (part, row, field, told) => {
  const found = await lab.do("build", { ...part, edits: [[row.path, readOf(field, row.type)]] });
  told.textContent = found?.errors?.map(({ text }) => text).join(" ") ?? (found ? "" : lab.error);
};

const fillEditor = (box, part, rows) => {
  const told = element("p", { class: "bad", role: "alert" }),
    often = [...rows].sort((a, b) => (b.often || b.written) - (a.often || a.written)).slice(0, MOST_FIELDS);
  const fields = often.map((row) => {
    const id = `e${Math.random().toString(36).slice(2)}`,
      field = makeField(row, id);
    field.addEventListener("change", () => takeOne(part, row, field, told));
    return element("label", { for: id, title: row.sentence }, row.name, field);
  });
  const problems = problemsOf(part).flatMap((one) => [
    element("p", { class: "bad" }, `${one.number + 1}: ${one.what}.`),
    ...(one.fix
      ? [
          element(
            "button",
            { type: "button", onclick: () => lab.do("fork", { change: one.number }) },
            worded("fix", one.fix)
          )
        ]
      : [])
  ]);
  box.replaceChildren(
    element("h4", {}, part.name),
    ...fields,
    told,
    ...problems,
    element("button", { type: "button", onclick: () => panel.show("options", true) }, worded("all_options")),
    element(
      "button",
      { type: "button", onclick: () => lab.do("build", { remove: part.kind, name: part.name }) },
      worded("remove_2")
    )
  );
};

// Places of the form that are compared, px apart, and how many px² of a card a px of way is worth.
const STEP = 16,
  NEARER = 30;
player.on("ready", () =>
  player.panels.slice(0, 1).forEach((p) => {
    const view = viewOf(p.source("stage"));
    if (view == null) return;
    styled(view.shadow_el, EDITOR_STYLE);
    const box = element("div", {
      class: "mq-editor",
      role: "group",
      "aria-label": worded("options_of_the_selected_part"),
      hidden: true
    });
    view.shadow_el.append(box);
    const hasRoom = () => view.el.clientWidth >= PALETTE_WIDE + 2 * EDITOR_WIDE;
    const place = (part) => {
      const corner = cornerOf(p, part),
        at = corner && p.xy(...corner),
        room = view.el.getBoundingClientRect();
      if (!at) return;
      // Where it covers least of the cards, its own part's first of all, and near.
      const w = box.offsetWidth,
        h = box.offsetHeight,
        u = p.unit(),
        cards = [p.data("brokers"), p.data("clients")].flatMap((rows) =>
          rows.x.map((_, i) => {
            const [x, y] = p.xy(rows.x[i], rows.y[i]);
            return { x, y, w: rows.w[i] * u + 12, h: rows.h[i] * u + 12, own: rows.name[i] === part.name };
          })
        );
      const lap = (x, y, one) =>
        Math.max(0, Math.min(x + w, one.x + one.w / 2) - Math.max(x, one.x - one.w / 2)) *
        Math.max(0, Math.min(y + h, one.y + one.h / 2) - Math.max(y, one.y - one.h / 2));
      const cost = (x, y) =>
        cards.reduce((sum, one) => sum + lap(x, y, one) * (one.own ? 20 : 1), 0) +
        NEARER * Math.hypot(x + w / 2 - at[0], y + h / 2 - at[1]);
      let best = { x: PALETTE_WIDE, y: 4, cost: Infinity };
      for (let x = PALETTE_WIDE; x <= Math.max(PALETTE_WIDE, room.width - w - 4); x += STEP)
        for (let y = 4; y <= Math.max(4, room.height - h - 4); y += STEP) {
          const now = cost(x, y);
          if (now < best.cost) best = { x, y, cost: now };
        }
      Object.assign(box.style, { left: `${best.x}px`, top: `${best.y}px` });
    };
    const show = async () => {
      const part = isBuilding() && drawn.part == null ? lab.part() : null,
        number = ++built.asked;
      if (!part || part.kind === "message" || !hasRoom()) {
        box.hidden = true;
        return;
      }
      try {
        const { rows } = await lab.ask("options", { kind: part.kind, name: part.name });
        if (number !== built.asked) return;
        const held = box.contains(view.shadow_el.activeElement)
          ? [...box.querySelectorAll("input, select")].indexOf(view.shadow_el.activeElement)
          : -1;
        edits.clear();
        fillEditor(box, { kind: part.kind, name: part.name }, rows);
        box.hidden = false;
        place(part);
        if (held >= 0) /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("input, select"))[held]?.focus();
      } catch {
        box.hidden = true;
      }
    };
    const look = async () => {
      built.problems = [];
      if (isBuilding())
        try {
          built.problems = (await lab.ask("check")).problems;
        } catch {
          return;
        }
      drawStage(true);
      show();
    };
    player.on("lab", look);
    for (const name of /** @type {const} */ (["select", "part"])) player.on(name, show); // it is in nobody's way while one draws
    player.on("places", () => {
      if (!box.hidden && lab.part()) place(lab.part());
    });
  })
);
