"""The shape of lab files of ActiveMQ, made of option rows and nouns; the recordings' forms are within it."""

from __future__ import annotations

from functools import cache

from mqlab.files.shapes import about, actions, rows
from mqlab.spec.around import MODES
from mqlab.spec.broker_checks import COMPOSITE
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import PACES
from mqlab.spec.shape import (
    NAME,
    NAMES_OR_NONE,
    TEXT,
    TRUTH,
    ListOf,
    OneOf,
    Record,
    Shape,
    choice,
    number,
)

URI_KINDS = ("static", "masterslave", "static_failover")
MS = number()
# What recordings say of a dead letter strategy -> the option.
DEAD_LETTER = {
    "kind": "dead_letter_strategy",
    "queue_prefix": "dead_letter_queue_prefix",
    **{name: name for name in ("process_non_persistent", "process_expired")},
}


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
        "actions": actions("activemq"),
    }
    return Record(keys, (("actions",),))


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
            "selector_aware": TRUTH,
            "lazy_dispatch": TRUTH,
            "dead_letter": Record(dict.fromkeys(DEAD_LETTER, OneOf((TEXT, TRUTH)))),
        },
        called="option",
    )
    keys = {
        "name": NAME,
        **options,
        "policies": ListOf(policy, "policy"),
        "composite_queues": ListOf(COMPOSITE, "composite queue"),
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
        "as_written": TRUTH,  # only the broker judges its address, at its start
        **rows(OPTIONS["networkConnector"].values()),
    }
    return Record(keys, (("name",), ("from",)), called="option")
