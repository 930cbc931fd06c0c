"""The parts of a lab file by name, whatever the product: brokers, connectors, and clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.spec.change import Body, Path

OPENED = {
    "Consumer": "consumer",
    "OpenProducer": "producer",
    "Producer": "producer",
    "Client": "client",
    "Session": "client",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a network: its kind, its name, where it stands in the lab file, and whose it is.

    `home` is the broker (or client) that it is on, of a connector the broker that defines it.
    """

    kind: str
    name: str
    path: Path
    home: str = ""
    to: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """Return it as a JSON value."""
        return {"kind": self.kind, "name": self.name, "home": self.home, "to": list(self.to)}


def parts(body: Body) -> list[Part]:
    """Return all parts in the file's order, each name of a kind once."""
    found: dict[tuple[str, str], Part] = {}
    for part in _all(body):
        found.setdefault((part.kind, part.name), part)
    return list(found.values())


def find(body: Body, kind: str, name: str) -> Part | None:
    """Return the part of that kind and name, a connector's also as ``A/ab``; None if there is none."""
    of_kind = [part for part in parts(body) if part.kind == kind]
    return next((p for p in of_kind if name in (p.name, f"{p.home}/{p.name}")), None)


def names(body: Body, kind: str) -> list[str]:
    """Return the names of a kind of parts."""
    return [part.name for part in parts(body) if part.kind == kind]


def _all(body: Body) -> Iterator[Part]:
    for no, broker in enumerate(body.get("brokers", ())):
        name = broker if isinstance(broker, str) else broker["name"]
        yield Part("broker", name, ("brokers", no))
    for no, connector in enumerate(body.get("connectors", ())):
        given = connector.get("to") or ()
        to = (given,) if isinstance(given, str) else tuple(given)
        yield Part("connector", connector["name"], ("connectors", no), connector["from"], to)
    for no, action in enumerate(body.get("actions", ())):
        kind = OPENED.get(action["do"])
        if kind is not None:
            yield Part(kind, action["name"], ("actions", no), action.get("on", ""))


def destination(action: Body) -> tuple[str, str] | None:
    """Return the kind and name of the queue or topic that an action speaks of."""
    for key in ("reads", "to", "destination"):
        kind, separator, name = str(action.get(key, "")).partition("://")
        if separator and kind in ("queue", "topic"):
            return kind, name
    return None


def destinations(body: Body) -> list[tuple[str, str]]:
    """Return every queue and topic that an action speaks of, in order."""
    found = (destination(action) for action in body.get("actions", ()))
    return list(dict.fromkeys(one for one in found if one is not None))


def free_name(taken: list[str], stem: str) -> str:
    """Return a name that nobody has.

    >>> free_name(["C1", "C2"], "C")
    'C3'
    """
    number = 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
