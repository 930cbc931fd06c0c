"""The shape of lab files of Open Message Queue, made of option rows and nouns."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from mqlab.files.shapes import COUNT, PROPERTIES, SCALAR, about, rows, sentence
from mqlab.spec.openmq import ANY_STEP, MODELS, STEPS
from mqlab.spec.openmq_options import OPTIONS
from mqlab.spec.openmq_words import ROWS
from mqlab.spec.shape import (
    LENGTH,
    NAME,
    NAMES,
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

MS = number()
# Keys that no field of an action gives their type.
_OWN: dict[str, Shape] = {
    "id": TEXT, "limit_ms": MS, "rest_ms": MS, "at": LENGTH, "in_background": TRUTH,
    "queue": NAME, "topic": NAME, "kind": TEXT, "brokers": ListOf(NAME, least=1),
    "between": ListOf(NAME, least=2, most=2),
    "count": COUNT, "size": whole(0), "client": Record({}, more=SCALAR),
    "from": NAME, "to": NAME, "target": NAME, "command": TEXT, "transacted": TRUTH, "name": NAME,
    "action": TEXT,
}  # fmt: skip


@cache
def scenario() -> Record:
    """Return the shape of a scenario object."""
    options = Record(rows(OPTIONS["broker"].values(), by_guide=True), more=SCALAR)
    broker = Record({"name": NAME, "options": options, "not_listed": TRUTH}, (("name",),))
    cluster = Record({"model": choice(MODELS), "master": NAME, "options": options}, (("model",),))
    steps = {do: _step(do) for do in STEPS}
    return Record(
        {
            **about(
                "name",
                "theme",
                "title",
                "behaviour",
                "guide",
                "guide_says",
                "runs",
                "time_limit_seconds",
                "product",
                "version",
            ),
            "cluster": cluster,
            "brokers": ListOf(OneOf((NAME, broker)), "broker", most=10_000),
            "steps": ListOf(TaggedUnion("do", steps), "step"),
        },
        (("cluster",),),
    )


def _step(do: str) -> Record:
    """Return the shape of one kind of step, which several actions may be."""
    needed, more = STEPS[do]
    mine = [row for row in ROWS if row.step == do]
    known: dict[str, Shape] = {}
    for row in mine:
        shapes = fields_of(row.noun)
        known |= {key: shapes[name][0] for key, name in row.keys.items()}
        if row.options:
            below = rows(OPTIONS[row.options].values(), by_guide=True)
            known |= {"options": Record(below, more=SCALAR)} if row.nested else below
    if do == "send":
        known["properties"] = PROPERTIES
    several = any(field.name == "others" for row in mine for field in fields(row.noun))
    own = {**_OWN, "broker": NAMES if several else NAME}
    given = [key.split("|") for key in needed.split()]
    names = [*(key for group in given for key in group), *more.split(), *ANY_STEP]
    keys = {key: MS if key == "ms" or key.endswith("_ms") else own.get(key) or known[key] for key in names}
    return Record(keys, tuple(map(tuple, given)), note=sentence(mine[0].noun))
