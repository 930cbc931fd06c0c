"""Faults of the products: what they do by mistake, so that it is no rule and mqlab does not always do it."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources

from mqlab.errors import UnknownName
from mqlab.trace.grid import TextTable


@dataclass(frozen=True, slots=True)
class Defect:
    """A fault of one version: the smallest scenario, the line of the log, and how often it was seen."""

    product: str
    version: str
    fault: str
    scenario: str
    log: str
    seen: str
    source: str

    def value(self) -> dict[str, str]:
        """Return it as a JSON value."""
        return asdict(self)


class Defects(TextTable, tuple[Defect, ...]):
    """Defects in a tuple: prints and shows as a table."""

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per defect."""
        lines = [[f"{one.product} {one.version}", one.fault, one.scenario, one.log, one.seen] for one in self]
        return [["version", "fault", "smallest scenario", "log", "seen in plays"], *lines]

    __repr__ = TextTable.__str__


@cache
def _all() -> Defects:
    text = resources.files("mqlab.reference").joinpath("defects.toml").read_text(encoding="utf-8")
    return Defects(Defect(**row) for row in tomllib.loads(text)["defect"])


def defects(product: str = "") -> Defects:
    """Return the known faults of a product, or of all; raises `UnknownName` for another product.

    >>> len(defects("activemq"))
    4
    """
    products = sorted({one.product for one in _all()})
    if product and product not in products:
        raise UnknownName.of("product", product, products)
    return Defects(one for one in _all() if product in ("", one.product))
