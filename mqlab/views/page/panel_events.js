// Events: the table twin of the picture.
addTab({
  id: "events",
  title: worded("events"),
  key: "e",
  flush: true,
  make(body, place) {
    const log = makeLog(
      place,
      body,
      player.panels.length > 1 ? worded("left_run_event") : worded("what_happened"),
      player.goTo
    );
    player.on("load", () => log.load(player.panels[0].data("events")));
    player.on("time", (_t, row) => log.mark(row));
    this.log = log;
  },
  show() {
    this.log.mark(-1);
    this.log.mark(player.row);
  }
});
