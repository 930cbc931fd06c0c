"""A run has limits of events, of memory and of things without events, and says which one it met."""

import pytest

import mqlab as mq
from mqlab.engine import limits

Q = mq.Queue("Q")
PAIR = mq.Network(mq.Broker("A", shared_store="s"), mq.Broker("B", shared_store="s"))


def test_a_run_of_too_many_events_says_how_many_are_allowed():
    lab = mq.Lab(mq.Network(mq.Broker("A")), limit=2000)
    lab.do(mq.Producer("P", "A", 10**9, Q))
    with pytest.raises(mq.MqlabError, match=r"more than 2000 events, stopped at"):
        lab.rest()


def test_a_burst_of_messages_is_stopped_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(limits, "MOST_MEMORY", 1 << 20)
    net = mq.Network(mq.Broker("A"))
    with pytest.raises(mq.MqlabError, match=r"GiB, stopped at .* scheduled step"):
        mq.run(net, mq.Producer("P", "A", 10**9, Q, persistent=False))


def test_a_run_that_writes_nothing_down_ends_too():
    """Where nothing happens a condition is looked at every second: eleven days are many steps, few events."""
    lab = mq.Lab(mq.Network(mq.Broker("A")), limit=1000)
    lab.do(mq.WaitUntil("role", {"broker": "A", "role": "slave", "max_ms": 10**9}, at="1s"))
    with pytest.raises(mq.MqlabError, match=r"scheduled steps, with only .*: set until="):
        lab.rest()


def test_a_slave_that_waits_for_eleven_days_is_not_blamed_on_routes():
    lab = mq.Lab(PAIR, limit=1000)
    lab.do(mq.Wait(10**9, at="1s"))
    with pytest.raises(mq.MqlabError, match=r"more than 1000 events.*; set a higher limit or an earlier end"):
        lab.rest()


def test_what_happens_beside_a_producer_costs_about_as_much_as_its_events():
    """Each fault was looked after every millisecond until the producer was done: 200 times the turns."""

    def turns(*actions):
        lab = mq.Lab(PAIR)
        sends = mq.Producer("P", "A", 600, Q, others=("B",), every="100ms", in_background=True)
        lab.do(sends, *actions)
        lab.rest()
        return lab.clock.turn

    faults = [
        mq.Crash("A", at="10s"),
        mq.Restart("A", at="20s"),
        mq.Crash("B", at="30s"),
        mq.Restart("B", at="40s"),
    ]
    assert turns(*faults) < 40 * turns()
