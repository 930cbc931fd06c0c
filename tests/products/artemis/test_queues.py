"""Queues with a filter, or purged without consumers: a broker 2.31.2 played each case, with this outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.errors import BadValue
from mqlab.products.artemis.files import broker_xml, lab_file
from mqlab.spec.origin import SourceFile
from mqlab.spec.scenario import Scenario

Q = mq.Queue("Q")
SENDS = artemis.Producer("P", on="X", sends=4, to=Q, properties={"n": ["a", "b"]})
HOLDS = artemis.Consumer("C", on="X", reads=Q, receiving=False)
READS, LATER = artemis.Consumer("C", on="X", reads=Q), artemis.Consumer("D", on="X", reads=Q)
SOME, PURGED = {"filter": "n = 'a'"}, {"purge_on_no_consumers": True}


def network(**options):
    return artemis.Network(artemis.Broker("X"), queues=(artemis.AddressQueue("Q", **options),))


@pytest.mark.parametrize(("options", "script", "received"), [
    (SOME, (SENDS, READS), {"C": 2}),
    (PURGED, (SENDS, READS), {"C": 0}),
    (PURGED, (READS, SENDS), {"C": 4}),
    (PURGED, (HOLDS, SENDS, artemis.Close("C"), LATER), {"C": 0, "D": 0}),
    ({}, (HOLDS, SENDS, artemis.Close("C"), LATER), {"C": 0, "D": 4}),
])  # fmt: skip
def test_a_queue_takes_what_its_options_let_pass(options, script, received):
    net = network(**options)
    trace = mq.run(net, *script)
    assert trace.received() == received
    assert len(trace.rows("Discarded")) == (4 if options else 0) - sum(received.values()) * bool(options)
    texts = broker_xml.write(net)
    assert broker_xml.read([SourceFile(name, text) for name, text in texts.items()]) == net
    scenario = Scenario(net, script)
    assert lab_file.read(lab_file.write(scenario), "my.json").network == net


def test_after_a_restart_it_is_as_it_was():
    script = (mq.Restart("X"), SENDS, READS)
    assert mq.run(network(**SOME), artemis.Start(), *script).received() == {"C": 2}
    assert mq.run(network(**PURGED), artemis.Start(), *script).received() == {"C": 0}


FILE = """<core><name>X</name>
<addresses><address name="Q"><anycast>
  <queue name="Q" max-consumers="3"> <!-- kept -->
    <filter string="n = 'a'"/>
  </queue>
</anycast></address></addresses></core>
"""


@pytest.mark.parametrize(("options", "old", "new"), [
    ({"filter": "n = 'b'"}, "n = 'a'", "n = 'b'"),
    ({"filter": None}, "    <filter string=\"n = 'a'\"/>\n", ""),
    ({**SOME, **PURGED}, ' max-consumers="3"', ' max-consumers="3" purge-on-no-consumers="true"'),
])  # fmt: skip
def test_a_changed_queue_is_edited_where_it_has_changed(options, old, new):
    net = broker_xml.read([SourceFile("x.xml", FILE)])
    changed = network(**options)
    assert broker_xml.write(net)["x.xml"] == FILE
    now = replace(net, queues=changed.queues)
    (text,) = broker_xml.write(now).values()
    assert text == FILE.replace(old, new)
    assert broker_xml.read([SourceFile("x.xml", text)]) == now


def test_a_filter_that_does_not_parse_is_refused():
    with pytest.raises(BadValue, match="queue 'Q': filter: "):
        network(filter="n = ")
