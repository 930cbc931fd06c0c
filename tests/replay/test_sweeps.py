"""Sweeps on Spark: axes of every kind and product, kills, cancellations, traces on request."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import psutil
import pyarrow.parquet as pq
import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, CannotRun
from mqlab.experiments.plan import planned, play
from mqlab.replay import running, sweeps
from mqlab.spec import topology
from tests.conftest import ROOT
from tests.replay import held

pytestmark = pytest.mark.spark
Q = mq.Queue("Q")
TTL = "*/*.network_ttl"


def chain(size, sends=5):
    ends = mq.Consumer("C", on=f"B{size}", reads=Q), mq.Producer("P", on="B1", sends=sends, to=Q)
    return topology.network("chain", size), *ends


def rows(result):
    return [{**row, **json.loads(row["options"])} for row in result.table.to_pylist()]


def test_sizes_options_and_workloads_vary_together(tmp_path, spark):
    result = mq.replay.sweep(chain, over={"size": [3, 5], "sends": [2, 7], TTL: [1, 4]},
                             out=tmp_path / "s")  # fmt: skip
    got = {(r["size"], r["sends"], r[TTL]): json.loads(r["received"])["C"] for r in rows(result)}
    assert got == {(size, sends, ttl): sends * (ttl >= size - 1)
                   for size in (3, 5) for sends in (2, 7) for ttl in (1, 4)}  # fmt: skip
    assert {r["hops"] for r in rows(result) if r["size"] == 5} == {0, 4}


@pytest.mark.parametrize(("figure", "over"), [
    pytest.param("fuse:2.20", {"edition": ["5.5", "6.1"], TTL: [1, 2]}, id="activemq"),
    pytest.param("openmq:4-1", {"edition": ["6.5", "5.1"]}, id="openmq"),
    pytest.param("artemis:21.4", {"edition": ["2.4", "2.5"], "*.max_hops": [1, 2]}, id="artemis"),
])  # fmt: skip
def test_every_product_takes_editions_and_options(tmp_path, spark, figure, over):
    result = mq.replay.sweep(figure, over=over, seeds=2, out=tmp_path / "s")
    assert result.failed == []
    for row in rows(result):
        trace = result.trace(row["run"])  # played again
        assert trace.digest() == row["digest"]
        assert trace.header["edition"] == row["edition"]


def test_faults_are_an_axis_and_what_is_lost_a_column(tmp_path, spark):
    net = mq.Network(mq.Broker("A", store="memory"))
    sends = mq.Producer("P", on="A", sends=20, every="100ms", to=Q)
    crash = (mq.Crash("A", at="1s"), mq.Restart("A", at="1500ms"))
    result = mq.replay.sweep((net, sends), over={"fault": {"none": (), "crash": crash}},
                             out=tmp_path / "s")  # fmt: skip
    got = [(row["fault"], row["waiting"], row["lost"]) for row in rows(result)]
    assert got == [("none", 20, 0), ("crash", 0, 10)]


def test_an_axis_that_is_none_is_told(tmp_path):
    with pytest.raises(BadValue, match=r"write BROKER/CONNECTOR\.OPTION"):
        mq.replay.sweep("fuse:2.20", over={"size": [1]}, out=tmp_path / "s")
    with pytest.raises(BadValue, match="size has no values"):
        mq.replay.sweep(chain, over={"sends": [1]}, out=tmp_path / "s")
    with pytest.raises(BadValue, match="two values have the same label"):
        mq.replay.sweep(chain, over={"size": [3, 3], "sends": [1]}, out=tmp_path / "s")


def test_traces_are_kept_of_the_runs_that_are_asked_for(tmp_path, spark):
    result = mq.replay.sweep(chain, over={"size": [3, 5], "sends": [2], TTL: [1, 4]},
                             traces=lambda row: row["waiting"] > 0, out=tmp_path / "s")  # fmt: skip
    kept = sorted(path.name for path in (tmp_path / "s" / "traces").iterdir())
    assert kept == ["run-000000000.parquet", "run-000000002.parquet"]
    digests = result.table.column("digest").to_pylist()
    assert [result.trace(run).digest() for run in range(4)] == digests


def tardy(text, seed, jitter):
    time.sleep(0.05)
    return sweeps.play(text, seed, jitter)


def slow(folder, worker=tardy):
    return sweeps.sweep("fuse:2.20", over={"A/linkToBrokerB.conduit_subscriptions": [True, False]},
                        seeds=40, out=folder, worker=worker, partitions=40)  # fmt: skip


def killed(folder, after):
    """Play a sweep in a process of its own and kill it, with its Java, after so many runs."""
    code = ("from pathlib import Path; from tests.replay import held;"
            "from tests.replay.test_sweeps import slow;"
            f"folder = Path({str(folder)!r}); slow(folder, held.worker(folder, {after}))")  # fmt: skip
    with held.held(folder):
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        held.wait_for(folder, after, process)
        with suppress(psutil.NoSuchProcess):
            for one in (*psutil.Process(process.pid).children(recursive=True), process):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        process.wait()


@pytest.mark.sample(11, pool="javas")
def test_a_killed_sweep_goes_on_and_gives_the_same_bytes(tmp_path, spark):
    for after in (3, 30):
        killed(tmp_path / "s", after)
        assert after <= sweeps._count(tmp_path / "s") < 80
        assert not (tmp_path / "s" / "runs.parquet").exists()
        with pytest.raises(BadFile, match="is incomplete"):
            mq.replay.load(tmp_path / "s")
    slow(tmp_path / "s", sweeps.play)
    slow(tmp_path / "whole", sweeps.play)
    one, other = ((tmp_path / name / "runs.parquet").read_bytes() for name in ("s", "whole"))
    assert one == other
    assert pq.read_table(tmp_path / "s" / "runs.parquet").num_rows == 80


def test_a_sweep_that_an_older_mqlab_has_begun_goes_on(tmp_path, spark):
    out, over = tmp_path / "out", {"edition": ["5.5", "5.17"]}
    plan = planned("fuse:2.20", over, 1, None, 0)
    sweeps._begin(out, plan)
    sweeps._group(plan, [0], out, False, play)
    (part,) = (out / "parts").iterdir()
    pq.write_table(pq.read_table(part).drop_columns(["bytes"]), part)
    whole = mq.replay.sweep("fuse:2.20", over=over, out=tmp_path / "whole", progress=False)
    done = mq.replay.sweep("fuse:2.20", over=over, out=out, progress=False)
    assert done.table.schema == whole.table.schema
    assert done.table.column("bytes").to_pylist() == [None, 6 * 1024]
    assert done.table.drop_columns(["bytes"]) == whole.table.drop_columns(["bytes"])


def test_another_sweep_is_not_taken_for_an_unfinished_one(tmp_path, spark):
    killed(tmp_path / "s", 3)
    with pytest.raises(BadFile, match="a different sweep"):
        sweeps.sweep("fuse:2.20", over={}, out=tmp_path / "s")


def test_an_interrupt_cancels_and_what_was_done_is_kept(tmp_path, spark):
    def interrupt():
        held.wait_for(tmp_path / "s", 4)
        os.kill(os.getpid(), signal.SIGINT)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    with held.held(tmp_path / "s"):
        threading.Thread(target=interrupt).start()
        with pytest.raises(CannotRun, match=r"cancelled: \d+ of 80 runs kept"):
            slow(tmp_path / "s", held.worker(tmp_path / "s", 4))
    assert 4 <= sweeps._count(tmp_path / "s") < 80
    assert slow(tmp_path / "s", sweeps.play).runs == 80


@pytest.mark.parametrize(("runs", "seconds", "tasks"), [
    pytest.param(1_000_000, 0.001, 50, id="short ones make tasks of 20 s"),
    pytest.param(200, 0.001, 1, id="few short ones one task"),
    pytest.param(100, 1, 8, id="a few tasks for each core"),
    pytest.param(5, 60, 5, id="long ones one each"),
])  # fmt: skip
def test_tasks_last_seconds(runs, seconds, tasks):
    assert sweeps._tasks(runs, seconds, 2, None) == tasks


def test_a_failing_look_is_no_silence(spark):
    with pytest.raises(ZeroDivisionError):
        running.run(spark, lambda: 1 / 0, lambda: None)


def test_the_notebooks_bar_tells_what_is_left():
    bar = pytest.importorskip("mqlab.views.bar", reason="the extra lab is not installed")
    bar._kernel = lambda: "k"
    one = bar.NotebookBar("runs", 100)
    one.to(20)
    one.begin -= 10
    one.to(60)
    assert one.text == "runs: 60 of 100, 10 s left"
    one.to(100)
    assert one.text == "runs: 100 of 100"
