"""What Artemis brokers refuse at their start, or accept and do harm with.

Sources: AMQ Broker 7.1, chapter 21; the rule as observed that is named in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mqlab.checks.source_lines import located
from mqlab.products.artemis.files.core import Core
from mqlab.products.artemis.files.sources import sources
from mqlab.spec.artemis import HaScenario, votes_needed
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.problem import Problem


def check(scenario: HaScenario) -> list[Problem]:
    """Return the problems of a set-up, errors first.

    >>> from mqlab.spec.artemis.broker import Broker
    >>> lone = Broker("A", elements={"scale_down": {}})
    >>> [problem.rule for problem in check(HaScenario((lone,)))]
    ['scale-down-target']
    """
    cores = sources(scenario.origin.files) if scenario.origin else {}
    found = [
        *_failback(scenario),
        *_votes(scenario),
        *_hosting(scenario),
        *_balancing(scenario),
        *_passwords(scenario, cores),
    ]
    for server in scenario.brokers:
        found += [*_refused(server), *_scale_down(scenario, server), *_colocated(scenario, server)]
    places = {name: (core.document.where, core.line) for name, core in cores.items()}
    placed = located(found, places)
    return sorted(placed, key=lambda problem: problem.level)


def _where(server: Broker) -> str:
    return f"broker {server.name}"


def _of(scenario: HaScenario, policy: str, *roles: str) -> list[Broker]:
    """Return the brokers, and the halves of colocated ones, with a policy and one of the roles."""
    return [
        half
        for server in scenario.brokers
        for half in (server, *server.halves())
        if half.policy == policy and half.role in roles
    ]


def _refused(server: Broker) -> Iterator[Problem]:
    for half in (server, *server.halves()[1:]):  # a colocated one is refused with its master
        reason = half.refused()
        if reason is not None:
            remedy = "leave excludes out" if "excludes" in reason else "write -1, or 1 and more"
            yield Problem(
                "refused",
                "error",
                _where(half),
                f"it does not start: {reason}",
                remedy,
                "Artemis rules 1.5 and 3.5",
            )


def _passwords(scenario: HaScenario, cores: Mapping[str, Core]) -> Iterator[Problem]:
    """The lab runs without security, where passwords are not asked for; a secured broker asks."""
    first, *others = scenario.brokers or [Broker("none")]
    said = first.keys.get("cluster_password")
    for server in others:
        own = server.keys.get("cluster_password")
        if own != said:
            yield Problem(
                "cluster-password",
                "error",
                _where(server),
                f"its cluster password is {own!r} and that "
                f"of {first.name} is {said!r}: with security on they refuse each other and never pair",
                "give all brokers of a cluster the same cluster-password",
                "Artemis rule 11.2",
                *_line(cores.get(server.name), "cluster-password"),
            )


def _line(core: Core | None, element: str) -> tuple[str, int]:
    """Return file and line of an element of a broker's file, or of the core where it has none."""
    if core is None:
        return "", 0
    found = core.element.first(element)
    return core.document.where, core.element.line if found is None else found.line


def _failback(scenario: HaScenario) -> Iterator[Problem]:
    """Yield what comes of masters that return, and of slaves whose group no master is in."""
    masters = _of(scenario, "replication", "master")
    slaves = _of(scenario, "replication", "slave")
    for master in masters:
        own = [slave for slave in slaves if _group(slave) == _group(master)]
        back = any(slave.element("allow_failback") for slave in own)
        if back and not master.element("check_for_live_server"):
            yield Problem(
                "duplicates",
                "error",
                _where(master),
                "check-for-live-server is false: restarted "
                "after a failover it goes live beside its slave, with one node id, and delivers "
                "again what the slave has delivered",
                "set check-for-live-server to true",
                "AMQ Broker 7.1, 21.1.2",
            )
    checked = {_group(master) for master in masters if master.element("check_for_live_server")}
    if (
        checked
    ):  # colocated halves pair whatever their groups (recorded: colocated/guide_last_sample)
        yield from _stays_slave(
            one for one in slaves if _group(one) in checked or one not in scenario.brokers
        )
    there = {_group(half) for half in _of(scenario, "replication", "master", "colocated")}
    for slave in (one for one in scenario.brokers if there and one in slaves):
        if _group(slave) is not None and _group(slave) not in there:
            yield Problem(
                "group-alone",
                "error",
                _where(slave),
                f"no master is in its group {_group(slave)!r}: it never pairs, and takes over from nobody",
                "give it the group-name of its master",
                "AMQ Broker 7.1, 21.1.3",
            )


def _group(half: Broker) -> object:
    return half.elements.get("group_name")


def _stays_slave(slaves: Iterable[Broker]) -> Iterator[Problem]:
    for slave in slaves:
        if "allow_failback" not in slave.elements and slave.scale_down is None:
            yield Problem(
                "no-failback",
                "warning",
                _where(slave),
                "allow-failback is not given and false "
                "by default: after a failover the returning master stays its slave",
                "set allow-failback to true",
                "Artemis rule 4.3",
            )


def _votes(scenario: HaScenario) -> Iterator[Problem]:
    """Yield what the arithmetic of the quorum does to slaves (Artemis rule 13.1)."""
    lives = [s for s in scenario.brokers if s.role in ("master", "colocated", "live")]
    for slave in _of(scenario, "replication", "slave"):
        if slave.checks_network or slave.refused():
            continue
        size = slave.element("quorum_size")
        votes = votes_needed(len(lives) if size == -1 else size)
        if votes == 0:
            yield Problem(
                "split-brain",
                "warning",
                _where(slave),
                "it needs no vote: when only the line to "
                "its master is cut, both are live and both deliver the same messages",
                "use three or more pairs, or a network check",
                "Artemis rule 3.4; AMQ Broker 7.1, 21.1",
            )
        elif votes > len(lives) - 1:
            yield Problem(
                "never-live",
                "error",
                _where(slave),
                f"it needs {votes} votes and there are "
                f"{len(lives) - 1} voters: it never takes over from a crashed master",
                "lower quorum-size or add pairs",
                "Artemis rules 3.1 and 13.1",
            )
        elif not scenario.forgets_crashed:
            yield Problem(
                "never-live",
                "error",
                _where(slave),
                "voters of version 2.4 do not forget a crashed "
                "broker and vote no: it never takes over from a crashed master",
                "use version 2.5",
                "Artemis rule 1.1",
            )


def _scale_down(scenario: HaScenario, server: Broker) -> Iterator[Problem]:
    own = next((half for half in server.halves() if half.scale_down is not None), server)
    policy = own.scale_down
    if policy is None or policy.get("enabled") is False:
        return
    if own is server and server.role == "slave":
        yield Problem(
            "scale-down-slave",
            "error",
            _where(server),
            "a slave in a process of its own fails "
            "with a null pointer when it scales down: the messages stay where they are",
            "colocate it",
            "Artemis rule 1.10",
        )
    elif own is not server:
        return  # a hosted slave gives all to its host
    elif "connectors" not in policy and "discovery_group_ref" not in policy:
        yield Problem(
            "scale-down-target",
            "error",
            _where(server),
            "scale-down has no target: without "
            "connectors and discovery group only an in-VM connector is tried, and messages stay",
            "name connectors or a discovery group",
            "AMQ Broker 7.1, 21.4.1; Artemis rule 6.2",
        )
    group = policy.get("group_name")
    groups = [(s.scale_down or {}).get("group_name") for s in scenario.brokers if s is not server]
    if own is server and group is not None and group not in groups:
        yield Problem(
            "scale-down-group",
            "error",
            _where(server),
            f"no other broker is in the scale-down "
            f"group {group!r}: its messages stay when it stops",
            "give a target the same group-name",
            "AMQ Broker 7.1, 21.4.3; Artemis rule 6.2",
        )


def _colocated(scenario: HaScenario, server: Broker) -> Iterator[Problem]:
    if server.role != "colocated":
        return
    for half in ("master", "slave"):
        if half not in server.elements:
            yield Problem(
                "colocated-half",
                "warning",
                _where(server),
                f"colocated without a {half}: that half has the product's defaults",
                f"write a {half}",
                "AMQ Broker 7.1, 21.3.1",
            )
    others = [s.name for s in scenario.brokers if s is not server]
    missing = [f"to_{name}" for name in others if f"to_{name}" not in server.element("excludes")]
    hosts = server.element("max_backups") > 0 and server.policy == "replication"
    asked = any(
        s.element("request_backup")
        for s in scenario.brokers
        if s is not server and s.role == "colocated"
    )
    static = not scenario.option(server, "discovery")
    shifts = server.part("slave", server.name).scale_down is None
    if missing and hosts and asked and static and shifts:
        yield Problem(
            "excludes",
            "error",
            _where(server),
            f"the connectors {', '.join(missing)} lead to other "
            "brokers and are shifted for a hosted slave, which never finds its master",
            "list them under excludes",
            "Artemis rule 1.5; AMQ Broker 7.1, 21.3.2",
        )


def _hosting(scenario: HaScenario) -> Iterator[Problem]:
    colocated = [server for server in scenario.brokers if server.role == "colocated"]
    for server in colocated:
        room = sum(other.element("max_backups") for other in colocated if other is not server)
        if server.element("request_backup") and room == 0:
            yield Problem(
                "no-host",
                "error",
                _where(server),
                "request-backup is true and no other broker "
                "takes a backup (max-backups 0): it asks for ever and has none",
                "raise max-backups of another colocated broker",
                "Artemis rule 7.1",
            )


def _balancing(scenario: HaScenario) -> Iterator[Problem]:
    """Yield what the script shows: messages at one broker, and their consumers at others."""
    lives = {s.name: s for s in scenario.brokers if s.role in ("live", "master", "colocated")}
    delay = scenario.addresses.get("redistribution_delay", -1)
    readers: dict[str, tuple[str, str]] = {}  # consumer -> queue, broker
    lying: dict[tuple[str, str], str] = {}  # queue, broker -> kind of balancing there
    found: dict[tuple[str, str, str], Problem] = {}
    for step in scenario.steps:
        place, queue = step.keys.get("broker"), step.keys.get("queue")
        if step.do == "close_consumer":
            readers.pop(step.keys["consumer"], None)
        elif step.do in ("stop", "kill", "restart"):
            given = step.keys.get("brokers", place)
            gone = {given} if isinstance(given, str) else set(given)
            lying = {key: kind for key, kind in lying.items() if key[1] not in gone}
            readers = {name: key for name, key in readers.items() if key[1] not in gone}
        if not isinstance(place, str) or place not in lives or queue is None:
            continue
        if step.do == "open_consumer":
            readers[step.keys["consumer"]] = (queue, place)
            lying.pop((queue, place), None)
            for key, kind in lying.items():
                if key[0] == queue and (delay < 0 or kind != "ON_DEMAND"):
                    found["stays", *key] = _stays(lives[key[1]], queue, place, kind)
        elif step.do == "send":
            kind = scenario.option(lives[place], "message_load_balancing")
            there = {broker for name, broker in readers.values() if name == queue}
            if not there:
                lying[queue, place] = kind
            elif kind == "OFF" and place not in there:
                found["off", queue, place] = Problem(
                    "off-remote",
                    "error",
                    _where(lives[place]),
                    "message-load-balancing is OFF and "
                    f"{queue} has consumers elsewhere and none here: every send fails with an "
                    "internal error",
                    "use ON_DEMAND",
                    "Artemis rule 8.3",
                )
    yield from found.values()


def _stays(server: Broker, queue: str, reader: str, kind: str) -> Problem:
    off = (
        "redistribution-delay is -1" if kind == "ON_DEMAND" else f"message-load-balancing is {kind}"
    )
    return Problem(
        "no-redistribution",
        "warning",
        _where(server),
        f"{off}: what lies in {queue} here when its consumer comes to {reader} does not move there",
        "set redistribution-delay to 0 or more, with ON_DEMAND",
        "Artemis rule 8.4",
    )
