"""A sweep on Spark beside the same runs in plain Python, in as many processes as there are cores.

Printed is how long both take; held to a bound is how much they work, Java and all: how long Spark takes on a
machine that has others to serve is shared out otherwise than how long plain processes take.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from time import perf_counter, process_time

import psutil
import pytest

import mqlab as mq
from mqlab.experiments.plan import planned, play
from mqlab.products.inputs import scenario_of
from mqlab.replay import spark as sparks
from tests.replay.test_long import hub

pytestmark = [pytest.mark.bench, pytest.mark.spark]
TASK = 5  # seconds that a task works at least
LEAST = 0.6  # of the work that plain processes have; the goal is 0.85 of their time


def played(seed):
    """Return how much processor time (s) a run takes."""
    start = process_time()
    assert play(TEXT, seed, 0)
    return process_time() - start


TEXT = ""


def begin(text):
    """What a process of its own imports before it is measured, it has in a warm session of Spark, too."""
    global TEXT
    TEXT = text
    played(0)


def plain(text, seeds, processes):
    """Return how long (s) plain processes take and how much they work."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, spawn, begin, (text,)) as pool:
        list(pool.map(played, range(processes)))
        start = perf_counter()
        work = sum(pool.map(played, range(seeds)))
        return perf_counter() - start, work


def worked(java):
    """Return how much processor time (s) Spark's Java and all below it have taken."""
    found = 0.0
    for process in (java, *java.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # what it took is told by the one above it
            found += sum(process.cpu_times()[:4])
    return found


@pytest.mark.sample(3, pool="large")
def test_a_sweep_beside_plain_python(tmp_path, capsys):
    scenario = scenario_of(*hub(2000))
    text = planned(scenario, {"edition": ["5.17"]}, 1, None, 0).lab_file(0)
    here = len(os.sched_getaffinity(0))
    begin(text)
    # Processor time: on a machine that has others to serve, tasks are no shorter.
    one = min(played(seed) for seed in range(3))
    seeds = here * max(4, round(1.2 * TASK / one))
    session = mq.replay.session()
    assert sparks.cores(session) == here
    sweep = {"over": {"edition": ["5.17"]}, "partitions": here, "progress": False}
    mq.replay.sweep(scenario, **sweep, seeds=4 * here, out=tmp_path / "warm")
    alone, least = plain(text, seeds, here)
    java = psutil.Process(sparks._gateway.process.pid)
    before, start = worked(java), perf_counter()
    result = mq.replay.sweep(scenario, **sweep, seeds=seeds, out=tmp_path / "sweep")
    took, work = perf_counter() - start, worked(java) - before
    assert (result.runs, result.failed) == (seeds, [])
    mq.replay.stop()
    with capsys.disabled():
        print(f"\n  {seeds} runs of {one:.2f} s, {here} tasks of {seeds / here * one:.1f} s: of plain Python "
              f"on as many cores {alone / took:.2f}, by processor time {least / work:.2f}")  # fmt: skip
    assert least / work > LEAST
