"""Stills: the stage as SVG without a script, at any moment, whatever the names."""

from math import inf
from xml.dom import minidom

import pytest

import mqlab as mq
from mqlab import products
from mqlab.views import scene, svg
from mqlab.views.moment import Moment

FOO = mq.Queue("TEST.FOO")


def words(text):
    """Return the words of a still; raises for what is no XML."""
    found = minidom.parseString(text).getElementsByTagName("text")
    return [node.firstChild.data if node.firstChild else "" for node in found]


@pytest.mark.parametrize("figure", products.figures(), ids=lambda figure: figure.id)
def test_a_still_of_the_end_tells_what_the_run_came_to(figure):
    trace = products.play(figure.scenario)
    one = scene(trace)
    now = Moment.of(one.columns, inf)
    counts: dict[str, int] = {}
    consumers = one.columns["consumers"]
    for node, name in zip(consumers["node"], consumers["name"], strict=True):
        counts[name] = counts.get(name, 0) + now.received.get(node, 0)
    assert {name: n for name, n in counts.items() if n} == {
        name: n for name, n in trace.received().items() if n
    }
    assert words(svg.picture(one.columns))[0] in one.title or "…" in one.title


def test_queues_hold_what_waits_at_the_end():
    trace = mq.run("fuse:2.15b")
    one = scene(trace)
    now = Moment.of(one.columns, inf)
    names, dests = trace.names["node"], trace.names["dest"]
    held = {names[node]: {dests[dest]: sorted(queue) for dest, queue in broker.queues.items() if queue}
            for node, broker in now.brokers.items()}  # fmt: skip
    assert {name: queues for name, queues in held.items() if queues} == trace.waiting()


def test_a_still_goes_back_in_time():
    one = scene(mq.run("fuse:4.4"))
    begun = words(svg.picture(one.columns, 0.01))
    ended = words(svg.picture(one.columns))
    assert "crashed" not in begun
    assert "crashed" in ended


def test_names_are_text_and_never_markup():
    evil = '<b onload="x">&\u0007"'
    net = mq.Network(mq.Broker(evil), mq.Broker("🦜"))
    trace = mq.run(net, mq.Consumer("وسيط", on=evil, reads=FOO),
                   mq.Producer("P", on=evil, sends=2, to=FOO))  # fmt: skip
    one = scene(trace)
    text = svg.picture(one.columns)
    said = words(text)
    assert {"🦜", "وسيط"} <= set(said)
    assert "<b onload" not in text
    assert svg.MARK in text
