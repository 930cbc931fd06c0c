"""How fast the runtime is, as ratios to yardsticks measured in the same process.

Printed, and held to the goals. The best of several rounds counts: the machine is shared, and a
disturbance only ever makes a round slower.
"""

import heapq
import random
import subprocess
import sys
from time import perf_counter

import pytest
import simpy

import mqlab as mq
from mqlab.trace import Kind
from mqlab.trace.record import Recorder
from tests.conftest import ROOT

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


def our_rate():
    """Return traced events per second of messages that go down a chain of brokers."""
    lab = mq.Lab(chain())
    lab.do(mq.Consumer("C", on=f"B{BROKERS - 1}", reads=Q))
    lab.rest()
    before, start = len(lab.trace), perf_counter()
    lab.do(mq.Producer("P", on="B0", sends=MESSAGES, to=Q))
    lab.rest()
    took = perf_counter() - start
    trace = lab.trace
    assert trace.received() == {"C": MESSAGES}
    assert len(trace) - before == MESSAGES * EVENTS
    return MESSAGES * EVENTS / took


def heap_rate():
    """Return `heapq.heapreplace` calls per second with 1000 pending."""
    heap = [(random.random(), i) for i in range(1000)]
    heapq.heapify(heap)
    steps = [random.random() for _ in range(200_000)]
    start = perf_counter()
    for i, step in enumerate(steps):
        heapq.heapreplace(heap, (heap[0][0] + step, i))
    return len(steps) / (perf_counter() - start)


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
    start = perf_counter()
    env.run()
    took = perf_counter() - start
    assert recorder.count == MESSAGES * EVENTS
    return recorder.count / took


def test_the_runtime_against_a_bare_heap_and_against_simpy(capsys):
    rounds = [(our_rate(), heap_rate(), simpy_rate()) for _ in range(ROUNDS)]
    to_heap = max(ours / heap for ours, heap, _ in rounds)
    to_simpy = max(ours / other for ours, _, other in rounds)
    with capsys.disabled():
        print(f"\n  traced events/s to heapreplace/s: {to_heap:.3f} (goal 0.15)"
              f"\n  the same against SimPy's stores:  {to_simpy:.2f} (goal 2)")  # fmt: skip
    assert to_heap >= 0.15
    assert to_simpy >= 2


def test_importing_mqlab_takes_at_most_300_ms(capsys):
    code = "from time import perf_counter as c; t = c(); import mqlab; print(c() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                  check=True, cwd=ROOT).stdout) for _ in range(5)]  # fmt: skip
    with capsys.disabled():
        print(f"\n  import mqlab: {min(times) * 1000:.0f} ms (goal 300)")
    assert min(times) <= 0.3
