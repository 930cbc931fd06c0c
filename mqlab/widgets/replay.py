"""The player of a long run: the whole as a pyramid, single messages when zoomed in."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w
import numpy as np

from mqlab import replay, views
from mqlab.trace.kinds import Kind
from mqlab.views import overview, player
from mqlab.views.host import View

SINGLE = 4_000  # events of a window that are shown one by one


class ReplayPlayer(w.VBox):
    """Shows a trace folder with its pyramid: ``mq.widgets.ReplayPlayer("run")``.

    Choose a window of time; from `SINGLE` events down it is played message by message. Above, the
    connectors are as wide as what crossed them.
    """

    def __init__(self, folder: str | Path) -> None:
        self.tiles = replay.open(folder)
        low, high = (edge / 1000 for edge in self.tiles.span)
        self.window = w.FloatRangeSlider(
            value=(low, high), min=low, max=max(high, low + 1), step=(high - low) / 2000 or 1,
            description="window (ms)", continuous_update=False, readout_format=".1f",
            style={"description_width": "initial"}, layout=w.Layout(flex="1 1 auto"),
        )  # fmt: skip
        self.closer = w.Button(description="Zoom in", icon="search-plus")
        self.wider = w.Button(description="Zoom out", icon="search-minus")
        self.text = w.HTML()
        self.chart = View(overview.document())
        self.view = View(player.document([self._wide(*self.tiles.span)]))
        bar = w.HBox([self.window, self.closer, self.wider])
        super().__init__([self.text, self.chart, bar, self.view])
        self.closer.on_click(lambda _: self.zoom(0.1))
        self.wider.on_click(lambda _: self.zoom(10))
        self.window.observe(lambda _: self.show(), "value")
        self.show()

    def __repr__(self) -> str:
        return "<mqlab.ReplayPlayer>"

    @property
    def single(self) -> bool:
        """Whether the window is small enough to show every message."""
        return self.tiles.count(*self._edges()) <= SINGLE

    def _edges(self) -> tuple[int, int]:
        low, high = self.window.value
        return int(low * 1000), int(high * 1000)

    def zoom(self, factor: float) -> None:
        """Make the window narrower (below 1) or wider around its middle."""
        low, high = self.window.value
        middle, half = (low + high) / 2, (high - low) * factor / 2
        self.window.value = (max(self.window.min, middle - half),
                             min(self.window.max, middle + half))  # fmt: skip

    def show(self) -> None:
        """Show the chosen window."""
        t0, t1 = self._edges()
        count = self.tiles.count(t0, t1)
        self.chart.show(self._rates(t0, t1))
        if count <= SINGLE:
            self.view.show(views.scene(self.tiles.window(t0, t1)).columns)
            how = "every message is shown; press Play"
        else:
            self.view.show(self._wide(t0, t1).columns)
            how = (
                f"connectors are as wide as their traffic; zoom in to {SINGLE:,} events to see each"
            )
        self.text.value = (
            f"<b>{count:,}</b> of {self.tiles.events_count:,} events, {t0 / 1000:,.1f} to "
            f"{t1 / 1000:,.1f} ms: {escape(how)}."
        )

    def _rates(self, t0: int, t1: int) -> Any:
        """Return messages sent and received per second, per bucket."""
        tile = self.tiles.tile("dest", t0, t1, 400)
        start, kind, n = (tile.column(c).to_numpy() for c in ("t", "kind", "n"))
        if not len(start):
            return overview.columns([], [], [])
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
        return overview.columns(times.tolist(), sent, received)

    def _wide(self, t0: int, t1: int) -> views.Scene:
        """Return a scene without messages, whose connectors are as wide as their traffic."""
        empty = self.tiles.window(t0, t0 - 1)
        tile = self.tiles.tile("link", t0, t1, 64)
        n = np.zeros(len(self.tiles.names["link"]))
        keys = tile.column("key").to_numpy()
        np.add.at(n, keys[keys >= 0], tile.column("n").to_numpy()[keys >= 0])
        scene = views.scene(empty)
        scene.columns["traffic"] = {"count": n.astype(int).tolist()}
        return scene
