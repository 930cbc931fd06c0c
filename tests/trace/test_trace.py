"""The record of a run: the same seed gives the same bytes, and questions get right answers."""

import re
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.trace import COLUMNS, Kind, parquet
from mqlab.trace.columns import Columns
from mqlab.trace.labels import labels
from mqlab.trace.questions import stuck_queues
from tests.conftest import ROOT

FOO = mq.Queue("TEST.FOO")


def two_brokers(**options):
    link = mq.NetworkConnector("linkToBrokerB", uri="static:(tcp://B:61616)", **options)
    return mq.Network(mq.Broker("A", link), mq.Broker("B"))


def twelve(net, **more):
    return mq.run(
        net, mq.Consumer("C1", on="A", reads=FOO), mq.Consumer("C2", on="B", reads=FOO),
        mq.Consumer("C3", on="B", reads=FOO), mq.Producer("P", on="A", sends=12, to=FOO), **more,
    )  # fmt: skip


@pytest.mark.parametrize(("conduit", "received"), [
    pytest.param(True, {"C1": 6, "C2": 3, "C3": 3}, id="fuse:2.20"),
    pytest.param(False, {"C1": 4, "C2": 4, "C3": 4}, id="fuse:2.21"),
])  # fmt: skip
def test_a_conduit_counts_as_one_consumer(conduit, received):
    assert twelve(two_brokers(conduit_subscriptions=conduit)).received() == received


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_two_processes(tmp_path):
    code = (
        "import mqlab as mq, sys; from mqlab.trace import parquet;"
        "t = mq.run('fuse:2.19', seed=7, jitter='2ms');"
        "parquet.save(t, sys.argv[1]); print(t.digest())"
    )
    words = []
    for number, hashing in enumerate(["1", "2"]):
        file = tmp_path / f"{number}.parquet"
        done = subprocess.run(
            [sys.executable, "-c", code, file], capture_output=True, text=True, check=True,
            cwd=ROOT, env={"PYTHONHASHSEED": hashing, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        words.append(done.stdout)
    assert words[0] == words[1]
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_another_seed_decides_a_race_differently():
    digests = {mq.run("fuse:2.18", seed=seed, jitter="3ms").digest() for seed in range(5)}
    assert len(digests) > 1


def test_a_trace_file_reads_back_as_the_same_trace(tmp_path):
    trace = twelve(two_brokers())
    parquet.save(trace, tmp_path / "x.parquet")
    again = parquet.load(tmp_path / "x.parquet")
    assert (again.digest(), again.header, again.names) == (
        trace.digest(), trace.header, trace.names)  # fmt: skip
    assert again.received() == trace.received()


def test_a_file_that_is_no_trace_is_an_error_that_names_it(tmp_path):
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(BadFile, match=r"x\.parquet"):
        parquet.load(tmp_path / "x.parquet")


def test_every_event_but_the_first_of_its_story_has_a_cause_before_it():
    trace = twelve(two_brokers())
    for event in trace.events():
        assert event.cause is None or event.cause < event.row
        if event.kind in (Kind.Enqueued, Kind.Received, Kind.Dispatched, Kind.Forwarded):
            assert event.cause is not None


def test_the_path_of_a_message():
    trace = twelve(two_brokers())
    assert trace.path("P-1") == [["A"]]
    assert trace.path(2) == [["A", "B"]]
    with pytest.raises(UnknownName, match="P-12"):
        trace.path("P-13")
    with pytest.raises(MqlabError):
        trace.path(99)


def test_messages_are_named_by_how_manieth_their_producer_sent(monkeypatch):
    first, second = (mq.Producer("P", on="A", sends=3, to=FOO, every="2ms", at=at) for at in ("1ms", "2ms"))
    trace = mq.run(two_brokers(), first, second)
    sent = [event.message for event in trace.events() if event.kind == Kind.Sent]
    assert sent != sorted(sent)
    for by_numpy in (False, True):
        monkeypatch.setattr(Columns, "by_numpy", by_numpy)
        again = mq.Trace(trace.header, trace.names, {name: trace.column(name) for name in COLUMNS})
        assert [again.message_name(number) for number in sent] == [f"P-{no}" for no in range(1, 7)]
        assert [again.message(f"P-{no}") for no in range(1, 7)] == sent
        for _ in range(20):  # looked for one by one, then found in order
            assert [list(again.rows_of(number)) for number in sent] == [
                [row for row, of in enumerate(trace.column("msg")) if of == number] for number in sent
            ]


def test_stuck_is_what_was_forwarded_and_can_never_go_on():
    static = two_brokers(statically_included_destinations=["queue://TEST.FOO"])
    trace = mq.run(static, mq.Producer("P", on="A", sends=3, to=FOO))
    assert trace.waiting() == {"B": {"queue://TEST.FOO": [1, 2, 3]}}
    assert trace.stuck() == {"B": {"queue://TEST.FOO": [1, 2, 3]}}
    at_home = mq.run(two_brokers(), mq.Producer("P", on="A", sends=3, to=FOO))
    assert at_home.waiting()
    assert not at_home.stuck()


def test_lost_and_duplicated():
    news = mq.Topic("NEWS")
    nobody = mq.run(two_brokers(), mq.Producer("P", on="A", sends=2, to=news))
    assert nobody.lost() == [1, 2]
    doubled = mq.run(
        two_brokers(conduit_subscriptions=False), mq.Consumer("S1", on="B", reads=news),
        mq.Consumer("S2", on="B", reads=news), mq.Producer("P", on="A", sends=2, to=news),
    )  # fmt: skip
    assert doubled.duplicated() == {"S1": {1: 2, 2: 2}, "S2": {1: 2, 2: 2}}
    assert doubled.lost() == []


def test_two_runs_are_compared_event_by_event():
    on, off = twelve(two_brokers()), twelve(two_brokers(conduit_subscriptions=False))
    both = mq.compare(on, off)
    assert both.received() == {"C1": (6, 4), "C2": (3, 4), "C3": (3, 4)}
    left, right = both.first_difference()
    assert (left.kind, right.kind) == (Kind.Merged, Kind.Subscribed)
    assert mq.compare(on, twelve(two_brokers())).first_difference() is None


def test_runs_of_one_title_are_told_apart_by_what_differs():
    on, off = two_brokers(), two_brokers(conduit_subscriptions=False)
    told = labels([twelve(on), twelve(off), twelve(on, seed=5), twelve(on, seed=5), twelve(off)])
    first = "A network of 2 brokers"
    unlike = f"{first}; linkToBrokerB: conduitSubscriptions false"
    assert told == [first, unlike, f"{first}; seed 5", f"{first}; seed 5 (2)", f"{unlike} (2)"]
    assert labels([twelve(off), twelve(on)])[1] == f"{first}; linkToBrokerB: conduitSubscriptions default"
    more = mq.run(on, mq.Producer("P", on="A", sends=1, to=FOO))
    assert labels([twelve(on), more])[1] == f"{first}; other actions"


def test_an_explanation_shows_as_a_table_in_which_names_are_text():
    net = mq.Network(mq.Broker("<b>A"))
    trace = mq.run(net, mq.Producer("P", on="<b>A", sends=1, to=FOO))
    shown = mq.explain(trace, message=1)._repr_html_()
    assert "<b>A" not in shown
    assert "still waiting at &lt;b&gt;A" in shown
    assert len(re.findall(r">[\d.]+ ms</td>", shown)) == shown.count("<tr>") > 1


def test_an_explanation_names_the_rule_and_the_guide():
    trace = mq.run(two_brokers(), mq.Producer("P", on="A", sends=1, to=FOO))
    text = str(mq.explain(trace, message="P-1"))
    assert "still waiting at A" in text
    assert "there is no matching subscription at this broker (no demand) [Fuse 2, Dynamic propagation]" in text


Q = mq.Queue("Q")


def test_a_queue_is_stuck_where_consumers_of_it_are_and_cannot_be_reached():
    apart = mq.Network(mq.Broker("A"), mq.Broker("B"))
    story = [mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=3, to=Q)]
    trace = mq.run(apart, *story)
    (queue,) = stuck_queues(trace)
    assert (trace.names["node"][queue.broker], len(queue.messages)) == ("A", 3)
    assert trace.event(queue.row).rule.name == "no_subscription"
    assert stuck_queues(mq.run(apart, story[1])) == [], "the run has no consumer that it could be kept from"
    assert stuck_queues(mq.run(apart, *story, mq.Crash("A"))) == [], "a broker that is down holds nobody up"
    full = mq.Consumer("C", on="A", reads=Q, prefetch=1, receiving=False)
    assert stuck_queues(mq.run(apart, full, story[1])) == [], "a full window empties by itself"


def test_who_asks_with_a_wrong_name_is_told_the_right_ones():
    trace = mq.run(mq.chain(2), mq.Consumer("C", on="B2", reads=mq.Queue("Q")))
    with pytest.raises(UnknownName, match=r"unknown broker 'C'\. Known: B1, B2"):
        trace.unavailable("C")
    with pytest.raises(UnknownName, match="unknown fate 'los'; did you mean 'lost'"):
        trace.account().of("los")
    with pytest.raises(BadValue, match="takes a network, not <mqlab"):
        mq.to_networkx(trace)
    assert trace.account().of("lost") == []


def test_rows_are_asked_of_a_message_by_number_or_name():
    trace = mq.run(mq.chain(2), mq.Producer("P", on="B1", sends=2, to=mq.Queue("Q")))
    assert [*trace.rows_of("P-2")] == [*trace.rows_of(2)] != []
    assert [*trace.rows("Sent")] == [*trace.rows(mq.Kind.Sent)] != []
    with pytest.raises(MqlabError, match="P-3"):
        trace.rows_of("P-3")


def test_an_effect_is_of_a_rule_or_of_a_problem():
    [problem] = [one for one in mq.check(mq.chain(3, network_ttl=1)) if one.rule == "ttl-distance"][:1]
    assert mq.effect(problem) is mq.effect("ttl-distance")
    net = mq.chain(2)
    for ask in (lambda: mq.effect([1]), lambda: mq.effect(net, "B1/B1_to_B2", network_ttl=2)):
        with pytest.raises(BadValue, match="effect takes a rule or a problem of check"):
            ask()
