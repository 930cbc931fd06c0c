"""Lab files that are changed at random: each runs within limits, or is refused by one clear error."""

import os
import re
import signal
from contextlib import contextmanager

import pytest

from mqlab import products
from mqlab.errors import MqlabError
from tests.files.changes import ODD, SEEDS, USED, changed, used
from tests.files.test_shapes import recordings

FILES = int(os.environ.get("MQLAB_CHANGED_FILES", "10000"))
PARTS = 20
PATIENCE = 20  # s of the processor for one file
EVENTS = 2000


@contextmanager
def patience(what):
    def over(*_):
        raise TimeoutError(f"file {what}: no end after {PATIENCE} s")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(no, value):
    """Return how a file ends: ran, or what the error says."""
    try:
        with patience(no):
            scenario = products.product_of(value).read(value, "my.json")
            products.play(scenario, limit=EVENTS)
    except MqlabError as error:
        return str(error)
    return "ran"


def check(no, value):
    told = outcome(no, value)
    assert len(told) < 700, (no, told)
    assert "Traceback" not in told, (no, told)
    assert told.encode(), no  # whatever came can be printed
    return told


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_changed_lab_file_runs_within_limits_or_is_refused_by_one_error(part):
    ran = 0
    for no in range(part, FILES, PARTS):
        ran += check(no, changed(no)) == "ran"
    assert ran > FILES / PARTS / 10, "the changes are not all of one kind"


@pytest.mark.slow
def test_a_changed_recording_does_too():
    values = [value["scenario"] for value in recordings()]
    known = used(values)
    for no in range(FILES // 10):
        check(no, changed(no, values, {**USED, **known}))


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_anything_at_all_in_place_of_a_file_is_refused(odd):
    assert re.match(r"my\.json: ", outcome("odd", odd)), odd


@pytest.mark.parametrize("key", ["brokers", "connectors", "steps", "queues", "cluster"])
def test_anything_at_all_in_place_of_a_part_is_refused_or_runs(key):
    for no, odd in enumerate(ODD):
        for seed in SEEDS[::7]:
            check(no, {**seed, key: odd})
