"""Spark integration: sweeps of many runs, and pyramids of long runs.

Spark builds them; tiles and events are read with pyarrow alone (`open`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import MissingExtra
from mqlab.replay import running
from mqlab.spec.action import Action
from mqlab.spec.calls import fit
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from mqlab.replay.answers import Answer
    from mqlab.replay.entry import Pyramid
    from mqlab.replay.named import Runs
    from mqlab.replay.runs import Sweep
    from mqlab.replay.tiles import PyramidReader

__all__ = [
    "ask", "build", "busiest", "consumers", "difference", "duplicates", "events", "extend", "follow",
    "latency", "load", "loops", "open", "outcomes", "path", "read", "run", "session", "stop", "stuck",
    "sweep", "write",
]  # fmt: skip


def _needs(package: str, extra: str) -> None:
    for name in (package, "pyarrow", "numpy"):
        try:
            __import__(name)
        except ImportError:
            raise MissingExtra.of(name, extra) from None


def session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return the Spark session: the active one, or one that is started now.

    Without *master* it is local; ``"spark://HOST:PORT"`` is a standalone cluster, ``"sc://HOST:PORT"`` a server
    of Spark Connect. *conf* holds Spark settings of a new session. Raises `CannotRun` within seconds for a
    cluster that does not answer or has another Python, `BadValue` for other settings than those of a session
    that runs already, `MissingExtra` where a package or Java is missing.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import spark

    return spark.session(master, conf)


def stop() -> None:
    """End the session that `session` has started."""
    _needs("pyspark", "spark")
    from mqlab.replay import spark

    spark.stop()


def write(trace: Trace, folder: str | Path) -> Path:
    """Write a trace as a folder of event files with a manifest; returns the folder."""
    _needs("pyarrow", "lab")
    from mqlab.replay import store

    return store.write(trace, folder)


def run(
    what: object,
    *actions: Action,
    out: str | Path,
    seed: int = 0,
    jitter: int | str = 0,
    until: int | str | None = None,
    shards: int | None = None,
) -> Path:
    """Run what `mqlab.run` takes and write the events to the new folder *out* while it runs.

    For runs that memory does not hold: it takes 240 MB and what is in the network. What clients of OpenMQ and
    Artemis sent and received is in their outcome: 4 bytes for each message. `open` and `follow` read what is
    there so far. Returns the folder; raises `BadFile` for one that has a trace, or a full disk.

    A burst of 200,000 messages or more of one producer, with nothing after it, is played in blocks where the
    network does the same for each of them: the same events, ten times as quickly.

    With *shards*, destinations of ActiveMQ that have nothing to do with each other are played in so many
    Spark tasks, each with its own clients: the same events at the same times with the same causes and numbers
    of messages; only events of different destinations at one time may have another order. It needs a time
    (`at`) for each action after the start, and no jitter; raises `BadValue` that names what couples the run.
    """
    _needs("pyarrow", "lab")
    if shards is not None:
        _needs("pyspark", "spark")
        from mqlab.products.inputs import scenario_of
        from mqlab.replay import shards as sharded

        return sharded.run(scenario_of(what, *actions), out, shards, seed, jitter, until)
    from mqlab.replay import long

    return long.run(what, *actions, out=out, seed=seed, jitter=jitter, until=until)


def events(what: Runs, view: str = "events") -> DataFrame:
    """Return the events of runs as a Spark DataFrame, and make it a temporary view called *view*.

    *what*, here and in the questions below, is a trace folder, a trace or several, a sweep that has kept
    traces, or its folder. The view has names in place of codes, null for what does not apply, and units in
    the names (`t_us`, `age_us`); ``describe events`` says what each column is. Raises `BadFile` for what
    is damaged or of another kind.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import named

    return named.events(what, view)


def stuck(what: Runs, longer: int | str = "1s") -> DataFrame:
    """Return each stay of a message at one place for longer than a time such as ``"5s"``, the longest first.

    Columns: `run`, `message`, `broker`, `destination`, `subscription` (of a topic's copy), `since_us`,
    `until_us` (null: it is there at the end), `held_us`, and what was told of it last: `state`, `rule`.
    """
    return _asked("stuck", what, longer)


def consumers(what: Runs) -> DataFrame:
    """Return how messages were spread over consumers: `run`, `consumer`, `received`, `share` (0 to 1).

    `inequality` is the run's Gini coefficient: 0 where all received the same, (n - 1) / n where one of n
    received all; null where nobody received any.
    """
    return _asked("consumers", what)


def busiest(what: Runs, per: int | str = "60s", most: int = 5) -> DataFrame:
    """Return the links that most messages crossed, in each span of time: at most so many for each.

    Columns: `run`, `begin_us` (of the span), `place` (1 is the busiest), `link`, `messages`. Spans without
    a crossing have no row.
    """
    return _asked("busiest", what, per, most)


def loops(what: Runs) -> DataFrame:
    """Return each arrival of a message at a broker that it had come through before on the same way.

    Columns: `run`, `message`, `broker`, `first_us`, `again_us` (times of arrival), `way` (all brokers of it).
    """
    return _asked("loops", what)


def duplicates(what: Runs) -> DataFrame:
    """Return what a consumer received, or a broker stored, more than once: `what` is received or stored.

    Columns: `run`, `message`, `what`, `name` (of the consumer or broker), `destination`, `times`, `first_us`,
    `last_us`. Received is meant as in `Trace.duplicated`: what went from a queue to several consumers, of
    whom the later was not told that it is a redelivery, has a row for each of them.
    """
    return _asked("duplicates", what)


def latency(what: Runs) -> DataFrame:
    """Return how old messages were when a broker (`kind` Enqueued) or a consumer (Received) got them.

    Columns: `run`, `kind`, `hops`, `messages`, `p50_us`, `p90_us`, `p99_us`, `max_us`: the least age that
    so many percent do not exceed, for each number of hops.
    """
    return _asked("latency", what)


def difference(one: Runs, other: Runs) -> DataFrame:
    """Return the messages that fared otherwise in two runs, or in runs of one number of two sweeps.

    They are matched by name, such as P-7. Columns: `run`, `message`, `difference` (only in one, only in
    the other, another way, another time), `one_way` and `other_way` (steps between brokers and to consumers,
    such as ``A -> B``), `one_us` and `other_us` (the time of each step).
    """
    return _asked("difference", one, other)


def _asked(question: str, *given: object) -> DataFrame:
    _needs("pyspark", "spark")
    from mqlab.replay import questions

    found: DataFrame = getattr(questions, question)(*given)
    return found


def stream(folder: str | Path, view: str | None = None) -> DataFrame:
    """Return the events of a run that goes on as a streaming DataFrame (Structured Streaming), and as *view*.

    It has the columns of `events` but `run` and `row`, whose names are those known when it is asked for; what
    is named later is there by its number. Spark's `writeStream` says what becomes of it; the folder has to be
    one that all workers see. Without Spark, `follow` follows a run here.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import streams

    return streams.stream(folder, view)


def read(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    unit: str = "us",
    product: str = "activemq",
) -> Trace:
    """Return the trace that is in a file of others: JSON lines, CSV or Parquet, a row for each event.

    Its columns become those of `Trace.to_arrow`: *columns* says which is which (``{"t_us": "when"}``),
    *kinds* does so for their words for what happened (``{"produced": "Sent"}``). Needed are time, kind,
    message, broker and destination; hops, ages, causes and links that are missing are found from the rest.
    Times are numbers of a *unit* (ns, us, ms or s) or dates, which count from the first; ids of messages may be
    texts, a destination without ``queue://`` or ``topic://`` is a queue. Raises `BadFile` that names each value
    which does not fit, with its line and column: nothing is left out. Needs no Spark.
    """
    from mqlab.replay import foreign

    return foreign.read(path, columns, kinds, unit, product)


def path(folder: str | Path, message: int) -> Trace:
    """Return the events of one message of a trace folder, as a trace; needs no Spark."""
    return open(folder).of_message(message)


def sweep(
    what: object,
    *actions: Action,
    over: Mapping[str, object],
    out: str | Path,
    seeds: int | Iterable[int] = 1,
    edition: str | None = None,
    jitter: int | str = 0,
    traces: bool | Callable[[Mapping[str, object]], bool] = False,
    partitions: int | None = None,
    progress: bool = True,
) -> Sweep:
    """Run every combination of the axes in *over* with each seed inside Spark tasks; a row for each run.

    *what* and *actions* are what `mqlab.run` takes, or *what* is a function of some axes that returns one or
    a tuple of a network and actions. An axis is an option (``"BROKER/CONNECTOR.OPTION": [values]``),
    ``"edition"``, a parameter of the function (such as a size), or a name of your own with actions for
    values, such as faults; a mapping gives each value a name. The rows are in the new folder *out*; the same
    call goes on with a sweep that was cancelled or killed. *traces* are kept of all runs, or of those whose
    row it is true of; others are played again when asked for. Raises `BadFile` for a folder that has
    something else in it, `BadValue` or `UnknownName` for axes, `CannotRun` when it is cancelled.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import sweeps

    return sweeps.sweep(
        (what, *actions) if actions else what,
        over=over,
        out=out,
        seeds=seeds,
        edition=edition,
        jitter=jitter,
        traces=traces,
        partitions=partitions,
        progress=progress,
    )


def load(out: str | Path) -> Sweep:
    """Return a sweep that was made before; raises `BadFile` for one that is not done, or for another folder."""
    _needs("pyarrow", "lab")
    from mqlab.replay import runs

    return runs.Sweep.load(out)


def outcomes(out: str | Path) -> DataFrame:
    """Return the runs of a sweep that is done as a Spark DataFrame: a row each, a column for each axis.

    Beside the axes it has the columns of `Sweep.table`; `received` and `stuck_at` are maps.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import answers

    return answers.outcomes(out)


def ask(question: str, out: str | Path) -> Answer:
    """Return the answer to a question about a sweep: a table, whose `plot()` is a picture.

    ``"effects"``: which axis matters, and to what. ``"stuck"``: where messages get stuck. ``"timing"``: how
    often the outcome hangs on it. ``"smallest"``: the smallest combinations that never lose a message.
    Raises `UnknownName` for any other.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import answers

    return answers.answer(question, out)


def build(folder: str | Path, out: str | Path | None = None, bucket_events: int | None = None) -> Pyramid:
    """Build the pyramid of a trace folder on Spark; an older one stays readable till it is done."""
    _needs("pyspark", "spark")
    from mqlab.replay import pyramid

    return pyramid.build(folder, out, bucket_events)


def extend(folder: str | Path) -> PyramidReader:
    """Count what a run has written since its pyramid was built, and open the folder; needs no Spark.

    Of a folder without a pyramid it counts everything. `build` is quicker for a long run that is over.
    """
    _needs("pyarrow", "lab")
    from mqlab.replay import growth

    return growth.extend(folder)


def follow(folder: str | Path, every: float = 0.5) -> Iterator[PyramidReader]:
    """Yield the open folder of a run that goes on each time it has more, and at its end; needs no Spark.

    The pyramid is extended each time. *every* is how long to wait between two looks, in seconds. Raises
    `BadFile` for a folder that is damaged, or has no run.
    """
    _needs("pyarrow", "lab")
    from mqlab.replay import growth

    return growth.follow(folder, every)


def open(folder: str | Path) -> PyramidReader:
    """Open a trace folder with its pyramid, for tiles and events; needs no Spark."""
    _needs("pyarrow", "lab")
    from mqlab.replay import tiles

    return tiles.PyramidReader(Path(folder))


# Whoever comes for the player alone needs no Spark.
if running.in_notebook() and "mqlab.widgets.replay" not in sys.modules and find_spec("pyspark") is not None:
    from mqlab.replay import spark as _spark

    _spark.start_soon()


fit(globals())
