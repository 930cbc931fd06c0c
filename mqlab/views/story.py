"""Story time: how long a run takes to watch.

A run has bursts of hops of a millisecond each, rounds of failed attempts that are all alike, and long silences.
The player's clock paces it by what it tells: a hop takes one beat, whatever it takes in the run; who comes to
another state gets some beats more; rounds that are alike, and silences, are folded, and the fold says what is
in it. What the player shows as the time is still that of the run.

A moment at which a message moves, or at which a broker or a client comes to another state, counts; rounds
that are alike but for the time, as those of a client that finds nobody, count once.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2, log10
from statistics import median
from typing import TYPE_CHECKING, Self

from mqlab.spec.values import told_time
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

MOVES = frozenset({Kind.Sent, Kind.Forwarded, Kind.Dispatched})
TURNS = frozenset({
    Kind.Crashed, Kind.Stopped, Kind.Restarted, Kind.RoleChanged, Kind.Locked, Kind.LockLost,
    Kind.TakenOver, Kind.FailedOver, Kind.Attached, Kind.Interrupted, Kind.Partitioned,
    Kind.Healed, Kind.Intervened, Kind.Suspended, Kind.Resumed, Kind.Voted, Kind.Disconnected, Kind.BridgeDown,
})  # fmt: skip
REMEMBERED = 8  # moments back to which another one is alike

Sign = tuple[int, int, int, int, int, int]  # run, kind, rule, frm, to, broker


@dataclass(slots=True)
class Moment:
    """What happens at the time `t` (us): how many messages set out, and what else, as signs.

    `turns` is whether somebody comes to another state; `alike` whether all of it has just been seen.
    """

    t: int
    moves: int = 0
    messages: bool = False
    turns: bool = False
    alike: bool = False
    signs: set[Sign] = field(default_factory=set)

    @property
    def attempts(self) -> int:
        """How many sockets were opened."""
        return sum(sign[1] == Kind.Attempted for sign in self.signs)


def moments(traces: Iterable[Trace]) -> list[Moment]:
    """Return the moments of one run, or of several on one clock, in their order."""
    found: dict[int, Moment] = {}
    for number, trace in enumerate(traces):
        for t, kind, msg, *rest in zip(*_columns(trace), strict=True):
            moment = found.get(t)
            if moment is None:
                moment = found[t] = Moment(t)
            if msg >= 0:
                moment.messages = True
                moment.moves += kind in MOVES
            if msg < 0 or kind in TURNS:
                moment.signs.add((number, kind, *rest))  # type: ignore[arg-type]
    ordered = [found[t] for t in sorted(found)]
    _compare(ordered)
    return ordered


def _columns(trace: Trace) -> Iterator[Sequence[int]]:
    return (trace.column(name) for name in ("t", "kind", "msg", "rule", "frm", "to", "broker"))


def _compare(ordered: Sequence[Moment]) -> None:
    """Find which moments are like one shortly before, and which bring somebody to another state."""
    recent: deque[frozenset[Sign]] = deque(maxlen=REMEMBERED)
    for moment in ordered:
        sign = frozenset(moment.signs)
        seen = bool(sign) and sign in recent
        moment.alike = seen and not moment.messages
        moment.turns = not seen and any(one[1] in TURNS for one in sign)
        recent.append(sign)


BEAT = 0.35  # seconds of playing for a hop, at most
LONGEST = 45.0  # seconds of playing at normal speed, as long as hops stay visible
TURN = 3.0  # beats more, after somebody came to another state
FOLD = 0.6  # seconds of playing for what is folded, however long it is
SILENT = 12  # times as long as most gaps: a silence, which is folded
TIMES = "\N{MULTIPLICATION SIGN}"
ROUNDS = 5  # so many that are alike are folded


@dataclass(frozen=True, slots=True)
class SkippedSpan:
    """What is shortened from `begin` to `end` (us): silence, or `count` failed attempts or identical rounds."""

    begin: int
    end: int
    count: int = 0
    attempts: bool = False

    @property
    def text(self) -> str:
        """What stands at the fold: how long the silence is, or how many are alike."""
        return f"{TIMES}{self.count}" if self.count else length(self.end - self.begin)

    @property
    def told(self) -> str:
        """The fold in words."""
        if not self.count:
            return f"{self.text} without events"
        what = "failed attempts" if self.attempts else "identical rounds"
        return f"{self.count} {what} in {length(self.end - self.begin)}"


def length(us: int) -> str:
    """Return how long something takes, as it is read.

    >>> length(9_600_000), length(999_998), length(90_000), length(1_500), length(125_000_000)
    ('9.6 s', '1.0 s', '90 ms', '1.5 ms', '2 min 5 s')
    """
    if us >= 60_000_000:
        minutes, seconds = divmod(round(us / 1e6), 60)
        return f"{minutes} min {seconds} s"
    if us >= 999_500:  # less is "999 ms" at most
        return f"{us / 1e6:.1f} s"
    return f"{us / 1000:.0f} ms" if us >= 10_000 else told_time(us)


class PlaybackTime:
    """A piecewise linear map from the run's microseconds to seconds of playing, with its folds."""

    def __init__(self, told: Sequence[Moment], begin: int = 0) -> None:
        if not told or told[0].t > begin:
            told = [Moment(begin), *told]
        self.unit = _unit(told)
        self.folds = _folds(told, self.unit)
        self.times, beats = _paced(told, self.folds, self.unit)
        folded = FOLD * len(self.folds)
        playing = sum(beat for beat in beats if beat is not None)
        self.beat = min(BEAT, max(LONGEST - folded, LONGEST / 2) / max(1.0, playing))
        shared = _shares(self.times, self.folds)
        self.seconds = [0.0]
        for beat, share in zip(beats, shared, strict=True):
            lasts = share * FOLD if beat is None else beat * self.beat
            self.seconds.append(self.seconds[-1] + lasts)

    @classmethod
    def of(cls, *traces: Trace) -> Self:
        """Return the story of one run, or of several on one clock: every moment of any of them counts."""
        begin = min(trace.header.get("window", [0])[0] for trace in traces)
        return cls(moments(traces), begin)

    @property
    def duration(self) -> float:
        """Seconds that the whole run takes at normal speed."""
        return self.seconds[-1]

    def at(self, time: int) -> float:
        """Return the second of playing for a time of the run (us)."""
        place = min(bisect_right(self.times, time), len(self.times) - 1)
        if place == 0:
            return 0.0
        a, b = self.times[place - 1], self.times[place]
        share = min(1.0, max(0, time - a) / (b - a))
        return self.seconds[place - 1] + share * (self.seconds[place] - self.seconds[place - 1])


def _unit(told: Sequence[Moment]) -> int:
    """Return how long (us) a hop of the run takes, as most do; a millisecond where nothing moves."""
    gaps = [b.t - a.t for a, b in itertools.pairwise(told) if a.moves]
    return max(1, int(median(gaps))) if gaps else 1000


def _folds(told: Sequence[Moment], unit: int) -> list[SkippedSpan]:
    """Return what is folded: rounds alike first, then the silences between what is left."""
    found = []
    covered: set[int] = set()  # moments whose gap to the next one is in a fold
    numbers = range(len(told))
    for alike, group in itertools.groupby(numbers, lambda number: told[number].alike):
        rounds = list(group)
        if alike and len(rounds) >= ROUNDS:
            tries = sum(told[number].attempts for number in rounds)
            found.append(SkippedSpan(told[rounds[0]].t, told[rounds[-1]].t, tries or len(rounds), tries > 0))
            covered.update(rounds[:-1])
    gaps = {number: told[number + 1].t - told[number].t for number in numbers[:-1] if number not in covered}
    ordered = sorted(gaps.values())
    usual = max(ordered[len(ordered) * 3 // 4], unit) if ordered else unit
    for number, gap in gaps.items():
        if gap > SILENT * usual:
            start = told[number].t + (min(unit, gap // 4) if told[number].turns or told[number].moves else 0)
            found.append(SkippedSpan(start, told[number + 1].t))
    return sorted(found, key=lambda fold: fold.begin)


def _paced(
    told: Sequence[Moment], folds: Sequence[SkippedSpan], unit: int
) -> tuple[list[int], list[float | None]]:
    """Return the times between which playing is even, and for each span its beats; None in a fold."""
    begins = {fold.begin for fold in folds}
    ends = [fold.end for fold in folds]
    starts = [fold.begin for fold in folds]
    times: list[int] = [told[0].t]
    beats: list[float | None] = []
    for number, (one, other) in enumerate(itertools.pairwise(told)):
        after = TURN if one.turns and number > 0 else 0.0
        gap = other.t - one.t
        place = bisect_right(starts, one.t) - 1
        if place >= 0 and one.t < ends[place]:  # within rounds alike, or at the beginning of a silence
            beats.append(None)
        elif (soon := one.t + min(unit, gap // 4)) in begins and soon > one.t:
            times.append(soon)
            beats += [_pace(one, unit, unit) + after, None]
        else:
            beats.append(_pace(one, gap, unit) + after)
        times.append(other.t)
    if len(times) == 1:
        return [times[0], times[0] + 1], [1.0]
    return times, beats


def _pace(one: Moment, gap: int, unit: int) -> float:
    """Return the beats of a gap after a moment: a hop is one, many that set out together get more."""
    if one.moves:
        return min(3.0, max(0.6, gap / unit)) * (1 + 0.3 * log2(one.moves))
    quiet = min(1.0, gap / unit) * (0.5 + 0.25 * log10(max(1.0, gap / unit)))
    return max(quiet, 1.0) if one.signs and not one.alike else quiet


def _shares(times: Sequence[int], folds: Sequence[SkippedSpan]) -> list[float]:
    """Return which share of its fold each span is; 0 outside."""
    found = []
    starts = [fold.begin for fold in folds]
    for a, b in itertools.pairwise(times):
        place = bisect_right(starts, a) - 1
        inside = place >= 0 and a < folds[place].end
        found.append((b - a) / (folds[place].end - folds[place].begin) if inside else 0.0)
    return found
