// The buttons: real ones, each with its name and its key.
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const TRANSPORT_STYLE = `
  .transport { display: flex; gap: 6px; align-items: center; padding: 5px 14px; min-height: 40px; flex-wrap: wrap; }
  .transport .gap { flex: 1; min-width: 0; }
  .transport .clock { font-size: 17px; font-weight: 700; min-width: 96px; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
  .transport .of { font-size: 12.5px; color: var(--mq-ink3); white-space: nowrap; font-variant-numeric: tabular-nums; }
  .transport .bar { width: 1px; height: 22px; background: var(--mq-line); margin: 0 4px; }
  .foot .transport .play { background: var(--mq-active); border-color: var(--mq-active); color: var(--mq-on_active); min-width: 92px; justify-content: center; }
  .foot .transport .play kbd { background: none; color: inherit; border-color: currentColor; }
  .foot .transport select { max-width: 190px; text-overflow: ellipsis; }
  .foot button span:empty { display: none; }
  .foot.tight .transport { gap: 4px; } .foot.tight .transport .play { min-width: 60px; } .foot.tight .transport .kinds { max-width: 92px; }
  .foot.tight .transport .tracks-of { max-width: 138px; } .foot.tight .transport .clock { min-width: 72px; } .foot.tight .transport .bar { margin: 0 1px; }
  .foot.narrow .transport { gap: 4px; }
  .foot.narrow .transport select { max-width: 112px; } .foot.narrow .transport .tracks-of { max-width: 138px; } .foot.narrow .transport .kinds { max-width: 92px; }
  .foot.narrow .transport .play { min-width: 60px; } .foot.narrow .transport .bar { margin: 0 1px; }
  .foot.one-row .transport { flex-wrap: nowrap; } .foot.one-row .transport > * { flex-shrink: 0; } .foot.one-row .transport select { min-width: 0; flex-shrink: 1; }
  .foot.one-row .transport.natural select { flex-shrink: 0; }
  .foot.spare.one-row .transport { padding-inline: 8px; gap: 3px; } .foot.spare.one-row .transport button { padding-inline: 6px; }
  .foot.spare.one-row .transport .play { min-width: 46px; } .foot.spare.one-row .transport .clock { min-width: 62px; margin-inline: 3px; }
  .foot.foot .transport select.speed { max-width: none; flex-shrink: 0; }`; // a speed without its end is another one

const button = (name, symbol, key, press, attributes = {}) =>
  element(
    "button",
    {
      type: "button",
      "aria-label": name,
      title: key ? `${name} (${key})` : name,
      "aria-keyshortcuts": key,
      onclick: press,
      ...attributes
    },
    ...(symbol ? [icon(symbol)] : []),
    ...(attributes.words ? [element("span", { class: "wide-only" }, attributes.words)] : []),
    ...(key
      ? [element("kbd", { "aria-hidden": "true", "data-key": { ArrowLeft: "←", ArrowRight: "→" }[key] ?? key })]
      : [])
  );

// "1 ms in 0.35 s": what a beat of this run is, at each speed.
const speedText = (speed) => {
  const { beat = [0.35], unit = [1] } = player.panels[0].data("meta"),
    seconds = beat[0] / speed;
  return worded(
    "in_s",
    unit[0] >= 1000 ? `${unit[0] / 1000} s` : `${Number(unit[0].toPrecision(2))} ms`,
    Number(seconds.toPrecision(2))
  );
};

// A kind of event in plain words.
const kindWord = (kind) => kind.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
const next = { kind: "chapter" };
const nextOfAKind = (direction, kind = next.kind) => {
  const events = player.panels[0].data("events"),
    n = events.play.length;
  for (let row = player.row + direction; row >= 0 && row < n; row += direction) {
    if (kind === "chapter" ? events.chapter[row] : events.kind[row] === kind) {
      player.goTo(row);
      return;
    }
  }
};

player.on("ready", () => {
  styled(player.place("foot"), TRANSPORT_STYLE);
  const symbol = element("span", { style: "display:contents" }, icon("play"));
  const play = element(
    "button",
    {
      type: "button",
      class: "play",
      "aria-label": worded("play"),
      "aria-pressed": "false",
      "aria-keyshortcuts": "Space",
      title: worded("play_pause_space"),
      onclick: () => player.setPlaying(!player.playing)
    },
    symbol,
    element("kbd", { "aria-hidden": "true", "data-key": "Space" })
  );
  const clockNow = element("span", { class: "clock" }),
    of = element("span", { class: "of" });
  const kinds = element("select", {
    class: "kinds",
    "aria-label": worded("kind_of_the_next_event"),
    onchange: () => {
      next.kind = kinds.value;
    }
  });
  const speed = element("select", {
    class: "speed",
    "aria-label": worded("speed"),
    onchange: () => {
      clock.speed = Number(speed.value);
    }
  });
  const lab = [
    button(worded("fork_here_2"), "fork", "F", () => player.emit("fork"), { words: worded("fork") }),
    button(worded("inject_fault"), "bolt", "X", () => player.emit("break"), { words: worded("inject_fault") })
  ];
  const bar = element(
    "div",
    { class: "transport", role: "toolbar", "aria-label": worded("playing") },
    button(worded("go_to_start"), "start", "Home", () => player.seek(0)),
    button(worded("previous_event"), "back", "ArrowLeft", () => stepTo(-1)),
    play,
    button(worded("next_event"), "on", "ArrowRight", () => stepTo(1)),
    button(worded("next_event_of_this_kind"), "next", "N", () => nextOfAKind(1)),
    kinds,
    clockNow,
    of,
    element("span", { class: "bar" }),
    speed,
    loopButton(),
    breakButton(),
    ...lab,
    element("span", { class: "gap" }),
    tracksChooser(),
    element(
      "button",
      {
        type: "button",
        class: "help-button",
        "aria-label": worded("keys"),
        "aria-keyshortcuts": "?",
        title: worded("keys_2"),
        onclick: () => toggleHelp()
      },
      "?"
    )
  );
  foot.append(bar);
  const setKernel = () =>
    lab.forEach((one) => {
      one.hidden = !player.kernel;
      one.style.display = player.kernel ? "" : "none";
    });
  setKernel();
  player.on("kernel", setKernel);
  player.on("load", () => {
    const found = [...new Set(player.panels[0].data("events").kind)].filter(Boolean);
    next.kind = "chapter";
    kinds.replaceChildren(...["chapter", ...found].map((kind) => element("option", { value: kind }, kindWord(kind))));
    speed.replaceChildren(
      ...SPEEDS.map((s) => element("option", { value: s, selected: s === clock.speed }, speedText(s)))
    );
    of.textContent = `/ ${roughTime(Math.max(...player.panels.map((p) => player.runTime(p, player.duration))))}`;
  });
  player.on("play", (on) => {
    play.setAttribute("aria-pressed", String(on));
    symbol.replaceChildren(icon(on ? "pause" : "play"));
  });
  player.on("speed", (direction) => {
    const at = Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(clock.speed) + direction));
    clock.speed = SPEEDS[at];
    speed.selectedIndex = at;
  });
  seldom(() => setText(clockNow, nowText()));
});
