"""Shown in several outputs: the picture, and before it what a saved notebook has without a kernel."""

from __future__ import annotations

from typing import Any

from mqlab.views import summary
from mqlab.workbench import cells


class StaticOutput:
    """What a widget of runs inherits, before the widget itself, so that a saved notebook shows it.

    A widget of runs has them as `shown`, and their pictures at their ends, as SVG, as `stills`.
    """

    def _ipython_display_(self: Any, **options: object) -> None:
        """Show stills and lines, then the widget: of these outputs a front end shows the one that lives."""
        from IPython import display as front

        show: Any = front.display
        cells.show(self)
        bundle = self._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        lines = {"text/html": summary.html(*self.shown), "text/plain": repr(self)}
        for still in self.stills():
            show({"image/svg+xml": still, "text/plain": repr(self)}, raw=True)
        show(lines, raw=True)
        show(data, raw=True)
