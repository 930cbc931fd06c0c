"""What the real products accept and what does harm all the same; one module for each family.

A problem says where, what will happen, what to write instead, and where the guides or the recordings
say it. `check` is that of plain ActiveMQ networks; `mqlab.check` finds the right one.
"""

from __future__ import annotations

from mqlab.checks.source_lines import located
from mqlab.products.activemq.rules import (
    failover,
    file_rules,
    networks,
    option_conflicts,
    reachability,
)
from mqlab.spec import Network, Scenario
from mqlab.spec.problem import Problem

__all__ = ["check"]


def check(what: Network | Scenario) -> list[Problem]:
    """Return the problems of an ActiveMQ network or scenario, its locks and addresses too, errors first."""
    scenario = what if isinstance(what, Scenario) else Scenario(what, ())
    found = [
        *reachability.check(scenario), *networks.check(what), *failover.check(scenario),
        *option_conflicts.check(scenario.network), *file_rules.check(scenario.network),
    ]  # fmt: skip
    placed = located(found, file_rules.places(scenario.network))
    return sorted(placed, key=lambda problem: problem.level != "error")
