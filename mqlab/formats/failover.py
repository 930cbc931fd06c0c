"""Timed scenarios <-> JSON, in the `scenario` form of the recordings of failover in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.formats.steps import STEPS as PLAIN_STEPS
from mqlab.spec.fault import (
    STEPS,
    ClusterUpdates,
    Connector,
    Endpoint,
    Locker,
    Member,
    Pure,
    Step,
    TimedScenario,
)
from mqlab.spec.rows import OPTIONS

SPEC, SCENARIOS = "fault", "timed"  # the modules of its values and of its figures
ABOUT = ("name", "theme", "title", "behaviour", "reference_says", "nominal", "guide", "guide_says")
KNOWN = (*ABOUT, "brokers", "connectors", "lines", "endpoints", "files", "steps", "version", "product",
         "edition")  # fmt: skip
EDITION_VERSIONS = {"5.5": "5.5.1", "5.17": "5.17.2", "5.18": "5.18.7", "6.1": "6.1.8"}

# What a step of the timed form has and the same step of the plain form has not.
_TIMED_KEYS = {"client", "wait", "wait_ms", "at_ms", "in_background", "max_ms", "session"}
_LOCK_KEYS = {"lock_acquire_sleep_interval_ms": "acquire_sleep", "use_lock": "use_lock",
              "lock_keep_alive_period_ms": "keep_alive", "fail_if_locked": "fail_if_locked",
              "stop_on_error": "stop_on_error", "lease_holder_id": "holder",
              "max_allowable_diff_from_db_time_ms": "max_diff", "locker": "kind",
              "database_lock_timeout_ms": "query_timeout", "file_system": "file_system"}  # fmt: skip
_UPDATE_KEYS = {"update_cluster_clients": "clients", "rebalance_cluster_clients": "rebalance",
                "update_cluster_clients_on_remove": "on_remove",
                "update_cluster_filter": "filter"}  # fmt: skip
_PURE_KEYS = {"wait_for_slave": "wait_for_slave",
              "wait_for_slave_timeout_ms": "wait_for_slave_timeout",
              "shutdown_on_slave_failure": "shutdown_on_slave_failure",
              "shutdown_on_master_failure": "shutdown_on_master_failure"}  # fmt: skip
_PLAIN_KEYS = {"name": "name", "broker_name": "broker_name", "process": "process", "link": "link",
               "store": "store", "restart_allowed": "restart_allowed", "host": "host",
               "clock_offset_seconds": "clock_offset", "discovery_uri": "discovery"}  # fmt: skip
_DEAD_LETTER = {"kind": "dead_letter_strategy", "queue_prefix": "dead_letter_queue_prefix",
                "process_non_persistent": "process_non_persistent",
                "process_expired": "process_expired"}  # fmt: skip
_NESTED = ("policies", "shared_store", "jdbc", "io_exception_handler", "transport_connector", "pure_slave_of",
           "pure")  # fmt: skip
_CONNECTOR_KEYS = {"name": "name", "from": "home", "uri": "uri"}
_BROKER_OPTIONS = [name for name in OPTIONS["broker"] if name not in _PLAIN_KEYS]


def claims(body: Mapping[str, Any]) -> bool:
    """Whether a scenario object is of the timed form: it has listeners, files or timed steps."""
    if body.get("product", "activemq") != "activemq" or "cluster" in body:
        return False  # of another product: only those write down a cluster
    if "endpoints" in body or "files" in body:
        return True
    steps = [step for step in body.get("steps") or () if isinstance(step, dict)]
    names = [step.get("do") for step in steps]
    if any(name in STEPS and name not in PLAIN_STEPS for name in names):
        return True
    return any(_TIMED_KEYS & set(step) for step in steps if step.get("do") != "send") or any(
        "client" in step for step in steps
    )


def read(value: Mapping[str, Any], where: str = "lab file") -> TimedScenario:
    """Return the timed scenario of a lab file's JSON value.

    Raises an error that names file, place and what to write.
    """
    body = value.get("scenario", value)
    try:
        _known("", body, KNOWN)
        files = body.get("files", [])
        version = body.get("version") or value.get("version") or "5.17.2"
        if "edition" in body:
            version = EDITION_VERSIONS.get(str(body["edition"]), str(body["edition"]))
        return TimedScenario(
            members=tuple(_member(item) for item in _objects(body, "brokers")),
            connectors=tuple(_connector(item) for item in _objects(body, "connectors")),
            endpoints=tuple(
                Endpoint(**_renamed("endpoint", item, {"name": "name", "mode": "mode"}))
                for item in _objects(body, "endpoints")
            ),
            files={str(item["name"]): str(item["text"]) for item in files},
            lines={str(item["name"]): str(item["to"]) for item in body.get("lines", [])},
            steps=tuple(_step(no, item) for no, item in enumerate(_objects(body, "steps"))),
            version=version,
            about={key: body[key] for key in ABOUT if key in body},
        )
    except BadFile:
        raise
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None
    except (TypeError, KeyError) as error:
        raise BadValue(f"{where}: {error}") from None


def _known(where: str, given: Mapping[str, Any], known: Any) -> None:
    for key in given:
        if key not in known:
            raise UnknownName.of("key", key, sorted(known), where)


def _objects(body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = body.get(key, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadValue(f"key {key!r} must be a list of objects")
    return items


def _renamed(where: str, item: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    _known(where, item, names)
    return {names[key]: value for key, value in item.items() if value is not None}


def _connector(item: Mapping[str, Any]) -> Connector:
    where = f"connector {item.get('name')!r}"
    _known(where, item, (*_CONNECTOR_KEYS, *OPTIONS["networkConnector"]))
    for key in _CONNECTOR_KEYS:
        if not isinstance(item.get(key), str):
            raise BadValue(f"{where}: key {key!r} is missing or not a text")
    options = {key: value for key, value in item.items() if key not in _CONNECTOR_KEYS}
    return Connector(**{f: item[key] for key, f in _CONNECTOR_KEYS.items()}, options=options)


def _member(item: dict[str, Any]) -> Member:
    where = f"broker {item.get('name')!r}"
    _known(where, item, (*_PLAIN_KEYS, *_NESTED, *_LOCK_KEYS, *_BROKER_OPTIONS))
    given = {_PLAIN_KEYS[key]: value for key, value in item.items() if key in _PLAIN_KEYS}
    pure = _renamed(where, item.get("pure") or {}, _PURE_KEYS)
    if item.get("pure_slave_of"):
        pure["slave_of"] = item["pure_slave_of"]
    handler = item.get("io_exception_handler") or {}
    _known(where, handler, ("kind", "resume_check_sleep_period_ms"))
    resume = handler.get("resume_check_sleep_period_ms", 5000)
    return Member(
        **given,
        options={key: item[key] for key in _BROKER_OPTIONS if key in item and key not in _NESTED},
        policies=tuple(_policy(policy, where) for policy in item.get("policies", ())),
        locker=_locker(where, item),
        updates=ClusterUpdates(**_renamed(where, item.get("transport_connector") or {},
                                          _UPDATE_KEYS)),
        pure=Pure(**pure),
        io_resume=resume if handler.get("kind") == "lease" else None,
    )  # fmt: skip


def _policy(item: dict[str, Any], where: str) -> dict[str, Any]:
    """Return a policy with its dead letter strategy as options."""
    policy = dict(item)
    dead = policy.pop("dead_letter", None) or {}
    _known(f"{where}, dead_letter", dead, _DEAD_LETTER)
    return policy | {_DEAD_LETTER[key]: value for key, value in dead.items()}


def _locker(where: str, item: Mapping[str, Any]) -> Locker | None:
    own = {key: value for key, value in item.items() if key in _LOCK_KEYS}
    if item.get("shared_store"):
        return Locker(store=str(item["shared_store"]),
                      **{"kind": "file", **_renamed(where, own, _LOCK_KEYS)})  # fmt: skip
    if "jdbc" in item:
        given = _renamed(where, {**own, **(item["jdbc"] or {})}, _LOCK_KEYS)
        return Locker(store="database", **{"kind": "database", **given})
    if own:
        raise BadValue(f"{where}: {', '.join(own)} without a shared_store or jdbc")
    return None


def _step(no: int, item: Mapping[str, Any]) -> Step:
    keys = {key: value for key, value in item.items() if key not in ("do", "at_ms")}
    try:
        return Step(str(item.get("do")), keys, item.get("at_ms"))
    except MqlabError as error:
        raise type(error)(f"step {no}: {error}") from None


def write(scenario: TimedScenario) -> dict[str, Any]:
    """Return the JSON value of a timed scenario: reading it again gives an equal one."""
    body: dict[str, Any] = dict(scenario.about)
    if scenario.version != "5.17.2":
        body["version"] = scenario.version
    body["brokers"] = [_write_member(member) for member in scenario.members]
    for key, items in (
        ("connectors", [{**_write(c, _CONNECTOR_KEYS), **c.options} for c in scenario.connectors]),
        ("lines", [{"name": name, "to": broker} for name, broker in scenario.lines.items()]),
        ("endpoints", [{"name": e.name, "mode": e.mode} for e in scenario.endpoints]),
        ("files", [{"name": n, "text": t} for n, t in scenario.files.items()]),
    ):
        if items:
            body[key] = items
    body["steps"] = [
        {"do": s.do, **s.keys, **({} if s.at is None else {"at_ms": s.at})} for s in scenario.steps
    ]
    return body


def _write(value: Any, names: Mapping[str, str], plain: Any = None) -> dict[str, Any]:
    found = {}
    for key, name in names.items():
        held = getattr(value, name)
        if plain is None or held != getattr(plain, name):
            found[key] = held
    return found


def _write_member(member: Member) -> dict[str, Any]:
    item = {"name": member.name, **_write(member, _PLAIN_KEYS, Member(name=member.name))}
    item |= member.options
    if member.policies:
        item["policies"] = [dict(policy) for policy in member.policies]
    locker = member.locker
    if locker is not None:
        rows = _write(locker, _LOCK_KEYS, Locker(kind="file", store=locker.store))
        if locker.kind == "file":
            item |= {"shared_store": locker.store, **rows}
        else:
            item["jdbc"] = {**rows, "locker": locker.kind}
    if member.updates != ClusterUpdates():
        item["transport_connector"] = _write(member.updates, _UPDATE_KEYS, ClusterUpdates())
    if member.pure.slave_of:
        item["pure_slave_of"] = member.pure.slave_of
    pure = _write(member.pure, _PURE_KEYS, Pure())
    if pure:
        item["pure"] = pure
    if member.io_resume is not None:
        item["io_exception_handler"] = {"kind": "lease",
                                        "resume_check_sleep_period_ms": member.io_resume}  # fmt: skip
    return item


from mqlab.formats.timing import differences as differences  # noqa: E402
