"""The moments of a run: what happens at one time, and how much of it a viewer has not just seen.

A moment at which a message moves, or at which a broker or a client comes to another state, counts; rounds
that are alike but for the time, as those of a client that finds nobody, count once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
