"""What Artemis brokers refuse at their start, or accept and do harm with."""

from __future__ import annotations

from mqlab.checks import rule
from mqlab.products.artemis.rules import balancing, brokers, pairs
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.artemis import HaScenario
from mqlab.spec.problem import Problem

RULES = rule.collected(pairs, balancing, brokers)


def check(scenario: HaScenario) -> list[Problem]:
    """Return the problems of a set-up, errors first.

    >>> from mqlab.spec.artemis.broker import Broker
    >>> lone = Broker("A", elements={"scale_down": {}})
    >>> [problem.rule for problem in check(HaScenario((lone,)))]
    ['scale-down-target']
    """
    return rule.check(RULES, SetUp.of(scenario))
