"""The figures, lists and samples of AMQ Broker 7.1, chapter 21 (seed 003): high availability.

Each is a set of brokers with a script, a question and its answer. `expected` is what a run ends with:
`roles` (broker: role) and `roles_at` (snapshot: the same), `count` (role: how many), `in_sync` (group:
slaves), `received` (consumer: count), `order` (consumer: message numbers), `redelivered`, `twice` and
`waiting` (live broker: messages), `stored` (dead broker: messages on its disk), `hosted` (broker:
backup: role, pair, port), `connectors` (text: whether a hosted backup has it), `lost` (how many) and
`problems` (what `mqlab check` says, by rule).
"""

from __future__ import annotations

from mqlab.products import guide_figures
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.files.python import python
from mqlab.products.guide_figures import FamilyFigure

FILES = ("artemis",)


def figures() -> tuple[FamilyFigure, ...]:
    """Return the figures of the chapter, in its order."""
    return guide_figures.read(__name__, FILES, lab_file.read, python)


def figure(id: str) -> FamilyFigure:
    """Return a figure by its id.

    >>> figure("artemis:21.1").title
    'Replicated stores of a master and its slave'
    """
    return guide_figures.find(id, figures())
