"""What can be drawn: a `plot()` that enters the room of pictures by its name.

A trace needs nothing of that room, which is above it and may not be installed.
"""

from __future__ import annotations

from importlib import import_module

from mqlab.spec.calls import Answering


class Plottable(Answering):
    """A value with charts of its own."""

    def plot(self) -> object:
        """Return charts for a notebook: what lay where over time, how long messages took, who got how many.

        Raises `MissingExtra` without Bokeh.
        """
        return import_module("mqlab.views").plot(self)
