"""Many steps of a lab at once, with the same result.

A step asks each time whether the action under way is over and what comes next. As long as no action ends or
begins, the clock can go on by itself: measured, an event of failover clients costs a fifth, one of a cluster of
OpenMQ two thirds, one of ten producers in the background three quarters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.engine.limits import LONGEST_REST
from mqlab.errors import BadValue, shown

if TYPE_CHECKING:
    from mqlab.engine.completion import Completion
    from mqlab.engine.lab import Lab


def steps(lab: Lab, count: int) -> bool:
    """Let so many things happen, one step each; False when nothing is left. Raises `BadValue` for no number."""
    if type(count) is not int or count < 1:
        raise BadValue(f"step: count is {shown(count)}; expected a whole number, 1 or more")
    return all(lab.step() for _ in range(count))


def hurry(lab: Lab, last: int) -> None:
    """Let things happen by the time *last* (us), up to the limit, as long as no action ends or begins."""
    until, clock = lab.under_way, lab.clock
    most = NEVER if lab.limit is None else lab.limit
    if until is not None and (until.condition is not None or until.deadline is not None):
        _go_on_until(lab, until, last, most)
        return
    if until is None and (lab.script or lab.ends_with_script or lab.timing.between):
        return  # a step begins an action, ends the run, or draws a pause
    if most == last + 1 == NEVER:
        clock.rest()
    if until is not None:
        last = min(last, lab.rest_since + LONGEST_REST)  # after that a step says who never comes to rest
    clock.rush(last, lab.recorder, most)
    while until is not None and lab.expecting and lab.recorder.count <= most and clock.next_by(last):
        clock.rush(last, lab.recorder, most)


def _go_on_until(lab: Lab, until: Completion, last: int, most: int) -> None:
    condition, argument, clock = until.condition, until.argument, lab.clock
    if until.deadline is not None:
        last = min(last, until.deadline)
    while lab.under_way is until and lab.recorder.count <= most:
        if condition is not None and condition(argument):
            return
        if until.told is not None:
            clock.rush(min(last, until.told(argument)), lab.recorder, most)
            if clock.halted:
                continue
        if not clock.next_by(last):
            return
