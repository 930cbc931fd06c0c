"""The shape of lab files of Artemis, made of option rows and steps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from mqlab.files.shapes import COUNT, PROPERTIES, Row, about, sentence
from mqlab.spec.artemis.broker import ROLES, ROUTING
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.artemis.steps import STEPS
from mqlab.spec.artemis.words import WORDS
from mqlab.spec.option import Option
from mqlab.spec.shape import (
    LENGTH,
    NAME,
    NAMES,
    NAMES_OR_NONE,
    TEXT,
    TRUTH,
    ListOf,
    Record,
    Shape,
    TaggedUnion,
    choice,
    number,
    whole,
)

MS = number()
SPOKEN = {"primary": "master", "backup": "slave"}  # what later versions call the roles
ROLE = (*dict.fromkeys(role for roles in ROLES.values() for role in roles), *SPOKEN)


def _rows(section: str) -> Record:
    return Record(_shapes(OPTIONS[section].values()), called="option")


def _shapes(options: Iterable[Option]) -> dict[str, Shape]:
    """Return the shapes of rows; lists are of names."""
    return {row.name: NAMES_OR_NONE if row.type is list else Row(row) for row in options}


# Each key of a step, whatever the step.
_KEYS: dict[str, Shape] = {
    **dict.fromkeys(("consumer", "producer", "client", "client_id", "durable_name", "name", "queue",
                     "topic"), NAME),
    **dict.fromkeys(("role", "act", "ack_mode", "label", "selector"), TEXT),
    **dict.fromkeys(("wait", "failover", "silent", "answers", "receiving", "acknowledge", "transacted",
                     "xa", "persistent", "in_background", "topology"), TRUTH),
    "broker": NAMES, "brokers": NAMES, "isolate": NAMES, "count": COUNT, "times": COUNT,
    "between": ListOf(NAMES, least=2, most=2), "size": whole(0), "bytes_per_second": whole(1),
    "properties": PROPERTIES, "at": LENGTH, "url": _rows("url"),
}  # fmt: skip


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    queue = Record({"name": NAME, "routing": choice(ROUTING), "address": NAME, "on": NAMES}, (("name",),))
    return Record(
        {
            **about("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "product", "version"),
            "brokers": ListOf(_broker(), "broker", most=10_000),
            "queues": ListOf(queue, "queue"),
            "cluster": _rows("cluster-connection"),
            "address_settings": _rows("address-setting"),
            "clients": _rows("url"),
            "steps": ListOf(TaggedUnion("do", {do: _step(do) for do in STEPS}), "step"),
        }
    )


def _broker() -> Record:
    """Return the shape of a broker: its policy with a role, and what is written below them."""
    halves = {"master", "slave", "scale_down"}
    plain = _shapes(row for name, row in ELEMENTS.items() if name not in halves)
    down = _rows("scale-down")
    half = Record({**plain, "scale_down": down}, called="element")
    policy = {
        "policy": choice(ROLES),
        "role": choice(ROLE),
        **plain,
        "scale_down": down,
        "master": half,
        "slave": half,
    }
    keys = {
        "name": NAME,
        **_rows("broker").keys,
        "ha": Record(policy, (("policy",),), called="element"),
        "cluster": _rows("cluster-connection"),
        "core": _rows("core"),
    }
    return Record(keys, (("name",),))


def _step(do: str) -> Record:
    needed, more = STEPS[do]
    given = [key.split("|") for key in needed.split()]
    names = [*(key for group in given for key in group), *more.split(), "at"]
    known = {**_KEYS, "with": Record({**_broker().keys})}
    keys = {key: MS if key == "ms" or key.endswith("_ms") else known[key] for key in names}
    noun = next((word.action for word in WORDS if word.do == do), None)
    return Record(keys, tuple(map(tuple, given)), note=sentence(noun) if noun else "")
