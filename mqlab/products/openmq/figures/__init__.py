"""The figures of the Technical Overview, chapter 4 (seed 001): clusters of Open Message Queue.

Each is a cluster with a script, a question and its answer. `expected` is what a run ends with:
`received` (consumer: count), `redelivered`, `results` (step `id`: result), `known` (destination: brokers
that list it at the end), `holds` (broker: messages it holds as their home at the end), `crossed` (link:
messages), `lost` (how many).
"""

from __future__ import annotations

from mqlab.products import guide_figures
from mqlab.products.guide_figures import FamilyFigure
from mqlab.products.openmq.files import lab_file, python

FILES = ("openmq",)


def figures() -> tuple[FamilyFigure, ...]:
    """Return the figures of the chapter, in its order."""
    return guide_figures.read(__name__, FILES, lab_file.read, python.python)


def figure(id: str) -> FamilyFigure:
    """Return a figure by its id.

    >>> figure("openmq:4-1").title
    'A cluster of three brokers and clients at their home brokers'
    """
    return guide_figures.find(id, figures())
