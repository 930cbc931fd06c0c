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
    assert f"1000 ms  {line} was cut (how refuse)." in story
    assert f"2000 ms  {line} was restored." in story
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
