"""The lab step by step: time, forks, and what no recording speaks of."""

from itertools import pairwise

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

FOO = mq.Queue("TEST.FOO")


def test_a_lab_goes_until_no_time_that_is_over():
    lab = mq.Lab(mq.Network(mq.Broker("A")))
    lab.until("2s")
    with pytest.raises(BadValue, match=r"until='1s' is in the past \(now: 2 s\); choose a later"):
        lab.until("1s")
    lab.until("2s")
    assert lab.now == "2s"


def test_what_nobody_paged_in_expires_as_the_run_is_looked_at():
    sent = mq.Producer("P", on="A", sends=1, to=FOO, time_to_live="100ms")
    trace = mq.run(mq.Network(mq.Broker("A")), sent, mq.Wait("1s"))
    assert trace.waiting() == {"A": {"queue://ActiveMQ.DLQ": [1]}}


def two_brokers():
    return mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B"))


def test_a_lab_goes_step_by_step():
    lab = mq.Lab(two_brokers(), seed=7)
    lab.do(mq.Producer("P", on="A", sends=2, to=FOO))
    assert lab.trace.waiting() == {}
    while lab.step():
        pass
    assert lab.trace.waiting() == {"A": {"queue://TEST.FOO": [1, 2]}}


def test_time_goes_on_to_where_it_is_told():
    lab = mq.Lab(two_brokers())
    lab.do(mq.Producer("P", on="A", sends=10, to=FOO, every="1s"))
    lab.until("3500ms")
    assert len(lab.trace.waiting()["A"]["queue://TEST.FOO"]) == 4
    lab.rest()
    assert len(lab.trace.waiting()["A"]["queue://TEST.FOO"]) == 10


def test_a_fork_goes_its_own_way():
    lab = mq.Lab(two_brokers())
    lab.do(mq.Producer("P", on="A", sends=4, to=FOO))
    lab.rest()
    other = lab.fork()
    other.do(mq.Consumer("C", on="B", reads=FOO))
    other.rest()
    assert other.trace.received() == {"C": 4}
    assert lab.trace.waiting() == {"A": {"queue://TEST.FOO": [1, 2, 3, 4]}}
    again = lab.fork()
    again.do(mq.Consumer("C", on="B", reads=FOO))
    again.rest()
    assert again.trace.digest() == other.trace.digest()


def test_a_wrong_action_is_told_before_anything_happens():
    lab = mq.Lab(two_brokers())
    before = lab.trace.digest()
    with pytest.raises(UnknownName, match="unknown broker 'Z'"):
        lab.do(mq.Consumer("C", on="Z", reads=FOO))
    with pytest.raises(UnknownName, match="unknown consumer 'C'"):
        lab.do(mq.Close("C"))
    assert lab.trace.digest() == before


def test_the_same_consumer_twice_is_told():
    lab = mq.Lab(two_brokers())
    lab.do(mq.Consumer("C", on="A", reads=FOO))
    with pytest.raises(BadValue, match="open already"):
        lab.do(mq.Consumer("C", on="A", reads=FOO))


def test_a_trace_can_be_run_again_from_its_own_header():
    from mqlab.products.activemq.files import lab_file as lab_files
    from mqlab.products.activemq.runtime import play

    trace = mq.run("fuse:2.19", seed=3, jitter="2ms")
    again = play(lab_files.read(trace.header["scenario"]), seed=trace.header["seed"],
                 jitter=trace.header["jitter"] // 1000)  # fmt: skip
    assert again.digest() == trace.digest()


def test_sends_to_a_stopped_broker_are_a_problem_of_the_client():
    trace = mq.run(two_brokers(), mq.Stop("A"), mq.Producer("P", on="A", sends=1, to=FOO))
    assert trace.header["problems"] == ["P: broker A is not running"]


def test_routes_that_multiply_are_stopped_with_advice():
    from mqlab.products.activemq.runtime import play
    from mqlab.spec import Scenario, topology

    wild = topology.network("complete graph", 7).change("*/*", network_ttl=6)
    wild = wild.change("*/*", suppress_duplicate_queue_subscriptions=False)
    scenario = Scenario.of(wild, mq.Consumer("C", on="K7", reads=FOO))
    with pytest.raises(BadValue, match="set suppressDuplicateQueueSubscriptions"):
        play(scenario, limit=2000)


def test_a_broker_that_deletes_all_messages_when_it_starts_loses_what_its_store_held(tmp_path):
    """A slave on the same store does so, too, when it takes over."""
    (tmp_path / "activemq.xml").write_text(
        '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A" '
        'deleteAllMessagesOnStartup="true"/>'
    )
    sends, reads = mq.Producer("P", on="A", sends=3, to=mq.Queue("Q")), mq.Queue("Q")
    loaded = mq.load(tmp_path / "activemq.xml")
    again = (sends, mq.Stop("A"), mq.Restart("A"), mq.Consumer("C", on="A", reads=reads))
    trace = mq.run(loaded, *again)
    assert (trace.received(), trace.undone) == ({"C": 0}, ())
    assert "3 (1-3): the broker's store was deleted" in str(trace)
    assert mq.run(loaded.change("A", delete_all_messages_on_startup=False), *again).received() == {"C": 3}
    for deletes, received in ((True, 0), (False, 3)):
        pair = mq.Network(mq.Broker("A", shared_store="s"),
                          mq.Broker("B", shared_store="s", delete_all_messages_on_startup=deletes))  # fmt: skip
        takes_over = (sends, mq.Crash("A"), mq.Wait("20s"), mq.Consumer("C", on="B", reads=reads))
        assert mq.run(pair, *takes_over).received() == {"C": received}


def test_messages_in_a_memory_store_are_told_lost():
    trace = mq.run(mq.Network(mq.Broker("A", store="memory")), mq.Producer("P", on="A", sends=2, to=FOO),
                   mq.Stop("A"))  # fmt: skip
    assert trace.lost() == [1, 2]
    assert "held in memory only" in str(mq.explain(trace, message=1))


def test_a_suspended_broker_takes_nothing_from_those_that_are_on_it():
    lab = mq.Lab(mq.Network(mq.Broker("A")))
    lab.do(mq.Consumer("C", on="A", reads=FOO))
    lab.rest()
    lab.do(mq.Pause("A"))
    lab.do(mq.Producer("P", on="A", sends=2, to=FOO))
    lab.rest()
    assert (lab.trace.received(), lab.roles) == ({"C": 0}, {"A": "running"})
    lab.do(mq.Resume("A"))
    lab.rest()
    assert lab.trace.received() == {"C": 2}


def test_who_names_no_session_has_one_of_its_own():
    trace = mq.run(
        mq.Network(mq.Broker("A")), mq.Client("K", uri="tcp://A:61616"),
        mq.Consumer("C", on="K", reads=FOO, ack_mode="transacted", acknowledge=False),
        mq.Producer("P", on="K", sends=2, to=FOO), mq.Rollback("C"),
    )  # fmt: skip
    assert trace.received() == {"C": 4}, "given back and received again, sent all the same"


def test_a_consumer_on_a_client_unsubscribes_and_acknowledges_some():
    news = mq.Topic("NEWS")
    lab = mq.Lab(mq.Network(mq.Broker("A", store="kahadb")))
    for action in (
        mq.Client("K", uri="tcp://A:61616", client_id="k"),
        mq.Consumer("D", on="K", reads=news, durable=True, subscription_name="d"),
        mq.Consumer("C", on="K", reads=FOO, ack_mode="client", acknowledge=False),
        mq.Producer("P", on="A", sends=3, to=FOO), mq.Acknowledge("C", 2),
        mq.Close("D", unsubscribe=True),
    ):  # fmt: skip
        lab.do(action)
        lab.rest()
    broker = lab.brokers["A"]
    assert broker.durables == {}
    assert [message.number for message in broker.by_name[FOO].messages] == [1]


@pytest.mark.parametrize("seed", range(5))
def test_pauses_between_the_calls_of_a_script_do_not_jitter(seed):
    from mqlab.products.activemq.lab import Lab

    looks = [mq.WaitUntil("role", about={"broker": "A", "role": "running"}), mq.Wait("50ms")] * 6
    scenario = mq.Scenario(mq.Network(mq.Broker("A")), (mq.Restart("A"), *looks), pace="calls")
    lab = Lab(scenario, seed, "1ms")
    lab.play()
    times = [began for _, began, _ in lab.begun[1:]]
    pauses = {later - sooner for sooner, later in pairwise(times)}
    assert pauses == {lab.timing.between, 50_000}
