"""A network as a graph of networkx: the same distances as the lab's own, and every option on its edge."""

from __future__ import annotations

import sys

import networkx
import pytest

import mqlab as mq
from mqlab.errors import MissingExtra
from mqlab.spec import graph

FOO = mq.Queue("FOO")


@pytest.mark.parametrize("figure", ["fuse:2.9", "fuse:2.16", "fuse:2.22", "amq6:3.4"])
def test_distances_are_those_of_the_guide(figure):
    network = mq.figure(figure).scenario.network
    drawn = mq.to_networkx(network)
    assert set(drawn) == set(network.names)
    for name in network.names:
        assert networkx.single_source_shortest_path_length(drawn, name) == graph.distances(network, name)


def test_edges_carry_their_connector_and_its_options():
    net = mq.Network(
        mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B)", duplex=True, network_ttl=3)),
        mq.Broker("B", mq.NetworkConnector("bc", uri="static:(tcp://C)")), mq.Broker("C"),
    )  # fmt: skip
    drawn = mq.to_networkx(net)
    found = sorted((here, there, told["connector"]) for here, there, told in drawn.edges(data=True))
    assert found == [("A", "B", "A/ab"), ("B", "A", "A/ab"), ("B", "C", "B/bc")]
    assert drawn.edges["A", "B", 0]["network_ttl"] == 3


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"lab"):
        mq.to_networkx(mq.Network(mq.Broker("A")))


@pytest.mark.parametrize("network", [
    mq.chain(3), mq.hub(4), mq.ring(4), mq.regions(2, 3),
    mq.Network(), mq.Network(mq.Broker("A", store="memory")),
    *(mq.figure(id).scenario.network for id in ("fuse:2.4", "fuse:2.16", "fuse:2.20")),
    mq.Network(*map(mq.Broker, "BCD"), mq.Broker("A", mq.NetworkConnector(
        "many", "static:(tcp://B:61616,tcp://D:61616)", duplex=True)), edition="6.1"),
], ids=lambda net: f"{len(net.names)} brokers")  # fmt: skip
def test_a_graph_leads_back_to_its_network(network):
    assert mq.from_networkx(mq.to_networkx(network), edition=network.edition) == network


def test_a_graph_of_networkx_is_a_network():
    one = networkx.DiGraph([("A", "B", {"network_ttl": 3})])
    one.nodes["B"]["store"] = "memory"
    net = mq.from_networkx(one, conduit_subscriptions=False, network_ttl=1)
    ab = mq.NetworkConnector("A-B", "static:(tcp://B:61616)", network_ttl=3, conduit_subscriptions=False)
    assert net == mq.Network(mq.Broker("A", ab), mq.Broker("B", store="memory"))
    story = mq.Consumer("C", on="2", reads=FOO), mq.Producer("P", on="0", sends=2, to=FOO)
    path = mq.from_networkx(networkx.relabel_nodes(networkx.path_graph(3), str), network_ttl=2)
    assert mq.run(path, *story).received() == {"C": 2}
    back = mq.Consumer("C", on="0", reads=FOO), mq.Producer("P", on="2", sends=2, to=FOO)
    assert mq.run(path, *back).received() == {"C": 2}
    twice = mq.from_networkx(networkx.MultiGraph([("A", "B"), ("A", "B")]))
    assert [one.name for _, one in twice.connectors()] == ["A-B", "A-B-2"]


def drawn(*edges, kind=networkx.Graph):
    return kind(edges)


@pytest.mark.parametrize(("given", "told"), [
    (lambda: networkx.path_graph(2), r"node 0 is not a string; use networkx.relabel_nodes\(graph, str\)"),
    (lambda: drawn(("A", "A")), "edge A - A: a broker has no network connector to itself"),
    (lambda: drawn(("A", "B", {"weight": 2})), "'A-B': unknown option 'weight'"),
    (lambda: drawn(("A", "B", {"networkTTL": 2})), "did you mean 'network_ttl'"),
    (lambda: drawn(("A", "B", {"connector": "C/x"})), "edge A - B: connector is 'C/x'; expected e.g. 'A/A-B'"),
    (lambda: drawn(("A", "B", {"connector": "B/x"}), kind=networkx.DiGraph), "A - B: B/x is not duplex"),
    (lambda: [("A", "B")], "is not a graph of networkx"),
    (lambda: None, "None is not a graph of networkx"),
])  # fmt: skip
def test_what_is_no_network_is_told(given, told):
    with pytest.raises(mq.MqlabError, match=told):
        mq.from_networkx(given())
