"""Every message has one fate, with a reason, and what waits is what the brokers hold."""

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import MqlabError
from mqlab.products.activemq.runtime import LOOPBACK
from mqlab.trace import Fate, Kind, fast, plain
from mqlab.trace.columns import Columns
from tests.conftest import packed
from tests.trace import state

FOO = mq.Queue("TEST.FOO")
NEWS = mq.Topic("NEWS")
RECORDINGS = ("activemq", "activemq-editions", "activemq-later", "artemis", "artemis-later",
              "combined", "failover", "openmq", "openmq-later")  # fmt: skip


def played(value):
    """Return the lab of a recording after its script; None for one that cannot be run."""
    product = products.product_of(value)
    try:
        scenario = product.read(value, "recording")
        at_rest = scenario.product == "activemq" and scenario.pace == "rest"
        lab = product.lab(scenario, limit=200_000, **({"timing": LOOPBACK} if at_rest else {}))
        lab.play()
    except MqlabError:
        return None
    return lab


def labs():
    """Yield a lab after each figure and each recording."""
    for figure in products.figures():
        lab = products.lab_of(figure.scenario)
        lab.play()
        yield figure.id, lab
    for name in RECORDINGS:
        for path, value in sorted(packed(name).items()):
            lab = played(value) if "scenario" in value else None
            if lab is not None:
                yield path, lab


@pytest.fixture(scope="module")
def all_labs():
    return list(labs())


@pytest.mark.slow
def test_every_message_of_every_figure_and_recording_has_one_fate(all_labs):
    assert len(all_labs) > 1700
    wrong, fates = {}, set()
    for name, lab in all_labs:
        try:
            state.check(lab)
        except AssertionError as error:
            wrong[name] = str(error)
        fates |= set(lab.trace.account().counts())
    assert wrong == {}
    of_parts_and_letters = {Fate.cut_off, Fate.expired}  # what expires is a dead letter
    assert fates == {fate.value for fate in Fate} - of_parts_and_letters


@pytest.mark.slow
def test_numpy_and_plain_python_count_alike(all_labs):
    for name, lab in all_labs:
        trace = lab.trace
        if not len(trace):  # numpy is asked of long runs only
            continue
        assert fast.tally(trace) == plain.tally(trace), name
        rows, owner = trace.rows(Kind.Received), list(range(len(trace.names["node"])))
        assert fast.copies(trace, rows, owner) == plain.copies(trace, rows, owner), name


def test_a_long_run_is_asked_with_numpy_and_answers_the_same(monkeypatch):
    trace = products.play(products.figure("fuse:2.20").scenario)
    by_hand = answers(trace)
    monkeypatch.setattr(Columns, "by_numpy", True)
    assert answers(mq.Trace(trace.header, trace.names, trace._columns)) == by_hand


def answers(trace):
    numbers = [trace.message(name) for name in trace.index.names().values()]
    return (trace.received(), trace.waiting(), trace.stuck(), trace.lost(), trace.duplicated(),
            trace.redelivered(), str(trace.account()), numbers,
            [list(trace.rows_of(number)) for number in numbers],
            list(trace.rows(Kind.Sent, Kind.Held)))  # fmt: skip


def test_a_stop_without_a_store_loses_what_waited():
    net = mq.Network(mq.Broker("A", store="memory"))
    trace = mq.run(net, mq.Producer("P", on="A", sends=3, to=FOO), mq.Stop("A"))
    assert (trace.lost(), trace.waiting()) == ([1, 2, 3], {})
    assert trace.account()[1].fate is Fate.lost
    assert trace.account()[1].why == "it was held in memory only and not stored"


def test_what_a_dead_broker_has_in_its_store_is_in_nobodys_hands():
    net = mq.Network(mq.Broker("A", store="kahadb"))
    held = mq.Consumer("C", on="A", reads=FOO, receiving=False)
    trace = mq.run(net, held, mq.Producer("P", on="A", sends=2, to=FOO), mq.Crash("A"))
    entry = trace.account()[1]
    assert (entry.fate, entry.why) == (Fate.waiting, "A is down; its store holds it")
    assert trace.waiting() == {"A": {str(FOO): [1, 2]}}


def test_what_a_consumer_has_in_hands_waits_and_says_with_whom():
    held = mq.Consumer("C", on="A", reads=FOO, ack_mode="client", acknowledge=False)
    idle = mq.Consumer("D", on="A", reads=mq.Queue("IDLE"), receiving=False)
    trace = mq.run(mq.Network(mq.Broker("A")), held, idle, mq.Producer("P", on="A", sends=1, to=FOO),
                   mq.Producer("Q", on="A", sends=1, to=mq.Queue("IDLE")))  # fmt: skip
    taken, pushed = trace.account().values()
    assert (taken.fate, taken.why) == (
        Fate.waiting,
        "received by C, not acknowledged",
    )
    assert (pushed.fate, pushed.why) == (Fate.waiting, "dispatched to D, not yet received")
    assert trace.received() == {"C": 1, "D": 0}


def test_messages_that_cannot_go_back_are_stuck_after_a_restart_too():
    trace = mq.run("article:stuck")
    assert trace.stuck() == {"A": {str(FOO): list(range(1, 11))}}


def test_two_masters_that_deliver_the_same_are_seen():
    value = packed("artemis")["artemis/quorum/one_pair_cut.json"]
    trace = played(value).trace
    assert trace.received() == {"C1": 4, "C2": 4}
    assert trace.duplicated() == {
        "C1": dict.fromkeys(range(1, 5), 1),
        "C2": dict.fromkeys(range(1, 5), 1),
    }


@pytest.mark.parametrize("on", ["A", "shop"])
def test_a_consumer_that_comes_again_is_the_same_one(on):
    lab = mq.Lab(mq.Network(mq.Broker("A")))
    lab.do(mq.Client("shop", uri="failover:(tcp://A:61616)"))
    for action in (mq.Consumer("C", on=on, reads=FOO), mq.Producer("P", on="A", sends=2, to=FOO),
                   mq.Close("C"), mq.Consumer("C", on=on, reads=FOO),
                   mq.Producer("Q", on="A", sends=3, to=FOO)):  # fmt: skip
        lab.do(action)
        lab.rest()
    assert lab.trace.received() == {"C": 5}
    assert lab.trace.account().counts() == {"consumed": 5}
    state.check(lab)


def test_a_durable_subscriber_that_is_away_has_its_messages_kept_in_the_store():
    net = mq.Network(mq.Broker("A", store="kahadb"))
    durable = mq.Consumer("D", on="A", reads=NEWS, durable=True)
    lab = mq.Lab(net)
    for action in (
        durable,
        mq.Close("D"),
        mq.Producer("P", on="A", sends=2, to=NEWS),
        mq.Stop("A"),
    ):
        lab.do(action)
        lab.rest()
        state.check(lab)
    assert lab.trace.waiting() == {"A": {str(NEWS): [1, 2]}}
    assert lab.trace.lost() == []
    for action in (mq.Restart("A"), durable):
        lab.do(action)
        lab.rest()
        state.check(lab)
    assert lab.trace.account().counts() == {"consumed": 2}


def test_a_durable_subscriber_that_takes_one_after_the_other_has_the_rest_kept():
    net = mq.Network(mq.Broker("A", store="kahadb"))
    slow = mq.Consumer("D", on="A", reads=NEWS, durable=True, prefetch=1, receiving=False)
    lab = mq.Lab(net)
    for action in (slow, mq.Producer("P", on="A", sends=3, to=NEWS), mq.Close("D"), slow,
                   mq.Producer("Q", on="A", sends=2, to=NEWS), mq.Stop("A"), mq.Restart("A"), slow,
                   mq.Receive("D", 2)):  # fmt: skip
        lab.do(action)
        lab.rest()
        state.check(lab)
    assert lab.trace.account().counts() == {"consumed": 2, "waiting": 3}


def test_the_account_names_what_a_rule_dropped_and_what_was_never_accepted():
    limit = {"topic": ">", "pending_message_limit": 2}
    slow = mq.Consumer("S", on="A", reads=NEWS, prefetch=1, receiving=False)
    net = mq.Network(mq.Broker("A", policies=(limit,)))
    trace = mq.run(net, slow, mq.Producer("P", on="A", sends=5, to=NEWS))
    assert trace.account().counts() == {"waiting": 3, "dropped": 2}
    assert trace.account()[2].rule == mq.Reason.pending_limit
    cut = mq.run(mq.Network(mq.Broker("A")), mq.Producer("P", on="A", sends=2, to=FOO, persistent=False),
                 until="500us")  # fmt: skip
    assert cut.account().of("never accepted") == [1, 2]
    assert cut.account()[1].why == "no broker accepted it"


def test_a_dead_letter_is_one_even_while_it_lies_in_its_queue():
    give_back = mq.Consumer("C", on="A", reads=FOO, ack_mode="transacted", acknowledge=False,
                            redelivery=mq.Redelivery(maximum=0))  # fmt: skip
    trace = mq.run(mq.Network(mq.Broker("A")), give_back, mq.Producer("P", on="A", sends=1, to=FOO),
                   mq.Rollback("C"))  # fmt: skip
    assert trace.account()[1].fate is Fate.dead_lettered
    assert trace.waiting() == {"A": {"queue://ActiveMQ.DLQ": [1]}}
    assert trace.account()[1]["line"][-1] == (trace.column("t")[-1], "Held", "A")


def test_an_account_prints_as_a_table_of_fates_and_reasons():
    net = mq.Network(mq.Broker("A", store="memory"), mq.Broker("B"))
    trace = mq.run(net, mq.Producer("P", on="A", sends=3, to=FOO), mq.Stop("A"),
                   mq.Producer("Q", on="B", sends=2, to=FOO))  # fmt: skip
    lines = str(trace.account()).splitlines()
    assert lines[0].split() == ["fate", "messages", "why", "which"]
    assert [line.split()[0] for line in lines[1:]] == ["waiting", "lost"]
    assert "it was held in memory only and not stored" in lines[2]
    assert lines[2].endswith("1-3")
    assert "<table>" in trace.account()._repr_html_()
    with pytest.raises(KeyError):
        trace.account()[9]
