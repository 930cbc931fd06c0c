"""How much each link between brokers carried, and how long messages took: two tables of a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.link import Links
from mqlab.spec.plural import counted
from mqlab.spec.values import Duration
from mqlab.trace.grid import TextTable
from mqlab.trace.kinds import Kind
from mqlab.trace.questions import route
from mqlab.trace.sizes import sizes_of

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

SECOND = 1_000_000  # us
PARTS = (50, 90, 99)  # of the messages, in %, that took no longer
BY = ("consumer", "destination", "route", "hops", "all")


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """What one connector carried from one broker to another.

    `messages` counts each crossing, `bytes` their sizes (None where a size is not known), `busiest` the most
    messages within one second and `since` when that began. `utilisation` is the share of the run's time
    (0 to 1) that the link needed for these bytes; None for a link without a `bandwidth`.
    """

    frm: str
    to: str
    connector: str
    messages: int
    bytes: int | None
    busiest: int
    since: Duration
    utilisation: float | None


@dataclass(frozen=True, slots=True)
class Latency:
    """How long messages took from sending to receipt: least, quantiles and most, of one group."""

    of: str
    messages: int
    least: Duration
    p50: Duration
    p90: Duration
    p99: Duration
    most: Duration


class RowTable(TextTable):
    """A table of `rows`, which can be counted and taken one by one."""

    rows: Sequence[Any]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        try:
            return self.rows[place]
        except IndexError:
            many = counted(len(self), "row")
            raise UnknownName(f"row {place}: the table has {many}" if self else self.empty) from None


class LinkTable(RowTable, Sequence[LinkLoad]):
    """The loads of all links that carried a message, the busiest first; `mqlab.view` draws them."""

    hints = {
        "busiest": "most messages within one second",
        "from": "when that second began",
        "utilisation": "share of the run's time that the link needed for these bytes",
    }

    empty = "the table is empty: no message crossed a link between brokers"

    def __init__(self, rows: Sequence[LinkLoad]) -> None:
        self.rows = rows

    def table(self) -> list[list[str]]:
        """Return a line for each link."""
        head = ["link", "over", "messages", "bytes", "busiest", "from", "utilisation"]
        return [head, *map(_line, self.rows)]

    def plot(self) -> object:
        """Return a heat map for a notebook: from which broker to which how many messages went.

        Raises `BadValue` if no link carried a message, `MissingExtra` without Bokeh.
        """
        cells: dict[str, dict[str, float | None]] = {}
        for row in self.rows:
            to = cells.setdefault(row.frm, {})
            to[row.to] = (to.get(row.to) or 0) + row.messages
        return _heat("Messages from each broker (row) to each other (column)", cells, "messages")


class LatencyTable(RowTable, Sequence[Latency]):
    """The latencies of all groups, the slowest first by their median; `mqlab.view` draws them."""

    empty = "the table is empty: no message was received"
    hints = {f"p{part}": f"{part} % of the messages took no longer" for part in PARTS}

    def __init__(self, by: str, rows: Sequence[Latency]) -> None:
        self.by, self.rows = by, rows

    def table(self) -> list[list[str]]:
        """Return a line for each group, in ms."""
        head = [self.by, "messages", "least ms", "p50", "p90", "p99", "most"]
        return [
            head,
            *(
                [
                    row.of,
                    str(row.messages),
                    *(_ms(us) for us in (row.least, row.p50, row.p90, row.p99, row.most)),
                ]
                for row in self.rows
            ),
        ]

    def plot(self) -> object:
        """Return a heat map for a notebook: the quantiles of each group, in ms.

        Raises `BadValue` if no message was received, `MissingExtra` without Bokeh.
        """
        head, *lines = self.table()
        cells = {line[0]: dict(zip(head[2:], map(float, line[2:]), strict=True)) for line in lines}
        return _heat(f"Latency by {self.by} (ms)", cells, "ms")


def _heat(title: str, cells: Mapping[str, Mapping[str, float | None]], unit: str) -> object:
    """Enter the room of pictures, which is above and may not be installed."""
    if not cells:
        raise BadValue(f"{title}: the table is empty, so there is nothing to draw")
    return import_module("mqlab.views").plot_heat({title: cells}, unit)


def links(trace: Trace) -> LinkTable:
    """Return what each link between brokers carried; see `Trace.links`."""
    names, connectors = trace.names["node"], trace.names["link"]
    frm, to, link, time, message = (trace.column(name) for name in ("frm", "to", "link", "t", "msg"))
    crossed = defaultdict(list)
    for row in trace.rows(Kind.Forwarded):
        crossed[frm[row], to[row], link[row]].append(row)
    size = sizes_of(trace)
    like, length = Links.read(trace.header.get("links")), max(time, default=0)
    found = []
    for (one, other, over), rows in crossed.items():
        known = [size.get(message[row]) for row in rows]
        carried = None if None in known else sum(filter(None, known))
        bandwidth = like.of_pair(names[one], names[other]).bandwidth
        needs = None if carried is None or not bandwidth else carried / bandwidth * SECOND
        share = None if needs is None else needs / length
        busiest, since = _busiest([time[row] for row in rows])
        name = connectors[over] if over >= 0 else ""
        found.append(
            LinkLoad(names[one], names[other], name, len(rows), carried, busiest, Duration(since), share)
        )
    return LinkTable(sorted(found, key=lambda load: (-load.messages, load.frm, load.to, load.connector)))


def latency(trace: Trace, by: str) -> LatencyTable:
    """Return how long messages took, for each group; see `Trace.latency`."""
    if by not in BY:
        raise UnknownName.of("group of latencies", by, BY)
    ages = defaultdict(list)
    age = trace.column("age")
    for row, group in zip(rows := trace.rows(Kind.Received), _groups(trace, rows, by), strict=True):
        ages[group].append(age[row])
    found = [
        Latency(group, len(of), *map(Duration, (of[0], *(quantile(of, part) for part in PARTS), of[-1])))
        for group, of in ((group, sorted(of)) for group, of in ages.items())
    ]
    return LatencyTable(by, sorted(found, key=lambda row: (-row.p50, row.of)))


def quantile(ordered: Sequence[int], percent: int) -> int:
    """Return the least value that so many percent of the values do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


def _groups(trace: Trace, rows: Sequence[int], by: str) -> Iterator[str]:
    if by == "route":
        return (" > ".join(route(trace, row)) for row in rows)
    if by == "all":
        return ("all" for _ in rows)
    names = {"consumer": trace.names["node"], "destination": trace.names["dest"]}.get(by)
    column = trace.column({"consumer": "to", "destination": "dest", "hops": "hop"}[by])
    return (str(column[row]) if names is None else names[column[row]] for row in rows)


def _busiest(times: Sequence[int]) -> tuple[int, int]:
    """Return the most times within one second, and the first of them."""
    most, since, first = 0, 0, 0
    for last, time in enumerate(times):
        while times[first] <= time - SECOND:
            first += 1
        if last - first + 1 > most:
            most, since = last - first + 1, times[first]
    return most, since


def _line(load: LinkLoad) -> list[str]:
    share = "-" if load.utilisation is None else f"{load.utilisation:.0%}"
    size = "-" if load.bytes is None else str(load.bytes)
    at = f"{_ms(load.since)} ms"
    return [f"{load.frm} > {load.to}", load.connector, str(load.messages), size, str(load.busiest), at, share]


def _ms(us: int) -> str:
    return f"{us / 1000:.1f}"
