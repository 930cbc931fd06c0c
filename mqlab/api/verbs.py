"""The public verbs but for those that ask. Each is a door to a room, which is entered at first use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mqlab.real  # noqa: F401 - before the verb of that name takes its place in the package
from mqlab.spec import Scenario
from mqlab.spec.action import Action
from mqlab.spec.calls import fit
from mqlab.spec.link import LikeLinks
from mqlab.spec.naming import BEGIN, bare
from mqlab.spec.scenario import AnyNetwork
from mqlab.trace.difference import Comparison
from mqlab.trace.grid import TextTable
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.api.real_comparison import Beside
    from mqlab.checks.problems import Problems
    from mqlab.conform.recorded import Recorded
    from mqlab.engine.lab import Lab as AnyLab
    from mqlab.products.guide_figures import Figure, FigureTable
    from mqlab.reference import Options


def figures(guide: str | None = None) -> FigureTable:
    """Return the figures of all guides, or of one: fuse, amq6, article, unsafe, openmq, artemis, crash.

    Another word is looked for in their titles and questions. They print as a table. Raises `UnknownName`
    where there are none.

    >>> import mqlab as mq
    >>> mq.figures("amq6")
    figure     title
    amq6:3.1   Dynamic propagation
    amq6:3.2   Static propagation, with a wildcard
    amq6:3.3a  Static and duplex: sent at a spoke
    amq6:3.3b  Static and duplex: sent at the hub
    amq6:3.4   Self-avoiding paths
    """
    from mqlab import products

    return products.figures(guide)


def figure(id: str) -> Figure:
    """Return a figure such as ``fuse:2.20``; raises `UnknownName`."""
    from mqlab import products

    return products.figure(id)


def options(word: str = "") -> Options:
    """Return the options whose name or description contains *word*, as a table; all of them without a word.

    >>> import mqlab as mq
    >>> mq.options("conduit")[0].default
    'true'
    """
    from mqlab import reference

    return reference.options(word)


def load(
    *paths: str | os.PathLike[str],
    values: Mapping[str, str] | str | os.PathLike[str] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> AnyNetwork | Scenario | Trace:
    """Return the network of configuration files or running brokers, or what a lab or Parquet file holds.

    Several files, or a folder with `activemq.xml` files, make one network: addresses in them lead to
    the broker that listens there. *values* (a mapping, or a property file) stand for placeholders such as
    ``${port}``; *hosts* maps host names that no file defines to brokers.

    ``jolokia:http://user:password@host:8161/api/jolokia`` reads a running ActiveMQ broker (Artemis:
    ``/console/jolokia``) and those that bridges lead to (same port, same password). What stands there is the
    network's `running`; files beside it add what management does not tell. ``MQLAB_JOLOKIA_USER`` and
    ``MQLAB_JOLOKIA_PASSWORD`` may have the password.
    A log of ActiveMQ is a trace (`trace_of`). Raises `BadFile`, for brokers that cannot be read `CannotRun`.
    """
    from mqlab.products import inputs

    return inputs.read(*paths, values=values, hosts=hosts)


def save(what: object, path: str | os.PathLike[str], *actions: Action) -> list[str]:
    """Write what `run` takes, a trace or a comparison, and return the paths of the files that were written.

    The ending of *path* says as what: ``.json`` a lab file, ``.parquet`` a whole trace, ``.html`` a page that
    plays a run without Python, ``.svg`` a picture of its end. A folder (``"out/"``) gets the configuration
    files of a network: what was read and has not changed, to the letter. Raises `BadFile` for a place that
    cannot be written to.

    >>> import mqlab as mq, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> [path.removeprefix(folder) for path in mq.save("fuse:2.1", folder)]
    ['/A/activemq.xml', '/B/activemq.xml']
    """
    from mqlab.products import inputs

    if str(path).endswith((".html", ".svg")):
        with inputs.writing(path) as file:
            file.write_text(_drawn(what, actions, file.suffix), encoding="utf-8")
        return [str(file)]
    return inputs.save(what, path, *actions)


def _drawn(what: object, actions: tuple[Action, ...], ending: str) -> str:
    """Return the page that plays a run (or several), or the picture of its end."""
    from mqlab import products, views
    from mqlab.products import inputs

    if (network := inputs.running(what)) is not None and not actions:
        return views.drawn(products.observed(network), ending)
    return views.drawn(what if isinstance(what, (Comparison, Ledger)) else played(what, actions), ending)


def configuration(what: object) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network, or of what `run` takes.

    >>> import mqlab as mq
    >>> list(mq.configuration("fuse:2.1"))
    ['A/activemq.xml', 'B/activemq.xml']
    """
    from mqlab import products
    from mqlab.products import inputs

    return products.configuration(inputs.network_or_scenario(what))


def scenario_of(what: object, *actions: Action) -> Scenario:
    """Return the scenario of what `run` takes; raises `BadValue` for anything else."""
    from mqlab.products import inputs

    return inputs.scenario_of(what, *actions)


def run(
    what: object,
    *actions: Action,
    seed: int = 0,
    edition: str | None = None,
    jitter: int | str = 0,
    until: int | str | None = None,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Run a figure, a lab file or a scenario, or *actions* on a network; returns the trace.

    *seed* and *jitter* decide races: with any (such as ``"2ms"`` on top of each link's delay) machines also
    vary in speed wherever the product does not define a duration. *links* say what lines are like, all
    (``mq.Link(loss=0.01)``) or those of two (``{("A", "B"): mq.Link(delay="20ms")}``); *edition* is one of the
    product's. The run ends at *until* (such as ``"40s"``), or when nothing more happens. With more than *limit*
    events (default: 10^8), or 8 GiB of them, it is stopped with a `BadValue`. A warning says how long a run of
    100,000 messages or more takes; `mqlab.replay.run` takes the same call with ``out="folder"``.

    Times of actions count from when the brokers begin to start. Actions without a time wait until they are up:
    with OpenMQ 5 s later, with Artemis 3 s for each broker.

    >>> import mqlab as mq
    >>> mq.run("fuse:2.20").received()
    {'C1': 6, 'C2': 3, 'C3': 3}
    """
    from mqlab import products
    from mqlab.products import foresight, inputs
    from mqlab.products.guide_figures import Figure

    if inputs.is_lab(what):
        return _played_on(what, actions, until)
    asked = products.figure(what) if isinstance(what, str) and not inputs.is_file(what) else what
    scenario = inputs.scenario_of(asked, *actions)
    if edition is not None:
        scenario = scenario.under(edition)
    messages = sum(getattr(bare(action), "sends", 0) for action in scenario.actions)
    if large := messages >= foresight.LARGE:
        foresight.warn_of_size(messages)
    trace = products.play(scenario, seed, jitter, limit, until, links, foretold=large)
    if until is not None:
        trace.about["until"] = until  # with seed and jitter: enough to run it again
    if isinstance(asked, Figure) and asked.real and scenario.network.edition == asked.scenario.network.edition:
        trace.about["real"] = asked.real  # what `explain` says of the guide
    return trace


def _played_on(lab: AnyLab, actions: tuple[Action, ...], until: int | str | None) -> Trace:
    """Return the trace of a copy of a lab that does *actions* and goes on to its rest, or *until* a time."""
    other = lab.fork()
    for action in actions:
        other.do(action)
    other.play(until)
    return other.trace


def played(what: object, actions: tuple[Action, ...]) -> Trace:
    """Return a trace as it is; whatever else `run` takes is run."""
    from mqlab.products import inputs

    if isinstance(what, Trace) and not actions:
        return what
    if inputs.is_lab(what):
        return _played_on(what, actions, None) if actions else what.trace
    inputs.check_addable(what, actions)
    found = load(what) if inputs.is_file(what) else what
    return found if isinstance(found, Trace) else run(found, *actions)


def Lab(  # noqa: N802 - reads like the noun it makes
    what: object,
    *actions: Action,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> AnyLab:
    """Return an interactive lab (any product): `do` actions, `step` through events.

    Given a network, the lab starts it and is at rest; one that is given a figure, a lab file,
    a scenario, or a network with *actions* has its script before it.

    >>> import mqlab as mq
    >>> lab = mq.Lab("fuse:2.20"); lab.until("10ms"); other = lab.fork(); lab.rest()
    >>> lab.trace.received(), other.now
    ({'C1': 6, 'C2': 3, 'C3': 3}, Duration('10ms'))
    """
    from mqlab import products
    from mqlab.products import inputs

    if not isinstance(what, AnyNetwork) or actions:
        return products.lab_of(inputs.scenario_of(what, *actions), seed, jitter, limit, links)
    lab = products.lab_of(Scenario(what, (BEGIN,)), seed, jitter, limit, links)
    products.go_on(lab)
    return lab


def default_load(what: object, messages: int = 10) -> tuple[Action, ...]:
    """Return a consumer and a producer at every broker, for each destination that a configuration names.

    *what* is a network, or what else `run` takes; without a destination it is the queue TEST.FOO. Each
    producer sends so many *messages*.

    >>> import mqlab as mq
    >>> load = mq.default_load(mq.Network(mq.Broker("A")))
    >>> mq.run(mq.Network(mq.Broker("A")), *load).received()
    {'consumer-A': 10}
    """
    from mqlab.products import inputs, traffic

    return traffic.default_load(inputs.network_or_scenario(what), messages)


def check(what: object, *actions: Action) -> Problems:
    """Return the problems of what `run` takes, errors first; of a network without actions, too.

    A problem is a setting the real broker accepts although it loses, strands or duplicates messages. `changes`
    of what is returned are single changes that take problems away, to be applied.

    >>> import mqlab as mq
    >>> net = mq.chain(3, network_ttl=1)
    >>> problems = mq.check(net)
    >>> problems[0].rule, str(problems.changes[0]), len(mq.check(problems.changes[0].apply(net)))
    ('ttl-distance', 'every connector with networkTTL=3', 0)
    """
    from mqlab.experiments import fixes

    return fixes.check(what, *actions)


def faults(what: object, *, seed: int, rate: float, length: int | str = "10s") -> Scenario:
    """Return a scenario with random crashes, pauses and cuts, each of which is later repaired.

    About *rate* faults per second happen during the first *length*. Raises `BadValue` for anything that is not
    a scenario of ActiveMQ.

    >>> import mqlab as mq
    >>> troubled = mq.faults("fuse:4.4", seed=3, rate=0.2, length="20s")
    >>> mq.run(troubled).lost()
    []
    """
    from mqlab.products import inputs
    from mqlab.spec.schedule import faults
    from mqlab.spec.shape import number
    from mqlab.spec.values import check_seed, moment

    check_seed(seed)
    number().check(rate, "rate")

    told = "random faults are supported only for ActiveMQ networks, e.g. fuse:4.4"
    scenario = inputs.activemq_of(what, told=told)
    return faults(scenario, seed=seed, rate=rate, length=moment(length, "length") // 1000)


def recorded(what: object) -> Recorded:
    """Return a recording of real brokers: the closest one to a figure, or one by name.

    It shows the real broker next to mqlab, and can be used like a figure, e.g. in `view`.
    Raises `UnknownName` where there is none.
    """
    from mqlab.conform import recorded

    return recorded.recorded(what)


def real(
    what: object,
    *actions: Action,
    record: str | os.PathLike[str] | None = None,
    limit: float = 120,
    plays: int | None = None,
) -> Beside:
    """Play what `run` takes on real brokers as well, and return both outcomes side by side.

    They are those of the system's package, or of ``ACTIVEMQ_HOME``, ``ARTEMIS_HOME`` and ``IMQ_HOME``.
    mqlab uses their version. *limit* is in seconds. *record* is where to write a recording. It is played once,
    or 5 times if the first play is not as mqlab's, or *plays* times: `varies` has what real brokers race for.
    Raises `CannotRun` if the product is not installed, or if the script cannot be run over STOMP.
    """
    from mqlab.api import real_comparison

    return real_comparison.real(what, actions, record, limit, plays)


def view(what: object, *actions: Action) -> Any:
    """Return an animated view of a run, or of up to four side by side, for a notebook.

    *what* is a trace, what `compare` or `compare_products` returns, or whatever else `run` takes, which is run
    first; or a table that has a picture, such as ``trace.links()``. A run that contains its scenario can be
    asked, broken and forked in its view. A running network is shown as it is, and read again every 5 seconds
    for 10 minutes. The button *Save* makes pictures (PNG, SVG) of the moment and a page
    (HTML) that plays without Python; so does ``mq.save(trace, "run.html")``.
    """
    from mqlab import views
    from mqlab.products import inputs
    from mqlab.workbench import opening

    if isinstance(what, (Comparison, Ledger)):
        return views.view(what)
    if isinstance(what, TextTable) and hasattr(what, "plot"):
        return what.plot()
    if (network := inputs.running(what)) is not None and not actions:
        return opening.running(network)
    name = what if isinstance(what, str) and not actions else ""
    return opening.view(played(what, actions), name)


fit(globals())
