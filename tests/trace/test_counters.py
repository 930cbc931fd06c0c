"""Counters read off a trace, against those that real brokers showed at the end of their recordings."""

from collections import Counter

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.trace import counters
from tests.conftest import packed

FIELDS = {
    "queues": {
        "enqueued": "EnqueueCount", "dequeued": "DequeueCount", "in_flight": "InFlightCount",
        "forwarded": "ForwardCount", "depth": "QueueSize",
    },
    "topics": {
        "enqueued": "EnqueueCount", "dequeued": "DequeueCount", "dispatched": "DispatchCount",
        "forwarded": "ForwardCount",
    },
    "artemis": {
        "enqueued": "MessagesAdded", "depth": "MessageCount", "in_flight": "DeliveringCount",
        "consumers": "ConsumerCount",
    },
    "destinations": {
        "in": "numMsgsIn", "out": "numMsgsOut", "messages": "numMsgs", "unacked": "numMsgsPendingAcks",
        "consumers": "numConsumers",
    },
}  # fmt: skip


def shown(trace, states, product):
    """Yield (field, real, counted) of each counter that the states of brokers tell."""
    found = {(row.broker, row.destination): row.counts for row in trace.counters()}
    for broker, state in states.items():
        for group, kind in (("queues", "queue://"), ("topics", "topic://"), ("destinations", "")):
            for name, row in state.get(group, {}).items():
                if product == "artemis" and f"{kind}{name}" not in trace.names["dest"]:
                    continue  # a queue of one subscriber of a topic: a trace counts by destination
                counts = found.get((broker, f"{kind}{name}"), {})
                for field, ours in FIELDS["artemis" if product == "artemis" else group].items():
                    if isinstance(row.get(field), int):
                        yield f"{group}.{field}", row[field], counts.get(ours, 0) or 0


def compared(name):
    """Return (values compared, those that differ), by field, of the recordings whose runs were all alike."""
    alike, other = Counter(), Counter()
    for value in packed(name).values():
        observed = value.get("observed", {})
        ends = value.get("scenario", {}).get("steps", [{}])[-1].get("do") == "snapshot"
        if not ends or observed.get("deterministic") != "exact":
            continue
        trace = mq.run(value)
        states = list(observed["outcomes"][0]["outcome"]["snapshots"].values())[-1]["brokers"]
        for field, real, counted in shown(trace, states, name.split("-")[0]):
            (alike if real == counted else other)[field] += 1
    return alike, other


@pytest.mark.parametrize("name", ["activemq", "combined"])
def test_every_counter_of_activemq_is_the_real_brokers(name):
    alike, other = compared(name)
    assert other == {}
    assert set(alike) == {f"{group}.{field}" for group in ("queues", "topics") for field in FIELDS[group]}
    assert alike["queues.enqueued"] > 60


def test_the_counters_of_artemis_are_the_real_brokers():
    alike, other = compared("artemis")
    # A broker shows the consumer of a client that has died until its connection's TTL is over.
    assert other == {"queues.consumers": 2}
    assert alike["queues.enqueued"] == alike["queues.depth"] == alike["queues.in_flight"] > 100


def test_nearly_all_counters_of_openmq_are_the_real_brokers():
    """What differs: refused sends that count, copies of a consumer that left, durable ones that sleep."""
    alike, other = compared("openmq")
    known = {"in": 9, "out": 7, "messages": 5, "unacked": 21, "consumers": 19}
    assert other == {f"destinations.{field}": count for field, count in known.items()}
    assert min(alike.values()) >= 230


def test_a_counter_of_a_moment_is_asked_by_broker_destination_and_name():
    trace = mq.run("fuse:2.20")
    assert trace.counters(at=0).of("A", "queue://TEST.FOO")["EnqueueCount"] == 0
    end = trace.counters()
    assert (
        end.of("A", "queue://TEST.FOO")["ForwardCount"] == end.of("B", "queue://TEST.FOO")["EnqueueCount"] == 6
    )
    assert "DispatchCount" in str(end)
    assert "<table>" in end._repr_html_()
    with pytest.raises(UnknownName):
        end.of("A", "queue://TEST.BAR")
    with pytest.raises(UnknownName):
        end[0]["EnqueuedCount"]


def test_a_broker_that_is_down_has_no_counters_and_begins_again_at_zero():
    foo = mq.Queue("FOO")
    trace = mq.run(
        mq.Network(mq.Broker("A")),
        mq.Producer("P", on="A", sends=3, to=foo),
        mq.Crash("A", at="1s"),
        mq.Restart("A", at="2s"),
    )
    assert trace.counters(at="900ms")[0]["EnqueueCount"] == 3
    assert set(trace.counters(at="1500ms")[0].counts.values()) == {None}
    after = trace.counters()[0]
    assert (after["EnqueueCount"], after["QueueSize"]) == (0, 3)


@pytest.mark.parametrize("what", ["fuse:2.20", "openmq:4-2", "crash:replicated"])
def test_the_last_change_of_each_line_is_its_counter_at_the_end(what):
    trace = mq.run(what)
    last = {place: counts for _, place, counts in counters.changes(trace)}
    nodes, dests = trace.names["node"], trace.names["dest"]
    assert {(nodes[a], dests[b]): counts for (a, b), counts in last.items()} == {
        (row.broker, row.destination): list(row.counts.values()) for row in trace.counters()
    }
