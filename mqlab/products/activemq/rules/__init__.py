"""What ActiveMQ's brokers and clients accept and what does harm all the same.

A problem says where, what will happen, what to write instead, and where the guides or the recordings
say it. A module of rules is run in its place in `RULES`.
"""

from __future__ import annotations

from mqlab.checks import rule
from mqlab.products.activemq.rules import (
    addresses,
    connectors,
    failover,
    file_rules,
    identity,
    names,
    networks,
    option_conflicts,
    pairs,
    reachability,
    running,
    scripts,
    users,
)
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.spec import Network, Scenario
from mqlab.spec.problem import Problem

RULES = rule.collected(
    reachability,
    networks,
    connectors,
    failover,
    option_conflicts,
    pairs,
    names,
    identity,
    addresses,
    file_rules,
    running,
    scripts,
    users,
)


def check(what: Network | Scenario) -> list[Problem]:
    """Return the problems of an ActiveMQ network or scenario, its locks and addresses too, errors first.

    >>> import mqlab as mq
    >>> net = mq.Network(mq.Broker("A", mq.NetworkConnector(
    ...     "ab", uri="static:(tcp://B:61616)", network_ttl=0)), mq.Broker("B"))
    >>> [problem.rule for problem in check(net)]
    ['ttl-zero']
    """
    return rule.check(RULES, CheckContext(what))
