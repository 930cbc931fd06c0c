"""Random faults, how often a property fails under them, and the cheapest changes after which it holds.

A fault is a pair: what breaks, and what makes it good again a little later. A seed gives the same faults and
the same run each time, so that whatever is found can be run again, explained and viewed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from random import Random

from mqlab import products
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.experiments.cores import MOST_SEEDS
from mqlab.experiments.sweep import sweep
from mqlab.products import inputs
from mqlab.spec import graph
from mqlab.spec.action import Action, Pause, RequestReply, Restart, Resume, Stop
from mqlab.spec.calls import Answering
from mqlab.spec.faults import Crash, Cut, Heal
from mqlab.spec.naming import bare, called
from mqlab.spec.network import Network
from mqlab.spec.plural import counted
from mqlab.spec.scenario import Scenario
from mqlab.spec.shape import whole
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

KINDS = ("crash", "stop", "pause", "cut")
NEVER = ("lost", "duplicated", "stuck")
LASTING = (200, 5000)  # ms from a fault to its end
SERVES, CALLED = 3000, 6000  # ms after a repair, in which a broker starts, or waits for a call: no new fault
MOST_CHANGES = 3  # that are combined
Fault = tuple[Action, Action]


@dataclass(frozen=True, slots=True)
class RandomFaults:
    """Faults of some kinds, one about `every` so many ms during the first `length` ms of a run.

    Raises `BadValue` or `UnknownName`.
    """

    every: int
    length: int
    kinds: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.every <= 0 or self.length <= 0:
            raise BadValue(f"every {self.every} ms, length {self.length} ms: expected times above 0")
        for kind in self.kinds:
            if kind not in KINDS:
                raise UnknownName.of("kind of fault", kind, KINDS)

    def of(self, scenario: Scenario, seed: int) -> tuple[Fault, ...]:
        """Return the faults of a seed, once brokers have started; those of one broker or link never overlap."""
        random, found = Random(f"chaos:{seed}"), []
        begin = _started(scenario)
        time, good = float(begin), dict[object, int]()  # what broke -> when it is good again
        pairs = _pairs(scenario)
        serves = CALLED if scenario.product == "openmq" else SERVES
        able = [kind for kind in self.kinds if kind != "cut" or pairs]
        while able and (time := time + random.expovariate(1 / self.every)) < begin + self.length:
            kind, at = random.choice(able), int(time)
            what = random.choice(pairs) if kind == "cut" else (random.choice(scenario.network.names),)
            end = at + random.randrange(*LASTING)
            if at > good.get(what, at - serves - 1) + serves:
                good[what] = end
                found.append(_fault(kind, what, at, end, scenario.product))
        return tuple(found)

    def added(self, scenario: Scenario, seed: int) -> Scenario:
        """Return the scenario with the faults of a seed."""
        return inputs.scenario_of(scenario, *_flat(self.of(scenario, seed)))


def _started(scenario: Scenario) -> int:
    """Return when the brokers of a scenario have started (ms): OpenMQ's and Artemis' take seconds."""
    trace: Trace = products.play(Scenario.of(scenario.network))
    return max((trace.column("t")[row] for row in trace.rows(Kind.Started)), default=0) // 1000


def _pairs(scenario: Scenario) -> list[tuple[str, ...]]:
    network = scenario.network
    if isinstance(network, Network):
        near = graph.neighbours(network)
        return sorted({(min(a, b), max(a, b)) for a, others in near.items() for b in others if a != b})
    return list(combinations(network.names, 2))


def _fault(kind: str, what: tuple[str, ...], begins: int, ends: int, product: str) -> Fault:
    at, end = f"{begins}ms", f"{ends}ms"
    if kind == "cut":
        how = {"how": "hang"} if product == "openmq" else {}
        return Cut(*what, at=at, **how), Heal(*what, at=end)
    if kind == "pause":
        return Pause(*what, at=at), Resume(*what, at=end)
    return (Crash if kind == "crash" else Stop)(*what, at=at), Restart(*what, at=end)


def _flat(found: Iterable[Fault]) -> list[Action]:
    return sorted((action for pair in found for action in pair), key=lambda one: duration(one.at or 0, "at"))


@dataclass(frozen=True, slots=True)
class Survival(Answering):
    """How often a property failed: `failed` are the seeds of `runs` runs in which it did.

    `faults` are those of the smallest example (none where it held), `scenario` is that example, to be run,
    explained or viewed. `unsent` is seed -> messages that were planned and never sent: they cannot fail.
    """

    never: str
    runs: int
    failed: tuple[int, ...]
    faults: tuple[Fault, ...] = field(repr=False)
    scenario: Scenario | None = field(repr=False)
    unsent: Mapping[int, int] = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether the property held in every run."""
        return not self.failed

    def __str__(self) -> str:
        if self.holds:
            return f"In none of {counted(self.runs, 'run')} was a message {self.never}.{_unsaid(self.unsent)}"
        told = ", ".join(called(action) for action in _flat(self.faults)) or "no fault at all"
        share = f"{len(self.failed)} of {counted(self.runs, 'run')}"
        return f"Messages were {self.never} in {share} (seed {self.failed[0]}). Smallest example: {told}."

    __repr__ = __str__


def _unsaid(unsent: Mapping[int, int]) -> str:
    """Return what else is to be known of a property that held: a message that was not sent kept it, too."""
    if not unsent:
        return ""
    worst = max(unsent, key=lambda seed: unsent[seed])
    many = counted(unsent[worst], "message")
    runs = counted(len(unsent), "run")
    return f" But {runs} did not send all: with seed {worst}, {many} stayed unsent. Its undone says why."


def survives(
    scenario: Scenario, faults: RandomFaults, *, never: str, seeds: int, processes: int | None = None
) -> Survival:
    """Run a scenario with the faults of each seed, on all cores; see `mqlab.survives`."""
    if never not in NEVER:
        raise UnknownName.of("property", never, NEVER)
    whole(1, MOST_SEEDS).check(seeds, "seeds")
    if not any(isinstance(one, RequestReply) or getattr(one, "sends", 0) for one in map(bare, scenario.doing)):
        raise BadValue(f"no message is sent, so none can be {never}; add traffic: *mq.default_load(network)")
    drawn = {str(seed): _flat(faults.of(scenario, seed)) for seed in range(seeds)}
    rows = sweep(scenario, over={"seed of faults": drawn}, processes=processes).rows
    for row in rows:
        if row["status"] == "failed":
            raise BadValue(f"seed {row['options']['seed of faults']}: {row['error']}")
    failed = tuple(int(row["options"]["seed of faults"]) for row in rows if row[never])
    unsent = {int(row["options"]["seed of faults"]): row["unsent"] for row in rows if row["unsent"]}
    if not failed:
        return Survival(never, seeds, (), (), None, unsent)
    fewest = min((faults.of(scenario, seed) for seed in failed), key=len)
    small = _smallest(scenario, fewest, never)
    return Survival(never, seeds, failed, small, inputs.scenario_of(scenario, *_flat(small)), unsent)


def _smallest(scenario: Scenario, found: tuple[Fault, ...], never: str) -> tuple[Fault, ...]:
    """Return as few of the faults as still make the property fail: no single one of them can be left out."""
    for fault in found:
        fewer = tuple(one for one in found if one is not fault)
        if fails(inputs.scenario_of(scenario, *_flat(fewer)), never):
            return _smallest(scenario, fewer, never)
    return found


def fails(scenario: Scenario, never: str) -> bool:
    """Whether a property fails in a run of a scenario; a run that cannot be is no failure."""
    try:
        trace: Trace = products.play(scenario)
    except MqlabError:
        return False
    return bool(getattr(trace, never)())


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change that may keep a property: what it is, its kind, its price, and the scenario after it."""

    text: str
    kind: str
    price: float
    apply: Callable[[Scenario], Scenario] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Cheapest(Answering):
    """The cheapest changes after which a property held in all runs; `changes` is None where none were found."""

    never: str
    runs: int
    changes: tuple[Remedy, ...] | None
    scenario: Scenario | None = field(repr=False)
    unsent: Mapping[int, int] = field(repr=False)
    tried: int = 0

    @property
    def price(self) -> float | None:
        """What the changes cost together; None where none were found."""
        return None if self.changes is None else sum(change.price for change in self.changes)

    def __str__(self) -> str:
        if self.changes is None:
            least = f"No {MOST_CHANGES} changes or fewer"
            return f"{least} keep messages from being {self.never} ({self.tried} tried)."
        told = f"{' and '.join(map(str, self.changes))} (price {self.price:g})" if self.changes else "No change"
        held = f"in none of {counted(self.runs, 'run')} was a message {self.never}"
        return f"{told}: {held}.{_unsaid(self.unsent)}"

    __repr__ = __str__


def cheapest(
    scenario: Scenario,
    faults: RandomFaults,
    remedies: Sequence[Remedy],
    *,
    never: str,
    seeds: int,
    processes: int | None = None,
) -> Cheapest:
    """Return the cheapest remedies after which no seed makes a property fail; see `mqlab.cheapest`.

    Sets are tried in the order of their price. A set has to pass the seeds that were failures before, and only
    then all of them: most sets are sorted out by one or two runs.
    """
    lives = partial(survives, faults=faults, never=never, seeds=seeds, processes=processes)
    first = lives(scenario)
    if first.holds:
        return Cheapest(never, seeds, (), scenario, first.unsent)
    known, tried = list(first.failed), 0
    for some in _sets(remedies):
        try:
            changed = scenario
            for remedy in some:
                changed = remedy.apply(changed)
        except MqlabError:
            continue
        tried += 1
        if any(fails(faults.added(changed, seed), never) for seed in known[:8]):
            continue
        found = lives(changed)
        if found.holds:
            return Cheapest(never, seeds, some, changed, found.unsent, tried)
        known = [*found.failed, *known]
    return Cheapest(never, seeds, None, None, {}, tried)


def _sets(remedies: Sequence[Remedy]) -> Iterator[tuple[Remedy, ...]]:
    """Yield sets of remedies by their price, smaller ones first."""
    some = (chosen for size in range(1, MOST_CHANGES + 1) for chosen in combinations(remedies, size))
    yield from sorted(some, key=lambda chosen: (sum(one.price for one in chosen), len(chosen)))
