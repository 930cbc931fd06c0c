"""Diverts: each case was played by a broker 2.31.2, from the file that mqlab writes, with the same outcome."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.products.artemis.files import broker_xml
from mqlab.spec.origin import SourceFile

A, B, C = mq.Queue("A"), mq.Queue("B"), mq.Queue("C")
TO_B = {"address": "A", "forwarding_address": "B"}
ONLY = {"exclusive": True}


@pytest.mark.parametrize(("diverts", "received"), [
    ([TO_B], (5, 5, 0)),
    ([TO_B | ONLY], (0, 5, 0)),
    ([TO_B | ONLY | {"filter": "n = 'a'"}], (2, 3, 0)),
    ([TO_B | ONLY, {"address": "B", "forwarding_address": "C"}], (0, 5, 5)),
    ([TO_B, {"address": "A", "forwarding_address": "C"} | ONLY], (0, 0, 5)),
    ([{"address": "A", "forwarding_address": "NOWHERE"} | ONLY], (0, 0, 0)),
])  # fmt: skip
def test_messages_go_where_diverts_lead(diverts, received):
    named = {f"d{no}": options for no, options in enumerate(diverts)}
    queues = tuple(artemis.AddressQueue(name) for name in "ABC")
    net = artemis.Network(artemis.Broker("X", diverts=named), queues=queues)
    readers = [artemis.Consumer(q.name, on="X", reads=q) for q in (A, B, C)]
    script = (*readers, artemis.Producer("P", on="X", sends=5, to=A, properties={"n": ["a", "b"]}))
    assert tuple(mq.run(net, *script).received().values()) == received
    texts = broker_xml.write(net)
    again = broker_xml.read([SourceFile(name, text) for name, text in texts.items()])
    assert again == net
    assert tuple(mq.run(again, *script).received().values()) == received


FILE = """<core><name>X</name>
<diverts>
  <divert name="one"> <!-- kept -->
    <routing-name>r</routing-name>
    <address>A</address>
    <forwarding-address>B</forwarding-address>
    <filter string="n = 'a'"/>
    <transformer-class-name>T</transformer-class-name>
  </divert>
</diverts></core>
"""


@pytest.mark.parametrize(("changes", "come", "gone"), [
    ({"exclusive": True}, {"<exclusive>true</exclusive>"}, set()),
    ({"filter": "n = 'b'"}, {'<filter string="n = \'b\'"/>'}, {"<filter string=\"n = 'a'\"/>"}),
    ({"address": "C"}, {"<address>C</address>"}, {"<address>A</address>"}),
])  # fmt: skip
def test_a_changed_divert_is_edited_where_it_has_changed(changes, come, gone):
    net = broker_xml.read([SourceFile("x.xml", FILE)])
    (broker,) = net.brokers
    one = broker.keys["diverts"]["one"]
    new = net.change("X", diverts={"one": {**one, **changes}})
    (text,) = broker_xml.write(new).values()
    was, now = ({line.strip() for line in lines.splitlines()} for lines in (FILE, text))
    assert (now - was, was - now) == (come, gone)
    assert broker_xml.read([SourceFile("x.xml", text)]) == new
    (told,) = (p.what for p in mq.check(net) if p.rule == "not-played")
    assert told == "diverts/divert/transformer-class-name is not played: messages are diverted as they are"


def test_diverts_come_and_go():
    net = broker_xml.read([SourceFile("x.xml", FILE)])
    for diverts in ({}, {"two": TO_B}):
        new = net.change("X", diverts=diverts)
        (text,) = broker_xml.write(new).values()
        assert broker_xml.read([SourceFile("x.xml", text)]).brokers[0].keys.get("diverts", {}) == diverts
        assert "kept" not in text
