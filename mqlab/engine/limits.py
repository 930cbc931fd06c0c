"""The limits of a run: events, memory, things that happen without an event."""

from __future__ import annotations

from collections.abc import Callable

from mqlab.engine.clock import Clock
from mqlab.errors import BadValue
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.record import Recorder

LONGEST_REST = 600_000_000  # us that a network has to come to rest
MOST_EVENTS = 100_000_000  # of a run that is given no limit
MOST_MEMORY = 8 << 30  # bytes of what is written down and what is still to happen
LEAST_EVENTS = 1000  # as many things on the clock as go with so many events may always be
EVENT, TURN = 104, 300  # bytes of one event, and of one thing on the clock
TURNS = 20  # things on the clock for each event that may be; a run that writes nothing down ends too


class Limited:
    """What ends a run that becomes too much; `remedy` says what to do where a limit is reached."""

    clock: Clock
    recorder: Recorder
    limit: int | None
    remedy = "let the script end earlier"
    onlooker: Callable[[], None] | None = None  # is called every so many turns

    @property
    def most(self) -> int:
        """How many events the run may have."""
        return MOST_EVENTS if self.limit is None else self.limit

    def check_limit(self) -> None:
        """Raise `BadValue` when more has happened than the limit allows."""
        if self.limit is not None and self.recorder.count > self.limit:
            now = told_time(self.clock.now)
            raise BadValue(f"more than {counted(self.limit, 'event')}, stopped at {now}; {self.remedy}")

    def check_patience(self) -> None:
        """Raise `BadValue` for a run beyond its limit of events, of memory, or of things without events."""
        if self.onlooker is not None:
            self.onlooker()
        turns, count = TURNS * (self.most + LEAST_EVENTS), self.recorder.count
        now = f"stopped at {told_time(self.clock.now)}"
        if count > self.most:
            raise BadValue(f"more than {counted(self.most, 'event')}, {now}; {self.remedy}")
        if self.clock.turn > turns:
            raise BadValue(
                f"{turns} scheduled steps, with only {counted(count, 'event')}; {now}: set until=..."
            )
        kept = count - self.recorder.gone
        if EVENT * kept + TURN * self.clock.waiting > MOST_MEMORY:
            raise BadValue(
                f"more than {MOST_MEMORY >> 30} GiB, {now}: {counted(count, 'event')}, and "
                f"{counted(self.clock.waiting, 'scheduled step')}; let fewer messages be sent"
            )

    def expect(self, messages: int) -> None:
        """Raise `BadValue` for more messages at once than a run may have events."""
        if messages > self.most:
            sent = counted(messages, "message")
            raise BadValue(f"more than {counted(self.most, 'event')} result from {sent}; send fewer")


def ahead(time: int, now: int, what: str) -> int:
    """Return a time (us) that is not over; raises `BadValue` for one that is."""
    if time < now:
        raise BadValue(f"{what} is in the past (now: {told_time(now)}); choose a later time")
    return time
