"""What a single broker is refused with, or gets wrong beside the others: passwords, scale-down, colocation.

Sources: AMQ Broker 7.1, chapter 21; the rule as observed that is named in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.checks.client_ids import client_id_rule, same_client_id
from mqlab.checks.early import early, early_rule
from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.artemis.rules import examples as ex
from mqlab.products.artemis.rules.set_up import Server, SetUp, servers
from mqlab.products.artemis.script.broker_actions import BOOTING, STARTING
from mqlab.spec.action import Consumer, Producer, Stop
from mqlab.spec.artemis.actions import ForcedFailover, Session
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.naming import destination_in


@rule(
    "cluster-password",
    "error",
    finds="brokers with different cluster passwords never pair",
    what="its cluster password differs from that of {first}: with security enabled they reject each other "
    "and never pair",
    fix="give all brokers of a cluster the same cluster-password",
    source="Artemis rule 11.2",
    unshown="mqlab does not model security",
)
def _cluster_password(set_up: SetUp) -> Found:
    network = set_up.network
    clustered = [one for one in network.brokers if network.option(one, "clustered")]
    first, *others = clustered or [Broker("none")]
    said = first.keys.get("cluster_password")
    for server in others:
        own = server.keys.get("cluster_password")
        if own != said:
            yield set_up.element(server, "cluster-password"), {"first": first.name}


@rule(
    "refused",
    "error",
    finds="an ha-policy with which the broker does not start",
    what="it does not start: {reason}",
    fix="{fix}",
    source="Artemis rules 1.5 and 3.5",
    unshown="the broker does not start",
    of=(servers,),
)
def _refused(server: Server) -> Found:
    for half in (server.broker, *server.broker.halves()[1:]):  # a colocated one is, with its master
        network = server.set_up.network
        refusal = half.refusal(network.edition, network.cluster_of(server.broker))
        if refusal is not None:
            told = "; ".join(filter(None, (refusal.reason, refusal.what)))
            yield server.element, {"reason": told, "fix": refusal.fix}


def _scale_down(server: Server) -> Mapping[str, object] | None:
    """Return how a broker scales down, if it does, and no hosted slave does so in its place."""
    hosted = any(half.scale_down is not None for half in server.broker.halves())
    policy = None if hosted else server.broker.scale_down
    return None if policy is None or policy.get("enabled") is False else policy


@rule(
    "scale-down-slave",
    "error",
    finds="a standalone slave that scales down",
    what="a standalone slave fails with a NullPointerException on scale-down: its messages are not transferred",
    fix="colocate it with a master",
    source="Artemis rule 1.10",
    unshown="after a crash in 2.4 the messages stay where they are, colocated or not: the vote says no",
    of=(servers,),
)
def _scale_down_slave(server: Server) -> Found:
    if server.broker.role == "slave" and _scale_down(server) is not None:
        yield server.element, {}


@rule(
    "scale-down-target",
    "error",
    finds="scale-down without a target",
    what="scale-down has no target: {why}, so messages are not transferred",
    fix="{fix}",
    source="AMQ Broker 7.1, 21.4.1; Artemis rule 6.2",
    example=lambda: Example(ex.scales_down({}), ex.scales_down(ex.TO_B2)),
    of=(servers,),
)
def _scale_down_target(server: Server) -> Found:
    policy = _scale_down(server)
    if policy is None or server.broker.role == "slave":
        return
    slaves = {other.name for other in server.others if other.role == "slave"}
    listed = policy.get("connectors")
    named = {str(one).removeprefix("to_") for one in listed} if isinstance(listed, (list, tuple)) else set()
    if "connectors" not in policy and "discovery_group_ref" not in policy:
        why = "with neither connectors nor a discovery group only an in-VM connector is tried"
        yield server.element, {"why": why, "fix": "name connectors or a discovery group"}
    elif named and named <= slaves:
        why = f"{' and '.join(sorted(named))} is a slave, which is not live while its master is"
        yield server.element, {"why": why, "fix": "name a connector to another master"}


@rule(
    "scale-down-group",
    "error",
    finds="a scale-down group without other members",
    what="no other broker belongs to scale-down group {group!r}: its messages are not transferred when "
    "it stops",
    fix="give a target the same group-name",
    source="AMQ Broker 7.1, 21.4.3; Artemis rule 6.2",
    example=lambda: Example(ex.in_group("other"), ex.in_group("g")),
    of=(servers,),
)
def _scale_down_group(server: Server) -> Found:
    group = (_scale_down(server) or {}).get("group_name") if server.set_up.is_whole() else None
    groups = [(other.scale_down or {}).get("group_name") for other in server.others]
    if group is not None and group not in groups:
        yield server.element, {"group": group}


@rule(
    "scale-down-queue",
    "warning",
    finds="scale-down of a queue that its target does not list",
    what="it scales down, and no other broker has {queue}: the target creates it without a routing type, so "
    "its messages are lost",
    fix="list it at the target: queues=(AddressQueue({queue!r}),)",
    source="Artemis rule 1.8",
    example=lambda: Example(ex.scales_down(ex.TO_B2, queues=[]), ex.scales_down(ex.TO_B2)),
    of=(servers,),
)
def _scale_down_queue(server: Server) -> Found:
    policy, network = _scale_down(server), server.set_up.network
    if policy is None or not {"connectors", "discovery_group_ref"} & set(policy):
        return
    homes, clients = dict[str, set[str]](), dict[str, str]()  # queue -> brokers where clients have named it
    for action in server.set_up.script:
        if isinstance(action, (Stop, ForcedFailover)) and action.broker == server.broker.name:
            break
        if isinstance(action, (Consumer, Producer, Session)) and not action.others:
            place = clients.get(action.on, action.on)
            if isinstance(action, Session):
                clients[action.name] = place
            if (dest := destination_in(action)) is not None and dest.is_queue:
                homes.setdefault(dest.name, set()).add(place)
    for own in network.queues:
        if own.routing == "anycast" and own.is_at(server.broker.name):
            homes.setdefault(own.name, {server.broker.name})
    listed = {queue.name for queue in network.queues for other in server.others if queue.is_at(other.name)}
    for queue, places in homes.items():
        if places == {server.broker.name} and queue not in listed:
            yield server.element, {"queue": queue}


@rule(
    "colocated-half",
    "warning",
    finds="colocated without master or slave",
    what="colocated without a {half} element: the product's defaults apply to that half",
    fix="add a {half}",
    source="AMQ Broker 7.1, 21.3.1",
    unshown="no effect: the defaults apply",
    of=(servers,),
)
def _colocated_half(server: Server) -> Found:
    for half in ("master", "slave"):
        if server.broker.role == "colocated" and half not in server.broker.elements:
            yield server.element, {"half": half}


@rule(
    "excludes",
    "error",
    finds="connectors to other brokers that get the port offset",
    what="the connectors {missing} point to other brokers and get the port offset in a colocated slave, "
    "which then never finds its master",
    fix="list them under excludes",
    source="Artemis rule 1.5; AMQ Broker 7.1, 21.3.2",
    example=lambda: Example(ex.hosted(1), ex.hosted(1, excludes=["to_B"])),
    of=(servers,),
)
def _excludes(server: Server) -> Found:
    broker = server.broker
    if broker.role != "colocated":
        return
    names = [f"to_{other.name}" for other in server.others]
    missing = [name for name in names if name not in broker.element("excludes")]
    hosts = broker.element("max_backups") > 0 and broker.policy == "replication"
    colocated = [other for other in server.others if other.role == "colocated"]
    asked = any(other.element("request_backup") for other in colocated)
    static = not server.set_up.network.option(broker, "discovery")
    shifts = broker.part("slave", broker.name).scale_down is None
    if missing and hosts and asked and static and shifts:
        yield server.element, {"missing": ", ".join(missing)}


@client_id_rule("same-client-id-artemis", "Artemis, ActiveMQConnection.setClientID")
def _same_client_id(set_up: SetUp) -> Found:
    yield from same_client_id(set_up.actions)


Sends = tuple[SetUp, Producer]


def sends(set_up: SetUp) -> Iterator[Sends]:
    """Yield each producer of a script that sends to a queue."""
    return ((set_up, one) for one in set_up.actions if isinstance(one, Producer) and one.to.is_queue)


@rule(
    "multicast-only",
    "error",
    finds="what is sent to a queue whose address has only multicast queues",
    what="it sends to {to}, and {queue} is a multicast queue: what is sent to a queue does not go there",
    fix="send to mq.Topic({address!r}), or list an anycast queue",
    source="Artemis, address model; Artemis rule 1.8",
    example=lambda: Example(ex.routed("multicast"), ex.routed("anycast")),
    of=(sends,),
)
def _multicast_only(of: Sends) -> Found:
    set_up, sent = of
    queues = [queue.plain for queue in set_up.network.queues]
    anycast = {address for _, routing, address in queues if routing == "anycast"}
    for name, routing, address in queues:
        if routing == "multicast" and sent.to.name == address not in anycast:
            yield Element(f"producer {sent.name}"), {"to": sent.to, "queue": name, "address": address}


@rule(
    "address-of-queue",
    "warning",
    finds="what is sent to the address of an anycast queue with another name",
    what="{to} is the address of the queue {queue}: a real broker routes it there, mqlab knows queues by name",
    fix="give the queue the name of its address",
    source="Artemis, address model",
    unshown="mqlab has a queue of the address's name instead",
    of=(sends,),
)
def _address_of_queue(of: Sends) -> Found:
    set_up, sent = of
    for name, routing, address in (queue.plain for queue in set_up.network.queues):
        if routing == "anycast" and sent.to.name == address != name:
            yield Element(f"producer {sent.name}"), {"to": sent.to, "queue": name}


@rule(
    "page-too-large",
    "error",
    finds="in 2.4, a page-size-bytes that is not below the max-size-bytes of its address",
    what="max-size-bytes of {address!r} is {most}, page-size-bytes {page}: the broker does not end its start",
    fix="set page-size-bytes below {most}",
    source="PagingStoreImpl of Artemis 2.4.0; Artemis rule 9.14",
    example=lambda: Example(ex.paged(5000), ex.paged(2500)),
    of=(servers,),
)
def _page_too_large(server: Server) -> Found:
    network, element = server.set_up.network, server.set_up.element(server.broker, "address-settings")
    for address, most, page in network.too_small_for_a_page(server.broker):
        if not network.rules.has_large_pages:
            yield element, {"address": address, "most": most, "page": page}


@early_rule("early-artemis")
def _early(set_up: SetUp) -> Found:
    yield from early(set_up.actions, STARTING + BOOTING * (len(set_up.network.brokers) - 1))
