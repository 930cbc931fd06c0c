"""What lines do to what they carry, in every product: bandwidth, loss, and the line of two."""

import json
from itertools import pairwise
from random import Random

import pytest

import mqlab as mq
from mqlab.api import artemis, openmq
from mqlab.engine.clock import Clock
from mqlab.engine.link import COMMAND, TIME_OUT, Link, LinkQuality
from mqlab.spec.link import Links

SIZE = 1000  # bytes of each message
FIGURES = ["fuse:2.20", "fuse:4.2", "openmq:4-1", "artemis:21.1.2"]


def activemq(count, **options):
    q = mq.Queue("Q")
    net = mq.Network(mq.Broker("A"))
    return mq.run(
        net,
        mq.Producer("P", "A", count, q, size=SIZE, persistent=False),
        mq.Consumer("C", "A", q),
        **options,
    )


def over_a_client(count, **options):
    q = mq.Queue("Q")
    net = mq.Network(mq.Broker("A"))
    return mq.run(
        net, mq.Client("C", uri="tcp://A:61616"), mq.Producer("P", "A", count, q, size=SIZE),
        mq.Consumer("desk", "C", q), **options,
    )  # fmt: skip


def bridged(count, **options):
    q = mq.Queue("Q")
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("ac", uri="static:(tcp://C:61616)")), mq.Broker("C"))
    return mq.run(
        net, mq.Producer("P", "A", count, q, size=SIZE), mq.Consumer("desk", "C", q), **options
    )  # fmt: skip


def cluster(count, **options):
    q = openmq.Queue("Q")
    net = openmq.Network("A")
    return mq.run(net, openmq.Producer("P", "A", count, q, size=SIZE), openmq.Consumer("C", "A", q), **options)


def group(count, **options):
    q = artemis.Queue("orders")
    net = artemis.Network(artemis.Broker("A"), queues=(artemis.AddressQueue("orders"),))
    return mq.run(
        net, artemis.Producer("P", "A", count, q, size=SIZE), artemis.Consumer("C", "A", q),
        **options,
    )  # fmt: skip


RUNS = [activemq, over_a_client, bridged, cluster, group]


def received(trace):
    """Return the numbers that consumers received, in order, and when (us)."""
    got = [(e.message, e.t) for e in trace.events() if e.kind is mq.Kind.Received]
    return [number for number, _ in got], [time for _, time in got]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_usual_link_changes_nothing(figure):
    wanted = mq.run(figure, seed=3, jitter="2ms")
    found = mq.run(figure, seed=3, jitter="2ms", links=mq.Link())
    assert found.digest() == wanted.digest()
    assert found.header == wanted.header
    assert "links" not in found.header


@pytest.mark.parametrize("play", RUNS)
def test_messages_queue_behind_one_another_for_a_narrow_line(play):
    rate = 10_000  # bytes per second
    trace = play(6, links={("A", "C"): mq.Link(bandwidth=rate)})
    numbers, times = received(trace)
    assert numbers == [1, 2, 3, 4, 5, 6]
    each = -(-(SIZE + COMMAND) * 1_000_000 // rate)
    assert [b - a for a, b in pairwise(times)] == [each] * 5
    wide = received(play(6))[1]
    assert max(wide) - min(wide) < each
    assert trace.header["links"] == {"every": {}, "between": [["A", "C", {"bandwidth": rate}]]}


@pytest.mark.parametrize("play", RUNS)
def test_what_a_line_loses_comes_later_and_in_order(play):
    usual = received(play(40))[1]
    trace = play(40, links=mq.Link(loss=0.2), seed=1)
    numbers, times = received(trace)
    assert numbers == list(range(1, 41))
    assert (trace.lost(), trace.duplicated(), trace.waiting()) == ([], {}, {})
    assert times[-1] > usual[-1] + TIME_OUT
    again = play(40, links=Links.read(json.loads(json.dumps(trace.header["links"]))), seed=1)
    assert again.digest() == trace.digest()


@pytest.mark.parametrize("figure", FIGURES)
def test_the_same_seed_loses_the_same_and_another_something_else(figure):
    links = mq.Link(loss=0.2, bandwidth=50_000, jitter="1ms", delay="3ms")
    one, same, other = (mq.run(figure, seed=seed, links=links).digest() for seed in (1, 1, 2))
    assert one == same != other
    lab = mq.Lab(figure, seed=1, links=links)
    for _ in range(30):
        lab.step()
    fork = lab.fork()
    fork.play()
    lab.play()
    assert fork.trace.digest() == lab.trace.digest() == one


def test_the_line_of_two_alone_is_slow():
    net = mq.Network(*(
        mq.Broker(name, *(mq.NetworkConnector(other, uri=f"static:(tcp://{other}:61616)")
                          for other in "BC" if name == "A"))
        for name in "ABC"
    ))  # fmt: skip
    near, far = mq.Queue("near"), mq.Queue("far")
    trace = mq.run(
        net, mq.Consumer("b", "B", near), mq.Consumer("c", "C", far),
        mq.Producer("P", "A", 1, near), mq.Producer("P", "A", 1, far),
        links={("C", "A"): mq.Link(delay="50ms")},
    )  # fmt: skip
    ages = {e.to: e.age for e in trace.events() if e.kind is mq.Kind.Received}
    assert ages == {"b": 3_000, "c": 52_000}


class Drawn(Random):
    """A generator that gives what a test says."""

    def __init__(self, *values):
        super().__init__()
        self.values = list(values)

    def random(self):
        return self.values.pop(0)


def test_each_time_out_is_twice_the_one_before_and_what_follows_waits():
    clock, came = Clock(), []
    draws = Drawn(0.1, 0.1, 0.1, 0.9, 0.9)  # lost three times; the second thing not at all
    link = Link(clock, LinkQuality(delay=1000, loss=0.5), draws)
    link.carry(came.append, "first")
    link.carry(came.append, "second")
    clock.rest(1000 + 7 * TIME_OUT - 1)
    assert came == []
    clock.rest(1000 + 7 * TIME_OUT)
    assert came == ["first", "second"]


def test_of_a_long_message_any_segment_may_be_lost():
    clock, came = Clock(), []
    link = Link(clock, LinkQuality(delay=1000, loss=0.5), Drawn(0.9, 0.1, 0.9, 0.9))
    link.carry(came.append, "three segments", 0, 4000)
    clock.rest()
    assert (came, clock.now) == (["three segments"], 1000 + TIME_OUT)


def test_a_line_that_is_free_again_lets_the_next_in_at_once():
    clock, times = Clock(), []
    link = Link(clock, LinkQuality(delay=1000, bandwidth=1_000), Random())
    for _ in range(3):
        link.carry(lambda _: times.append(clock.now), None, 0, 1000 - COMMAND)
        clock.rest()
        clock.rest(clock.now + 5_000_000)
    assert [b - a for a, b in pairwise(times)] == [6_001_000] * 2


def test_a_datagram_to_a_group_is_lost_for_good():
    net = mq.Network(mq.Broker("A", mq.TransportConnector("tcp", discovery_uri="multicast://default")))
    client = mq.Client("c", uri="discovery:(multicast://default)?initialReconnectDelay=10", at="1s")

    def attached(**options):
        trace = mq.run(net, client, until="20s", **options)
        return [e.t for e in trace.events() if e.kind is mq.Kind.Attached]

    (usual,) = attached()
    later = [attached(links=mq.Link(loss=0.9), seed=seed) for seed in range(4)]
    assert all(times and times[0] >= usual for times in later)
    assert len({times[0] for times in later}) > 1


BAD = {
    "mq.Link(loss=1)": ["Link: loss is 1", "from 0 up to 0.99"],
    "mq.Link(loss=-0.1)": ["Link: loss is -0.1"],
    "mq.Link(loss='some')": ["Link: loss is 'some'"],
    "mq.Link(loss=True)": ["Link: loss is True"],
    "mq.Link(bandwidth=0)": ["Link: bandwidth is 0", "bytes per second"],
    "mq.Link(bandwidth=1.5)": ["Link: bandwidth is 1.5"],
    "mq.Link(delay='soon')": ["Link: delay: 'soon'", "use e.g. '500ms'"],
    "mq.Link(jitter=-1)": ["Link: jitter: -1"],
    "7": ["links: 7", "write mq.Link(loss=0.01)"],
    "{'A': mq.Link()}": ["links: 'A'", 'or {("A", "B")'],
    "{('A', 'A'): mq.Link()}": ["links: ('A', 'A')"],
    "{('A', 'C'): 0.5}": ["links: ('A', 'C'): 0.5"],
    "{('X', 'Y'): mq.Link()}": ["'X' and 'Y': neither is a broker", "Known: A"],
}


@pytest.mark.parametrize("play", [activemq, cluster, group])
@pytest.mark.parametrize("written", BAD)
def test_a_link_that_cannot_be_is_told(written, play):
    with pytest.raises(mq.MqlabError) as told:
        play(1, links=eval(written, {"mq": mq}))  # as a user would write it
    assert all(part in str(told.value) for part in BAD[written])
