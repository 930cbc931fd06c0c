"""Scenes of OpenMQ clusters: brokers, clients, links, messages, deaths and moves."""

from __future__ import annotations

import mqlab as mq
from mqlab import products
from mqlab.views import scene
from tests.conftest import packed


def test_a_cluster_is_shown_with_brokers_clients_links_and_messages():
    trace = mq.run("openmq:4-1")
    columns = scene(trace).columns
    names = trace.names["node"]
    assert columns["brokers"]["name"] == ["b1", "b2", "b3"]
    assert set(columns["clients"]["name"]) == {"C3", "S1", "S2", "S3", "P1", "P2", "P3"}
    states = list(zip(*(columns["states"][c] for c in ("what", "number", "up")), strict=True))
    assert [up for what, _, up in states if what == "link"] == [1.0] * 6
    assert sorted(n for what, n, up in states if what == "client" and up) == list(range(3, 10))
    flown = columns["flights"]["msg"]
    assert [flown.count(msg) for msg in (1, 7, 10)] == [3, 3, 5], "sent, forwarded once, received"
    assert min(columns["flights"]["took"]) > 0.1, "and slow enough to be seen"
    counts = dict(zip(columns["received"]["node"], columns["received"]["value"], strict=True))
    assert {names[node]: count for node, count in counts.items()} == trace.received()
    assert "slave, waiting" not in columns["legend"]["text"]
    mq.view(trace)


def test_a_takeover_is_shown_the_dead_broker_fades_and_the_client_moves():
    trace = mq.run("openmq:4-4")
    columns = scene(trace).columns
    nodes = {name: no for no, name in enumerate(trace.names["node"])}
    states = list(zip(*(columns["states"][c] for c in ("what", "number", "up")), strict=True))
    assert ("broker", nodes["b1"], 0.0) in states
    lines = zip(columns["links"]["name"], columns["links"]["frm"], strict=True)
    assert ("connection", "C1") in list(lines), "its new connection is a line of its own"
    told = " ".join(columns["events"]["what"])
    for text in ("b1 crashed", "C1 has lost its connection", "takes over b1", "C1 is connected"):
        assert text in told


def test_every_recording_of_a_cluster_has_a_scene():
    for value in packed("openmq").values():
        trace = products.play(products.product_of(value).read(value))
        assert scene(trace).columns["meta"]["events"] == [len(trace)]
