"""What STOMP or a configuration file cannot say: it is told before anything starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.spec import Network, Scenario
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.steps import TIMES, steps_of
from mqlab.spec.uri import read
from mqlab.spec.values import duration

CANNOT = {
    "start_connector": "a connector cannot be started alone over STOMP",
    "stop_connector": "a connector cannot be stopped alone over STOMP",
    "rollback": "messages aborted by a STOMP client are not redelivered until its connection ends",
    "request_reply": "STOMP temporary queues differ from JMS temporary queues",
}
_TEXTS = "typed properties (STOMP has only strings, which ActiveMQ's selectors convert to numbers)"
_KNOWN = {
    "start",
    "open_consumer",
    "close_consumer",
    "send",
    "receive",
    "resume",
    "pause",
    "wait",
    "wait_for_sends",
    "acknowledge",
    "commit",
    "settle",
    "snapshot",
    "start_broker",
    "stop_broker",
    "kill",
    "host_down",
    "connect",
    "wait_connected",
    "wait_master",
    "wait_bridge",
    "wait_received",
}
_STRANGE = {
    "open_consumer": {
        "redelivery",
        "browser",
        "no_local",
        "connection_options",
        "options",
        "session",
        "loop",
        "transacted",
    },
    "send": {"group", "transacted", "session", "connection_options"},
    "connect": {"prefetch", "client_id", "redelivery", "watch_topic_advisories", "max_redeliveries"},
    "start_broker": {"store", "jitter_ms"},
    "wait_bridge": {"up"},
}
# What may be in the address of a client over STOMP: it tries the brokers in their order, and in its own times.
_ADDRESS = {
    "randomize",
    "initialReconnectDelay",
    "maxReconnectDelay",
    "useExponentialBackOff",
    "backOffMultiplier",
    "reconnectDelayExponent",
}
# Steps of the clusters, and the keys of theirs that STOMP clients and processes can do.
_SEND = {
    "name",
    "size",
    "broker",
    "producer",
    "queue",
    "topic",
    "count",
    "persistent",
    "interval_ms",
    "properties",
    "in_background",
}
_OPEN = {
    "consumer",
    "broker",
    "queue",
    "topic",
    "receiving",
    "selector",
    "client_id",
    "ack_mode",
    "acknowledge",
    "delay_ms",
}
_AT = {"broker", "brokers"}
_CLUSTER: Mapping[str, set[str]] = {
    "start": {"brokers"}, "start_broker": _AT, "restart": _AT, "kill": _AT, "stop": _AT,
    "resume": {"broker", "consumer"}, "close_consumer": {"consumer"}, "close_producer": {"producer"},
    "open_producer": {"producer", "broker", "queue", "topic"}, "acknowledge": {"consumer"},
    "receive": {"consumer", "count", "within_ms", "time_limit_ms"}, "wait": {"ms"}, "wait_for_sends": set(),
    "settle": {"ms", "quiet_ms", "timeout_ms"}, "snapshot": {"label", "topology"}, "send": _SEND,
}  # fmt: skip
_DOES: Mapping[str, Mapping[str, set[str]]] = {
    "artemis": {
        **_CLUSTER, "open_consumer": {*_OPEN, "durable_name"}, "pause": {"broker"}, "resume_broker": {"broker"},
        "send": {*_SEND, "time_to_live_ms", "client"}, "open_client": {"client", "broker", "queue", "topic"},
        "hold": {"consumer"}, "wait_until": {"broker", "role", "timeout_ms"},
        "wait_failover": {"client", "times", "timeout_ms"},
    },
    "openmq": {
        **_CLUSTER, "open_consumer": {*_OPEN, "durable", "subscription_name", "reconnect"},
        "pause": {"broker", "consumer"},
        "start_broker": {*_AT, "until"}, "create_destination": {"broker", "queue", "topic", "options"},
        "destroy_destination": {"broker", "queue", "topic"}, "wait_received": {"consumer", "count"},
        "purge": {"broker", "queue", "topic"},
    },
}  # fmt: skip
_ANYWHERE = {"do", "id", "limit_ms", "rest_ms"}


def steps(scenario: Scenario) -> list[JsonDict]:
    """Return a script in the words of recordings, which those have that play it on real brokers."""
    if scenario.product == "activemq":
        made = steps_of(scenario.actions, scenario.network.names)
        return [{TIMES.get(k, k): _ms(k, value) for k, value in step.items()} for step in made]
    if scenario.product == "openmq":
        from mqlab.spec.openmq import steps as openmq_steps  # here: who plays no OpenMQ does not load them

        return list(openmq_steps.steps_of(scenario.script, scenario.network.names))
    from mqlab.spec.artemis.words import to_step

    played = (to_step(action, scenario.network.names) for action in scenario.script)
    return [{"do": step.do, **step.keys} for step in played]


def _ms(key: str, value: object) -> object:
    """Return a time with its unit, such as "20ms", in milliseconds; times that are numbers are that already."""
    return duration(value) / 1000 if key in TIMES and isinstance(value, str) else value


def unplayable(scenario: Scenario) -> list[str]:
    """Return why a scenario cannot be played on real brokers over STOMP; empty if it can."""
    of = {"activemq": _of_network, "artemis": _of_artemis, "openmq": _of_openmq}[scenario.product]
    return list(dict.fromkeys(of(scenario)))


def _of_artemis(scenario: Scenario) -> Iterator[str]:
    if any(broker.role == "colocated" for broker in scenario.network.brokers):
        yield "colocated brokers: the ports of hosted backups are chosen by the product"
    if any(broker.keys.get("in_vm_connector") for broker in scenario.network.brokers):
        yield "connectors within one process"
    yield from _of_steps(scenario)


def _of_openmq(scenario: Scenario) -> Iterator[str]:
    if scenario.network.model in ("peer", "enhanced"):
        yield f"a cluster of the model {scenario.network.model!r}: its database is not available"
    yield from _of_steps(scenario)


def _of_steps(scenario: Scenario) -> Iterator[str]:
    does = _DOES[scenario.product]
    for step in steps(scenario):
        do = step["do"]
        strange = set(step) - does.get(do, set()) - _ANYWHERE
        if do not in does:
            yield f"the step {do!r}"
        elif strange:
            yield f"{', '.join(sorted(strange))} of the step {do!r}"
        elif step.get("ack_mode", "auto") not in ("auto", "client"):
            yield f"ack_mode={step['ack_mode']!r}"
        elif not _texts(step, numbers=False):
            yield _TEXTS


def _of_network(scenario: Scenario) -> list[str]:
    network = scenario.network
    found = list(_of_brokers(network))
    if any(connector.get("auto_start") is False for _, connector in network.connectors()):
        found.append("a connector that starts later (cannot be expressed in configuration files)")
    if network.around.endpoints or network.around.lines:
        found.append("endpoints that are not brokers, or links to cut")
    for step in steps(scenario):
        do = step["do"]
        strange = _STRANGE.get(do, set()) & set(step)
        if do not in _KNOWN:
            found.append(CANNOT.get(do, f"the step {do!r}"))
        elif strange:
            found.append(f"{', '.join(sorted(strange))} of the step {do!r}")
        elif step.get("acknowledge") is False and "prefetch" in step:
            found.append("a prefetch without acknowledgements: over STOMP delivered messages keep counting")
        elif isinstance(step.get("acknowledge"), str):
            found.append(f"acknowledge={step['acknowledge']!r}")
        elif do == "connect" and (why := _address(step["uri"], network)):
            found.append(why)
        elif not _texts(step, numbers=not _selects(network)):
            found.append(_TEXTS)
    return found


def _of_brokers(network: Network) -> Iterator[str]:
    """Yield what brokers have that is not there when they are played: files of this machine are all."""
    for broker in network.brokers:
        if broker.get("store", network.edition) == "jdbc":
            yield "a database is not available"
        if broker.get("pure_slave_of", network.edition) or broker.get("wait_for_slave", network.edition):
            yield "a pure pair: ActiveMQ has had none since 5.8"
        if (system := broker.get("file_system", network.edition)) not in (None, "local"):
            yield f"a file system {system!r}"


def _address(text: str, network: Network) -> str:
    """Return why a client over STOMP cannot have an address; empty if it can."""
    uri = read(text)
    if uri is None or any(leaf.scheme != "tcp" or leaf.host not in network.names for leaf in uri.leaves()):
        return f"a client with the address {text!r}: brokers of the network are to be listed by name"
    more = sorted({name for part in (uri, *uri.leaves()) for name in part.parameters} - _ADDRESS)
    return f"{', '.join(more)} of a client's address, which STOMP does not have" if more else ""


def _selects(network: Network) -> bool:
    """Whether brokers themselves select messages, by filters of composite destinations."""
    return any("selector" in str(broker.composites) for broker in network.brokers)


def _texts(step: JsonObject, *, numbers: bool) -> bool:
    """Whether a step's properties are texts, or *numbers* too.

    ActiveMQ reads texts as numbers where the selector of a STOMP client compares them with one.
    """
    kinds = (str, int, float) if numbers else (str,)
    values = step.get("properties", {}).values()
    flat = [one for v in values for one in (v if isinstance(v, list) else [v])]
    return all(isinstance(one, kinds) and not isinstance(one, bool) for one in flat)
