"""What became of every message: one pass over the events, from which all questions are answered.

A broker holds a message from its `Enqueued` (or `TakenOver`, out of a store) until it lets go of it:
`Acknowledged`, `Discarded`, `Expired` or `DeadLettered`. A topic of ActiveMQ holds nothing itself: there a
subscription holds its own copy, from `Dispatched`, `Forwarded` or `Held` on, until it acknowledges it, ends,
or its broker ends without keeping it (a durable subscription's copies are kept).
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.columns import Columns
    from mqlab.trace.trace import Trace


class Fate(StrEnum):
    """What became of a message: of each of them exactly one is true at the end of a run."""

    consumed = "consumed"  # a consumer received it; a queue's: and no broker holds it any more
    waiting = "waiting"  # a broker holds it: in a queue, for a subscription, in its store
    expired = "expired"  # its time-to-live expired
    dead_lettered = "dead-lettered"  # it lies in a dead letter queue, or went there
    dropped = "dropped"  # by a rule: no subscriber of the topic, a limit, an order of the client ...
    lost = "lost"  # by a fault: a stop or crash without a store, a connection that went ...
    never_accepted = "never accepted"  # no broker took it over: refused, or still on its way
    cut_off = "cut off"  # the trace is a part of its run, and what became of the message lies outside


FATES = tuple(Fate)
CODE = {fate: code for code, fate in enumerate(FATES)}
FAULTS = frozenset(
    (
        Reason.memory_store,
        Reason.store_deleted,
        Reason.bridge_down,
        Reason.connection_lost,
        Reason.broker_stopped,
        Reason.moved_aside,
        Reason.no_routing_type,
    )
)

LETS_GO = (Kind.Acknowledged, Kind.Discarded, Kind.Expired, Kind.DeadLettered)
BURIED = (Kind.Expired, Kind.DeadLettered)
DOWN, UP = (Kind.Stopped, Kind.Crashed), (Kind.Started, Kind.Restarted)
NEVER_HERE = (Kind.Sent, Kind.Forwarded)  # causes of a Discarded that ends nothing a broker held
TAKES = (Kind.Dispatched, Kind.Forwarded, Kind.Held, Kind.Returned, Kind.TakenOver, Kind.Refused)
# What says last why something lies where it lies.
TELLS = (Kind.Held, Kind.Dispatched, Kind.Forwarded, Kind.Received, Kind.Returned, Kind.Refused)


@dataclass(frozen=True, slots=True)
class MessagesAtEnd:
    """What brokers hold at the end, a row each; ordered by broker, destination and message.

    `opened` is the row with which it came there, `told` the last one that says why it still does.
    """

    broker: array[int]
    dest: array[int]
    msg: array[int]
    opened: array[int]
    told: array[int]

    def __len__(self) -> int:
        return len(self.msg)


@dataclass(frozen=True, slots=True)
class FateTable:
    """Every message by number, in order: the code of its `Fate`, and the row that decided it."""

    messages: array[int]
    fates: array[int]
    rows: array[int]
    lying: MessagesAtEnd


@dataclass(frozen=True, slots=True)
class DestinationFacts:
    """What both ways of counting need of a trace.

    `stored[dest]`: whether its messages lie at the broker, not at its subscriptions; `topic[dest]`: whether
    it is one. Messages have numbers up to `last`; what is beyond are advisories.
    """

    stored: list[bool]
    topic: list[bool]
    last: int

    @classmethod
    def of(cls, trace: Columns, last: int) -> DestinationFacts:
        """Return that of a trace whose messages are numbered up to *last*."""
        topic = [name.startswith(("topic://", "temp-topic://")) for name in trace.names["dest"]]
        keeps = trace.product != "activemq"
        return cls([keeps or not one for one in topic], topic, last)


def code_of_gone(trace: Columns, row: int) -> int:
    """Return the code of the fate of a message that *row* was the end of."""
    kind = trace.column("kind")[row]
    if kind == Kind.Expired:
        return CODE[Fate.expired]
    if kind == Kind.DeadLettered:
        return CODE[Fate.dead_lettered]
    if kind in DOWN or trace.column("rule")[row] in FAULTS:
        return CODE[Fate.lost]
    return CODE[Fate.dropped]


class Faults:
    """When brokers ended and connections went, to find what was lost on its way to a broker."""

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        self.ends: dict[int, list[int]] = {}  # node -> rows
        nodes = {name: no for no, name in enumerate(trace.names["node"])}
        self.home = [nodes.get(home, -1) for home in trace.names["node_home"]]
        broker, frm = trace.column("broker"), trace.column("frm")
        for row in trace.rows(*DOWN, Kind.Interrupted):
            node = frm[row] if trace.column("kind")[row] == Kind.Interrupted else broker[row]
            self.ends.setdefault(node, []).append(row)

    def fate(self, sent: int, failed: int) -> tuple[int, int]:
        """Return (code, row) of a message that no broker took over: *sent* and *failed* are rows or -1.

        Whose send failed knows; what was on its way when its connection went is lost. In a part of a run it
        may have been taken over before or after.
        """
        if failed < 0 and self.trace.part:
            return CODE[Fate.cut_off], sent
        if failed >= 0 or sent < 0:
            return CODE[Fate.never_accepted], max(failed, sent)
        frm = self.trace.column("frm")[sent]
        nodes = (self.trace.column("broker")[sent], frm, self.home[frm] if frm >= 0 else -1)
        after = [_first_after(self.ends.get(node, ()), sent) for node in nodes if node >= 0]
        row = min((row for row in after if row >= 0), default=-1)
        return (CODE[Fate.never_accepted], sent) if row < 0 else (CODE[Fate.lost], row)


def _first_after(rows: Sequence[int], row: int) -> int:
    place = bisect_right(rows, row)
    return rows[place] if place < len(rows) else -1


def down_since(trace: Columns) -> dict[int, int]:
    """Return node of each broker that is down at the end -> the row with which it ended."""
    ended: dict[int, int] = {}
    kinds, broker = trace.column("kind"), trace.column("broker")
    for row in trace.rows(*DOWN, *UP):
        if kinds[row] in DOWN:
            ended[broker[row]] = row
        elif trace.column("rule")[row] != Reason.asks_restart:  # it says so before it stops
            ended.pop(broker[row], None)
    return ended


def failed_sends(trace: Columns) -> set[int]:
    """Return the numbers of messages whose send ended in an error, as their clients were told."""
    calls = [call.get("failed", ()) for call in trace.about.get("calls", ())]
    refused = [call.get("refused", ()) for call in trace.about.get("operations", ())]
    told = {int(one["n"]) for failed in calls for one in failed if isinstance(one, dict)}
    return told | {int(no) for numbers in refused if isinstance(numbers, list) for no in numbers}


def failures(trace: Columns) -> dict[int, str]:
    """Return message -> with which error its send ended, as its client was told."""
    calls = (call.get("failed", ()) for call in trace.about.get("calls", ()))
    return {
        int(one["n"]): f"its send failed: {str(one['message']).rstrip('.')}"
        for failed in calls
        for one in failed
        if isinstance(one, dict) and "message" in one
    }


def failed_starts(trace: Trace, brokers: Container[str]) -> list[int]:
    """Return the rows of starts of these *brokers* that ended in an error."""
    rules, at, names = trace.column("rule"), trace.column("broker"), trace.names["node"]
    failed = trace.rows(Kind.Failed)
    return [row for row in failed if rules[row] == Reason.start_failed and names[at[row]] in brokers]
