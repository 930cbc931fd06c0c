"""What the files of Artemis brokers say of others: connectors to nobody, pairs without a cluster connection.

Sources: AMQ Broker 7.1, chapter 21; the Artemis user manual, clusters.
"""

from __future__ import annotations

from functools import partial

from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, bad_value, no_effect, not_played, rule
from mqlab.files.placeholders import resolve
from mqlab.files.treatment import once
from mqlab.products.artemis.files import treatment
from mqlab.products.artemis.files.schema import SCHEMA
from mqlab.products.artemis.rules import examples as ex
from mqlab.products.artemis.rules.balancing import strays
from mqlab.products.artemis.rules.set_up import Server, SetUp, servers
from mqlab.spec.naming import destination_in


@rule(
    "no-cluster",
    "error",
    finds="replication without a cluster connection",
    what="it replicates, but has no cluster-connection: master and slave never find each other",
    fix="add a cluster-connection",
    source="AMQ Broker 7.1, 21.1.1",
    example=lambda: Example(ex.unclustered(clustered=False), ex.unclustered(clustered=True)),
    of=(servers,),
)
def _no_cluster(server: Server) -> Found:
    replicates = server.broker.policy == "replication"
    if replicates and not server.set_up.network.option(server.broker, "clustered"):
        yield server.element, {}


@rule(
    "joins-nobody",
    "warning",
    finds="a broker whose cluster connection reaches no other broker",
    what="{why}: it forwards no messages to the other brokers",
    fix="{fix}",
    source="Artemis user manual, clusters",
    unshown="mqlab does what its options say",
    of=(servers,),
)
def _joins_nobody(server: Server) -> Found:
    network, broker = server.set_up.network, server.broker
    listed, others = network.option(broker, "to"), {other.name for other in server.others}
    if not others or not network.option(broker, "clustered") or server.set_up.cores:
        return
    if network.option(broker, "max_hops") == 0:
        yield server.element, {"why": "max-hops is 0", "fix": "use 1 or more"}
    elif listed and not network.option(broker, "discovery") and others.isdisjoint(listed):
        why = f"static-connectors names {' and '.join(listed)}, and no other broker"
        yield server.element, {"why": why, "fix": f"name {' or '.join(sorted(others))}"}


@rule(
    "divert-nowhere",
    "error",
    finds="a divert without one of its two addresses, or back to its own",
    what="divert {name}: {why}",
    fix="give it an address and another forwarding-address",
    source="Artemis user manual, diverting and splitting message flows",
    unshown="the broker does not start",
    of=(servers,),
)
def _divert_nowhere(server: Server) -> Found:
    for name, divert in server.broker.parts("diverts").items():
        here, there = divert.get("address"), divert.get("forwarding_address")
        lacks = "address" if not here else "forwarding-address" if not there else ""
        if lacks or here == there:
            why = (
                f"it has no {lacks}, so a real broker does not start"
                if lacks
                else f"it leads from {here} back to it"
            )
            yield server.set_up.element(server.broker, "diverts"), {"name": name, "why": why}


@rule(
    "odd-match",
    "warning",
    finds="a match of address settings with a prefix or a wildcard of other products or versions",
    what="address-setting {match!r} matches no address here: {why}",
    fix="use {right!r}",
    source="Artemis user manual, wildcard syntax",
    unshown="no effect: the settings are ignored",
    of=(servers,),
)
def _odd_match(server: Server) -> Found:
    for match in server.set_up.network.settings_of(server.broker):
        bare = match.removeprefix("jms.queue.").removeprefix("jms.topic.")
        right = bare.replace(">", "#")
        if bare != match or right != match:
            why = "Artemis has # in place of >" if bare == match else "jms.queue. and jms.topic. are of 1.x"
            element = server.set_up.element(server.broker, "address-settings")
            yield element, {"match": match, "why": why, "right": right}


@rule(
    "leads-nowhere",
    "warning",
    finds="a connector to a broker whose file was not given",
    what="{reference}: {harm}",
    fix="{fix}",
    source="Artemis user manual, clusters",
    unshown="mqlab has no broker there, in both cases",
)
def _leads_nowhere(set_up: SetUp) -> Found:
    asked = set()
    for name, core in set_up.cores.items():
        for ref, connector, address in set_up.directory.nowhere(core):
            if (address or (name, connector)) in asked:
                continue
            asked.add(address or (name, connector))
            harm = "no <connector> of this file has this name"
            fix = "add the connector, or remove the reference"
            if address:
                harm = f"{address} is not a broker of these files, so in mqlab no broker is there"
                fix = "give that broker's file too, or say who it is: hosts= (--hosts HOST=BROKER)"
            place = Element(f"broker {name}", core.document.where, ref.line)
            reference = f"connector {connector}" if ref.name == "connector-ref" else ref.name
            yield place, {"reference": reference, "harm": harm, "fix": fix}


@no_effect("no-effect-artemis", source="Artemis user manual, configuration reference")
def _no_effect(set_up: SetUp) -> Found:
    left = {broker for _, broker in strays(set_up, "left")}  # no-redistribution says more
    for where, idle in treatment.idle_options(set_up.network, set_up.actions):
        if where in left and idle.part and idle.guide == "redistribution-delay":
            continue
        broker = next((one for one in set_up.network.brokers if one.name == where), None)
        yield set_up.option(broker, idle) if broker else Element(where), {"idle": idle}


@not_played(
    "not-played",
    finds="what stands in a file and is not played",
    source="Artemis user manual, configuration reference",
)
def _not_played(set_up: SetUp) -> Found:
    for name, core in set_up.cores.items():
        known = {(at.line, word) for at, word, _, _ in SCHEMA.strange(core.element, "core")}
        new = (
            one
            for one in treatment.told(core)
            if (one.line, one.path.rpartition("@")[2].rpartition("/")[2]) not in known
        )
        for line, facts in once(new):
            yield Element(f"broker {name}", core.document.where, line), facts


@rule(
    "unknown-element",
    "error",
    finds="an element or attribute that is not in the schema: the broker does not start",
    what="{text}: the broker does not start",
    fix="{fix}",
    source="Artemis' schema, 2.31 to 2.45",
    unshown="the broker does not start",
)
def _unknown_element(set_up: SetUp) -> Found:
    for name, core in set_up.cores.items():
        for at, _, text, fix in SCHEMA.strange(core.element, "core"):
            yield Element(f"broker {name}", core.document.where, at.line), {"text": text, "fix": fix}


@bad_value("wrong-value", source="Artemis' schema, 2.31")
def _bad_value(set_up: SetUp) -> Found:
    for name, core in set_up.cores.items():
        for wrong in SCHEMA.wrong(core.element, "core", partial(resolve, values=core.values, where=name)):
            yield Element(f"broker {name}", core.document.where, wrong.element.line), {"wrong": wrong}


@rule(
    "ping-late",
    "warning",
    finds="a check-period of a cluster connection that is not below its connection-ttl",
    what="check-period is {check} ms and connection-ttl {ttl} ms: the other broker takes the connection "
    "for dead between two pings",
    fix="set check-period below connection-ttl, such as {half}",
    source="Artemis user manual, connection TTL",
    unshown="in mqlab a connection that works is never taken for dead",
    of=(servers,),
)
def _ping_late(server: Server) -> Found:
    network, broker = server.set_up.network, server.broker
    check, ttl = (network.option(broker, name) for name in ("check_period", "connection_ttl"))
    if network.option(broker, "clustered") and check >= ttl > 0:
        element = server.set_up.element(broker, "check-period")
        yield element, {"check": check, "ttl": ttl, "half": ttl // 2}


@rule(
    "no-dead-letter-queue",
    "warning",
    finds="a dead-letter-address or expiry-address that no queue is bound to",
    what="{guide} {address!r} has no queue: messages that {ended} are dropped",
    fix="list that address with an anycast queue of its name (AddressQueue({address!r}))",
    source="Artemis user manual, undelivered messages",
    example=lambda: Example(ex.undelivered(), ex.undelivered("DLQ")),
    of=(servers,),
)
def _no_dead_letter_queue(server: Server) -> Found:
    network, broker = server.set_up.network, server.broker
    there = {queue.address or queue.name for queue in network.queues if queue.is_at(broker.name)}
    there |= {dest.name for action in server.set_up.script if (dest := destination_in(action)) is not None}
    for match, settings in network.settings_of(broker).items():
        for kind, ended in (("dead-letter", "are delivered too often"), ("expiry", "have expired")):
            guide, address = f"{kind}-address", settings.get(f"{kind.replace('-', '_')}_address")
            if address and address not in there:
                there.add(address)
                element = server.set_up.setting(broker, match, guide)
                if element is not None:
                    yield element, {"guide": guide, "address": address, "ended": ended}
