"""The public verbs. Each is a door to a room, which is entered at first use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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
    from mqlab.problems import Problems


def figures(guide: str | None = None) -> tuple[Any, ...]:
    """Return the figures of all guides, or of one: fuse, amq6, article, openmq, artemis, crash."""
    from mqlab import products

    return products.figures(guide)


def figure(id: str) -> Any:
    """Return a figure such as ``fuse:2.20``; raises `UnknownName`."""
    from mqlab import products

    return products.figure(id)


def load(path: str | Path) -> Any:
    """Return the scenario of a lab file or a recording, of any product family; raises `BadFile`."""
    from mqlab import products

    return products.load(path)


def save(scenario: Any, path: str | Path) -> None:
    """Write a lab file."""
    import json

    from mqlab import products

    body = products.product_of_scenario(scenario).write(scenario)
    Path(path).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def scenario_of(what: Any) -> Any:
    """Return the scenario of a figure, its id, a lab file's path or its JSON value, or a scenario."""
    from mqlab import products

    if isinstance(what, Scenario):
        return what
    if products.is_scenario(getattr(what, "scenario", None)):
        return what.scenario
    if isinstance(what, Path) or (isinstance(what, str) and what.endswith(".json")):
        return load(what)
    if isinstance(what, str):
        return figure(what).scenario
    if isinstance(what, Mapping):
        return products.product_of(what).read(what, "lab file")
    return what if products.is_scenario(what) else _refuse(what)


def _refuse(what: Any) -> None:
    raise BadValue(f"{what!r} cannot be run; write a network, a figure, its id or a lab file")


def run(
    what: Any, *actions: Action, seed: int = 0, edition: str | None = None,
    jitter: int | str = 0, until: int | str | None = None, links: LikeLinks = None,
) -> Trace:  # fmt: skip
    """Run a figure, a lab file or a scenario, or *actions* on a network; returns the trace.

    *seed* and *jitter* (such as ``"2ms"`` on top of each link's delay) decide races; *links* say what
    lines are like, all (``mq.Link(loss=0.01)``) or those of two (``{("A", "B"): mq.Link(delay="20ms")}``);
    *edition* is one of the product's. The run ends at *until* (such as ``"40s"``), or at rest.

    >>> import mqlab as mq
    >>> mq.run("fuse:2.20").received()
    {'C1': 6, 'C2': 3, 'C3': 3}
    """
    from mqlab import runtime

    asked = figure(what) if isinstance(what, str) and not what.endswith(".json") else what
    scenario = asked if isinstance(asked, Network) else scenario_of(asked)
    if isinstance(scenario, (Network, Scenario)):
        trace = runtime.run(
            scenario, *actions, seed=seed, edition=edition, jitter=jitter, until=until, links=links
        )
    else:
        trace = _run_family(scenario, actions, seed, edition, jitter, until, links)
    if until is not None:
        trace.header["until"] = until  # with seed and jitter: enough to run it again
    if getattr(asked, "real", "") and _as_printed(asked, edition):
        trace.header["real"] = asked.real  # what `explain` says of the guide
    return trace


def _as_printed(asked: Any, edition: str | None) -> bool:
    """Whether a figure is run as its guide prints it: nothing changed, in its own edition."""
    own = figure(asked.id).scenario
    return bool(asked.scenario == own) and (edition is None or own.under(edition) == own)


def _run_family(
    scenario: Any, actions: tuple[Action, ...], seed: int, edition: str | None, jitter: int | str,
    until: int | str | None, links: LikeLinks,
) -> Trace:  # fmt: skip
    from mqlab import products

    if edition is not None:
        raise BadValue(
            f"a {type(scenario).__name__} has an edition of its own; write it there (version=...)"
        )
    if actions:
        scenario = scenario.with_actions(*actions).started()
    lab = products.lab_of(scenario, seed, jitter, links=links)
    lab.play(until)
    trace: Trace = lab.trace
    return trace


def Lab(  # noqa: N802 - reads like the noun it makes
    what: Any, *, seed: int = 0, jitter: int | str = 0, limit: int | None = None,
    links: LikeLinks = None,
) -> Any:  # fmt: skip
    """Return a lab of any product, to `do` something to and to `step` through.

    One that is given a network has started it and is at rest; one that is given a figure, a lab file
    or a scenario has its script before it.

    >>> import mqlab as mq
    >>> lab = mq.Lab("fuse:2.20"); lab.until("10ms"); other = lab.fork(); lab.rest()
    >>> lab.trace.received(), other.now
    ({'C1': 6, 'C2': 3, 'C3': 3}, 10000)
    """
    from mqlab import products, runtime

    if isinstance(what, Network):
        return runtime.Lab(what, seed, jitter, limit, links=links)
    return products.lab_of(scenario_of(what), seed, jitter, limit, links)


def check(what: Any) -> Problems:
    """Return the problems of a network, a figure, a lab file or a scenario, errors first.

    A problem is what the real broker accepts and what loses, strands or doubles messages.
    """
    from mqlab import products
    from mqlab.problems import Problems

    if isinstance(what, Network):
        return Problems(products.ACTIVEMQ.check(what))
    scenario = scenario_of(what)
    return Problems(products.product_of_scenario(scenario).check(scenario))


def compare(one: Trace, *others: Trace) -> Comparison | Ledger:
    """Lay runs side by side: two in detail, more of them (of any family) as a table of what each cost.

    >>> import mqlab as mq
    >>> table = mq.compare(*(mq.run(figure) for figure in mq.figures("crash")))
    >>> [row["lost"] for row in table.rows().values()]
    [0, 0, 0, 0]
    """
    if len(others) == 1:
        return Comparison(one, others[0])
    return Ledger((one, *others))


def upgrade(what: Any, old: str, new: str, *actions: Action, seed: int = 0) -> Upgrade:
    """Say what an upgrade changes for a figure, a scenario, or *actions* on a network.

    The result prints as sentences: which results change, which default or rule is behind each,
    and which option keeps the old behaviour.
    """
    from mqlab.editions import upgrade

    scenario = Scenario.of(what, *actions) if isinstance(what, Network) else scenario_of(what)
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
    trace: Trace, *, message: str | int | None = None, consumer: str | None = None,
    broker: str | None = None, why_not: str | None = None,
) -> Explanation:  # fmt: skip
    """Explain one message, one consumer or one broker of a run; the whole run if none is named.

    *message* is a number or a name such as ``"P-7"``. With *why_not* the answer is why that consumer did not
    get the message; each of its `causes` was taken away, alone, and the run played again, as long
    as it is short (see `what_if`). Of a whole run that is short it says, too, whether it might have ended
    otherwise (see `outcomes`). Raises `UnknownName` for a name that is not in the trace.

    >>> import mqlab as mq
    >>> mq.explain(mq.run("fuse:2.20"), message="P-1", why_not="C2").causes[0].change
    Change(kind='action', text='without C1')
    """
    from mqlab import experiments

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
    until: int | str | None = None,
) -> Outcomes:  # fmt: skip
    """Play what `run` takes with many seeds, and return every outcome with its share and an example.

    Two things at nearly the same moment may come in another order; *jitter* on top of each link's delay
    lets them. Takes a trace, too: then it is that run's scenario.

    >>> import mqlab as mq
    >>> print(mq.outcomes("fuse:2.20", seeds=20))
    One outcome in 20 runs: C1 6, C2 3, C3 3.
    """
    from mqlab import experiments, products
    from mqlab.spec.values import duration

    if isinstance(what, Trace):
        experiments.Setting.of(what)  # it has to hold its scenario
        body = what.header["scenario"]
    else:
        scenario: Any = what
        if isinstance(what, Network):
            scenario = Scenario.of(what, *actions)
        elif actions:
            scenario = scenario_of(what).with_actions(*actions).started()
        else:
            scenario = scenario_of(what)
        body = products.product_of_scenario(scenario).write(scenario)
    setting = experiments.Setting(seed, duration(jitter, "jitter"), until)
    return experiments.outcomes(body, setting, seeds)


def view(what: Trace | Comparison) -> Any:
    """Return an animated view of a run, or of two side by side, for a notebook."""
    from mqlab import views

    return views.view(what)


def real_note(what: str) -> str:
    """Return what a figure says of the real broker where that differs from the guide."""
    try:
        return str(figure(what).real)
    except UnknownName:
        return ""
