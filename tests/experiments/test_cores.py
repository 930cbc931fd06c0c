"""Runs on all cores: the same results in the same order, and no process is left behind."""

import math
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

import mqlab as mq
from mqlab.errors import CannotRun
from mqlab.experiments import cores, workers
from tests.conftest import ROOT


@pytest.fixture
def shared(monkeypatch):
    """Whatever is to be done is shared out, however little it is."""
    monkeypatch.setattr(cores, "TRIED", 0)
    monkeypatch.setattr(cores, "WORTH", -1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def children():
    return [one for one in psutil.Process().children() if workers.CODE in one.cmdline()]


@pytest.mark.parametrize("processes", [1, 2, 3, None])
def test_results_come_in_order_whoever_finds_them(processes):
    assert list(cores.each(math.factorial, range(50), processes)) == [math.factorial(n) for n in range(50)]
    assert not children()


def test_what_takes_long_is_shared_out_and_what_does_not_is_done_here(shared, monkeypatch):
    started, start = [], workers._start
    monkeypatch.setattr(workers, "_start", lambda: started.append(start()) or started[-1])
    assert list(cores.each(abs, [-1])) == [1]
    assert list(cores.each(abs, [-1, 2, -3, 4])) == [1, 2, 3, 4]
    assert len(started) == 3
    monkeypatch.setattr(cores, "TRIED", 60)
    assert list(cores.each(abs, [-1, 2, -3, 4])) == [1, 2, 3, 4]
    assert len(started) == 3


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_comes_in_its_place(processes):
    found = cores.each(math.sqrt, [4, 9, -1, 16], processes)
    assert [next(found), next(found)] == [2, 3]
    with pytest.raises(ValueError, match="math domain error"):
        next(found)
    assert not children()


def test_what_a_task_prints_is_no_answer(capfd):
    assert list(cores.each(print, ["one", "two"], 2)) == [None, None]
    # Two processes write as they please: "twoone" and then two ends of lines, too.
    assert "".join(capfd.readouterr().err.split()) in ("onetwo", "twoone")


def test_a_process_that_ends_is_told():
    with pytest.raises(CannotRun, match="processes=1"):
        list(cores.each(os._exit, [3, 3], 2))
    assert not children()


def test_who_wants_no_more_leaves_no_process():
    found = cores.each(time.sleep, [0, 60, 60], 2)
    assert next(found) is None
    assert len(children()) == 2
    found.close()
    assert not children()


def test_outcomes_and_what_if_are_the_same_on_all_cores(shared):
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("x", uri="static:(tcp://B)")), mq.Broker("B"))
    foo = mq.Queue("FOO")
    readers = [mq.Consumer(f"C{i}", on="AB"[i], reads=foo) for i in range(2)]
    story = (*readers, mq.Producer("P", on="A", sends=7, to=foo))
    trace = mq.run(net, *story)

    def asked():
        return mq.outcomes(net, *story, seeds=20), mq.what_if(trace, message="P-2", consumer="C0")

    one, other = asked(), None
    with pytest.MonkeyPatch.context() as alone:
        alone.setattr(os, "cpu_count", lambda: 1)
        other = asked()
    assert one == other
    assert one[0].runs == 20
    assert one[1].changes


@pytest.mark.slow
def test_ctrl_c_ends_all_processes(tmp_path):
    script = tmp_path / "long.py"
    script.write_text("import mqlab as mq\nprint(mq.outcomes('fuse:4.4', seeds=100_000))\n")
    asked = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    begin, workers = time.monotonic(), []
    while not workers and time.monotonic() < begin + 60:
        time.sleep(0.2)
        workers = psutil.Process(asked.pid).children()
    if os.cpu_count() == 1:
        assert not workers
    time.sleep(1)
    asked.send_signal(signal.SIGINT)
    told = asked.communicate(timeout=120)[1]
    assert "Interrupted: the runs were interrupted; the outcomes so far" in told
    assert told.count("Traceback") == 1
    assert not psutil.wait_procs(workers, timeout=10)[1]
