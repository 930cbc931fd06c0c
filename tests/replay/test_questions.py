"""Questions over traces: Spark's answers beside plain Python's, of figures, recordings and a random network."""

import random
from collections import Counter, defaultdict

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue
from mqlab.replay import histories
from mqlab.trace import Kind
from mqlab.trace.questions import route

pytestmark = pytest.mark.spark
FAMILIES = ("fuse:2.16", "fuse:2.20", "openmq:4-1", "artemis:21.4")
RECORDED = (
    "activemq/replay/replay_on_two_way", "activemq/routes_and_priority/topic_complete_graph4_ttl3",
    "prepared_ack", "producer_home_crashes_client_ack", "kill_tx_receive_uncommitted",
)  # fmt: skip
HARD = (  # an answer that got lost, ways back and forth, two subscribers of one name
    "sync_send_reply_lost_restart_kahadb",
    "activemq-combined/clients_over_networks/replay_back_and_forth",
    "durable_two_no_conduit_same_name",
)  # fmt: skip
CONDUIT = "A/linkToBrokerB.conduit_subscriptions"


def random_network(seed):
    """Six brokers in a random tree with two links more, queues and topics, and a broker that crashes."""
    rng = random.Random(seed)
    names = [f"B{no}" for no in range(6)]
    pairs = [(rng.choice(names[:no]), names[no]) for no in range(1, 6)]
    pairs += [rng.sample(names, 2) for _ in range(2)]
    links = [mq.NetworkConnector(f"l{no}", uri=f"static:(tcp://{b}:61616)", network_ttl=3, duplex=True)
             for no, (_, b) in enumerate(pairs)]  # fmt: skip
    brokers = [mq.Broker(name, *(link for link, (a, _) in zip(links, pairs, strict=True) if a == name))
               for name in names]  # fmt: skip
    where = [mq.Queue("Q1"), mq.Queue("Q2"), mq.Topic("T")]
    return (mq.Network(*brokers),
            *(mq.Consumer(f"C{no}", on=rng.choice(names), reads=where[no % 3]) for no in range(6)),
            *(mq.Producer(f"P{no}", on=rng.choice(names), sends=9, every="3ms", to=where[no % 3])
              for no in range(6)), mq.Crash(names[5], at="40ms"))  # fmt: skip


@pytest.fixture(scope="module")
def traces():
    recorded = [mq.run(mq.recorded(name)) for name in RECORDED]
    return [*map(mq.run, FAMILIES), *recorded, mq.run(*random_network(3), jitter="2ms")]


@pytest.fixture(scope="module")
def asked(spark_ends, traces):
    """Each question is put once, to all traces together."""
    answers = {}

    def ask(question, *more):
        if question not in answers:
            found = getattr(mq.replay, question)(traces, *more)
            answers[question] = [tuple(row) for row in found.collect()]
        return answers[question]

    return ask


def events(traces):
    for run, trace in enumerate(traces):
        for event in trace.events():
            yield run, trace, event


def ours(trace):
    """Return the numbers of messages that clients sent."""
    sent = [trace.column("msg")[row] for row in trace.rows(Kind.Sent, Kind.Failed)]
    return range(max(sent, default=0) + 1)


def steps_of(trace):
    """Return message -> the steps that a task would get, and when subscriptions and brokers ended."""
    product, end = trace.header.get("product", "activemq"), max(trace.column("t"))
    steps, told = defaultdict(list), []
    for e in trace.events():
        kind = e.kind.name
        if kind in ("Unsubscribed", *histories.DOWN):
            told.append((0, e.row, e.t, e.subscription if kind == "Unsubscribed" else e.broker))
        if e.message in ours(trace):
            steps[e.message].append(histories.Step(
                0, e.message, e.row, e.t, kind, e.broker, e.frm, e.destination, e.subscription,
                e.rule.name, e.cause, product, end))  # fmt: skip
    return steps, histories.Ends.of(told)


def at_the_end(trace):
    return {(broker, dest, no) for broker, queues in trace.waiting().items()
            for dest, numbers in queues.items() for no in numbers}  # fmt: skip


def loops_of(trace):
    """Yield what the chain of causes says: (message, broker, time, way)."""
    for event in trace.events():
        if event.kind == Kind.Enqueued and event.frm != event.broker and event.message in ours(trace):
            way = route(trace, event.row)
            if event.broker in way[:-1]:
                yield event.message, event.broker, event.t, way


@pytest.mark.parametrize("figure", [*filter(lambda one: one.suggestion, mq.figures())], ids=lambda one: one.id)
def test_what_no_stay_ends_is_what_waits_at_the_end(figure):
    trace = mq.run(figure)
    steps, ends = steps_of(trace)
    stays = [stay for of in steps.values() for stay in histories.Places(of, ends).run()]
    assert {(row[2], row[3], row[1]) for row in stays if row[6] is None} == at_the_end(trace)


def test_stays_and_loops_of_recordings_are_those_of_the_trace(traces):
    for trace in [*traces, *(mq.run(mq.recorded(name)) for name in HARD)]:
        steps, ends = steps_of(trace)
        stays = [stay for of in steps.values() for stay in histories.Places(of, ends).run()]
        assert {(row[2], row[3], row[1]) for row in stays if row[6] is None} == at_the_end(trace)
        found = [(row[1], row[2], row[4], row[5]) for of in steps.values() for row in histories.ways(of)]
        assert sorted(found) == sorted(loops_of(trace))


def plain_stays(trace, longer):
    """Return what lay somewhere longer than so many us; nothing may be taken over or given back."""
    held, copies = {}, trace.header.get("product", "activemq") == "activemq"
    crashed = {e.broker: (e.row, e.t) for e in trace.events() if e.kind in (Kind.Stopped, Kind.Crashed)}
    stays = []
    for e in trace.events():
        topic = copies and (e.destination or "").startswith("topic")
        if e.message not in ours(trace) or (topic and e.subscription is None):
            continue
        place = (e.message, e.broker, e.destination, e.subscription if topic else None)
        led = None if e.cause is None else trace.event(e.cause).kind
        never_there = e.kind == Kind.Discarded and led in (Kind.Sent, Kind.Forwarded)
        if e.kind.name in (histories.TAKES if topic else ("Enqueued",)):
            held.setdefault(place, e.t)
        elif e.kind.name in histories.LETS_GO and place in held and not (never_there and not topic):
            stays.append((*place, held.pop(place), e.t))
    for place, since in held.items():
        down = crashed.get(place[1]) if place[3] is not None else None
        stays.append((*place, since, down[1] if down else None))
    end = max(trace.column("t"))
    return [stay for stay in stays if (end if stay[5] is None else stay[5]) - stay[4] > longer]


def test_a_durable_copy_outlives_its_broker():
    trace = mq.run(mq.recorded("durable_offline_b_restarts"))
    steps, ends = steps_of(trace)
    (stop,) = {e.t for e in trace.events() if e.kind in (Kind.Stopped, Kind.Crashed) and e.broker == "B"}
    stays = [stay for of in steps.values() for stay in histories.Places(of, ends).run()]
    over = [row for row in stays if row[4] is not None and row[5] < stop < (row[6] or stop + 1)]
    assert over
    assert not [row for row in stays if row[4] is not None and row[6] == stop]


def test_stuck_messages_are_where_and_as_long_as_the_trace_says(asked, traces):
    found = asked("stuck", "1500us")
    assert [row[7] for row in found] == sorted((row[7] for row in found), reverse=True)
    compared = 0
    for run, trace in enumerate(traces):
        rows = {row[1:7] for row in found if row[0] == run}
        assert {(row[1], row[2], row[0]) for row in rows if row[5] is None} <= at_the_end(trace)
        if not trace.rows(Kind.TakenOver, Kind.Returned, Kind.Unsubscribed):
            assert rows == set(plain_stays(trace, 1500))
            compared += 1
    assert compared > 4
    waits = next(row for row in found if row[0] == 0 and row[6] is None)
    assert waits[8:] == ("Held", "already_visited")


def gini(counts):
    """Half the mean difference of any two, over the mean."""
    if not sum(counts):
        return None
    pairs = sum(abs(a - b) for a in counts for b in counts)
    return pairs / (2 * len(counts) * sum(counts))


def test_the_spread_over_consumers_is_the_trace_s(asked, traces):
    found = asked("consumers")
    for run, trace in enumerate(traces):
        rows, received = [row for row in found if row[0] == run], trace.received()
        total = sum(received.values())
        assert {row[1]: row[2] for row in rows} == received
        assert {row[1]: row[3] for row in rows} == {
            name: n / total if total else None for name, n in received.items()
        }
        assert [row[4] for row in rows] == pytest.approx([gini(list(received.values()))] * len(rows))


def test_the_busiest_links_are_those_that_most_messages_crossed(asked, traces):
    crossed = Counter((run, e.t // 20_000 * 20_000, e.link) for run, _, e in events(traces)
                      if e.kind == Kind.Forwarded and e.link is not None)  # fmt: skip
    spans = defaultdict(list)
    for (run, begin, link), count in crossed.items():
        spans[run, begin].append((-count, link))
    wanted = [(run, begin, place, link, -count) for (run, begin), links in sorted(spans.items())
              for place, (count, link) in enumerate(sorted(links)[:2], 1)]  # fmt: skip
    assert asked("busiest", "20ms", 2) == wanted
    assert max(len(links) for links in spans.values()) > 2


def test_loops_are_the_ways_that_come_back(asked, traces):
    wanted = [(run, *loop) for run, trace in enumerate(traces) for loop in loops_of(trace)]
    assert sorted((*row[:3], row[4], row[5]) for row in asked("loops")) == sorted(wanted)
    assert wanted
    for _, _, broker, first, again, way in asked("loops"):
        assert first < again
        assert way[-1] == broker


def test_duplicates_are_those_of_the_trace_and_what_was_stored_twice(asked, traces):
    found = asked("duplicates")
    for run, trace in enumerate(traces):
        rows = [row for row in found if row[0] == run]
        got = {(row[3], row[1]): row[5] for row in rows if row[2] == "received"}
        assert got == {(name, no): n for name, of in trace.duplicated().items() for no, n in of.items()}
        stored = defaultdict(list)
        for e in trace.events():
            again = e.cause is not None and trace.event(e.cause).kind == Kind.Returned
            if e.kind == Kind.Enqueued and e.message in ours(trace) and not again:
                stored[e.message, e.broker, e.destination].append(e.t)
        assert {(row[1], row[3], row[4]): row[5:] for row in rows if row[2] == "stored"} == {
            place: (len(times), times[0], times[-1]) for place, times in stored.items() if len(times) > 1
        }
    assert {row[2] for row in found} == {"received", "stored"}


def test_latency_by_hop_is_that_of_the_trace(asked, traces):
    ages = defaultdict(list)
    for run, trace, e in events(traces):
        if e.kind in (Kind.Enqueued, Kind.Received) and e.message in ours(trace):
            ages[run, e.kind.name, e.hop].append(e.age)
    wanted = []
    for (run, kind, hops), of in sorted(ages.items()):
        of.sort()
        parts = [of[-(-len(of) * percent // 100) - 1] for percent in (50, 90, 99)]
        wanted.append((run, kind, hops, len(of), *parts, of[-1]))
    assert asked("latency") == wanted
    assert max(hops for _, _, hops in ages) > 1


def ways_of(trace):
    """Return the name of each message -> (steps, times)."""
    found = {trace.message_name(no): ([], []) for no in trace.account()}
    for e in trace.events():
        if e.message not in ours(trace):
            continue
        if e.kind == Kind.Received or (e.kind == Kind.Enqueued and e.frm != e.broker):
            steps, times = found[trace.message_name(e.message)]
            steps.append(f"{e.frm} -> {e.to or e.broker}")
            times.append(e.t)
    return found


def test_the_difference_of_two_traces_is_told_by_the_names_of_messages(spark):
    figure = mq.figure("fuse:2.20")
    one, other = mq.run(figure), mq.run(
        figure.change("A/linkToBrokerB", conduit_subscriptions=False), seed=3, jitter="1ms")  # fmt: skip
    left, right = ways_of(one), ways_of(other)
    found = {row[1]: tuple(row[2:]) for row in mq.replay.difference(one, other).collect()}
    wanted = {}
    for name in left:
        a, b = left[name], right[name]
        if a != b:
            said = "another way" if sorted(a[0]) != sorted(b[0]) else "another time"
            wanted[name] = (said, a[0], b[0], a[1], b[1])
    assert found == wanted
    assert {row[0] for row in found.values()} == {"another way", "another time"}


def test_what_only_one_of_two_traces_has_is_told(spark):
    net, q = mq.Network(mq.Broker("A")), mq.Queue("Q")
    read = mq.Consumer("C", on="A", reads=q)
    one, other = (mq.run(net, read, mq.Producer("P", on="A", sends=n, to=q)) for n in (1, 3))
    rows = mq.replay.difference(one, other).collect()
    assert [(row[1], row[2], row[3]) for row in rows] == [
        ("P-2", "only in the other", None), ("P-3", "only in the other", None)]  # fmt: skip
    assert mq.replay.difference(one, one).collect() == []


def test_a_folder_a_trace_and_a_sweep_give_the_same_events_and_answers(tmp_path, spark):
    figure = mq.figure("fuse:2.20")
    trace, folder = mq.run(figure), tmp_path / "run"
    from mqlab.replay import long

    long.run(figure, out=folder, rows=64)  # two files
    swept = mq.replay.sweep(figure.scenario, over={CONDUIT: [True, False]}, out=tmp_path / "s",
                            traces=lambda row: row["run"] == 1)  # fmt: skip
    of_trace, of_folder = (mq.replay.events(what).orderBy("row") for what in (trace, folder))
    assert of_trace.dtypes == of_folder.dtypes
    assert of_trace.collect() == of_folder.collect()
    of_sweep = mq.replay.events(tmp_path / "s").orderBy("row")
    assert of_sweep.dtypes == of_trace.dtypes
    rows = [tuple(row)[1:] for row in of_sweep.collect()]
    assert rows == [tuple(row)[1:] for row in mq.replay.events(swept.trace(1)).orderBy("row").collect()]
    assert {row[0] for row in mq.replay.consumers(swept).collect()} == {1}
    answers = [mq.replay.stuck(what, "1ms").collect() for what in (trace, folder)]
    assert answers[0] == answers[1] != []


def test_the_view_says_what_its_columns_are(spark):
    mq.replay.events(mq.run("fuse:2.20"), "mine")
    told = {row["col_name"]: row["comment"] for row in spark.sql("describe mine").collect()}
    assert list(told) == ["run", "row", *mq.run("fuse:2.20").to_arrow().column_names]
    assert all(told.values())
    assert "microseconds" in told["t_us"]


def test_what_cannot_be_asked_is_told(tmp_path, spark):
    mq.replay.sweep("fuse:2.20", over={}, out=tmp_path / "s")
    with pytest.raises(BadFile, match="kept no traces; run it with traces=True"):
        mq.replay.loops(tmp_path / "s")
    with pytest.raises(BadValue, match="7 is not a run; expected one or more traces"):
        mq.replay.loops([mq.run("fuse:2.20"), 7])
    with pytest.raises(BadValue, match="expected a time of more than 0"):
        mq.replay.busiest(mq.run("fuse:2.20"), per=0)
