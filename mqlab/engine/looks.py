"""When to look whether an action beside the script is over: every millisecond, but where it cannot be.

Measured: a crash and a restart beside a producer that sends for minutes took 0.8 s of processor time, where the
15,000 events of the run take 0.1 s; nearly all of it were looks that found nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mqlab.engine.clock import Call, Clock, Due

if TYPE_CHECKING:
    from mqlab.engine.completion import Completion

LOOKS = 1000  # us from one look to the next
SEEN = 64  # of what is to happen, how much is asked whether it is on its way
FEW = 1000  # housekeeping, how much is asked when it happens
SMALL = 32  # of what is to happen: to ask all of it costs no more than the next look
ASKS = 16  # every so many looks where more is to happen: to ask costs as much as so many looks


def next_look(clock: Clock, until: Completion, look: Call) -> int:
    """Return when to *look* again (us)."""
    few = len(clock.heap) <= SMALL
    asks = few or until.deadline is not None or clock.now // LOOKS % ASKS == 0
    if until.condition is not None or not asks:
        return clock.now + LOOKS
    sure = until.deadline if until.deadline is not None else _moves_until(clock, look)
    # The look before the first that counts is made: of what is due at one time, the order stays.
    return clock.now + LOOKS * max(1, -((clock.now - sure) // LOOKS) - 1)


def _moves_until(clock: Clock, look: Call) -> int:
    """Return until when the network is surely not at rest, if it is not now (us); now if that is not known.

    There is no rest before what is on its way has come. Where nothing is, but somebody will find a broker or a
    lock, only what happens next can change that.
    """
    late = [due[0] for due in clock.heap[-SEEN:] if due[2] != clock.on_later]
    if clock.line:
        late.append(clock.line[-1][0])
    if late:
        return max(late)
    if len(clock.heap) > FEW:
        return clock.now
    return min((due[0] for due in clock.heap if not _is_idle(clock, due, look)), default=clock.now)


def _is_idle(clock: Clock, due: Due, look: Call) -> bool:
    """Whether it is a *look* that changes nothing: no more follows the action that it is for."""
    if due[2] != clock.on_later:
        return False
    call, until = cast("tuple[Call, Completion]", due[3])
    return call == look and until.condition is None and until.then is None
