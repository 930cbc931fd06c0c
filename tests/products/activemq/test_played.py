"""What siblings of the recordings did on real brokers: durable consumers, stores, copies of a message.

Played with ActiveMQ 5.5.1, 5.17.2 and 6.1.8, three times each, all alike. The steps: D opens the
durable subscriber, P a plain one, both at B; d and p close them, u closes and unsubscribes D. After each
step two messages are sent at A. A row tells how many of them the bridge has carried in all.
"""

from __future__ import annotations

import pytest

from mqlab.products.activemq.files import lab_file as lab_files
from mqlab.products.activemq.runtime import play
from mqlab.trace import Kind

NEWS = {"broker": "B", "topic": "NEWS"}
STEPS = {
    "D": {"do": "open_consumer", "consumer": "D1", **NEWS, "durable": True},
    "P": {"do": "open_consumer", "consumer": "S1", **NEWS},
    "d": {"do": "close_consumer", "consumer": "D1"},
    "p": {"do": "close_consumer", "consumer": "S1"},
    "u": {"do": "close_consumer", "consumer": "D1", "unsubscribe": True},
}
CARRIED = {  # steps -> (5.5, later) with conduit subscriptions
    "PDp": (6, 4),  # what came as a plain subscription stays for plain consumers only
    "PDpd": (6, 4),
    "PDdp": (6, 6),
    "PDu": (6, 6),
    "Dd": (4, 4),  # a durable one goes on while its user is away
    "DPu": (6, 4),  # and takes the plain consumer with it when it is given up
    "DPpu": (8, 6),
}
APART = {  # without conduit subscriptions, in every edition: each has its own, and it sleeps with its user
    "Dd": 2, "Du": 2, "PDd": 8, "PDp": 8, "DPu": 8,
}  # fmt: skip


def carried(steps: str, edition: str, conduit: bool) -> int:
    """Return how many messages B has had from A."""
    script = [{"do": "start"}]
    for step in steps:
        script += [STEPS[step], {"do": "send", "broker": "A", "topic": "NEWS", "count": 2},
                   {"do": "settle"}]  # fmt: skip
    value = {
        "brokers": [{"name": "A"}, {"name": "B"}],
        "connectors": [{"name": "A_to_B", "from": "A", "to": "B", "conduit_subscriptions": conduit}],
        "steps": [*script, {"do": "snapshot", "label": "end"}],
    }
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    return trace.header["snapshots"]["end"]["brokers"]["B"]["topics"]["NEWS"]["enqueued"]


@pytest.mark.parametrize("edition", ["5.5", "5.17", "6.1"])
@pytest.mark.parametrize("steps", CARRIED)
def test_a_conduit_stays_for_its_own_kind(steps, edition):
    assert carried(steps, edition, conduit=True) == CARRIED[steps][edition != "5.5"]


@pytest.mark.parametrize("edition", ["5.5", "5.17", "6.1"])
@pytest.mark.parametrize("steps", APART)
def test_without_conduits_a_durable_subscription_sleeps_with_its_user(steps, edition):
    assert carried(steps, edition, conduit=False) == APART[steps]


@pytest.mark.parametrize(("edition", "topics"), [("5.5", set()), ("5.17", {"NEWS"}), ("6.1", {"NEWS"})])
def test_a_lasting_store_remembers_topics(edition, topics):
    value = {
        "brokers": [{"name": "A", "store": "kahadb"}], "connectors": [],
        "steps": [{"do": "start"}, {"do": "send", "broker": "A", "topic": "NEWS", "count": 2},
                  {"do": "stop_broker", "broker": "A"}, {"do": "start_broker", "broker": "A"},
                  {"do": "snapshot", "label": "end"}],
    }  # fmt: skip
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    assert set(trace.header["snapshots"]["end"]["brokers"]["A"]["topics"]) == topics


@pytest.mark.parametrize(("edition", "counted"), [("5.5", (3, 3, 6, 0)), ("5.17", (3, 6, 6, 3))])
def test_what_a_durable_one_may_not_carry_back_counts_as_carried(edition, counted):
    """Played with 5.5.1 and 5.17.2 three times each: the copy for A, whence it came, is let go."""
    value = {
        "brokers": [{"name": "A"}, {"name": "B"}],
        "connectors": [{"name": "AB", "from": "A", "to": "B", "network_ttl": 3, "duplex": True}],
        "steps": [{"do": "start"}, {"do": "open_consumer", "consumer": "C1", **NEWS},
                  {"do": "open_consumer", "consumer": "D1", **NEWS, "broker": "A", "durable": True},
                  {"do": "send", "broker": "A", "topic": "NEWS", "count": 3}, {"do": "settle"},
                  {"do": "snapshot", "label": "end"}],
    }  # fmt: skip
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    topic = trace.header["snapshots"]["end"]["brokers"]["B"]["topics"]["NEWS"]
    found = tuple(topic.get(key, 0) for key in ("enqueued", "dequeued", "dispatched", "forwarded"))
    assert found == counted


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
def test_a_consumer_of_two_queues_has_the_copies_of_both(edition):
    """Played with 5.5.1 and 5.17.2, three times each; only the order varied."""
    both = {"broker": "A", "queue": "Q,R"}
    value = {
        "brokers": [{"name": "A"}], "connectors": [],
        "steps": [{"do": "start"}, {"do": "open_consumer", "consumer": "C1", **both},
                  {"do": "send", **both, "count": 3}, {"do": "settle"},
                  {"do": "snapshot", "label": "end"}],
    }  # fmt: skip
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    assert trace.received() == {"C1": 6}
    assert trace.lost() == [] == list(trace.waiting())


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
@pytest.mark.parametrize(("kind", "taken", "left"), [("queue", 3, 9), ("topic", 3, 12), ("topic", 5, 7)])
def test_dups_ok_is_lazy_with_topics_only(kind, taken, left, edition):
    """Played with 5.5.1 and 5.17.2, three times each; the prefetch is 10, half of it a batch."""
    to = {"broker": "A", kind: "Q"}
    value = {
        "brokers": [{"name": "A"}], "connectors": [],
        "steps": [{"do": "start"},
                  {"do": "open_consumer", "consumer": "C1", **to, "ack_mode": "dups_ok",
                   "prefetch": 10, "receiving": False},
                  {"do": "send", **to, "count": 12}, {"do": "settle"},
                  {"do": "receive", "consumer": "C1", "count": taken},
                  {"do": "snapshot", "label": "end"}],
    }  # fmt: skip
    broker = play(lab_files.read({"edition": edition, "scenario": value})).header["snapshots"]["end"]
    row = broker["brokers"]["A"][f"{kind}s"]["Q"]
    assert 12 - row["dequeued"] == left


MIXED = {  # steps -> the order of receipt (5.5, later); n sends 2 non-persistent messages, p 2 persistent ones
    "npC": ([3, 4, 1, 2], [3, 4, 1, 2]),
    "pnpC": ([1, 2, 5, 6, 3, 4], [1, 2, 5, 6, 3, 4]),
    "nspC": ([3, 4, 1, 2], [1, 2, 3, 4]),  # s looks into the queue
    "HnpR": ([1, 2, 3, 4], [1, 2, 3, 4]),  # a consumer that holds takes up each as it comes
}


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
@pytest.mark.parametrize("steps", MIXED)
def test_what_is_in_the_store_is_taken_up_first(steps, edition):
    """Played with 5.5.1 and 5.17.2, with either store, three times each (with 3 messages a time)."""
    queue = {"broker": "A", "queue": "Q"}
    script = {
        "n": {"do": "send", **queue, "count": 2, "persistent": False},
        "p": {"do": "send", **queue, "count": 2},
        "s": {"do": "snapshot", "label": "look"},
        "C": {"do": "open_consumer", "consumer": "C1", **queue},
        "H": {"do": "open_consumer", "consumer": "C1", **queue, "receiving": False, "prefetch": 1},
        "R": {"do": "resume", "consumer": "C1"},
    }
    value = {"brokers": [{"name": "A"}], "connectors": [],
             "steps": [{"do": "start"}, *(script[step] for step in steps), {"do": "settle"}]}  # fmt: skip
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    got = [event.message for event in trace.events() if event.kind == Kind.Received]
    assert got == MIXED[steps][edition != "5.5"]


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
@pytest.mark.parametrize(("prefetch", "taken", "in_flight"), [
    (5, 1, 5), (5, 2, 5), (5, 3, 8), (5, 5, 8), (5, 6, 11), (10, 3, 10), (10, 5, 15), (10, 6, 15),
    (4, 1, 4), (4, 2, 6), (2, 1, 3), (1, 1, 2),
])  # fmt: skip
@pytest.mark.parametrize("mode", ["client", "individual"])
def test_what_is_in_hands_makes_room_by_half_a_prefetch(mode, prefetch, taken, in_flight, edition):
    """Played with 5.5.1 and 5.17.2, three times each: nothing of it is acknowledged."""
    queue = {"broker": "A", "queue": "Q"}
    value = {
        "brokers": [{"name": "A"}], "connectors": [],
        "steps": [{"do": "start"},
                  {"do": "open_consumer", "consumer": "C1", **queue, "ack_mode": mode,
                   "acknowledge": False, "prefetch": prefetch, "receiving": False},
                  {"do": "send", **queue, "count": 30}, {"do": "settle"},
                  {"do": "receive", "consumer": "C1", "count": taken}, {"do": "settle"},
                  {"do": "snapshot", "label": "end"}],
    }  # fmt: skip
    broker = play(lab_files.read({"edition": edition, "scenario": value})).header["snapshots"]["end"]
    row = broker["brokers"]["A"]["queues"]["Q"]
    assert (row["depth"], row["in_flight"]) == (30, in_flight)


@pytest.mark.parametrize(("edition", "count"), [("5.5", 0), ("5.17", 3)])
def test_a_topic_subscriber_without_prefetch(edition, count):
    """Played with 5.5.1 and 5.17.2 in random scripts, each at least twice."""
    news = {"broker": "A", "topic": "NEWS"}
    value = {
        "brokers": [{"name": "A"}], "connectors": [],
        "steps": [{"do": "start"}, {"do": "open_consumer", "consumer": "C1", **news, "prefetch": 0},
                  {"do": "send", **news, "count": 3}, {"do": "settle"}],
    }  # fmt: skip
    assert play(lab_files.read({"edition": edition, "scenario": value})).received() == {"C1": count}


GROUPS = {  # what is sent, by groups or none -> what C1 and C2 receive (5.5, later)
    "a3 -6": ([[1, 2, 3, 5, 7, 9], [4, 6, 8]], [[1, 2, 3], [4, 5, 6, 7, 8, 9]]),
    "a3 -4 bc6": ([[1, 2, 3, 5, 7, 9, 11, 13], [4, 6, 8, 10, 12]],
                  [[1, 2, 3, 9, 11, 13], [4, 5, 6, 7, 8, 10, 12]]),
}  # fmt: skip


@pytest.mark.parametrize("edition", ["5.5", "5.17", "6.1"])
@pytest.mark.parametrize("sends", GROUPS)
def test_who_owns_fewer_groups_comes_first(sends, edition):
    """Played with 5.5.1, 5.17.2 and 6.1.8, three times each; 5.5 knows no such order."""
    queue = {"broker": "A", "queue": "Q"}
    steps = [{"do": "open_consumer", "consumer": name, **queue} for name in ("C1", "C2")]
    for word in sends.split():
        groups = {"properties": {"JMSXGroupID": list(word[:-1])}} if word[0] != "-" else {}
        steps.append({"do": "send", **queue, "count": int(word[-1]), **groups})
    value = {"brokers": [{"name": "A"}], "connectors": [],
             "steps": [{"do": "start"}, *steps, {"do": "settle"}]}  # fmt: skip
    trace = play(lab_files.read({"edition": edition, "scenario": value}))
    got = [(event.to, event.message) for event in trace.events() if event.kind == Kind.Received]
    found = [[message for to, message in got if to == name] for name in ("C1", "C2")]
    assert found == GROUPS[sends][edition != "5.5"]
