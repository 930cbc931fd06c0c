"""What is cut is named: a line between two, all lines to one, the link to the database."""

import pytest

import mqlab as mq
from mqlab.api import artemis, openmq

NET = mq.Network(
    mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)"), store="jdbc"),
    mq.Broker("B"),
)


@pytest.mark.parametrize(
    ("cut", "heal", "line"),
    [
        (mq.Cut("A", "B", at="1s"), mq.Heal("A", "B", at="2s"), "the link between A and B"),
        (mq.Cut("A", at="1s"), mq.Heal("A", at="2s"), "the link to A"),
        (mq.DatabaseDown(at="1s"), mq.DatabaseUp(at="2s"), "the link to the database"),
    ],
)
def test_the_story_names_the_line(cut, heal, line):
    story = str(mq.explain(mq.run(NET, cut, heal)))
    assert f"1 s  {line} was cut (how refuse)." in story
    assert f"2 s  {line} was restored." in story
    assert "None" not in story


def test_a_line_of_a_cluster():
    cluster = openmq.Network(openmq.Broker("b1"), openmq.Broker("b2"))
    silent = openmq.Cut("b1", "b2", how="hang")
    story = str(mq.explain(mq.run(cluster, silent, openmq.Heal("b1", "b2"))))
    assert "the link between b1 and b2 was cut." in story
    assert "the link between b1 and b2 was restored." in story


def test_a_line_of_a_pair():
    pair = artemis.Network(
        artemis.Broker("M", "replication", "master"),
        artemis.Broker("S", "replication", "slave"),
    )
    story = str(mq.explain(mq.run(pair, artemis.Cut("M", "S"), artemis.Heal("M", "S"))))
    assert "the link between M and S was cut" in story
    assert "the link between M and S was restored" in story


@pytest.mark.parametrize(("forward_only", "ends"), [
    (True, "received by CX (route A); received by CY (route A)"),
    (False, "still waiting at A (route so far: A); received by CX (route A); received by CY (route A)"),
])  # fmt: skip
def test_a_message_of_a_composite_queue_waits_there_only_if_the_queue_keeps_it(forward_only, ends):
    both = {"name": "ALL", "forward_to": ["queue://X", "queue://Y"], "forward_only": forward_only}
    read = [mq.Consumer(f"C{name}", on="A", reads=mq.Queue(name)) for name in "XY"]
    net = mq.Network(mq.Broker("A", composites=[both]))
    trace = mq.run(net, *read, mq.Producer("P", on="A", sends=1, to=mq.Queue("ALL")))
    assert mq.explain(trace, message="P-1").title == f"Message P-1: {ends}."
