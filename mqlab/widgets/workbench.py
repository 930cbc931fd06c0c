"""The workbench: choose a figure or a network, watch it, and ask, break, fork and build in its picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets as w

from mqlab import products
from mqlab.errors import BadValue, MqlabError, shown
from mqlab.spec import Network, Scenario
from mqlab.spec.topology import TOPOLOGIES
from mqlab.trace.trace import Trace
from mqlab.views import player
from mqlab.workbench import WorkbenchSession, starting_points
from mqlab.workbench.desk import DRAWN
from mqlab.workbench.picture import WorkbenchView
from mqlab.workbench.saved import StaticOutput

FIGURE, EMPTY, OWN = "figure", "empty", DRAWN
FIRST = "fuse:2.20"


class Workbench(StaticOutput, w.VBox):
    """A network to play with, in a notebook: ``mq.widgets.Workbench("fuse:2.20")``.

    *what* is a figure's id or a network; without it the stage is empty, to build on.
    `view` is the picture, which stays the same for whatever is chosen; `trace` is the run that it shows.
    Options, problems and code stand in the picture's panel.
    """

    def __init__(self, what: str | Network | None = None, *actions: object) -> None:
        if actions:
            raise BadValue("the workbench has traffic of its own; for these actions use mq.view(net, *actions)")
        if what is not None and not isinstance(what, (str, Network)):
            raise BadValue(
                f"{shown(what)} cannot be built on; pass a network or a figure's id, or mq.view(trace)"
            )
        self.own: Network | Scenario | None = what if isinstance(what, Network) else None
        self.own_name, self.is_following = OWN, False
        first = products.figure(what if isinstance(what, str) else FIRST)
        shapes = [FIGURE, EMPTY, *([] if self.own is None else [OWN]), *TOPOLOGIES]
        begun = EMPTY if what is None else FIGURE if self.own is None else OWN
        self.topology = w.Dropdown(options=shapes, value=begun, description="Topology")
        self.figure = w.Dropdown(
            options=[(f"{f.id}  {f.title}", f.id) for f in products.figures()],
            value=first.id,
            description="Figure",
            layout=w.Layout(flex="1 1 320px", min_width="200px"),
        )
        self.size = w.IntSlider(starting_points.SIZE, 2, 60, description="Brokers", continuous_update=False)
        self.messages = w.BoundedIntText(starting_points.MESSAGES, 1, 10_000, description="Messages")
        self.go = w.Button(
            description="Run",
            button_style="primary",
            icon="play",
            tooltip="run the selected network from the start, discarding changes",
        )
        self.told = w.HTML()
        self.view = WorkbenchView(WorkbenchSession(products.play(self._chosen()), self._name))
        choosers = (self.topology, self.figure, self.size, self.messages)
        bar = w.HBox([*choosers, self.go], layout=w.Layout(flex_flow="row wrap"))
        super().__init__([bar, self.told, self.view])
        self.add_class("mqlab-workbench")  # by which the picture finds the choosers when the kernel is gone
        self._show_choosers()
        self.view.followed = self._follow
        for chooser in choosers:
            chooser.observe(lambda _: self.run(), "value")
        self.go.on_click(lambda _: self.run())

    def __repr__(self) -> str:
        return "<mqlab.Workbench>"

    @property
    def trace(self) -> Trace:
        """The run that is shown."""
        return self.view.trace

    @property
    def shown(self) -> tuple[Trace, ...]:
        """The runs that are shown."""
        return self.view.shown

    def stills(self) -> Sequence[str]:
        """Return the pictures of the runs that are shown, at their ends, as SVG."""
        return self.view.stills()

    def run(self) -> None:
        """Run what is chosen, from the beginning and without changes, or say what is wrong."""
        if self.is_following:  # the choosers follow the picture
            return
        self._show_choosers()
        self.told.value = ""
        try:
            kept = self.view.desk.load(products.play(self._chosen()), self._name)
            self.view.follow()
            if kept:
                self.told.value = f"<p>{player.words()['your_network_is_kept']}.</p>"
        except MqlabError as error:
            self.told.value = f"<p style='color:#b23e00'><b>{escape(str(error))}</b></p>"

    def _follow(self) -> None:
        """Choose what the picture has begun with by itself: a file, another network, a step that was undone."""
        name = self.view.desk.name
        if self.is_following or name == self._name:
            return
        self.is_following = True
        if name in TOPOLOGIES:
            self.topology.value = name
        elif name in [id for _, id in self.figure.options]:
            self.topology.value, self.figure.value = FIGURE, name
        else:
            self.own, self.own_name = self.view.desk.state.branches[0].scenario, name
            self.topology.options = [FIGURE, EMPTY, OWN, *TOPOLOGIES]
            self.topology.value = OWN
        self.is_following = False
        self._show_choosers()

    @property
    def _name(self) -> str:
        if self.topology.value == FIGURE:
            return str(self.figure.value)
        return {EMPTY: OWN, OWN: self.own_name}.get(self.topology.value, str(self.topology.value))

    def _chosen(self) -> Scenario:
        """Return the scenario that is chosen."""
        if self.topology.value == OWN and self.own is not None:
            if isinstance(self.own, Scenario):
                return self.own
            return starting_points.across(self.own, self.messages.value)
        if self.topology.value == FIGURE:
            return starting_points.figure(self.figure.value)
        if self.topology.value == EMPTY:
            return starting_points.empty()
        return starting_points.topology(self.topology.value, self.size.value, self.messages.value)

    def _show_choosers(self) -> None:
        """Show the choosers that matter for what is chosen."""
        chosen = self.topology.value
        _show(self.figure, when=chosen == FIGURE)
        _show(self.size, when=chosen in TOPOLOGIES)
        filled = isinstance(self.own, Network) and self.own.names
        _show(self.messages, when=chosen in TOPOLOGIES or (chosen == OWN and bool(filled)))


def _show(chooser: w.Widget, when: bool) -> None:
    chooser.layout.display = None if when else "none"
