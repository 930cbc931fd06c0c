"""Shown in several outputs: the picture, and before it what a saved notebook has without a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mqlab.trace.trace import Trace
from mqlab.views import summary


class ShowsRuns(Protocol):
    """A widget of runs."""

    @property
    def shown(self) -> tuple[Trace, ...]:
        """The runs that it shows."""

    def stills(self) -> Sequence[str]:
        """Return the pictures of these runs at their ends, as SVG."""

    def _repr_mimebundle_(self, **options: object) -> Any: ...


class StaticOutput:
    """What a widget of runs inherits, before the widget itself, so that a saved notebook shows it."""

    def _ipython_display_(self: ShowsRuns, **options: object) -> None:
        """Show stills and lines, then the widget: of these outputs a front end shows the one that lives."""
        from IPython import display as front

        show: Any = front.display
        bundle = self._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        lines = {"text/html": summary.html(*self.shown), "text/plain": repr(self)}
        for still in self.stills():
            show({"image/svg+xml": still, "text/plain": repr(self)}, raw=True)
        show(lines, raw=True)
        show(data, raw=True)
