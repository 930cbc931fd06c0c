"""Scenes of OpenMQ clusters: brokers, clients, links, messages, deaths and moves."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab import products
from mqlab.views import scene
from mqlab.views.changes import StateChange
from tests.conftest import packed
from tests.plan import today


@pytest.mark.slow
def test_a_cluster_is_shown_with_brokers_clients_links_and_messages():
    trace = mq.run("openmq:4-1")
    columns = scene(trace).columns
    names = trace.names["node"]
    assert columns["brokers"]["name"] == ["b1", "b2", "b3"]
    assert set(columns["clients"]["name"]) == {"C3", "S1", "S2", "S3", "P1", "P2", "P3"}
    changes = columns["changes"]
    rows = list(zip(changes["what"], changes["a"], changes["b"], strict=True))
    assert [up for what, _, up in rows if what == StateChange.bridge] == [1] * 6
    met = {client for what, client, broker in rows if what == StateChange.at and broker >= 0}
    assert met == set(columns["clients"]["node"]), "everybody is connected"
    kinds = [columns["looks"]["kind"][look] for look in columns["flights"]["look"]]
    rows = zip(columns["flights"]["msg"], columns["flights"]["took"], kinds, strict=True)
    flown = [(msg, took) for msg, took, kind in rows if kind in ("queue", "topic")]
    numbers = [msg for msg, _ in flown]
    assert [numbers.count(msg) for msg in (1, 7, 10)] == [3, 3, 5], "sent, forwarded once, received"
    assert min(took for _, took in flown) > 0.1, "and slow enough to be seen"
    counts = dict(zip(columns["received"]["node"], columns["received"]["value"], strict=True))
    assert {names[node]: count for node, count in counts.items()} == trace.received()
    assert "waits" not in columns["roles"]["kind"]
    mq.view(trace)


def test_a_takeover_is_shown_the_dead_broker_fades_and_the_client_moves():
    trace = mq.run("openmq:4-4")
    columns = scene(trace).columns
    nodes = {name: no for no, name in enumerate(trace.names["node"])}
    changes = columns["changes"]
    rows = list(zip(changes["what"], changes["a"], changes["b"], strict=True))
    assert (StateChange.state, nodes["b1"], 2) in rows, "it has crashed"
    assert [b for what, client, b in rows if what == StateChange.at and client == nodes["C1"]] == [
        nodes["b1"], -1, nodes["b2"]]  # fmt: skip
    wires = zip(columns["wires"]["kind"], columns["wires"]["frm"], columns["wires"]["to"], strict=True)
    assert ("wire", nodes["C1"], nodes["b2"]) in list(wires), "its new connection is a line of its own"
    told = " ".join(columns["events"]["what"])
    for text in ("b1 crashed", "C1 has lost its connection", "takes over b1", "C1 is connected"):
        assert text in told


@pytest.mark.slow
def test_every_recording_of_a_cluster_has_a_scene():
    recordings = packed("openmq")
    for value in map(recordings.get, today(sorted(recordings), 12)):
        trace = products.play(products.product_of(value).read(value))
        assert scene(trace).columns["meta"]["events"] == [len(trace)]
