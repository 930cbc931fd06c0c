"""What was asked of a run and not done: actions, clients that never connected, messages never sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.spec.action import Producer
from mqlab.spec.plural import counted
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

_GROUPS = ("Client", "Session")  # what consumers and producers are on, besides brokers; by name, as no run
# of one product loads the actions of another


@dataclass(frozen=True, slots=True)
class Undone:
    """Something that was asked for and did not happen, and why; empty where the run does not tell."""

    what: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.why}" if self.why else self.what


def undone(trace: Trace) -> tuple[Undone, ...]:
    """Return what a run was asked for and has not done, in the order of the script; empty if all was done."""
    if "scenario" not in trace.header:
        return ()
    rows = [Undone(row["what"], row["why"]) for row in trace.header.get("undone", ())]
    found = [
        *rows,
        *_links(trace),
        *_clients(trace),
        *_messages(trace),
        *map(Undone, trace.header.get("problems", ())),
    ]
    return tuple(dict.fromkeys(found))


def _links(trace: Trace) -> Iterator[Undone]:
    """Yield the links with properties of their own that lead to a name which nothing has."""
    there = set(trace.names["node"])
    for one, other, _ in trace.header.get("links", {}).get("between", ()):
        for name in (one, other):
            if name not in there:
                yield Undone(f"Link {one} - {other}", f"nothing in this run is called {name}")


def _clients(trace: Trace) -> Iterator[Undone]:
    """Yield the consumers that never subscribed, and the clients that were never connected."""
    there = {
        "Consumer": _named(trace, Kind.Subscribed, "frm"),
        **dict.fromkeys(_GROUPS, _named(trace, Kind.Attached, "frm")),
    }
    browsed = _named(trace, Kind.Browsed, "to") | _named(trace, Kind.Received, "to")
    for action in trace.actions:
        kind = type(action).__name__
        if kind not in there or action.name in there[kind] | browsed:  # type: ignore[attr-defined]
            continue
        done = "never subscribed" if kind == "Consumer" else "never connected"
        yield Undone(f"{kind} {action.name}", done)  # type: ignore[attr-defined]


def _named(trace: Trace, kind: Kind, column: str) -> set[str]:
    names, numbers = trace.names["node"], trace.column(column)
    return {names[numbers[row]] for row in trace.rows(kind) if numbers[row] >= 0}


def _messages(trace: Trace) -> Iterator[Undone]:
    """Yield the producers that have sent fewer messages than they were to send."""
    groups = {action.name for action in trace.actions if type(action).__name__ in _GROUPS}  # type: ignore[attr-defined]
    planned, product = Counter[str](), trace.header.get("product", "activemq")
    for action in trace.actions:
        if isinstance(action, Producer):  # Artemis' sessions send under their own name
            planned[action.on if product == "artemis" and action.on in groups else action.name] += action.sends
        elif hasattr(action, "sends"):  # OpenMQ's Send, of a producer that is open
            planned[action.producer] += action.sends  # type: ignore[attr-defined]
    names, sender = trace.names["node"], trace.column("frm")
    sent = Counter(names[sender[row]] for row in trace.rows(Kind.Sent))
    for name, count in planned.items():
        missing = count - sent[name]
        if missing > 0:
            yield Undone(f"Producer {name}", f"{missing} of {counted(count, 'message')} never sent")
