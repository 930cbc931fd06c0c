"""What if: the smallest single change, in every product, and none where there is none."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments import rerun
from mqlab.experiments.cures import cures, stuck_at
from tests.products.activemq.behaviours import FOO, network, reads, send


def chain():
    return mq.run(network("A>B B>C"), *reads("C1@C"), send(1))


def test_the_smallest_change_is_found_and_runs():
    found = mq.what_if(chain(), message="P-1", consumer="C1")
    assert str(found.changes[0]) == "every connector with networkTTL=2"
    assert found.run().received() == {"C1": 1}
    assert "every connector with networkTTL=2: would receive it" in str(found)


def test_it_asks_the_other_way_round_too():
    found = mq.what_if(mq.run("fuse:2.20"), message="P-3", consumer="C1")
    assert found.received
    assert [change.text for change in found.changes] == ["A/linkToBrokerB with conduitSubscriptions=false"]
    assert found.run().received() == {"C1": 4, "C2": 4, "C3": 4}


def test_no_single_change_is_an_answer():
    trace = mq.run(network("A>B B>C"), *reads("C1@C", mq.Queue("OTHER")), send(1))
    found = mq.what_if(trace, message="P-1", consumer="C1")
    assert (found.changes, found.all_tried) == ((), True)
    assert "No single change would deliver it" in str(found)
    assert found.run() is trace


@pytest.mark.parametrize(("figure", "message", "consumer", "change"), [
    ("artemis:21.1", "sender4-1", "C", "without crash M1"),
    ("article:stuck", "P-1", "C2", "replayWhenNoConsumers for queue://TEST.FOO at every broker"),
    ("openmq:4-1", "P1-1", "S1", None),
])  # fmt: skip
def test_every_product_is_asked(figure, message, consumer, change):
    found = mq.what_if(mq.run(figure), message=message, consumer=consumer)
    assert change in map(str, found.changes) if change else not found.changes


def test_a_fault_goes_with_what_mends_it():
    trace = mq.run(mq.Network(mq.Broker("A")), send(1, persistent=False), mq.Crash("A"), mq.Restart("A"),
                   *reads("C1@A"))  # fmt: skip
    found = mq.what_if(trace, message="P-1", consumer="C1")
    (left_out,) = [change for change in found.changes if str(change) == "without crash A"]
    left = [step["do"] for step in found.run(left_out).header["scenario"]["actions"]]
    assert not {"Crash", "Restart"} & set(left)


def test_seed_jitter_and_end_of_the_run_are_kept():
    net = network("A>B")
    trace = mq.run(net, *reads("C1@B"), send(3, every="1s"), seed=7, jitter="1ms", until="1500ms")
    assert trace.received() == {"C1": 2}
    assert not mq.what_if(trace, message="P-2", consumer="C1", at_most=1).run().lost()
    with pytest.raises(BadValue, match="at_most"):
        mq.what_if(trace, message="P-2", consumer="C1", at_most=0)


def test_bad_questions():
    with pytest.raises(UnknownName, match="unknown consumer 'C9'"):
        mq.what_if(chain(), message="P-1", consumer="C9")
    with pytest.raises(UnknownName, match="P-9 was never sent; the last message of P is P-1"):
        mq.what_if(chain(), message="P-9", consumer="C1")
    bare = chain()
    bare.header.pop("scenario")
    with pytest.raises(BadValue, match="does not contain its scenario"):
        mq.what_if(bare, message="P-1", consumer="C1")


@pytest.mark.slow
def test_a_long_run_is_read_and_not_played_again():
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C1", "A", FOO, selector="n = 1"),
                   send(150_000, persistent=False))  # fmt: skip
    told = mq.explain(trace, message="P-1", why_not="C1")
    assert told.causes
    assert all(cause.change is None for cause in told.causes)


def test_address_settings_of_artemis_are_options_too():
    body = {"product": "artemis", "version": "2.5", "brokers": [{"name": "A"}, {"name": "B"}],
            "queues": [{"name": "Q"}]}  # fmt: skip
    steps = [{"do": "start"}, {"do": "send", "broker": "A", "queue": "Q", "count": 2},
             {"do": "open_consumer", "consumer": "C", "broker": "B", "queue": "Q"},
             {"do": "wait", "ms": 5000}, {"do": "settle"}]  # fmt: skip
    kept = mq.run({**body, "steps": steps})
    assert kept.received() == {"C": 0}
    (message, *_) = kept.account()
    found = mq.what_if(kept, message=message, consumer="C")
    assert "redistribution-delay 0" in map(str, found.changes)
    moved = mq.run({**body, "steps": steps, "address_settings": {"redistribution_delay": 0}})
    assert moved.received() == {"C": 2}
    found = mq.what_if(moved, message=message, consumer="C")
    assert any("redistribution" in str(change) for change in found.changes)


@pytest.mark.slow
def test_what_a_broker_of_artemis_has_of_its_own_does_not_hide_what_is_tried():
    own = {"#": {"redistribution_delay": -1}}
    brokers = mq.artemis.Broker("A", address_settings=own), mq.artemis.Broker("B")
    network = mq.artemis.Network(*brokers, queues=[mq.artemis.AddressQueue("Q")])
    queue = mq.Queue("Q")
    sends = mq.Producer("P", on="A", sends=4, to=queue)
    trace = mq.run(network, mq.Start(), sends, mq.Consumer("C", on="B", reads=queue), mq.Settle())
    found = mq.what_if(trace, message="P-1", consumer="C")
    (delay,) = (change for change in found.changes if change.text == "redistribution-delay 0")
    assert found.run(delay).received() == {"C": 4}


def test_a_run_of_many_events_is_tried_for_some_seconds_and_says_that_there_is_more():
    net = network("A>B B>C C>D D>E E>F F>G", network_ttl=9)
    trace = mq.run(net, *reads("C1@G C2@G"), send(4000))
    assert trace.received() == {"C1": 2000, "C2": 2000}
    quick = mq.what_if(trace, message="P-2", consumer="C1")
    assert 8 <= quick.tried < 20
    assert not quick.all_tried


def test_where_only_some_can_be_tried_it_is_those_of_who_asks():
    net = network("A>B B>C C>D", network_ttl=9, duplex=True)
    trace = mq.run(net, mq.Consumer("desk", "D", FOO, selector="n > 1"), send(1, properties={"n": 0}))
    found = mq.what_if(trace, message="P-1", consumer="desk", at_most=1)
    assert list(map(str, found.changes)) == ["desk without selector=n > 1"]


def test_cures_deliver_what_is_stuck_and_lose_nothing():
    trace = mq.run("article:stuck")
    found, tried = cures(trace, "A", "queue://TEST.FOO")
    assert found[0].text == "replayWhenNoConsumers for queue://TEST.FOO at every broker"
    assert [change.text for change in found][1:] == ["C1 without receiving=false"]
    assert tried > len(found)
    for change in found:
        other = rerun(trace, change)
        assert stuck_at(other) == {}, change.text
        assert sum(other.received().values()) == 10, change.text
    with pytest.raises(BadValue, match=r"no message is stuck at B in queue://TEST\.FOO"):
        cures(trace, "B", "queue://TEST.FOO")


def test_a_message_without_its_producer_is_no_answer():
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C", on="A", reads=mq.Queue("Q")),
                   mq.Producer("P", on="A", sends=1, to=mq.Queue("Q")))  # fmt: skip
    found = mq.what_if(trace, message="P-1", consumer="C")
    assert found.tried
    assert not any(change.text == "without P" for change in found.changes)
