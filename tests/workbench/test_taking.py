"""A run in the forms of other tools."""

import json
import re

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.workbench import WorkbenchSession, exports


def test_a_sequence_diagram_has_every_hop_in_order_and_the_faults_as_notes():
    trace = mq.run("fuse:4.4")
    text = exports.mermaid(trace)
    names = dict(re.findall(r"participant (n\d+) as (.+)", text))
    hops = [(names[frm], names[to], int(number)) for frm, to, number
            in re.findall(r"(n\d+)->>(n\d+): (\d+)", text)]  # fmt: skip
    assert [hop for hop in hops if hop[2] == 1] == [("C", "broker1", 1), ("broker2", "K", 1)]
    assert len(hops) == 20
    assert "Note over" in text
    assert "broker1 crashed" in text


def test_names_cannot_break_out_of_a_diagram():
    name = 'a;b#c\n"d"->>e'
    trace = mq.run(mq.Network(mq.Broker(name)), mq.Producer("P", on=name, sends=1, to=mq.Queue("Q")))
    lines = exports.mermaid(trace).splitlines()
    assert len(lines) == 1 + 2 + 2  # head, participants, the role and the hop
    drawn = exports.dot(trace)
    assert drawn.count("shape=") == 2
    assert '\\"d\\"' in drawn


def test_too_many_messages_are_no_diagram():
    with pytest.raises(BadValue, match="300 messages are too many"):
        exports.mermaid(mq.run("article:conduit"))


def test_a_graph_says_how_much_crossed_each_connector():
    assert '"A" -> "B" [label="A/linkToBrokerB: 6"];' in exports.dot(mq.run("fuse:2.20"))


def test_a_timeline_has_each_event_once_in_the_time_of_the_run():
    trace = mq.run("openmq:4-1")
    rows = json.loads(exports.timeline(trace))["traceEvents"]
    marks = [row for row in rows if row["ph"] == "i"]
    assert [row["ts"] for row in marks] == list(trace.column("t"))
    tracks = {row["tid"]: row["args"]["name"] for row in rows if row["ph"] == "M"}
    assert set(tracks.values()) == set(trace.names["node"])
    assert {row["tid"] for row in marks} <= set(tracks)


def test_the_desk_gives_the_run_that_is_shown():
    desk = WorkbenchSession(mq.run("fuse:2.20"))
    desk.answer("break", {"ms": 15, "step": {"do": "Crash", "broker": "B"}})
    assert "B crashed" in desk.answer("take", {"form": "mermaid"})["text"]
    with pytest.raises(UnknownName, match="unknown form 'svg'"):
        desk.answer("take", {"form": "svg"})
