"""Artemis scenarios <-> JSON (conformance/artemis/README.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec.artemis import HaScenario
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.artemis.steps import STEPS
from mqlab.spec.step import Step

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs")
KNOWN = (
    *ABOUT,
    "version",
    "product",
    "brokers",
    "queues",
    "cluster",
    "address_settings",
    "clients",
    "steps",
)
BROKER = (
    "name",
    "ha",
    "shared_store",
    "cluster",
    "core",
    "cluster_password",
    "in_vm_connector",
    "in_vm_id",
)
SPOKEN = {"primary": "master", "backup": "slave"}  # what later versions call the roles
QUEUE = ("name", "routing", "address", "on")

Json = dict[str, Any]  # what is written
Given = Mapping[str, Any]  # what is read
Test = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _are_names(value: object) -> bool:
    return _is_text(value) or (isinstance(value, list | tuple) and all(map(_is_text, value)))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# What is written under which key, wherever it stands: a test, its words, the keys.
_KINDS: tuple[tuple[Test, str, str], ...] = (
    (
        _is_text,
        "a text",
        "name policy role do consumer producer client label selector durable_name "
        "client_id act ack_mode routing address queue topic group_name cluster_name shared_store "
        "discovery_group_ref in_vm_connector message_load_balancing cluster_password",
    ),
    (_are_names, "a name or a list of names", "broker brokers isolate on connectors excludes"),
    (lambda v: v is None or _are_names(v), "a list of names", "to"),
    (
        lambda v: isinstance(v, list | tuple) and len(v) == 2 and all(map(_are_names, v)),
        "two sides, each a name or a list of names",
        "between",
    ),
    (
        lambda v: isinstance(v, bool),
        "true or false",
        "wait failover silent answers receiving "
        "acknowledge transacted xa persistent in_background topology enabled discovery "
        "allow_direct_connections_only auto_delete_queues",
    ),
    (
        _is_whole,
        "a whole number",
        "count bytes_per_second size times max_hops in_vm_id "
        "network_check_period network_check_timeout connection_ttl check_period call_timeout "
        "retry_interval max_retry_interval reconnect_attempts initial_connect_attempts redistribution_delay "
        "confirmation_window_size client_failure_check_period",
    ),
    (
        lambda v: _is_whole(v) or isinstance(v, float),
        "a number",
        "ms timeout_ms quiet_ms wait_ms "
        "time_limit_ms interval_ms delivery_delay_ms retry_interval_multiplier",
    ),
    (
        lambda v: isinstance(v, Mapping),
        "an object",
        "cluster core url with properties master slave scale_down address_settings clients",
    ),
)
_KIND = {key: (test, words) for test, words, keys in _KINDS for key in keys.split()}
_INNER = (
    "cluster",
    "core",
    "url",
    "with",
    "master",
    "slave",
    "scale_down",
    "address_settings",
    "clients",
    "ha",
)


def _typed(where: str, item: Given) -> None:
    """Raise `BadValue` for what has another form than its key asks for."""
    for key, value in item.items():
        test, words = _KIND.get(key, (None, ""))
        if test is not None and not test(value):
            raise BadValue(f"{where}: {key} is {value!r}; write {words}")
        if key in _INNER and isinstance(value, Mapping):
            _typed(f"{where}, {key}", value)


def claims(body: Given) -> bool:
    """Whether a scenario object is one of Artemis: it says so, lists queues, or gives a broker an HA policy."""
    if "product" in body or "steps" not in body:
        return body.get("product") == "artemis"
    brokers = body.get("brokers")
    rows = brokers if isinstance(brokers, list) else []
    return "queues" in body or any(isinstance(row, Mapping) and "ha" in row for row in rows)


def read(value: Given, where: str = "lab file") -> HaScenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = value.get("scenario", value)
    try:
        for key in body:
            if key not in KNOWN:
                raise UnknownName.of("key", key, KNOWN)
        lists = {key: body.get(key, []) for key in ("brokers", "queues", "steps")}
        for key, items in lists.items():
            if not isinstance(items, list):
                raise BadValue(f"{key!r} is {items!r}; write a list of objects")
            for no, item in enumerate(items, 1):
                if isinstance(item, Mapping):
                    _typed(f"{key} {no}", item)
                elif key == "queues":
                    raise BadValue(f"queues {no}: {item!r}; write an object with the key 'name'")
        _typed("scenario", {key: it for key, it in body.items() if key not in lists})
        version = value.get("observed", {}).get("version") or body.get("version") or "2.5"
        return HaScenario(
            brokers=tuple(broker(item) for item in body.get("brokers", ())),
            queues=tuple(_queue(item) for item in body.get("queues", ())),
            cluster=dict(body.get("cluster", {})),
            addresses=dict(body.get("address_settings", {})),
            clients=dict(body.get("clients", {})),
            steps=tuple(_step(no, item) for no, item in enumerate(body.get("steps", ()))),
            about={key: body[key] for key in ABOUT if key in body},
            version=".".join(str(version).split(".")[:2]),
        )
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def broker(item: object) -> Broker:
    """Return one broker of the JSON form."""
    if not isinstance(item, Mapping) or "name" not in item:
        raise BadValue(f"brokers: {item!r}; write an object with the key 'name'")
    for key in item:
        if key not in BROKER:
            raise UnknownName.of("key", key, BROKER, f"broker {item['name']!r}")
    policy = item.get("ha") or {"policy": "live_only"}
    if not isinstance(policy, Mapping) or "policy" not in policy:
        raise BadValue(f"broker {item['name']!r}: ha is {policy!r}; write an object with 'policy'")
    named = str(policy.get("role", "live" if policy["policy"] == "live_only" else "master"))
    role = SPOKEN.get(named, named)
    elements = {key: it for key, it in policy.items() if key not in ("policy", "role")}
    keys = {key: it for key, it in item.items() if key not in ("name", "ha")}
    return Broker(item["name"], policy["policy"], role, elements, keys)


def _queue(item: Given) -> AddressQueue:
    for key in item:
        if key not in QUEUE:
            raise UnknownName.of("key", key, QUEUE, "queues")
    if "name" not in item:
        raise BadValue(f"queues: {dict(item)}; write an object with the key 'name'")
    on = item.get("on")
    names = (on,) if isinstance(on, str) else on if on is None else tuple(on)
    return AddressQueue(**{**item, "on": names})


def _written_queue(queue: AddressQueue) -> Json:
    found = {"name": queue.name, "routing": queue.routing, "address": queue.address}
    given = {key: it for key, it in found.items() if it not in (None, "anycast")}
    return given if queue.on is None else {**given, "on": list(queue.on)}


def _step(no: int, item: object) -> Step:
    if not isinstance(item, Mapping) or item.get("do") not in STEPS:
        given = item.get("do") if isinstance(item, Mapping) else item
        raise UnknownName.of("step", given, STEPS, f"step {no}")
    return Step(item["do"], {key: value for key, value in item.items() if key != "do"})


def write(scenario: HaScenario) -> Json:
    """Return the JSON value; reading it again gives an equal scenario."""
    found: Json = {
        **scenario.about,
        "product": "artemis",
        "version": scenario.version,
        "brokers": [_written(one) for one in scenario.brokers],
        "queues": [_written_queue(queue) for queue in scenario.queues],
    }
    for key, value in (
        ("cluster", scenario.cluster),
        ("address_settings", scenario.addresses),
        ("clients", scenario.clients),
    ):
        if value:
            found[key] = dict(value)
    found["steps"] = [{"do": step.do, **step.keys} for step in scenario.steps]
    return found


def _written(one: Broker) -> Json:
    found: Json = {"name": one.name, **one.keys}
    if one.policy != "live_only" or one.elements:
        found["ha"] = {"policy": one.policy, "role": one.role, **one.elements}
        if one.policy == "live_only":
            del found["ha"]["role"]
    return found
