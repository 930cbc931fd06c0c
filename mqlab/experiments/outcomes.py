"""What else might have come of it: one scenario under many seeds and a little jitter.

Much hangs on which of two things comes first at nearly the same moment: whose news reaches a broker
before a message does, which bridge is up first, whose turn it is. Real brokers give other outcomes in
other runs, too; here each of them has a seed that gives it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from mqlab.errors import BadValue, Interrupted
from mqlab.experiments import cores
from mqlab.experiments.rerun import Setting, play
from mqlab.spec.calls import Answering
from mqlab.spec.plural import counted
from mqlab.spec.scenario import Scenario
from mqlab.spec.shape import whole
from mqlab.spec.values import check_seed
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

SEEDS, JITTER = 200, "1ms"
NAMED = 12  # consumers that an outcome names; of more it says how many received how many
Counts = tuple[tuple[str, int], ...]
# What a broker decides; where two runs differ in one of these first, they part.
DECISIONS = (
    Kind.Subscribed,
    Kind.Refused,
    Kind.Merged,
    Kind.Dispatched,
    Kind.Forwarded,
    Kind.Held,
    Kind.Expired,
    Kind.DeadLettered,
    Kind.Discarded,
    Kind.Locked,
    Kind.RoleChanged,
    Kind.TakenOver,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run: messages received per consumer, waiting per broker and destination, lost, twice.

    `runs` is how many runs ended so, `seed` the first of them.
    """

    received: Counts
    waiting: Counts
    lost: int
    twice: int
    runs: int = field(default=1, compare=False)
    seed: int = field(default=0, compare=False)

    @classmethod
    def of(cls, trace: Trace) -> Outcome:
        """Return what came of a run."""
        waiting = {
            f"{broker} {dest}": len(numbers)
            for broker, dests in trace.waiting().items()
            for dest, numbers in dests.items()
        }
        twice = {number for more in trace.duplicated().values() for number in more}
        received = sorted(trace.received().items())
        return cls(tuple(received), tuple(sorted(waiting.items())), len(trace.lost()), len(twice))

    def difference(self, other: Outcome) -> str:
        """Return in words what differs in another outcome; an empty text where nothing does.

        >>> Outcome((("C", 3),), (), 0, 0).difference(Outcome((("C", 2),), (("A queue://Q", 1),), 0, 0))
        'C 3 \u2192 2, waiting at A queue://Q 0 \u2192 1'
        """
        one, two = self._counts(), other._counts()
        pairs = ((name, one.get(name, 0), two.get(name, 0)) for name in dict.fromkeys([*one, *two]))
        return ", ".join(f"{name} {before} \u2192 {after}" for name, before, after in pairs if before != after)

    def _counts(self) -> dict[str, int]:
        waiting = {f"waiting at {where}": count for where, count in self.waiting}
        return {**dict(self.received), "lost": self.lost, "received twice": self.twice, **waiting}

    def __str__(self) -> str:
        counts = [count for _, count in self.received]
        parts = [", ".join(f"{name} {count}" for name, count in self.received) or "no consumers"]
        if len(counts) > NAMED:
            each = f"from {min(counts)} to {max(counts)} each"
            parts = [f"{counted(len(counts), 'consumer')} {sum(counts)}, {each}"]
        parts += [f"{count} wait at {where}" for where, count in self.waiting]
        parts += [f"{self.lost} lost"] * bool(self.lost) + [f"{self.twice} twice"] * bool(self.twice)
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Outcomes(Answering):
    """All that came of one scenario, the most frequent first; `len()` says how many there are.

    A run of its own is got back with `trace(place)`, and `parting(place)` says where it first went
    another way than the most frequent one.
    """

    found: tuple[Outcome, ...]
    scenario: Scenario = field(repr=False, compare=False)
    setting: Setting = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.found)

    def __getitem__(self, place: int) -> Outcome:
        return self.found[place]

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return sum(outcome.runs for outcome in self.found)

    def share(self, place: int) -> float:
        """Return the share of the runs (0 to 1) that ended as the outcome at *place*."""
        return self.found[place].runs / self.runs

    def trace(self, place: int) -> Trace:
        """Return the trace of an example of the outcome at *place*."""
        setting = replace(self.setting, seed=self.found[place].seed)
        return play(self.scenario, setting)

    def parting(self, place: int) -> tuple[Event | None, Event | None]:
        """Return the first decision of a broker that is not that of the most frequent outcome's example.

        One of the pair is None where one run has made a decision more than the other.
        """
        return parting(self.trace(0), self.trace(place))

    def __str__(self) -> str:
        if len(self) == 1:
            return f"One outcome in {counted(self.runs, 'run')}: {self.found[0]}."
        lines = [f"{counted(len(self), 'outcome')} in {counted(self.runs, 'run')}:"]
        for place, outcome in enumerate(self.found):
            lines.append(f"  {self.share(place):4.0%}  {outcome}  (seed {outcome.seed})")
        return "\n".join(lines)

    __repr__ = __str__


def parting(one: Trace, other: Trace) -> tuple[Event | None, Event | None]:
    """Return the earliest pair of decisions of one broker in which two runs differ; (None, None) if alike."""
    left, right = _decisions(one), _decisions(other)
    found: list[tuple[int, Event | None, Event | None]] = []
    for broker in {**left, **right}:
        mine, theirs = left.get(broker, []), right.get(broker, [])
        for place in range(max(len(mine), len(theirs))):
            a = mine[place] if place < len(mine) else None
            b = theirs[place] if place < len(theirs) else None
            if a is None or b is None or _same(a) != _same(b):
                found.append((min(e.t for e in (a, b) if e is not None), a, b))
                break
    return min(found, key=lambda pair: pair[0])[1:] if found else (None, None)


def _decisions(trace: Trace) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for row, kind in enumerate(trace.column("kind")):
        if kind in DECISIONS:
            event = trace.event(row)
            found.setdefault(event.broker or "", []).append(event)
    return found


def _same(event: Event) -> tuple[object, ...]:
    return (event.kind, event.message, event.to, event.destination, event.subscription, event.rule)


def _outcome_with(scenario: Scenario, setting: Setting, seed: int) -> Outcome:
    return Outcome.of(play(scenario, replace(setting, seed=seed)))


def outcomes(scenario: Scenario, setting: Setting, seeds: int = SEEDS) -> Outcomes:
    """Play a scenario with *seeds* seeds from that of *setting* on, on all cores, and return what came of it.

    Raises `BadValue` for fewer than one seed, or without jitter: then every run is the same. Ctrl-C raises
    `Interrupted`, which has the outcomes so far.
    """
    whole(1, cores.MOST_SEEDS).check(seeds, "seeds")
    check_seed(setting.seed)
    if setting.jitter <= 0:
        raise BadValue("jitter=0 always gives the same run; use e.g. jitter='1ms'")
    counts: Counter[Outcome] = Counter()
    first: dict[Outcome, int] = {}
    numbers = range(setting.seed, setting.seed + seeds)
    found_by = cores.each(partial(_outcome_with, scenario, setting), numbers)
    try:
        for seed, outcome in zip(numbers, found_by, strict=True):
            first.setdefault(outcome, seed)
            counts[outcome] += 1
    except KeyboardInterrupt:
        if not counts:
            raise
        raise Interrupted(outcomes=Outcomes(_ranked(counts, first), scenario, setting)) from None
    return Outcomes(_ranked(counts, first), scenario, setting)


def _ranked(counts: Counter[Outcome], first: dict[Outcome, int]) -> tuple[Outcome, ...]:
    """Return outcomes, the most frequent first, each with how many runs ended so, and the first seed."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], first[pair[0]]))
    return tuple(Outcome(o.received, o.waiting, o.lost, o.twice, runs, first[o]) for o, runs in ranked)
