"""The script of every lab: when an action is over, and what happens beside it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import mqlab as mq
from mqlab.engine.completion import Completion
from mqlab.engine.lab import Lab


@dataclass(frozen=True)
class Act:
    """Note a name; over as `until` says. With a `tick` something is due then (us)."""

    name: str
    until: Completion
    at: str | None = None
    tick: int | None = None


class Noted(Lab):
    """A lab that only writes down when things happened."""

    def __init__(self, *script):
        super().__init__("noted", script)
        self.notes = []

    trace, roles = None, {}

    def _do(self, action):
        self.schedule(action)

    def begin(self, action):
        self.note(action.name)
        if action.tick is not None:
            self.clock.schedule(action.tick, self.note, f"tick of {action.name}")
        return action.until

    def note(self, name):
        self.notes.append((self.now, name))

    def has_ticked(self, name):
        return any(name in noted for _, noted in self.notes)


def test_what_is_due_at_a_deadline_happens_before_the_next_action():
    lab = Noted(Act("a", Completion(deadline=5000), tick=5000), Act("b", Completion()))
    lab.play()
    assert lab.notes == [(0, "a"), (5000, "tick of a"), (5000, "b")]


def test_until_stops_in_the_middle_of_an_action_and_changes_nothing():
    lab = Noted(Act("a", Completion(deadline=10_000)), Act("b", Completion()))
    lab.until("4ms")
    assert (lab.now, lab.notes) == (4000, [(0, "a")])
    lab.play()
    assert lab.notes == [(0, "a"), (10_000, "b")]


def test_an_action_may_have_a_second_part():
    class Twice(Noted):
        def begin(self, action):
            super().begin(action)
            return Completion(deadline=1000, argument=action, then=self.go_on)

        def go_on(self, action):
            self.note(f"{action.name} again")
            self.under_way = Completion(deadline=3000)

    lab = Twice(Act("a", Completion()))
    lab.script.append(Act("b", Completion()))
    while lab.step():
        pass
    assert lab.notes[:3] == [(0, "a"), (1000, "a again"), (3000, "b")]


def test_an_action_beside_the_script_is_waited_for():
    lab = Noted()
    until = Completion(lab.has_ticked, "tick of b", then=lab.note)
    lab.schedule(Act("b", until, at="2ms", tick=7000))
    lab.schedule(Act("a", Completion()))
    lab.play()
    assert lab.notes[:3] == [(0, "a"), (2000, "b"), (7000, "tick of b")]
    assert lab.notes[3][1] == "tick of b"  # told as its `then` says, when it was over
    assert lab.scheduled == 0


def test_a_copy_goes_its_own_way():
    lab = Noted(Act("a", Completion(deadline=2000), tick=1000), Act("b", Completion()))
    lab.step()
    fork = lab.fork()
    fork.play()
    assert lab.notes == [(0, "a")]
    lab.play()
    assert lab.notes == fork.notes


def in_steps(lab, end=None):
    """Play a lab as `play` does, but one step after the other."""
    lab.hurry = lambda last: None
    lab.play(end)


@pytest.mark.parametrize("end", [None, "8s", "40s"])
@pytest.mark.parametrize("limit", [None, 100_000])
@pytest.mark.parametrize("jitter", [0, "2ms"])
def test_a_run_is_the_same_in_steps(end, limit, jitter):
    """A pair, a connector that follows it, a client that fails over, a producer in the background, faults."""
    link = mq.NetworkConnector("to-a", uri="masterslave:(tcp://A1:61616,tcp://A2:61616)", duplex=True)
    pair = (mq.Broker(name, shared_store="a") for name in ("A1", "A2"))
    queue, uri = mq.Queue("Q"), "failover:(tcp://A1:61616,tcp://A2:61616)?maxReconnectDelay=500"
    actions = (
        mq.Start(), mq.Consumer("C", on="B", reads=queue), mq.Client("shop", uri=uri),
        mq.Producer("P", on="shop", sends=50, to=queue, every="100ms", in_background=True),
        mq.Crash("A1", at="2s"), mq.Cut("A2", "B", at="14s"), mq.Heal("A2", "B", at="15s"), mq.Wait("1s"),
        mq.Producer("R", on="B", sends=3, to=queue),
    )  # fmt: skip
    scenario = mq.Scenario(mq.Network(*pair, mq.Broker("B", link)), actions)
    hurried, stepped = (mq.Lab(scenario, seed=3, jitter=jitter, limit=limit) for _ in range(2))
    hurried.play(end)
    in_steps(stepped, end)
    assert hurried.trace.digest() == stepped.trace.digest()
    assert hurried.now == stepped.now
