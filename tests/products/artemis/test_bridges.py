"""Core bridges: a broker 2.31.2 played the cases of what consumers receive, with this outcome."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.errors import UnknownName
from mqlab.products.artemis.files import broker_xml
from mqlab.spec.origin import SourceFile

Q, T = mq.Queue("Q"), mq.Queue("T")
SENDS = artemis.Producer("P", on="A", sends=4, to=Q, properties={"n": ["a", "b"]})
THERE, HERE = artemis.Consumer("C", on="B", reads=T), artemis.Consumer("L", on="A", reads=Q)
PLAIN = {"queue_name": "Q", "to": ["B"], "forwarding_address": "T"}
SOME = {**PLAIN, "filter": "n = 'a'"}


def network(bridge):
    brokers = artemis.Broker("A", clustered=False, bridges={"ab": bridge}), artemis.Broker("B", clustered=False)
    return artemis.Network(*brokers, queues=(artemis.AddressQueue("Q", on=("A",)),))


@pytest.mark.parametrize(("bridge", "script", "received"), [
    (PLAIN, (THERE, SENDS), {"C": 4}),
    (SOME, (THERE, SENDS, HERE), {"C": 2, "L": 2}),
    (PLAIN, (HERE, THERE, SENDS), {"C": 2, "L": 2}),
    ({"queue_name": "Q", "to": ["B"]}, (artemis.Consumer("C", on="B", reads=Q), SENDS), {"C": 4}),
    (PLAIN, (mq.Crash("B"), SENDS, mq.Restart("B"), mq.Wait("5s"), THERE, mq.Wait("5s")), {"C": 4}),
    ({**PLAIN, "queue_name": "none"}, (THERE, SENDS, HERE), {"C": 0, "L": 4}),
    ({**PLAIN, "to": []}, (THERE, SENDS, HERE), {"C": 0, "L": 4}),
])  # fmt: skip
def test_a_bridge_takes_from_its_queue_and_sends_to_the_other_broker(bridge, script, received):
    assert mq.run(network(bridge), *script).received() == received


def test_what_a_crash_interrupts_is_sent_once():
    crash = (mq.Crash("A", at="3010ms"), mq.Restart("A", at="4s"))
    many = artemis.Producer("P", on="A", sends=20, to=Q, in_background=True)
    trace = mq.run(network(PLAIN), THERE, many, *crash, mq.Wait("9s"))
    numbers = [trace.event(row).message for row in trace.rows("Received")]
    assert len(numbers) == len(set(numbers)) > 5


def test_a_bridge_to_a_broker_that_is_none_is_refused():
    with pytest.raises(UnknownName, match="bridge 'ab' of 'A'"):
        network({**PLAIN, "to": ["X"]})


FILE = """<core><name>A</name><connectors><connector name="b">tcp://B:61616</connector></connectors>
<bridges><bridge name="ab"> <!-- kept -->
  <queue-name>Q</queue-name>
  <filter string="n = 'a'"/>
  <reconnect-attempts>3</reconnect-attempts>
  <static-connectors><connector-ref>b</connector-ref></static-connectors>
</bridge></bridges></core>
"""


def test_a_changed_bridge_is_edited_where_it_has_changed():
    files = [SourceFile("a.xml", FILE), SourceFile("b.xml", "<core><name>B</name></core>")]
    net = broker_xml.read(files, hosts={"B": "B"})
    bridge = {"queue_name": "Q", "to": ["B"], "filter": "n = 'a'"}
    assert net.brokers[0].parts("bridges") == {"ab": bridge}
    for options, old, new in (
        ({"queue_name": "R"}, "<queue-name>Q", "<queue-name>R"),
        ({"filter": "n = 'b'"}, "n = 'a'", "n = 'b'"),
        ({"forwarding_address": "T"}, "  <reconnect", "  <reconnect"),
        (
            {"to": []},
            "<static-connectors><connector-ref>b</connector-ref></static-connectors>",
            "<static-connectors/>",
        ),
    ):
        changed = net.change("A", bridges={"ab": {**bridge, **options}})
        texts = broker_xml.write(changed)
        assert broker_xml.read([SourceFile(*item) for item in texts.items()], hosts={"B": "B"}) == changed
        if old != new:
            assert texts["a.xml"] == FILE.replace(old, new)
    told = [problem.what for problem in mq.check(net) if problem.rule == "not-played"]
    assert told == ["bridges/bridge/reconnect-attempts is not played: the bridge reconnects without end"]


def test_a_bridge_to_a_broker_that_is_taken_out_has_one_less_and_its_file_stays():
    files = [SourceFile("a.xml", FILE), SourceFile("b.xml", "<core><name>B</name></core>")]
    net = broker_xml.read(files, hosts={"B": "B"}).without("B")
    assert net.brokers[0].parts("bridges")["ab"]["to"] == []
    assert broker_xml.write(net) == {"a.xml": FILE}
