"""Random scripts on random sets of Artemis brokers: what must hold whatever happens."""

from __future__ import annotations

import contextlib
import copy
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.errors import MqlabError
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.products.artemis.rules import check
from mqlab.trace.kinds import Kind
from tests.conftest import ALL, packed
from tests.products.artemis.ha import body, ha, master, pairs, slave, store
from tests.products.artemis.test_trace import depths
from tests.trace import state as brokers

HALVES = {"request_backup": True, "master": {}, "slave": {}}
SETS = [
    {"A": None, "B": None, "C": None},
    {"A": master(), "B": slave()},
    {"A": master(check_for_live_server=True), "B": slave(allow_failback=True), "C": slave()},
    pairs(3, {"vote_retries": 1, "vote_retry_wait": 1000}, vote_on_replication_failure=True),
    {"A": store("master"), "B": store("slave"), "C": store("slave", failover_on_shutdown=True)},
    {"A": ha("live_only", scale_down={"connectors": ["B", "C"]}), "B": None, "C": None},
    {n: ha("replication", "colocated", **HALVES, excludes=[f"to_{o}" for o in "AB" if o != n])
     for n in "AB"},
    {n: {"ha": ha("shared_store", "colocated", **HALVES), "shared_store": n} for n in "AB"},
    {n: {"ha": ha("shared_store", "colocated", request_backup=True, master={},
                  slave={"scale_down": {"enabled": True}}), "shared_store": n} for n in "AB"},
]  # fmt: skip
BALANCING = ["ON_DEMAND", "STRICT", "OFF"]


@st.composite
def scripts(draw):
    """Return a scenario whose steps are valid, in whatever order they come."""
    brokers = draw(st.sampled_from(SETS))
    names, steps, open_now, opened, clients = list(brokers), [], set(), 0, 0
    for _ in range(draw(st.integers(1, 14))):
        name = draw(st.sampled_from(names))
        dest = draw(st.sampled_from([{"queue": "Q"}, {"topic": "T"}, {"queue": "N"}]))
        do = draw(st.sampled_from(["kill", "stop", "start", "send", "open_consumer", "consumer", "cut",
                                   "heal", "wait", "pause", "resume_broker", "client"]))  # fmt: skip
        if do in ("kill", "stop", "pause", "resume_broker"):
            steps.append({"do": do, "broker": name})
        elif do == "start":
            steps.append({"do": do, "brokers": [name]})
        elif do == "send":
            steps.append({"do": do, "broker": name, **dest, "count": draw(st.integers(1, 4)),
                          "persistent": draw(st.booleans()), "time_limit_ms": 2000})  # fmt: skip
        elif do == "open_consumer":
            opened += 1
            open_now.add(f"C{opened}")
            durable = {"durable_name": "d", "client_id": f"c{opened}"} if "topic" in dest else {}
            steps.append({"do": do, "consumer": f"C{opened}", "broker": name, **dest,
                          **(durable if draw(st.booleans()) else {}), "time_limit_ms": 2000,
                          "receiving": draw(st.booleans()),
                          "ack_mode": draw(st.sampled_from(["auto", "client", "transacted"])),
                          "url": {"reconnect_attempts": draw(st.sampled_from([-1, 0, 2]))}})  # fmt: skip
        elif do == "consumer" and open_now:
            who = draw(st.sampled_from(sorted(open_now)))
            act = draw(st.sampled_from(["receive", "resume", "hold", "close_consumer", "commit"]))
            key = "client" if act == "commit" else "consumer"
            steps.append({"do": act, key: who, **({"count": 2} if act == "receive" else {})})
        elif do == "client":
            clients += 1
            who = f"X{clients}"
            steps += [{"do": "open_client", "client": who, "broker": name, "transacted": True,
                       "time_limit_ms": 1000},
                      {"do": "send", "client": who, **dest, "count": 2, "time_limit_ms": 1000},
                      {"do": draw(st.sampled_from(["commit", "rollback"])), "client": who}]  # fmt: skip
        elif do in ("cut", "heal"):
            other = draw(st.sampled_from([*names, "clients"]))
            if other != name:
                steps.append({"do": do, "between": [name, other]})
        else:
            steps.append({"do": "wait", "ms": draw(st.sampled_from([100, 2000, 20_000]))})
    return body(brokers, version=draw(st.sampled_from(["2.4", "2.5"])), start=draw(st.booleans()),
                cluster={"message_load_balancing": draw(st.sampled_from(BALANCING))},
                address_settings={"redistribution_delay": draw(st.sampled_from([-1, 0, 1000]))},
                ) | {"steps": [{"do": "start"}, *steps, {"do": "settle"},
                               {"do": "snapshot", "label": "end"}]}  # fmt: skip


@settings(max_examples=150 if ALL else 50, deadline=None)
@given(scripts(), st.integers(0, 3))
def test_nothing_comes_from_nowhere_and_what_is_gone_is_told(value, seed):
    scenario = lab_file.read(value)
    lab = ArtemisLab(scenario, seed, limit=100_000)
    lab.play()
    run = lab.trace
    brokers.check(lab)
    said = outcome(run)
    assert lab_file.read(lab_file.write(scenario)).actions == scenario.actions
    sent = {n for sender in said["senders"].values() for n in sender["sent"]}
    for consumer in said["consumers"].values():
        assert set(consumer["received"]) <= sent
        assert set(consumer.get("redelivered", ())) <= set(consumer["received"])
    waiting = {n for of in run.waiting().values() for found in of.values() for n in found}
    told = {msg for kind, msg in zip(run.column("kind"), run.column("msg"), strict=True)
            if kind == Kind.Discarded}  # fmt: skip
    # A trace counts what lies in queues; a subscriber's unread messages of a topic do not.
    unread = {n for state in said["snapshots"]["end"]["brokers"].values()
              for name, row in state.get("queues", {}).items() if "." in name or ":" in name
              for n in [*row["waiting"], *row.get("delivering", ())]}  # fmt: skip
    pending = {n for sender in said["senders"].values() for n in sender["sent"]
               if "still blocked" in str(sender.get("results"))}  # fmt: skip
    assert set(run.lost()) <= told | unread | pending
    assert set(run.lost()) <= sent - waiting
    final = said["snapshots"]["end"]["brokers"]
    hung = any(step["do"] == "pause" for step in value["steps"])  # what was on its way lies here
    for name, state in final.items():
        if "queues" in state and not hung:  # one that stops itself after a vote says live, and no more
            queues = {d: n for d, n in run.waiting().get(name, {}).items() if d.startswith("queue://")}
            found = {d: len(n) for d, n in queues.items()}
            assert found == depths(state)
    assert list(run.column("t")) == sorted(run.column("t"))


ODD = [None, "x", 3, -1, [], {}, True, [1], {"a": 1}, "", 1.5, ["M1"]]
TOLD = ("name", "theme", "title", "guide", "guide_says", "behaviour", "runs")


def places(value, path=()):
    """Yield the way to each value inside of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))


@settings(max_examples=300 if ALL else 100, deadline=None)
@given(st.integers(0, 10**9))
def test_a_spoilt_file_is_refused_or_runs_and_never_ends_in_another_error(seed):
    chance = random.Random(seed)
    recordings = packed("artemis")
    value = copy.deepcopy(recordings[chance.choice(sorted(recordings))]["scenario"])
    path = chance.choice([p for p in places(value) if p[0] not in TOLD])
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if chance.random() < 0.7:
        inner[path[-1]] = chance.choice(ODD)
    else:
        del inner[path[-1]]
    with contextlib.suppress(MqlabError):  # any other error fails the test
        scenario = lab_file.read(value, "spoilt.json")
        check(scenario)
        play(scenario, limit=20_000)
