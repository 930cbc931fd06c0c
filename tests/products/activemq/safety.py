"""Set-ups of masters, slaves and networks, and what must not be lost in them whatever happens."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import play
from mqlab.spec import Scenario as TimedScenario
from mqlab.spec.schedule import faults
from tests.products.activemq.timed import body

POLL = 1000  # ms
LENGTH = 12_000  # ms during which faults happen
CALM = 22_000  # ms after which everything has been made good


def shared(file_system="local", **more):
    return {"process": True, "shared_store": "store", "lock_acquire_sleep_interval_ms": POLL,
            "file_system": file_system, **more}  # fmt: skip


def jdbc(locker, interval=POLL, keep=500, **more):
    return {"process": True, "jdbc": {"locker": locker, "lock_acquire_sleep_interval_ms": interval,
                                      "lock_keep_alive_period_ms": keep, **more}}  # fmt: skip


# name -> the keys of each member of the set, the product's version, how reliably is sent
SAFE: dict[str, tuple[dict[str, Any], str, bool]] = {
    "one broker with a journal behind a line": (
        {"A": {"process": True, "link": True, "store": "kahadb"}}, "5.17.2", True),
    "shared files": ({"A": shared(), "B": shared()}, "5.17.2", True),
    "shared files, three brokers": ({n: shared() for n in "ABD"}, "5.17.2", True),
    "shared files, lines that are cut": ({n: shared(link=True) for n in "AB"}, "5.17.2", True),
    "shared files that are looked after": (
        {n: shared(lock_keep_alive_period_ms=1000) for n in "AB"}, "5.17.2", True),
    "a lock in a database": ({n: jdbc("database") for n in "AB"}, "5.17.2", True),
    "a file system with a lease of its own": ({n: shared("nfs4") for n in "AB"}, "5.17.2", True),
}  # fmt: skip


def address(names) -> str:
    """Return the failover: address of all members."""
    return "failover:(" + ",".join("{" + name + "}" for name in names) + ")?maxReconnectDelay=200"


def script(names, persistent=True, through=""):
    """Return a script: a client sends all the time, faults happen, calm returns, all is taken."""
    uri = address(names)
    first, *others = names
    lines = [f"start_broker broker={first} wait=true"]
    lines += [f"start_broker broker={name} wait_ms=100" for name in others]
    producer = uri if not through else "failover:({R})?maxReconnectDelay=200"
    if through:
        lines.append("start_broker broker=R")
    reliable = json.dumps(persistent)
    lines += [
        f"connect client=P uri={producer} in_background=true",
        f"connect client=C uri={uri} in_background=true",
        "wait_ms ms=200",
        "open_consumer client=C consumer=K queue=Q receiving=false in_background=true",
        f"send client=P queue=Q count=40 interval_ms=250 persistent={reliable} in_background=true",
        f"wait_ms ms={CALM}",
        "wait_acts max_ms=40000",
        "resume_consumer consumer=K",
        "wait_ms ms=3000",
        "connect client=D uri=" + uri + " max_ms=30000",
        "open_consumer client=D consumer=L queue=Q max_ms=30000",
        "open_consumer client=D consumer=M queue=ActiveMQ.DLQ max_ms=30000",
        "wait_ms ms=12000",
    ]
    return "\n".join(lines)


def setting(members, version="5.17.2", persistent=True, through="") -> TimedScenario:
    names = list(members)
    more = dict(members)
    connectors = []
    if through:
        more["R"] = {"process": True, "store": "kahadb"}
        connectors = [("R", through)]
    value = body(" ".join(more), script(names, persistent, through=through), more=more,
                 connectors=connectors, version=version)  # fmt: skip
    return timed_recordings.read(value)


def missing(scenario: TimedScenario, seed: int, rate: float = 0.3, **more) -> list[int]:
    """Return the messages that a broker has acknowledged and nobody has received in the end."""
    troubled = faults(scenario, seed=seed, rate=rate, length=LENGTH, **more)
    found = outcome(play(troubled, seed=seed, limit=400_000))
    return not_received(found)


def not_received(found: dict[str, Any]) -> list[int]:
    sent = [n for row in found["results"] for n in numbers(row.get("sent", ""))]
    got = {n for entry in found.get("consumers", {}).values() for n in numbers(entry["received"])}
    return [n for n in sent if n not in got]


def numbers(text: str) -> list[int]:
    spans = (part.partition("-") for part in text.split(", ") if part)
    return [n for a, _, b in spans for n in range(int(a), int(b or a) + 1)]


# Set-ups that the reference calls unsafe: name -> members, version, whether sends are reliable, why.
UNSAFE: dict[str, tuple[dict[str, Any], str, bool, str]] = {
    "nfs3": ({n: shared("nfs3") for n in "AB"}, "5.17.2", True,
             "NFSv3 never lets go of a dead broker's lock: the slave waits for ever"),
    "ocfs2": ({n: shared("ocfs2") for n in "AB"}, "5.17.2", True,
              "OCFS2 gives the lock to everybody: two masters on one store"),
    "lease": ({n: jdbc("lease", 1000, 3000) for n in "AB"}, "5.17.2", True,
              "the lease is shorter than its renewal: a slave takes over a healthy master"),
    "unreliable": ({n: shared() for n in "AB"}, "5.17.2", False,
                   "what is not persistent is in the memory of one broker only"),
    "pure, cut link": (
        {"A": {"process": True, "link": True, "store": "kahadb"},
         "B": {"process": True, "store": "kahadb", "pure_slave_of": "A"}}, "5.5.1", True,
        "the slave cannot tell a cut link from a dead master: both serve"),
    "pure, older client": (
        {"A": {"process": True, "store": "kahadb"},
         "B": {"process": True, "store": "kahadb", "pure_slave_of": "A"}}, "5.5.1", True,
        "the slave knows nothing of sessions that were opened before it attached"),
}  # fmt: skip
KINDS = {"pure, cut link": ("cut",), "pure, older client": ("kill",)}


def unsafe(name: str, troubles) -> dict[str, Any]:
    """Return the scenario of an unsafe set-up with some (kind, broker, ms) done to it."""
    members, version, persistent, _ = UNSAFE[name]
    uri = "failover:({A},{B})?randomize=false&maxReconnectDelay=200"
    starts = ["start_broker broker=A wait=true", "start_broker broker=B wait_ms=100"]
    client = [f"connect client=P uri={uri}"]
    sends = (f"send client=P queue=Q count=10 interval_ms=500 persistent={json.dumps(persistent)} "
             "in_background=true")  # fmt: skip
    if name == "pure, older client":
        sequence = [starts[0], *client, sends, starts[1]]
    else:
        sequence = [*starts, *client, sends]
    lines = [*sequence, "wait_ms ms=12000", f"connect client=D uri={uri} max_ms=5000",
             "open_consumer client=D consumer=K queue=Q max_ms=5000", "wait_ms ms=3000"]  # fmt: skip
    value = body("A B", "\n".join(lines), more=members, version=version)
    for kind, broker, ms in troubles:
        key = "link" if kind == "cut" else "broker"
        value["steps"].append({"do": kind, key: broker, "at_ms": ms})
        if kind == "cut":
            value["steps"].append({"do": "heal", "link": broker, "at_ms": ms + 2000})
    return value


def loses(value: dict[str, Any]) -> bool:
    """Whether something acknowledged is not received in the end."""
    return bool(not_received(outcome(play(timed_recordings.read(value), limit=100_000))))


def shortest(name: str, most: int = 2) -> list[tuple[str, str, int]]:
    """Return the first schedule of faults that loses something, of those with the fewest faults."""
    kinds = KINDS.get(name, ("kill", "stop_broker", "pause"))
    brokers = "A" if name in KINDS else "AB"
    one = list(product(kinds, brokers, range(4000, 10_001, 1000)))
    for count in range(most + 1):
        for troubles in product(one, repeat=count):
            if loses(unsafe(name, troubles)):
                return list(troubles)
    raise AssertionError(f"{name} loses nothing")
