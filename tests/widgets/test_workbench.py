"""The workbench without a browser: what it offers, and what it runs."""

from __future__ import annotations

import json

import pytest
from ipywidgets.widgets.widget import _instances

import mqlab as mq
from mqlab import products
from mqlab.errors import BadValue
from mqlab.workbench import saved


def test_every_figure_of_every_family_can_be_chosen():
    bench = mq.widgets.Workbench()
    assert [id for _, id in bench.figure.options] == [figure.id for figure in products.figures()]
    assert ("fuse:4.1  Pure master/slave", "fuse:4.1") in bench.figure.options


def test_another_figure_is_shown_in_the_same_document_and_told_by_its_own_name():
    bench = mq.widgets.Workbench("fuse:4.3")
    assert bench.view.ask("tell", {})["name"] == "fuse:4.3"
    item = json.loads(bench.view.item)["prefix"]
    bench.figure.value = "fuse:2.20"
    told = bench.view.ask("tell", {})
    assert (told["name"], told["title"]) == ("fuse:2.20", mq.figure("fuse:2.20").title)
    assert bench.trace.received() == {"C1": 6, "C2": 3, "C3": 3}
    assert json.loads(bench.view.item)["prefix"] == item, "the same document"
    assert json.loads(bench.view.columns)["meta"]["title"] == [told["title"]]


@pytest.mark.parametrize("what", [(), (mq.Network(),)], ids=["nothing", "empty"])
def test_without_a_network_the_stage_is_empty_and_can_be_built_on(what):
    bench = mq.widgets.Workbench(*what)
    assert bench.trace.names["node"] == []
    assert bench.size.layout.display == bench.figure.layout.display == bench.messages.layout.display == "none"
    for given in ({"add": "broker"}, {"add": "producer", "on": "A"}, {"add": "consumer", "on": "A"}):
        assert "errors" not in bench.view.ask("build", given)
    assert bench.trace.received() == {"C1": 10}
    assert json.loads(bench.view.columns)["brokers"]["name"] == ["A"]
    bench.topology.value = "empty" if not what else "my network"
    bench.run()
    assert bench.trace.names["node"] == []
    assert len(bench.stills()) == 1


def test_an_empty_network_is_no_page():
    with pytest.raises(mq.MqlabError, match="an empty network cannot be drawn"):
        mq.widgets.Workbench().view.ask("page", {})


def test_topologies_have_a_size_and_figures_have_none():
    bench = mq.widgets.Workbench("fuse:2.20")
    assert bench.size.layout.display == "none"
    bench.topology.value = "mesh"
    bench.size.value = 9
    assert (bench.size.layout.display, bench.figure.layout.display) == (None, "none")
    assert bench.trace.names["node_role"].count("broker") == 9
    bench.messages.value = 30
    assert sum(bench.trace.received().values()) == 30


def test_a_network_of_ones_own_gets_messages_from_its_first_broker_to_its_last():
    ab = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")
    bench = mq.widgets.Workbench(mq.Network(mq.Broker("A", ab), mq.Broker("B")))
    assert bench.topology.value == "my network"
    assert sum(bench.trace.received().values()) == 12
    bench.topology.value = "chain"
    bench.topology.value = "my network"
    assert bench.trace.names["link"] == ["A/ab"]


@pytest.mark.slow
def test_run_begins_again_without_the_changes_that_the_picture_made():
    bench = mq.widgets.Workbench("fuse:2.20")
    bench.view.ask("break", {"ms": 15, "step": {"do": "Crash", "broker": "B"}})
    assert bench.trace.received() != {"C1": 6, "C2": 3, "C3": 3}
    bench.run()
    assert bench.trace.received() == {"C1": 6, "C2": 3, "C3": 3}
    assert bench.view.ask("tell", {})["changes"] == []
    bench.view.ask("undo", {})
    assert bench.view.ask("tell", {})["changes"] != [], "what was made by hand can be had back"


def test_an_unknown_figure_is_told_before_anything_is_made():
    with pytest.raises(mq.MqlabError, match=r"fuse:9\.9"):
        mq.widgets.Workbench("fuse:9.9")


@pytest.mark.parametrize("what", [5, mq.figure("fuse:2.20").scenario])
def test_what_cannot_be_built_on_is_refused(what):
    with pytest.raises(BadValue, match="cannot be built on; pass a network or a figure's id"):
        mq.widgets.Workbench(what)


def test_a_cell_that_runs_again_closes_what_it_has_shown_before(monkeypatch):
    def run(cell, number, *shown):
        monkeypatch.setattr(saved, "_now", lambda: (cell, number))
        for one in shown:
            saved.show(one)
        return len(_instances) - before

    mq.view(mq.run("fuse:2.20"))  # what all pictures share is there, and stays
    before, first, second = len(_instances), mq.widgets.Workbench("fuse:2.20"), mq.widgets.Workbench("fuse:2.1")
    each = (len(_instances) - before) // 2
    assert run("a", "1", first) == 2 * each  # the second is not shown yet: its user holds it
    assert run("a", "2", second) == each
    assert run("b", "3", second, first) == 2 * each  # shown once more, it is opened once more
    assert "application/vnd.jupyter.widget-view+json" in first._repr_mimebundle_()
    first.figure.value = "fuse:2.9"
    assert first.view.ask("tell", {})["name"] == "fuse:2.9"
    third = mq.widgets.Workbench("fuse:2.1")
    assert run("b", "4", third) == 2 * each  # the first is closed; the second stands in cell a, too
    assert run("", "", third) == 2 * each  # nobody says which cell it is


def test_a_file_that_the_picture_opens_is_chosen_above_it_and_the_drawn_network_is_kept():
    bench = mq.widgets.Workbench()
    for given in ({"add": "broker"}, {"add": "producer", "on": "A"}, {"add": "consumer", "on": "A"}):
        bench.view.ask("build", given)
    xml = '<beans><broker xmlns="http://activemq.apache.org/schema/core" brokerName="Z"/></beans>'
    told = bench.view.ask("open", {"files": [{"name": "hub.xml", "text": xml}]})
    assert (told["name"], told["drawn"]) == ("hub.xml", ["A"])
    assert (bench.topology.value, bench.trace.received()) == ("my network", {"consumer-Z": 10})
    bench.view.ask("break", {"ms": 1, "step": {"do": "Crash", "broker": "Z"}})
    bench.run()
    assert bench.view.ask("tell", {})["name"] == "hub.xml"
    assert bench.trace.received() == {"consumer-Z": 10}, "Run plays the file again"
    told = bench.view.ask("begin", {"drawn": 0})
    assert (told["name"], bench.trace.received()) == ("my network", {"C1": 10})
    bench.topology.value = "figure"
    assert "is kept" in bench.told.value
    bench.view.ask("undo", {})
    assert bench.topology.value == "my network"
