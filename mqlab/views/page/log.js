// The table that tells the same as the picture. Only the rows in sight are elements, so that a long run costs
// what a short one does; it never takes the focus by itself, so that typing and Shift+Enter stay where they were.
const ROW = 22,
  PAUSE = 3000; // px; ms that it stays where its reader has scrolled to
const LOG_STYLE = `
  .mq-log { height: 100%; overflow: auto; position: relative; font: 13px/${ROW}px var(--mq-font);
            color: var(--mq-ink); background: var(--mq-bg); border: 1px solid var(--mq-line); }
  .mq-log:focus-visible { outline: 2px solid var(--mq-active); outline-offset: -2px; }
  .mq-log .row { position: absolute; left: 0; right: 0; height: ${ROW}px; display: flex; gap: 12px; cursor: pointer;
                 white-space: nowrap; padding: 0 8px; }
  .mq-log .row:nth-child(odd) { background: var(--mq-stage); }
  .mq-log .row.now { background: var(--mq-active_soft); font-weight: 600; }
  .mq-log .time { flex: 0 0 var(--time); text-align: right; font-variant-numeric: tabular-nums; color: var(--mq-ink2); }`;

const makeLog = (place, within, label, pick) => {
  const box = document.createElement("div"),
    all = document.createElement("div");
  styled(place, LOG_STYLE);
  box.className = "mq-log";
  box.tabIndex = 0; // who works by keyboard comes to it by Tab, and scrolls
  box.setAttribute("role", "table");
  box.setAttribute("aria-label", label);
  box.append(all);
  within.append(box);
  const log = { data: { time: [], what: [] }, now: -1, rows: new Map(), read: -PAUSE };
  const make = (number) => {
    const row = document.createElement("div"),
      time = document.createElement("span"),
      what = document.createElement("span");
    row.className = "row";
    row.setAttribute("role", "row");
    row.setAttribute("aria-rowindex", number + 1);
    row.style.top = `${number * ROW}px`;
    for (const [cell, text, name] of [
      [time, log.data.time[number], "time"],
      [what, player.said(number), "what"]
    ]) {
      cell.setAttribute("role", "cell");
      cell.className = name;
      cell.textContent = cell.title = text; // names are text, never markup; what is cut is told on hovering
      row.append(cell);
    }
    row.addEventListener("click", () => pick(number));
    all.append(row);
    return row;
  };
  const fill = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
    const last = Math.min(log.data.time.length, first + Math.ceil((box.clientHeight || 190) / ROW) + 8);
    for (const [number, row] of log.rows)
      if (number < first || number >= last) {
        row.remove();
        log.rows.delete(number);
      }
    for (let number = first; number < last; number++) {
      if (!log.rows.has(number)) log.rows.set(number, make(number));
      log.rows.get(number).classList.toggle("now", number === log.now);
    }
  };
  box.addEventListener("scroll", fill);
  for (const kind of ["wheel", "pointerdown", "touchmove"]) {
    box.addEventListener(
      kind,
      () => {
        log.read = performance.now();
      },
      { passive: true }
    );
  }
  return {
    load: (data) => {
      for (const row of log.rows.values()) row.remove();
      Object.assign(log, { data, now: -1, rows: new Map() });
      all.style.height = `${data.time.length * ROW}px`;
      box.setAttribute("aria-rowcount", data.time.length);
      box.style.setProperty("--time", `${data.time.reduce((most, one) => Math.max(most, one.length), 0)}ch`);
      box.scrollTop = 0;
      fill();
    },
    mark: (number) => {
      if (number === log.now) return;
      log.now = number;
      const top = number * ROW,
        out = top < box.scrollTop || top + 2 * ROW > box.scrollTop + box.clientHeight;
      if (out && performance.now() - log.read > PAUSE) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
      fill();
    }
  };
};
