"""An Artemis broker as a new `broker.xml`: complete, in the order of its schema.

Source: AMQ Broker 7.1, chapter 21; the Artemis user manual, clusters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from mqlab.files.editing import put_in
from mqlab.files.markup import Edit, edited, quoted, tag
from mqlab.products.artemis.files import policy
from mqlab.products.artemis.files.core import JOURNAL, NOTE, PARTS, PLAIN, SHARED, Core
from mqlab.products.artemis.files.policy import leaf
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.json_types import JsonObject

PORT = 61616
PURGE, MOST = "purge-on-no-consumers", "max-consumers"  # attributes of a queue
# Names of elements are IDs of the document: no two may be alike, whatever the elements are.
GROUP, SENDERS, CONNECTION = "lab", "lab-broadcast", "lab-cluster"


def fresh(network: ArtemisNetwork, broker: Broker) -> str:
    """Return the file of a broker; the host of each is called like the broker."""
    lines = "".join(inside_of(network, broker).values())
    named = leaf("name", broker.name, " " * 4)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<configuration xmlns="urn:activemq">\n'
        f'  <core xmlns="urn:activemq:core">\n{named}{lines}  </core>\n</configuration>\n'
    )


def inside_of(network: ArtemisNetwork, broker: Broker) -> dict[str, str]:
    """Return element -> its lines, of those below ``core`` that mqlab knows."""
    found: dict[str, str] = {}
    store = broker.keys.get("shared_store")
    if store is not None:
        place = store if store.startswith("/") else SHARED + store
        found["journal-directory"] = leaf("journal-directory", place + JOURNAL, " " * 4)
    others = [other.name for other in network.brokers if other is not broker]
    downs = (half.scale_down or {} for half in (broker, *broker.halves()))
    asked = [str(ref).removeprefix("to_") for down in downs for ref in down.get("connectors", ())]
    ways = {f"to_{name}": name for name in (*others, *asked)}
    found["connectors"] = _addresses("connectors", "connector", {broker.name: broker.name, **ways})
    found["acceptors"] = _addresses("acceptors", "acceptor", {"artemis": "0.0.0.0"})
    found["broadcast-groups"], found["discovery-groups"] = _groups(network, broker)
    if broker.keys.get("cluster_password") is not None:
        text = leaf("cluster-password", broker.keys["cluster_password"], " " * 4)
        found["cluster-password"] = text
    own = broker.keys.get("core") or {}
    for name, row in OPTIONS["core"].items():
        if own.get(name) is not None:
            found[row.guide] = leaf(row.guide, own[name], " " * 4)
    found["ha-policy"] = policy.written(broker)
    if network.option(broker, "clustered"):
        found["cluster-connections"] = cluster(network, broker, others)
    found |= {
        holder: tag(holder, {}, parts(holder, made), " " * 4)
        for holder in PARTS
        if (made := broker.parts(holder))
    }
    found["address-settings"] = _settings(network.settings_of(broker))
    found["addresses"] = _queues(network, broker)
    return {name: lines for name, lines in found.items() if lines}


def host(name: str) -> str:
    """Return the host that is called like a broker, as an address has it."""
    return quote(name, safe="")


def _addresses(holder: str, kind: str, hosts: Mapping[str, str]) -> str:
    lines = "".join(
        f"      <{kind} name={quoted(name)}>tcp://{host(there)}:{PORT}</{kind}>\n"
        for name, there in hosts.items()
    )
    return tag(holder, {}, lines, " " * 4)


def _groups(network: ArtemisNetwork, broker: Broker) -> tuple[str, str]:
    """Return the groups by which brokers find each other; nothing where none is asked for."""
    halves = (broker, *broker.halves())
    names = [half.scale_down.get("discovery_group_ref") for half in halves if half.scale_down]
    if network.option(broker, "discovery"):
        names.append(GROUP)
    asked = list(dict.fromkeys(name for name in names if name))
    return groups(broker.name, asked) if asked else ("", "")


def groups(connector: str, asked: Iterable[str]) -> tuple[str, str]:
    """Return a broadcast group of a connector, and the discovery groups that hear it."""
    address = leaf("group-address", "231.7.7.7", " " * 8) + leaf("group-port", "9876", " " * 8)
    told = address + leaf("connector-ref", connector, " " * 8)
    sent = tag("broadcast-group", {"name": SENDERS}, told, " " * 6)
    heard = "".join(tag("discovery-group", {"name": n}, address, " " * 6) for n in asked)
    return tag("broadcast-groups", {}, sent, " " * 4), tag("discovery-groups", {}, heard, " " * 4)


def cluster(network: ArtemisNetwork, broker: Broker, others: list[str]) -> str:
    """Return the cluster connection of a broker, which leads to all *others* or to those that are listed."""
    options = network.cluster_of(broker)
    lines = leaf("connector-ref", broker.name, " " * 8)
    for name, row in OPTIONS["cluster-connection"].items():
        if name in PLAIN and options.get(name) is not None:
            lines += leaf(row.guide, options[name], " " * 8)
    if options.get("discovery"):
        lines += tag("discovery-group-ref", {"discovery-group-name": GROUP}, "", " " * 8)
    else:
        to = options.get("to")
        names = others if to is None else [to] if isinstance(to, str) else list(to)
        only = options.get("allow_direct_connections_only")
        given = {"allow-direct-connections-only": "true"} if only else {}
        lines += tag("static-connectors", given, refs(names, " " * 10), " " * 8)
    connection = tag("cluster-connection", {"name": CONNECTION}, lines, " " * 6)
    return tag("cluster-connections", {}, connection, " " * 4)


def parts(holder: str, written: Mapping[str, JsonObject]) -> str:
    """Return diverts or bridges as lines."""
    made, rows = "", OPTIONS[PARTS[holder]]
    for name, options in written.items():
        given = {rows[key].guide: value for key, value in options.items() if value is not None}
        where, to = given.pop("filter", None), given.pop("static-connectors", None)
        lines = "".join(leaf(guide, value, " " * 8) for guide, value in given.items())
        lines += "" if where is None else tag("filter", {"string": where}, "", " " * 8)
        lines += "" if to is None else tag("static-connectors", {}, refs(to, " " * 10), " " * 8)
        made += tag(PARTS[holder], {"name": name}, lines, " " * 6)
    return made


def refs(brokers: Iterable[str], indent: str = "") -> str:
    """Return references to the connectors that lead to brokers, as lines."""
    return "".join(leaf("connector-ref", f"to_{name}", indent) for name in brokers)


def _settings(written: Mapping[str, JsonObject]) -> str:
    rows, made = OPTIONS["address-setting"], ""
    for match, options in written.items():
        lines = "".join(leaf(rows[n].guide, value, " " * 8) for n, value in options.items())
        made += lines and tag("address-setting", {"match": match}, lines, " " * 6)
    return made and tag("address-settings", {}, made, " " * 4)


def _queues(network: ArtemisNetwork, broker: Broker) -> str:
    made = ""
    for queue in network.queues:
        if queue.is_at(broker.name):
            inside = tag(queue.routing, {}, one_queue(queue, " " * 10), " " * 8)
            made += tag("address", {"name": queue.address or queue.name}, inside, " " * 6)
    return made and tag("addresses", {}, made, " " * 4)


def one_queue(queue: AddressQueue, indent: str = "") -> str:
    """Return a queue as lines."""
    given = {"name": queue.name, **({PURGE: "true"} if queue.purge_on_no_consumers else {})}
    given |= {MOST: str(queue.max_consumers)} if queue.max_consumers is not None else {}
    inside = "" if queue.filter is None else tag("filter", {"string": queue.filter}, "", indent + "  ")
    inside += "" if queue.durable else leaf("durable", "false", indent + "  ")
    return tag("queue", given, inside, indent)


def noted(core: Core, notes: Mapping[str, object]) -> str:
    """Return the text of a broker with notes put into it."""
    text = json.dumps(notes, ensure_ascii=True).replace(">", "\\u003e")
    line = f"<?{NOTE} {text}?>"
    if core.note is not None:
        return edited(core.document.text, [Edit(core.note.start, core.note.end, line)])
    return edited(core.document.text, put_in(core.document, core.element, line, ()))
