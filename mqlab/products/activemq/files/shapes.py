"""The shape of lab files of ActiveMQ, made of option rows and nouns; the recordings' forms are within it."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache

from mqlab.files.shapes import COUNT, PROPERTIES, about, rows
from mqlab.spec.network import MODES
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import PACES
from mqlab.spec.shape import (
    LENGTH,
    NAME,
    NAMES,
    NAMES_OR_NONE,
    TEXT,
    TRUTH,
    ListOf,
    OneOf,
    Record,
    Shape,
    TaggedUnion,
    choice,
    fields_of,
    number,
    whole,
)
from mqlab.spec.steps import ALIASES, DESTINATION, KINDS, MAY_LACK, STEPS, WAITS, Row, field_of

URI_KINDS = ("static", "masterslave", "static_failover")
MS = number()
# What a script says of a step besides the fields of its action.
_MORE: dict[str, Shape] = {
    "label": TEXT, "in_background": TRUTH, "max_ms": MS, "wait_ms": MS, "jitter_ms": MS,
    "max_redeliveries": whole(-1), "loop": TRUTH, "transacted": TRUTH, "unnamed": TRUTH,
    "group": OneOf((TEXT, ListOf(TEXT, least=1))), "session": TEXT, "client": NAME,
    "at": LENGTH, "at_ms": MS, "wait_for_bridges": TRUTH, "for_bridges": TRUTH,
}  # fmt: skip
_ANY_STEP = ("at", "at_ms", "wait_for_bridges", "for_bridges")
_WAITED: dict[str, Shape] = {
    "brokers": ListOf(NAME, least=1), "broker": NAME, "role": TEXT, "client": NAME, "to": NAME,
    "consumer": NAME, "count": COUNT, "from": NAME, "up": TRUTH, "label": TEXT, "by": NAME,
}  # fmt: skip
_OWN: dict[str, Shape] = {
    "properties": PROPERTIES, "count": COUNT, "size": whole(1), "prefetch": whole(-1),
    "brokers": ListOf(NAME, least=1), "broker": NAME, "others": ListOf(NAME),
    "redelivery": Record({name: shape for name, (shape, _) in fields_of(Redelivery).items()}),
}  # fmt: skip
_DEAD_LETTER = ("kind", "queue_prefix", "process_non_persistent", "process_expired")


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    named = (
        "name",
        "theme",
        "title",
        "behaviour",
        "reference_says",
        "nominal",
        "guide",
        "guide_says",
        "product",
        "version",
        "edition",
    )
    keys = {
        **about(*named),
        "pace": choice(PACES),
        "brokers": ListOf(_broker(), "broker", most=10_000),
        "connectors": ListOf(_connector(), "connector"),
        "endpoints": ListOf(_named(mode=choice(MODES)), "endpoint"),
        "lines": ListOf(_named(to=NAME), "line"),
        "files": ListOf(_named(text=TEXT), "file"),
        "steps": ListOf(_steps(), "step"),
    }
    return Record(keys, (("steps",),))


def _named(**more: Shape) -> Record:
    return Record({"name": NAME, **more}, tuple((key,) for key in ("name", *more) if key != "mode"))


def _broker() -> Record:
    options = rows(OPTIONS["broker"].values())
    handler = Record({"kind": TEXT, "resume_check_sleep_period_ms": MS})
    policy = Record(
        {
            "queue": NAME,
            "topic": NAME,
            **rows(OPTIONS["policyEntry"].values()),
            "dead_letter": Record(dict.fromkeys(_DEAD_LETTER, OneOf((TEXT, TRUTH)))),
        },
        called="option",
    )
    composite = _named(forward_to=ListOf(NAME), forward_only=TRUTH)
    composite = Record(composite.keys, (("name",), ("forward_to",)))
    keys = {
        "name": NAME,
        **options,
        "policies": ListOf(policy, "policy"),
        "composite_queues": ListOf(composite, "composite queue"),
        "at": ListOf(number(0, 1), least=2, most=2),
        "transport_connector": Record(
            {"name": NAME, **rows(OPTIONS["transportConnector"].values())}, called="option"
        ),
        # as the recordings in time have them
        "discovery_uri": TEXT,
        "jdbc": Record(options, called="option"),
        "pure": Record(options, called="option"),
        "io_exception_handler": OneOf((options["io_exception_handler"], handler)),
    }
    return Record(keys, (("name",),), called="option")


def _connector() -> Record:
    keys: dict[str, Shape] = {
        "name": NAME,
        "from": NAME,
        "to": NAMES_OR_NONE,
        "uri": TEXT,
        "uri_kind": choice(URI_KINDS),
        "starts_later": TRUTH,
        **rows(OPTIONS["networkConnector"].values()),
    }
    return Record(keys, (("name",), ("from",)), called="option")


def _steps() -> TaggedUnion:
    found = {do: _step(row) for do, row in STEPS.items()}
    for what, keys in WAITS.items():
        known = {key: _WAITED[key] for key in keys} | {"max_ms": MS, "at": LENGTH, "at_ms": MS}
        needed = tuple((key,) for key in keys if (what, key) not in MAY_LACK)
        found[f"wait_{what}"] = Record(known, needed, note=f"Wait until it holds: {what}.")
    return TaggedUnion("do", found, ALIASES)


def _step(row: Row) -> Record:
    """Return the shape of one kind of step: what its action's fields are, by the keys of the step."""
    shapes, keys = fields_of(row.noun), {}
    for key, name in field_of(row).items():
        shape = MS if key == "ms" or key.endswith("_ms") else _OWN.get(key, shapes[name][0])
        keys[key] = NAMES if name == "on" and key == "broker" else shape
    keys |= {key: _MORE[key] for key in (*row.more, *_ANY_STEP)}
    if row.noun in DESTINATION:
        keys |= dict.fromkeys(KINDS, TEXT)
    given = ("sends", "name") if row.noun.__name__ == "Producer" else ()
    needed = tuple(
        tuple(key for key, name in field_of(row).items() if name == known.name)
        for known in fields(row.noun)
        if known.default is MISSING
        and known.default_factory is MISSING
        and known.name not in (*given, DESTINATION.get(row.noun))
    )
    return Record(keys, needed, note=row.sentence)
