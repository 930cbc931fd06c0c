"""The shape of lab files of Artemis, made of option rows and steps."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from mqlab.files.shapes import Row, about, actions
from mqlab.spec.artemis.broker import ROLES, ROUTING, SPOKEN
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.option import Option
from mqlab.spec.shape import (
    NAME,
    NAMES,
    NAMES_OR_NONE,
    TEXT,
    TRUTH,
    ListOf,
    OneOf,
    Record,
    Shape,
    choice,
    whole,
)

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "time_limit_seconds")
ROLE = (*dict.fromkeys(role for roles in ROLES.values() for role in roles), *SPOKEN)


def _rows(section: str) -> Record:
    return Record(_shapes(OPTIONS[section].values()), called="option")


def _shapes(options: Iterable[Option]) -> dict[str, Shape]:
    """Return the shapes of rows; lists are of names."""
    return {row.name: NAMES_OR_NONE if row.type is list else Row(row) for row in options}


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    queue = Record(
        {
            "name": NAME,
            "routing": choice(ROUTING),
            "address": NAME,
            "on": NAMES,
            "filter": TEXT,
            "purge_on_no_consumers": TRUTH,
            "max_consumers": whole(0),
            "durable": TRUTH,
        },
        (("name",),),
    )
    return Record(
        {
            **about(*ABOUT, "product", "version"),
            "recorded_steps": ListOf(whole(0)),
            "brokers": ListOf(broker(), "broker", most=10_000),
            "queues": ListOf(queue, "queue"),
            "cluster": _rows("cluster-connection"),
            "address_settings": _rows("address-setting"),
            "clients": _rows("url"),
            "actions": actions("artemis"),
        }
    )


@cache
def broker() -> Record:
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
        "cluster": OneOf((TRUTH, _rows("cluster-connection")), "options, or false for none"),
        "core": _rows("core"),
    }
    return Record(keys, (("name",),))
