"""Verbs that ask: why a run is as it is, what would change it, what else might have come of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mqlab.api.verbs import played, run
from mqlab.errors import BadValue, UnknownName, shown
from mqlab.explain import Explanation, clients, script
from mqlab.explain import explain as read_off
from mqlab.spec.action import Action
from mqlab.spec.calls import fit
from mqlab.spec.link import LikeLinks
from mqlab.trace.difference import Comparison
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.experiments import Outcomes, WhatIf
    from mqlab.experiments.sweep import Runs
    from mqlab.experiments.upgrade import Upgrade


ALONE = (
    "a queue and the broker that it waits at are asked about together, of a running network, without a message"
)


def trace_of(*logs: str | os.PathLike[str], shift: Mapping[str, str] | None = None) -> Trace:
    """Return what ActiveMQ's brokers say in their logs (`activemq.log`) as a trace, to be viewed and asked.

    Several logs, rotated ones and folders of them are merged by the times of their lines. They tell when
    brokers were up, which bridges stood and why they broke; with DEBUG for ``org.apache.activemq.network``
    also demand, and each message that crossed a bridge. Advisories that a subscriber has dumped as JSON lines
    (headers, body, and the `time` at which they came) add the consumers of clients. What all of them do not
    tell is in `Trace.undone`. *shift* moves the times of a broker whose clock or time zone differs, as in
    ``{"B": "-60min"}``. Raises `BadFile` for what is not such a log.

    >>> import mqlab as mq
    >>> mq.trace_of("A/activemq.log", "B/activemq.log")  # doctest: +SKIP
    """
    from mqlab.products import inputs

    return inputs.logs(logs, shift)


def explain(
    what: object,
    *actions: Action | str | int,
    message: str | int | None = None,
    consumer: str | None = None,
    broker: str | None = None,
    client: str | None = None,
    why_not: str | None = None,
    queue: str | None = None,
    on: str | None = None,
) -> Explanation:
    """Explain one message, consumer, client or broker of a run; the whole run if none is named.

    *what* is a trace, or whatever else `run` takes; *message* a number or a name such as ``"P-7"``, *client* a
    client with an address, or a producer. A name may come alone: ``explain(trace, "B")`` is about the broker B.
    With a *consumer* as well as a message, or *why_not*, the answer is why that one did not get it. Each of its
    `causes` is removed in turn, and short runs are repeated (see `what_if`). Of a running network *queue* asks
    why its messages wait at the broker *on*: the lab plays what stands there. Of a whole run that is short it
    says whether it might have ended otherwise (see `outcomes`). Raises `UnknownName` for a name that is not in
    the trace.

    >>> import mqlab as mq
    >>> mq.explain(mq.run("fuse:2.20"), message="P-1", why_not="C2").causes[0].change
    Change(kind='action', text='without C1')
    """
    from mqlab import experiments

    if queue is not None:
        from mqlab.experiments import running

        if actions or not message is consumer is broker is client is None:
            raise BadValue(ALONE)
        return running.explain(_network(what), queue, on, why_not)
    if on is not None:
        raise BadValue(ALONE)
    names = [one for one in actions if isinstance(one, (str, int))]
    trace = played(what, tuple(one for one in actions if not isinstance(one, (str, int))))
    if names:
        given = message, consumer, broker, client, why_not
        message, consumer, broker, client = _named(trace, names, given)
    read = read_off(trace, message=message, consumer=consumer, broker=broker, client=client, why_not=why_not)
    if message is not None and (asked := why_not or consumer):
        try:
            trace.message(message)
        except UnknownName:  # it was never sent
            return read
        return experiments.confirm(trace, read, message, asked)
    if message is consumer is broker is client is None:
        return experiments.tell_races(trace, read)
    return read


def _network(what: object) -> object:
    from mqlab.products import inputs

    return inputs.read(what) if inputs.is_file(what) else what


Asked = tuple[str | int | None, str | None, str | None, str | None]  # message, consumer, broker, client


def _named(trace: Trace, names: list[str | int], given: tuple[object, ...]) -> Asked:
    """Return what a name alone is of: a broker, a consumer, a client, or else a message."""
    if len(names) > 1 or any(one is not None for one in given):
        raise BadValue(
            f"{shown(names[0])}: name one thing alone, or pass message=, consumer=, client=, broker=, why_not="
        )
    name = str(names[0])
    roles = dict(zip(trace.names["node"], trace.names["node_role"], strict=True))
    if roles.get(name) == "broker":
        return None, None, name, None
    if name in trace.received() or script.openings(trace, name):
        return None, name, None, None
    if name in clients.known(trace):
        return None, None, None, name
    producer, _, number = name.rpartition("-")
    if not number.isdecimal() and producer not in roles:
        raise UnknownName.of("name", name, dict.fromkeys([*roles, *clients.known(trace)]), "explain")
    return names[0], None, None, None


def what_if(
    trace: object,
    *,
    message: str | int | None = None,
    consumer: str | None = None,
    at_most: int | None = None,
    queue: str | None = None,
    on: str | None = None,
) -> WhatIf:
    """Find every single change of an option, action or fault that makes a consumer receive a message, or not.

    Each change is tried in a new run, at most *at_most* runs (or for a few seconds); see `mqlab.experiments`.
    In place of a trace and a message it takes a running network, and a *queue* that waits at the broker *on*.

    >>> import mqlab as mq
    >>> print(mq.what_if(mq.run("fuse:2.20"), message="P-1", consumer="C2"))
    C2 did not receive message P-1.
      without C1: would receive it
    """
    from mqlab import experiments

    if (on is not None and queue is None) or None not in (queue, message):
        raise BadValue(ALONE)
    if queue is not None and consumer is not None:
        from mqlab.experiments import running

        return running.what_if(_network(trace), queue, on, consumer, at_most)
    if not isinstance(trace, Trace):
        raise BadValue(f"what_if asks of a trace, not of {shown(trace)}; use e.g. mq.what_if(mq.run(...), ...)")
    if message is None or consumer is None:
        names = next(iter(trace.index.names().values()), "P-1"), next(iter(trace.received()), "C")
        told = "what_if asks of a message and a consumer; pass both: message={!r}, consumer={!r}"
        raise BadValue(told.format(message or names[0], consumer or names[1]))
    return experiments.what_if(trace, message=message, consumer=consumer, at_most=at_most)


def outcomes(
    what: object,
    *actions: Action,
    seeds: int = 200,
    seed: int = 0,
    jitter: int | str = "1ms",
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Outcomes:
    """Run a scenario with many seeds and return every outcome with its frequency and an example.

    Nearly simultaneous events may happen in a different order; *jitter* on top of each link's delay
    lets them, and so do machines that are quick and slow with it. Takes a trace, too: then it is that
    run's scenario. Where it would take a second or more, all cores share the runs. Ctrl-C raises `Interrupted`,
    whose `outcomes` are those until then.

    >>> import mqlab as mq
    >>> print(mq.outcomes("fuse:2.20", seeds=20))
    One outcome in 20 runs: C1 6, C2 3, C3 3.
    """
    from mqlab import experiments
    from mqlab.products import inputs
    from mqlab.spec.values import moment

    setting = experiments.Setting(seed, moment(jitter, "jitter"), until, links)
    return experiments.outcomes(inputs.scenario_of(what, *actions), setting, seeds)


def sweep(
    what: object,
    *actions: Action,
    over: Mapping[str, Sequence[object]],
    seeds: int | Iterable[int] = 1,
    edition: str | None = None,
    jitter: int | str = 0,
    processes: int | None = None,
    progress: bool = True,
) -> Runs:
    """Run every combination of the options in *over* with each seed, and return a table of the runs.

    *actions* come after those of *what*, as in `run`. *over* maps ``BROKER/CONNECTOR.OPTION`` to values,
    *seeds* is how many (0, 1, 2 ...) or which ones. As many *processes* as there are cores play a few hundred
    runs in seconds; `mqlab.replay.sweep` takes the same call to Spark. Raises `BadValue` or `UnknownName` for
    options.
    """
    from mqlab.experiments import sweep

    asked = (what, *actions) if actions else what
    return sweep.sweep(
        asked, over=over, seeds=seeds, edition=edition, jitter=jitter, processes=processes, progress=progress
    )


def compare(*runs: object) -> Comparison | Ledger:
    """Compare runs: two in detail, one or more (of any product) as a table of losses, duplicates and downtime.

    Takes traces, and whatever else `run` takes, which is run first.

    >>> import mqlab as mq
    >>> table = mq.compare(*(mq.run(figure) for figure in mq.figures("crash")))
    >>> [row["lost"] for row in table.rows().values()]
    [0, 0, 0, 0]
    """
    if not runs:
        raise BadValue("compare needs runs; pass one or more, such as mq.compare(a, b)")
    traces = tuple(played(what, ()) for what in runs)
    return Comparison(*traces) if len(traces) == 2 else Ledger(traces)


def upgrade(what: object, old: str, new: str, *actions: Action, seed: int = 0) -> Upgrade:
    """Say what an upgrade changes for a figure, a scenario, or *actions* on a network.

    The result prints as sentences: which results change, which default or rule causes each,
    and which option keeps the old behaviour.
    """
    from mqlab.experiments.upgrade import upgrade
    from mqlab.products import inputs

    return upgrade(inputs.scenario_of(what, *actions), old, new, seed)


def compare_products(*actions: Action, brokers: int = 2, seed: int = 0) -> Ledger:
    """Run the same actions on so many *brokers* of each product, and lay the runs side by side.

    The brokers are called A, B, C ..., keep messages on disk, and each is connected to every other: ActiveMQ's
    by duplex network connectors, OpenMQ's as a conventional cluster, Artemis' by a cluster connection. `view`
    shows the runs of the table side by side. Raises
    `BadValue` for what one of the products cannot do, in its words.

    >>> import mqlab as mq
    >>> orders = mq.Queue("ORDERS")
    >>> story = mq.Consumer("C", on="B", reads=orders), mq.Producer("P", on="A", sends=9, to=orders)
    >>> table = mq.compare_products(*story)
    >>> [row["received"] for row in table.rows().values()]
    [9, 9, 9]
    """
    from mqlab.products import starting_networks

    return Ledger(tuple(run(one, seed=seed) for one in starting_networks.of_each(actions, brokers)))


fit(globals())
