"""Scenes: plain columns, complete and at their places, for networks of any shape."""

import json
import math
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import BadValue
from mqlab.spec import topology
from mqlab.views import layout, scene, stage
from tests.conftest import ROOT, packed

FOO = mq.Queue("TEST.FOO")


def small_run(net):
    names = net.names
    return mq.run(net, mq.Consumer("C", on=names[-1], reads=FOO),
                  mq.Producer("P", on=names[0], sends=2, to=FOO))  # fmt: skip


SHAPES = [(shape, size) for shape in topology.TOPOLOGIES for size in (2, 5, 9, 16)]
SHAPES += [("mesh", 60), ("tree", 60), ("hub and spokes", 30), ("chain", 30)]


@pytest.mark.parametrize(("shape", "size"), SHAPES)
def test_brokers_never_overlap_and_stay_on_the_stage(shape, size):
    columns = scene(small_run(topology.network(shape, size))).columns
    brokers, r = columns["brokers"], columns["meta"]["radius"][0]
    points = list(zip(brokers["x"], brokers["y"], strict=True))
    assert len(points) == size
    for i, (x, y) in enumerate(points):
        assert r <= x <= stage.WIDTH - r
        assert r <= y <= stage.HEIGHT - r
        assert all(math.hypot(x - a, y - b) >= 2 * r for a, b in points[:i])


@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_a_gauge_stands_on_no_connector(shape):
    columns = scene(small_run(topology.network(shape, 7))).columns
    links, brokers = columns["links"], columns["brokers"]
    ways = [stage.Way(*ends) for ends in zip(
        *(links[c] for c in ("x0", "y0", "cx", "cy", "x1", "y1")), strict=True)]  # fmt: skip
    for gx, gy in zip(brokers["gx"], brokers["gy"], strict=True):
        near = min(math.hypot(gx - x, gy - y) for way in ways
                   for x, y in (way.at(u / 40) for u in range(41)))  # fmt: skip
        assert near > 6


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


def test_every_message_flies_every_hop_and_never_backwards():
    trace = mq.run("fuse:2.20")
    flights = scene(trace).columns["flights"]
    messages = [m for m in flights["msg"] if m > 0]
    assert len(messages) == 12 + 12 + 6  # sent, received, and forwarded
    assert flights["t0"] == sorted(flights["t0"])
    assert min(flights["took"]) > 0


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


def test_a_failover_is_shown_roles_connections_and_attempts():
    columns = failover_scene()
    brokers = dict(zip(columns["brokers"]["name"], columns["brokers"]["node"], strict=True))
    states = list(zip(*(columns["states"][c] for c in ("what", "number", "up")), strict=True))
    assert ("broker", brokers["B"], 0.45) in states, "B waits as a slave"
    assert ("broker", brokers["B"], 1.0) in states, "and becomes the master"
    lines = [up for what, _, up in states if what == "link"]
    assert lines == [1.0, 0.0, 1.0], "the client connects, loses its broker, finds the other"
    assert columns["links"]["to"] == ["A", "B"]
    assert columns["clients"]["name"] == ["C"], "a client's consumer is the client"
    assert columns["received"]["value"][-1] == 5
    assert columns["flights"]["msg"].count(-1) > 4, "attempts are seen"
    assert "slave, waiting" in columns["legend"]["text"]


def test_every_timed_recording_has_a_scene():
    for value in packed("failover").values():
        trace = products.play(products.product_of(value).read(value))
        columns = scene(trace).columns
        assert columns["meta"]["events"] == [len(trace)]


def test_an_artemis_failover_is_shown_with_roles_and_clients():
    value = packed("artemis")["artemis/replication_failover/kill_persistent.json"]
    columns = scene(products.play(products.product_of(value).read(value))).columns
    brokers = dict(zip(columns["brokers"]["name"], columns["brokers"]["node"], strict=True))
    assert set(brokers) == {"M1", "S1"}
    states = list(zip(*(columns["states"][c] for c in ("what", "number", "up")), strict=True))
    slave = [up for what, number, up in states if (what, number) == ("broker", brokers["S1"])]
    assert slave.index(0.45) < slave.index(1.0), "the slave is in sync, then live"
    master = [up for what, number, up in states if (what, number) == ("broker", brokers["M1"])]
    assert (max(master), master[-1]) == (1.0, 0.0), "the master was live and is gone"
    assert columns["clients"]["name"] == ["sender3", "C1"]
    assert columns["received"]["value"][-1] == 10
    depths = dict(zip(columns["depths"]["node"], columns["depths"]["value"], strict=True))
    assert depths == {brokers["M1"]: 0, brokers["S1"]: 0}
    assert min(columns["flights"]["took"]) > 0.001


def test_every_artemis_recording_has_a_scene():
    for value in packed("artemis").values():
        trace = products.play(products.product_of(value).read(value))
        assert scene(trace).columns["meta"]["events"] == [len(trace)]


def test_an_empty_network_is_told():
    with pytest.raises(BadValue, match="an empty network has no picture"):
        mq.view(mq.run(mq.Network()))
