"""Running networks for the rules about them: what has the problem, and what has not."""

from __future__ import annotations

import mqlab as mq
from mqlab.products.activemq import files
from mqlab.spec.origin import SourceFile
from mqlab.spec.running import Running, RunningBridge, RunningBroker, RunningConnector, RunningQueue

FILE = (
    '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A"><networkConnectors>'
    '<networkConnector name="ab" uri="static:(tcp://b:61616)"/></networkConnectors></broker>'
)


def runs(
    connector: str = "ab", conduit: bool = True, remote: str = "B", depth: int = 0, note: str = ""
) -> mq.Network:
    """Return a broker A with a file and a connector, as it runs."""
    read = files.read([SourceFile("a.xml", FILE)])
    running = Running(
        "2026-11-25 20:00:00 UTC",
        (RunningBroker("A", "5.17.2", 1000, True, (), "jolokia:http://a:8161/api/jolokia"),),
        (RunningConnector("A", connector, (("conduit_subscriptions", conduit),)),) if connector else (),
        (RunningBridge("A", connector, remote, "tcp://b:61616", False, 0, 0, 1000),) if remote else (),
        (RunningQueue("A", "ORDERS", depth, 0, 0, depth, 0, 0, 0),),
        notes=(note,) if note else (),
    )
    return mq.Network(*read.brokers, around=read.around, origin=read.origin, running=running)


CASES = {
    "file-differs": (runs(conduit=False), runs()),
    "not-running": (runs(connector=""), runs()),
    "not-in-file": (runs(connector="other"), runs()),
    "no-bridge": (runs(remote=""), runs()),
    "waiting": (runs(depth=5), runs()),
    "not-read": (runs(note="broker B was not read"), runs()),
}
