"""What an event costs in each family of runs, and that it costs no more as things grow.

Held are numbers that are the same on every machine: of calls, and of lines that run, since a loop calls nobody.
The ratios to a bare heap have bounds that leave room for a machine that others use; README.md has the figures.
"""

import gc

import pytest

import mqlab as mq
from tests.benchmarks import workloads
from tests.benchmarks.workloads import FAMILIES, calls, heap_rate, lines, seconds

pytestmark = pytest.mark.bench
# Calls for an event, and the least ratio to heapreplace: about a half of what is usual.
BOUNDS = {
    "chain of 4": (8.2, 0.15),
    "hub and 20 spokes, 10 producers": (10.3, 0.1),
    "mesh of 25, TTL 5": (8.2, 0.15),
    "topic, 100 subscribers": (8.3, 0.13),
    "failover (masterslave, crash, cut)": (15.6, 0.05),
    "OpenMQ, 3 brokers": (16.4, 0.035),
    "Artemis, 3 brokers": (15.2, 0.045),
}
PASSED = {"Broker", "Queue", "DemandSubscription"}  # classes that are asked for attributes at every message
# What grows: how a run is made, the least and the greatest size, and how much more an event may cost.
GROWTH = {
    "consumers of one queue": (workloads.consumers, 10, 300, 1.5),
    "producers at once": (workloads.producers, 10, 300, 1.5),
    "message groups": (workloads.groups, 10, 2_000, 1.5),
    "OpenMQ consumers of other queues": (lambda n: workloads.openmq(40, others=n), 1, 60, 1.5),
    "OpenMQ brokers": (lambda n: workloads.openmq(40, brokers=n), 2, 16, 1.5),
    "OpenMQ messages waiting": (lambda n: workloads.openmq(40, waiting=n), 50, 400, 1.5),
    "Artemis brokers": (lambda n: workloads.artemis(40, brokers=n), 2, 16, 3),
    "failover clients": (lambda n: workloads.failover(20 * n, clients=n), 10, 40, 1.5),
    "subscriptions not concerned": (workloads.subscriptions, 1, 100, 1.5),
}


def each(work, watch):
    """Return how much of what *watch* counts there is for an event."""
    events, seen = work.run(watch)
    return seen / events


@pytest.mark.parametrize("name", FAMILIES)
def test_what_an_event_costs(name, capsys):
    one, (most, least) = FAMILIES[name], BOUNDS[name]
    for_one = each(one.make(min(one.messages, 1_000)), calls)
    ratio = max(heap_ratio(one.make(one.messages // 4)) for _ in range(3))
    with capsys.disabled():
        print(f"\n  {name}: {for_one:.1f} calls for an event, {ratio:.3f} to heapreplace")
    assert for_one <= most
    assert ratio >= least


def heap_ratio(work):
    """Return events a second to calls of heapreplace a second."""
    events, took = work.run(seconds)
    return events / took / heap_rate()


@pytest.mark.parametrize("name", ["chain of 4", "OpenMQ, 3 brokers", "Artemis, 3 brokers"])
def test_what_every_message_passes_has_few_attributes(name):
    """From thirty on Python 3.11 keeps an instance's dictionary apart, and finds each attribute later."""
    work = FAMILIES[name].make(20)
    lab = work.begin()
    for action in work.actions:
        lab.do(action)
    lab.rest()
    passed = [
        one
        for one in gc.get_objects()
        if type(one).__name__ in PASSED and type(one).__module__.startswith("mqlab.products.")
    ]
    assert any(type(one).__name__ == "Broker" for one in passed)
    many = {type(one).__qualname__: len(vars(one)) for one in passed if len(getattr(one, "__dict__", ())) > 29}
    assert not many, f"too many attributes; name those that are seldom asked for in __slots__: {many}"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_run_leaves_no_cycles(name):
    """So nothing is lost when it plays without a search for garbage."""
    work = FAMILIES[name].make(1_000)
    found = []

    def watch(act):
        gc.collect()
        act()
        found.append(gc.collect())
        return 0

    events, _ = work.run(watch)
    assert events > 1_000
    assert found[0] <= events // 20


@pytest.mark.parametrize("name", GROWTH)
def test_an_event_costs_no_more_as_things_grow(name, capsys):
    make, least, greatest, most = GROWTH[name]
    few, many = (each(make(size), lines) for size in (least, greatest))
    with capsys.disabled():
        print(f"\n  {name}: {few:.0f} lines for an event with {least}, {many:.0f} with {greatest}")
    assert many <= most * few


@pytest.mark.parametrize("network", [mq.Network(mq.Broker("B")), mq.artemis.Network(mq.artemis.Broker("B"))])
def test_an_action_costs_what_is_new(network):
    lab = mq.Lab(network)

    def do(first, count):
        for no in range(first, first + count):
            lab.do(mq.Consumer(f"C{no}", on="B", reads=mq.Queue(f"Q{no}")))

    do(0, 20)
    early = lines(lambda: do(20, 20))
    do(40, 300)
    assert lines(lambda: do(340, 20)) <= 3 * early, "opening looks through the subscriptions that are there"
