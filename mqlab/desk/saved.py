"""Shown in two outputs: the picture, and before it the lines that a saved notebook has without a kernel."""

from __future__ import annotations

from typing import Any

from mqlab.trace.trace import Trace
from mqlab.views import summary


class Saved:
    """A widget of runs; those that are shown are its `shown`."""

    @property
    def shown(self) -> tuple[Trace, ...]:
        """The runs that the lines tell of."""
        raise NotImplementedError

    def _ipython_display_(self, **options: Any) -> None:
        """Show the lines, then the widget: two outputs, of which a front end shows the one that lives."""
        from IPython import display as front

        told: Any = self
        show: Any = front.display
        bundle = told._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        lines = {"text/html": summary.html(*self.shown), "text/plain": repr(self)}
        show(lines, raw=True)
        show(data, raw=True)
