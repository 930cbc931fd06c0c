"""A broker as a new file: complete, in the order in which a broker wants its elements.

Source: the schema of ActiveMQ 5.17; Fuse 2, Example 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.files.markup import tag
from mqlab.products.activemq.files import policies, security, stores, xml_names
from mqlab.products.activemq.files.addresses import rewritten
from mqlab.products.activemq.files.schema import CORE
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.json_types import JsonObject
from mqlab.spec.network import Broker
from mqlab.spec.values import Destination, as_text

_HEAD = f"""<?xml version="1.0" encoding="UTF-8"?>
<beans xmlns="{xml_names.BEANS}"
       xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
       xsi:schemaLocation="{xml_names.BEANS} {xml_names.BEANS}/spring-beans.xsd
                           {CORE} {CORE}/activemq-core.xsd">
  <bean class="org.springframework.beans.factory.config.PropertyPlaceholderConfigurer"/>
"""
_DATABASE = f"""  <bean id="{stores.DATA_SOURCE}" class="org.apache.commons.dbcp2.BasicDataSource"
        destroy-method="close">
    <property name="driverClassName" value="${{database.driver}}"/>
    <property name="url" value="${{database.url}}"/>
    <property name="username" value="${{database.user}}"/>
    <property name="password" value="${{database.password}}"/>
  </bean>
"""
_NAMES = {kind: element for element, kind in xml_names.QUEUES.items()}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a broker runs: its host and ports; `shared` is the folder for stores that several share.

    With `stamped` it writes its name onto each message that it dispatches (property ``BrokerPath``).
    """

    host: str = "0.0.0.0"
    port: int = 61616
    stomp: int | None = None
    shared: str | None = None
    stamped: bool = False


def broker(broker: Broker, address: Mapping[str, str], place: Place) -> str:
    """Return the file of a broker; *address* gives host (and port) for a broker's name, *place* its own."""
    options = broker.options
    store = stores.written(options, _directory(options, place))
    given = {
        "xmlns": CORE,
        "brokerName": options.get("broker_name") or broker.name,
        "brokerId": broker.name,
    }
    given |= {} if place.stomp is None else {"useJmx": "false"}  # several brokers on one machine
    given |= {} if store else {"persistent": "false"}
    given |= attributes(options, address)
    there = options.get("destinations")
    inside = destinations("destinations", there, " " * 4) if there else ""
    inside += policies.written(broker.policies)
    inside += policies.written_virtual(broker.composites, options.get("virtual_topics"))
    if broker.connectors:
        lines = "".join(connector(c, address, " " * 6) for c in broker.connectors)
        inside += tag("networkConnectors", {}, lines, " " * 4)
    plugins = security.written(broker, place.stomp is not None)
    plugins += tag("traceBrokerPathPlugin", {}, "", " " * 6) if place.stamped else ""
    inside += tag("plugins", {}, plugins, " " * 4) if plugins else ""
    inside += store + _transports(broker, place)
    source = _DATABASE if stores.DATA_SOURCE in store else ""
    return f"{_HEAD}{tag('broker', given, inside, '  ')}{source}</beans>\n"


def _directory(options: JsonObject, place: Place) -> str | None:
    shared = options.get("shared_store")
    if shared is None or place.shared is None:
        return None
    return f"{place.shared}/{re.sub(r'[^A-Za-z0-9_-]', '_', shared)}"


def attributes(options: JsonObject, address: Mapping[str, str]) -> dict[str, str]:
    """Return a broker's options that are attributes of its element."""
    found = xml_names.given(options, xml_names.BROKER)
    if "pure_slave_of" in options:
        name = options["pure_slave_of"]
        at = address.get(name, name)
        found["masterConnectorURI"] = f"tcp://{at if ':' in at else f'{at}:61616'}"
    return found


def _transports(broker: Broker, place: Place) -> str:
    transport = broker.transport
    given = {"name": transport.name, "uri": f"tcp://{place.host}:{place.port}"}
    given |= xml_names.given(transport.options, xml_names.TRANSPORT)
    if broker.options.get("audit_network_producers") is not None:
        given[xml_names.AUDIT] = as_text(broker.options["audit_network_producers"])
    lines = tag("transportConnector", given, "", " " * 6)
    if place.stomp is not None:
        stomp = {"name": "stomp", "uri": f"stomp://{place.host}:{place.stomp}"}
        lines += tag("transportConnector", stomp, "", " " * 6)
    return tag("transportConnectors", {}, lines, " " * 4)


def connector(connector: NetworkConnector, address: Mapping[str, str], indent: str) -> str:
    """Return a network connector as lines."""
    options = connector.options
    given = {"name": options.get("configured_name") or connector.name, "uri": uri(connector.uri, address)}
    given |= xml_names.given(options, xml_names.CONNECTOR)
    lists = [(word, options.get(name)) for word, name in xml_names.LISTS.items()]
    lines = "".join(destinations(word, texts, indent + "  ") for word, texts in lists if texts)
    return tag("networkConnector", given, lines, indent)


def destinations(word: str, texts: tuple[str, ...], indent: str) -> str:
    """Return a list of destinations as lines."""
    parsed = [Destination.parse(text) for text in texts]
    lines = "".join(tag(_NAMES[one.kind], {"physicalName": one.name}, "", indent + "  ") for one in parsed)
    return tag(word, {}, lines, indent)


def uri(text: str, address: Mapping[str, str]) -> str:
    """Return a connector's address with hosts (and ports) for the names of brokers."""
    return rewritten(text, lambda leaf: address.get(leaf.host or ""))
