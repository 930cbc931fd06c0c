"""The steps of a lab file <-> actions. One table row per step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, fields
from typing import Any

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec.action import (
    Acknowledge,
    Action,
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Receive,
    RequestReply,
    Restart,
    Resume,
    Rollback,
    Settle,
    Snapshot,
    Start,
    StartConnector,
    Stop,
    StopConnector,
    Wait,
    WaitForSends,
)  # fmt: skip
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.values import Destination

# step -> action and, where they differ, the step's key for a field of the action
STEPS: dict[str, tuple[type[Action], dict[str, str]]] = {
    "start": (Start, {}),
    "start_broker": (Restart, {}),
    "stop_broker": (Stop, {}),
    "start_connector": (StartConnector, {}),
    "stop_connector": (StopConnector, {}),
    "open_consumer": (Consumer, {"name": "consumer", "on": "broker", "delay": "delay_ms"}),
    "receive": (Receive, {}),
    "resume": (Resume, {"who": "consumer"}),
    "pause": (Pause, {"who": "consumer"}),
    "acknowledge": (Acknowledge, {}),
    "commit": (Commit, {}),
    "rollback": (Rollback, {}),
    "close_consumer": (Close, {}),
    "send": (Producer, {"name": "producer", "on": "broker", "sends": "count",
                        "time_to_live": "time_to_live_ms", "every": "interval_ms"}),
    "request_reply": (RequestReply, {"on": "broker", "responder_on": "responder_broker"}),
    "wait": (Wait, {"time": "ms"}),
    "wait_for_sends": (WaitForSends, {}),
    "settle": (Settle, {"quiet": "quiet_ms"}),
    "snapshot": (Snapshot, {}),
}  # fmt: skip
STEP_OF = {action: (step, keys) for step, (action, keys) in STEPS.items()}
DESTINATION = {Consumer: "reads", Producer: "to", RequestReply: "to"}
IGNORED = (
    "wait_for_bridges",
    "for_bridges",
)  # tells the recorder to wait; the lab always comes to rest


def read(items: Sequence[dict[str, Any]]) -> tuple[Action, ...]:
    """Return the actions of a lab file's steps; errors name the step."""
    nameless = [i for i in items if i.get("do") == "send" and "producer" not in i]
    senders = {str(item.get("broker")) for item in nameless}
    actions = []
    for place, item in enumerate(items, start=1):
        step = item.get("do")
        if step not in STEPS:
            raise UnknownName.of("step", step, STEPS, f"step {place}")
        try:
            actions.append(_action(dict(item), alone=len(senders) < 2))
        except (MqlabError, TypeError, ValueError) as error:
            kind = type(error) if isinstance(error, MqlabError) else BadValue
            raise kind(f"step {place} ({step}): {error}") from None
    return tuple(actions)


def _action(item: dict[str, Any], alone: bool) -> Action:
    kind, keys = STEPS[item.pop("do")]
    if isinstance(item.get("broker"), list):  # a failover address: the first, and the others
        item["broker"], *others = item["broker"]
        item["others"] = tuple(others)
    if kind is Producer:
        item.setdefault("producer", "P" if alone else f"P.{item.get('broker')}")
    given: dict[str, Any] = {}
    if kind in DESTINATION:
        given[DESTINATION[kind]] = _destination(item)
    names = {keys.get(f.name, f.name): f.name for f in fields(kind)}
    for key, value in item.items():
        if key in IGNORED:
            continue
        if key not in names:
            raise UnknownName.of("key", key, names)
        given[names[key]] = value
    for f in fields(kind):
        if f.name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise BadValue(f"the key {keys.get(f.name, f.name)!r} is missing")
    make: Callable[..., Action] = kind
    return make(**given)


def _destination(item: dict[str, Any]) -> Destination:
    for key in ("queue", "topic"):
        if key in item:
            return Destination(key, item.pop(key))
    raise BadValue("the destination is missing; write a key 'queue' or 'topic'")


def write(actions: Sequence[Action]) -> list[dict[str, Any]]:
    """Return the steps that `read` makes the same actions of."""
    return [_step(action) for action in actions]


def _step(action: Action) -> dict[str, Any]:
    step, keys = STEP_OF[type(action)]
    item: dict[str, Any] = {"do": step}
    for f in fields(action):
        value = getattr(action, f.name)
        if f.name == DESTINATION.get(type(action)):
            item[value.kind] = value.name
        elif (f.default is MISSING and f.default_factory is MISSING) or value not in (
            f.default, () if f.default_factory is MISSING else f.default_factory()
        ):  # fmt: skip
            item[keys.get(f.name, f.name)] = (
                asdict(value) if isinstance(value, Redelivery) else value
            )
    if item.pop("others", None):
        item["broker"] = [item["broker"], *action.others]  # type: ignore[attr-defined]
    return item
