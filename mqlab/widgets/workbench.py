"""The workbench: choose a network, change options, run, watch, see what came of it."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets as w

from mqlab import products, views
from mqlab.errors import MqlabError
from mqlab.experiments import other_outcomes
from mqlab.scenarios.guide import claims
from mqlab.spec import Consumer, Network, Producer, Queue, Scenario
from mqlab.spec.topology import TOPOLOGIES, network
from mqlab.trace.accounts import roles
from mqlab.trace.spans import spans
from mqlab.trace.trace import Trace
from mqlab.widgets.form import OptionForm

FIGURE = "figure"
FOO = Queue("TEST.FOO")


class Workbench(w.VBox):
    """A network to play with, in a notebook: ``mq.widgets.Workbench("fuse:2.20")``.

    *what* is a figure's id or a network. `trace` is the last run; `view` shows it, and stays the
    same view for every network.
    """

    def __init__(self, what: str | Network = "fuse:2.20") -> None:
        figure = what if isinstance(what, str) else None
        first = products.figure(figure or "fuse:2.20")
        self.topology = w.Dropdown(options=[FIGURE, *TOPOLOGIES], description="Topology")
        self.figure = w.Dropdown(options=[(f"{f.id}  {f.title}", f.id) for f in products.figures()],
                                 value=first.id, description="Figure")  # fmt: skip
        self.size = w.IntSlider(5, 2, 60, description="Brokers", continuous_update=False)
        self.messages = w.BoundedIntText(12, 1, 10_000, description="Messages")
        self.go = w.Button(description="Run", button_style="primary", icon="play",
                           tooltip="run the network with these options")  # fmt: skip
        self.form = OptionForm(on_change=self._mark_changed)
        self.question, self.result = w.HTML(), w.HTML()
        self.scenario: Any = first.scenario
        self.trace: Trace = products.play(self.scenario)
        self.view: Any = views.view(self.trace)
        left = w.VBox([self.topology, self.figure, self.size, self.messages, self.form, self.go],
                      layout=w.Layout(width="330px", flex="0 0 330px"))  # fmt: skip
        right = w.VBox([self.question, self.view, self.result],
                       layout=w.Layout(flex="1 1 auto", min_width="0"))  # fmt: skip
        super().__init__([w.HBox([left, right])])
        for chooser in (self.topology, self.figure, self.size, self.messages):
            chooser.observe(lambda _: self.choose(), "value")
        self.go.on_click(lambda _: self.run())
        if isinstance(what, Network):
            self._load(what)
        else:
            self.choose()

    def __repr__(self) -> str:
        return "<mqlab.Workbench>"

    def choose(self) -> None:
        """Load the chosen figure or topology and run it."""
        own = self.topology.value != FIGURE
        self.figure.layout.display = "none" if own else None
        self.size.layout.display = self.messages.layout.display = None if own else "none"
        if own:
            self.form.layout.display = None
            self._load(network(self.topology.value, self.size.value))
            return
        figure = products.figure(self.figure.value)
        self.scenario = figure.scenario
        self.question.value = f"<b>{escape(figure.id)}</b> {escape(figure.question)}"
        self.form.layout.display = None if self.has_options else "none"
        if self.has_options:
            self.form.load(self.scenario.network)
        self.run()

    @property
    def has_options(self) -> bool:
        """Whether the scenario is a plain network, whose connectors have options to change."""
        return isinstance(self.scenario, Scenario)

    def _load(self, chosen: Network) -> None:
        """Load a network of one's own, with messages from its first broker to its last ones."""
        last, first = chosen.names[-1], chosen.names[0]
        one_way = self.topology.value == "concentrator"  # consumers belong to its second layer
        middle = chosen.names[-2 if one_way else len(chosen.names) // 2]
        self.scenario = Scenario.of(
            chosen, Consumer("C1", on=last, reads=FOO), Consumer("C2", on=middle, reads=FOO),
            Producer("P", on=first, sends=self.messages.value, to=FOO),
            title=f"{self.topology.value}, {len(chosen.names)} brokers",
        )  # fmt: skip
        self.question.value = (
            f"{self.messages.value} messages are sent at <b>{escape(first)}</b>; consumers wait at "
            f"<b>{escape(middle)}</b> and <b>{escape(last)}</b>. Which way do they go?"
        )
        self.form.load(chosen)
        self.run()

    def run(self) -> None:
        """Run the network with the form's options and show the run, or say what is wrong."""
        self.go.button_style = "primary"
        try:
            changed = self.scenario
            if self.has_options:
                changed = replace(changed, network=self.form.changed())
            self.trace = products.play(changed, limit=views.MOST_EVENTS)
            self.view.show(views.scene(self.trace).columns)
        except MqlabError as error:
            self.result.value = f"<p style='color:#D55E00'><b>{escape(str(error))}</b></p>"
            return
        self.result.value = self._told(changed)

    @staticmethod
    def _told_of_roles(name: str, changes: list[tuple[int, str]]) -> str:
        steps = ", ".join(f"{role} at {time / 1e6:.1f} s" for time, role in changes)
        return f"<b>{escape(name)}</b>: {escape(steps)}"

    def _mark_changed(self) -> None:
        """Options have changed since the last run: say so by the button's colour."""
        self.go.button_style = "warning"

    def _told(self, scenario: Any) -> str:
        rows = [f"<b>{escape(name)}</b> received <b>{count}</b>"
                for name, count in self.trace.received().items()]  # fmt: skip
        others = other_outcomes(self.trace)
        if others is not None and len(others) > 1:
            rows.append(f"One of at least {len(others)} outcomes: it hangs on timing.")
        stuck = self.trace.stuck()
        for broker, queues in self.trace.waiting().items():
            for queue, numbers in queues.items():
                word = "stuck" if numbers == stuck.get(broker, {}).get(queue) else "waiting"
                rows.append(f"<b>{len(numbers)}</b> {word} at <b>{escape(broker)}</b> in "
                            f"{escape(queue)} (numbers {spans(numbers, most=12)})")  # fmt: skip
        rows += [self._told_of_roles(name, spans) for name, spans in roles(self.trace).items()]
        if self.topology.value == FIGURE and not (self.has_options and self.form.changes):
            figure = products.figure(self.figure.value)
            if self.has_options:
                said = scenario.about.get("guide_says", {})
                rows += [escape(str(claim)) for claim in claims(said, self.trace)]
            rows += [escape(text) for text in (figure.answer, figure.real)]
        return "<ul>" + "".join(f"<li>{row}</li>" for row in rows if row) + "</ul>"
