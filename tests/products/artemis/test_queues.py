"""Options of queues, and messages that expire: a broker 2.31.2 played each case, with this outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api import artemis
from mqlab.errors import BadFile, BadValue
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
  <queue name="Q" ring-size="3"> <!-- kept -->
    <filter string="n = 'a'"/>
  </queue>
</anycast></address></addresses></core>
"""


@pytest.mark.parametrize(("options", "old", "new"), [
    ({"filter": "n = 'b'"}, "n = 'a'", "n = 'b'"),
    ({"filter": None}, "    <filter string=\"n = 'a'\"/>\n", ""),
    ({**SOME, **PURGED}, ' ring-size="3"', ' ring-size="3" purge-on-no-consumers="true"'),
    ({**SOME, "max_consumers": 2}, ' ring-size="3"', ' ring-size="3" max-consumers="2"'),
    ({**SOME, "durable": False}, "'a'\"/>\n", "'a'\"/>\n    <durable>false</durable>\n"),
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


ONE, TWO = (artemis.Consumer(name, on="X", reads=Q) for name in ("C", "D"))


def test_no_more_consumers_open_a_queue_than_it_allows():
    trace = mq.run(
        network(max_consumers=1), ONE, TWO, SENDS, artemis.Close("C"), artemis.Consumer("E", on="X", reads=Q)
    )
    assert trace.received() == {"C": 4, "D": 0, "E": 0}
    (failed,) = trace.rows("Failed")
    assert trace.event(failed).rule.name == "most_consumers"
    subscribed = [trace.event(row).frm for row in trace.rows("Subscribed")]
    assert subscribed == ["C", "E"]


def test_what_is_in_a_queue_that_is_not_durable_is_gone_after_a_restart():
    script = (SENDS, mq.Stop("X"), mq.Restart("X"), READS)
    assert mq.run(network(durable=False), *script).received() == {"C": 0}
    assert mq.run(network(), *script).received() == {"C": 4}


def test_no_queue_is_created_where_the_address_does_not_allow_it():
    net = artemis.Network(artemis.Broker("X"), auto_create_queues=False)
    assert mq.run(net, SENDS, READS).received() == {"C": 0}
    assert mq.run(network(), SENDS, READS).received() == {"C": 4}
    sent = products.outcome_of(mq.run(net, SENDS))["senders"]["P"]
    assert sent["sent"] == []
    assert sent["results"] == ["step 1 send: InvalidDestinationException"]


DEAD = artemis.AddressQueue("EXP")
LATE = artemis.Consumer("E", on="X", reads=mq.Queue("EXP"))
LIVES = replace(SENDS, time_to_live="300ms")
SHORT = mq.Wait("600ms")


@pytest.mark.parametrize(("options", "script", "received"), [
    ({"expiry_address": "EXP"}, (LIVES, SHORT, READS, LATE), {"C": 0, "E": 4}),
    ({}, (LIVES, SHORT, READS, LATE), {"C": 0, "E": 0}),
    ({"expiry_address": "NONE"}, (LIVES, SHORT, READS, LATE), {"C": 0, "E": 0}),
    ({"expiry_address": "EXP", "expiry_delay": 300}, (SENDS, SHORT, READS, LATE), {"C": 0, "E": 4}),
    ({"expiry_address": "EXP", "max_expiry_delay": 300}, (SENDS, SHORT, READS, LATE), {"C": 0, "E": 4}),
    ({"expiry_address": "EXP", "min_expiry_delay": 900}, (LIVES, SHORT, READS, LATE), {"C": 4, "E": 0}),
    ({"expiry_address": "EXP", "no_expiry": True}, (LIVES, SHORT, READS, LATE), {"C": 4, "E": 0}),
    ({"expiry_address": "EXP"}, (HOLDS, LIVES, mq.Wait("600ms"), artemis.Resume("C"), LATE, mq.Wait("1s")),
     {"C": 0, "E": 4}),
    ({"expiry_address": "EXP"}, (LIVES, LATE, mq.Wait("5s")), {"E": 4}),
])  # fmt: skip
def test_a_message_expires_in_its_queue_or_in_the_buffer_of_a_consumer(options, script, received):
    broker = artemis.Broker("X", message_expiry_scan_period=5000)
    net = artemis.Network(broker, queues=(artemis.AddressQueue("Q"), DEAD), **options)
    trace = mq.run(net, *script)
    assert trace.received() == received
    assert len(trace.rows("Expired")) == (0 if received.get("C") else 4)


LISTED = """<configuration xmlns="urn:activemq">
<jms xmlns="urn:activemq:jms"><queue name="J"><selector string="n = 'a'"/></queue><topic name="T"/></jms>
<core xmlns="urn:activemq:core"><name>X</name><queues>
  <queue name="L"><address>A</address><filter string="n = 'b'"/><durable>false</durable></queue>
  <queue name="M"/>
</queues></core></configuration>
"""


def test_queues_of_older_files_are_those_of_their_addresses():
    net = broker_xml.read([SourceFile("x.xml", LISTED)])
    assert net.queues == (
        artemis.AddressQueue("L", routing="multicast", address="A", filter="n = 'b'", durable=False),
        artemis.AddressQueue("M", routing="multicast"),
        artemis.AddressQueue("J", filter="n = 'a'"),
    )
    first, *rest = net.queues
    now = replace(net, queues=(replace(first, filter=None, durable=True), *rest[1:]))
    (text,) = broker_xml.write(now).values()
    assert text == LISTED.replace("<filter string=\"n = 'b'\"/><durable>false", "<durable>true").replace(
        '  <queue name="M"/>\n', ""
    )
    assert [p.rule for p in mq.check(net)] == []


@pytest.mark.parametrize("inside", [
    "<address><anycast><queue name='Q'/></anycast></address>",
    "<address name='A'><anycast>\n<queue/></anycast></address>",
    "<address name='A'><anycast>\n<queue name='Q' max-consumers='some'/></anycast></address>",
])  # fmt: skip
def test_a_queue_that_cannot_be_is_refused_with_its_line(inside):
    line = 2 + inside.count("\n")
    with pytest.raises(BadFile, match=f"x.xml, line {line}, "):
        broker_xml.read([SourceFile("x.xml", f"<core>\n<addresses>{inside}</addresses></core>")])
