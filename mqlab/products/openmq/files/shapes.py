"""The shape of lab files of Open Message Queue, made of option rows and nouns."""

from __future__ import annotations

from functools import cache

from mqlab.files.shapes import about, actions, rows
from mqlab.spec.openmq import MODELS
from mqlab.spec.openmq.options import OPTIONS
from mqlab.spec.shape import NAME, SCALAR, TRUTH, ListOf, OneOf, Record, choice

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "time_limit_seconds", "fresh",
         "recorded")  # fmt: skip


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    options = Record(rows(OPTIONS["broker"].values(), by_guide=True), more=SCALAR)
    broker = Record({"name": NAME, "options": options, "not_listed": TRUTH}, (("name",),))
    cluster = Record({"model": choice(MODELS), "master": NAME, "options": options}, (("model",),))
    return Record(
        {
            **about(*ABOUT, "product", "version"),
            "cluster": cluster,
            "brokers": ListOf(OneOf((NAME, broker)), "broker", most=10_000),
            "actions": actions("openmq"),
        },
        (("cluster",),),
    )
