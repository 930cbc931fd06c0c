"""What a broker is given that its options' rows cannot judge: policies, composite queues, users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.json_types import JsonObject
from mqlab.spec.security import Security
from mqlab.spec.shape import NAME, TEXT, TRUTH, ListOf, OneOf, Record, number
from mqlab.spec.values import Destination

COMPOSITE = Record(
    {
        "name": NAME,
        "forward_to": ListOf(OneOf((NAME, Record({"to": NAME, "selector": TEXT}, (("to",),))))),
        "forward_only": TRUTH,
        "send_when_not_matched": TRUTH,
    },
    (("name",), ("forward_to",)),
)
_PLACE = ListOf(number(0, 1), least=2, most=2)
TEXTS = {"virtual_topics", "users", "authorization"}  # options of texts that are taken apart


def around(name: str, policies: object, composites: object, at: object) -> None:
    """Raise `BadValue` for policies, composite queues or a place that are none."""
    where = f"broker {name!r}"
    if not isinstance(policies, (list, tuple)) or not all(isinstance(one, Mapping) for one in policies):
        told = "expected a list such as [{'queue': 'ORDERS.>', 'memory_limit': '64kb'}]"
        raise BadValue(f"{where}: policies is {shown(policies)}; {told}")
    ListOf(COMPOSITE).check(composites, f"{where}, composites")
    if at is not None:
        _PLACE.check(at, f"{where}, at")


def texts(name: str, given: JsonObject) -> None:
    """Raise `BadValue` or `UnknownName` for virtual topics, users and rights that are none."""
    from mqlab.spec.virtual_topic import VirtualTopic  # its selectors are only loaded when needed

    try:
        for text in given.get("virtual_topics", ()):
            VirtualTopic.of(text)
        Security(given.get("users"), given.get("authorization"))
    except (BadValue, UnknownName) as error:
        raise type(error)(f"broker {name!r}: {error}") from None


def circle(name: str, composites: tuple[JsonObject, ...]) -> None:
    """Raise `BadValue` for composite queues that forward to one another in a circle: it would never end."""
    leads: dict[str, list[str]] = {}
    for composite in composites:
        plain = (
            Destination.parse(to) for to in cast("list[object]", composite["forward_to"]) if isinstance(to, str)
        )
        leads[str(composite["name"])] = [end.name for end in plain if end.is_queue]
    for first in leads:
        reached, coming = set[str](), leads[first]
        while coming:
            reached.update(coming)
            coming = [to for at in coming for to in leads.get(at, ()) if to not in reached]
        if first in reached:
            raise BadValue(
                f"broker {name!r}: composite queue {first!r} forwards to itself in the end; remove it"
            )
