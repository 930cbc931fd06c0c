"""Scenes: plain columns, complete and at their places, for networks of any shape."""

import json
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import BadValue
from mqlab.spec import topology
from mqlab.views import layout, scene
from mqlab.views.changes import StateChange
from tests.conftest import ROOT, packed
from tests.plan import today

FOO = mq.Queue("TEST.FOO")


def small_run(net):
    names = net.names
    return mq.run(net, mq.Consumer("C", on=names[-1], reads=FOO),
                  mq.Producer("P", on=names[0], sends=2, to=FOO))  # fmt: skip


def test_a_consumer_that_comes_again_is_one_on_the_stage_and_its_count_goes_on():
    net = mq.Network(mq.Broker("A"))
    reads = mq.Consumer("C", on="A", reads=FOO)
    trace = mq.run(net, reads, mq.Producer("P", on="A", sends=2, to=FOO), mq.Close("C"), reads,
                   mq.Producer("Q", on="A", sends=3, to=FOO))  # fmt: skip
    columns = scene(trace).columns
    assert columns["received"]["value"] == [1, 2, 3, 4, 5]
    assert len(set(columns["received"]["node"])) == 1


def test_gauges_count_queues_alone_whatever_comes_out_of_a_store():
    net = mq.Network(mq.Broker("A", store="kahadb"))
    durable = mq.Consumer("D", on="A", reads=mq.Topic("NEWS"), durable=True)
    trace = mq.run(net, durable, mq.Close("D"), mq.Producer("P", on="A", sends=2, to=mq.Topic("NEWS")),
                   mq.Producer("Q", on="A", sends=3, to=FOO), mq.Stop("A"), mq.Restart("A"))  # fmt: skip
    assert scene(trace).columns["depths"]["value"][-1] == 3
    split = scene(mq.run("unsafe:ocfs2")).columns["depths"]
    assert min(split["node"]) >= 0


def kinds(columns):
    """Return the kind of look of each flight."""
    return [columns["looks"]["kind"][look] for look in columns["flights"]["look"]]


def test_every_message_flies_every_hop_and_never_backwards():
    columns = scene(mq.run("fuse:2.20")).columns
    flights, of = columns["flights"], kinds(columns)
    assert of.count("queue") == 12 + 12 + 6  # sent, received, and forwarded
    assert of.count("ack") == 12 + 6  # by consumers, and back over the connector
    assert of.count("subscription") == 2
    assert flights["t0"] == sorted(flights["t0"])
    assert min(flights["took"]) > 0


def test_an_acknowledgement_goes_the_way_of_its_message_back():
    columns = scene(mq.run("fuse:2.20")).columns
    ways, rows = columns["ways"], range(len(columns["flights"]["way"]))
    ends = {way: (ways["frm"][way], ways["to_node"][way]) for way in range(len(ways["frm"]))}
    of = kinds(columns)
    there = {(columns["flights"]["msg"][i], ends[columns["flights"]["way"][i]])
             for i in rows if of[i] == "queue"}  # fmt: skip
    for i in rows:
        if of[i] == "ack":
            frm, to = ends[columns["flights"]["way"][i]]
            assert (columns["flights"]["msg"][i], (to, frm)) in there


def test_what_is_not_persistent_is_flagged():
    columns = scene(mq.run("artemis:21.1")).columns
    flags = dict(zip(columns["flights"]["msg"], columns["flights"]["flags"], strict=True))
    assert {msg for msg, flag in flags.items() if flag} == {11, 12}


def test_columns_tell_the_counts_of_the_trace():
    trace = mq.run("fuse:2.14")
    columns = scene(trace).columns
    last = dict(zip(columns["depths"]["node"], columns["depths"]["value"], strict=True))
    names = trace.names["node"]
    assert {names[n]: v for n, v in last.items() if v} == {"D": 5, "E": 5}


def test_columns_are_plain_and_all_there_whatever_the_network():
    shapes = [{name: list(table) for name, table in scene(run).columns.items()} for run in
              (mq.run("fuse:2.20"), mq.run(mq.Network(mq.Broker("A"))), mq.run("fuse:2.11"))]  # fmt: skip
    assert shapes[0] == shapes[1] == shapes[2]
    json.dumps(scene(mq.run("fuse:2.16")).columns)


def test_watching_takes_seconds_not_minutes():
    assert 5 < scene(mq.run("fuse:2.20")).duration < 20
    assert scene(mq.run("article:conduit")).duration <= 46


def test_a_long_silence_is_cut_short():
    net = mq.Network(mq.Broker("A"))
    run = mq.run(net, mq.Producer("P", on="A", sends=1, to=FOO), mq.Wait("60s"),
                 mq.Producer("P", on="A", sends=1, to=FOO))  # fmt: skip
    assert run.column("t")[-1] > 60_000_000
    assert scene(run).duration < 10


def test_a_run_too_long_says_what_to_use_instead(monkeypatch):
    monkeypatch.setattr(sys.modules["mqlab.views.scene"], "MOST_EVENTS", 50)
    with pytest.raises(BadValue, match=r"mqlab\.replay"):
        scene(mq.run("fuse:2.20"))


def test_the_layout_is_the_same_every_time():
    net = topology.network("mesh", 12)
    edges = [(b.name, c.targets[0]) for b, c in net.connectors()]
    assert layout.positions(net.names, edges, {}) == layout.positions(net.names, edges, {})


def test_a_mesh_is_drawn_as_a_grid():
    net = topology.network("mesh", 25)
    edges = [(b.name, c.targets[0]) for b, c in net.connectors()]
    at = layout.positions(net.names, edges, {})
    slants = [min(abs(at[a][0] - at[b][0]), abs(at[a][1] - at[b][1])) for a, b in edges]
    assert max(slants) < 0.05


def test_scenes_need_neither_bokeh_nor_networkx():
    code = ("import sys, mqlab as mq; from mqlab.views import scene; scene(mq.run('fuse:2.11'));"
            "print({'bokeh', 'networkx', 'numpy'} & set(sys.modules))")  # fmt: skip
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=ROOT).stdout  # fmt: skip
    assert told.strip() == "set()"


def failover_scene():
    recordings = packed("failover")
    value = recordings["activemq-failover/shared_file/clean_stop_interval_1000.json"]
    return scene(products.play(products.product_of(value).read(value))).columns


def rows_of(columns, what):
    """Return the changes of one kind, as (a, b, c)."""
    names = [columns["changes"][name] for name in ("what", "a", "b", "c")]
    return [tuple(rest) for code, *rest in zip(*names, strict=True) if code == what]


def test_a_failover_is_shown_roles_connections_and_attempts():
    columns = failover_scene()
    brokers = dict(zip(columns["brokers"]["name"], columns["brokers"]["node"], strict=True))
    words = columns["roles"]["word"]
    roles = [words[role] for broker, role, _ in rows_of(columns, StateChange.role) if broker == brokers["B"]]
    assert roles == ["slave", "master"], "B waits as a slave, and becomes the master"
    met = [broker for _, broker, _ in rows_of(columns, StateChange.at)]
    assert met == [brokers["A"], -1, brokers["B"]], "the client loses its broker, finds the other"
    assert sorted(columns["wires"]["to"]) == sorted(2 * [brokers["A"], brokers["B"]])
    assert columns["clients"]["name"] == ["C"]
    assert columns["consumers"]["card"] == columns["clients"]["node"], "its consumer is on its card"
    assert columns["received"]["value"][-1] == 5
    assert len(rows_of(columns, StateChange.attempt)) > 4, "attempts are counted"
    assert kinds(columns).count("attempt") > 4, "and are seen"
    assert columns["roles"]["kind"][words.index("slave")] == "waits"


def test_the_head_of_a_picture_says_what_was_not_done():
    cut = mq.run("fuse:2.20", mq.Producer("P9", on="A", sends=5, to=mq.Queue("Q"), every="1s"), until="2s")
    assert "P9" in scene(cut).columns["meta"]["undone"][0]
    assert scene(mq.run("fuse:2.20")).columns["meta"]["undone"] == [""]


@pytest.mark.slow
def test_every_timed_recording_has_a_scene():
    recordings = packed("failover")
    for value in map(recordings.get, today(sorted(recordings), 12)):
        trace = products.play(products.product_of(value).read(value))
        columns = scene(trace).columns
        assert columns["meta"]["events"] == [len(trace)]


def test_an_artemis_failover_is_shown_with_roles_and_clients():
    value = packed("artemis")["artemis/replication_failover/kill_persistent.json"]
    columns = scene(products.play(products.product_of(value).read(value))).columns
    brokers = dict(zip(columns["brokers"]["name"], columns["brokers"]["node"], strict=True))
    assert set(brokers) == {"M1", "S1"}
    words = columns["roles"]["word"]
    slave = [words[role] for node, role, _ in rows_of(columns, StateChange.role) if node == brokers["S1"]]
    assert slave.index("slave, in sync") < slave.index("live"), "the slave is in sync, then live"
    states = [code for node, code, _ in rows_of(columns, StateChange.state) if node == brokers["M1"]]
    assert states == [1, 1, 1, 2], "the master was there, and has crashed"
    assert columns["clients"]["name"] == ["sender3", "C1"]
    assert columns["received"]["value"][-1] == 10
    depths = dict(zip(columns["depths"]["node"], columns["depths"]["value"], strict=True))
    assert depths == {brokers["M1"]: 0, brokers["S1"]: 0}
    assert min(columns["flights"]["took"]) > 0.001


@pytest.mark.slow
def test_every_artemis_recording_has_a_scene():
    recordings = packed("artemis")
    for value in map(recordings.get, today(sorted(recordings), 12)):
        trace = products.play(products.product_of(value).read(value))
        assert scene(trace).columns["meta"]["events"] == [len(trace)]


def test_an_empty_network_is_told():
    with pytest.raises(BadValue, match="an empty network cannot be drawn"):
        mq.view(mq.run(mq.Network()))
