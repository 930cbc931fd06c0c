"""Figures with faults and time: chapters 1 and 4 of the Fuse guide, and set-ups that lose messages.

Each is a timed scenario with a question, the answer, and what the real product ends with: roles,
messages received, where clients are connected.
"""

from __future__ import annotations

from mqlab.formats import failover
from mqlab.formats.python import python
from mqlab.scenarios import reading
from mqlab.scenarios.reading import FamilyFigure

FILES = ("fuse4", "unsafe")


def figures() -> tuple[FamilyFigure, ...]:
    """Return all figures with time, those of the guide first."""
    return reading.read(FILES, failover.read, python)


def figure(id: str) -> FamilyFigure:
    """Return a figure with time by its id.

    >>> figure("fuse:4.1").title
    'Pure master/slave'
    """
    return reading.find(id, figures())
