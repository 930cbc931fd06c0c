"""Runs that go to files while they run: the same events, in bounded memory, readable while they grow."""

import json
import shutil
from collections import namedtuple

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue
from mqlab.replay import long, store
from mqlab.spec import topology
from mqlab.trace import COLUMNS
from tests.replay.test_replay import in_a_process

pytestmark = pytest.mark.spark
Q = mq.Queue("Q")


def hub(sends):
    return (topology.network("hub and spokes", 5), mq.Consumer("C1", on="S2", reads=Q),
            mq.Producer("P", on="S1", sends=sends, every="1ms", to=Q))  # fmt: skip


def whole(folder):
    """Return the trace of all files of a folder."""
    tiles = mq.replay.open(folder)
    return tiles.window(*tiles.span, limit=10**7)


@pytest.mark.parametrize("what", ["fuse:2.16", "fuse:4.4", "openmq:4-1", "artemis:21.4"])
def test_a_run_in_files_is_the_run_in_memory(tmp_path, what):
    folder = long.run(what, out=tmp_path / "run", rows=1 << 13)
    assert whole(folder).digest() == mq.run(what).digest()
    told = json.loads(json.dumps(mq.run(what).header))
    told.pop("real", None)  # what a figure says of itself
    assert store.manifest(folder)["header"] == told


def test_many_files_are_the_run_in_memory(tmp_path):
    folder = long.run(*hub(4000), out=tmp_path / "run", rows=1 << 13)
    assert len(store.manifest(folder)["files"]) > 4
    trace, plain = whole(folder), mq.run(*hub(4000))
    assert all(trace.column(name) == plain.column(name) for name in COLUMNS)


def test_memory_does_not_grow_with_the_run(tmp_path):
    told = in_a_process(
        "from pathlib import Path; from tests.replay.test_long import hub; from mqlab.replay import long;"
        # What getrusage says may be the peak of whoever started the process.
        "status = Path('/proc/self/status').read_text;"
        "peak = lambda: int(status().partition('VmHWM:')[2].split()[0]) >> 10;"
        f"long.run(*hub(3000), out={str(tmp_path / 'a')!r}, rows=1 << 14); before = peak();"
        f"long.run(*hub(30000), out={str(tmp_path / 'b')!r}, rows=1 << 14); print(peak() - before)"
    )  # fmt: skip
    assert store.manifest(tmp_path / "b")["events"] > 300_000
    assert int(told) < 8  # MB; its events take 14


def test_it_can_be_read_while_it_grows(tmp_path, monkeypatch):
    seen = []

    def end(self, header, names, grows=False):
        ended(self, header, names, grows)
        if grows:
            tiles = mq.replay.open(tmp_path / "run")
            trace = tiles.window(*tiles.span)
            assert trace.header["scenario"]["brokers"]
            seen.append((tiles.events_count, len(trace)))

    ended = store.Writer.end
    monkeypatch.setattr(store.Writer, "end", end)
    long.run(*hub(2500), out=tmp_path / "run", rows=1 << 13)
    assert [count for count, _ in seen] == [0, 8192, 16384, 24576]
    assert all(count == read for count, read in seen)
    assert not store.manifest(tmp_path / "run")["grows"]


def test_a_disk_that_fills_up_keeps_what_was_written(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    full = iter([usage(0, 0, 1 << 40), usage(0, 0, 1000)])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: next(full))
    with pytest.raises(BadFile, match="what was written before it is kept \\(8192 events\\)"):
        long.run(*hub(2500), out=tmp_path / "run", rows=1 << 13)
    assert mq.replay.open(tmp_path / "run").events_count == 8192


def test_a_folder_that_has_a_trace_is_not_written_to(tmp_path):
    mq.replay.run("fuse:2.20", out=tmp_path / "run")
    with pytest.raises(BadFile, match="already contains a trace"):
        mq.replay.run("fuse:2.20", out=tmp_path / "run")


def test_a_condition_on_silence_waits_as_in_memory(tmp_path):
    """`moved_at` asks for what has been handed over."""
    folder = long.run("fuse:2.16", out=tmp_path / "run", rows=64)
    assert whole(folder).digest() == mq.run("fuse:2.16").digest()


def test_the_path_of_a_message_is_a_trace(tmp_path):
    folder = long.run(*hub(3000), out=tmp_path / "run", rows=1 << 13)
    plain = mq.run(*hub(3000))
    for message in (1, 1700, 3000):
        trace = mq.replay.path(folder, message)
        assert trace.path(message) == plain.path(message) == [["S1", "hub", "S2"]]
        assert [e.kind for e in trace.events()] == [plain.event(r).kind for r in plain.rows_of(message)]
    with pytest.raises(BadValue, match="no message 3001"):
        mq.replay.path(folder, 3001)


def test_sql_users_see_names(tmp_path, spark):
    trace = mq.run("fuse:2.20")
    folder = mq.replay.write(trace, tmp_path / "run")
    frame = mq.replay.events(folder)
    wanted = trace.to_arrow()
    got = frame.orderBy("t_us").toArrow()
    assert got.num_rows == len(trace)
    found = spark.sql(
        "select `to`, count(*) as n from events where kind = 'Received' group by `to` order by `to`"
    )
    assert [tuple(row) for row in found.collect()] == sorted(trace.received().items())
    for name in wanted.column_names:
        column = wanted.column(name).to_pylist()
        assert sorted(map(str, got.column(name).to_pylist())) == sorted(map(str, column)), name


def test_spark_reads_columns_as_wide_as_they_are(spark, tmp_path):
    size = 200
    ends = mq.Consumer("C", on=f"B{size}", reads=mq.Queue("Q")), mq.Producer(
        "P", on="B1", sends=1, to=mq.Queue("Q"))  # fmt: skip
    net = topology.network("chain", size).change("*/*", network_ttl=-1)
    folder = mq.replay.write(mq.run(net, *ends), tmp_path / "run")
    assert mq.replay.events(folder).agg({"hops": "max"}).collect()[0][0] == size - 1
