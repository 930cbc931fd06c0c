"""Message groups of queues: who owned the group of a message when it was dispatched, and since when.

A trace has no column for it. Its dispatches are gone through as the broker does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from mqlab.explain import script
from mqlab.spec.values import Duration
from mqlab.trace.event import Event
from mqlab.trace.fates import DOWN
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

GROUP, SEQUENCE = "JMSXGroupID", "JMSXGroupSeq"
SOURCES = {"activemq": "ActiveMQ rule 25.1", "artemis": "Artemis rule 9.11"}
GIVEN = (Kind.Dispatched, Kind.Forwarded)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who owns a message group at a broker: a consumer, or the broker behind a bridge; `row` is since when."""

    group: str
    name: str
    row: int
    since: Duration


def owner(trace: Trace, event: Event) -> Owner | None:
    """Return who owns the group of an event's message at its broker; None for a message without a group.

    Of the dispatch with which the ownership began `row` is the event's own.
    """
    if trace not in _KNOWN:
        _KNOWN[trace] = dict(_owners(trace))
    return _KNOWN[trace].get(event.row)


def holder(trace: Trace, event: Event) -> str:
    """Return that a message waits because its group belongs to somebody who cannot take it; empty otherwise."""
    owned = owner(trace, event) if event.rule in (Reason.group_owner, Reason.prefetch_full) else None
    if owned is None:
        return ""
    full = ", whose prefetch window is full" if event.rule == Reason.prefetch_full else ""
    return f"message group {owned.group} has belonged to {owned.name} since {owned.since}{full}"


_KNOWN: WeakKeyDictionary[Trace, dict[int, Owner]] = WeakKeyDictionary()  # row -> owner, found once for a trace


def _owners(trace: Trace) -> list[tuple[int, Owner]]:
    messages = script.sent_with(trace, GROUP)
    if not messages or trace.product not in SOURCES:
        return []
    in_network = trace.product == "activemq"  # where bridges are subscriptions like others
    given = GIVEN if in_network else (Kind.Dispatched,)
    found = []
    owners: dict[tuple[str | None, str | None, object], tuple[str | None, Owner]] = {}
    for row in trace.rows(*given, Kind.Held, Kind.Unsubscribed, *DOWN):
        event = trace.event(row)
        if event.message is None:  # who leaves owns nothing any more
            who = event.subscription if in_network else event.frm
            gone = who if event.kind == Kind.Unsubscribed else None
            owners = {
                key: one
                for key, one in owners.items()
                if key[0] != event.broker or (gone is not None and one[0] != gone)
            }
        elif event.message in messages and str(event.destination).startswith("queue://"):
            properties = messages[event.message]
            key = event.broker, event.destination, properties[GROUP]
            if event.kind == Kind.Held:
                found += [(row, owners[key][1])] if key in owners else []
                continue
            who = event.subscription if in_network else event.to
            first = in_network and properties.get(SEQUENCE) == 1
            if first or key not in owners or owners[key][0] != who:
                owners[key] = who, Owner(str(properties[GROUP]), str(event.to), row, event.t)
            found.append((row, owners[key][1]))
            if in_network and str(properties.get(SEQUENCE, 1)).startswith("-"):  # it closes its group
                del owners[key]
    return found
