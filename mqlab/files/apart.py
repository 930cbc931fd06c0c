"""Brokers of one name in several files: each is told apart by what its path has and the others' have not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

# Parts of a path that say nothing of a broker.
_PLAIN = ("activemq", "artemis", "broker", "conf", "config", "etc", "props", "resources", "instances", "")


def told_apart(places: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return a name for each broker: its own, or if others have that too one from the path of its file.

    >>> told_apart(["x/server0/broker.xml", "x/server1/broker.xml"], ["localhost", "localhost"])
    ['server0', 'server1']
    """
    names: list[str] = []
    for place, own in zip(places, given, strict=True):
        alike = [other for other, name in zip(places, given, strict=True) if name == own]
        name = own if len(alike) == 1 else _part(place, alike) or own
        number, free = 1, name
        while free in names:
            number += 1
            free = f"{name}-{number}"
        names.append(free)
    return names


def _part(place: str, alike: Collection[str]) -> str | None:
    """Return the innermost part of a path that tells something, and that is not in all paths alike."""
    shared = set.intersection(*(set(_parts(other)) for other in alike)) if len(set(alike)) > 1 else set()
    return next((part for part in _parts(place) if part not in shared), None)


def _parts(place: str) -> list[str]:
    path = PurePosixPath(place.replace("\\", "/"))
    found = [path.stem, *(parent.name for parent in path.parents)]
    return [part for part in found if part not in _PLAIN]
