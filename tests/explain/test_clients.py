"""A client or a producer is explained by its name: its connections, what was sent, what became of it."""

import pytest

import mqlab as mq
from mqlab import artemis
from mqlab.errors import UnknownName

Q = mq.Queue("Q")
NET = mq.Network(mq.Broker("A"), mq.Broker("B"))
SHOP = mq.Client("shop", uri="failover:(tcp://A:61616,tcp://B:61616)?randomize=false")


def test_a_client_that_fails_over():
    story = mq.Consumer("C", on="shop", reads=Q), mq.Producer("P", on="shop", sends=3, to=Q)
    trace = mq.run(NET, SHOP, *story, mq.Crash("A"), mq.Producer("P2", on="shop", sends=2, to=Q))
    found = mq.explain(trace, "shop")
    assert str(found) == str(mq.explain(trace, client="shop"))
    assert found.title == "shop: 5 messages were sent."
    for told in ("shop is connected to A", "shop has lost its connection", "shop is connected to B"):
        assert sum(told in line for line in found.lines) == 1
    assert "C received 5 messages." in found.lines
    assert found.lines[-1].endswith("what became of them: 5 consumed.")
    assert mq.explain(trace, "P").title == "P: 3 messages were sent."
    assert mq.explain(trace, "C").title == "Consumer C: received 5 messages."


def test_what_was_sent_at_one_moment_was_sent_at_it():
    trace = mq.run(NET, mq.Producer("P", on="A", sends=1, to=Q))
    assert "were sent at 0 ms;" in mq.explain(trace, client="P").lines[-1]


def test_one_that_gave_up_says_what_was_never_sent():
    client = mq.Client("shop", uri="failover:(tcp://A:61616)?maxReconnectAttempts=3")
    trace = mq.run(NET, mq.Stop("A"), client, mq.Producer("P", on="shop", sends=3, to=Q), until="60s")
    last = "P: 3 of 3 messages never sent; shop gave up at 30 ms."
    assert [mq.explain(trace, name).lines[-1] for name in ("shop", "P")] == [last, last]


def test_with_artemis_a_producer_sends_as_its_client():
    pair = artemis.Network(artemis.Broker("A"), artemis.Broker("B"))
    trace = mq.run(pair, mq.Client("shop", uri="(tcp://A,tcp://B)"), mq.Producer("P", on="shop", sends=3, to=Q))
    assert mq.explain(trace, "P").title == "P: 3 messages were sent."


def test_a_name_of_nobody():
    trace = mq.run(NET, mq.Producer("P", on="A", sends=3, to=Q))
    with pytest.raises(UnknownName, match=r"unknown name 'Q'\. Known: A, B, P"):
        mq.explain(trace, "Q")
    with pytest.raises(UnknownName, match=r"unknown client 'Q'\. Known: P"):
        mq.explain(trace, client="Q")


def test_a_consumer_names_the_crash_of_its_broker_and_a_broker_counts_its_own_consumers():
    """A bridge subscribes at the broker, too, for the consumers beyond it: none of its own."""
    consumers = [mq.Consumer(f"C{no}", on=f"B{2 + no % 2}", reads=Q) for no in range(40)]
    trace = mq.run(mq.chain(3), *consumers, mq.Crash("B2"), mq.Wait("1s"), mq.Restart("B2"))
    counted = mq.explain(trace, "B2").lines[-2:]
    assert counted[0].startswith("20 consumers subscribed here;")
    assert counted[1].startswith("20 consumers lost the broker;")
    assert "B2 crashed" in str(mq.explain(trace, "C0"))
    assert "B2 crashed" not in str(mq.explain(trace, "C1"))


@pytest.mark.parametrize(("reads", "spans"), [
    ((), "Blocked from 7 ms on: the destination has reached its memoryLimit"),
    ((mq.Consumer("C", on="A", reads=Q, at="20s"),), "Blocked from 7 ms to 20.002 s: the destination"),
    ((mq.Consumer("C", on="A", reads=Q, at="20s", delay="1s"),), "Blocked 3 times from 7 ms to 23.002 s"),
])  # fmt: skip
def test_a_producer_says_when_it_was_blocked(reads, spans):
    net = mq.Network(mq.Broker("A", policies=[{"queue": ">", "memory_limit": 3000}]))
    trace = mq.run(net, mq.Producer("P", on="A", sends=6, to=Q, size=1000), *reads)
    assert spans in str(mq.explain(trace, client="P"))
    told = str(mq.explain(trace, message="P-4"))
    assert "A has not accepted it yet: the destination has reached its memoryLimit" in told
    assert "stays at" not in told


def test_a_client_says_that_a_real_broker_refuses_its_port():
    net, sends = mq.Network(mq.Broker("A")), mq.Producer("P", on="c", sends=1, to=Q)
    trace = mq.run(net, mq.Client("c", uri="tcp://A:61617"), mq.Client("c1", uri="tcp://A:61616"), sends)
    assert "port 61617 of A: a real broker refuses it" in str(mq.explain(trace, client="c"))
    assert "61617" not in str(mq.explain(trace, client="c1"))


def test_what_an_artemis_consumer_gives_back_is_no_copy():
    holds = mq.Consumer("C", on="A", reads=Q, ack_mode="client", acknowledge=False)
    net = mq.artemis.Network(mq.artemis.Broker("A"))
    told = str(
        mq.explain(mq.run(net, mq.Producer("P", on="A", sends=1, to=Q), holds, mq.Close("C")), message=1)
    )
    assert "A enqueued it again" in told
    assert "virtual destination" not in told
