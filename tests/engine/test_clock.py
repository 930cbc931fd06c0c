"""What is due happens in order of time, and of when it was put on the clock."""

import copy
from random import Random

import pytest

from mqlab.engine.clock import Clock
from mqlab.engine.link import Link, LinkQuality

USUAL = 10
DELAYS = (USUAL, USUAL, USUAL, 3, 20)  # of links: what the first carry waits in the line


class Crowd:
    """Things that put others on the clock as they happen; `happened` says when and in which order."""

    def __init__(self, seed, usual):
        self.random = Random(seed)
        self.clock = Clock(usual=usual)
        self.links = [Link(self.clock, LinkQuality(delay), self.random) for delay in DELAYS]
        self.put, self.happened = 0, []

    def happen(self, what):
        self.happened.append((self.clock.now, what))
        for _ in range(self.random.randrange(3) if self.put < 400 else 0):
            self.more()

    def more(self):
        self.put += 1
        way = self.random.randrange(8)
        if way < len(self.links):
            self.links[way].carry(self.happen, self.put, self.random.choice((0, 0, 0, 10)))
        else:
            add = self.clock.schedule_background if way == 7 else self.clock.schedule
            add(self.clock.now + self.random.choice((0, USUAL, 15)), self.happen, self.put)


def crowd(seed, usual):
    found = Crowd(seed, usual)
    for _ in range(40):
        found.more()
    return found


@pytest.mark.parametrize("seed", range(20))
def test_what_waits_in_the_line_happens_when_it_would_have_in_the_heap(seed):
    lined, heaped = crowd(seed, USUAL), crowd(seed, -1)
    assert lined.clock.line
    assert not heaped.clock.line
    for one in (lined, heaped):
        one.clock.rest(25)
        one.clock.step()
        one.clock.rest()
    assert lined.happened == heaped.happened
    assert lined.clock.waiting == heaped.clock.waiting


@pytest.mark.parametrize("seed", range(5))
def test_a_copy_of_a_clock_goes_its_own_way(seed):
    one = crowd(seed, USUAL)
    one.clock.rest(15)
    other, before = copy.deepcopy(one), list(one.happened)
    other.clock.rest()
    assert one.happened == before
    one.clock.rest()
    assert one.happened == other.happened


@pytest.mark.parametrize("seed", range(10))
def test_by_a_time_and_up_to_a_number_as_many_things_happen_as_in_steps(seed):
    hurried, stepped = crowd(seed, USUAL), crowd(seed, USUAL)

    class Happened:
        @property
        def count(self):
            return len(hurried.happened)

    for last, most in ((12, 10_000), (10_000, 60), (10_000, 10_000)):
        hurried.clock.rush(last, Happened(), most)
        while len(stepped.happened) <= most and stepped.clock.next_time <= last and stepped.clock.step():
            pass
        assert hurried.happened == stepped.happened
        assert hurried.clock.now == stepped.clock.now
    assert hurried.clock.waiting == hurried.clock.background
