"""The picture and its desk without a browser: what goes to the page after which question."""

from __future__ import annotations

import json

import pytest

import mqlab as mq
from mqlab.workbench import WorkbenchSession
from mqlab.workbench.picture import WorkbenchView


@pytest.fixture
def picture():
    """Return the picture of a figure."""
    return WorkbenchView(WorkbenchSession(mq.run("fuse:2.20"), "fuse:2.20"))


def asked(picture, what, **data):
    """Return what the page gets for a question."""
    sent = []
    picture.send = sent.append
    picture._answer(picture, {"kind": "ask", "id": "7", "what": what, "data": data}, None)
    assert [message["id"] for message in sent] == ["7"]
    return sent[0]


def test_a_question_leaves_the_picture_as_it_is(picture):
    item = picture.item
    assert asked(picture, "why", kind="broker", name="A")["value"]["title"] == "What happened at A?"
    assert (picture.item, picture.columns) == (item, "")


def test_a_fork_sends_columns_and_no_document(picture):
    item = picture.item
    asked(picture, "break", ms=15, step={"do": "Crash", "broker": "B"})
    assert picture.item == item
    assert "B crashed" in " ".join(json.loads(picture.columns)["events"]["what"])


@pytest.mark.slow
def test_a_comparison_is_another_document_and_each_side_has_its_columns(picture):
    item = picture.item
    asked(picture, "break", ms=15, step={"do": "Crash", "broker": "B"}, beside=True)
    both = picture.item
    assert both != item
    assert picture.columns == ""
    assert json.loads(both)["panels"] == 2
    asked(picture, "undo")
    assert json.loads(picture.item)["panels"] == 1
    asked(picture, "redo")
    asked(picture, "break", ms=5, step={"do": "Crash", "broker": "A"}, beside=True)
    columns = json.loads(picture.columns)  # two are still two: the document stays
    assert "A crashed" in " ".join(columns["events 2"]["what"])
    assert "A crashed" not in " ".join(columns["events"]["what"])


def test_an_error_is_told_and_changes_nothing(picture):
    item = picture.item
    told = asked(picture, "break", ms=15, step={"do": "Crash", "broker": "Z"})
    assert "unknown broker 'Z'" in told["error"]
    assert (picture.item, picture.columns) == (item, "")


def test_a_view_of_a_run_without_its_scenario_has_no_desk():
    trace = mq.run("fuse:2.20")
    trace.header["scenario"] = {}
    assert not mq.view(trace).answers
    assert mq.view("fuse:2.20").answers


def test_a_network_without_brokers_is_told_and_not_drawn():
    with pytest.raises(mq.MqlabError, match="an empty network cannot be drawn"):
        mq.view(mq.Network())
