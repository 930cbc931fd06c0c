"""Running clusters for the rules about them: what has the problem, and what has not."""

from __future__ import annotations

from dataclasses import replace

from mqlab.products.artemis.files import broker_xml
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.origin import SourceFile
from mqlab.spec.running import Running, RunningBridge, RunningBroker, RunningConnector, RunningQueue

FILE = (
    '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><name>A</name>'
    '<connectors><connector name="a">tcp://a:61616</connector></connectors>'
    '<acceptors><acceptor name="in">tcp://a:61616</acceptor></acceptors>'
    '<cluster-connections><cluster-connection name="c"><connector-ref>a</connector-ref>'
    "<max-hops>1</max-hops></cluster-connection></cluster-connections></core></configuration>"
)


def runs(max_hops: int = 1, remote: str = "B", depth: int = 0, note: str = "") -> ArtemisNetwork:
    """Return a broker A with a file and a cluster connection, as it runs."""
    running = Running(
        "2026-11-25 20:00:00 UTC",
        (RunningBroker("A", "2.31.2", 1000, True, (), "jolokia:http://a:8161/console/jolokia"),),
        (RunningConnector("A", "c", (("max_hops", max_hops),)),),
        (RunningBridge("A", "c", remote, "b:61616", False, None, 0, 1000),) if remote else (),
        (RunningQueue("A", "ORDERS", depth, 0, 0, depth, 0, 0, 0),),
        notes=(note,) if note else (),
    )
    return replace(broker_xml.read([SourceFile("broker.xml", FILE)]), running=running)


CASES = {
    "cluster-differs": (runs(max_hops=0), runs()),
    "cluster-apart": (runs(remote=""), runs()),
    "queue-waiting": (runs(depth=5), runs()),
    "cluster-not-read": (runs(note="broker B was not read"), runs()),
}
