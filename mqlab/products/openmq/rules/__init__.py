"""What brokers of Open Message Queue accept in a cluster's configuration and do harm with."""

from __future__ import annotations

from mqlab.checks import rule
from mqlab.products.openmq.rules import clusters
from mqlab.spec.openmq import ClusterScenario
from mqlab.spec.problem import Problem

RULES = rule.collected(clusters)


def check(scenario: ClusterScenario) -> list[Problem]:
    """Return the problems of a cluster that runs and does harm, errors first.

    >>> from mqlab.spec.openmq import Member
    >>> [p.rule for p in check(ClusterScenario((Member("b1"),), "none", None))]
    ['no-record']
    """
    return rule.check(RULES, clusters.Cluster.of(scenario))
