"""A slow disk, as a fault: what is persistent waits for it, what is not does not."""

from __future__ import annotations

import copy

import pytest

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.products.activemq.files import timed_recordings
from mqlab.trace.accounts import roles
from mqlab.trace.kinds import Kind

PAIR = {
    "brokers": [{"name": n, "process": True, "shared_store": "disk"} for n in ("A", "B")],
    "steps": [
        {"do": "start_broker", "broker": "A", "wait": True},
        {"do": "start_broker", "broker": "B", "wait_ms": 500},
        {"do": "connect", "client": "P", "uri": "failover:({A},{B})?maxReconnectDelay=100"},
        {"do": "send", "client": "P", "queue": "Q", "count": 10},
        {"do": "kill", "broker": "A"},
        {"do": "wait_role", "broker": "B", "role": "master", "max_ms": 60000},
        {"do": "snapshot", "label": "final"},
    ],
}


def slow(factor, persistent=True, **whose):
    value = copy.deepcopy(PAIR)
    value["steps"].insert(3, {"do": "disk_slow", "factor": factor, **whose})
    value["steps"][4]["persistent"] = persistent
    return mq.run(value)


def took(trace, kind):
    times = [e.t for e in trace.events() if e.kind == kind]
    return times[-1] - times[0]


def test_reliable_sends_and_the_reading_of_the_store_wait_for_a_slow_disk():
    usual, late = slow(1, shared_store="disk"), slow(50, shared_store="disk")
    assert took(late, Kind.Sent) > 20 * took(usual, Kind.Sent)
    changes = [roles(run)["B"][-1] for run in (usual, late)]
    assert [role for _, role in changes] == ["master", "master"]
    crashed = [next(e.t for e in run.events() if e.kind == Kind.Crashed) for run in (usual, late)]
    waits = [time - crash for (time, _), crash in zip(changes, crashed, strict=True)]
    assert waits[1] > waits[0] + 5_000_000
    assert usual.lost() == late.lost() == []


def test_what_is_not_persistent_and_other_disks_are_not_slower():
    fast = took(slow(1, persistent=False, shared_store="disk"), Kind.Sent)
    assert took(slow(50, persistent=False, shared_store="disk"), Kind.Sent) == fast
    own = {"brokers": [{"name": "A", "store": "kahadb"}, {"name": "B", "store": "kahadb"}]}
    steps = [step for step in PAIR["steps"][:4] if step["do"] != "start_broker" or step["broker"] == "A"]
    spans = []
    for broker in ("A", "B"):
        more = {"do": "disk_slow", "factor": 40, "broker": broker}
        spans.append(took(mq.run({**own, "steps": [steps[0], more, *steps[1:]]}), Kind.Sent))
    assert spans[0] > 10 * spans[1]


@pytest.mark.parametrize(("keys", "hint"), [
    ({"factor": 0, "broker": "A"}, "above 0"), ({"factor": "2", "broker": "A"}, "expected a number"),
    ({"factor": 2}, "shared_store"), ({"factor": 2, "broker": "A", "shared_store": "disk"}, "not both"),
])  # fmt: skip
def test_a_slow_disk_is_refused_without_a_factor_or_an_owner(keys, hint):
    value = copy.deepcopy(PAIR)
    value["steps"].append({"do": "disk_slow", **keys})
    with pytest.raises(BadValue, match=hint):
        timed_recordings.read(value)
