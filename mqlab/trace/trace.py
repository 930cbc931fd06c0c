"""A trace: the record of a run, and the questions one can ask it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, Suggests
from mqlab.spec import codec
from mqlab.spec.action import Action
from mqlab.spec.calls import fit_methods
from mqlab.spec.naming import bare
from mqlab.spec.values import Duration, moment
from mqlab.trace import accounts, plain, questions, summary, tables
from mqlab.trace.account import Account
from mqlab.trace.columns import Columns
from mqlab.trace.drawn import Plottable
from mqlab.trace.event import Event
from mqlab.trace.fates import FateTable
from mqlab.trace.index import Index
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

    from mqlab.trace.counters import CounterTable
    from mqlab.trace.load import LatencyTable, LinkTable
    from mqlab.trace.undone import Undone


class Trace(Columns, Plottable, Suggests):
    """The immutable record of one run, with methods to query it."""

    _tally: FateTable | None = None
    _account: Account | None = None

    def __repr__(self) -> str:
        return f"<mqlab.Trace of {len(self)} events, {self.digest()}>"

    def __str__(self) -> str:
        return summary.text(self)

    def _repr_html_(self) -> str:
        return summary.html(self)

    def to_arrow(self) -> pa.Table:
        """Return a row for each event: names in place of codes, units in the names (`t_us`, `age_us`).

        What does not apply is null. Raises `MissingExtra` without pyarrow.
        """
        return tables.to_arrow(self)

    def to_pandas(self) -> DataFrame:
        """Return the same as a pandas frame; raises `MissingExtra` without pandas or pyarrow."""
        return tables.to_pandas(self)

    def event(self, row: int) -> Event:
        """Return the event of one row, with names in place of numbers."""
        nodes, links, dests, subs = (self.names[name] for name in ("node", "link", "dest", "sub"))
        t, kind, msg, broker, frm, to, link, dest, sub, hop, age, rule, cause = self.row(row)
        return Event(
            row=row,
            t=Duration(t),
            kind=Kind(kind),
            message=msg if msg >= 0 else None,
            broker=nodes[broker] if broker >= 0 else None,
            frm=nodes[frm] if frm >= 0 else None,
            to=nodes[to] if to >= 0 else None,
            link=links[link] if link >= 0 else None,
            destination=dests[dest] if dest >= 0 else None,
            subscription=subs[sub] if sub >= 0 else None,
            hop=hop,
            age=Duration(age),
            rule=Reason(rule),
            cause=cause if cause >= 0 else None,
        )

    def events(self) -> Iterator[Event]:
        """Yield every event in the order in which they happened."""
        return (self.event(row) for row in range(len(self)))

    # What is found once and kept: a trace does not change

    @cached_property
    def index(self) -> Index:
        """The index by message: its rows, and its name."""
        return Index(self)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the run's script; none for a trace from elsewhere."""
        script = self.script
        if script is None:
            script = codec.actions_in(self.header.get("scenario", {}))
        return tuple(map(bare, script))

    @property
    def undone(self) -> tuple[Undone, ...]:
        """What was asked of the run and not done, each with the reason; empty if all was done."""
        from mqlab.trace.undone import undone

        return undone(self)

    @property
    def is_of_logs(self) -> bool:
        """Whether it was read from brokers' logs, which tell `since` what time of day."""
        return "since" in self.header

    def tally(self) -> FateTable:
        """Return what became of every message, as numbers."""
        if self._tally is None:
            if self.by_numpy:
                from mqlab.trace import fast

                self._tally = fast.tally(self)
            else:
                self._tally = plain.tally(self)
        return self._tally

    def rows_of(self, message: int | str) -> Sequence[int]:
        """Return the rows of the events of a message by number or name (7, "P-7"), in order."""
        return self.index.rows(self.message(message))

    # Questions. Each is a short function over the columns in `questions`.

    def account(self) -> Account:
        """Return what became of each message: exactly one of the fates of `Fate`, and why.

        A message is *consumed* when a consumer received it and, if it was sent to a queue, no broker holds
        it any more; *waiting* while a broker holds it, unacknowledged or unread; *expired*, *dead-lettered*,
        *dropped* (by a rule) or *lost* (by a fault) by what happened to its last copy; *never accepted* if
        no broker took it over. Of a topic's message this is the best that became of any copy. In a part of a
        run, *waiting* is what a broker holds at its end, and *cut off* what went on outside.
        """
        if self._account is None:
            self._account = Account(self)
        return self._account

    def received(self) -> dict[str, int]:
        """Return how many messages each consumer received, over all its lives (redeliveries count)."""
        return questions.received(self)

    def message(self, name: str | int) -> int:
        """Return the number of a message called by number (7), by producer ("P-7") or by a foreign id."""
        return self.index.number(name)

    def message_name(self, number: int) -> str:
        """Return the name of a message: its producer and how manieth of that one it is."""
        return self.index.name(number)

    def path(self, message: str | int) -> list[list[str]]:
        """Return the brokers that each copy of a message went through, its producer's first."""
        return questions.paths(self, self.message(message))

    def links(self) -> LinkTable:
        """Return what each link between brokers carried, the busiest first; it prints as a table.

        The utilisation is known of links with a bandwidth: ``mq.run(..., links=mq.Link(bandwidth=10_000))``
        (bytes a second).

        >>> import mqlab as mq
        >>> print(mq.run("fuse:2.4").links())
        link   over      messages  bytes  busiest    from  utilisation
        A > B  A/link01         4   4096        4  2.0 ms            -
        A > B  A/link02         4   4096        4  4.0 ms            -
        A > B  A/link03         4   4096        4  6.0 ms            -
        """
        from mqlab.trace import load

        return load.links(self)

    def latency(self, by: str = "consumer") -> LatencyTable:
        """Return how long messages took from sending to receipt, with quantiles; it prints as a table.

        *by* is consumer, destination, route, hops or all. Times in the rows are a `Duration` each.
        Raises `UnknownName` for another group.

        >>> import mqlab as mq
        >>> print(mq.run("fuse:2.20").latency(by="hops"))
        hops  messages  least ms  p50  p90  p99  most
           1         6       3.0  3.0  3.0  3.0   3.0
           0         6       2.0  2.0  2.0  2.0   2.0
        """
        from mqlab.trace import load

        return load.latency(self, by)

    def counters(self, at: int | str | None = None) -> CounterTable:
        """Return what the product's console counts of each destination at each broker; it prints as a table.

        *at* is a time such as ``"3s"``; without it they are those of the end. Counters begin at zero when
        their broker restarts. Names are those of JMX, with OpenMQ those of its monitor.

        >>> import mqlab as mq
        >>> found = mq.run("fuse:2.20").counters()
        >>> found.of("A", "queue://TEST.FOO")["ForwardCount"]
        6
        """
        from mqlab.trace import counters

        self.require_whole("counters")
        return counters.counters(self, None if at is None else moment(at, "at"))

    def waiting(self) -> dict[str, dict[str, list[int]]]:
        """Return broker -> destination -> numbers of the messages that it holds at the end.

        These lie in queues (dead letters, too), at subscriptions of topics, in the store of a broker that is
        down; what a consumer has in hands and has not acknowledged is still there.
        """
        return questions.waiting(self)

    def stuck(self) -> dict[str, dict[str, list[int]]]:
        """Return those of `waiting` which no consumer of the network, as it is, can ever get.

        A message is stuck when it lies on a broker it was forwarded to and no subscription
        there may take it (Fuse 2, "Stuck messages").
        """
        return questions.stuck(self)

    def lost(self) -> list[int]:
        """Return the numbers of messages that are gone: no consumer got them and no broker holds them.

        They are those that `account` tells to be expired, dropped or lost, each with its rule. What was
        never accepted is none: its sender knows.
        """
        return questions.lost(self)

    def duplicated(self) -> dict[str, dict[int, int]]:
        """Return consumer -> message number -> how often it was received, for messages received more than once.

        These came to one consumer more than once, or from a queue to several of whom the later was not told
        that it is a redelivery (JMSRedelivered): two masters on one store, a message sent twice.
        """
        return questions.duplicated(self)

    def redelivered(self) -> dict[str, list[int]]:
        """Return consumer -> numbers of the messages received with the redelivered flag."""
        return questions.redelivered(self)

    # Of a run with faults. Each is a short function over the columns in `accounts`.

    def unavailable(self, broker: str) -> list[tuple[Duration, Duration]]:
        """Return from when to when a broker did not serve; raises `BadValue` for a part of a run."""
        self.require_whole("unavailable")
        return accounts.as_durations(accounts.unavailable(self, broker))

    def downtime(self) -> dict[str, list[tuple[Duration, Duration]]]:
        """Return client or destination -> from when to when it had no broker; raises `BadValue` for a part."""
        self.require_whole("downtime")
        return {name: accounts.as_durations(spans) for name, spans in accounts.downtime(self).items()}

    def master(self, name: str, at: int | str) -> list[str]:
        """Return who of the set *name* serves at a time such as ``"3s"``; `BadValue` for a part of a run."""
        self.require_whole("master")
        return accounts.masters(self, name, moment(at, "at"))

    def require_whole(self, question: str) -> None:
        """Raise `BadValue` for a question that hangs on the run's beginning, where the trace lacks it."""
        if self.part:
            raise BadValue(f"{question} goes by the run from its beginning; this trace is a part: {self.part}")


QUESTIONS = (
    "account", "received", "message", "message_name", "path", "links", "latency", "counters", "waiting",
    "stuck", "lost", "duplicated", "redelivered", "unavailable", "downtime", "master",
)  # fmt: skip
_ROWS = ("column", "detail", "digest", "event", "events", "row", "rows", "rows_of", "tallied")
fit_methods(Trace, (*QUESTIONS, *_ROWS, "to_arrow", "to_pandas"))
