"""The public verbs. Each is a door to a room, which is entered at first use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mqlab.errors import BadValue, UnknownName
from mqlab.explain import Explanation
from mqlab.explain import explain as read_off
from mqlab.spec import Action, Network, Scenario
from mqlab.spec.link import LikeLinks
from mqlab.trace.difference import Comparison
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.editions import Upgrade
    from mqlab.experiments import Outcomes, WhatIf
    from mqlab.experiments.sweep import Runs
    from mqlab.problems import Problems
    from mqlab.reference import Options


def figures(guide: str | None = None) -> tuple[Any, ...]:
    """Return the figures of all guides, or of one: fuse, amq6, article, unsafe, openmq, artemis, crash."""
    from mqlab import products

    return products.figures(guide)


def figure(id: str) -> Any:
    """Return a figure such as ``fuse:2.20``; raises `UnknownName`."""
    from mqlab import products

    return products.figure(id)


def options(word: str = "") -> Options:
    """Return the options in whose name or sentence *word* stands, as a table; all of them without a word.

    >>> import mqlab as mq
    >>> mq.options("conduit")[0].default
    'true'
    """
    from mqlab import reference

    return reference.options(word)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the scenario of a lab file or a recording, of any product, or the trace of a Parquet file.

    Raises `BadFile`.
    """
    from mqlab import takes

    return takes.read(path)


def save(what: Any, path: str | os.PathLike[str], *actions: Action) -> None:
    """Write a lab file of what `run` takes; a trace whose *path* ends in ``.parquet`` is written whole.

    Raises `BadFile` for a place that cannot be written to.
    """
    import json

    from mqlab import products, takes
    from mqlab.trace import parquet

    with takes.writing(path) as file:
        if isinstance(what, Trace) and file.suffix == ".parquet":
            parquet.save(what, file)
            return
        scenario = takes.scenario_of(what, *actions)
        body = products.product_of_scenario(scenario).write(scenario)
        file.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def scenario_of(what: Any, *actions: Action) -> Any:
    """Return the scenario of what `run` takes; raises `BadValue` for anything else."""
    from mqlab import takes

    return takes.scenario_of(what, *actions)


def run(
    what: Any, *actions: Action, seed: int = 0, edition: str | None = None,
    jitter: int | str = 0, until: int | str | None = None, limit: int | None = None,
    links: LikeLinks = None,
) -> Trace:  # fmt: skip
    """Run a figure, a lab file or a scenario, or *actions* on a network; returns the trace.

    *seed* and *jitter* (such as ``"2ms"`` on top of each link's delay) decide races; *links* say what
    lines are like, all (``mq.Link(loss=0.01)``) or those of two (``{("A", "B"): mq.Link(delay="20ms")}``);
    *edition* is one of the product's. The run ends at *until* (such as ``"40s"``), or when all has come
    to rest. With more than *limit* events (10^8 unless told), or 8 GiB of them, it is stopped with a
    `BadValue`.

    >>> import mqlab as mq
    >>> mq.run("fuse:2.20").received()
    {'C1': 6, 'C2': 3, 'C3': 3}
    """
    from mqlab import products, takes

    figure_id = isinstance(what, str) and not takes.is_file(what)
    asked = figure(what) if figure_id else what
    scenario = takes.scenario_of(asked, *actions)
    if edition is not None:
        scenario = products.under(scenario, edition)
    trace = products.play(scenario, seed, jitter, limit, until, links)
    if until is not None:
        trace.header["until"] = until  # with seed and jitter: enough to run it again
    if getattr(asked, "real", "") and _as_printed(asked, edition):
        trace.header["real"] = asked.real  # what `explain` says of the guide
    return trace


def _as_printed(asked: Any, edition: str | None) -> bool:
    """Whether a figure is run as its guide prints it: nothing changed, in its own edition."""
    own = figure(asked.id).scenario
    return bool(asked.scenario == own) and (edition is None or own.under(edition) == own)


def _trace_of(what: Any, actions: tuple[Action, ...]) -> Trace:
    """Return a trace as it is; whatever else `run` takes is run."""
    from mqlab import takes

    if takes.kept(what, *actions):
        trace: Trace = what
        return trace
    found = load(what) if takes.is_file(what) else what
    return found if isinstance(found, Trace) else run(found, *actions)


def Lab(  # noqa: N802 - reads like the noun it makes
    what: Any,
    *actions: Action,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Any:
    """Return a lab of any product, to `do` something to and to `step` through.

    One that is given a network has started it and is at rest; one that is given a figure, a lab file,
    a scenario, or a network with *actions* has its script before it.

    >>> import mqlab as mq
    >>> lab = mq.Lab("fuse:2.20"); lab.until("10ms"); other = lab.fork(); lab.rest()
    >>> lab.trace.received(), other.now
    ({'C1': 6, 'C2': 3, 'C3': 3}, 10000)
    """
    from mqlab import products, runtime, takes

    if isinstance(what, Network) and not actions:
        return runtime.Lab(what, seed, jitter, limit, links=links)
    return products.lab_of(takes.scenario_of(what, *actions), seed, jitter, limit, links)


def check(what: Any, *actions: Action) -> Problems:
    """Return the problems of what `run` takes, errors first; of a network without actions, too.

    A problem is what the real broker accepts and what loses, strands or doubles messages.
    """
    from mqlab import products, takes
    from mqlab.problems import Problems

    if isinstance(what, Network) and not actions:
        return Problems(products.ACTIVEMQ.check(what))
    scenario = takes.scenario_of(what, *actions)
    return Problems(products.product_of_scenario(scenario).check(scenario))


def compare(one: Any, *others: Any) -> Comparison | Ledger:
    """Lay runs side by side: two in detail, more of them (of any family) as a table of what each cost.

    Takes traces, and whatever else `run` takes, which is run first.

    >>> import mqlab as mq
    >>> table = mq.compare(*(mq.run(figure) for figure in mq.figures("crash")))
    >>> [row["lost"] for row in table.rows().values()]
    [0, 0, 0, 0]
    """
    traces = tuple(_trace_of(what, ()) for what in (one, *others))
    return Comparison(*traces) if len(traces) == 2 else Ledger(traces)


def upgrade(what: Any, old: str, new: str, *actions: Action, seed: int = 0) -> Upgrade:
    """Say what an upgrade changes for a figure, a scenario, or *actions* on a network.

    The result prints as sentences: which results change, which default or rule is behind each,
    and which option keeps the old behaviour.
    """
    from mqlab.editions import upgrade

    scenario = scenario_of(what, *actions)
    if not isinstance(scenario, Scenario):
        raise BadValue(
            "upgrade compares editions of plain ActiveMQ networks; take for example fuse:2.20"
        )
    return upgrade(scenario, old, new, seed)


def faults(what: Any, *, seed: int, rate: float, length: int | str = "10s") -> Any:
    """Return a scenario with deaths, pauses and cuts at random times, each made good again.

    About *rate* of them a second happen during the first *length*. Raises `BadValue` for what is no
    scenario of ActiveMQ.

    >>> import mqlab as mq
    >>> troubled = mq.faults("fuse:4.4", seed=3, rate=0.2, length="20s")
    >>> mq.run(troubled).lost()
    []
    """
    from mqlab.spec.schedule import faults
    from mqlab.spec.values import duration

    scenario = scenario_of(what)
    if not isinstance(scenario, Scenario):
        raise BadValue("faults are drawn for networks of ActiveMQ; take for example fuse:4.4")
    return faults(scenario, seed=seed, rate=rate, length=duration(length, "length") // 1000)


def explain(
    what: Any, *actions: Action, message: str | int | None = None, consumer: str | None = None,
    broker: str | None = None, why_not: str | None = None,
) -> Explanation:  # fmt: skip
    """Explain one message, one consumer or one broker of a run; the whole run if none is named.

    *what* is a trace, or whatever else `run` takes, which is run first.
    *message* is a number or a name such as ``"P-7"``. With *why_not* the answer is why that consumer did not
    get the message; each of its `causes` was taken away, alone, and the run played again, as long
    as it is short (see `what_if`). Of a whole run that is short it says, too, whether it might have ended
    otherwise (see `outcomes`). Raises `UnknownName` for a name that is not in the trace.

    >>> import mqlab as mq
    >>> mq.explain(mq.run("fuse:2.20"), message="P-1", why_not="C2").causes[0].change
    Change(kind='action', text='without C1')
    """
    from mqlab import experiments

    trace = _trace_of(what, actions)
    read = read_off(trace, message=message, consumer=consumer, broker=broker, why_not=why_not)
    if why_not is not None and message is not None:
        return experiments.confirm(trace, read, message, why_not)
    if message is consumer is broker is None:
        return experiments.tell_races(trace, read)
    return read


def what_if(trace: Trace, *, message: str | int, consumer: str, at_most: int = 200) -> WhatIf:
    """Find each change of one option, action or fault by which a consumer gets a message, or does not.

    The run is played again with each of them, at most *at_most* times; see `mqlab.experiments`.

    >>> import mqlab as mq
    >>> print(mq.what_if(mq.run("fuse:2.20"), message="P-1", consumer="C2"))
    C2 did not get message P-1.
      without C1: would get it
    """
    from mqlab import experiments

    return experiments.what_if(trace, message=message, consumer=consumer, at_most=at_most)


def outcomes(
    what: Any, *actions: Action, seeds: int = 200, seed: int = 0, jitter: int | str = "1ms",
    until: int | str | None = None, links: LikeLinks = None,
) -> Outcomes:  # fmt: skip
    """Play what `run` takes with many seeds, and return every outcome with its share and an example.

    Two things at nearly the same moment may come in another order; *jitter* on top of each link's delay
    lets them. Takes a trace, too: then it is that run's scenario.

    >>> import mqlab as mq
    >>> print(mq.outcomes("fuse:2.20", seeds=20))
    One outcome in 20 runs: C1 6, C2 3, C3 3.
    """
    from mqlab import experiments, products, takes
    from mqlab.spec.values import duration

    scenario = takes.scenario_of(what, *actions)
    body = products.product_of_scenario(scenario).write(scenario)
    setting = experiments.Setting(seed, duration(jitter, "jitter"), until, links)
    return experiments.outcomes(body, setting, seeds)


def sweep(
    what: Any, *, over: Mapping[str, Sequence[Any]], seeds: int | Iterable[int] = 1,
    edition: str | None = None, jitter: int | str = 0, processes: int | None = None, progress: bool = True,
) -> Runs:  # fmt: skip
    """Run every combination of the options in *over* with each seed, and return a table of the runs.

    *over* maps ``BROKER/CONNECTOR.OPTION`` to values, *seeds* is how many (0, 1, 2 ...) or which ones.
    As many *processes* as there are cores play a few hundred runs in seconds; `mqlab.replay.sweep` takes
    the same call to Spark. Raises `BadValue` or `UnknownName` for options.
    """
    from mqlab.experiments import sweep

    return sweep.sweep(what, over=over, seeds=seeds, edition=edition, jitter=jitter,
                       processes=processes, progress=progress)  # fmt: skip


def view(what: Any, *actions: Action) -> Any:
    """Return an animated view of a run, or of two side by side, for a notebook.

    *what* is a trace, a comparison, or whatever else `run` takes, which is run first. A run that holds its
    scenario can be asked, broken and forked in its view.
    """
    from mqlab import views
    from mqlab.desk import opening

    if isinstance(what, Ledger):
        raise BadValue("a table of runs cannot be played; view a trace, or mq.compare of two")
    if isinstance(what, Comparison):
        return views.view(what)
    name = what if isinstance(what, str) and not actions else ""
    return opening.view(_trace_of(what, actions), name)


def real_note(what: str) -> str:
    """Return what a figure says of the real broker where that differs from the guide."""
    try:
        return str(figure(what).real)
    except UnknownName:
        return ""
