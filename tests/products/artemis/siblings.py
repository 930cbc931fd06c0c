"""Siblings of the recorded scenarios: other numbers, endings, policies and versions of each theme.

What each ends with follows from the rules of Artemis and was written down before it
was played; the comments name the rule where it is not the theme's own.
"""

from __future__ import annotations

import pytest

from tests.products.artemis.ha import at, ha, master, slave, store

PAIR = {"M1": master(), "S1": slave()}
BACK = {"M1": master(check_for_live_server=True), "S1": slave(allow_failback=True)}
STORE = {"M1": store("master"), "S1": store("slave")}
AB, ABC = dict.fromkeys("AB"), dict.fromkeys("ABC")
QUICK = {"vote_retries": 3, "vote_retry_wait": 1000}
OFF, STRICT = ({"message_load_balancing": kind} for kind in ("OFF", "STRICT"))
LOST = "TransactionRolledBackException / ActiveMQTransactionRolledBackException AMQ119030"
AGAIN = ["failure_detected", "failover_completed"]
GAVE_UP = ["failure_detected", "failover_failed"]
WINDOW = '{"confirmation_window_size":1000}'
SHORT = '{"confirmation_window_size":1000,"connection_ttl":2000}'
THRICE = '{"confirmation_window_size":1000,"reconnect_attempts":3}'
SYNC, OVER = "wait ms=2000", "wait ms=3000"


def scales(*connectors, **more):
    return ha("live_only", scale_down={"connectors": list(connectors), **more})


def colocated(policy, names, slave_part=None, master_part=None, **more):
    """Return brokers that ask for a backup and take one, with their connectors excluded."""
    found = {}
    for name in names:
        others = [f"to_{other}" for other in names if other != name]
        keys = {"excludes": others} if policy == "replication" else {}
        half = {"request_backup": True, "master": master_part or {}, "slave": slave_part or {}}
        found[name] = {"ha": ha(policy, "colocated", **half, **keys, **more)}
        if policy == "shared_store":
            found[name]["shared_store"] = f"store of {name}"
    return found


def case(name, brokers, script, more=None, **expected):
    return pytest.param(brokers, script, more or {}, expected, id=name)


V24, V25 = {"version": "2.4"}, {"version": "2.5"}


def seen(found, key, expected):
    """Return what *found* has where something is expected."""
    if key in ("lost",):
        return found[key]
    if key == "so_far":
        return {label: found["snapshots"][label]["received_so_far"] for label in expected}
    if key in found["snapshots"] or key == "roles":
        shot = found["snapshots"]["end" if key == "roles" else key]["brokers"]
        return " ".join(state["role"] for state in shot.values())
    states = found["snapshots"]["end"]["brokers"]
    told = {
        "pair": lambda: {name: states[name].get("pair") for name in expected},
        "largest": lambda: {name: states[name]["largest_cluster_seen"] for name in expected},
        "topology": lambda: {name: states[name]["topology"] for name in expected},
        "in_flight": lambda: {label: found["snapshots"][label]["brokers"]["A"]["queues"]["Q"][
            "in_flight"] for label in expected},
        "queues": lambda: {name: sorted(states[name]["queues"]) for name in expected},
        "hosted": lambda: {name: state["hosts"]["colocated_backup_01"]["role"]
                           for name, state in states.items() if name in expected and "hosts" in state},
        "ports": lambda: {name: int(row["acceptors"][-1].split()[-1])
                          for name, row in states["A"]["hosts"].items()},
    }  # fmt: skip
    if key in told:
        return told[key]()
    clients = {**found["consumers"], **found["senders"]}
    if isinstance(expected, dict):
        return {what: clients[key].get(what) for what in expected}
    return at(found, key.rstrip("_"))["queues"]["Q"]["waiting"]
