"""Random faults, how often they cost a message, and what keeps it: of every product."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments.remedies import with_slave

Q = mq.Queue("Q")
LATE = mq.Consumer("C", on="A", reads=Q, at="15s"), mq.Producer("P", on="A", sends=5, to=Q)
FORGETFUL = mq.Network(mq.Broker("A", store="memory"))
FEW = {"seeds": 6, "every": "3s", "length": "9s", "processes": 1}


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_faults_of_a_seed_are_the_same_and_each_is_repaired(product):
    net = mq.complete(3, product=product)
    one, again, other = (mq.chaos(net, seed=seed, every="1s") for seed in (4, 4, 5))
    assert one == again
    assert one != other
    broken = {}
    for action in one.actions:
        if isinstance(action, (mq.Crash, mq.Stop, mq.Pause, mq.Cut)):
            broken[str(action)] = action
    repairs = [a for a in one.actions if isinstance(a, (mq.Restart, mq.Resume, mq.Heal))]
    assert broken
    assert len(repairs) == len(broken)
    assert mq.run(one).undone == ()


def test_a_property_that_fails_has_its_smallest_example():
    found = mq.survives(FORGETFUL, *LATE, kinds=("crash", "pause"), **FEW)
    assert not found.holds
    assert len(found.faults) == 1  # one crash is enough
    assert isinstance(found.faults[0][0], mq.Crash)
    assert mq.run(found.scenario).lost()
    assert f"{len(found.failed)} of 6 runs" in str(found)
    assert mq.survives(FORGETFUL, *LATE, kinds=("pause",), **FEW).holds


def test_the_cheapest_change_is_a_store():
    found = mq.cheapest(FORGETFUL, *LATE, kinds=("crash",), **FEW)
    assert [str(change) for change in found.changes] == ["a store for A"]
    assert found.price == 2
    assert mq.survives(found.scenario, kinds=("crash",), **FEW).holds
    assert "in none of 6 runs" in str(found)


def test_prices_decide():
    dear = mq.cheapest(FORGETFUL, *LATE, kinds=("crash",), prices={"store": 9, "pair": 3}, **FEW)
    assert [str(change) for change in dear.changes] == ["a slave for A, with failover"]
    assert dear.scenario.network.names == ("A", "A-slave")


def test_nothing_to_change_is_said():
    found = mq.cheapest(mq.Network(mq.Broker("A")), *LATE, kinds=("crash",), **FEW)
    assert found.changes == ()
    assert str(found) == "No change: in none of 6 runs was a message lost."


def test_a_slave_takes_over_for_its_master():
    scenario = mq.Scenario.of(
        mq.chain(2), mq.Consumer("C", on="B2", reads=Q), mq.Producer("P", on="B1", sends=4, to=Q)
    )
    made = with_slave(scenario, "B2")
    assert made.network.names == ("B1", "B2", "B2-slave")
    assert made.network.broker("B1").connectors[0].uri == "masterslave:(tcp://B2:61616,tcp://B2-slave:61616)"
    crash = mq.Crash("B2", at="10s"), mq.Producer("P2", on="B1", sends=3, to=Q, at="30s")
    assert mq.run(made, *crash).received() == {"C": 7}


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: mq.chaos(FORGETFUL, kinds=("crsh",)), UnknownName, "crash"),
        (lambda: mq.chaos(FORGETFUL, every="0s"), BadValue, "above 0"),
        (lambda: mq.survives(FORGETFUL, never="los"), UnknownName, "lost"),
        (lambda: mq.survives(FORGETFUL, seeds=0), BadValue, "1 to 1000000"),
        (lambda: mq.cheapest(FORGETFUL, prices={"stor": 1}), UnknownName, "store"),
        (lambda: mq.cheapest(FORGETFUL, prices={"store": -1}), BadValue, "0 or more"),
    ],
)
def test_what_cannot_be_asked(call, error, told):
    with pytest.raises(error, match=told):
        call()


def test_messages_that_were_never_sent_are_told_beside_a_property_that_held():
    """The producer has no failover: it ends at the first fault, and what it did not send cannot be lost."""
    story = (
        mq.Consumer("C", on="B2", reads=Q),
        mq.Producer("P", on="B1", sends=60, to=Q, every="100ms", at="1s"),
    )
    found = mq.survives(mq.chain(2), *story, **FEW)
    assert found.holds
    worst = max(found.unsent, key=found.unsent.get)
    assert 0 < found.unsent[worst] <= 60
    told = f"In none of 6 runs was a message lost. But {len(found.unsent)} runs did not send all"
    assert str(found).startswith(told)
    undone = mq.run(mq.chaos(mq.chain(2), *story, every="3s", length="9s", seed=worst)).undone
    assert f"{found.unsent[worst]} of 60 messages never sent" in str(undone)
    assert str(mq.cheapest(mq.chain(2), *story, **FEW)).endswith("Its undone says why.")
