"""How fast the runtime is, as ratios to yardsticks measured in the same process.

Printed, and held to bounds that leave room for a shared machine: processor time counts, and of each yardstick
the best of several rounds. (The best *ratio* of rounds would reward a disturbed yardstick.)
"""

import gc
import heapq
import random
import sys
from time import process_time

import pytest
import simpy

import mqlab as mq
from mqlab.trace import Kind
from mqlab.trace.record import Recorder

pytestmark = pytest.mark.bench
BROKERS, MESSAGES, ROUNDS = 4, 10_000, 9
EVENTS = 3 * BROKERS + 2  # of one message: taken over, passed on, acknowledged; sent, received
Q = mq.Queue("Q")


def chain():
    def broker(i):
        onward = [mq.NetworkConnector("next", uri=f"static:(tcp://B{i + 1}:61616)",
                                      network_ttl=-1)] if i < BROKERS - 1 else []  # fmt: skip
        return mq.Broker(f"B{i}", *onward)

    return mq.Network(*(broker(i) for i in range(BROKERS)))


def our_rate(messages=MESSAGES):
    """Return traced events per second of messages that go down a chain of brokers."""
    lab = mq.Lab(chain())
    lab.do(mq.Consumer("C", on=f"B{BROKERS - 1}", reads=Q))
    lab.rest()
    before, start = len(lab.trace), process_time()
    lab.do(mq.Producer("P", on="B0", sends=messages, to=Q))
    lab.rest()
    took = process_time() - start
    trace = lab.trace
    assert trace.received() == {"C": messages}
    assert len(trace) - before == messages * EVENTS
    return messages * EVENTS / took


def heap_rate():
    """Return `heapq.heapreplace` calls per second with 1000 pending."""
    heap = [(random.random(), i) for i in range(1000)]
    heapq.heapify(heap)
    # About as long as a run of ours: the best of shorter ones falls more often into a quiet moment.
    steps = [random.random() for _ in range(700_000)]
    start = process_time()
    for i, step in enumerate(steps):
        heapq.heapreplace(heap, (heap[0][0] + step, i))
    return len(steps) / (process_time() - start)


def simpy_rate():
    """Return traced events per second of the same chain of queues made of SimPy stores.

    Each link takes 1 ms each way as ours does: the message goes, the answer comes back. It writes
    the same events with the same recorder: sent, enqueued, forwarded or dispatched, received,
    acknowledged. It has no prefetch, priorities, hops or subscriptions.
    """
    env = simpy.Environment()
    stores = [simpy.Store(env) for _ in range(BROKERS)]
    recorder = Recorder()

    def note(kind, message, broker):
        recorder.add(int(env.now), kind, message, broker, broker, broker)

    def produce():
        for number in range(MESSAGES):
            note(Kind.Sent, number, 0)
            yield env.timeout(1)
            note(Kind.Enqueued, number, 0)
            yield stores[0].put(number)
            yield env.timeout(1)

    def hop(place):
        while True:
            message = yield stores[place].get()
            note(Kind.Forwarded, message, place)
            env.process(cross(message, place))

    def cross(message, place):
        yield env.timeout(1)
        note(Kind.Enqueued, message, place + 1)
        yield stores[place + 1].put(message)
        yield env.timeout(1)
        note(Kind.Acknowledged, message, place)

    def consume():
        while True:
            message = yield stores[-1].get()
            note(Kind.Dispatched, message, BROKERS - 1)
            env.process(take(message))

    def take(message):
        yield env.timeout(1)
        note(Kind.Received, message, BROKERS - 1)
        yield env.timeout(1)
        note(Kind.Acknowledged, message, BROKERS - 1)

    env.process(produce())
    for place in range(BROKERS - 1):
        env.process(hop(place))
    env.process(consume())
    start = process_time()
    env.run()
    took = process_time() - start
    assert recorder.count == MESSAGES * EVENTS
    return recorder.count / took


def best(*rates):
    """Return the best of each of *rates* in several rounds, in turns."""
    gc.collect()
    gc.freeze()  # objects of other tests slow down whoever makes more of his own
    return [max(rounds) for rounds in zip(*([rate() for rate in rates] for _ in range(ROUNDS)), strict=True)]


def test_the_runtime_against_a_bare_heap_and_against_simpy(capsys):
    ours, heap, others = best(our_rate, heap_rate, simpy_rate)
    with capsys.disabled():
        print(f"\n  traced events/s to heapreplace/s: {ours / heap:.3f} (goal 0.26)"
              f"\n  the same against SimPy's stores:  {ours / others:.2f} (goal 2)")  # fmt: skip
    assert ours / heap >= 0.2
    assert ours / others >= 1.8


def calls(run):
    """Return how many functions *run* calls, Python's and C's: the same number on every machine."""
    count = 0

    def on(_frame, what, _argument):
        nonlocal count
        count += what in ("call", "c_call")

    sys.setprofile(on)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_an_event_takes_no_more_calls_than_it_did(capsys):
    # What a clock cannot tell from a busy machine: the least call more for every message.
    few, many = (calls(lambda sends=sends: our_rate(sends)) for sends in (100, 1100))
    each = (many - few) / (1000 * EVENTS)
    with capsys.disabled():
        print(f"\n  calls for a traced event: {each:.2f}")
    assert each <= 11.65
