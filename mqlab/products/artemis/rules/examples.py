"""Pairs and clusters of Artemis whose brokers fail, or whose messages lie elsewhere than their readers."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.products.artemis.files import lab_file
from mqlab.spec.action import Consumer, Producer, Rollback
from mqlab.spec.artemis import Network
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.json_types import JsonDict
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import Destination

QUEUE = Destination("queue", "Q")
Policy = Mapping[str, object] | None
MASTER = {"policy": "replication", "role": "master"}
SLAVE = {"policy": "replication", "role": "slave"}
COLOCATED = {"policy": "replication", "role": "colocated", "master": {}, "slave": {}}
LIMIT = 30_000  # ms
DISCOVERED = {"discovery_group_ref": "all"}
TO_B2 = {"connectors": ["to_B2"]}


def _read(brokers: Mapping[str, Policy], *steps: JsonDict, **more: object) -> Scenario:
    members = [{"name": name, **({"ha": dict(policy)} if policy else {})} for name, policy in brokers.items()]
    body = {
        "product": "artemis",
        "brokers": members,
        "queues": [{"name": "Q"}],
        **more,
        "steps": [{"do": "start"}, *steps, {"do": "settle"}],
    }
    return lab_file.read(body, "shown")


def routed(routing: str) -> Scenario:
    """Return a queue of a routing, and messages that are sent to a queue of its name."""
    network = Network(Broker("A"), queues=(AddressQueue("Q", routing=routing),))
    return Scenario.of(network, Consumer("C", on="A", reads=QUEUE), Producer("P", on="A", to=QUEUE, sends=5))


def _until(broker: str, role: str) -> dict[str, object]:
    return {"do": "wait_until", "broker": broker, "role": role, "timeout_ms": LIMIT}


def _wait(ms: int) -> dict[str, object]:
    return {"do": "wait", "ms": ms}


def _send(broker: str, count: int = 5) -> dict[str, object]:
    return {"do": "send", "broker": broker, "queue": "Q", "count": count}


def _reads(broker: str, name: str = "C", **more: bool) -> dict[str, object]:
    return {"do": "open_consumer", "consumer": name, "broker": broker, "queue": "Q", **more}


def _kill(broker: str) -> dict[str, object]:
    return {"do": "kill", "broker": broker}


def _pair(master: Mapping[str, object], slave: Mapping[str, object], *steps: JsonDict) -> Scenario:
    brokers = {"M1": {**MASTER, **master}, "S1": {**SLAVE, **slave}}
    return _read(brokers, _until("S1", "backup_in_sync"), *steps)


def returns(**master: bool) -> Scenario:
    """Return a master that comes back after its slave has given six of ten messages away."""
    return _pair(
        master,
        {"allow_failback": True},
        _send("M1", 10),
        _kill("M1"),
        _until("S1", "live"),
        _reads("S1", "C1", receiving=False),
        {"do": "receive", "consumer": "C1", "count": 6},
        {"do": "close_consumer", "consumer": "C1"},
        {"do": "start_broker", "broker": "M1"},
        _until("M1", "live"),
        _reads("M1", "C2"),
    )


def comes_back(**slave: bool) -> Scenario:
    """Return a master that comes back after its slave has gone live."""
    back = {"do": "start_broker", "broker": "M1"}
    return _pair(
        {"check_for_live_server": True},
        slave,
        _kill("M1"),
        _until("S1", "live"),
        back,
        _wait(20_000),
    )


def cut(pairs: int) -> Scenario:
    """Return pairs in groups of their own; the line between the first master and its slave is cut."""
    brokers: dict[str, Policy] = {}
    for no in range(1, pairs + 1):
        brokers |= {
            f"M{no}": {**MASTER, "group_name": f"g{no}"},
            f"S{no}": {**SLAVE, "group_name": f"g{no}"},
        }
    synced = (_until(f"S{no}", "backup_in_sync") for no in range(1, pairs + 1))
    return _read(brokers, *synced, _send("M1"), {"do": "cut", "between": ["M1", "S1"]}, _wait(20_000))


def grouped(master: str, slave: str) -> Scenario:
    """Return a master that dies, and a slave, each in a group."""
    brokers = {"M1": {**MASTER, "group_name": master}, "S1": {**SLAVE, "group_name": slave}}
    return _read(brokers, _wait(10_000), _send("M1"), _kill("M1"), _wait(20_000))


def dies(**slave: int) -> Scenario:
    """Return a master that dies with five messages."""
    return _pair({}, slave, _send("M1"), _kill("M1"), _wait(60_000))


def unclustered(clustered: bool) -> Scenario:
    """Return a master that dies, and a slave, which have a cluster connection or none."""
    brokers = {"M1": MASTER, "S1": SLAVE}
    cluster = {"clustered": clustered}
    return _read(brokers, _wait(10_000), _send("M1"), _kill("M1"), _wait(20_000), cluster=cluster)


def scales_down(policy: Mapping[str, object], other: Policy = None, **more: object) -> Scenario:
    """Return a broker that is stopped with five messages, and a reader of them at the other one."""
    brokers = {"B1": {"policy": "live_only", "scale_down": dict(policy)}, "B2": other}
    stop = {"do": "stop", "broker": "B1"}
    cluster = {"message_load_balancing": "OFF", "discovery": "discovery_group_ref" in policy}
    return _read(brokers, _wait(3000), _send("B1"), stop, _reads("B2"), cluster=cluster, **more)


def in_group(name: str) -> Scenario:
    """Return a broker that scales down to a group, and another one that is in the group of a name."""
    other = {"policy": "live_only", "scale_down": {"enabled": False, "group_name": name}}
    return scales_down({"group_name": "g", **DISCOVERED}, other)


def hosted(room: int, **host: list[str]) -> Scenario:
    """Return a broker that asks another to host its backup, and dies."""
    brokers = {
        "A": {**COLOCATED, "max_backups": room, **host},
        "B": {**COLOCATED, "request_backup": True, "max_backups": 0},
    }
    return _read(brokers, _wait(20_000))


def apart(kind: str, *steps: dict[str, object], **settings: int) -> Scenario:
    """Return two brokers without policies, and what happens at them under a kind of balancing."""
    more = {"address_settings": settings} if settings else {}
    return _read(
        {"A": None, "B": None},
        _wait(3000),
        *steps,
        cluster={"message_load_balancing": kind},
        **more,
    )


LATE = (_send("A"), _reads("B"))
EARLY = (_reads("B"), _wait(1000), _send("A"))


def paged(page: int) -> Scenario:
    """Return a broker of 2.4 whose queue may hold 5,000 bytes in memory, and pages of so many bytes."""
    sizes = {"address_full_policy": "PAGE", "max_size_bytes": 5000, "page_size_bytes": page}
    network = Network(Broker("A", address_settings={"#": sizes}), queues=(AddressQueue("Q"),), edition="2.4")
    return Scenario.of(network, Consumer("C", on="A", reads=QUEUE), Producer("P", on="A", sends=5, to=QUEUE))


def undelivered(*others: str) -> Scenario:
    """Return a consumer that gives five messages back as often as it may; queues Q and *others*."""
    settings = {"max_delivery_attempts": 1, "dead_letter_address": "DLQ"}
    queues = tuple(AddressQueue(name) for name in ("Q", *others))
    network = Network(Broker("A", address_settings={"#": settings}), queues=queues)
    reads = Consumer("C", on="A", reads=QUEUE, ack_mode="transacted", acknowledge=False)
    return Scenario.of(network, reads, Producer("P", on="A", sends=5, to=QUEUE), Rollback("C"))
