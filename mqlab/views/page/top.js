// The bar above the stage: what is run, what was changed and the way back, Watch, Build, Compare, take away.
const TOP_STYLE = `
  .mq-top { display: flex; align-items: center; gap: 8px 10px; flex-wrap: wrap; min-height: 42px; padding: 4px 10px; box-sizing: border-box;
    color: var(--mq-ink); background: var(--mq-bg); border-bottom: 1px solid var(--mq-line); font: 13px/20px var(--mq-font); }
  .mq-top .id { font: 600 12px/20px ui-monospace, Menlo, Consolas, monospace; background: var(--mq-sunken); border-radius: 5px; padding: 2px 8px; color: var(--mq-ink2); }
  .mq-top .title { font-weight: 700; font-size: 15px; min-width: 8ch; }
  .mq-top .undone { font-size: 12px; font-weight: 700; padding: 1px 6px; border: 1.5px dashed var(--mq-ink); border-radius: 5px; }
  .mq-undone { margin: 0; padding: 6px 14px 8px 30px; color: var(--mq-ink); background: var(--mq-bg); border-bottom: 1px solid var(--mq-line); font: 13px/20px var(--mq-font); }
  .mq-top.one-row { flex-wrap: nowrap; } .mq-top.one-row > * { flex: none; white-space: nowrap; } .mq-top.one-row > .title { flex: 0 1 auto; overflow: hidden; text-overflow: ellipsis; } .mq-top.one-row > .grow { flex: 1 1 0; }
  .mq-top .edition { color: var(--mq-ink2); font-size: 12px; }
  .mq-top .grow { flex: 1; }
  .mq-top button { font: inherit; color: inherit; background: var(--mq-card); border: 1px solid var(--mq-line2); border-radius: 8px; padding: 4px 10px; cursor: pointer; }
  .mq-top button:disabled { opacity: .5; cursor: default; }
  .mq-top .delta { border: 1.5px solid var(--mq-ink); font-weight: 700; padding: 2px 8px; }
  .mq-top .modes { display: flex; border: 1px solid var(--mq-line2); border-radius: 9px; overflow: hidden; }
  .mq-top .modes button { border: 0; border-radius: 0; font-weight: 600; }
  .mq-top .modes button[aria-pressed=true] { background: var(--mq-ink); color: var(--mq-bg); }
  .mq-top :focus-visible { outline: 2px solid var(--mq-active); outline-offset: 1px; }
  .mq-top .modes :focus-visible { outline-offset: -3px; }`;

// A long name keeps its ends, which tell it from others.
const short = (text, most = 60) =>
  text.length <= most ? text : `${text.slice(0, most / 2)}\u2026${text.slice(-most / 2)}`;

const saveAs = (name, href) => element("a", { download: name, href }).click();
const fileName = () =>
  (
    lab.state?.name ||
    (player.panels.length > 1 ? runNames().join(" ") : player.panels[0].data("meta").title?.[0]) ||
    "mqlab"
  )
    .replace(/[^\w.-]+/g, "-")
    .slice(0, 60);
const savePicture = () => {
  const boxes = player.panels.map((p) => viewOf(p.source("stage"))).filter(Boolean);
  const found = boxes
    .map((view) => view.canvas_view.compose().canvas ?? view.export?.("png", true)?.canvas)
    .filter(Boolean);
  if (!found.length) {
    lab.say("", worded("this_browser_cannot_export_the_stage"));
    return;
  }
  const ratio = devicePixelRatio || 1,
    names = player.panels.length > 1 ? runNames() : [], // of several runs each says which it is
    top = names.length ? HEADING_HIGH * ratio : 0;
  const all = element("canvas", {
    width: found.reduce((sum, one) => sum + one.width, 0),
    height: top + Math.max(...found.map((one) => one.height))
  });
  const paper = all.getContext("2d");
  paper.fillStyle = player.colour("stage");
  paper.fillRect(0, 0, all.width, all.height);
  let x = 0;
  found.forEach((one, i) => {
    paper.drawImage(one, x, top);
    if (top) {
      const look = { token: "ink", size: 13 * ratio, weight: 600 };
      write(paper, shortened(paper, `${i + 1}  ${names[i]}`, one.width), x + 10 * ratio, top / 2, look);
    }
    x += one.width;
  });
  saveAs(`${fileName()}.png`, all.toDataURL("image/png"));
};
const saveText = (name, text, type) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveAs(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
// A page that is taken away shows the parts where they were put here.
const withOwnPlaces = (page) => {
  const told = JSON.stringify(ownPlaces.all).replace(/</g, "\\u003c");
  return told === "{}"
    ? page
    : page.replace("<head>", () => `<head><script>globalThis.mqlabPlaces = ${told};</script>`);
};
// A kernel writes it; pages that have several pictures know how to put one into a page of its own.
const savePage = async () => {
  try {
    const page = globalThis.mqlabPage ? await globalThis.mqlabPage(doc) : (await lab.ask("page")).page;
    saveText(`${fileName()}.html`, withOwnPlaces(page), "text/html");
  } catch (error) {
    lab.say("", error.message);
  }
};
const saveKinds = () => [
  { text: worded("image_of_this_moment_png"), act: savePicture },
  {
    text: worded("picture_of_this_moment_svg"),
    act: () => saveText(`${fileName()}.svg`, player.svg(), "image/svg+xml")
  },
  ...(player.kernel || globalThis.mqlabPage ? [{ text: worded("standalone_player_page_html"), act: savePage }] : []),
  ...(player.kernel
    ? [
        {
          text: "Python",
          act: async () => saveText(`${fileName()}.py`, (await lab.ask("code")).python, "text/x-python")
        },
        ...[
          ["mermaid", worded("sequence_diagram_mermaid"), "mmd"],
          ["dot", worded("network_dot"), "dot"],
          ["timeline", worded("timeline_for_perfetto_json"), "trace.json"]
        ].map(([form, name, end]) => ({
          text: name,
          act: async () => {
            try {
              saveText(`${fileName()}.${end}`, (await lab.ask("take", { form })).text, "text/plain");
            } catch (error) {
              lab.say("", error.message);
            }
          }
        })),
        {
          text: worded("lab_file_json"),
          act: async () => saveText(`${fileName()}.json`, (await lab.ask("code")).lab, "application/json")
        }
      ]
    : [])
];

const showChanges = (event) =>
  openMenu(
    below(event),
    lab.state.changes.map((text) => `\u0394 ${text}`).join(" \u00b7 "),
    [
      { text: worded("back_to_the_original_run"), act: () => lab.do("show", { number: 0 }) },
      ...(lab.state.current
        ? [{ text: worded("compare_with_the_original_run"), act: () => lab.do("compare", { number: 0 }) }]
        : [])
    ],
    event.currentTarget
  );

const menuButton = (name, text, kinds, title) =>
  element(
    "button",
    {
      type: "button",
      "data-name": name,
      "aria-haspopup": "menu",
      onclick: (event) => openMenu(below(event), title, kinds(), event.currentTarget)
    },
    text
  );

player.on("ready", () => {
  const place = player.place("top");
  styled(place, TOP_STYLE);
  const bar = element("div", { class: "mq-top" }),
    list = element("ul", { class: "mq-undone", hidden: true }); // what was asked and not done, in words
  place.append(bar, list);
  const modes = [
    ["play", worded("watch")],
    ["build", worded("build")],
    ["compare", worded("compare")]
  ];
  const show = () => {
    const state = player.kernel ? lab.state : null,
      title = state?.title ?? player.panels[0].data("meta").title?.[0] ?? "";
    const held = /** @type {HTMLElement} */ (place.activeElement)?.dataset?.name;
    const parts = [];
    const about = player.panels[0].data("about"),
      id = state?.name || about.guide?.[0];
    if (id) parts.push(element("span", { class: "id" }, short(id, 30)));
    parts.push(element("span", { class: "title", title }, short(title, 70)));
    const undone = player.panels[0].data("meta").undone?.[0],
      lines = undone && player.panels[0].data("brokers").node.length ? undone.split("\n") : []; // an empty stage says so itself
    list.replaceChildren(...lines.map((line) => element("li", {}, line)));
    list.hidden = list.hidden || !lines.length;
    if (lines.length)
      parts.push(
        element(
          "button",
          {
            type: "button",
            class: "undone",
            "data-name": "undone",
            title: undone,
            "aria-expanded": `${!list.hidden}`,
            onclick: (event) => {
              list.hidden = !list.hidden;
              event.currentTarget.setAttribute("aria-expanded", `${!list.hidden}`);
            }
          },
          about.part?.[0] ? worded("not_known", lines.length) : worded("not_done", lines.length)
        )
      );
    if (state?.changes.length)
      parts.push(
        element(
          "button",
          { type: "button", class: "delta", "data-name": "delta", "aria-haspopup": "menu", onclick: showChanges },
          worded("change_changes", state.changes.length)
        )
      );
    parts.push(element("span", { class: "grow" }));
    if (state) {
      parts.push(
        element(
          "div",
          { class: "modes", role: "group", "aria-label": worded("mode") },
          ...modes.map(([mode, name]) =>
            element(
              "button",
              {
                type: "button",
                "data-name": mode,
                "aria-pressed": `${lab.mode === mode}`,
                disabled: mode === "compare" && lab.mode !== "compare" && lab.other() == null,
                title: mode === "compare" && lab.other() == null ? worded("compare_needs_two_runs_fork_this") : null,
                onclick: () => lab.setMode(mode)
              },
              name
            )
          )
        )
      );
      parts.push(
        element(
          "button",
          { type: "button", "data-name": "undo", disabled: !state.undo, onclick: () => lab.do("undo") },
          worded("undo")
        )
      );
      parts.push(
        element(
          "button",
          { type: "button", "data-name": "redo", disabled: !state.redo, onclick: () => lab.do("redo") },
          worded("redo")
        )
      );
    }
    if (about.product?.[0]) parts.push(element("span", { class: "edition" }, about.product[0]));
    if (state) parts.push(menuButton("open", worded("open"), openKinds, worded("open")));
    parts.push(menuButton("save", worded("save"), saveKinds, worded("export")));
    bar.replaceChildren(...parts);
    if (held) /** @type {HTMLElement} */ (bar.querySelector(`[data-name=${held}]`))?.focus(); // who pressed it may press it again
  };
  player.on("lab", show);
  player.on("load", show);
});
const PRODUCTS = { activemq: "ActiveMQ", openmq: "OpenMQ", artemis: "Artemis" };

// Keys and buttons below the stage ask for these.
player.on("tab", (id) => panel.show(id, true));
player.on("undo", () => {
  if (lab.state?.undo) lab.do("undo");
});
player.on("redo", () => {
  if (lab.state?.redo) lab.do("redo");
});
player.on("difference", () => nextDifference());
