"""Replay: sweeps in Spark tasks, pyramids that add up, tiles that need no Spark."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.replay import pyramid, store, sweeps
from mqlab.trace import Kind
from tests.conftest import ROOT
from tests.replay import synthetic

pytestmark = pytest.mark.spark
CONDUIT = "A/linkToBrokerB.conduit_subscriptions"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, spark_ends):
    folder = synthetic.folder(tmp_path_factory.mktemp("run") / "long", 1_000_000)
    mq.replay.build(folder)
    return folder


def test_a_sweep_runs_every_combination_for_every_seed(tmp_path, spark):
    figure = mq.figure("fuse:2.20")
    result = mq.replay.sweep(figure.scenario, over={CONDUIT: [True, False]}, seeds=4,
                             out=tmp_path / "sweep")  # fmt: skip
    assert result.runs == 8
    assert result.failed == []
    assert [row["received"] for row in result.summary()] == [
        "C1 6, C2 3, C3 3", "C1 4, C2 4, C3 4"]  # fmt: skip
    assert result.trace(0).received() == {"C1": 6, "C2": 3, "C3": 3}


def test_it_does_not_matter_how_runs_are_dealt_out_to_tasks(tmp_path, spark):
    scenario = mq.figure("fuse:2.18").scenario.change(
        "*/*", decrease_network_consumer_priority=False,
        suppress_duplicate_queue_subscriptions=False,
    )  # fmt: skip
    digests = []
    for partitions in (1, 2, 8):
        result = mq.replay.sweep(scenario, over={"B/B_to_E.network_ttl": [3]}, seeds=12,
                                 jitter="3ms", out=tmp_path / f"{partitions}",
                                 partitions=partitions)  # fmt: skip
        digests.append(result.table.column("digest").to_pylist())
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests[0])) > 1


def fails_on_three(text, seed, jitter):
    if seed == 3:
        raise ValueError("three is too many")
    return sweeps.play(text, seed, jitter)


def test_one_bad_run_does_not_kill_the_sweep(tmp_path, spark):
    result = sweeps.sweep(mq.figure("fuse:2.20").scenario, over={CONDUIT: [True]}, seeds=6,
                          out=tmp_path / "sweep", worker=fails_on_three)  # fmt: skip
    (bad,) = result.failed
    assert bad["seed"] == 3
    assert bad["error"] == "ValueError: three is too many"
    assert "fails_on_three" in bad["traceback"]
    assert (result.summary()[0]["runs"], result.summary()[0]["failed"]) == (5, 1)


def test_a_wrong_option_is_told_before_anything_runs(tmp_path):
    figure = mq.figure("fuse:2.20").scenario
    with pytest.raises(UnknownName, match="network_ttl"):
        mq.replay.sweep(figure, over={"A/linkToBrokerB.netwrk_ttl": [1]}, out=tmp_path / "s")
    with pytest.raises(BadValue, match="write BROKER/CONNECTOR"):
        mq.replay.sweep(figure, over={"networkTTL": [1]}, out=tmp_path / "s")
    assert not list(tmp_path.iterdir())


def test_a_sweep_never_overwrites(tmp_path):
    (tmp_path / "s").mkdir()
    with pytest.raises(BadFile, match="choose a new folder"):
        mq.replay.sweep(mq.figure("fuse:2.20").scenario, over={CONDUIT: [True]}, out=tmp_path / "s")


def test_every_level_of_the_pyramid_adds_up_to_the_trace(run_folder):
    tiles = mq.replay.open(run_folder)
    table = tiles.events(*tiles.span, limit=2_000_000)
    kind, broker, dest, link, age = (table.column(c).to_numpy() for c in
                                     ("kind", "broker", "dest", "link", "age"))  # fmt: skip
    assert len(kind) == 1_000_000
    received = kind == Kind.Received
    plain = {
        "link": np.bincount((link.astype(int) + 1) * 64 + kind),
        "broker": np.bincount(broker.astype(int) * 64 + kind),
        "dest": np.bincount(dest.astype(int) * 64 + kind), "age": np.bincount(dest[received]),
    }  # fmt: skip
    assert tiles.levels > 5
    for level in range(tiles.levels):
        width = (tiles.span[1] - tiles.span[0]) >> (tiles.shift + level)
        for marginal, wanted in plain.items():
            tile = tiles.tile(marginal, *tiles.span, most=width + 2)
            key, sub, n = (tile.column(c).to_numpy() for c in ("key", "kind", "n"))
            place = {"link": (key + 1) * 64 + sub, "age": key}.get(marginal, key * 64 + sub)
            got = np.bincount(place, n, minlength=len(wanted))
            assert (got == wanted).all(), (level, marginal)
    ages = tiles.tile("age", *tiles.span).column("total").to_numpy().sum()
    assert ages == age[received].sum()


def test_a_tile_has_no_more_buckets_than_asked_for(run_folder):
    tiles = mq.replay.open(run_folder)
    for most in (8, 64, 512):
        starts = set(tiles.tile("link", *tiles.span, most=most).column("t").to_pylist())
        assert most / 4 < len(starts) <= most + 1


def test_a_window_of_events_is_the_brute_force_window(run_folder):
    tiles = mq.replay.open(run_folder)
    everything = tiles.events(*tiles.span, limit=2_000_000).column("t").to_numpy()
    for t0, t1 in [(0, 10), (1_199_000, 1_201_500), (2_000_000, 2_030_000), tiles.span]:
        got = tiles.events(t0, t1, limit=2_000_000).column("t").to_numpy()
        wanted = everything[(everything >= t0) & (everything <= t1)]
        assert (got == wanted).all()
        assert tiles.count(t0, t1) == len(wanted)
    with pytest.raises(BadValue, match="look at less"):
        tiles.events(*tiles.span)


def test_the_path_of_one_message(run_folder):
    table = mq.replay.open(run_folder).path(70_000)
    assert set(table.column("msg").to_pylist()) == {70_000}
    assert table.num_rows == 6


def test_a_tile_takes_a_few_milliseconds(run_folder):
    tiles = mq.replay.open(run_folder)
    times = []
    for step in range(20):
        start = time.process_time()
        tiles.tile("link", step * 100_000, step * 100_000 + 1_000_000)
        times.append(time.process_time() - start)
    assert sorted(times)[10] < 0.05


def test_a_window_is_a_trace_that_can_be_viewed(tmp_path):
    trace = mq.run("fuse:2.16")
    tiles = mq.replay.open(mq.replay.write(trace, tmp_path / "run"))
    whole = tiles.window(*tiles.span)
    assert whole.digest() == trace.digest()
    part = tiles.window(100_000, 200_000)
    assert 0 < len(part) < len(trace)
    for event in part.events():
        assert event.cause is None or event.cause < event.row


def test_a_damaged_file_is_named(tmp_path, spark):
    folder = synthetic.folder(tmp_path / "run", 1000)
    (folder / "events" / "000000.parquet").write_bytes(b"nothing")
    with pytest.raises(BadFile, match=r"000000\.parquet: damaged"):
        mq.replay.build(folder)


def test_a_build_that_fails_leaves_the_old_pyramid(tmp_path, spark, monkeypatch):
    folder = synthetic.folder(tmp_path / "run", 10_000)
    old = mq.replay.build(folder)
    monkeypatch.setattr(pyramid, "_run", lambda units, shape, target: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        mq.replay.build(folder)
    assert mq.replay.open(folder).pyramid == old.folder
    assert mq.replay.open(folder).tile("link", 0, 30_000).num_rows
    assert len(list(folder.glob("pyramid-*"))) == 1


def test_a_folder_without_a_trace_is_told(tmp_path):
    with pytest.raises(BadFile, match=r"no readable manifest\.json, so not a trace folder; write one"):
        mq.replay.open(tmp_path)
    store.write(mq.run("fuse:2.20"), tmp_path / "run")
    with pytest.raises(BadFile, match="no pyramid yet"):
        mq.replay.open(tmp_path / "run").tile("link", 0, 1)
    with pytest.raises(BadFile, match="already contains a trace"):
        store.write(mq.run("fuse:2.20"), tmp_path / "run")


def in_a_process(code, patience=300, **env):
    """Return what a process prints whose environment is its own, and of which no class archive is made."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=patience,
                          env={"PATH": "/nowhere", "HOME": os.environ["HOME"], "CI": "true",
                               **env, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_stats_rows_are_a_dataset_beside_the_traces(tmp_path, spark):
    import pyarrow.parquet as pq

    mq.replay.sweep(mq.figure("fuse:2.20").scenario, over={CONDUIT: [True]}, seeds=2,
                    out=tmp_path / "s")  # fmt: skip
    rows = pq.read_table(tmp_path / "s" / "runs.parquet").to_pylist()
    assert [json.loads(row["received"])["C1"] for row in rows] == [6, 6]
    assert sorted(p.name for p in (tmp_path / "s").iterdir()) == [
        "manifest.json",
        "runs.parquet",
        "traces",
    ]
