"""Questions whose answer hangs on the order of what happened to a message: where it lay, where it came twice.

Spark brings the events of each message together and in order; a Python function in its tasks goes through
them, one message at a time. SQL would need a join of all events with themselves for each step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from mqlab.replay.named import Events, arrow_schema
from mqlab.trace import fates, tables

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

TAKES, LETS_GO, DOWN, NEVER_HERE = (
    tuple(kind.name for kind in kinds) for kinds in (fates.TAKES, fates.LETS_GO, fates.DOWN, fates.NEVER_HERE)
)
TOPICS = ("topic://", "temp-topic://")
BATCH = 10_000  # rows of an answer that go to Java together
_STAYS = (
    "run int, message int, broker string, destination string, subscription string, "
    "since_us long, until_us long, held_us long, state string, rule string"
)
_LOOPS = "run int, message int, broker string, first_us long, again_us long, way array<string>"


class Step(NamedTuple):
    """What of an event its message's history needs; `product` and `end_us` are of the run."""

    run: int
    message: int
    row: int
    t_us: int
    kind: str
    broker: str | None
    frm: str | None
    destination: str | None
    subscription: str | None
    rule: str
    cause: int | None
    product: str
    end_us: int


@dataclass
class Ends:
    """When subscriptions ended and brokers went down: (run, name) -> rows, and row -> time."""

    rows: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    times: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, told: Sequence[tuple[int, int, int, str]]) -> Ends:
        """Return those of (run, row, time, name of the subscription or broker)."""
        ends = cls()
        for run, row, time, name in sorted(told):
            ends.rows.setdefault((run, name), []).append(row)
            ends.times[run, row] = time
        return ends

    def after(self, run: int, row: int, *names: str | None) -> int | None:
        """Return the row of the first end of one of these after *row*."""
        known = [self.rows.get((run, name), []) for name in names if name is not None]
        later = [rows[place] for rows in known if (place := bisect_right(rows, row)) < len(rows)]
        return min(later, default=None)


@dataclass
class _Stay:
    """What a place holds of a message: since when, and what was told of it last."""

    broker: str | None
    since: int
    row: int
    count: int = 1
    state: str | None = None
    rule: str | None = None


class Places:
    """Where one message lies. A broker holds what it has taken over till it lets go (see `trace.fates`).

    A topic of ActiveMQ holds nothing: there each subscription holds a copy till it lets go of it or ends, or
    its broker does; durable ones outlive their broker.
    """

    def __init__(self, steps: Sequence[Step], ends: Ends) -> None:
        self.steps, self.ends = steps, ends
        self.kinds = {step.row: step.kind for step in steps}
        self.open: dict[tuple[str | None, ...], _Stay] = {}
        self.over: list[tuple[object, ...]] = []

    def run(self) -> list[tuple[object, ...]]:
        """Return all stays as rows of the answer."""
        for step in self.steps:
            destination = step.destination or ""
            if step.product != "activemq" or not destination.startswith(TOPICS):
                self._at_broker(step)
            elif step.subscription is not None:
                self._at_subscription(step)
        for key, stay in list(self.open.items()):
            if len(key) == 2:
                self._end_of_subscription(key, stay, self.steps[-1].row, at_last=True)
        for key, stay in self.open.items():
            self._tell(key, stay, None)
        return self.over

    def _at_broker(self, step: Step) -> None:
        key = (step.broker, step.destination, None)
        led = self.kinds.get(step.cause if step.cause is not None else -1)
        if step.kind == "TakenOver":
            if step.frm is not None:
                self._less((step.frm, step.destination, None), step)
            self._more(key, step)
        elif step.kind == "Enqueued":
            if led != "Returned":
                self._more(key, step)
        elif step.kind in LETS_GO:
            if not (step.kind == "Discarded" and led in NEVER_HERE):
                self._less(key, step)
        elif (step.kind in TAKES or step.kind == "Received") and key in self.open:
            self.open[key].state, self.open[key].rule = step.kind, step.rule

    def _more(self, key: tuple[str | None, ...], step: Step) -> None:
        if key in self.open:
            self.open[key].count += 1
        else:
            self.open[key] = _Stay(step.broker, step.t_us, step.row)

    def _less(self, key: tuple[str | None, ...], step: Step) -> None:
        stay = self.open.get(key)
        if stay is not None:
            stay.count -= 1
            if not stay.count:
                self._tell(key, self.open.pop(key), step.t_us)

    def _at_subscription(self, step: Step) -> None:
        key = (step.subscription, step.destination)
        if key in self.open:
            self._end_of_subscription(key, self.open[key], step.row)
        if step.kind in TAKES:
            stay = self.open.setdefault(key, _Stay(step.broker, step.t_us, step.row))
            stay.broker, stay.row, stay.state, stay.rule = (
                step.broker,
                step.row,
                step.kind,
                step.rule,
            )
        elif step.kind in LETS_GO and key in self.open:
            self._tell(key, self.open.pop(key), step.t_us)

    def _end_of_subscription(
        self, key: tuple[str | None, ...], stay: _Stay, before: int, at_last: bool = False
    ) -> None:
        """End a copy whose subscription or broker ended before some row, or ever."""
        run, broker = self.steps[0].run, None if stay.rule == "durable" else stay.broker
        row = self.ends.after(run, stay.row, key[0], broker)
        if row is not None and (at_last or row < before):
            self._tell(key, self.open.pop(key), self.ends.times[run, row])

    def _tell(self, key: tuple[str | None, ...], stay: _Stay, until: int | None) -> None:
        first = self.steps[0]
        held = (first.end_us if until is None else until) - stay.since
        subscription = key[0] if len(key) == 2 else None
        self.over.append(
            (
                first.run,
                first.message,
                stay.broker,
                key[1],
                subscription,
                stay.since,
                until,
                held,
                stay.state,
                stay.rule,
            )
        )


def ways(steps: Sequence[Step]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each arrival of a message at a broker that its way there has led through before."""
    way_of: dict[int, tuple[tuple[str, int], ...]] = {}  # row -> (broker, time) of each arrival before
    for step in steps:
        way = way_of.get(step.cause, ()) if step.cause is not None else ()
        broker = str(step.broker)
        if step.kind == "Enqueued" and step.frm != step.broker:
            first = next((time for name, time in way if name == broker), None)
            way = (*way, (broker, step.t_us))
            if first is not None:
                yield (step.run, step.message, broker, first, step.t_us, [name for name, _ in way])
        elif step.kind == "TakenOver":
            way = (*way[:-1], (broker, step.t_us))
        way_of[step.row] = way


def stays(of: Events) -> DataFrame:
    """Return how long each message lay at each place."""
    from pyspark.sql import functions as f

    told = of.rows.where(f.col("kind").isin("Unsubscribed", *DOWN)).select(
        "run", "row", "t_us", f.expr("if(kind = 'Unsubscribed', subscription, broker)").alias("name")
    )
    ends = Ends.of([tuple(row.values()) for row in told.toArrow().to_pylist()])
    return _each(of, lambda steps: Places(steps, ends).run(), _STAYS)


def loops(of: Events) -> DataFrame:
    """Return each arrival at a broker where the message had been before, on the same way."""
    return _each(of, ways, _LOOPS)


def _each(
    of: Events,
    answer: Callable[[Sequence[Step]], Iterable[tuple[object, ...]]],
    columns: str,
) -> DataFrame:
    """Return the rows that a function gives for the events of each message."""
    from pyspark.sql import functions as f

    schema = arrow_schema(columns)
    ours = of.rows.join(f.broadcast(of.about), "run").where(f.expr("message between 0 and last"))
    chosen = ours.select(*(f.col(f"`{name.replace('frm', 'from')}`") for name in Step._fields))
    together = chosen.repartition("run", "message").sortWithinPartitions("run", "message", "row")

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pa = tables.arrow()
        steps = map(Step._make, _tuples(batches))
        found = (row for _, group in groupby(steps, itemgetter(0, 1)) for row in answer(list(group)))
        while some := list(islice(found, BATCH)):
            named: Sequence[Mapping[str, object]] = [dict(zip(schema.names, row, strict=True)) for row in some]
            yield pa.RecordBatch.from_pylist(named, schema)

    return together.mapInArrow(work, columns)


def _tuples(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[object, ...]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
