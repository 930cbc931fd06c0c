"""A lab of OpenMQ goes step by step, can be copied, and takes one more step at any moment."""

from __future__ import annotations

import copy
from random import Random

import pytest

import mqlab as mq
from mqlab.api import openmq
from mqlab.errors import BadValue, MqlabError
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.lab import ClusterLab
from mqlab.spec.faults import HostDown
from mqlab.spec.step import Step
from tests.products.openmq.cluster import FAST, body
from tests.products.scenarios import of_figures, of_recordings

FIGURES, RECORDINGS = of_figures("openmq"), of_recordings("openmq")


def lab(script="", **more):
    return ClusterLab(lab_file.read(body(script, **more)))


def to_the_end(lab):
    while lab.step():
        pass
    return lab.trace.digest()


@pytest.mark.parametrize("scenario", [*FIGURES, *RECORDINGS])
def test_step_by_step_or_in_one_go_a_lab_does_the_same(scenario):
    assert to_the_end(ClusterLab(scenario, jitter="2ms")) == play(scenario, jitter="2ms").digest()


@pytest.mark.parametrize("scenario", [*FIGURES, *RECORDINGS])
def test_both_futures_of_a_fork_are_that_of_the_lab(scenario):
    whole, steps = ClusterLab(scenario, jitter="1ms"), 0
    while whole.step():
        steps += 1
    wanted = whole.trace.digest()
    half = ClusterLab(scenario, jitter="1ms")
    for _ in range(Random(wanted).randrange(steps)):
        half.step()
    before = half.trace.digest()
    other = half.fork()
    third = copy.deepcopy(other)
    assert to_the_end(other) == wanted
    assert (half.trace.digest(), third.trace.digest()) == (before, before)
    assert outcome(other.trace) == outcome(whole.trace)
    assert to_the_end(half) == wanted
    assert to_the_end(third) == wanted


@pytest.mark.parametrize("scenario", FIGURES)
def test_another_seed_with_jitter_is_another_trace_and_the_same_seed_is_not(scenario):
    one, same, other = (play(scenario, seed, "2ms").digest() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert play(scenario, 1).digest() != one


def test_one_more_step_is_done_at_once_and_stands_in_the_trace():
    lab_ = lab("open_consumer consumer=C broker=b3 queue=Q\nwait ms=5000")
    lab_.until("6s")
    lab_.do(openmq.Producer("P", "b1", 2, openmq.Queue("Q")))
    lab_.rest()
    assert lab_.trace.received() == {"C": 2}
    actions = lab_.trace.header["scenario"]["actions"]
    assert [action["do"] for action in actions] == ["Start", "Consumer", "Wait", "Producer"]
    assert lab_.trace.header["operations"][-1]["result"] == "ok"


def test_a_step_with_a_time_of_its_own_happens_then_beside_the_others():
    at = lab("""
        open_consumer consumer=C broker=b3 queue=Q
        kill broker=b2 at=7s
        wait ms=9000
        send broker=b1 queue=Q count=1 at=9s
        close_consumer consumer=C""")
    at.until("8s")
    assert at.roles["b2"] == "down"
    assert at.trace.received() == {"C": 0}
    at.rest()
    assert at.trace.received() == {"C": 1}
    assert [(row["step"], row["do"]) for row in at.operations] == [
        (2, "open_consumer"), (3, "kill"), (5, "send"), (6, "close_consumer")]  # fmt: skip


def test_what_waits_beside_the_others_ends_in_its_time():
    both = lab("""
        open_consumer consumer=C broker=b1 queue=Q receiving=false
        receive consumer=C count=3 within_ms=3000 at=6s
        send broker=b1 queue=Q count=1""")
    both.rest()
    (took,) = (row for row in both.operations if row["do"] == "receive")
    assert took["took"] == 1
    assert both.now == 9_000_000
    both.do(openmq.Producer("P", "b2", 1, openmq.Queue("Q")))
    both.rest()
    assert both.trace.received() == {"C": 1}  # it is held again


@pytest.mark.parametrize(
    "action",
    [
        openmq.Crash("b9"),
        openmq.Close("X"),
        HostDown("b1"),
        openmq.Crash("b1", at="1s"),
        Step("kill"),
    ],
)
def test_what_cannot_be_done_leaves_the_lab_as_it_was(action):
    one, other = lab("wait ms=5000"), lab("wait ms=5000")
    one.until("6s")
    other.until("6s")
    with pytest.raises(MqlabError):
        one.do(action)
    assert one.trace.header == other.trace.header
    assert to_the_end(one) == to_the_end(other)


def test_a_script_has_no_time_before_the_beginning():
    with pytest.raises(BadValue):
        lab("kill broker=b1 at=soon")


def test_a_lab_says_who_is_what_and_what_time_it_is():
    late = lab("kill broker=b3\nwait ms=1000", model="enhanced", options=FAST)
    assert late.roles == {"b1": "down", "b2": "down", "b3": "down"}
    late.play(until="5500ms")
    assert late.roles == {"b1": "running", "b2": "running", "b3": "down"}
    assert late.now == 5_500_000


@pytest.mark.parametrize(("ends", "owner"), [((), "b2"), ((openmq.Snapshot("then"),), "b1")])
def test_a_run_that_ends_with_a_crash_goes_on_to_the_takeover_unless_it_ends_with_a_look(ends, owner):
    net = openmq.Network("b1", "b2", model="enhanced")
    sends = openmq.Producer("P", on="b1", sends=2, to=openmq.Queue("Q"))
    trace = mq.run(net, sends, openmq.Crash("b1"), *ends)
    assert trace.waiting() == {owner: {"queue://Q": [1, 2]}}
    assert ("b2 takes over b1" in str(mq.explain(trace, broker="b2"))) is (not ends)
    alone = mq.run(net, sends, openmq.Crash("b2"), openmq.Crash("b1"))  # nobody is left who could
    assert alone.waiting() == {"b1": {"queue://Q": [1, 2]}}
