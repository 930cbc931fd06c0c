"""One lab for ActiveMQ: every figure step by step, copied midway, and with another seed."""

from random import Random

import pytest

import mqlab as mq

FIGURES = [
    pytest.param(figure, id=figure.id)
    for figure in mq.figures()
    if isinstance(figure.scenario, mq.Scenario)
]


def steps_of(lab):
    """Step to the end; return how many steps it took."""
    steps = 0
    while lab.step():
        steps += 1
    return steps


@pytest.mark.parametrize("figure", FIGURES)
def test_both_futures_of_a_fork_are_that_of_the_lab(figure):
    draw = Random(figure.id)
    seed = draw.randrange(1000)
    wanted = mq.run(figure, seed=seed, jitter="2ms").digest()
    stepped = mq.Lab(figure, seed=seed, jitter="2ms")
    steps = steps_of(stepped)
    assert stepped.trace.digest() == wanted
    for _ in range(5):
        lab = mq.Lab(figure, seed=seed, jitter="2ms")
        for _ in range(draw.randrange(steps)):
            lab.step()
        before, header, now, roles = lab.trace.digest(), lab.trace.header, lab.now, lab.roles
        fork = lab.fork()
        fork.play()
        assert (lab.trace.digest(), lab.now, lab.roles) == (before, now, roles)
        assert lab.trace.header == header
        lab.play()
        assert (fork.trace.digest(), lab.trace.digest()) == (wanted, wanted)
        assert fork.roles == lab.roles == stepped.roles
        assert fork.trace.header == lab.trace.header == stepped.trace.header


@pytest.mark.parametrize("figure", FIGURES)
def test_a_fork_and_its_original_that_step_by_turns_do_not_meet(figure):
    wanted = mq.run(figure, seed=5, jitter="2ms").digest()
    labs = [mq.Lab(figure, seed=5, jitter="2ms")]
    for _ in range(Random(figure.id).randrange(40)):
        labs[0].step()
    labs += [labs[0].fork(), labs[0].fork().fork()]
    going = list(labs)
    while going:
        going = [lab for lab in going if lab.step()]
    assert [lab.trace.digest() for lab in labs] == [wanted] * 3


@pytest.mark.parametrize("figure", FIGURES)
def test_another_seed_with_jitter_is_another_trace_and_the_same_seed_is_not(figure):
    one, same, other = (mq.run(figure, seed=seed, jitter="2ms") for seed in (1, 1, 2))
    assert one.digest() == same.digest()
    if any(event.kind is mq.Kind.Sent for event in one.events()):
        assert other.digest() != one.digest()
