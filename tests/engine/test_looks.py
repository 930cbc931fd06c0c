"""Actions beside the script: who sleeps between two happenings is over when he would be who always looks."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from mqlab.engine.completion import Completion
from mqlab.engine.looks import LOOKS, Looks
from tests.engine.test_script import Act, Noted

NAMES = "abcdefgh"
MS = 1000
TIMES = st.integers(0, 120).map(lambda quarter: quarter * 250)  # us
ACTS = st.lists(
    st.tuples(
        TIMES,
        st.sampled_from([None, *NAMES]),  # whose tick it waits for
        st.none() | TIMES.map(lambda time: time + 40 * MS),  # a deadline
        st.none() | TIMES,  # when it ticks, and
        st.none() | st.sampled_from(NAMES),  # for whom it ticks as it ends
    ),
    max_size=len(NAMES),
)


def played(acts):
    """Return when what happened in a lab with these actions, each beside the others."""
    lab = Noted()
    for name, (at, waits_for, deadline, tick, ticks) in zip(NAMES, acts, strict=False):
        condition = None if waits_for is None else lab.has_ticked
        then = None if ticks is None else lab.note
        argument = f"tick of {waits_for or ticks}"
        until = Completion(condition, argument, deadline, then)
        lab.schedule(Act(name, until, at=at, tick=None if tick is None else max(at, tick)))
    lab.play("200ms")
    return lab.notes


@given(ACTS)
def test_it_is_over_when_it_would_be_with_a_look_every_millisecond(acts):
    found = played(acts)
    with patch.object(Looks, "_next", lambda self, until: self.lab.clock.now + LOOKS):
        assert played(acts) == found


@given(st.lists(TIMES, min_size=1, max_size=5), TIMES)
def test_who_waits_for_a_rest_is_over_as_soon_as_nothing_moves(ticks, at):
    lab = Noted()
    for no, tick in enumerate(ticks):
        lab.schedule(Act(f"b{no}", Completion(), at=0, tick=tick))
    lab.schedule(Act("a", Completion(argument="over", then=lab.note), at=f"{at / MS}ms"))
    lab.play("200ms")
    assert [time for time, name in lab.notes if name == "over"] == [max(at, *ticks)]
    assert lab.scheduled == 0


def test_nobody_looks_while_nothing_happens():
    lab, looks = Noted(), []
    until = Completion(lambda name: looks.append(lab.now) or lab.has_ticked(name), "tick of b")
    lab.schedule(Act("a", until, at=0))
    lab.schedule(Act("b", Completion(), at=0, tick=10_000_000))
    lab.play("11s")
    assert lab.scheduled == 0
    assert len(looks) < 10
