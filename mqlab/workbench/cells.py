"""Widgets of a cell that has been run again: what showed them is gone, and they leave the kernel.

ipywidgets keeps every widget until it is closed; a workbench has 24. One that is shown once more is opened
again, as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from ipywidgets import Widget

    # Where each is shown: cell -> which of its runs.
    _SHOWN: WeakKeyDictionary[Widget, dict[str, str]]

_SHOWN = WeakKeyDictionary()


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
