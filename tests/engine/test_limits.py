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
    """What happens beside the script is looked after every millisecond: 11 days are no events."""
    lab = mq.Lab(PAIR, limit=1000)
    lab.do(mq.Wait(10**9, at="1s"))
    with pytest.raises(mq.MqlabError, match=r"scheduled steps, with only .*: set until="):
        lab.rest()
