"""Shown in several outputs: the picture, and before it what a saved notebook has without a kernel.

ipywidgets keeps every widget until it is closed, and a workbench has 24: what showed those of a cell that has
been run again is gone, and they leave the kernel. One that is shown once more is opened again, as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mqlab.views import summary

if TYPE_CHECKING:
    from ipywidgets import Widget

    # Where each is shown: cell -> which of its runs.
    _SHOWN: WeakKeyDictionary[Widget, dict[str, str]]

_SHOWN = WeakKeyDictionary()


class StaticOutput:
    """What a widget of runs inherits, before the widget itself, so that a saved notebook shows it.

    A widget of runs has them as `shown`, and their pictures at their ends, as SVG, as `stills`.
    """

    def _ipython_display_(self: Any, **options: object) -> None:
        """Show stills and lines, then the widget: of these outputs a front end shows the one that lives."""
        from IPython import display as front

        put: Any = front.display
        show(self)
        bundle = self._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        lines = {"text/html": summary.html(*self.shown), "text/plain": repr(self)}
        for still in self.stills():
            put({"image/svg+xml": still, "text/plain": repr(self)}, raw=True)
        put(lines, raw=True)
        put(data, raw=True)


def show(widget: Widget) -> None:
    """Note that a cell shows a widget; close those that only an earlier run of this cell has shown."""
    for part in parts(widget):
        part.open()
    cell, run = _now()
    if not cell:
        return  # no notebook that says which cell it runs
    for other, places in list(_SHOWN.items()):
        if places.get(cell, run) != run:
            del places[cell]
            if not places and other is not widget:
                _close(other)
    _SHOWN.setdefault(widget, {})[cell] = run


def parts(widget: Widget) -> Iterator[Widget]:
    """Yield the widgets that a widget consists of, itself last."""
    from ipywidgets import Widget

    for value in widget.trait_values(sync=True).values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(part, Widget):
                yield from parts(part)
    yield widget


def _close(widget: Widget) -> None:
    del _SHOWN[widget]
    for part in parts(widget):
        part.close()
        # After that ipywidgets shows it as a text for ever; it is opened when it is shown again.
        vars(part).pop("_repr_mimebundle_", None)


def _now() -> tuple[str, str]:
    """Return the id of the cell that is being run, and of this run of it; empty where nobody tells."""
    from IPython import get_ipython

    shell = get_ipython()
    asked = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return asked.get("metadata", {}).get("cellId", ""), asked.get("header", {}).get("msg_id", "")
