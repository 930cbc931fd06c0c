"""A step of a recording: an action as it is written down there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.json_types import JsonObject
from mqlab.spec.shape import (
    LENGTH,
    MOST,
    NAME,
    NAMES,
    OBJECT,
    PROPERTIES,
    TEXT,
    TRUTH,
    ListOf,
    OneOf,
    Shape,
    number,
    whole,
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what to do, and its keys."""

    do: str
    keys: JsonObject = field(default_factory=dict, hash=False)


# What a key of a recording's step may be, whatever its product and the step (Recordings rules 2, 3, 6, 7).
_PART = (
    "consumer",
    "producer",
    "name",
    "queue",
    "topic",
    "temp",
    "session",
    "durable_name",
    "subscription_name",
    "client_id",
    "connector",
    "host",
    "shared_store",
    "endpoint",
    "target",
    "responder_broker",
    "requester",
)
_KEYS: Mapping[str, Shape] = {
    **dict.fromkeys(_PART, TEXT),
    **dict.fromkeys(("broker", "brokers", "isolate", "others", "link", "other", "from", "to", "role"), NAMES),
    **dict.fromkeys(("count", "times", "size", "bytes_per_second", "depth"), whole(0, MOST)),
    **dict.fromkeys(("receiving", "durable", "transacted", "xa", "persistent", "in_background", "silent",
                     "wait", "answers", "topology", "failover", "no_failover", "exclusive", "no_local",
                     "browser", "reconnect", "moving", "loop", "unsubscribe", "commit", "commit_each",
                     "stop_at_failure", "one_by_one"), TRUTH),
    **dict.fromkeys(("url", "options", "with", "about"), OBJECT),
    "client": OneOf((NAME, OBJECT), "a name"), "between": ListOf(NAMES, least=2, most=2),
    "properties": OneOf((PROPERTIES, ListOf(NAME))), "selector": TEXT, "at": LENGTH, "id": TEXT, "label": TEXT,
    "redelivery": OBJECT, "uri": TEXT, "prefetch": whole(-1),
}  # fmt: skip


def check_words(step: str, keys: Mapping[str, object], where: str) -> None:
    """Raise `BadValue` for a step of a recording with a value that its key cannot have."""
    for key, value in keys.items():
        shape = _KEYS.get(key) or (number() if key == "ms" or key.endswith("_ms") else None)
        if (step, key) == ("receive_once", "timeout_ms"):  # below 0: without waiting (receiveNoWait)
            shape = number(-1)
        if shape is not None and not (step == "wait_for" and key == "about"):
            shape.check(value, f"{where}, {key}")


def check_keys(step: Step, where: str, table: Mapping[str, tuple[str, str]], always: tuple[str, ...]) -> None:
    """Raise `UnknownName` or `BadValue` for a step with unknown or missing keys.

    *table* has the keys that each step needs (of those joined by a bar one) and may have; *always* may
    stand in any step.
    """
    if step.do not in table:
        raise UnknownName.of("step", step.do, table, where)
    needed, more = table[step.do]
    allowed = (*needed.replace("|", " ").split(), *more.split(), *always)
    for key in step.keys:
        if key not in allowed:
            raise UnknownName.of("key", key, allowed, where)
    for key in needed.split():
        if not any(choice in step.keys for choice in key.split("|")):
            raise BadValue(f"{where}: key {' or '.join(map(repr, key.split('|')))} is missing")
