// The key, with the signs that occur in this run, and the caption: one sentence that says what happens now and why.
// It is spoken while the player stands still; while it plays it stays long enough to be read.
const CAPTION_STYLE = `
  .key { display: flex; gap: 4px 18px; flex-wrap: wrap; padding: 3px 14px; font-size: 12px; color: var(--mq-ink2); min-height: 26px;
    align-items: center; background: var(--mq-stage); }
  .key span { display: inline-flex; align-items: center; gap: 6px; max-width: 260px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
  .caption { display: flex; gap: 14px; align-items: center; padding: 4px 14px; min-height: 32px; border-top: 1px solid var(--mq-line);
    border-bottom: 1px solid var(--mq-line); font-size: 14px; }
  .caption .now { font-weight: 700; white-space: nowrap; font-variant-numeric: tabular-nums; }
  .caption .said { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; display: -webkit-box; -webkit-line-clamp: 1; -webkit-box-orient: vertical; }
  .foot.narrow .said { -webkit-line-clamp: 2; }`;
const READ = 650; // ms that a sentence stays while it plays, unless a chapter begins
const MOVING_KINDS = new Set(["Sent", "Forwarded", "Dispatched", "Received"]);

// Of the rows of one moment the one that tells most: a chapter, then what moves, then the first.
const tellingRow = (row) => {
  const { play, chapter, kind } = player.panels[0].data("events");
  let first = row,
    best = row;
  while (first > 0 && play[first - 1] === play[row] && row - first < 200) first--;
  for (let i = row; i >= first; i--) if (MOVING_KINDS.has(kind[i])) best = i;
  for (let i = row; i >= first; i--) if (chapter[i]) best = i;
  return best;
};

const foldAt = (t) => {
  const { x0 = [], x1 = [], told = [] } = player.panels[0].data("folds"),
    i = after(x0, t) - 1;
  return i >= 0 && t > x0[i] && t < x1[i] - 1e-6 ? told[i] : null;
};

const captionNow = () => {
  const folded = player.exact ? null : foldAt(player.t);
  if (folded) return { text: `${folded[0].toUpperCase()}${folded.slice(1)}.`, source: "" };
  if (player.row < 0) return { text: worded("no_events_yet"), source: "" };
  const row = player.exact ? player.row : tellingRow(player.row);
  const { rule, chapter, what } = player.panels[0].data("events"),
    { sentence, source } = player.panels[0].data("rules");
  const why = sentence[rule[row]];
  const text = why ? `${what[row].slice(0, -1)}: ${why}.` : what[row];
  return { text, source: source[rule[row]] ?? "", chapter: chapter[row] };
};

player.on("ready", () => {
  styled(player.place("foot"), CAPTION_STYLE);
  const key = element("div", { class: "key", role: "list", "aria-label": worded("legend") });
  const now = element("span", { class: "now" }),
    said = element("span", { class: "said" });
  const source = element("span", { class: "chip wide-only" }),
    many = element("span", { class: "chip" });
  const caption = element("div", { class: "caption", "aria-live": "polite" }, now, said, many, source);
  foot.append(key, caption);
  let since = -READ,
    timer = 0;
  const tell = () => {
    setText(now, nowText());
    const told = captionNow(),
      wait = since + READ - performance.now();
    if (player.playing && wait > 0 && !told.chapter) return;
    const under = player.panels[0].under;
    setText(
      many,
      under?.k > 1 ? worded("messages_in_transit_drawn_as_marks", under.total.toLocaleString("en"), under.marks) : ""
    );
    many.hidden = !many.textContent;
    source.hidden = !told.source;
    if (said.textContent === told.text) return;
    since = performance.now();
    said.textContent = said.title = told.text;
    source.textContent = told.source;
  };
  seldom(tell);
  player.on("play", (on) => {
    clearTimeout(timer);
    caption.setAttribute("aria-live", on ? "off" : "polite");
    if (!on)
      timer = setTimeout(() => {
        since = -READ;
        tell();
      }, 50);
  });
  signPlaces.push(key);
  player.on("load", drawSigns);
  player.on("theme", drawSigns);
});

const signPlaces = []; // the key below the stage, and the one in the help
const SIGN_WORDS = {
  ack: "acknowledgement",
  subscription: worded("consumer_advisory"),
  attempt: worded("connection_attempt"),
  vote: "vote"
};
/** @param {Panel} p */
const signsOf = (p) => {
  const used = [...new Set(p.flights.look)].sort((a, b) => a - b),
    flags = new Set(p.flights.flags ?? []),
    names = p.data("destinations").name ?? [];
  /** @type {[look: number, bits: number, text: string][]} */
  const items = used
    .slice(0, 9)
    .map((look) => [look, 0, p.looks.name?.[look] ?? SIGN_WORDS[p.looks.kind[look]] ?? names[look] ?? "message"]);
  const message = used.find((look) => !SIGNS[p.looks.kind[look]]);
  for (const [bit, word] of /** @type {[number, string][]} */ ([
    [NON_PERSISTENT, "non-persistent"],
    [REDELIVERED, "redelivered"],
    [DUPLICATE, "duplicate"]
  ])) {
    if (message !== undefined && [...flags].some((f) => f & bit)) items.push([message, bit, word]);
  }
  return items;
};
const drawSigns = () => {
  const p = player.panels[0],
    ratio = devicePixelRatio || 1;
  if (p.flights == null) return;
  for (const place of signPlaces) {
    place.replaceChildren(
      ...signsOf(p).map(([look, bits, text]) => {
        const picture = sprite(p, look, bits, 6, ratio),
          canvas = element("canvas");
        Object.assign(canvas, { width: picture.width, height: picture.height });
        canvas.getContext("2d").drawImage(picture, 0, 0);
        const copy = element("img", { alt: "", src: canvas.toDataURL(), width: picture.width / ratio }); // a canvas costs at every paint
        return element("span", { role: "listitem", title: text }, copy, text);
      })
    );
  }
};
