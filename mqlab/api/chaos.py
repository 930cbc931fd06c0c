"""Random faults: `mq.chaos` makes them, `mq.survives` counts their cost, `mq.cheapest` finds what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, shown
from mqlab.spec.calls import fit

if TYPE_CHECKING:
    from mqlab.experiments.chaos import Cheapest, RandomFaults, Survival
    from mqlab.spec.action import Action
    from mqlab.spec.scenario import Scenario

KINDS = ("crash", "stop", "pause", "cut")


def chaos(
    what: object,
    *actions: Action,
    every: int | str = "2s",
    length: int | str = "10s",
    kinds: str | Sequence[str] = KINDS,
    seed: int = 0,
) -> Scenario:
    """Return what `run` takes with random faults: one about *every* so long, for *length* after the start.

    *kinds* are crash, stop and pause of a broker, and cut of a link (one of them, or several); each is repaired
    after 0.2 to 5 s. A *seed* gives the same faults each time. Times are texts (``"2s"``) or milliseconds.

    >>> import mqlab as mq
    >>> troubled = mq.chaos(mq.chain(2), seed=1, kinds=("crash",), length="8s")
    >>> [action for action in troubled.actions if isinstance(action, mq.Crash)][0].broker in ("B1", "B2")
    True
    """
    from mqlab.products import inputs
    from mqlab.spec.values import check_seed

    check_seed(seed)
    scenario = inputs.scenario_of(what, *actions)
    return _faults(every, length, kinds).added(scenario, seed)


def survives(
    what: object,
    *actions: Action,
    never: str = "lost",
    seeds: int = 200,
    every: int | str = "2s",
    length: int | str = "10s",
    kinds: str | Sequence[str] = KINDS,
    processes: int | None = None,
) -> Survival:
    """Run a script with the faults of many seeds and return how often a message was lost.

    *never* is lost, duplicated or stuck; see `chaos` for the faults. The answer has the seeds that failed, and
    the smallest example: faults of which none can be left out. Runs in *processes* (default: one per core).

    >>> import mqlab as mq
    >>> q = mq.Queue("Q")
    >>> story = mq.Consumer("C", on="A", reads=q, at="9s"), mq.Producer("P", on="A", sends=2, to=q)
    >>> net = mq.Network(mq.Broker("A", store="memory"))
    >>> mq.survives(net, *story, seeds=3, kinds=("crash",), processes=1).holds
    False
    """
    from mqlab.experiments import chaos
    from mqlab.products import inputs

    scenario, faults = inputs.scenario_of(what, *actions), _faults(every, length, kinds)
    return chaos.survives(scenario, faults, never=never, seeds=seeds, processes=processes)


def cheapest(
    what: object,
    *actions: Action,
    never: str = "lost",
    seeds: int = 200,
    every: int | str = "2s",
    length: int | str = "10s",
    kinds: str | Sequence[str] = KINDS,
    prices: Mapping[str, float] | None = None,
    processes: int | None = None,
) -> Cheapest:
    """Find the cheapest changes after which no seed loses a message (or duplicates one, or leaves one stuck).

    Changes are options (price 1), persistent messages (1), a store for a broker (2), a slave with failover (5);
    *prices* sets others. Up to three are combined. The answer has the changes and the `scenario` after them.
    """
    from mqlab.experiments import chaos
    from mqlab.experiments.remedies import remedies
    from mqlab.products import inputs

    scenario = inputs.scenario_of(what, *actions)
    faults = _faults(every, length, kinds)
    changes = remedies(scenario, prices)
    return chaos.cheapest(scenario, faults, changes, never=never, seeds=seeds, processes=processes)


def _faults(every: int | str, length: int | str, kinds: str | Sequence[str]) -> RandomFaults:
    from mqlab.experiments.chaos import RandomFaults
    from mqlab.spec.values import moment

    given = (kinds,) if isinstance(kinds, str) else kinds
    if not isinstance(given, (tuple, list, set, frozenset)) or not given:
        raise BadValue(f"kinds is {shown(given)}; expected some of {', '.join(KINDS)}, e.g. kinds='crash'")
    return RandomFaults(moment(every, "time") // 1000, moment(length, "time") // 1000, tuple(given))


fit(globals())
