"""The chapters of a run, found by itself: what a viewer would want to jump to, in a few words.

Faults, changes of who serves, reconnections, and the first time that something happens to a message.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mqlab.spec.json_types import JsonObject
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.event import Event

SERVING = ("master", "live")
MOST_ALIKE = 3  # chapters of the same words

_FIRST = {
    Kind.Sent: "first message",
    Kind.Received: "first delivery",
    Kind.Redelivered: "first redelivery",
    Kind.DeadLettered: "first dead letter",
    Kind.Expired: "first expired message",
    Kind.Discarded: "first message dropped",
    Kind.Failed: "first failed call",
}
_OF_BROKER = {
    Kind.Crashed: "crashes",
    Kind.Stopped: "stops",
    Kind.Restarted: "restarts",
    Kind.Suspended: "is suspended",
    Kind.Resumed: "resumes",
    Kind.Locked: "acquires the lock",
    Kind.LockLost: "loses the lock",
    Kind.Voted: "starts a vote",
}


class Chapters:
    """Finds chapters in a run's events, taken in their order."""

    def __init__(self) -> None:
        self._seen: set[Kind] = set()
        self._lost: set[str | None] = set()  # clients without a connection
        self._told: Counter[str] = Counter()
        self._ended = -1  # when (us) a broker last ended: its bridges go with it

    def of(self, event: Event, detail: JsonObject) -> str:
        """Return the chapter that an event begins; empty for none."""
        text = self._words(event, detail)
        self._told[text] += 1
        return text if self._told[text] <= MOST_ALIKE else ""

    def _words(self, event: Event, detail: JsonObject) -> str:
        kind = event.kind
        if kind in _FIRST:
            again = kind in self._seen
            self._seen.add(kind)
            return "" if again else _FIRST[kind]
        if kind in (Kind.Crashed, Kind.Stopped):
            self._ended = event.t
        if kind in _OF_BROKER:
            return f"{event.broker} {_OF_BROKER[kind]}"
        if kind == Kind.RoleChanged and detail.get("role") in SERVING:
            return f"{event.broker} becomes {detail['role']}"
        if kind == Kind.Interrupted:
            self._lost.add(event.frm)
        elif kind == Kind.Attached and event.frm in self._lost:
            self._lost.discard(event.frm)
            return f"{event.frm} reconnects to {event.to}"
        elif kind in (Kind.Partitioned, Kind.Healed):
            both = [end for end in (event.frm, event.to) if end] or [event.broker or "a link"]
            ends = detail.get("between") or detail.get("line") or " and ".join(both)
            return f"{ends} {'cut' if kind == Kind.Partitioned else 'restored'}"
        elif kind == Kind.Intervened:
            return str(detail.get("what", ""))
        elif kind == Kind.Disconnected and event.t != self._ended:
            return f"{event.link} is down"
        return ""
