"""The shape of lab files of ActiveMQ, made of option rows and nouns; the recordings' forms are within it."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache

from mqlab.formats.shapes import COUNT, PROPERTIES, about, rows
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
    Either,
    Many,
    Record,
    Shape,
    Tagged,
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
    "group": Either((TEXT, Many(TEXT, least=1))), "session": TEXT, "client": NAME,
    "at": LENGTH, "at_ms": MS, "wait_for_bridges": TRUTH, "for_bridges": TRUTH,
}  # fmt: skip
_ANY_STEP = ("at", "at_ms", "wait_for_bridges", "for_bridges")
_WAITED: dict[str, Shape] = {
    "brokers": Many(NAME, least=1), "broker": NAME, "role": TEXT, "client": NAME, "to": NAME,
    "consumer": NAME, "count": COUNT, "from": NAME, "up": TRUTH, "label": TEXT, "by": NAME,
}  # fmt: skip
_OWN: dict[str, Shape] = {
    "properties": PROPERTIES, "count": COUNT, "size": whole(1), "prefetch": whole(-1),
    "brokers": Many(NAME, least=1), "broker": NAME, "others": Many(NAME),
    "redelivery": Record({name: shape for name, (shape, _) in fields_of(Redelivery).items()}),
}  # fmt: skip
_DEAD_LETTER = ("kind", "queue_prefix", "process_non_persistent", "process_expired")


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    named = ("name", "theme", "title", "behaviour", "reference_says", "nominal", "guide",
             "guide_says", "product", "version", "edition")  # fmt: skip
    keys = {
        **about(*named),
        "pace": choice(PACES),
        "brokers": Many(_broker(), "broker", most=10_000),
        "connectors": Many(_connector(), "connector"),
        "endpoints": Many(_named(mode=choice(MODES)), "endpoint"),
        "lines": Many(_named(to=NAME), "line"),
        "files": Many(_named(text=TEXT), "file"),
        "steps": Many(_steps(), "step"),
    }
    return Record(keys, (("steps",),))


def _named(**more: Shape) -> Record:
    return Record({"name": NAME, **more}, tuple((key,) for key in ("name", *more) if key != "mode"))


def _broker() -> Record:
    options = rows(OPTIONS["broker"].values())
    handler = Record({"kind": TEXT, "resume_check_sleep_period_ms": MS})
    policy = Record({
        "queue": NAME, "topic": NAME, **rows(OPTIONS["policyEntry"].values()),
        "dead_letter": Record(dict.fromkeys(_DEAD_LETTER, Either((TEXT, TRUTH)))),
    }, called="option")  # fmt: skip
    composite = _named(forward_to=Many(NAME), forward_only=TRUTH)
    composite = Record(composite.keys, (("name",), ("forward_to",)))
    keys = {
        "name": NAME, **options,
        "policies": Many(policy, "policy"), "composite_queues": Many(composite, "composite queue"),
        "at": Many(number(0, 1), least=2, most=2),
        "transport_connector": Record({"name": NAME, **rows(OPTIONS["transportConnector"].values())},
                                      called="option"),
        # as the recordings in time have them
        "discovery_uri": TEXT, "jdbc": Record(options, called="option"),
        "pure": Record(options, called="option"),
        "io_exception_handler": Either((options["io_exception_handler"], handler)),
    }  # fmt: skip
    return Record(keys, (("name",),), called="option")


def _connector() -> Record:
    keys: dict[str, Shape] = {
        "name": NAME, "from": NAME, "to": NAMES_OR_NONE, "uri": TEXT,
        "uri_kind": choice(URI_KINDS),
        "starts_later": TRUTH, **rows(OPTIONS["networkConnector"].values()),
    }  # fmt: skip
    return Record(keys, (("name",), ("from",)), called="option")


def _steps() -> Tagged:
    found = {do: _step(row) for do, row in STEPS.items()}
    for what, keys in WAITS.items():
        known = {key: _WAITED[key] for key in keys} | {"max_ms": MS, "at": LENGTH, "at_ms": MS}
        needed = tuple((key,) for key in keys if (what, key) not in MAY_LACK)
        found[f"wait_{what}"] = Record(known, needed, note=f"Wait until it holds: {what}.")
    return Tagged("do", found, ALIASES)


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
        if known.default is MISSING and known.default_factory is MISSING
        and known.name not in (*given, DESTINATION.get(row.noun))
    )  # fmt: skip
    return Record(keys, needed, note=row.sentence)
