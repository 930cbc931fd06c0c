"""What the real products accept and what does harm all the same; one module for each family.

A problem says where, what will happen, what to write instead, and where the guides or the recordings
say it. `check` is that of plain ActiveMQ networks; `mqlab.check` finds the right one.
"""

from __future__ import annotations

from mqlab.problems import failover, networks, reach, together, written
from mqlab.problems.located import located
from mqlab.spec import Network, Scenario
from mqlab.spec.problem import Problem
from mqlab.trace.grid import TextTable

__all__ = ["Problems", "check"]


def check(what: Network | Scenario) -> list[Problem]:
    """Return the problems of an ActiveMQ network or scenario, its locks and addresses too, errors first."""
    scenario = what if isinstance(what, Scenario) else Scenario(what, ())
    found = [
        *reach.check(scenario), *networks.check(what), *failover.check(scenario),
        *together.check(scenario.network), *written.check(scenario.network),
    ]  # fmt: skip
    placed = located(found, written.places(scenario.network))
    return sorted(placed, key=lambda problem: problem.level != "error")


class Problems(TextTable, list[Problem]):
    """Problems in a list: prints one a line, shows as a table in a notebook."""

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per problem."""
        lines = [[p.level, p.place, p.what, p.remedy, p.source] for p in self]
        return [["", "where", "what happens", "what to write", "source"], *lines]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "No problem is known."

    __repr__ = __str__
