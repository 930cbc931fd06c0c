"""Java, or a Python worker, killed at any moment: what was there stays readable, and a rerun completes."""

import os
import random
import signal
import threading
import time
from contextlib import suppress

import psutil
import pytest

import mqlab as mq
from mqlab.errors import CannotRun
from mqlab.replay import spark as sparks
from mqlab.replay import sweeps
from tests.replay import synthetic
from tests.replay.test_sweeps import slow

pytestmark = pytest.mark.spark
MOMENTS = random.Random(17)


def java():
    return sparks._gateway.process.pid


def worker():
    """Return a Python process that does Spark's tasks; None while there is none."""
    below = [p for p in psutil.Process(java()).children(recursive=True) if "python" in p.name()]
    return below[-1].pid if below else None


class Killing(threading.Thread):
    """Kills a process after some seconds, once there is one; `struck` says whether it did."""

    def __init__(self, victim, after):
        super().__init__()
        self.victim, self.after, self.struck = victim, after, False
        self.start()

    def run(self):
        time.sleep(self.after)
        end = time.monotonic() + 60
        while not self.struck and time.monotonic() < end:
            with suppress(ProcessLookupError, psutil.NoSuchProcess):
                if (found := self.victim()) is not None:
                    os.kill(found, signal.SIGKILL)
                    self.struck = True
            time.sleep(0.005)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory, spark_ends):
    """The cells and rows of a build and a sweep that nobody disturbs."""
    where = tmp_path_factory.mktemp("wanted")
    folder = synthetic.folder(where / "run", 300_000, per_file=50_000)
    slow(where / "sweep")
    return cells(folder, mq.replay.build(folder)), (where / "sweep" / "runs.parquet").read_bytes()


def cells(folder, built):
    return {path.name + path.parent.name: path.read_bytes()
            for path in sorted(built.folder.glob("level=*/*.parquet"))}  # fmt: skip


@pytest.mark.sample(11, pool="javas")
@pytest.mark.parametrize("victim", [java, worker], ids=["java", "worker"])
def test_a_build_that_is_killed_leaves_the_old_pyramid_and_can_be_made_anew(tmp_path, wanted, victim):
    folder = synthetic.folder(tmp_path / "run", 300_000, per_file=50_000)
    old = mq.replay.build(folder)
    for _ in range(2):
        mq.replay.session().range(1).count()
        thread = Killing(victim, MOMENTS.uniform(0.02, 0.6))
        with suppress(CannotRun):  # Java is gone, and says so
            mq.replay.build(folder)
        tiles = mq.replay.open(folder)
        assert tiles.tile("broker", *tiles.span).column("n").to_numpy().sum() == 300_000
        thread.join()
        assert thread.struck
        mq.replay.session()
    assert cells(folder, mq.replay.build(folder)) == cells(folder, old) == wanted[0]


@pytest.mark.sample(11, pool="javas")
@pytest.mark.parametrize("victim", [java, worker], ids=["java", "worker"])
def test_a_sweep_that_is_killed_again_and_again_has_every_run_once(tmp_path, wanted, victim):
    out, done = tmp_path / "s", None
    for _ in range(3):
        mq.replay.session().range(1).count()
        thread = Killing(victim, MOMENTS.uniform(0.2, 2))
        with suppress(CannotRun):
            done = slow(out)
        thread.join()
        assert thread.struck
        if done:
            break
        assert 0 <= sweeps._count(out) <= 80  # all, where only their table was missing
    assert (done or slow(out)).runs == 80
    assert (out / "runs.parquet").read_bytes() == wanted[1]
