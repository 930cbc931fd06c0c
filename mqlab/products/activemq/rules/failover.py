"""What real clients and brokers accept, and what strands or loses messages all the same.

Each problem says where, what will happen, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.errors import UriError
from mqlab.spec import Scenario
from mqlab.spec.clients import Client
from mqlab.spec.member import BrokerSettings
from mqlab.spec.problem import Problem
from mqlab.spec.uri import parse

UNSAFE_LOCKS = {
    "nfs3": "NFSv3 never frees the lock of a master that has died: no slave ever takes over",
    "ocfs2": "OCFS2 gives Java's lock to every broker: there are several masters",
}


# The rule of `check` -> the rule as observed.
SOURCES = {
    "filter-expression": "ActiveMQ rule 7.13",
    "filter-blank": "ActiveMQ rule 7.14",
    "lease-short": "ActiveMQ rule 16.4",
    "lease-name": "ActiveMQ rule 7.20",
    "lock-unsafe": "ActiveMQ rule 15.7",
    "lock-off": "ActiveMQ rule 15.8",
    "own-set": "ActiveMQ rule 7.22",
    "set-static": "ActiveMQ rule 12.5",
    "discovery-option": "ActiveMQ rule 7.4",
    "reconnect-zero": "ActiveMQ rule 7.2",
}


def _harm(rule: str, where: str, what: str, remedy: str) -> Problem:
    return Problem(rule, "error", where, what, remedy, SOURCES[rule])


def check(scenario: Scenario) -> tuple[Problem, ...]:
    """Return the problems of locks, sets and addresses, in the order of a scenario's parts.

    >>> from mqlab.spec import Broker, Network
    >>> lease = {"lock_acquire_sleep_interval_ms": 1000, "lock_keep_alive_period_ms": 3000}
    >>> net = Network(Broker("A", store="jdbc", locker="lease", **lease))
    >>> [str(p) for p in check(Scenario(net, ()))][0][:53]
    'error: broker A: its lease of 1000 ms ends before its'
    """
    return (
        *(p for member in _members(scenario) for p in _member(member)),
        *_sets(scenario),
        *_connectors(scenario),
        *_clients(scenario),
    )


def _members(scenario: Scenario) -> list[BrokerSettings]:
    network = scenario.network
    return [BrokerSettings.of(broker, network.edition) for broker in network.brokers]


def _member(member: BrokerSettings) -> Iterator[Problem]:
    where = f"broker {member.name}"
    for part in (member.updates.filter or "").strip().split(","):
        try:
            re.compile(part)
        except re.error:
            yield _harm("filter-expression", where, f"updateClusterFilter {part!r} is no regular expression: "
                          "each bridge comes down as soon as it is up, there is no network",
                          f"write {part.replace('*', '.*')!r}")  # fmt: skip
        if part != part.strip():
            yield _harm("filter-blank", where, f"the blank in updateClusterFilter {part!r} belongs to the "
                          "expression, which fits no name", f"write {part.strip()!r}")  # fmt: skip
    locker = member.locker
    if locker is None:
        return
    if locker.kind == "lease" and locker.check_period >= locker.acquire_sleep:
        yield _harm("lease-short", where, f"its lease of {locker.acquire_sleep} ms ends before its renewal "
                      f"after {locker.check_period} ms: a slave takes over a healthy master",
                      "set lockKeepAlivePeriod below lockAcquireSleepInterval, such as "
                      f"{locker.acquire_sleep // 2}")  # fmt: skip
    if locker.file_system in UNSAFE_LOCKS:
        yield _harm(
            "lock-unsafe", where, UNSAFE_LOCKS[locker.file_system], "use NFSv4 or a SAN file system"
        )
    if not locker.use_lock:
        yield _harm(
            "lock-off", where, "useLock=false: every member is a master", "leave useLock out"
        )


def _sets(scenario: Scenario) -> Iterator[Problem]:
    holders: dict[str, str] = {}
    for member in _members(scenario):
        locker = member.locker
        if locker is None or locker.kind != "lease":
            continue
        holder = locker.holder or member.broker_name
        if holder in holders:
            yield _harm("lease-name", f"broker {member.name}", f"it has the lease under the name {holder!r}, "
                          f"as {holders[holder]} has: after a lapse both are masters",
                          "give each its own leaseHolderId")  # fmt: skip
        holders.setdefault(holder, member.name)


def _set_of(member: BrokerSettings, masters: set[str]) -> str | None:
    """Return what the members of a broker's set have in common; None if it is in none."""
    if member.locker is not None:
        return f"store {member.locker.store}"
    master = member.pure.slave_of or (member.name if member.name in masters else None)
    return None if master is None else f"pure {master}"


def _connectors(scenario: Scenario) -> Iterator[Problem]:
    members = _members(scenario)
    masters = {m.pure.slave_of for m in members if m.pure.slave_of}
    set_of = {member.name: _set_of(member, masters) for member in members}
    for home, connector in scenario.network.connectors():
        where = f"connector {home.name}/{connector.name}"
        own = set_of[home.name]
        hosts = re.findall(r"\{(\w+)\}|//([^:/,)?]+)", connector.uri)
        targets = [n for pair in hosts for n in pair if n in set_of]
        inside = [n for n in targets if own is not None and set_of[n] == own]
        if inside:
            yield _harm("own-set", where, f"{inside[0]} is of the same set and never serves while "
                          f"{home.name} does: it is tried for ever",
                          "connect only to brokers of other sets")  # fmt: skip
        sets = [set_of[name] for name in targets]
        plain = connector.uri.startswith("static:(") and "failover:" not in connector.uri
        if plain and any(s is not None and sets.count(s) > 1 for s in sets):
            yield _harm("set-static", where, "static: wants a bridge to every member of a set, and slaves "
                          "have no open port", "write masterslave:(...)")  # fmt: skip


def _clients(scenario: Scenario) -> Iterator[Problem]:
    for no, action in enumerate(scenario.actions, 1):
        if not isinstance(action, Client):
            continue
        where, uri = f"step {no}, client {action.name}", action.uri
        try:
            options = parse(uri).parameters
        except UriError:
            continue  # the client itself says so
        if uri.startswith("discovery:") and "backOffMultiplier" in options:
            yield _harm("discovery-option", where, "discovery: swallows backOffMultiplier without effect",
                          "write reconnectDelayExponent")  # fmt: skip
        if options.get("maxReconnectAttempts") == "0" and scenario.network.edition != "5.5":
            yield _harm("reconnect-zero", where, "maxReconnectAttempts=0: when an established connection is "
                          "lost no other address is tried", "write -1, or 1 or more")  # fmt: skip
