"""What Artemis brokers refuse at their start, or accept and do harm with."""

from __future__ import annotations

from mqlab.checks import rule
from mqlab.products.artemis.rules import (
    balancing,
    brokers,
    connections,
    pairs,
    required,
    running,
    security,
)
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.problem import Problem
from mqlab.spec.scenario import Scenario

RULES = rule.collected(pairs, balancing, brokers, connections, required, running, security)


def check(scenario: Scenario) -> list[Problem]:
    """Return the problems of a set-up, errors first.

    >>> from mqlab.spec.artemis import Broker, Network
    >>> lone = Broker("A", elements={"scale_down": {}})
    >>> [problem.rule for problem in check(Scenario(Network(lone)))]
    ['scale-down-target']
    """
    return rule.check(RULES, SetUp.of(scenario))
