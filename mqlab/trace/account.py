"""The account of a run: every message with the one fate it had, and why."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.errors import UnknownKey, UnknownName, shown
from mqlab.spec.plural import counted
from mqlab.trace.event import Event
from mqlab.trace.fates import FATES, Fate, down_since, failures
from mqlab.trace.grid import TextTable
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.spans import spans

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

Line = list[tuple[int, str, str]]  # (time in us, what, where) of each event of a message
ARRIVALS = (Kind.Received, Kind.Redelivered)
MOST = 6  # spans of numbers that a line of the printed account names


def why_it_waits(event: Event) -> str:
    """Return why a message lies where the last event left it that decided on it there."""
    if event.kind == Kind.Dispatched:
        return f"dispatched to {event.to}, not yet received"
    if event.kind == Kind.Received:
        return f"received by {event.to}, not acknowledged"
    if event.kind == Kind.Forwarded:
        return f"in transit to {event.to}, not yet confirmed"
    if event.rule != Reason.none:
        return event.rule.sentence
    if event.kind == Kind.Returned:
        return "it was returned, and no consumer has received it since"
    return "no consumer has received it there"


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one message.

    `row` is the event that decided it, `rule` that event's, `why` the same in words (empty where nothing
    is to be said, as of a message that was consumed); `broker` and `destination` are where it happened.
    ``entry["fate"]`` is the same as ``entry.fate``.
    """

    message: int
    fate: Fate
    row: int
    rule: Reason
    why: str
    broker: str | None
    destination: str | None
    _trace: Trace = field(repr=False, compare=False)

    @property
    def line(self) -> Line:
        """Its time line: (us, the kind of event, where) of each of its events."""
        names, kinds = self._trace.names["node"], self._trace.column("kind")
        time, broker, to = (self._trace.column(name) for name in ("t", "broker", "to"))
        found = []
        for row in self._trace.rows_of(self.message):
            where = to[row] if kinds[row] in ARRIVALS else broker[row]
            found.append((time[row], Kind(kinds[row]).name, names[where] if where >= 0 else ""))
        return found

    def __getitem__(self, key: str) -> object:
        """Return the attribute of that name."""
        known = ("message", "fate", "row", "rule", "why", "broker", "destination", "line")
        if key not in known:
            raise UnknownKey.of("key", key, known)
        return getattr(self, key)


class Account(TextTable, Mapping[int, Entry]):
    """Message number -> its `Entry`; prints as a table with a line for each fate and reason.

    >>> import mqlab as mq
    >>> print(mq.run("fuse:2.20").account())
    fate      messages  why  which
    consumed        12       1-12
    """

    hints = {"fate": "fate of the messages", "why": "the rule, limit or fault that decided"}

    def __init__(self, trace: Trace) -> None:
        self.trace, self._tally = trace, trace.tally()
        self._down, self._failed = down_since(trace), failures(trace)

    def __len__(self) -> int:
        return len(self._tally.messages)

    def __iter__(self) -> Iterator[int]:
        return iter(self._tally.messages)

    def __getitem__(self, message: int) -> Entry:
        messages = self._tally.messages
        place = bisect_left(messages, message) if isinstance(message, int) else len(messages)
        if place == len(messages) or messages[place] != message:
            count = counted(len(messages), "message")
            raise UnknownKey(f"no message {shown(message)}: the account has {count}, by number")
        return self._entry(message, FATES[self._tally.fates[place]], self._tally.rows[place])

    def _entry(self, message: int, fate: Fate, row: int) -> Entry:
        event = self.trace.event(row)
        rule, why = event.rule, event.rule.sentence
        if fate is Fate.waiting:
            rule, why = event.rule, why_it_waits(event)
            if self.trace.column("broker")[row] in self._down:
                rule, why = Reason.broker_stopped, f"{event.broker} is down; its store holds it"
        elif fate is Fate.consumed:
            why = ""
        elif fate is Fate.cut_off:
            why = "what became of it is outside this part of the run"
        elif fate is Fate.lost and event.kind in (Kind.Stopped, Kind.Crashed, Kind.Interrupted):
            rule, why = Reason.connection_lost, "it was in transit when the connection was lost"
        elif fate is Fate.never_accepted and not why:
            event = self._last_told(message) or event
            row, rule, why = event.row, event.rule, event.rule.sentence
            failed = self._failed.get(message) or ("its send failed" if event.kind == Kind.Failed else "")
            why = why or failed or "no broker accepted it"
        return Entry(message, fate, row, rule, why, event.broker, event.destination, self.trace)

    def _last_told(self, message: int) -> Event | None:
        """Return the last event of a message that has a reason, such as a limit that its sender waits at."""
        rules = self.trace.column("rule")
        told = [row for row in self.trace.rows_of(message) if rules[row]]
        return self.trace.event(told[-1]) if told else None

    def of(self, *fates: Fate | str) -> list[int]:
        """Return the numbers of the messages that had one of these fates, such as ``"lost"``.

        Raises `UnknownName` for what is no fate.
        """
        for fate in fates:
            if fate not in set(FATES):
                raise UnknownName.of("fate", fate, [one.value for one in FATES])
        codes = {FATES.index(Fate(fate)) for fate in fates}
        pairs = zip(self._tally.messages, self._tally.fates, strict=True)
        return [message for message, code in pairs if code in codes]

    def counts(self) -> dict[str, int]:
        """Return fate -> how many messages had it; their sum is how many there are."""
        found = Counter(self._tally.fates)
        return {fate.value: found[code] for code, fate in enumerate(FATES) if found[code]}

    def table(self, without: tuple[Fate, ...] = (), dests: Container[int] | None = None) -> list[list[str]]:
        """Return a line for each fate and reason: how many messages, and which; some fates may be left out.

        With *dests* only what ended in one of these destinations is told, by their places in ``names["dest"]``.
        """
        out = {FATES.index(fate) for fate in without}
        groups: dict[tuple[Fate, str], list[int]] = {}
        kinds, rules = self.trace.column("kind"), self.trace.column("rule")
        seen: dict[tuple[int, ...], tuple[Fate, str]] = {}
        broker, to, dest = (self.trace.column(name) for name in ("broker", "to", "dest"))
        columns = (self._tally.messages, self._tally.fates, self._tally.rows)
        for message, code, row in zip(*columns, strict=True):
            if code in out or not (dests is None or dest[row] in dests):
                continue
            shape = (code, kinds[row], rules[row], broker[row], to[row])
            if shape not in seen or FATES[code] is Fate.never_accepted:
                entry = self._entry(message, FATES[code], row)
                seen[shape] = (entry.fate, entry.why)
            groups.setdefault(seen[shape], []).append(message)
        order = sorted(groups, key=lambda group: FATES.index(group[0]))
        lines = [
            [fate.value, str(len(groups[fate, why])), why, spans(groups[fate, why], MOST)]
            for fate, why in order
        ]
        return [["fate", "messages", "why", "which"], *lines]

    __repr__ = TextTable.__str__
