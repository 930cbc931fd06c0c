"""A cluster that was read while it runs: where it is not as its files say, and what could not be read.

Source: what the brokers' own management answered (Artemis 2.31.2).
"""

from __future__ import annotations

from mqlab.checks.rule import Element, Found
from mqlab.checks.running import apart, not_read, not_read_rule, running_rule, waiting, waiting_rule
from mqlab.products.artemis.files import broker_xml
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.artemis.options import OPTIONS


@running_rule(
    "cluster-differs",
    "warning",
    finds="an option of a cluster connection that the running broker has otherwise than its file",
    what="{option} is {written} in the file and {running} in the broker",
    fix="restart the broker with this file, or write <{option}>{running}</{option}> into it",
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


@running_rule(
    "cluster-apart",
    "error",
    finds="a cluster connection of a running broker that leads to no other broker",
    what="cluster connection {name} has no other node: messages stay at this broker",
    fix="see in the broker's log why the others are not found",
)
def _cluster_apart(setup: SetUp) -> Found:
    for one in apart(setup.network.running):
        yield Element(f"broker {one.broker}"), {"name": one.name}


@waiting_rule(
    "queue-waiting",
    finds="messages that wait in a running queue without a consumer",
    what="{depth} in queue {name}, and no consumer takes from it here",
)
def _queue_waiting(setup: SetUp) -> Found:
    for broker, facts in waiting(setup.network.running):
        yield Element(f"broker {broker}"), facts


@not_read_rule(
    "cluster-not-read",
    finds="what could not be read of a running cluster",
)
def _cluster_not_read(setup: SetUp) -> Found:
    yield from not_read(setup.network.running)
