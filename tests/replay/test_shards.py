"""A run in independent parts, put together again, is the run as one; what couples a run is named."""

from array import array
from collections import defaultdict

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue
from mqlab.products.inputs import scenario_of
from mqlab.replay import independent, merge, store
from mqlab.spec import topology
from mqlab.trace import COLUMNS, Trace
from tests.replay.test_long import whole

pytestmark = pytest.mark.spark
Q = [mq.Queue(f"Q{no}") for no in range(6)]
CHAIN = topology.network("chain", 3)


def reads(no, on, at="1s", **how):
    return mq.Consumer(f"C{no}", on=on, reads=how.pop("reads", Q[no]), at=at, **how)


def sends(no, on, count=20, at="2s", **how):
    return mq.Producer(f"P{no}", on=on, sends=count, to=how.pop("to", Q[no]), at=at, **how)


def many_queues():
    places = [(no, f"B{1 + no % 3}", f"B{1 + (no + 1) % 3}") for no in range(6)]
    yield from (reads(no, on) for no, on, _ in places)
    yield from (sends(no, on, 15, f"{2000 + no % 2}ms", every="1ms") for no, _, on in places)


def two_networks():
    a, b = topology.network("hub and spokes", 3), topology.network("chain", 2)
    return mq.Network(*a.brokers, *b.brokers)


def both(no, one, other, **how):
    return reads(no, one), sends(no, other, **how)


T = mq.Topic("T")
RUNS = {
    "many queues over one chain": (CHAIN, *many_queues()),
    "hub": (
        topology.network("hub and spokes", 5), *both(0, "S1", "S2"), *both(1, "S3", "S2"),
        *both(2, "hub", "S4", persistent=False),
    ),
    "mesh": (
        topology.network("mesh", 4),
        *both(0, "M11", "M22"), *both(1, "M12", "M21"),
    ),
    "two networks with a queue of one name": (
        two_networks(), reads(0, "S1"), reads(1, "B1", reads=Q[0]), sends(0, "S2"), sends(1, "B2", to=Q[0]),
    ),
    "topics, durable and not": (
        CHAIN, reads(0, "B3", reads=T), reads(1, "B2", reads=T, durable=True), sends(0, "B1", to=T),
        reads(2, "B1", reads=mq.Topic("U"), durable=True), sends(2, "B3", to=mq.Topic("U")),
    ),
    "a wildcard ties queues together": (
        CHAIN, reads(0, "B3", reads=mq.Queue("Q.>")), sends(0, "B1", to=mq.Queue("Q.A")),
        sends(1, "B2", to=mq.Queue("Q.B")), reads(2, "B1", reads=T), sends(2, "B2", to=T),
    ),
    "slow consumers that compete": (
        CHAIN, reads(0, "B3", delay="3ms", prefetch=2), reads(3, "B3", reads=Q[0], prefetch=1), sends(0, "B1"),
        reads(1, "B2", delay="2ms", prefetch=1), sends(1, "B1"),
    ),
    "transactions that are rolled back": (
        CHAIN, reads(0, "B3", ack_mode="transacted", acknowledge=False), sends(0, "B1"),
        reads(1, "B3", ack_mode="transacted", acknowledge=False), sends(1, "B1"),
        mq.Rollback("C0", at="3s"), mq.Commit("C1", at="3s"), mq.Close("C0", at="9s"),
        mq.Consumer("C9", on="B3", reads=Q[0], at="10s"),
    ),
    "messages that expire": (
        CHAIN, reads(0, "B3", delay="1s"), sends(0, "B1", 5, time_to_live="2s"),
        reads(1, "B3", delay="1s"), sends(1, "B1", 5, time_to_live="3s"),
    ),
    "the guide's own edition": (
        CHAIN.under("5.5"), *both(0, "B3", "B1"), *both(1, "B1", "B3", jms_priority=[1, 9]),
    ),
}  # fmt: skip


def apart(trace, scenario, start):
    """Return for each row the rank of the part it belongs to, by who led to it: -1 of the start."""
    above = {}

    def root(key):
        while above.setdefault(key, key) != key:
            key = above[key]
        return key

    clients = {no for no, role in enumerate(trace.names["node_role"]) if role != "broker"}
    for row in range(start, len(trace)):
        at = {name: trace.column(name)[row] for name in COLUMNS}
        near = [("row", at["cause"]), ("message", at["msg"]), ("subscription", at["sub"])]
        near += [("client", trace.names["node"][no]) for no in {at["frm"], at["to"]} & clients]
        for key in near:
            if key[1] != -1:
                above[root(key)] = root(("row", row))
    ranks = {}
    for no, action in enumerate(scenario.actions):
        if (client := ("client", getattr(action, "name", None))) in above:
            ranks.setdefault(root(client), no)
    rows = range(start, len(trace))
    return [-1] * start + [ranks[root(("row", row))] for row in rows]


def in_order(trace, scenario, start):
    """Return a trace with events of one time in the order of their parts, and names as events mention them."""
    rank = apart(trace, scenario, len(start))
    order = sorted(range(len(trace)), key=lambda row: (trace.column("t")[row], rank[row]))
    place = {-1: -1, **{row: no for no, row in enumerate(order)}}
    columns = {name: [trace.column(name)[row] for row in order] for name in COLUMNS}
    columns["cause"] = [place[row] for row in columns["cause"]]
    names = {table: list(texts) for table, texts in start.names.items()}
    beside = {
        "node": ("broker", "frm", "to"),
        "link": ("link",),
        "dest": ("dest",),
        "sub": ("sub",),
    }
    for table, of in beside.items():
        known = {-1: -1, **{no: no for no in range(len(start.names[table]))}}
        for row in range(len(trace)):
            for name in of:
                number = columns[name][row]
                if number not in known:
                    known[number] = len(names[table])
                    for each in names:
                        if each == table or each.startswith(f"{table}_"):
                            names[each].append(trace.names[each][number])
                columns[name][row] = known[number]
    return Trace(trace.header, names, {n: array(COLUMNS[n], columns[n]) for n in COLUMNS})


@pytest.mark.parametrize("name", RUNS)
def test_parts_put_together_are_the_run_as_one(tmp_path, spark, monkeypatch, name):
    monkeypatch.setattr(merge, "BATCH", 64)  # so that parts are read in turn
    monkeypatch.setattr(merge, "ROWS", 500)
    network, *actions = RUNS[name]
    scenario, start = scenario_of(network, *actions), mq.run(network)
    parts = independent.parts(scenario, 0)
    assert len(parts) == (6 if name.startswith("many") else 3 if name == "hub" else 2)
    folder = mq.replay.run(scenario, out=tmp_path / "run", shards=2)
    found, one = whole(folder), mq.run(scenario)
    assert found.digest() == in_order(one, scenario, start).digest()
    assert found.received() == one.received()
    told = store.manifest(folder)
    assert told["header"] == one.header
    assert sorted(path.name for path in folder.iterdir()) == ["events", "manifest.json"]


def test_the_last_file_may_be_full(tmp_path, spark, monkeypatch):
    monkeypatch.setattr(merge, "ROWS", 1)  # so that nothing is left for another one
    folder = mq.replay.run(*RUNS["hub"], out=tmp_path / "run", shards=2)
    assert whole(folder).received() == mq.run(*RUNS["hub"]).received()


def test_the_order_of_the_oracle_is_not_that_of_the_run(spark, tmp_path):
    """Else the test above would compare nothing."""
    network, *actions = RUNS["many queues over one chain"]
    scenario, start = scenario_of(network, *actions), mq.run(network)
    one = mq.run(scenario)
    other = in_order(one, scenario, start)
    assert one.digest() != other.digest()
    times = defaultdict(set)
    for trace in (one, other):
        for event in trace.events():
            times[trace].add((event.t, event.kind, event.message, event.broker, event.frm, event.to))
    assert times[one] == times[other]


def test_it_may_end_before_all_is_over(spark, tmp_path):
    network, *actions = RUNS["hub"]
    folder = mq.replay.run(network, *actions, out=tmp_path / "run", shards=3, until="2010ms")
    one = mq.run(network, *actions, until="2010ms")
    assert whole(folder).received() == one.received()
    assert len(whole(folder)) == len(one)


POLICED = mq.Network(mq.Broker("A", policies=({"queue": ">", "memory_limit": 5000},)))
BRIDGED = CHAIN.change("B1/*", statically_included_destinations=("queue://Q.>",))
REFUSED = {
    "no time": ((CHAIN, mq.Consumer("C", on="B1", reads=Q[0])), {}, r"Consumer C has no time \(at=\)"),
    "jitter": (RUNS["hub"], {"jitter": "1ms"}, "one generator draws the jitter"),
    "limits": ((POLICED, sends(0, "A")), {}, "broker A has policies"),
    "one subscription": ((BRIDGED, sends(0, "B1")), {}, "B1/.* has one subscription for all"),
    "faults": ((CHAIN, sends(0, "B1"), mq.Crash("B2", at="3s")), {}, "Crash acts on the whole"),
    "too early": ((CHAIN, sends(0, "B1", at="5ms")), {}, "P0 comes at 5ms, and the start takes until"),
    "dead letters": (
        (CHAIN, reads(0, "B1", reads=mq.Queue("ActiveMQ.DLQ"))), {}, "which brokers fill from other",
    ),
    "a list of brokers": ((CHAIN, sends(0, "B1", others=("B2",))), {}, "may be on several brokers"),
    "another product": (("openmq:4-1",), {}, "what an OpenMQ lab does at one time depends on all of its parts"),
    "nobody": ((CHAIN,), {}, "it has no clients"),
    "none": (RUNS["hub"], {"shards": 0}, "shards 0; expected 1 or more"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_couples_a_run_is_named(tmp_path, name):
    what, how, told = REFUSED[name]
    with pytest.raises(BadValue, match=told):
        mq.replay.run(*what, out=tmp_path / "run", **{"shards": 2, **how})
    assert not (tmp_path / "run").exists()


def test_clients_that_share_anything_are_in_one_part():
    def parts(*actions):
        return len(independent.parts(scenario_of(CHAIN, *actions), 0))

    apart = [reads(0, "B1"), reads(1, "B2"), sends(2, "B3")]
    assert parts(*apart) == 3
    assert parts(*apart, sends(3, "B1", to=mq.Queue("Q0,Q1"))) == 2
    assert parts(*apart, sends(2, "B1", to=Q[0], at="3s")) == 2  # one producer, and two queues
    assert parts(reads(0, "B1"), reads(1, "B2", connection="C0")) == 1
    assert parts(reads(0, "B1"), reads(1, "B2", reads=mq.Queue("*"))) == 1


def test_a_folder_that_has_a_trace_is_left_alone(tmp_path, spark):
    mq.replay.run("fuse:2.20", out=tmp_path / "run")
    before = store.manifest(tmp_path / "run")
    with pytest.raises(BadFile, match="already contains a trace"):
        mq.replay.run(*RUNS["hub"], out=tmp_path / "run", shards=2)
    assert store.manifest(tmp_path / "run") == before


def test_a_part_that_fails_leaves_nothing(tmp_path, spark, monkeypatch):
    monkeypatch.setattr(merge.Part, "more", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mq.replay.run(*RUNS["hub"], out=tmp_path / "run", shards=2)
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["events"]
