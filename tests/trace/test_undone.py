"""What was asked of a run and not done stands in `trace.undone`, with the reason; what was done does not."""

import random
import re

import pytest

import mqlab as mq
from mqlab import artemis, openmq
from mqlab.errors import BadValue

Q = mq.Queue("Q")
A = mq.Network(mq.Broker("A"))
PAIR = artemis.Network(artemis.Broker("M", "replication", "master"),
                       artemis.Broker("S", "replication", "slave"),
                       queues=(artemis.AddressQueue("Q"),))  # fmt: skip
CONNECTOR = mq.NetworkConnector("ab", "static:(tcp://B:61616)")
SHOP = "(tcp://M:61616,tcp://S:61616)?reconnectAttempts=-1"


def told(trace):
    return [str(one) for one in trace.undone]


@pytest.mark.parametrize("figure", ["fuse:2.20", "openmq:4-1", "artemis:21.1"])
def test_of_a_run_that_did_all_nothing_is_undone(figure):
    trace = mq.run(figure)
    assert trace.undone == ()
    assert "not done" not in str(trace)


def test_what_stands_at_time_0_happens_once_the_brokers_are_there():
    trace = mq.run(
        A, mq.Consumer("C", on="A", reads=Q, at="0s"), mq.Producer("P", on="A", sends=3, to=Q, at="1s")
    )
    assert trace.received() == {"C": 3}
    assert trace.undone == ()
    assert mq.run(openmq.Network("b1"), openmq.Consumer("C", "b1", Q, at=0), openmq.Producer("P", "b1", 2, Q)
                  ).received() == {"C": 2}  # fmt: skip


def test_a_crash_while_brokers_start_leaves_clients_that_never_connected():
    trace = mq.run(PAIR, artemis.Client("shop", uri=SHOP), artemis.Consumer("C", on="shop", reads=Q),
                   artemis.Producer("P", on="shop", sends=10, to=Q), artemis.Crash("M", at="2s"))  # fmt: skip
    assert "Consumer C: never subscribed" in told(trace)
    why = "no broker answered at M, where it stays with unlimited attempts (initialConnectAttempts)"
    assert f"Client shop: never connected: {why}" in told(trace)
    assert any("10 of 10 messages never sent" in line for line in told(trace))


def test_a_run_that_is_cut_off_says_what_was_planned():
    sends = mq.Producer("P", on="A", sends=1500, to=Q, every="1s")
    trace = mq.run(A, sends, mq.Crash("A", at="90s"), until="3s")
    assert told(trace) == [
        "Producer P: the run ended at 3 s, before it was over",
        "Crash A at 90s: the run ended at 3 s, before its time",
        "Producer P: 1497 of 1500 messages never sent",
    ]
    assert "1497 of 1500 messages never sent" in str(trace)
    assert any("1497 of 1500" in str(line) for line in mq.explain(trace).lines)


def test_consumers_that_open_one_after_the_other_come_too_late_for_a_producer_with_a_time():
    """Sixty consumers over slow links opened for 13 s while producers sent at 1 s, and nothing said so."""
    queues = [mq.Queue(f"Q{no}") for no in range(30)]
    duplex = mq.NetworkConnector("ba", "static:(tcp://A:61616)", duplex=True)
    net = mq.Network(mq.Broker("A"), mq.Broker("B", duplex))
    sends = [mq.Producer(f"P{no}", on="A", sends=3, to=q, at="1s") for no, q in enumerate(queues)]

    def run(**at):
        readers = [
            mq.Consumer(f"C{no}{on}", on=on, reads=q, **at) for no, q in enumerate(queues) for on in "AB"
        ]
        return mq.run(net, *readers, *sends, links=mq.Link(delay="40ms"))

    late = run()
    assert 0 in late.received().values()
    assert any("Consumer C29B: subscribed at " in line and "give it at='0s'" in line for line in told(late))
    at_once = run(at="0s")
    assert told(at_once) == []
    assert 0 not in at_once.received().values()


def test_a_restart_of_a_running_broker_is_in_vain():
    assert told(mq.run(A, mq.Start(), mq.Restart("A", at="1s"))) == [
        "Restart A at 1s: the broker was running already"
    ]
    assert told(mq.run(A, mq.Stop("A", at="1s"), mq.Restart("A", at="2s"))) == []


def test_a_client_whose_address_the_product_refuses_never_connects():
    trace = mq.run(A, mq.Client("shop", uri="failover:(tcp://A:61616)?maxReconectDelay=5"))
    assert told(trace) == [
        "Client shop: never connected; Invalid connect parameters: {maxReconectDelay=5}",
        "Client shop, maxReconectDelay=5: failover: has no such option; write maxReconnectDelay=5",
    ]


@pytest.mark.parametrize(("option", "told_as", "edition"), [
    ("maxReconnectDelay=5s", "expected a whole number of milliseconds; write maxReconnectDelay=5000", "5.17"),
    ("maxReconnectAttempts=few", "expected a whole number; write maxReconnectAttempts=-1", "5.17"),
    ("priorityBackup=true", "failover: has no such option in version 5.5; remove it", "5.5"),
    ("zzz=1", "failover: has no such option; remove it", "5.17"),
    ("maxReconnectDelay=5", None, "5.17"),
])  # fmt: skip
def test_what_failover_does_not_take_is_told_with_what_to_write(option, told_as, edition):
    net = mq.Network(mq.Broker("A"), edition=edition)
    rows = mq.run(net, mq.Client("K", uri=f"failover:(tcp://A:61616)?{option}")).undone
    assert [row.why for row in rows if row.what == f"Client K, {option}"] == ([told_as] if told_as else [])


@pytest.mark.parametrize(("selector", "end"), [
    ("seats > 3", "; write seat"),
    ("seat = red", "; a text stands in single quotes, such as 'red'"),
    ("kind <> red", "; a text stands in single quotes, such as 'red'"),
    ("other >= 3", "no message has such a property"),
])  # fmt: skip
def test_what_a_selector_may_have_meant_is_told(selector, end):
    consumer = mq.Consumer("C", on="A", reads=Q, selector=selector)
    (line,) = told(mq.run(A, consumer, mq.Producer("P", on="A", sends=1, to=Q, properties={"seat": 4})))
    assert line.endswith(end)


@pytest.mark.parametrize(("uri", "why"), [
    ("http://A:61616", "Transport scheme NOT recognized: [http]"),
    ("failover:(http://A:61616)", "no address of it is one that a client can try, such as tcp://A:61616"),
    ("failover:(tcp://A:61616)", "connection refused: nothing is listening at that address"),
])  # fmt: skip
def test_a_client_that_never_connected_says_why(uri, why):
    trace = mq.run(A, mq.Crash("A"), mq.Client("shop", uri=uri), until="3s")
    assert told(trace) == [f"Client shop: never connected; {why}"]


def test_what_a_client_without_a_connection_was_to_send_says_why_it_was_not():
    lost = mq.Client("shop", uri="failover:(tcp://A:61616)?timeout=3000")
    trace = mq.run(A, mq.Crash("A"), lost, mq.Producer("P", on="shop", sends=3, to=Q), until="9s")
    why = (
        "shop never connected: connection refused: nothing is listening at that address; its producer waits "
        "to be opened, which has no limit: timeout limits sends only [ActiveMQ rule 11.11]"
    )
    assert f"Producer P: 3 of 3 messages never sent; {why}" in told(trace)
    assert mq.explain(trace, message="P-1").title == f"Message P-1 was never sent: {why}."


def test_a_broker_that_a_producer_is_on_is_no_client_of_it():
    apart = mq.Network(mq.Broker("A", CONNECTOR), mq.Broker("B"))
    trace = mq.run(apart, mq.Producer("P", on="A", sends=9, to=Q, every="1s", at="1ms"), until="2s")
    assert [row for row in told(trace) if "never connected" in row] == []


@pytest.mark.parametrize(("uri", "row"), [
    ("tcp://A:7777", "port 7777 of A: a real broker refuses it: A listens on 61616 by default"),
    ("failover:(tcp://A:1?wireFormat.cacheEnabled=no)", "wireFormat.cacheEnabled=no: read as false; write"),
    ("failover:(tcp://A:61616)?randomize=perhaps", "randomize=perhaps: read as false; write true or false"),
    ("failover:(tcp://A:61616)?randomize=FALSE&maxReconnectDelay=5", None),
])  # fmt: skip
def test_what_an_address_says_and_mqlab_reads_otherwise_is_told(uri, row):
    found = told(mq.run(A, mq.Client("shop", uri=uri), mq.Producer("P", on="shop", sends=1, to=Q)))
    assert found == [] if row is None else any(one.startswith(f"Client shop, {row}") for one in found)


def test_the_port_of_a_connector_is_told_but_not_of_one_from_files(tmp_path):
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", "static:(tcp://B:61617)")), mq.Broker("B"))
    load = mq.default_load(net)
    assert [one.what for one in mq.run(net, *load).undone] == ["A/ab, port 61617 of B"]
    mq.save(mq.Network(mq.Broker("A", CONNECTOR), mq.Broker("B")), tmp_path)
    other = mq.load(tmp_path)
    assert mq.run(other, *load).undone == ()


@pytest.mark.parametrize(("product", "started"), [("openmq", "5 s"), ("artemis", "7 s")])
def test_what_comes_before_the_brokers_have_started_is_told_with_what_waits_for_them(product, started):
    net = mq.complete(3, product=product)
    one, other, _ = net.names
    reads, sends = mq.Consumer("C", on=other, reads=Q), mq.Producer("P", on=one, sends=9, to=Q, every="1s")
    early = told(mq.run(net, reads, sends, mq.Pause(other, at="2s"), mq.Resume(other, at="20s")))
    waited = f"Consumer C, which waited until the brokers had started, at {started}"
    remedy = "choose a later at=, or give all actions one"
    assert f"Pause {other} at 2s: came before {waited}; {remedy}" in early
    assert told(mq.run(net, reads, sends, mq.Pause(other, at="12s"), mq.Resume(other, at="20s"))) == []
    assert told(mq.run(mq.chain(3), mq.Consumer("C", on="B2", reads=Q), mq.Pause("B2", at="2s"))) == []


def test_a_pause_of_a_broker_that_is_not_up_is_told():
    two = artemis.Network(artemis.Broker("A"), artemis.Broker("B"))
    assert told(mq.run(two, mq.Pause("B", at="200ms"))) == ["Pause B at 200ms: the broker was not running"]
    assert told(mq.run(two, mq.Pause("B", at="7s"))) == []


def test_a_consumer_at_a_broker_that_is_down_is_told():
    trace = mq.run(A, mq.Stop("A", at="1s"), mq.Consumer("C", on="A", reads=Q, at="2s"))
    assert told(trace) == ["Consumer C: never subscribed; broker A is not running"]


def test_a_healed_link_whose_messages_are_not_sent_again_yet_is_told():
    cut, heal = openmq.Cut("b1", "b2", how="hang"), openmq.Heal("b1", "b2")
    sends = openmq.Producer("P", "b1", 5, Q)
    story = (openmq.Consumer("C", "b2", Q), cut, sends, openmq.Wait("10s"), heal)
    net = openmq.Network("b1", "b2")
    assert told(mq.run(net, *story))[0].startswith("The restored link b1 - b2: TCP has not yet sent again")
    later = mq.run(net, *story, openmq.Wait("30s"))
    assert (later.received(), later.undone) == ({"C": 5}, ())


def test_a_link_to_nobody_is_told():
    slow = mq.Link(delay="20ms")
    assert told(mq.run(A, links={("A", "Z"): slow})) == ["Link A - Z: nothing in this run is called Z"]
    reads = mq.Consumer("C", on="A", reads=Q)
    assert told(mq.run(A, reads, links={("A", "C"): slow})) == []


def test_producers_in_the_background_of_one_client_send_at_the_same_time():
    sends = [
        mq.Producer(name, on="shop", sends=3, to=Q, every="1s", in_background=True) for name in ("P1", "P2")
    ]
    trace = mq.run(A, mq.Client("shop", uri="tcp://A:61616"), *sends)
    first = [
        next(e.t for e in trace.events() if e.kind.name == "Sent" and e.frm == name) for name in ("P1", "P2")
    ]
    assert abs(first[0] - first[1]) < 100_000
    assert trace.undone == ()


def test_configuration_files_go_into_a_folder(tmp_path):
    with pytest.raises(mq.MqlabError, match="into a folder"):
        mq.save(A, tmp_path / "foo.xml")


def test_a_lab_is_played_on_and_stays_as_it_was():
    lab = mq.Lab(A)
    lab.do(mq.Producer("P", on="A", sends=3, to=Q))
    lab.rest()
    assert mq.explain(lab).title == "3 messages were sent."
    assert mq.run(lab, mq.Consumer("C", on="A", reads=Q)).received() == {"C": 3}
    assert lab.trace.received() == {}


def test_an_answer_about_nothing_says_so():
    assert mq.explain(mq.run(A)).title.startswith("0 messages were sent. To see one move")
    with pytest.raises(mq.MqlabError, match="no message is sent in this run"):
        mq.upgrade(A, "5.17", "6.1")
    assert "no change" in str(mq.upgrade(A, "5.17", "6.1", *mq.default_load(A)))


def test_an_option_that_the_version_does_not_have_is_told_by_the_run_and_by_the_upgrade():
    link = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", message_ttl=2)
    old = mq.Network(mq.Broker("A", link), mq.Broker("B"), edition="5.5")
    told = "A/ab, messageTTL: version 5.5 has no such option"
    assert [str(one)[: len(told)] for one in mq.run(old, *mq.default_load(old)).undone] == [told]
    assert mq.run(old.under("5.17"), *mq.default_load(old)).undone == ()
    assert f"Not done in 5.5: {told}" in str(mq.upgrade(old, "5.5", "5.17", *mq.default_load(old)))


def test_times_are_exact_whatever_their_length():
    trace = mq.run(A, mq.Producer("P", on="A", sends=3, to=Q, every="600s"))
    assert str(mq.explain(trace, message="P-3").lines[0]).startswith("1200.004 s")


@pytest.mark.parametrize(("make", "text"), [
    (lambda: mq.run(A, seed="x"), "seed is 'x'"),
    (lambda: mq.run(A, [mq.Stop("A")]), r"\*actions"),
    (lambda: mq.explain(mq.run(A), "P-1"), "unknown message 'P-1'. None exist"),
    (lambda: mq.Link("20ms"), "delay="),
    (lambda: mq.run(A, mq.Client("c", uri="tcp://A:61616,tcp://B:61616")), "failover:"),
    (lambda: mq.run(A, mq.Producer("P", on="A", sends=3000, to=Q), limit=100), "set a higher limit or"),
    (lambda: mq.Pause("A", kind="house"), "unknown kind 'house'"),
])  # fmt: skip
def test_a_mistake_is_told_with_what_to_write(make, text):
    with pytest.raises(mq.MqlabError, match=text):
        make()


def test_waits_of_a_redelivery_policy_may_be_texts():
    assert mq.Redelivery(delay="1s", initial_delay="500ms").wait(1) == 500


def test_a_release_that_was_not_recorded_plays_the_nearest_edition_and_says_so():
    with pytest.warns(UserWarning, match=r"5\.15\.9: mqlab runs edition 5\.17"):
        assert mq.Network(mq.Broker("A"), edition="5.15.9").edition == "5.17"


def test_a_noun_prints_what_of_it_was_given():
    assert repr(mq.Consumer("C", on="A", reads=Q, prefetch=1)).startswith("Consumer('C', on='A', reads=")
    assert repr(mq.Crash("A", at="2s")) == "Crash('A', at='2s')"


def _script(chance, names, product):
    """Return random actions of brokers, and how many messages they are to send."""
    actions, planned = [], 0
    for no in range(chance.randint(1, 8)):
        at = {} if chance.random() < 0.5 else {"at": f"{chance.randint(0, 20_000)}ms"}
        on, kind = (
            chance.choice(names),
            chance.choice(["reads", "reads", "sends", "sends", "crash", "back", "stop"]),
        )
        queue = mq.Queue(chance.choice("QR"))
        if kind == "reads":
            actions.append(mq.Consumer(f"C{no}", on=on, reads=queue, **at))
        elif kind == "sends":
            planned += (count := chance.randint(1, 20))
            actions.append(mq.Producer(f"P{no}", on=on, sends=count, to=queue, **at))
        else:
            actions.append({"crash": mq.Crash, "stop": mq.Stop, "back": mq.Restart}[kind](on, **at))
    return actions, planned


def _network(chance, product):
    if product == "openmq":
        size = chance.randint(1, 4)
        return mq.complete(size, product=product, model=chance.choice(["none", "enhanced"]))
    make, least = chance.choice([(mq.chain, 1), (mq.hub, 1), (mq.ring, 2), (mq.complete, 1)])
    return make(chance.randint(least, 4), product=product)


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_what_is_missing_in_a_random_run_is_in_undone(product, request):
    """Of 2,100 random networks with random scripts (with --all; else of 180)."""
    for seed in range(700 if request.config.getoption("--all") else 60):
        chance = random.Random(f"{product}{seed}")
        net = _network(chance, product)
        actions, planned = _script(chance, net.names, product)
        trace = mq.run(net, *actions, until=chance.choice([None, "3s", "12s"]))
        sent, lines = len(trace.account()), " ".join(told(trace))
        assert sent == planned or "never sent" in lines or "before its t" in lines, (seed, net, actions)
        there = set(trace.received())
        for action in actions:
            if isinstance(action, mq.Consumer) and action.name not in there:
                assert action.name in lines, (seed, net, actions)
            if isinstance(action, (mq.Crash, mq.Stop, mq.Restart)):
                kind = {mq.Crash: "Crashed", mq.Stop: "Stopped", mq.Restart: "Started"}[type(action)]
                done = any(e.kind.name == kind and e.broker == action.broker for e in trace.events())
                named = f"{type(action).__name__} {action.broker}" in lines
                assert done or named, (seed, net, actions, action)


def test_a_slave_that_waits_for_the_lock_has_started():
    assert mq.run("fuse:4.4").undone == ()
    asked = [one.what for one in mq.run("fuse:4.10").undone]
    assert asked == ["Restart brokerH2"]  # the last action of the script: its process is not up yet


def test_a_client_that_gave_up_is_the_reason_for_messages_never_sent_and_explain_says_so():
    gives_up = "failover:(tcp://A:61616)?maxReconnectAttempts=0"
    trace = mq.run(
        A,
        mq.Client("K", uri=gives_up, at="0s"),
        mq.Consumer("C", on="K", reads=Q, at="1s"),
        mq.Client("L", uri=gives_up, at="0s"),
        mq.Producer("P", on="L", to=Q, sends=60, every="100ms", at="2s"),
        mq.Crash("A", at="4s"),
        mq.Restart("A", at="6s"),
    )
    assert told(trace) == ["Producer P: 40 of 60 messages never sent; L gave up at 4 s"]
    assert "4 s  a call by L failed" in str(mq.explain(trace))
    assert "4 s  a call by K failed" in str(mq.explain(trace, consumer="C"))
    title = mq.explain(trace, message="P-40").title
    assert title == "Message P-40 was never sent: L gave up at 4 s."


def test_a_consumer_that_is_opened_again_has_the_mode_that_it_is_opened_with():
    first = mq.Consumer("C", on="A", reads=Q, ack_mode="client", acknowledge=False)
    again = mq.Consumer("C", on="A", reads=Q, ack_mode="transacted")
    [why] = told(mq.run(A, first, mq.Close("C"), again, mq.Commit("C")))
    assert why.startswith("Commit C: C had acknowledged all at once")


def test_a_rollback_of_a_consumer_that_acknowledges_at_once_is_told():
    story = mq.Producer("P", on="A", sends=3, to=Q), mq.Rollback("C"), mq.Acknowledge("C")
    why = "C had acknowledged all at once; with ack_mode={} and acknowledge=False it waits for this".format
    assert told(mq.run(A, mq.Consumer("C", on="A", reads=Q), *story)) == [
        "Rollback C: " + why("'transacted'"),
        "Acknowledge C: " + why("'client'"),
    ]
    client = mq.Consumer("C", on="A", reads=Q, ack_mode="client", acknowledge=False)
    by_action = mq.run(A, client, *story)
    assert told(by_action) == []
    assert by_action.received() == {"C": 6}


def test_acknowledge_is_no_mode():
    with pytest.raises(BadValue, match="acknowledge is 'transacted'; expected true or false"):
        mq.Consumer("C", on="A", reads=Q, acknowledge="transacted")


def test_a_script_that_begins_with_the_start_of_one_broker_names_those_that_it_does_not_start():
    two = mq.Network(mq.Broker("A"), mq.Broker("B"))
    (row, *_) = told(mq.run(two, mq.Restart("A"), mq.Consumer("C", on="B", reads=Q)))
    assert row.startswith(
        "Broker B: never started, as a script that begins with Restart A starts no other broker"
    )
    assert told(mq.run(two, mq.Restart("A"), mq.Restart("B"))) == []
    assert told(mq.run(two, mq.Start(), mq.Consumer("C", on="B", reads=Q))) == []


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_what_is_due_after_the_end_of_a_run_does_not_happen(product):
    net = mq.complete(2, product=product)
    end = "20s"
    trace = mq.run(net, mq.Crash(net.names[0], at="30s"), until=end)
    assert len(trace.rows(mq.Kind.Crashed)) == 0
    assert told(trace) == [f"Crash {net.names[0]} at 30s: the run ended at 20 s, before its time"]


def limited(attempts):
    return f"failover:(tcp://A:61616)?maxReconnectAttempts={attempts}"


@pytest.mark.parametrize(("attempts", "waits"), [(3, 30), (8, 1270), (12, 20_470), (25, 400_950)])
def test_a_run_waits_for_a_client_that_gives_up(attempts, waits):
    """Whether actions have times or not, and whether it was ever connected or not."""
    timed = mq.run(A, mq.Crash("A", at="0s"), mq.Client("cl", uri=limited(attempts), at="1s"))
    assert (timed.end - 1_000_000) // 1000 == waits
    assert told(timed) == ["Client cl: never connected; Connection refused"]
    in_turn = mq.run(A, mq.Crash("A"), mq.Client("cl", uri=limited(attempts)))
    assert (told(in_turn), in_turn.end // 1000) == (told(timed), waits)
    lost = mq.run(A, mq.Client("cl", uri=limited(attempts), at="1s"), mq.Crash("A", at="2s"))
    assert "the maximum number of reconnect attempts was reached" in str(mq.explain(lost, client="cl"))


def test_a_client_that_gives_up_hours_later_is_not_waited_for_and_that_is_told():
    trace = mq.run(A, mq.Crash("A", at="0s"), mq.Client("cl", uri=limited(1000), at="1s"))
    [why] = told(trace)
    assert why.startswith("Client cl: still trying to connect at 1 s; it gives up at about ")
    end = why.rpartition("until=")[2].strip("'")
    later = mq.run(A, mq.Crash("A", at="0s"), mq.Client("cl", uri=limited(1000), at="1s"), until=end)
    assert told(later) == ["Client cl: never connected; Connection refused"]


def test_the_next_action_does_not_wait_for_a_client_that_would_give_up():
    """Else none could be told to start its broker in time."""
    trace = mq.run(A, mq.Client("cl", uri=limited(20)), mq.Consumer("C", on="cl", reads=Q), mq.Crash("A"),
                   mq.Restart("A"), mq.Producer("P", on="A", sends=2, to=Q))  # fmt: skip
    assert trace.received() == {"C": 2}


def in_traffic(*more):
    sends = mq.Producer("P", on="B1", sends=1000, to=Q, every="5ms", in_background=True)
    return mq.run(mq.chain(2), sends, *more)


def test_a_producer_in_the_background_that_holds_the_script_up_is_told():
    """A crash in its traffic is over at rest: the wait after it begins when all is sent."""
    held = in_traffic(mq.Wait("2s"), mq.Crash("B2"), mq.Wait("1s"), mq.Restart("B2"))
    (row,) = told(held)
    told_of = r"Crash B2: .*, so the next one waited from [\d.]+ m?s to 6\.9\d* s"
    assert re.fullmatch(told_of + ", when P had sent all; give them at=", row)
    (restarted,) = (event.t for event in held.events() if event.kind == mq.Kind.Restarted)
    assert restarted > "7900ms"
    assert told(in_traffic(mq.Crash("B2", at="2s"), mq.Restart("B2", at="3s"))) == []
    assert told(in_traffic(mq.Wait("8s"), mq.Crash("B2"), mq.Wait("1s"), mq.Restart("B2"))) == []


@pytest.mark.parametrize(
    ("address", "received", "why"),
    [
        ("http://B:61616", 0, "Transport scheme NOT recognized: [http]"),
        ("tcp://B", 3, "a real one needs the port"),
        ("ssl://B:61616", 3, "B listens for plain TCP"),
    ],
)
def test_an_address_by_which_no_real_broker_is_reached_is_told(address, received, why):
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("x", f"static:({address})")), mq.Broker("B"))
    trace = mq.run(net, mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=3, to=Q))
    assert trace.received() == {"C": received}
    (problem,) = mq.check(net)
    assert problem.rule == "transport"
    assert why in str(problem)
    if address == "tcp://B":  # as a lab file of a run on files has it
        assert told(trace) == []
        return
    (row,) = told(trace)
    assert row.startswith(f"A/x, {address}: {why}")
    (client,) = told(mq.run(mq.Network(mq.Broker("B")), mq.Client("K", uri=address)))
    assert why in client


TWICE = mq.Network(mq.Broker("A", mq.NetworkConnector("A-B", "static:(tcp://B:61616)")), mq.Broker("B"))


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        ([mq.Cut("A", "B"), mq.Cut("A", "B")], "Cut A B: the link was cut already"),
        ([mq.StartConnector("A-B")], "StartConnector A-B: the connector was running already"),
        ([mq.StopConnector("A-B")] * 2, "StopConnector A-B: the connector was not running"),
        ([mq.Pause("C")] * 2, "Pause C: the consumer was paused already"),
        ([mq.Pause("B")] * 2, "Pause B: the broker was paused already"),
    ],
)
def test_what_is_asked_twice_is_told(actions, why):
    assert told(mq.run(TWICE, mq.Consumer("C", on="B", reads=Q), *actions)) == [why]


def in_session(*actions):
    client, session = mq.Client("c", uri="tcp://A:61616"), mq.OpenSession("c", "s", transacted=True)
    return mq.run(A, client, session, *actions, mq.Consumer("C", on="A", reads=Q))


def test_a_transaction_that_is_never_committed_is_told():
    def sends(name, count, **more):
        return mq.Producer(name, on="c", session="s", sends=count, to=Q, **more)

    commit, rollback = mq.Commit("c", session="s"), mq.Rollback("c", session="s")
    why = "in the transaction of session s of c, which was not committed; add mq.Commit('c', session='s')"
    never = in_session(sends("P", 5))
    assert (told(never), never.received()) == ([f"5 messages of P: {why}"], {"C": 0})
    assert told(in_session(sends("P", 5), commit)) == []
    assert told(in_session(sends("P", 5), rollback)) == []  # that was asked for
    later = in_session(sends("P", 5), commit, sends("P", 3), sends("R", 1))
    assert told(later) == [f"3 messages of P: {why}", f"1 message of R: {why}"]
    assert later.received() == {"C": 5}


@pytest.mark.parametrize(
    ("name", "close", "why"),
    [
        ("never", False, ["the durable subscription never of c at A does not exist"]),
        ("D", False, ["the durable subscription D of c at A is in use; close its consumer before"]),
        ("D", True, []),
    ],
)
def test_a_durable_subscription_that_is_not_there_or_in_use_is_not_unsubscribed(name, close, why):
    topic = mq.Topic("T")
    trace = mq.run(
        A,
        mq.Client("c", uri="tcp://A:61616"),
        mq.Consumer("D", on="c", reads=topic, durable=True),
        *([mq.Close("D")] if close else []),
        mq.Unsubscribe("c", name),
        mq.Producer("P", on="A", sends=2, to=topic),
    )
    assert told(trace) == [f"Unsubscribe c: {row}" for row in why]
    assert trace.received()["D"] == (0 if close else 2)


@pytest.mark.parametrize("on", ["A", "c"])
def test_more_acknowledgements_than_messages_held_are_told(on):
    def acknowledging(*counts):
        client = mq.Client("c", uri="tcp://A:61616")
        consumer = mq.Consumer("C", on=on, reads=Q, ack_mode="client", acknowledge=False)
        acknowledged = [mq.Acknowledge("C", count) for count in counts]
        return told(mq.run(A, client, consumer, mq.Producer("P", on="A", sends=3, to=Q), *acknowledged))

    why = "Acknowledge C: it asked for {}, and the consumer held {}".format
    assert acknowledging(3) == []
    assert acknowledging(10) == [why(10, "3 messages")]
    assert acknowledging(2, 2) == [why(2, "1 message")]


@pytest.mark.parametrize("options", [{}, {"wait_for_slave_timeout_ms": 5000}])
def test_a_master_that_waits_for_its_slave_takes_no_clients(options):
    master = mq.Broker("M", wait_for_slave=True, **options)
    lone = mq.Network(master, edition="5.5")
    sends, reads = mq.Producer("P", on="M", sends=3, to=Q), mq.Consumer("C", on="M", reads=Q)
    trace = mq.run(lone, reads, sends)
    assert trace.received() == {"C": 0}
    assert trace.waiting() == {}
    why = "broker M accepts no clients until a slave is attached (waitForSlave)"
    assert {f"Consumer C: never subscribed; {why}", f"P: {why}"} <= {*told(trace)}
    slave = mq.Broker("S", pure_slave_of="M")
    assert mq.run(mq.Network(slave, master, edition="5.5"), reads, sends).received() == {"C": 3}


@pytest.mark.parametrize("first", [0, 1])
def test_the_slave_of_a_pure_pair_starts_when_its_master_is_up(first):
    pair = [mq.Broker("M"), mq.Broker("S", pure_slave_of="M")]
    shop = mq.Client("shop", uri="failover:(tcp://M:61616,tcp://S:61616)?randomize=false")
    sends = mq.Producer("P", on="shop", sends=3, to=Q)
    trace = mq.run(mq.Network(*pair[first:], *pair[:first], edition="5.5"), shop, sends, mq.Crash("M"))
    assert trace.waiting()["S"] == {"queue://Q": [1, 2, 3]}


def test_a_broker_that_does_not_start_is_told():
    lost = mq.NetworkConnector("out", uri="masterslave:(tcp://A:61616)")
    trace = mq.run(mq.Network(mq.Broker("A"), mq.Broker("B", lost)), mq.Producer("P", on="A", sends=1, to=Q))
    assert told(trace) == ["Broker B: it did not start: Expecting at least 2 arguments"]


def test_a_queue_behind_a_topic_that_is_not_virtual_is_told():
    reads = mq.Consumer("C", on="A", reads=mq.Queue("Consumer.x.NEWS"))
    sends = mq.Producer("P", on="A", sends=1, to=mq.Topic("NEWS"))
    (line,) = told(mq.run(A, reads, sends))
    assert "topic://NEWS is not virtual, as only VirtualTopic.> is by default" in line
    assert told(mq.run(A, reads, sends, mq.Producer("P2", on="A", sends=1, to=reads.reads))) == []
    named = mq.Consumer("C", on="A", reads=mq.Queue("Consumer.x.VirtualTopic.NEWS"))
    assert told(mq.run(A, named, mq.Producer("P", on="A", sends=1, to=mq.Topic("VirtualTopic.NEWS")))) == []
    virtual = mq.Network(mq.Broker("A", virtual_topics=["topic://NEWS"]))
    assert told(mq.run(virtual, reads, sends)) == []


PRODUCTS = [
    pytest.param(net, id=net.product) for net in (A, openmq.Network("A"), artemis.Network(artemis.Broker("A")))
]


@pytest.mark.parametrize("net", PRODUCTS)
@pytest.mark.parametrize(("reads", "why"), [
    (mq.Queue("q"), "messages are sent to queue://Q: names are case-sensitive"),
    (mq.Topic("Q"), "messages are sent to queue://Q: a queue and a topic of one name differ"),
    (mq.Queue("Q"), ""), (mq.Queue("other"), ""),
])  # fmt: skip
def test_a_consumer_of_a_name_nearly_sent_to_is_told(net, reads, why):
    lines = told(mq.run(net, mq.Consumer("C", on="A", reads=reads), mq.Producer("P", on="A", sends=1, to=Q)))
    assert lines == ([f"Consumer C: it reads {reads}, and {why}"] if why else [])


@pytest.mark.parametrize("net", PRODUCTS)
def test_a_comma_that_separates_nothing_is_told(net):
    sends = mq.Producer("P", on="A", sends=1, to=mq.Queue("Q,R"))
    lines = told(mq.run(net, mq.Consumer("C", on="A", reads=Q), sends))
    told_of = {
        "activemq": [],
        "artemis": ["Consumer C: it reads queue://Q, and queue://Q,R is one name"],
        "openmq": ["Producer P: Q,R is not a name that OpenMQ allows: letters, digits, _, $ and dots"],
    }
    assert [line.partition(" here")[0] for line in lines][:1] == told_of[net.product]


@pytest.mark.parametrize("net", PRODUCTS)
def test_a_wildcard_that_a_product_does_not_have_is_told(net):
    reads = mq.Consumer("C", on="A", reads=mq.Queue("Q.>"))
    trace = mq.run(net, reads, mq.Producer("P", on="A", sends=1, to=mq.Queue("Q.a")))
    taken = net is A
    assert trace.received() == {"C": taken}
    assert [line.partition(" in ")[0] for line in told(trace)] == (1 - taken) * [
        "Consumer C: queue://Q.> is the name of one queue"
    ]


def test_a_call_that_the_product_answers_is_made_and_told():
    run = mq.run("fuse:4.4", mq.Rollback("C", session="session"))
    assert told(run) == ["Rollback C: C is not transacted, so each message took effect at once"]


@pytest.mark.parametrize(("name", "odd"), [
    ("Q.**", True), ("Q>", True), ("#", True), ("Q.#", True), ("Q::R", True), ("R.>", False), ("R.*", False),
    ("R/#1", True), ("R", False),
])  # fmt: skip
def test_a_wildcard_of_another_product_is_told(name, odd):
    reads = mq.Consumer("C", on="A", reads=mq.Queue(name))
    lines = told(mq.run(A, reads, mq.Producer("P", on="A", sends=1, to=mq.Queue("Q.a"))))
    why = "is one name: in ActiveMQ only * and > stand for words, each alone between dots"
    assert lines == [f"Consumer C: queue://{name} {why}"] * odd


@pytest.mark.parametrize("net", PRODUCTS)
@pytest.mark.parametrize(("selector", "asked"), [
    ("JMSDeliveryMode = 'PERSISTENT' AND JMSPriority = 4", ""), ("JMSType = 'x'", "JMSType"),
    ("JMSTimestamp > 0 OR JMSType = 'x'", "JMSTimestamp and JMSType"), ("JMSType IS NULL", ""),
])  # fmt: skip
def test_a_header_that_messages_do_not_have_is_told(net, selector, asked):
    reads = mq.Consumer("C", on="A", reads=Q, selector=selector)
    trace = mq.run(net, reads, mq.Producer("P", on="A", sends=1, to=Q))
    asked = "" if trace.product == "openmq" and "JMSTimestamp" in asked else asked  # which messages have there
    assert trace.received() == {"C": not asked}
    assert told(trace) == [
        f"Consumer C: its selector asks for {asked}, which messages of mqlab do not have; select by a property"
    ] * bool(asked)


@pytest.mark.parametrize("net", PRODUCTS)
@pytest.mark.parametrize("selector", ["JMSExpiration = 0", "JMSExpiration > 0"])
def test_when_a_message_expires_is_known_to_selectors_of_activemq(net, selector):
    reads = mq.Consumer("C", on="A", reads=Q, selector=selector)
    trace = mq.run(net, reads, mq.Producer("P", on="A", sends=1, to=Q))
    assert trace.received() == {"C": net is A and selector == "JMSExpiration = 0"}
    why = "asks for JMSExpiration, which messages of mqlab do not have; select by a property"
    assert told(trace) == [f"Consumer C: its selector {why}"] * (net is not A)


@pytest.mark.parametrize("net", PRODUCTS)
def test_a_script_that_starts_no_broker_is_told(net):
    flow = mq.Consumer("C", on="A", reads=Q), mq.Producer("P", on="A", sends=1, to=Q)
    line = "Network: no broker was started, as this script begins without mq.Start()"
    assert line in told(mq.run(net.with_actions(*flow)))
    assert told(mq.run(net.with_actions(mq.Start(), *flow))) == []


@pytest.mark.parametrize("net", [A, openmq.Network("A")])
def test_what_an_inactive_durable_subscription_keeps_is_waiting(net):
    topic = mq.Topic("T")
    durable = mq.Consumer("D", on="A", reads=topic, durable=True, client_id="d")
    sends = mq.Producer("P", on="A", sends=1, to=topic, persistent=False)
    assert "still waiting at A" in str(mq.explain(mq.run(net, durable, mq.Close("D"), sends), message=1))


@pytest.mark.parametrize(("sent", "selector", "types"), [
    ("1", "n = 1", "with a number, and it is sent as the text '1'"),
    (["x", "1"], "n IN ('y') OR n BETWEEN 1 AND 2", "with a number, and it is sent as the text '1'"),
    (2, "n = '2'", "with a text, and it is sent as the number 2"),
    (True, "n = 'true'", "with a text, and it is sent as the boolean True"),
    ("true", "n", "with a boolean, and it is sent as the text 'true'"),
    (2, "n = 1", ""), ("x", "n = 'y'", ""), ([1, "1"], "n = 1", ""),
])  # fmt: skip
def test_a_selector_whose_types_never_fit_is_told(sent, selector, types):
    reads = mq.Consumer("C", on="A", reads=Q, selector=selector)
    lines = told(mq.run(A, reads, mq.Producer("P", on="A", sends=2, to=Q, properties={"n": sent})))
    assert len(lines) == bool(types)
    assert all(f"Consumer C: its selector compares n {types}" in line for line in lines)


@pytest.mark.parametrize(("network", "mode", "held"), [
    (A, "auto", True), (A, "dups_ok", True), (openmq.Network("A"), "auto", False),
])  # fmt: skip
def test_what_is_said_of_acknowledgements_is_what_the_run_does(network, mode, held):
    reads = mq.Consumer("C", on="A", reads=Q, ack_mode=mode, acknowledge=False)
    trace = mq.run(network, reads, mq.Producer("P", on="A", sends=2, to=Q))
    assert bool(trace.waiting()) == held
    (line,) = told(trace)
    assert ("mqlab does not" in line) == held
    assert ("whatever acknowledge says" in line) != held


def test_a_branch_that_no_session_prepared_is_not_in_doubt():
    trace = mq.run(
        openmq.Network("A"), openmq.Consumer("C", on="A", reads=Q), openmq.Xa("prepare", "x1", who="C")
    )
    assert told(trace) == ["Xa prepare: C has no XA session; open it with options={'xa': True}"]


def test_a_producer_that_lost_its_broker_says_so_though_the_broker_is_up_again():
    late = mq.Producer("P", on="A", sends=10, to=mq.Queue("Q"), at="1s", every="500ms", in_background=True)
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Crash("A", at="2s"), mq.Restart("A", at="3s"), late)
    (line,) = (str(one) for one in trace.undone)
    assert "8 of 10 messages never sent; A crashed at 2 s, which ended its connection" in line
    assert "failover" in line


@pytest.mark.parametrize("crash", [True, False])
@pytest.mark.parametrize(
    "net", [openmq.Network("b1", "b2"), openmq.Network("b1", "b2", model="master", master="b1")]
)
def test_only_an_enhanced_cluster_takes_over(net, crash):
    trace = mq.run(net, *[openmq.Crash("b2")] * crash, openmq.TakeOver("b1", "b2"))
    why = "b1 refused it; only brokers of an enhanced cluster take over"
    assert told(trace) == [f"TakeOver b1: {why}"]


def test_what_was_taken_over_is_not_taken_over_again():
    net = openmq.Network("b1", "b2", "b3", model="enhanced")
    trace = mq.run(net, openmq.Crash("b2"), openmq.TakeOver("b1", "b2"), openmq.TakeOver("b3", "b2"))
    assert told(trace) == ["TakeOver b3: b3 refused it; b2 was taken over by b1 already"]


@pytest.mark.parametrize(
    ("model", "why"), [("true", "b2 was not running"), ("false", "the master hands over only with imq.")]
)
def test_a_master_hands_over_to_one_that_runs(model, why):
    net = openmq.Network("b1", "b2", model="master", master="b1",
                         cluster_dynamic_change_master_broker_enabled=model == "true")  # fmt: skip
    (line,) = told(mq.run(net, openmq.Crash("b2"), openmq.ChangeMaster("b1", "b2")))
    assert line.startswith(f"ChangeMaster b1: b1 refused it; {why}")


@pytest.mark.parametrize(("store", "received"), [("memory", 0), ("kahadb", 15)])
def test_a_slave_has_what_its_master_stored_but_not_what_was_in_memory(store, received):
    net = mq.Network(*(mq.Broker(name, shared_store="s", store=store) for name in ("M1", "M2")))
    sends = mq.Producer("P", on="M1", sends=15, to=Q)
    trace = mq.run(net, sends, mq.Crash("M1"), mq.Consumer("C", on="M2", reads=Q, at="20s"))
    assert trace.received() == {"C": received}
    assert len(trace.lost()) == 15 - received


def test_a_consumer_on_a_slave_is_told_that_it_is_one():
    net = mq.Network(*(mq.Broker(name, shared_store="s") for name in ("M1", "M2")))
    trace = mq.run(net, mq.Consumer("C", on="M2", reads=Q))
    assert told(trace) == [
        "Consumer C: never subscribed; broker M2 is a slave, which takes no clients",
    ]


@pytest.mark.parametrize(
    ("persistent", "up", "count"), [(True, (), 3), (False, (), 0), (True, (mq.DatabaseUp(at="11s"),), 0)]
)
def test_messages_that_are_stored_without_a_database_are_told(persistent, up, count):
    sends = mq.Producer("P", on="A", sends=3, to=Q, at="12s", persistent=persistent)
    net = mq.Network(mq.Broker("A", store="jdbc"), mq.Broker("B"))
    trace = mq.run(net, mq.DatabaseDown(at="10s"), *up, sends)
    assert [line.split(" stored")[0] for line in told(trace)] == [
        f"DatabaseDown: {count} persistent messages"
    ] * bool(count)


@pytest.mark.parametrize("net", PRODUCTS)
@pytest.mark.parametrize(("sent", "read", "line"), [
    ("ORDERS", "ORDRES", "Consumer C: it reads queue://ORDRES"),
    ("SHOP.ORDER", "SHOP.ORDERS", "Consumer C: it reads queue://SHOP.ORDERS"),
    ("TeamA", "TeamB", ""), ("Q1", "Q2", ""), ("LEFT", "RIGHT", ""),
])  # fmt: skip
def test_a_name_one_letter_off_is_told(net, sent, read, line):
    reads, sends = mq.Queue(read), mq.Producer("P", on="A", sends=1, to=mq.Queue(sent))
    lines = told(mq.run(net, mq.Consumer("C", on="A", reads=reads), sends))
    why = f"and messages are sent to queue://{sent}: their names are one letter apart"
    assert lines == ([f"{line}, {why}"] if line else [])


@pytest.mark.parametrize("net", PRODUCTS)
def test_what_is_sent_to_a_name_one_letter_off_is_told(net):
    good, bad = mq.Queue("ORDERS"), mq.Queue("ORDRES")
    sends = [mq.Producer(f"P{no}", on="A", sends=1, to=to) for no, to in enumerate((good, bad))]
    lines = told(mq.run(net, mq.Consumer("C", on="A", reads=good), *sends))
    why = "and consumers read queue://ORDERS: their names are one letter apart"
    assert lines == [f"Producer P1: it sends to queue://ORDRES, {why}"]


@pytest.mark.parametrize("net", PRODUCTS[::2])  # OpenMQ refuses both
def test_quiet_that_cannot_pass_in_its_time_is_told(net):
    own = artemis.Settle if net.product == "artemis" else mq.Settle
    lines = [told(mq.run(net, own(quiet="2s", at_most=most))) for most in ("1s", "2s")]
    assert lines == [
        ["Settle 2s: at_most ends before quiet can have passed, so it always ends by that limit"],
        [],
    ]


@pytest.mark.parametrize("net", PRODUCTS)
def test_a_stop_of_a_paused_broker_is_told(net):
    (line,) = told(mq.run(net, mq.Pause("A"), mq.Stop("A")))
    assert line.startswith("Stop A: ")
    assert "was paused" in line


def test_what_a_broker_hands_to_itself_is_told():
    client = mq.Client("K", uri="failover:(tcp://A:61616)")
    assert told(mq.run(A, client, mq.SendAway("A", "A"))) == [
        "SendAway A: it is sent to itself: its clients connect again to the same broker"
    ]
    net = openmq.Network("b1", "b2", model="master", master="b1")
    lines = told(mq.run(net, openmq.ChangeMaster("b1", "b1")))
    assert lines == ["ChangeMaster b1: b1 is asked to hand over to itself: the master stays the same"]


@pytest.mark.parametrize(("net", "actions", "line"), [
    (mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", auto_start=False)),
                mq.Broker("B")), (),
     "A/ab: autoStart is false, and it is never started; add mq.StartConnector('A/ab')"),
    (A, [mq.Producer("P", on="A", sends=0, to=Q)],
     "Producer P: it sends nothing, as sends is 0; use 1 or more"),
    (A, [mq.Producer("P", on="A", sends=1, to=Q, properties={"n": [1, 2]})],
     "Producer P: n has more values than 1 message; send more, or give fewer"),
    (A, [mq.Producer("P", on="A", sends=1, to=Q, every="2s")],
     "Producer P: every has no effect on one message; use sends=2 or more"),
    (A, [mq.Consumer("C", on="A", reads=Q, others=("A",))],
     "Consumer C: others names A, which it is on; name another broker"),
    (A, [mq.Consumer("C", on="A", reads=Q, browser=True), mq.Producer("P", on="A", sends=1, to=Q)],
     "Consumer C: it browsed queue://Q and found nothing there; browse after the messages are sent"),
    (A, [mq.Producer("P", on="A", sends=1, to=Q), mq.Consumer("C", on="A", reads=Q, browser=True)], ""),
    (A, [mq.Consumer("C", on="A", reads=Q, no_local=True), mq.Producer("P", on="A", sends=1, to=Q)],
     "Consumer C: no_local has no effect, as no producer is on its connection; give both one connection="),
    (openmq.Network("A"), [openmq.Consumer("C", on="A", reads=Q, options={"shared": True})],
     "Consumer C: shared has no effect on a queue, which consumers share anyway; remove it"),
    (openmq.Network("A"), [openmq.CreateDestination(Q, "A", options={"max_num_msgs": 2}),
                           mq.Producer("P", on="A", sends=5, to=Q)],
     "Producer P: 3 messages not accepted; the destination has reached its limit at this broker"),
])  # fmt: skip
def test_what_an_action_or_connector_does_not_do_is_told(net, actions, line):
    assert told(mq.run(net, *actions)) == ([line] if line else [])


def test_a_connector_that_the_script_starts_is_not_told():
    link = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", auto_start=False)
    net = mq.Network(mq.Broker("A", link), mq.Broker("B"))
    assert told(mq.run(net, mq.StartConnector("A/ab"))) == []
