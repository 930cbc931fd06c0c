"""The player of a long run: the whole as a pyramid, single messages when zoomed in."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import ipywidgets as w
import numpy as np
import pyarrow as pa

from mqlab import replay, views
from mqlab.errors import BadValue, MqlabError
from mqlab.replay import growth
from mqlab.replay.tiles import PyramidReader
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views import player
from mqlab.views.host import View
from mqlab.views.scene import scene
from mqlab.views.stage import Kept
from mqlab.views.still import Columns

SINGLE = 2_000  # events of a window that are shown one by one
BUCKETS, ALL_BUCKETS = 400, 600  # of a window, and of the whole
FINE, NEAR = (
    64,
    500_000,
)  # with fewer buckets and no more events than these, events are counted anew


class ReplayPlayer(w.VBox):
    """Shows a trace folder with its pyramid: ``mq.widgets.ReplayPlayer("run")``.

    A strip above the time bar shows the whole run and the part of it that is looked at: the wheel zooms at
    the pointer, a drag moves along, with Shift it draws the part. From `SINGLE` events down a part is played
    message by message; above, the connectors are as wide as what crossed them, and the strip says which level
    of the pyramid is shown. A run that goes on is followed till its end, or till `close`.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder, self.live = Path(folder), ""
        self._lock, self._closed = threading.RLock(), threading.Event()
        self._stages = Kept()
        tiles = replay.open(folder)
        if tiles.grows:
            tiles, self.live = replay.extend(folder), "the run is still in progress"
        self._see(tiles)
        self.window = self.tiles.span
        self._message: int | None = None  # the one that is shown alone
        columns = {**self._part(), **self._strip(*self._told(), 0)}
        scene = views.Scene(columns["meta"]["title"][0], columns["meta"]["duration"][0], columns)
        self.view = View(player.item([scene]), watch=["wish.data"])
        super().__init__([self.view])
        self.view.observe(self._on_wish, "seen")
        if self.live:
            threading.Thread(target=self._follow, name="mqlab-follow", daemon=True).start()

    def __repr__(self) -> str:
        return "<mqlab.ReplayPlayer>"

    @property
    def single(self) -> bool:
        """Whether the window is small enough to show every message."""
        return self.tiles.count(*self.window) <= SINGLE

    def look(self, low: float, high: float) -> None:
        """Look at the part of the run between two times (ms); raises `BadValue` unless *low* is the smaller."""
        if not low < high:
            raise BadValue(
                f"a part of a run from {low:g} to {high:g} ms; the end of a section must be after its start"
            )
        with self._lock:
            self._look(int(low * 1000), int(high * 1000))

    def zoom(self, factor: float) -> None:
        """Make the window narrower (below 1) or wider around its middle."""
        low, high = (edge / 1000 for edge in self.window)
        middle, half = (low + high) / 2, (high - low) * factor / 2
        self.look(middle - half, middle + half)

    def path(self, message: int) -> None:
        """Show one message alone, from the first of its events in the run to the last; raises `BadValue`."""
        with self._lock:
            self._path(message)

    def _path(self, message: int, no: int = 0) -> None:
        trace = self.tiles.of_message(message)
        times = trace.column("t")
        self.window, self._message = (times[0], max(times[-1], times[0] + 1)), message
        told = f"message {message}: all of its {_events(len(trace))} in the run"
        self._show(self._scene(trace), (told, "all events of one message, unaggregated"), no)

    def close(self) -> None:
        """Follow the run no longer, and take the player away."""
        self._closed.set()
        super().close()

    def _look(self, low: int, high: int, no: int = 0) -> None:
        first, last = self.tiles.span
        begin = min(max(first, low), max(first, last - 1))
        self.window, self._message = (begin, max(begin + 1, min(last, high))), None
        self._show(self._part(), self._told(), no)

    def _on_wish(self, change: object) -> None:
        """Look at what the page wishes to see."""
        wish = change["new"].get("wish.data", {})
        if not wish.get("no"):
            return
        with self._lock, suppress(BadValue):  # a message of a page that is older than the run
            no = wish["no"][0]
            if wish["msg"]:
                self._path(int(wish["msg"][0]), no)
            else:
                self._look(*(int(wish[edge][0] * 1000) for edge in ("from", "to")), no)

    def _follow(self) -> None:
        """Show what the run has written since, until it ends."""
        try:
            for tiles in growth.follow(self.folder, until=self._closed):
                self._grown(tiles)
        except MqlabError as error:  # the folder is gone, say
            with self._lock:
                self.live = f"the run can no longer be followed: {error}"
                self._look(*self.window)

    def _grown(self, tiles: PyramidReader) -> None:
        """Take in what is new; who looks at the end of the run goes on to, but not from message to message."""
        with self._lock:
            low, high = self.window
            (first, last), single = self.tiles.span, self.single and self.tiles.events_count > 0
            self._see(tiles)
            self.live = "the run is still in progress" if tiles.grows else "the run has ended"
            if self._message is not None:
                self._path(self._message)
                return
            if high >= last and not single:
                high = tiles.span[1]
                low = low if low <= first else low + high - last
            self._look(low, high)

    def _see(self, tiles: PyramidReader) -> None:
        self.tiles = tiles
        self._whole = self._rates(*tiles.span, ALL_BUCKETS)

    def _show(self, columns: Columns, told: tuple[str, str], no: int = 0) -> None:
        """Send columns to the page, with what the strip says of them."""
        self.view.show({**columns, **self._strip(*told, no)})

    def _part(self) -> Columns:
        """Return the columns of the window: message by message, or as wide as what crossed."""
        t0, t1 = self.window
        if self.single:
            return self._scene(self.tiles.window(t0, t1))
        columns = self._empty
        tile = self._tile("link", t0, t1, BUCKETS)
        keys, n = tile.column("key").to_numpy(), tile.column("n").to_numpy()
        crossed = np.bincount(keys[keys >= 0], n[keys >= 0], len(self.tiles.names["link"]))
        return {**columns, "traffic": {"count": crossed.astype(int).tolist()}}

    def _scene(self, trace: Trace) -> Columns:
        return scene(trace, build=self._stages.build).columns

    @cached_property
    def _empty(self) -> Columns:
        """The columns of the network without messages: the same in every window."""
        t0, _ = self.tiles.span
        return self._scene(self.tiles.window(t0, t0 - 1))

    def _told(self) -> tuple[str, str]:
        """Return how much is shown, and which level of the pyramid that is."""
        t0, t1 = self.window
        count = f"{self.tiles.count(t0, t1):,} of {_events(self.tiles.events_count)}"
        if self.single:
            return count, "unaggregated: every message is shown"
        level = self.tiles.level_for(t0, t1, BUCKETS)
        name, shift = f"level {level + 1} of {self.tiles.levels}", self.tiles.shift + level
        if self._is_near(t0, t1):
            name, shift = "computed from the events", self.tiles.width_for(t0, t1, BUCKETS)
        wide = (1 << shift) / 1000
        return count, f"{name}: sums of " + (f"{wide:g} ms" if wide < 1000 else f"{wide / 1000:.3g} s")

    def _is_near(self, t0: int, t1: int) -> bool:
        """Whether the finest buckets are too wide for a window, and its events are few enough to be counted."""
        return (t1 - t0) >> self.tiles.shift < FINE and self.tiles.count(t0, t1) <= NEAR

    def _tile(self, marginal: str, t0: int, t1: int, most: int) -> pa.Table:
        """Return a tile of the pyramid, or what is counted from the events where these are few."""
        ask = self.tiles.counted if self._is_near(t0, t1) else self.tiles.tile
        return ask(marginal, t0, t1, most)

    def _strip(self, told: str, level: str, no: int) -> Columns:
        """Return what the strip above the time bar shows."""
        (t0, t1), (first, last) = self.window, self.tiles.span
        return {
            "window": {
                "from": [t0 / 1000],
                "to": [t1 / 1000],
                "low": [first / 1000],
                "high": [max(last, first + 1) / 1000],
                "told": [told],
                "level": [level],
                "live": [self.live],
                "no": [no],
            },
            "rates": self._rates(t0, t1, BUCKETS),
            "whole": self._whole,
        }

    def _rates(self, t0: int, t1: int, buckets: int) -> dict[str, list[float]]:
        """Return messages sent and received per second, from `t` (ms) on."""
        if not self.tiles.events_count:  # of a run that has just begun
            return {"t": [], "sent": [], "received": []}
        tile = self._tile("dest", t0, t1, buckets)
        start, kind, n = (tile.column(c).to_numpy() for c in ("t", "kind", "n"))
        if not len(start):
            return {"t": [], "sent": [], "received": []}
        width = int(tile.column("width")[0].as_py())
        first = int(start[0])
        place = (start - first) // width
        size = int(place[-1]) + 1
        rate = {
            k: np.bincount(place[kind == k], n[kind == k], minlength=size) * (1e6 / width)
            for k in (Kind.Sent, Kind.Received)
        }
        # The last bucket ends somewhere, too: without this point a lone one would not be seen.
        times = (first + width * np.arange(size + 1)) / 1000
        sent, received = (rate[k][[*range(size), -1]].tolist() for k in (Kind.Sent, Kind.Received))
        return {"t": times.tolist(), "sent": sent, "received": received}


def _events(number: int) -> str:
    return f"{number:,} event{'' if number == 1 else 's'}"
