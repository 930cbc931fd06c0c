"""Runs side by side in numbers: what a crash cost in each of them, whatever product it was.

Sources: Technical Overview 4, Table 4-1 (service availability, data availability, recovery);
Fuse 4; AMQ Broker 7.1, chapter 21.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.spec.values import told_time
from mqlab.trace.grid import TextTable
from mqlab.trace.kinds import Kind
from mqlab.trace.labels import labels
from mqlab.trace.trace import Trace

GOT = (Kind.Received, Kind.Redelivered)
# Column -> what it says. Times are milliseconds; empty where nothing of the kind happened.
COLUMNS = {
    "sent": "messages that a client sent",
    "received": "distinct messages received by at least one consumer",
    "waiting": "messages that a broker holds at the end",
    "lost": "messages neither received nor stored",
    "duplicates": "messages received more than once",
    "redelivered": "messages received with the redelivered flag",
    "service back after": "from the first crash until the next message received by a consumer",
    "backlog delivered after": "from the first crash until the last message sent before it was received",
    "longest outage": "longest time that a client was without a broker",
}
TIMES = ("service back after", "backlog delivered after", "longest outage")


def measures(trace: Trace) -> dict[str, int | None]:
    """Return the row of one run; keys as in `COLUMNS`, times in whole milliseconds."""
    columns = (trace.column(name) for name in ("t", "kind", "msg"))
    sent: dict[int, int] = {}
    first: dict[int, int] = {}
    crash, after = None, None
    for time, kind, msg in zip(*columns, strict=True):
        if kind == Kind.Sent:
            sent.setdefault(msg, time)
        elif kind == Kind.Crashed and crash is None:
            crash = time
        elif kind in GOT:
            first.setdefault(msg, time)
            after = time if after is None and crash is not None else after
    before = [msg for msg, time in sent.items() if crash is not None and time <= crash]
    came = [first[msg] for msg in before if msg in first]
    late = max(came) if came and len(came) == len(before) else None
    clients = set(_clients(trace))
    away = [b - a for who, spans in trace.downtime().items() if who in clients for a, b in spans]
    return {
        "sent": len(sent),
        "received": len(first),
        "waiting": len({msg for of in trace.waiting().values() for held in of.values() for msg in held}),
        "lost": len(trace.lost()),
        "duplicates": len({msg for more in trace.duplicated().values() for msg in more}),
        "redelivered": len({msg for got in trace.redelivered().values() for msg in got}),
        "service back after": _ms(after, crash),
        "backlog delivered after": None if late is None or crash is None else max(0, late - crash) // 1000,
        "longest outage": max(away) // 1000 if away else None,
    }


def _clients(trace: Trace) -> list[str]:
    roles = trace.names["node_role"]
    return [name for name, role in zip(trace.names["node"], roles, strict=True) if role != "broker"]


def _ms(time: int | None, since: int | None) -> int | None:
    return None if time is None or since is None else (time - since) // 1000


def _told(column: str, value: int | None) -> str:
    if value is None:
        return "-"
    return told_time(value * 1000) if column in TIMES else str(value)


@dataclass(frozen=True, repr=False)
class Ledger(TextTable):
    """A table of runs: one row each, columns as in `COLUMNS`. Prints as text, shows as HTML."""

    traces: tuple[Trace, ...]
    hints = COLUMNS

    def rows(self) -> dict[str, dict[str, int | None]]:
        """Return label -> measures, in the order of the runs."""
        names = labels(self.traces)
        return {name: measures(trace) for name, trace in zip(names, self.traces, strict=True)}

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per run."""
        lines = [["", *COLUMNS]]
        for name, row in self.rows().items():
            lines.append([name, *(_told(column, value) for column, value in row.items())])
        return lines
