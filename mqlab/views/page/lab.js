// The session behind the picture: what the kernel keeps of it, what was asked, and what was done. Panels and the top
// bar read lab.state and call lab.do(...); player.on("lab") tells them that it has changed, "busy" what is going on.
/** @type {Lab} */
const lab = { state: null, doing: 0, mode: "play", busy: "", error: "", asked: 0 };

// What outlives the document when it is replaced by one with another number of stages.
/** @type {() => Memory} */
const memory = () => (shared.memory ??= {});

const say = (busy, error = "") => {
  Object.assign(lab, { busy, error });
  player.emit("busy", busy, error);
};

// Ask, and say so when it takes long; an answer that comes too late for its question is dropped by its asker.
lab.ask = async (kind, data = {}) => {
  const waiting = setTimeout(() => say(worded("working")), 150);
  try {
    return await player.ask(kind, data);
  } finally {
    clearTimeout(waiting);
    if (lab.busy) say("");
  }
};

// Do something that may show other runs; the moment that was shown stays.
lab.do = async (kind, data = {}) => {
  Object.assign(memory(), {
    ms: kind === "begin" ? null : lab.now(),
    selection: player.selection,
    focused: nameHeld()
  });
  if ("product" in data) delete memory().places?.[lab.state?.own]; // another one begins
  lab.doing += 1; // what is loaded now is told in the answer
  try {
    const found = await lab.ask(kind, data);
    if (found?.errors) return found;
    say("");
    lab.state = found;
    lab.mode = memory().mode = found.beside != null ? "compare" : lab.mode === "compare" ? "play" : lab.mode;
    tellAll();
    return found;
  } catch (error) {
    say("", error.message);
    return null;
  } finally {
    lab.doing -= 1;
  }
};

// What has the focus, inside of all shadows, and what it is called.
const focusedNow = () => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
};
const nameOf = (one) => `${one.tagName} ${one.getAttribute("aria-label") ?? one.textContent}`;
const nameHeld = () => (player.element.matches(":focus-within") ? nameOf(focusedNow()) : null);
const PRESSED = "button:enabled, input:enabled, select:enabled";
/** @returns {Iterable<HTMLElement>} */
function* controlsIn(/** @type {ParentNode} */ root) {
  for (const one of root.querySelectorAll("*")) {
    if (one.shadowRoot) yield* controlsIn(one.shadowRoot);
    else if (one.matches(PRESSED)) yield/** @type {HTMLElement} */ (one);
  }
}

// Who worked here by keyboard stays here, at what is called so again where what was pressed has been drawn anew.
const keepFocus = (name = memory().focused) => {
  if (!name || !player.element?.isConnected || player.element.matches(":focus-within")) return;
  const again = [...controlsIn(player.element.shadowRoot)].find((one) => nameOf(one) === name && one.offsetParent);
  (again ?? player.element).focus({ preventScroll: true });
};

const tellAll = () => {
  memory().focused = nameHeld() ?? memory().focused; // who went on meanwhile stays there
  player.emit("lab", lab.state);
  keepFocus();
};

lab.now = () => player.runTime(player.panels[0], player.t);
lab.part = () => {
  const chosen = player.selection;
  return chosen &&
    lab.state?.parts.some(
      (p) => p.kind === chosen.kind && (p.name === chosen.name || `${p.home}/${p.name}` === chosen.name)
    )
    ? chosen
    : null;
};
lab.setMode = (mode) => {
  if (mode === "compare" && lab.state?.beside == null) {
    lab.do("compare", { number: lab.other() });
    return;
  }
  if (mode !== "compare" && lab.state?.beside != null) {
    lab.mode = mode;
    lab.do("compare").then(() => lab.setMode(mode));
    return;
  }
  lab.mode = memory().mode = mode;
  player.building = mode === "build"; // a drag from broker to broker connects them
  player.emit("lab", lab.state);
};
// The run that a comparison takes if none is named: the one it came from, else the last.
lab.other = () => {
  const { branches, current } = lab.state;
  return branches[current].parent ?? (branches.length > 1 ? branches.length - 1 : null);
};
lab.say = say;

const wake = async () => {
  if (!player.begun || !player.kernel) {
    player.emit("lab", lab.state);
    return;
  }
  const kept = memory();
  lab.mode = kept.mode ?? "play";
  try {
    lab.state = await player.ask("tell");
  } catch {
    return;
  }
  if (!lab.state.parts.length) lab.mode = "build"; // there is nothing to watch
  if (player.panels.length > 1) lab.mode = "compare";
  else if (lab.mode === "compare") lab.mode = "play";
  player.building = lab.mode === "build";
  tellAll();
  memory().focused = null;
};
const goOn = () => {
  const { ms, selection } = memory();
  if (ms != null) player.seek(player.storyTime(ms));
  if (selection != null) player.select(selection);
  Object.assign(memory(), { ms: null, selection: null });
};
// New columns begin at 0; where they are another run of the same session, the moment stays.
player.on("load", () => {
  if (!player.kernel) return;
  queueMicrotask(goOn);
  if (!lab.doing) wake(); // somebody in the notebook has chosen another run
});
player.on("kernel", () => {
  if (player.begun) goOn();
  wake();
});
player.on("ready", () => queueMicrotask(wake));

// What is done to a part is offered where it was asked for, beside the part or below the button.
const MENU_STYLE = `
  :host { position: relative; z-index: 20; }
  .mq-menu { position: absolute; min-width: 210px; max-width: 420px; overflow: auto; padding: 6px;
    background: var(--mq-card); color: var(--mq-ink); border: 1px solid var(--mq-line2); border-radius: 10px;
    box-shadow: 0 6px 24px rgb(0 0 0 / .22); font: 13px/18px var(--mq-font); }
  .mq-menu h4 { margin: 4px 8px 6px; font: 600 11px/16px var(--mq-font); color: var(--mq-ink3); }
  .mq-menu h5 { margin: 6px 8px 2px; padding-top: 6px; border-top: 1px solid var(--mq-line); font: 600 12px/16px var(--mq-font); overflow-wrap: anywhere; }
  .mq-menu h4 + h5 { border: 0; padding: 0; }
  .mq-menu button { display: block; width: 100%; text-align: left; font: inherit; color: inherit; background: none;
    border: 0; border-radius: 6px; padding: 6px 8px; cursor: pointer; }
  .mq-menu button:hover, .mq-menu button:focus-visible { background: var(--mq-active_soft); outline: none; }
  .mq-menu button.bad::before { content: "\\2716"; color: var(--mq-fault); margin-right: 8px; }
  .mq-menu p { margin: 4px 8px; color: var(--mq-ink2); }`;

// What of the window is not cut off around an element (px): by the output of a notebook's cell, for example.
const seenOf = (/** @type {Element} */ from) => {
  let [left, top, right, bottom] = [0, 0, innerWidth, innerHeight];
  const host = (/** @type {Element} */ at) => /** @type {ShadowRoot} */ (at.getRootNode()).host;
  for (let at = from; at && at !== document.body; at = at.parentElement ?? host(at)) {
    if (getComputedStyle(at).overflow === "visible") continue;
    const box = at.getBoundingClientRect();
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  }
  return { left, top, right, bottom };
};

const openMenu = (at, title, items, from) => {
  lab.menu?.remove();
  const place = player.place("top");
  const close = (back) => {
    menu.remove();
    lab.menu = null;
    document.removeEventListener("pointerdown", outside, true);
    if (back) (from ?? player.element).focus();
  };
  const outside = (event) => {
    if (!event.composedPath().includes(menu)) close(false);
  };
  const buttons = items.map((item) =>
    element(
      "button",
      {
        type: "button",
        role: "menuitem",
        class: item.bad ? "bad" : "",
        onclick: () => {
          close(true);
          item.act();
        }
      },
      item.text
    )
  );
  const menu = element(
    "div",
    {
      class: "mq-menu",
      role: "menu",
      "aria-label": title,
      onkeydown: (event) => {
        const number = buttons.indexOf(place.activeElement),
          step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") close(true);
        else if (step) buttons[(number + step + buttons.length) % buttons.length]?.focus();
        else if (event.key === "Tab") {
          close(true);
          return;
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }
    },
    element("h4", { role: "none" }, title),
    ...(buttons.length
      ? buttons.flatMap((one, i) => {
          const { of } = items[i];
          return of && of !== items[i - 1]?.of ? [element("h5", { role: "none" }, of), one] : [one];
        })
      : [element("p", { role: "menuitem", "aria-disabled": "true" }, worded("no_action_is_available_for_it"))])
  );
  place.append(menu);
  const base = place.host.getBoundingClientRect(),
    seen = seenOf(place.host);
  menu.style.maxHeight = `min(460px, 70vh, ${seen.bottom - seen.top - 12}px)`;
  const room = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(seen.left + 4, Math.min(at.x, seen.right - room.width - 8)) - base.left}px`;
  menu.style.top = `${Math.max(seen.top + 4, Math.min(at.y, seen.bottom - room.height - 8)) - base.top}px`;
  document.addEventListener("pointerdown", outside, true);
  lab.menu = menu;
  buttons[0]?.focus();
};

const middleOf = () => {
  const box = player.element.getBoundingClientRect();
  return { x: box.left + box.width / 3, y: Math.max(20, box.top + 90) };
};
lab.breakIt = async (at = middleOf(), from = null) => {
  if (!player.kernel) {
    say("", worded("injecting_faults_needs_a_running_kernel"));
    return;
  }
  player.setPlaying(false); // the moment of the question is the moment of the fork
  const part = lab.part() ?? { kind: "", name: "" },
    ms = lab.now();
  try {
    const { deeds } = await lab.ask("deeds", { kind: part.kind, name: part.name, ms });
    const items = deeds.map((deed) => ({
      text: deed.text,
      of: deed.of,
      bad: /crash|cut|kill/i.test(deed.text),
      act: () => lab.do("break", { step: deed.step, text: deed.text, ms })
    }));
    if (part.kind === "consumer") {
      const behind = deeds.filter((deed) => deed.of === part.name).length; // what was chosen is first
      items.splice(behind, 0, {
        text: worded("slow_down_option_delay", part.name),
        of: part.name,
        bad: false,
        act: () => panel.show("options", true)
      });
    }
    openMenu(at, `${worded("inject_fault")} ${worded("at", timeText(ms))}`, items, from);
  } catch (error) {
    say("", error.message);
  }
};
player.on("break", (at) => lab.breakIt(at?.x == null ? undefined : at));
player.on("fork", (at) => lab.breakIt(at?.x == null ? undefined : at)); // a fork is a run in which something else is done
player.on("ready", () => styled(player.place("top"), MENU_STYLE));
