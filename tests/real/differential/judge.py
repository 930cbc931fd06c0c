"""What a recording says of the lab: agreement, and what differs first, without this scenario's names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mqlab import conform
from mqlab.spec.json_types import JsonObject
from tests.real.differential import races

UNJUDGED = "unjudged"  # the plays have nothing in common that could be compared
RACE = "race"  # on a machine with other times the lab agrees (`races`)


@dataclass(frozen=True, slots=True)
class Difference:
    """A scenario in which the lab does something else; `kind` is what differs first, of whichever scenario."""

    name: str
    recording: JsonObject
    kind: str
    details: tuple[str, ...]


def verdict(name: str, recording: JsonObject) -> tuple[str, Difference | None]:
    """Return how a recording compares, as `mqlab conform` says it, and the difference if there is one.

    A play that was ended by its time limit says nothing of what would have come.
    """
    told = [
        text for entry in recording["observed"]["outcomes"] for text in entry["outcome"].get("problems", ())
    ]
    if any(str(text).startswith("time limit") for text in told):
        return UNJUDGED, None
    try:
        found = conform.compare(recording, name)
    except Exception as error:  # a lab that breaks is a finding like others
        details = (f"{type(error).__name__}: {error}",)
        return "cannot run", Difference(name, recording, kind_of(details[0]), details)
    if found.result in ("agree", UNJUDGED):
        return found.result, None
    if found.result == "disagree" and races.is_race(recording):
        return RACE, None
    kind = kind_of(found.details[0]) if found.details else found.result
    return found.result, Difference(name, recording, kind, found.details)


def kind_of(detail: str) -> str:
    """Return what kind of difference a line tells of.

    >>> kind_of('/snapshots/s4/brokers/b2/destinations/queue://Q/messages: real 5, run 2')
    'snapshots brokers destinations queue messages'
    >>> kind_of('/operations/12/result: real "ok", run "refused"')
    'operations result: real ok, run refused'
    """
    place, _, said = detail.partition(": ")
    if not place.startswith("/"):
        return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"|\S*\.json: ", "", detail))[:80].strip()
    place = re.sub(r"(queue|topic)://[^/]*", r"\1", place)
    parts = [part for part in place.split("/") if part and not part.isdigit()]
    named = {
        "consumers": 1,
        "snapshots": 1,
        "brokers": 1,
        "senders": 1,
        "connections": 1,
        "attempts": 1,
        "roles": 1,
    }
    words, skip = [], 0
    for part in parts:
        if skip:
            skip -= 1
            continue
        words.append(part)
        skip = named.get(part, 0)
    answer = re.sub(r"\"|\(and .*", "", said).strip() if words[-1:] in (["result"], ["role"], ["later"]) else ""
    return " ".join(words) + (f": {answer}" if answer else "")


def grouped(differences: Iterable[Difference]) -> list[tuple[str, list[Difference]]]:
    """Return differences by their kind, the most frequent first."""
    found = list(differences)
    kinds = Counter(difference.kind for difference in found)
    return [(kind, [d for d in found if d.kind == kind]) for kind, _ in kinds.most_common()]
