"""A long burst in blocks is, number for number, its run event by event; what is no such burst is played so."""

import json
import random

import numpy as np
import pytest

import mqlab as mq
from mqlab import products
from mqlab.products.inputs import scenario_of
from mqlab.replay import blocks, long, store
from mqlab.spec import topology
from mqlab.spec.openmq.actions import OpenProducer, Send
from mqlab.trace.columns import COLUMNS
from tests.plan import today
from tests.replay.test_long import whole

Q, T = mq.Queue("Q"), mq.Topic("T")
CHAIN = topology.network("chain", 3)
READER = mq.Consumer("C", on="B3", reads=Q)
SENDS = 20_003


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Bursts of these tests are shorter; of what a window of 1,000 or a second changes they are long enough."""
    monkeypatch.setattr(blocks, "LEAST", SENDS)
    monkeypatch.setattr(blocks, "MESSAGES", 4_096)
    monkeypatch.setattr(blocks, "LASTS", 1_000_000)


def producer(sends=SENDS, **more):
    return mq.Producer("P", on="B1", sends=sends, **{"to": Q, **more})


def header(value):
    return json.loads(json.dumps(value))


def same(scenario):
    """Return whether a scenario is played in blocks; what comes of it is what comes of it event by event."""
    burst = blocks.burst(scenario, 0)
    if burst is None:
        return False
    trace, parts = products.play(scenario, foretold=True), list(burst.parts(1 << 14))
    for name in COLUMNS:
        assert np.array_equal(np.concatenate([part[name] for part in parts]), np.array(trace.column(name))), (
            name
        )
    assert header(burst.header) == header(trace.header)
    assert burst.names == trace.names
    return True


def drawn(seed):
    """Return a network of any shape, with consumers and a burst of any kind."""
    draw = random.Random(seed)
    net = topology.network(draw.choice([*topology.TOPOLOGIES]), draw.randint(2, 6))
    for broker, connector in net.connectors():
        options = {"conduit_subscriptions": draw.random() < 0.5, "prefetch_size": draw.choice([1, 10, 1000])}
        net = net.change(f"{broker.name}/{connector.name}", **options)
    to = draw.choice([Q, T])
    selectors = draw.choice([[None], [None], ["k = 1", "k = 2"]])
    consumers = [
        mq.Consumer(f"reader {i}", on=draw.choice(net.names), reads=to, selector=selectors[i % len(selectors)],
                    prefetch=draw.choice([1, 5, 1000]))
        for i in range(draw.choice([2, 2, 3, 5]))
    ]  # fmt: skip
    more = {"jms_priority": draw.choice([4, [1, 9, 4]]), "every": draw.choice([0, "1ms", "7ms"])}
    kinds = draw.choice([{}, {"k": [1, 2]}, {"k": 1, "JMSXGroupID": ["a", "b", "c"]}])
    burst = mq.Producer("sender", on=draw.choice(net.names), sends=SENDS, to=to, properties=kinds, **more)
    return scenario_of(net, *consumers, burst)


@pytest.mark.slow
def test_random_networks_end_the_same_in_blocks_and_event_by_event():
    seeds = today(range(60), 6)
    assert sum(same(drawn(seed)) for seed in seeds) > len(seeds) // 3


def test_clusters_of_artemis_do_too():
    assert same(
        scenario_of(mq.figure("artemis:21.4").scenario.network, mq.Consumer("C", on="B1", reads=Q), producer())
    )


@pytest.mark.slow
def test_flow_control_of_openmq_comes_in_its_own_period(monkeypatch):
    """A send of more than a minute is told as blocked for a while: short runs have to be longer than that."""
    actions = OpenProducer("P", on="b1", to=Q), Send("P", sends=130_003)
    scenario = scenario_of(
        mq.figure("openmq:4-1").scenario.network, mq.Consumer("C", on="b3", reads=Q), *actions
    )
    assert not same(scenario)
    monkeypatch.undo()
    monkeypatch.setattr(blocks, "LEAST", 130_003)
    monkeypatch.setattr(blocks, "LASTS", 65_000_000)
    assert same(scenario)
    assert blocks.burst(scenario, 0).period.messages == 999


@pytest.mark.parametrize(
    "actions",
    [
        (READER, producer(SENDS - 1)),
        (READER, producer(persistent=False)),
        (READER, producer(), mq.Crash("B2")),
        (READER, producer(), mq.Producer("P2", on="B1", sends=SENDS, to=Q)),
        (READER, mq.Crash("B2", at="10s"), producer()),
        (producer(),),
        (mq.Consumer("C", on="B3", reads=Q, prefetch=9_999), producer()),
    ],
    ids=["short", "all at once", "a fault afterwards", "two", "at a time", "nobody reads", "a large window"],
)
def test_what_is_no_such_burst_is_played_event_by_event(actions):
    assert blocks.burst(scenario_of(CHAIN, *actions), 0) is None


def test_a_folder_of_a_burst_is_read_like_any_other(tmp_path):
    scenario = scenario_of(CHAIN, READER, producer())
    folder = long.run(scenario, out=tmp_path / "run", rows=1 << 15)
    assert whole(folder).digest() == mq.run(scenario).digest()
    assert store.manifest(folder)["header"] == header(mq.run(scenario).header)
    assert not store.manifest(folder)["grows"]
