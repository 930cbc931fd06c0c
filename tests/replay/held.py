"""Sweeps that are stopped in their middle: they wait there, however fast or slow a machine is."""

import time
from contextlib import contextmanager
from functools import partial

from mqlab.replay import sweeps


def _lock(folder):
    return folder.with_name(f"{folder.name}.held")


@contextmanager
def held(folder):
    """While this is open, `worker(folder, after)` begins no run of the sweep when *after* are finished."""
    lock = _lock(folder)
    lock.parent.mkdir(exist_ok=True)
    lock.touch()
    try:
        yield
    finally:
        lock.unlink()


def worker(folder, after):
    """Return what plays a run of the sweep in *folder*."""
    return partial(_play, folder, after)


def wait_for(folder, count, process=None):
    """Wait until so many runs of a sweep are finished, while the process that plays it goes on."""
    while not (folder / sweeps.PARTS).is_dir() or sweeps._count(folder) < count:
        assert process is None or process.poll() is None
        time.sleep(0.02)


def _play(folder, after, text, seed, jitter):
    while _lock(folder).exists() and sweeps._count(folder) >= after:
        time.sleep(0.02)
    return sweeps.play(text, seed, jitter)
