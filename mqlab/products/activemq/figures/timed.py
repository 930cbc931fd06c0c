"""Figures with faults and time: chapters 1 and 4 of the Fuse guide, and set-ups that lose messages.

Each is a timed scenario with a question, the answer, and what the real product ends with: roles,
messages received, where clients are connected.
"""

from __future__ import annotations

from mqlab.products import guide_figures
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.files.python import python
from mqlab.products.guide_figures import FamilyFigure

FILES = ("fuse4", "unsafe")


def figures() -> tuple[FamilyFigure, ...]:
    """Return all figures with time, those of the guide first."""
    return guide_figures.read(__package__, FILES, lab_file.read, python)


def figure(id: str) -> FamilyFigure:
    """Return a figure with time by its id.

    >>> figure("fuse:4.1").title
    'Pure master/slave'
    """
    return guide_figures.find(id, figures())
