"""A cluster that was read while it runs: where it is not as its files say, and what could not be read.

Source: what the brokers' own management answered (Artemis 2.31.2).
"""

from __future__ import annotations

from mqlab.checks.rule import Element, Found, rule
from mqlab.products.artemis.files import broker_xml
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.plural import counted

SOURCE = "management of the running broker"
OUTSIDE = "it is about a running network"


@rule(
    "cluster-differs",
    "warning",
    finds="an option of a cluster connection that the running broker has otherwise than its file",
    what="{option} is {written} in the file and {running} in the broker",
    fix="restart the broker with this file, or write <{option}>{running}</{option}> into it",
    source=SOURCE,
    unshown=OUTSIDE,
)
def _cluster_differs(setup: SetUp) -> Found:
    running, origin = setup.network.running, setup.network.origin
    if running is None or origin is None:
        return
    plain = broker_xml.read(origin.files, dict(origin.values), dict(origin.hosts))
    known = dict(zip(plain.names, plain.brokers, strict=True))
    for one in running.connectors:
        for key, value in one.options if one.broker in known else ():
            written = plain.option(known[one.broker], key)
            if written != value:
                option = OPTIONS["cluster-connection"][key].guide
                facts = {"option": option, "written": written, "running": value}
                yield setup.element(known[one.broker], "cluster-connections"), facts


@rule(
    "cluster-apart",
    "error",
    finds="a cluster connection of a running broker that leads to no other broker",
    what="cluster connection {name} has no other node: messages stay at this broker",
    fix="see in the broker's log why the others are not found",
    source=SOURCE,
    unshown=OUTSIDE,
)
def _cluster_apart(setup: SetUp) -> Found:
    running = setup.network.running
    standing = {(one.broker, one.connector) for one in running.bridges} if running else set()
    for one in running.connectors if running else ():
        if (one.broker, one.name) not in standing:
            yield Element(f"broker {one.broker}"), {"name": one.name}


@rule(
    "queue-waiting",
    "warning",
    finds="messages that wait in a running queue without a consumer",
    what="{depth} in queue {name}, and no consumer takes from it here",
    fix="ask why: mq.explain(net, queue={name!r}, on={broker!r}, why_not=CONSUMER)",
    source=SOURCE,
    unshown=OUTSIDE,
)
def _queue_waiting(setup: SetUp) -> Found:
    running = setup.network.running
    for one in running.queues if running is not None else ():
        if one.depth and not one.consumers:
            facts = {"depth": counted(one.depth, "message"), "name": one.name, "broker": one.broker}
            yield Element(f"broker {one.broker}"), facts


@rule(
    "cluster-not-read",
    "warning",
    finds="what could not be read of a running cluster",
    what="{note}",
    fix="the rest is as it runs",
    source=SOURCE,
    unshown=OUTSIDE,
)
def _cluster_not_read(setup: SetUp) -> Found:
    running = setup.network.running
    for note in running.notes if running is not None else ():
        yield Element("running network"), {"note": note}
