"""What a message may have as its JMS priority and properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from mqlab.errors import BadValue, shown

# Of the names that JMS reserves: those that a client sets as properties, and what sets a header instead.
SETTABLE = ("JMSXGroupID", "JMSXGroupSeq")
HEADERS = {
    "JMSPriority": "use jms_priority=9",
    "JMSDeliveryMode": "use persistent=False",
    "JMSExpiration": "use time_to_live='10s'",
}

# What selectors of ActiveMQ may ask for besides, as a message has it that was not out yet (ActiveMQ rule 27.8).
NOT_OUT_YET: Mapping[str, object] = {"JMSExpiration": 0, "JMSRedelivered": False, "JMSXDeliveryCount": 1}


def check_headers(where: str, priority: object, properties: object) -> None:
    """Raise `BadValue` for JMS priorities or properties that no message can have."""
    dealt = priority if isinstance(priority, list) else [priority]
    if not dealt or not all(type(one) is int and 0 <= one <= 9 for one in dealt):
        raise BadValue(f"{where}: jms_priority={shown(priority)}; expected 0 to 9, or a list of such")
    if not isinstance(properties, Mapping):
        raise BadValue(f"{where}: properties={shown(properties)}; expected a mapping such as {{'price': 3}}")
    for name, value in properties.items():
        if not isinstance(name, str):
            told = f"key {shown(name)} is not a string; use e.g. {str(name)[:20]!r}"
            raise BadValue(f"{where}, properties: {told}")
        here = f"{where}: property {name!r}"
        if name.startswith("JMS") and name[3:4] != "_" and name not in SETTABLE:
            use = HEADERS.get(name, "choose another name")
            raise BadValue(f"{here}: JMS reserves names that begin with JMS; {use} (JMS 1.1, 3.5)")
        if isinstance(value, list) and not value:
            raise BadValue(f"{here}: the list is empty; write one value or more, which messages have in turn")
        for one in value if isinstance(value, list) else (value,):
            if not isinstance(one, (str, int, float, bool, NoneType)):
                raise BadValue(f"{here} is {shown(one)}; expected a string, number or bool")


def unusual_priorities(priority: int | Sequence[int]) -> set[int]:
    """Return which of a producer's priorities are not the usual one, 4 (JMS 1.1)."""
    return {*([priority] if isinstance(priority, int) else priority)} - {4}


def dealt_one(value: object, place: int) -> Any:
    """Return what of a list of values the message at a *place* of a producer has, or the one value."""
    return value[place % len(value)] if isinstance(value, (list, tuple)) and value else value


def dealt(given: Mapping[str, object], place: int) -> dict[str, object]:
    """Return the properties of the message at a *place*, as `dealt_one` does with each, without its calls."""
    return {
        name: value[place % len(value)] if isinstance(value, (list, tuple)) and value else value
        for name, value in given.items()
    }
