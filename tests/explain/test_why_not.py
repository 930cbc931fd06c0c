"""What decided is named, and nothing else: sentences that were wrong once, and the class of each."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.api import artemis as art
from mqlab.trace.kinds import Reason
from tests.experiments.test_outcomes import grid
from tests.products.activemq.behaviours import FOO, NEWS, network, reads, send

SELECTS = mq.Consumer("C1", "A", FOO, selector="n > 1")
VIRTUAL, BEHIND = mq.Topic("VirtualTopic.N"), mq.Queue("Consumer.X.VirtualTopic.N")


def causes(trace, message, consumer):
    return mq.explain(trace, message=message, why_not=consumer).causes


def rules(trace, message, consumer):
    return {cause.rule for cause in causes(trace, message, consumer)}


def groups(*owners):
    """Two messages of one group for consumers at A, opened in this order."""
    return mq.run(mq.Network(mq.Broker("A")), *(mq.Consumer(name, "A", FOO) for name in owners),
                  send(4, properties={"JMSXGroupID": "g"}))  # fmt: skip


def test_a_selector_decides_and_not_the_turn():
    trace = mq.run(mq.Network(mq.Broker("A")), *reads("C2@A"), SELECTS, send(2, properties={"n": [1, 2]}))
    (cause, *more) = causes(trace, "P-1", "C1")
    assert (cause.rule, cause.text) == (
        Reason.selector,
        "C1 has the selector n > 1; the message has n = 1.",
    )
    assert cause.change is None  # without it, it is C2's turn all the same
    assert not any(other.rule == Reason.turn for other in more)


def test_a_selector_that_alone_decides_is_taken_away():
    trace = mq.run(network("A>B"), SELECTS, send(1, properties={"n": 0}))
    (cause,) = causes(trace, "P-1", "C1")
    assert (cause.rule, str(cause.change)) == (Reason.selector, "C1 without selector=n > 1")


def test_a_selector_reads_headers_too():
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C1", "A", FOO, selector="JMSPriority > 4"),
                   send(2, jms_priority=[4, 9]))  # fmt: skip
    assert trace.received() == {"C1": 1}
    assert Reason.selector in rules(trace, "P-1", "C1")


def test_the_owner_of_a_message_group_decides_and_not_the_turn():
    trace = groups("C1", "C2")
    (loser,) = [name for name, count in trace.received().items() if not count]
    assert rules(trace, "P-3", loser) == {Reason.group_owner}
    assert "has owned message group g since" in str(mq.explain(trace, message="P-3", why_not=loser))


def test_an_exclusive_consumer_decides():
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C1", "A", FOO, exclusive=True),
                   *reads("C2@A"), send(2))  # fmt: skip
    (cause, *_) = causes(trace, "P-2", "C2")
    assert (cause.rule, str(cause.change)) == (Reason.exclusive, "C1 without exclusive=true")


def test_a_full_consumer_is_told_to_be_full():
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C1", "A", FOO, prefetch=1, receiving=False),
                   *reads("C2@A"), send(4))  # fmt: skip
    assert Reason.prefetch_full in rules(trace, "P-4", "C1")


def test_lines_are_in_order_of_time_and_about_this_consumer():
    net = network("A>B B>C", "5.17", network_ttl=1)
    trace = mq.run(net, *reads("C1@B"), *reads("C2@C"), send(2))
    told = mq.explain(trace, message="P-1", why_not="C2")
    times = [float(line.split(" ms")[0]) for line in told.lines if line[:1].isdigit()]
    assert times == sorted(times)
    assert not any("by C1" in line for line in told.lines)
    assert Reason.turn in {cause.rule for cause in told.causes}  # at B, where the bridge to C asks as well


def test_a_virtual_topic_is_named():
    trace = mq.run(mq.Network(mq.Broker("A")), *reads("C1@A", BEHIND), *reads("C2@A", BEHIND),
                   send(2, to=VIRTUAL))  # fmt: skip
    assert "virtual destination" in str(mq.explain(trace, message="P-1"))
    told = mq.explain(trace, message="P-1", why_not="C2")
    assert "reads" not in str(told)
    assert Reason.turn in {cause.rule for cause in told.causes}


def test_replay_is_named():
    figure = mq.figure("article:stuck")
    policies = ({"queue": ">", "replay_when_no_consumers": True},)
    net = mq.Network(*(mq.Broker(b.name, *b.connectors, policies=policies, **b.options)
                       for b in figure.scenario.network.brokers))  # fmt: skip
    trace = mq.run(net, *(action for action in figure.scenario.actions if not isinstance(
        action, (mq.Start, mq.Settle, mq.Snapshot))))  # fmt: skip
    replayed = [m for m in range(1, 11) if "replayWhenNoConsumers" in str(mq.explain(trace, message=m))]
    assert replayed
    assert sum(trace.received().values()) == 10


def test_never_asked_another_destination_too_late_and_gone_before():
    at_a = mq.Network(mq.Broker("A"))
    assert "consumes from queue://OTHER" in str(causes(mq.run(at_a, *reads("C1@A", mq.Queue("OTHER")), send(1)),
                                               "P-1", "C1")[0])  # fmt: skip
    late = mq.run(at_a, *reads("C1@A"), send(1), *reads("C2@A"))
    assert "subscribed after" in str(causes(late, "P-1", "C2")[0])
    topic = mq.run(at_a, *reads("C1@A", NEWS), send(1, to=NEWS), *reads("C2@A", NEWS))
    assert str(causes(topic, "P-1", "C2")[0].change) == "C2 subscribes before anything is sent"
    gone = mq.run(at_a, *reads("C1@A"), mq.Close("C1"), send(1))
    assert causes(gone, "P-1", "C1")[0].rule == Reason.consumer_left


def test_no_bridge_leads_there():
    trace = mq.run(network("B>A"), *reads("C1@B"), send(1))
    (cause,) = [c for c in causes(trace, "P-1", "C1") if c.row < 0]
    assert cause.text == "There is no bridge from A to B, where C1 is connected."
    assert "duplex" in str(cause.change)


@pytest.mark.parametrize(("make", "rule"), [
    (lambda: mq.run(network("A>B", excluded_destinations=["queue://TEST.>"]), *reads("C1@B"), send(1)),
     Reason.not_permitted),
    (lambda: mq.run(network("A>B B>C"), *reads("C1@C"), send(1)), Reason.consumer_ttl),
    (lambda: mq.run(mq.Network(mq.Broker("A")), send(1, persistent=False), mq.Crash("A"),
                    mq.Restart("A"), *reads("C1@A")), Reason.memory_store),
    (lambda: mq.run(mq.Network(mq.Broker("A")), *reads("C1@A", NEWS), mq.Close("C1"), send(1, to=NEWS)),
     Reason.consumer_left),
])  # fmt: skip
def test_an_option_or_fault_is_named_with_what_takes_it_away(make, rule):
    found = [cause for cause in causes(make(), "P-1", "C1") if cause.rule == rule]
    assert found
    assert found[0].change is not None, found


def test_what_is_printed_of_the_real_broker_is_of_the_figure_as_printed():
    figure = mq.figure("fuse:2.20")
    changed = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    assert "real broker" in str(mq.explain(mq.run(figure)))
    assert "real broker" in str(mq.explain(mq.run(figure, edition="5.17")))
    assert "real broker" not in str(mq.explain(mq.run(changed)))
    assert "real broker" not in str(mq.explain(mq.run(figure, edition="5.18")))


def test_a_run_with_faults_tells_of_them():
    told = str(mq.explain(mq.run("fuse:4.4")))
    assert "broker1 crashed" in told
    assert "10 messages were recovered from a store" in told
    assert "C was without a broker for" in told


def test_a_run_that_hung_on_a_race_says_so():
    raced = mq.run(grid(3), *reads("C1@B22", NEWS), *reads("C2@B11", NEWS),
                   mq.Producer("P", "B00", 3, NEWS))  # fmt: skip
    assert "One of at least" in str(mq.explain(raced))
    assert "One of at least" not in str(mq.explain(mq.run("fuse:2.20")))


def test_a_selector_that_looks_at_a_header_is_told_with_the_header():
    found = mq.explain(sent_on("JMSPriority > 5"), message=1, consumer="C")
    assert "C has the selector JMSPriority > 5; the message has JMSPriority = 4." in found.lines


@pytest.mark.parametrize(("selector", "lives", "has"), [
    ("JMSExpiration = 0", "5s", "JMSExpiration = 5000"), ("JMSExpiration > 0", 0, "JMSExpiration = 0"),
    ("JMSRedelivered = TRUE", 0, "JMSRedelivered = False"),
    ("JMSXDeliveryCount > 1", 0, "JMSXDeliveryCount = 1"),
])  # fmt: skip
def test_a_header_that_only_activemq_knows_is_told_as_it_was_sent(selector, lives, has):
    sends = mq.Producer("P", on="A", sends=1, to=mq.Queue("Q"), time_to_live=lives)
    reads = mq.Consumer("C", on="A", reads=mq.Queue("Q"), selector=selector)
    found = mq.explain(mq.run(mq.Network(mq.Broker("A")), reads, sends), message=1, why_not="C")
    assert f"C has the selector {selector}; the message has {has}." in found.lines


def test_a_consumer_beside_the_message_asks_why():
    run = sent_on("JMSPriority > 5")
    assert mq.explain(run, message=1, consumer="C") == mq.explain(run, message=1, why_not="C")
    got = mq.explain(sent_on("JMSPriority < 5"), message=1, consumer="C")
    assert got.title == "C received message P-1."
    assert any("C received it" in line for line in got.lines)


def test_of_several_refusals_the_one_of_a_consumer_is_told():
    run = sent_on("JMSPriority > 5")
    assert run.account()[1].why == "the selector does not match"


def sent_on(selector):
    """Return a run in which a conduit has taken a message to a broker with one consumer, who selects."""
    there = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", duplex=True)
    return mq.run(
        mq.Network(mq.Broker("A", there), mq.Broker("B")),
        mq.Consumer("C", on="B", reads=FOO, selector=selector),
        mq.Consumer("D", on="B", reads=FOO, selector="n = 1"),
        mq.Producer("P", on="A", sends=1, to=FOO),
    )


def test_what_takes_a_message_away_from_who_got_it_is_told_as_that():
    told = mq.explain(mq.run("fuse:2.20"), message="P-3", why_not="C1").lines
    change = "A single change that would prevent that: A/linkToBrokerB with conduitSubscriptions=false."
    assert change in told


def test_a_message_that_went_into_other_queues_of_the_broker_says_which():
    net = mq.Network(mq.Broker("A", composites=[{"name": "Q", "forward_to": ["queue://Q.1", "queue://Q.2"]}]))
    trace = mq.run(net, mq.Consumer("C", on="A", reads=mq.Queue("Q")),
                   mq.Producer("P", on="A", sends=1, to=mq.Queue("Q")))  # fmt: skip
    told = str(mq.explain(trace, message="P-1", why_not="C"))
    assert "A put it into queue://Q.1 and queue://Q.2, which C does not read." in told


def test_a_broker_on_the_way_that_did_not_start_is_told_with_the_reason():
    net = mq.Network(
        mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", network_ttl=2)),
        mq.Broker("B", mq.NetworkConnector("bc", uri="static:(tcp://C 1:61616)")),
        mq.Broker("C 1"),
    )
    actions = mq.Consumer("C", on="C 1", reads=FOO), mq.Producer("P", on="A", sends=1, to=FOO)
    trace = mq.run(net, *actions)
    said = "B did not start: Illegal character ' ' in static:(tcp://C 1:61616)"
    assert said in str(mq.explain(trace, message="P-1", why_not="C"))
    assert said in str(mq.explain(trace, broker="B"))
    assert [problem.rule for problem in mq.check(net, *actions)] == ["illegal-character", "broker-name"]


REMOTE = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", excluded_destinations=(mq.Queue("Q"),))
BACK = mq.NetworkConnector("ba", uri="static:(tcp://A:61616)")


@pytest.mark.parametrize(
    ("brokers", "why"),
    [
        ((mq.Broker("A", REMOTE), mq.Broker("B")), Reason.not_permitted.sentence),
        ((mq.Broker("A"), mq.Broker("B", BACK)), "There is no bridge from A to B, where C is connected."),
    ],
)
def test_a_message_that_waits_tells_what_keeps_it_from_a_consumer_of_another_broker(brokers, why):
    queue = mq.Queue("Q")
    actions = mq.Consumer("C", "B", queue), mq.Producer("P", "A", 1, queue)
    told = mq.explain(mq.run(mq.Network(*brokers), *actions), message="P-1").lines
    assert why in told[-1]
    assert told[-2].endswith(f"{Reason.no_subscription.sentence} [{Reason.no_subscription.source}].")
    elsewhere = mq.Consumer("C", "B", mq.Queue("other")), actions[1]
    other = mq.explain(mq.run(mq.Network(*brokers), *elsewhere), message="P-1").lines
    assert other == told[:-1]  # who reads something else has nothing to do with it
    crowd = *(mq.Consumer(f"C{no}", "B", queue) for no in range(9)), actions[1]
    assert len(mq.explain(mq.run(mq.Network(*brokers), *crowd), message="P-1").lines) == len(told)


def test_what_waits_in_artemis_tells_that_only_redistribution_moves_it():
    net, queue = art.Network(art.Broker("A"), art.Broker("B")), art.Queue("Q")
    run = mq.run(net, art.Producer("P", "A", 1, queue), art.Consumer("C", "B", queue), art.Wait("3s"))
    told = mq.explain(run, message="P-1").lines[-1]
    assert "C subscribed at B: only a redistribution-delay of 0 or more moves what waits at A" in told
    first = mq.run(net, art.Consumer("C", "B", queue, selector="x = 1"), art.Producer("P", "A", 1, queue))
    assert not any("redistribution" in line for line in mq.explain(first, message="P-1").lines)
