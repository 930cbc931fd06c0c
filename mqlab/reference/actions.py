"""Which action each product takes: made of the tables that read scripts, so that it is complete."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from mqlab.reference.tables import PRODUCTS
from mqlab.spec import codec
from mqlab.trace.grid import TextTable


@dataclass(frozen=True, slots=True)
class Actions(TextTable):
    """Name of an action -> the products that take it, and what it does."""

    rows: dict[str, tuple[frozenset[str], str]]

    def table(self) -> list[list[str]]:
        """Return the table as text: an action a line, a column for each product."""
        lines = [
            [name, *("yes" if product in takers else "-" for product in PRODUCTS), does]
            for name, (takers, does) in self.rows.items()
        ]
        return [["action", *PRODUCTS, "what it does"], *lines]


def actions() -> Actions:
    """Return all actions in the order of their names.

    >>> sorted(actions().rows["Crash"][0])
    ['activemq', 'artemis', 'openmq']
    """
    found: dict[str, tuple[frozenset[str], str]] = {}
    for product in PRODUCTS:
        for name, noun in codec.nouns(product).items():
            takers, does = found.get(name, (frozenset(), (inspect.getdoc(noun) or "").partition("\n")[0]))
            found[name] = takers | {product}, does
    return Actions(dict(sorted(found.items())))
