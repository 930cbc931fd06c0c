"""Where in the files a problem is written: that of a connector at its element, that of a broker at its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from mqlab.spec.problem import Problem

Places = Mapping[str, tuple[str, int]]  # broker, or broker/connector -> file and line


def located(problems: Iterable[Problem], places: Places) -> Iterator[Problem]:
    """Yield problems with file and line, where what they are about was read from files."""
    for problem in problems:
        place = None if problem.file else _place(problem.where, places)
        yield replace(problem, file=place[0], line=place[1]) if place else problem


def _place(where: str, places: Places) -> tuple[str, int] | None:
    """Return the place of the first connector or broker that a text such as ``broker A`` names."""
    named = re.sub(r"\A(broker|connector|brokers) ", "", where).split(", ")[0]
    return places.get(named) or places.get(named.partition(" and ")[0])
