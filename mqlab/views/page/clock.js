// The clock: seconds of playing against the run's ms, and the loop that plays. Nothing else changes player.t.
const clock = { speed: 1, running: false, before: 0, t: 0 };

const between = (from, to, value) => {
  const i = after(from, value);
  if (i >= from.length) return to[to.length - 1] ?? 0;
  if (i === 0) return to[0] ?? 0;
  return to[i - 1] + ((value - from[i - 1]) / (from[i] - from[i - 1] || 1)) * (to[i] - to[i - 1]);
};
// A time of the run as it is read everywhere, in Python as well: in ms, from one second on in s, to the microsecond.
/** @param {number} ms */
const timeText = (ms) => {
  const us = Math.round(ms * 1000);
  return us >= 1e6 ? `${us / 1e6} s` : `${us / 1000} ms`;
};
player.runTime = (panel, t) => between(panel.data("clock").play, panel.data("clock").t, t);
player.storyTime = (ms) => between(player.panels[0].data("clock").t, player.panels[0].data("clock").play, ms);

// With *row* it is that row of the table; several rows may be of one moment.
const showMoment = (t, row) => {
  player.t = Math.max(0, Math.min(player.duration, t));
  player.exact = row !== undefined;
  player.row = row ?? after(player.panels[0].data("events").play, player.t) - 1;
  player.emit("time", player.t, player.row);
};
// Words change at most ten times a second while it plays: nobody reads faster, and each is a layout of the page.
const WORDS = 100; // ms
const seldom = (tell) => {
  let last = -Infinity;
  const told = () => {
    last = performance.now();
    tell();
  };
  player.on("time", () => {
    if (!player.playing || performance.now() - last >= WORDS) told();
  });
  player.on("play", (on) => {
    if (!on) told();
  });
};

player.seek = (t) => {
  showMoment(t);
  clock.t = player.t;
};

const tick = (now) => {
  if (!player.playing || root.document == null) {
    clock.running = false;
    return;
  }
  const { t, row, stop } = course(player.t, clock.t + Math.min(0.1, (now - clock.before) / 1000) * clock.speed);
  clock.before = now;
  clock.t = t;
  // Under reduced motion nothing glides: what happens is shown when it has happened.
  if (
    !calm.matches ||
    row !== undefined ||
    t >= player.duration ||
    after(player.panels[0].data("events").play, t) - 1 !== player.row
  )
    showMoment(t, row);
  if (stop || player.t >= player.duration) player.setPlaying(false);
  requestAnimationFrame(tick);
};

player.setPlaying = (on) => {
  if (on === player.playing) return;
  player.playing = on;
  if (on && player.t >= player.duration - 1e-6) player.t = 0;
  player.emit("play", on);
  clock.t = player.t;
  if (!on || clock.running) return;
  clock.running = true;
  clock.before = performance.now();
  clock.t = player.t;
  requestAnimationFrame(tick);
};

// To one row of the table, however many are of the same moment.
player.goTo = (row) => {
  player.setPlaying(false);
  const moments = player.panels[0].data("events").play;
  if (!moments.length) return;
  const at = Math.max(0, Math.min(moments.length - 1, row));
  showMoment(moments[at], at);
};
const stepTo = (direction) => player.goTo(player.row + direction);

// The whole sentence of a row of the table: what happened, and the rule by which it did.
player.said = (row) => {
  const { what, rule } = player.panels[0].data("events"),
    { sentence, source } = player.panels[0].data("rules"),
    no = rule[row];
  return sentence[no]
    ? `${what[row].slice(0, -1)}: ${sentence[no]}${source[no] ? ` [${source[no]}]` : ""}.`
    : what[row];
};

const load = () => {
  player.setPlaying(false);
  player.selection = null;
  player.duration = Math.max(0.01, ...player.panels.map((p) => p.data("meta").duration[0] ?? 0));
  player.emit("load");
  player.seek(0);
};
