// The right side: one question a tab. A tab adds itself with addTab; what it shows is made when it is looked at.
const PANEL_STYLE = `
  :host { position: relative; min-height: 260px; }
  .mq-panel { position: absolute; inset: 0; display: flex; flex-direction: column; background: var(--mq-bg);
    color: var(--mq-ink); font: 13px/19px var(--mq-font); border-left: 1px solid var(--mq-line); }
  .mq-tabs { display: flex; padding: 0 4px; border-bottom: 1px solid var(--mq-line); flex: none; flex-wrap: wrap; }
  .mq-tabs button { font: 600 12px/20px var(--mq-font); color: var(--mq-ink2); background: none; border: 0; white-space: nowrap;
    border-bottom: 3px solid transparent; padding: 9px 3px 7px; cursor: pointer; }
  .mq-tabs button[aria-selected=true] { color: var(--mq-ink); border-color: var(--mq-active); }
  .mq-tabs .count { margin-left: 5px; padding: 0 6px; border-radius: 8px; background: var(--mq-fault); color: var(--mq-bg); font-size: 11px; }
  .mq-body { flex: 1; min-height: 0; overflow: auto; padding: 12px 14px; }
  .mq-body.flush { padding: 0; overflow: hidden; }
  .mq-body h3 { font: 600 15px/21px var(--mq-font); margin: 0 0 4px; overflow-wrap: anywhere; }
  .mq-body h4 { font: 600 12px/18px var(--mq-font); color: var(--mq-ink2); margin: 14px 0 4px; }
  .mq-body button + h3 { margin-top: 10px; }
  .mq-body p { margin: 0 0 8px; }
  .mq-body p, .mq-body li { overflow-wrap: anywhere; }
  .mq-body .dim { color: var(--mq-ink2); }
  .mq-body .bad { color: var(--mq-fault); }
  button.plain, button.main, .mq-body select, .mq-body input { font: inherit; border-radius: 7px; padding: 4px 10px; }
  button.plain { color: var(--mq-ink); background: var(--mq-card); border: 1px solid var(--mq-line2); cursor: pointer; }
  button.plain:hover { background: var(--mq-active_soft); }
  button.main { color: var(--mq-on_active); background: var(--mq-active); border: 1px solid var(--mq-active); font-weight: 600; cursor: pointer; }
  button:disabled { opacity: .55; cursor: default; }
  .mq-body input, .mq-body select { color: var(--mq-ink); background: var(--mq-card); border: 1px solid var(--mq-line2); max-width: 100%; box-sizing: border-box; }
  :focus-visible { outline: 2px solid var(--mq-active); outline-offset: 1px; }
  .chips { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0; }
  .chip { display: inline-block; padding: 0 7px; border-radius: 4px; font: 11px/18px var(--mq-font); background: var(--mq-sunken); color: var(--mq-ink2); }
  .chip.rule { background: var(--mq-active_soft); color: var(--mq-active_t); font-weight: 600; }
  .chip.delta { background: var(--mq-card); color: var(--mq-ink); border: 1.5px solid var(--mq-ink); font-weight: 700; }
  .chip.error { background: var(--mq-fault_soft); color: var(--mq-fault); font-weight: 600; }
  .mq-body ul { margin: 4px 0 8px; padding-left: 18px; }
  ol.steps { list-style: none; margin: 8px 0; padding: 0; }
  ol.steps button { display: grid; grid-template-columns: 64px 14px 1fr; gap: 6px; width: 100%; text-align: left; font: inherit;
    color: inherit; background: none; border: 0; border-radius: 6px; padding: 4px 2px; cursor: pointer; }
  ol.steps button:hover { background: var(--mq-sunken); }
  ol.steps button.now { background: var(--mq-active_soft); }
  ol.steps .ms { text-align: right; color: var(--mq-ink2); font-variant-numeric: tabular-nums; }
  ol.steps .dot { width: 9px; height: 9px; margin-top: 4px; border-radius: 50%; border: 2px solid var(--mq-ink2); background: var(--mq-bg); box-sizing: content-box; }
  ol.steps .now .dot { background: var(--mq-active); border-color: var(--mq-active); }
  ol.steps .later { color: var(--mq-ink2); } ol.steps .later .dot { border-style: dotted; }
  .card { border: 1.5px solid var(--mq-line2); border-radius: 10px; padding: 10px 12px; margin: 10px 0; background: var(--mq-card); }
  .card.strong { border-color: var(--mq-ink); }
  .mq-status { flex: none; padding: 5px 14px; color: var(--mq-ink2); border-top: 1px solid var(--mq-line); min-height: 19px; }
  .mq-status.bad { color: var(--mq-fault); }`;

const tabs = [];
const addTab = (tab) => tabs.push(tab);
const panel = { active: null };

// Nothing at all, or a sentence why there is nothing.
const sentence = (text, kind = "dim") => element("p", { class: kind }, text);
const needsKernel = () =>
  sentence(
    memory().lost ? worded("the_kernel_was_restarted_playback_still") : worded("this_needs_a_running_kernel_in")
  );

// What is typed in is drawn anew, and the focus stays at what is called so.
const fillTab = (tab) => {
  const held = nameHeld();
  tab?.show?.(tab.body);
  if (held) keepFocus(held);
};
panel.show = (id, focus = false) => {
  const tab = tabs.find((one) => one.id === id && !one.button.hidden) ?? tabs.find((one) => !one.button.hidden);
  panel.active = memory().tab = tab.id;
  for (const one of tabs) {
    one.button.setAttribute("aria-selected", one === tab);
    one.button.tabIndex = one === tab ? 0 : -1;
    one.body.hidden = one !== tab;
  }
  fillTab(tab);
  if (focus) tab.button.focus();
};
panel.refresh = () => fillTab(tabs.find((one) => one.id === panel.active));
panel.hide = (id, hidden) => {
  const tab = tabs.find((one) => one.id === id);
  if (tab.button.hidden === hidden) return;
  tab.button.hidden = hidden;
  if (hidden && panel.active === id) panel.show("why");
};

player.on("ready", () => {
  const place = player.place("panel");
  styled(place, PANEL_STYLE);
  const list = element("div", {
    class: "mq-tabs",
    role: "tablist",
    "aria-label": worded("questions"),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
        seen = tabs.filter((one) => !one.button.hidden);
      if (!step) return;
      const number = seen.findIndex((one) => one.id === panel.active);
      panel.show(seen[(number + step + seen.length) % seen.length].id, true);
      event.preventDefault();
      event.stopPropagation();
    }
  });
  const status = element("div", { class: "mq-status", role: "status" });
  const box = element("div", { class: "mq-panel" }, list);
  for (const tab of tabs) {
    const own = Math.random().toString(36).slice(2);
    tab.badge = element("span", { class: "count", hidden: true });
    tab.button = element(
      "button",
      { type: "button", role: "tab", id: `t${own}`, "aria-controls": `p${own}`, onclick: () => panel.show(tab.id) },
      tab.title,
      tab.badge
    );
    tab.button.hidden = tab.hidden ?? false;
    tab.body = element("div", {
      class: tab.flush ? "mq-body flush" : "mq-body",
      role: "tabpanel",
      id: `p${own}`,
      "aria-labelledby": `t${own}`
    });
    tab.make?.(tab.body, place);
    list.append(tab.button);
    box.append(tab.body);
  }
  place.append(box);
  box.append(status);
  status.hidden = true;
  player.on("busy", (busy, error) => {
    status.textContent = error || busy;
    status.hidden = !(error || busy);
    status.classList.toggle("bad", Boolean(error));
  });
  panel.show("why");
  player.on("lab", (state) => {
    const check = tabs.find((one) => one.id === "check"),
      count = state?.problems ?? 0;
    check.badge.textContent = count;
    check.badge.hidden = !count;
    panel.hide("compare", lab.mode !== "compare");
    panel.hide("build", lab.mode !== "build");
    if (lab.mode !== panel.mode) {
      panel.mode = lab.mode;
      panel.show({ compare: "compare", build: "build" }[lab.mode] ?? memory().tab ?? "why");
    } else panel.refresh();
  });
  player.on("select", () => {
    if (!["events", "counters", "options"].includes(panel.active)) panel.show(lab.mode === "build" ? "build" : "why");
    else panel.refresh();
  });
  player.on("load", () => panel.refresh());
});
