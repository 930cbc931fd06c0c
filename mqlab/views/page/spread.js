// How else the run may end: a hundred seeds under a little jitter, played a few at a time; a click opens one of them.
const SPREAD_STYLE = `
  .spread button.row { display: grid; grid-template-columns: 44px 1fr; gap: 10px; align-items: center; width: 100%; text-align: left; padding: 4px 8px; margin-bottom: 4px; }
  .spread .share { font-variant-numeric: tabular-nums; font-weight: 700; text-align: right; }
  .spread .bar { height: 4px; border-radius: 2px; background: var(--mq-active); margin-top: 3px; }
  .spread progress { width: 100%; height: 8px; accent-color: var(--mq-active); }`;

const MOST_ENDS = 12;

// What is known of the run that is shown: its ends, and how far the seeds have got.
const spread = { key: "", ends: new Map(), next: 0, of: 0, going: false };

const spreadKey = () => JSON.stringify([lab.state?.current, lab.state?.undo, lab.state?.branches.length]);
const playSpread = async (show) => {
  const key = spreadKey();
  Object.assign(spread, { key, ends: new Map(), next: 0, of: 0, going: true });
  do {
    show();
    const answer = await player.ask("spread", { first: spread.next });
    if (!spread.going || key !== spread.key) return;
    for (const { seed, text } of answer.found) {
      const end = part(spread.ends, text, () => ({ count: 0, seed }));
      end.count += 1;
    }
    Object.assign(spread, { next: answer.next, of: answer.of });
  } while (spread.next < spread.of);
  spread.going = false;
  show();
};

const spreadRow = ([text, { count, seed }]) => {
  const bar = element("div", { class: "bar" });
  bar.style.width = `${(100 * count) / spread.next}%`;
  return element(
    "button",
    {
      type: "button",
      class: "plain row",
      disabled: text === "",
      onclick: () => lab.do("seed", { seed, beside: true })
    },
    element("span", { class: "share" }, String(count)),
    element("span", {}, text || worded("as_in_this_run"), bar)
  );
};

/** @param {HTMLElement} body */
const tellSpread = (body) => {
  const box = element("div", { class: "spread" });
  const start = () =>
    playSpread(show).catch((error) => {
      spread.going = false;
      show();
      box.append(sentence(error.message, "bad"));
    });
  const show = () => {
    const known = spread.key === spreadKey() && (spread.next > 0 || spread.going),
      rows = [...spread.ends].sort((a, b) => b[1].count - a[1].count);
    box.replaceChildren(element("h4", {}, worded("how_else_may_it_end")));
    if (!known) {
      box.append(element("button", { type: "button", class: "plain", onclick: start }, worded("try_100_seeds")));
      return;
    }
    box.append(
      element(
        "p",
        { class: "dim", role: "status" },
        `${worded("seeds_played", spread.next)}, ${worded("outcomes", rows.length)}`
      )
    );
    if (spread.going) {
      const cancel = () => {
        spread.going = false;
        show();
      };
      box.append(
        element("progress", { value: spread.next, max: spread.of || 100, "aria-label": worded("how_else_may_it_end") }),
        element("button", { type: "button", class: "plain", onclick: cancel }, worded("cancel"))
      );
    }
    box.append(...rows.slice(0, MOST_ENDS).map(spreadRow));
    if (rows.length > MOST_ENDS)
      box.append(element("p", { class: "dim" }, worded("and_more_outcomes", rows.length - MOST_ENDS)));
  };
  show();
  body.append(box);
};
