"""A set of two on a database, with jitter: what happens in some runs, and what in none."""

from collections import Counter

import pytest

import mqlab as mq
from mqlab.engine.timing import Costs
from mqlab.products.activemq.runtime import Lab, Timing
from mqlab.trace.kinds import Kind

SEEDS = range(200)
SLOW = Timing(broker=Costs(first_lead=500_000, lead=100_000))


def pair(locker, **options):
    return mq.Network(*(mq.Broker(name, store="jdbc", locker=locker, **options) for name in "AB"))


def played(network, seed, *actions, until="20s", jitter="1ms", timing=None):
    """Return a lab of a network, after some time."""
    lab = Lab(network, seed=seed, jitter=jitter, timing=timing)
    for action in actions:
        lab.do(action)
    lab.until(until)
    return lab


def failed(lab):
    return {event.broker for event in lab.trace.events() if event.kind == Kind.Failed}


@pytest.mark.parametrize("jitter", ["0ms", "1ms"])
def test_who_serves_at_once_has_found_all_tables(jitter):
    for seed in SEEDS if jitter != "0ms" else (0,):
        lab = played(pair("database"), seed, jitter=jitter, until="2s")
        assert sorted(lab.roles.values()) == ["master", "slave"]
        assert not failed(lab)


def test_of_those_who_make_the_tables_together_in_some_runs_none_starts():
    found = Counter(tuple(sorted(played(pair("database"), seed, timing=SLOW).roles.values())) for seed in SEEDS)
    assert set(found) == {("down", "down"), ("master", "slave")}
    assert 0.1 < found["down", "down"] / len(SEEDS) < 0.3, "one run of five"


def test_a_start_that_failed_gives_its_lock_back():
    for seed in SEEDS:
        lab = played(pair("database"), seed, timing=SLOW, until="5s")
        if not failed(lab):
            continue
        lab.do(mq.Restart("A"))
        lab.until("20s")
        assert lab.roles == {"A": "master", "B": "down"}
        return
    pytest.fail("no start failed")


def test_a_suspended_master_holds_up_its_successor_in_some_runs_until_it_goes_on():
    seen = Counter()
    options = {"lock_acquire_sleep_interval_ms": 2000, "lock_keep_alive_period_ms": 1000}
    for seed in SEEDS:
        lab = played(pair("lease", **options), seed, mq.Pause("A", at="5s"), until="15s")
        assert lab.roles["A"] == "master", "it does not know yet"
        seen[lab.roles["B"]] += 1
        lab.do(mq.Resume("A"))
        lab.until("25s")
        assert "master" in lab.roles.values()
    assert set(seen) == {"master", "slave"}
    assert 0.2 < seen["slave"] / len(SEEDS) < 0.6


def test_who_was_held_up_and_died_serves_once_in_its_next_life():
    options = {"lock_acquire_sleep_interval_ms": 2000, "lock_keep_alive_period_ms": 1000}
    held = 0
    for seed in SEEDS:
        lab = played(pair("lease", **options), seed, mq.Pause("A", at="5s"), until="15s")
        if lab.roles["B"] == "slave" and lab.database.lease_holder == "B":
            held += 1
            lab.do(mq.Crash("B", at="16s"))
            lab.do(mq.Restart("B", at="16.5s"))
            lab.do(mq.Resume("A", at="17s"))
            lab.until("60s")
            assert sorted(lab.roles.values()) == ["master", "slave"]
            took = [e.t for e in lab.trace.events() if e.kind == Kind.RoleChanged
                    and e.broker == "B" and lab.trace.detail(e.row)["role"] == "master"]  # fmt: skip
            assert len(took) == 1
    assert held > len(SEEDS) / 8


def test_without_jitter_nothing_of_it_happens():
    lab = played(pair("database"), 0, timing=SLOW, jitter="0ms", until="5s")
    assert sorted(lab.roles.values()) == ["master", "slave"]
    lab = played(pair("lease"), 0, mq.Pause("A", at="5s"), jitter="0ms", until="60s")
    assert lab.roles == {"A": "master", "B": "master"}
