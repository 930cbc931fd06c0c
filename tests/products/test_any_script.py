"""Any actions of a product, in any order, on what is there and what is not: refused by a sentence, or played.

Besides the machines, which do what makes sense. An action that is refused leaves the lab as it was, so the next
one follows it. Then the run is told, asked why, saved and read again. The same examples each time.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab.errors import MqlabError
from mqlab.spec import codec
from tests.conftest import ALL

EXAMPLES = 3_000 if ALL else 60
BROKERS = ["b1", "b2", "b3"]
CONSUMERS, PRODUCERS, CLIENTS = ["C1", "C2"], ["P1", "P2"], ["K1", "K2"]
EVERYBODY = [*CONSUMERS, *PRODUCERS, *CLIENTS, *BROKERS, "nobody"]
QUEUE, TOPIC = mq.Queue("Q"), mq.Topic("T")
DESTINATIONS = [
    QUEUE,
    TOPIC,
    mq.Queue("R"),
    mq.Queue("Q,R"),
    mq.Topic("T.>"),
    mq.Topic("VirtualTopic.X"),
    mq.Queue("DLQ"),
]
CALLS = ["start", "end", "prepare", "commit", "rollback"]
BOTH = "(tcp://b1:61616,tcp://b2:61616)"
TIMES = ["0ms", "10ms", "1s", "5s"]
OFTEN = {
    "Consumer": 4,
    "Producer": 4,
    "Client": 2,
    "Session": 2,
    "OpenProducer": 2,
    "Send": 2,
    "Receive": 2,
    "Wait": 2,
}
# What a field may be, by its name; what has a type says so itself, all others keep what is usual.
VALUES = {
    **dict.fromkeys(("broker", "one", "other", "of", "to", "target", "source", "responder_on"), BROKERS),
    **dict.fromkeys(("reads", "destination"), DESTINATIONS),
    **dict.fromkeys(("time", "delay", "every", "timeout", "quiet", "at_most", "settle", "within"), TIMES),
    "on": [*BROKERS, *CLIENTS], "consumer": [*CONSUMERS, "P1"], "producer": [*PRODUCERS, "C1"],
    "client": [*CLIENTS, "C1"], "who": EVERYBODY, "label": ["now"], "queue": ["Q"], "depth": [0, 1],
    "session": [None, "s1"], "connection": [None, "K1"], "others": [(), ("b2",), ("b3", "b1")],
    "brokers": [("b1",), ("b2", "b3")], "sends": [1, 3], "count": [1, 2], "how": ["refuse", "hang"],
    "selector": [None, "size > 1", "colour LIKE 'r%'"], "prefetch": [None, 0, 1], "size": [0, 100_000],
    "ack_mode": ["auto", "client", "transacted", "dups_ok", "individual"], "time_to_live": [0, "50ms"],
    "properties": [{}, {"size": [1, 2]}, {"JMSXGroupID": ["a", "b"]}], "jms_priority": [4, [1, 9]],
    "act": CALLS, "action": CALLS,
    "subscription_name": [None, "sub"], "client_id": [None, "id"], "xid": ["x1"], "id": ["x1"],
    "role": ["live", "running", "down"], "shared_store": ["s"],
    "uri": ["tcp://b1:61616", f"failover:{BOTH}", f"{BOTH}?reconnectAttempts=2"],
}  # fmt: skip
NAMES = {
    "Consumer": CONSUMERS,
    "Producer": PRODUCERS,
    "OpenProducer": PRODUCERS,
    "Client": CLIENTS,
    "Session": CLIENTS,
}


def pair() -> mq.Network:
    """Return a pair on one store, and a broker that follows it."""
    follows = mq.NetworkConnector("c", uri="masterslave:(tcp://b1:61616,tcp://b2:61616)", duplex=True)
    return mq.Network(
        mq.Broker("b1", shared_store="s"), mq.Broker("b2", shared_store="s"), mq.Broker("b3", follows)
    )


def chain() -> mq.Network:
    """Return three brokers in a row."""
    links = [mq.NetworkConnector("c", uri=f"static:(tcp://{to}:61616)", network_ttl=2) for to in BROKERS[1:]]
    return mq.Network(mq.Broker("b1", links[0]), mq.Broker("b2", links[1]), mq.Broker("b3"))


NETWORKS = {
    "activemq": [chain, pair],
    "openmq": [
        lambda: mq.openmq.Network(*BROKERS),
        lambda: mq.openmq.Network(*BROKERS, model="master", master="b1"),
    ],
    "artemis": [lambda: mq.artemis.Network(*map(mq.artemis.Broker, BROKERS))],
}


@st.composite
def actions(draw, product):
    """Draw an action of a product, whatever it asks for: most fields are left as usual."""
    known = codec.nouns(product)
    noun = known[draw(st.sampled_from([name for name in sorted(known) for _ in range(OFTEN.get(name, 1))]))]
    given = {}
    for of in dataclasses.fields(noun):
        values = NAMES.get(noun.__name__, ["X"]) if of.name == "name" else VALUES.get(of.name)
        if of.name == "to" and noun.__name__ in ("Producer", "OpenProducer", "Session", "RequestReply"):
            values = DESTINATIONS
        if values is None and str(of.type).startswith("bool"):
            values = [False, True]
        needed = of.default is dataclasses.MISSING and of.default_factory is dataclasses.MISSING
        if values is not None and of.init and (needed or draw(st.integers(0, 4)) == 0):
            given[of.name] = draw(st.sampled_from(values))
    return noun, given


def played(network, script, rests, folder):
    """Play a script step by step, with all that is asked of its run; return how many actions were played."""
    lab, done = mq.Lab(network()), 0
    for noun, fields in script:
        with suppress(MqlabError):
            lab.do(noun(**fields))
            if rests:
                lab.rest()
            done += 1
        assert all(map(str, lab.trace.undone))
    with suppress(MqlabError):  # a client that waits for good is told so
        lab.until("20s")
    trace = lab.trace
    assert all(map(str, (trace, mq.explain(trace))))
    for name in trace.received():
        assert str(mq.explain(trace, consumer=name))
    mq.save(lab.scenario, folder / "script.json")
    again = mq.load(folder / "script.json")
    assert len(again.actions) == len(lab.scenario.actions)
    assert all(map(str, mq.check(again)))
    return done


@pytest.mark.parametrize("product", NETWORKS)
def test_any_script_is_played_or_refused_by_a_sentence(product, tmp_path):
    done: list[int] = []

    @settings(max_examples=EXAMPLES, derandomize=True, database=None)
    @given(
        st.sampled_from(NETWORKS[product]), st.lists(actions(product), min_size=2, max_size=10), st.booleans()
    )
    def plays(network, script, rests):
        done.append(played(network, script, rests, tmp_path))

    plays()
    assert sum(done) > EXAMPLES, "most are played"


HELD = mq.Consumer, {"name": "C1", "on": "b1", "reads": QUEUE, "receiving": False}
SENDS = mq.Producer, {"name": "P1", "on": "b1", "sends": 3, "to": QUEUE}
FOUND = {  # with many more examples: each ended in an error of Python's
    "a send on a closed client": ("artemis", [
        (mq.artemis.Client, {"name": "K1", "uri": "tcp://b1:61616"}), (mq.CloseClient, {"client": "K1"}),
        (mq.Producer, {"name": "P1", "on": "K1", "sends": 1, "to": QUEUE}),
    ]),
    "a count that is as usual": ("openmq", [HELD, SENDS, (mq.Receive, {"consumer": "C1"})]),
    "asked in the middle of a send": ("openmq", [(mq.Producer, {**SENDS[1], "in_background": True})]),
    "a request that wants no answer": ("activemq", [
        SENDS, (mq.RequestReply, {"requester": "A", "on": "b1", "responder_on": "b1", "to": QUEUE, "count": 1}),
    ]),
    "what nobody paged in expires": ("activemq", [
        (mq.Producer, {**SENDS[1], "time_to_live": "50ms"}), (mq.Wait, {"time": "1s"}),
        (mq.Snapshot, {"label": "now"}),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("rests", [True, False])
def test_what_it_found_is_played(name, rests, tmp_path):
    product, script = FOUND[name]
    assert played(NETWORKS[product][0], script, rests, tmp_path) == len(script)
