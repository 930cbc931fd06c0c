"""The script of a cluster in the words of recordings, as those take it who play it on real brokers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields

from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import DESTINATIONS, bare
from mqlab.spec.noun import as_usual
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.words import BY_NOUN, IMQ, Keys, Row, makes_temporary, options_of, word_of
from mqlab.spec.values import Destination, duration

ALWAYS = {"size", "count", "no_failover"}  # told even where they are as usual


def steps_of(script: Iterable[a.Action], brokers: Collection[str]) -> Iterator[JsonDict]:
    """Yield the steps that the actions of a cluster's script are; *brokers* are its names."""
    producers = set[str]()
    for action in script:
        inner = bare(action)
        if isinstance(inner, o.OpenProducer):
            producers.add(inner.name)
        called = [
            (key, getattr(action, name, None))
            for key, name in (("id", "id"), ("limit_ms", "limit"), ("lead_ms", "lead"))
        ]
        more = {key: value if key == "id" else _ms(value) for key, value in called if value is not None}
        if isinstance(action, o.Call) and action.in_background:
            more["in_background"] = True
        more |= {"at": action.at} if action.at is not None else {}
        yield {"do": word_of(inner), **_keys(inner, brokers, producers), **more}


def _keys(action: a.Action, brokers: Collection[str], producers: Collection[str]) -> Keys:
    row = BY_NOUN[type(action)]
    if isinstance(action, (f.Cut, f.Heal)):
        return {"between": [action.one, action.other]}
    keys: Keys = dict(row.constant)
    always = ALWAYS & set(row.keys)
    fields_of = {name: key for key, name in row.keys.items()}
    for known in fields(action):
        value = getattr(action, known.name)
        if known.name in DESTINATIONS and isinstance(value, Destination):
            kind = value.kind.removeprefix("temp-")
            if makes_temporary(action):
                keys |= {"kind": kind} if kind != "queue" else {}
            else:
                # The recorder finds a temporary topic, too, by this key (Recordings rule 6.3).
                keys |= {"queue": f"temp:{value.name}"} if value.is_temporary else {kind: value.name}
        elif known.name == "options":
            keys |= _written_options(row, options_of(action))
        elif known.name == "who" and value is not None:
            keys[getattr(action, "kind", None) or _kind_of(value, brokers, producers)] = value
        elif known.name in fields_of and (known.name in always or not as_usual(known, value)):
            key = fields_of[known.name]
            keys[key] = _ms(value) if key.endswith("ms") else _plain(value)
    if getattr(action, "others", ()):
        keys["broker"] = [keys["broker"], *action.others]  # type: ignore[attr-defined]
    if isinstance(action, a.Producer) and action.name == f"P.{action.on}":
        del keys["name"]
    return keys


def _written_options(row: Row, options: Keys) -> Keys:
    if row.nested:
        return {"options": options} if options or row.step == "update_destination" else {}
    client = {name: value for name, value in options.items() if name.startswith(IMQ)}
    return {**({"client": client} if client else {}), **{n: v for n, v in options.items() if n not in client}}


def _kind_of(name: str, brokers: Collection[str], producers: Collection[str]) -> str:
    return "broker" if name in brokers else "producer" if name in producers else "consumer"


def _ms(value: int | float | str) -> int | float:
    ms = duration(value) / 1000
    return int(ms) if ms == int(ms) else ms


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
