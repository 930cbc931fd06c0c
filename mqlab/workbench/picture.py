"""The picture with a desk behind it: what the page asks is answered, and what is shown follows."""

from __future__ import annotations

from collections.abc import Callable

from mqlab import views
from mqlab.trace.difference import Comparison
from mqlab.trace.trace import Trace
from mqlab.views import player, svg
from mqlab.views.host import View
from mqlab.workbench.desk import WorkbenchSession
from mqlab.workbench.saved import StaticOutput


class WorkbenchView(StaticOutput, View):
    """Plays the runs of a desk: one, or two side by side; a click in it asks, breaks and forks.

    `desk` keeps the runs, `trace` is the one that is shown.
    """

    def __init__(self, desk: WorkbenchSession) -> None:
        self.desk = desk
        self.followed: Callable[[], None] = lambda: None  # who wants to know that other runs are shown
        self.played = desk.traces
        self.scenes = views.scenes(_what(self.played))
        super().__init__(player.item(self.scenes), self.ask)

    @property
    def trace(self) -> Trace:
        """The run that is shown; of two the one that the first was forked to."""
        return self.desk.state.shown.trace

    @property
    def shown(self) -> tuple[Trace, ...]:
        """The runs that are shown."""
        return self.played

    def stills(self) -> list[str]:
        """Return the pictures of the runs that are shown, at their ends, as SVG."""
        return [svg.picture(one.columns) for one in self.scenes]

    def ask(self, kind: str, data: dict[str, object]) -> object:
        """Answer a request of the page, and show what it led to; ``page`` is what plays without a kernel."""
        if kind == "page":
            return {"page": views.html(_what(self.played))}
        found = self.desk.answer(kind, data)
        self.follow()
        return found

    def follow(self) -> None:
        """Show the runs that the desk shows: in the same document as long as they are as many."""
        if [*map(id, self.desk.traces)] == [*map(id, self.played)]:
            return
        scenes = self.scenes = views.scenes(_what(self.desk.traces))
        if len(scenes) == len(self.played):
            ends = ("", *(f" {no}" for no in range(2, len(scenes) + 1)))
            pairs = zip(scenes, ends, strict=True)
            self.show({name + end: rows for one, end in pairs for name, rows in one.columns.items()})
        else:
            self.replace(player.item(scenes))
        self.played = self.desk.traces
        self.followed()


def _what(traces: tuple[Trace, ...]) -> Trace | Comparison:
    return traces[0] if len(traces) == 1 else Comparison(*traces)
