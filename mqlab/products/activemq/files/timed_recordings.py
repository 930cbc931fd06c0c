"""The recordings' form of networks in time -> a lab file's (Recordings rules 3).

What stands there in objects of its own (`jdbc`, `pure`, `io_exception_handler`, `dead_letter`) are options
of a broker here; each action begins when the calls of the one before have been answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from mqlab.errors import BadValue, MqlabError
from mqlab.files import detect_product, validate
from mqlab.products.activemq.files import lab_file, shapes
from mqlab.spec import Scenario
from mqlab.spec.json_types import JsonDict, JsonObject, JsonValue
from mqlab.spec.steps import KINDS

_CALLS = "connect open_session open_consumer temp_queue send commit rollback recover acknowledge receive_once"
_ENDS = "close_consumer close_client unsubscribe"
# How long (ms) the recorder waits for what a step is about, if that does not say (`Failover.act` and `play`).
_PATIENCE = dict.fromkeys(f"{_CALLS} {_ENDS}".split(), 20_000)
_PATIENCE |= {"receive": 5_000, "wait_received": 10_000, "wait_attempts": 60_000}
RECEIVE_MS = 2000  # that the recorder waits for one message if a step does not say
FOR_EVER_MS = 1_000_000_000
FIRST_DIRECT = 51_001  # the ports of brokers themselves, in the order of their names
# What the recorders take for a step's session, as Client.session of theirs is asked for it.
_IN_SESSION = ("open_session", "open_consumer", "send", "temp_queue", "commit", "rollback", "recover",
               "unsubscribe")  # fmt: skip
_OF_FACTORY = {"use_async_send": "useAsyncSend", "send_timeout_ms": "sendTimeout"}
_LOCK_KEYS = (
    "lock_acquire_sleep_interval_ms",
    "lock_keep_alive_period_ms",
    "use_lock",
    "locker",
    "fail_if_locked",
    "stop_on_error",
    "lease_holder_id",
    "file_system",
    "max_allowable_diff_from_db_time_ms",
    "database_lock_timeout_ms",
)


def read(value: Mapping[str, object], where: str = "lab file") -> Scenario:
    """Return the scenario of a recording's JSON value.

    Raises an error that names file, place and what to write.
    """
    body = validate.body_of(_as_recorder_reads(detect_product.scenario_in(value)), shapes.scenario(), where)
    try:
        version = body.pop("version", None) or value.get("version") or value.get("edition") or "5.17.2"
        body.setdefault("edition", version)
        body["steps"] = _numbered(_with_sessions(_one_by_one(body.get("steps", ()))))
        for key, reader in (("brokers", _broker), ("connectors", dict), ("steps", _step)):
            body[key] = [reader(item) for item in body.get(key, [])]
        body = _filled(_with_endpoints(body), _places(body))
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None
    return lab_file.build({**body, "pace": "calls"}, where)


def _as_recorder_reads(body: object) -> object:
    """Return a scenario with the name that a recorder gives a connector.

    A broker may be its name alone, and a time limit ends a play, not a run.
    """
    if not isinstance(body, Mapping):
        return body
    found = {key: value for key, value in body.items() if key != "time_limit_seconds"}
    if isinstance(found.get("connectors"), list):
        usual = {"name": "link"}
        found["connectors"] = [
            {**usual, **one} if isinstance(one, Mapping) else one for one in found["connectors"]
        ]
    if isinstance(found.get("brokers"), list):
        found["brokers"] = [{"name": one} if isinstance(one, str) else one for one in found["brokers"]]
    return found


def _one_by_one(steps: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Yield steps, with several brokers that are started as a start of each: one waits for the one before."""
    for step in steps:
        if step["do"] != "start_brokers":
            yield step
            continue
        said = {key: value for key, value in step.items() if key != "brokers"}
        yield from ({**said, "do": "start_broker", "broker": name} for name in step.get("brokers", ()))


def _with_sessions(steps: Iterable[JsonObject]) -> list[JsonDict]:
    """Say in each step how its session acknowledges: whoever names it first decides (`Client.session`)."""
    modes: dict[tuple[object, str], str] = {}
    found = []
    for step in steps:
        item = dict(step)
        if item["do"] in _IN_SESSION and "client" in item:
            said = "transacted" if item.pop("transacted", False) else item.pop("ack_mode", "auto")
            mode = modes.setdefault((item["client"], str(item.get("session", ""))), said)
            if said != mode and item["do"] in ("open_consumer", "send"):
                item["own_mode"] = said  # for a session of its own, while that one is made
            if item["do"] == "open_consumer":
                item |= {"ack_mode": mode} if mode != "auto" else {}
                if mode != "client":  # only its messages are acknowledged by the recorder, or by nobody
                    item.pop("acknowledge", None)
            elif item["do"] in ("open_session", "send") and mode == "transacted":
                item["transacted"] = True
            elif item["do"] in ("commit", "rollback", "recover"):
                item.setdefault("session", "session")
        found.append(item)
    return found


def _numbered(steps: list[JsonDict]) -> list[JsonDict]:
    """Give each message the number that the recorders put into it, where a selector asks for it."""
    read = (str(step.get(key, "")) for step in steps for key in ("queue", "topic"))
    selectors = [str(step.get("selector", "")) for step in steps] + [name.partition("?")[2] for name in read]
    if any(re.search(r"\bn\b", text) for text in selectors):
        first = 1
        for step in (step for step in steps if step["do"] == "send"):
            after = first + int(step.get("count", 1))
            step["properties"] = {**(step.get("properties") or {}), "n": list(range(first, after))}
            first = after
    return steps


def _with_endpoints(body: JsonDict) -> JsonDict:
    """Say in each step that ends announcements which one it ends: the recorder ends all."""
    announced = next((str(item.get("name")) for item in body.get("endpoints", ())), "")
    for step in body["steps"]:
        announced = step.get("endpoint", announced) if step.get("do") == "advertise" else announced
        if step.get("do") == "stop_advertising" and announced:
            step.setdefault("endpoint", announced)
    return body


def _places(body: JsonObject) -> dict[str, str]:
    """Return what stands for the places that recordings leave in their addresses.

    ``{A}`` is the address of A, whose host is its name; ``{A.port}`` the port of the broker itself where
    a line lies in front of it.
    """
    named = {key: [item["name"] for item in body.get(key, ())] for key in ("brokers", "endpoints", "lines")}
    own = enumerate([*named["brokers"], *named["endpoints"]])
    ports = {f"{{{name}.port}}": str(FIRST_DIRECT + no) for no, name in own}
    hosts = (name for names in named.values() for name in names)
    return {
        "{group}": "GROUP",
        "{mport}": "6155",
        "{dir}": "DIR",
        **ports,
        **{f"{{{name}}}": f"tcp://{name}:61616" for name in hosts},
    }


def _filled(value: object, places: Mapping[str, str]) -> JsonValue:
    """Return a JSON value with the places in its texts filled in."""
    if isinstance(value, str):
        for place, text in places.items():
            value = value.replace(place, text) if "{" in value else value
        return value
    if isinstance(value, dict):
        return {key: _filled(item, places) for key, item in value.items()}
    return [_filled(item, places) for item in value] if isinstance(value, list) else value


def _broker(given: JsonObject) -> dict[str, object]:
    item = dict(given)
    if "jdbc" in item:
        item |= {"locker": "database", **(item.pop("jdbc") or {}), "store": "jdbc"}
    elif item.get("shared_store"):  # the recorder makes KahaDB of it, whatever else is said
        item["store"] = "kahadb"
    elif item.get("store") == "kahadb":  # nobody else wants it, and no lock that is its own alone is lost
        item = {key: said for key, said in item.items() if key not in _LOCK_KEYS}
    else:
        alone = [key for key in _LOCK_KEYS if key in item]
        if alone:
            told = f"{', '.join(alone)} without a shared_store or jdbc"
            raise BadValue(f"broker {item.get('name')!r}: {told}")
    item |= item.pop("pure", None) or {}
    handler = item.pop("io_exception_handler", None) or {}
    if isinstance(handler, str):
        handler = {"kind": handler}
    item |= {("io_exception_handler" if k == "kind" else k): v for k, v in handler.items()}
    item["policies"] = [_policy(policy) for policy in item.get("policies", ())]
    if "discovery_uri" in item:
        item["transport_connector"] = {
            **item.get("transport_connector", {}),
            "discovery_uri": item.pop("discovery_uri"),
        }
    return item


def _policy(item: JsonObject) -> JsonDict:
    """Return a policy with its dead letter strategy as options.

    A queue with lazyDispatch pages in no more than its consumers have room for, others up to maxPageSize
    (`Queue.doPageInForDispatch` of 5.17.2; nothing else asks for it). What is paged in and not dispatched is in
    no count of a recording, so both are played as one.
    """
    item = {key: said for key, said in item.items() if key != "lazy_dispatch"}
    policy = {"replay_selector_aware" if key == "selector_aware" else key: said for key, said in item.items()}
    dead = policy.pop("dead_letter", None) or {}
    return policy | {shapes.DEAD_LETTER[key]: value for key, value in dead.items()}


def _step(given: JsonObject) -> JsonDict:
    """Return a step with its destination: ``Q`` if it has none, and a blank name set aside."""
    item: JsonDict = dict(given)
    if item.get("do") == "copy_store":  # the data directory of S is called store-S
        item |= {end: str(item[end]).removeprefix("store-") for end in ("from", "to") if end in item}
    if item["do"] in _PATIENCE and not item.get("in_background"):
        item.setdefault("max_ms", _PATIENCE[item["do"]])
    if item["do"] == "snapshot":
        item.setdefault("label", "final")
    if item["do"] == "cut" and item.get("how") == "open":
        item = {"do": "heal", "link": item.get("link")}
    if item["do"] == "wait_ms" and "jitter_ms" in item:  # the recorder draws a part of it: half, as a rule
        item["ms"] = float(item.get("ms", 0)) + float(item.pop("jitter_ms")) / 2
    if item.get("do") == "receive_once":  # the recorder's: below 0 without waiting; 0 is for ever (JMS)
        timeout = float(item.get("timeout_ms", RECEIVE_MS))
        item["timeout_ms"] = max(timeout, 0.0) if timeout else FOR_EVER_MS
    for key in [
        key for key in _OF_FACTORY if key in item
    ]:  # told to the factory after its address, which may say the same
        mark = "&" if "?" in str(item["uri"]) else "?"
        item["uri"] = f"{item['uri']}{mark}jms.{_OF_FACTORY[key]}={str(item.pop(key)).lower()}"
    if item.get("do") not in ("open_consumer", "send"):
        return item
    named = [key for key in KINDS if key in item]
    if not named:
        item["queue"] = "Q"
    elif not str(item[named[0]]).strip():
        item |= {named[0]: "Q", "unnamed": True}
    return item
