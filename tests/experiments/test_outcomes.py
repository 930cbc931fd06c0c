"""Races are told: every outcome, its share, a seed that gives it again, and where two runs part."""

from __future__ import annotations

import sys

import pytest

import mqlab as mq
from mqlab.errors import BadValue, Interrupted
from mqlab.trace import labels
from tests.products.activemq.behaviours import network, reads, send

NEWS = mq.Topic("NEWS")
module = sys.modules["mqlab.experiments.outcomes"]  # the package has the function under this name


def grid(size):
    """A mesh of size x size brokers, each joined to its right and lower neighbour, as duplex connectors."""
    names = {(i, j): f"B{i}{j}" for i in range(size) for j in range(size)}
    return mq.Network(*(
        mq.Broker(name, *(
            mq.NetworkConnector(f"{name}-{names[to]}", uri=f"static:(tcp://{names[to]})", duplex=True,
                                network_ttl=9)
            for to in ((i + 1, j), (i, j + 1)) if to in names))
        for (i, j), name in names.items()))  # fmt: skip


def mesh(**more):
    return mq.outcomes(grid(3), mq.Consumer("C1", "B22", NEWS), mq.Consumer("C2", "B11", NEWS),
                       mq.Producer("P", "B00", 3, NEWS), **more)  # fmt: skip


@pytest.mark.slow
def test_a_mesh_has_several_outcomes_and_each_has_its_example():
    found = mesh(seeds=40)
    assert len(found) > 3
    assert found.runs == 40
    assert sum(found.share(place) for place in range(len(found))) == pytest.approx(1)
    for place, outcome in enumerate(found):
        assert tuple(sorted(found.trace(place).received().items())) == outcome.received
    assert "outcomes in 40 runs:" in str(found)


@pytest.mark.slow
def test_where_two_runs_part():
    found = mesh(seeds=40)
    one, other = found.parting(1)
    assert one is not None
    assert other is not None
    assert one.broker == other.broker
    assert (one.to, one.subscription, one.message) != (other.to, other.subscription, other.message)
    assert found.parting(0) == (None, None)


def test_what_hangs_on_no_race_has_one_outcome():
    found = mq.outcomes(network("A>B"), *reads("C1@B"), send(5), seeds=10)
    assert len(found) == 1
    assert str(found) == "One outcome in 10 runs: C1 5."


@pytest.mark.parametrize("what", ["artemis:21.1", "openmq:4-2", "fuse:4.4"])
def test_every_product_and_a_trace(what):
    assert mq.outcomes(what, seeds=3).runs == 3
    assert mq.outcomes(mq.run(what), seeds=3).found == mq.outcomes(what, seeds=3).found


def test_bad_input():
    with pytest.raises(BadValue, match="seeds is 0; expected a whole number, 1 to 1000000"):
        mq.outcomes("fuse:2.20", seeds=0)
    with pytest.raises(BadValue, match=r"use e\.g\. jitter='1ms'"):
        mq.outcomes("fuse:2.20", jitter=0)


def test_a_view_says_that_a_run_hung_on_timing():
    trace = mq.run(grid(3), *reads("C1@B22", NEWS), *reads("C2@B11", NEWS), mq.Producer("P", "B00", 3, NEWS))
    mq.view(trace)
    assert "outcomes)" in labels.title(trace)
    steady = mq.run("fuse:2.20")
    mq.view(steady)
    assert "outcomes)" not in labels.title(steady)


def test_ctrl_c_leaves_the_outcomes_so_far(monkeypatch):
    seeds, of_seed = [], module._outcome_with

    def interrupted(scenario, setting, seed):
        if len(seeds) == 3:
            raise KeyboardInterrupt
        seeds.append(seed)
        return of_seed(scenario, setting, seed)

    monkeypatch.setattr(module, "_outcome_with", interrupted)
    with pytest.raises(Interrupted, match="One outcome in 3 runs: C1 6, C2 3, C3 3") as told:
        mq.outcomes("fuse:2.20", seeds=50)
    assert told.value.outcomes.runs == 3


def test_ctrl_c_in_the_first_run_leaves_nothing(monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_outcome_with", interrupted)
    with pytest.raises(KeyboardInterrupt) as told:
        mq.outcomes("fuse:2.20", seeds=50)
    assert not isinstance(told.value, Interrupted)
