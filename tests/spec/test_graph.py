"""A network as a graph of networkx: the same distances as the lab's own, and every option on its edge."""

from __future__ import annotations

import sys

import networkx
import pytest

import mqlab as mq
from mqlab.errors import MissingExtra
from mqlab.spec import graph


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
