"""What brokers of Open Message Queue accept in a cluster's configuration and do harm with."""

from __future__ import annotations

from mqlab.checks import rule
from mqlab.products.openmq.rules import clusters
from mqlab.spec.problem import Problem
from mqlab.spec.scenario import Scenario

RULES = rule.collected(clusters)


def check(scenario: Scenario) -> list[Problem]:
    """Return the problems of a cluster that runs and does harm, errors first.

    >>> from mqlab.spec.openmq import Network
    >>> [problem.rule for problem in check(Scenario(Network("b1")))]
    ['no-record']
    """
    return rule.check(RULES, clusters.Cluster.of(scenario))
