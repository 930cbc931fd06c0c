"""Folders that are damaged, cut short, of another version, or left by a run that was killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mqlab as mq
from mqlab.errors import BadFile
from mqlab.replay import long, owner, store
from mqlab.trace import parquet
from tests.conftest import ROOT
from tests.replay.test_long import hub, whole

pytestmark = pytest.mark.spark
FIRST = "events/000000.parquet"


@pytest.fixture
def folder(tmp_path):
    return long.run(*hub(1500), out=tmp_path / "run", rows=1 << 13)


def rewritten(folder, change):
    """Write the files anew, with their tables changed."""
    for path in folder.glob("events/*.parquet"):
        pq.write_table(change(pq.read_table(path)), path)


def cast(name, kind):
    def change(table):
        place = table.schema.get_field_index(name)
        return table.set_column(place, pa.field(name, kind), table.column(name).cast(kind))

    return change


@pytest.mark.parametrize(("change", "told"), [
    pytest.param(lambda t: t.drop_columns(["rule"]), "rule is missing", id="missing"),
    pytest.param(lambda t: t.append_column("size", t.column("t")), "size is not a column", id="extra"),
    pytest.param(cast("hop", pa.int32()), "hop is int32 and must be int16", id="wider"),
    pytest.param(cast("msg", pa.float64()), "msg is double and must be int32", id="float"),
    pytest.param(lambda t: t.slice(0, 100), "100 events, and the manifest says 8192", id="shorter"),
])  # fmt: skip
def test_a_file_of_another_shape_is_told_by_its_columns(folder, change, told):
    rewritten(folder, change)
    with pytest.raises(BadFile, match=rf"000000\.parquet: .*{told}"):
        mq.replay.events(folder)


def test_a_truncated_and_a_foreign_file_are_named(folder, spark):
    path = folder / FIRST
    path.write_bytes(path.read_bytes()[:5000])
    for ask in (mq.replay.events, mq.replay.stuck, mq.replay.build):
        with pytest.raises(BadFile, match=r"000000\.parquet: damaged"):
            ask(folder)


def test_a_byte_that_changed_on_disk_is_not_read_as_something_else(folder, spark):
    table = pq.read_table(folder / FIRST)
    pq.write_table(table, folder / FIRST, compression="none", use_dictionary=False, write_page_checksum=True)
    raw = bytearray((folder / FIRST).read_bytes())
    ages = pq.read_metadata(folder / FIRST).row_group(0).column(table.column_names.index("age"))
    raw[ages.data_page_offset + ages.total_compressed_size // 2] ^= 1
    (folder / FIRST).write_bytes(raw)
    with pytest.raises(Exception, match=r"000000\.parquet"):
        mq.replay.events(folder).agg({"age_us": "sum"}).collect()


@pytest.mark.parametrize(("column", "bits"), [("hop", pa.int8()), ("link", pa.int16())])
def test_a_trace_of_before_whose_numbers_are_narrower_is_read(folder, spark, column, bits):
    before = whole(folder).digest()
    rewritten(folder, cast(column, bits))
    assert whole(folder).digest() == before
    found = mq.replay.events(folder).agg({"hops": "max", "link": "count"}).collect()[0]
    crossed = sum(link >= 0 for link in whole(folder).column("link"))
    assert (found["max(hops)"], found["count(link)"]) == (2, crossed)


@pytest.mark.parametrize(("form", "do"), [(2, "install a newer mqlab"), (0, "re-create it with this version")])
def test_another_version_is_told_with_what_to_do(folder, form, do, tmp_path):
    store.switch(folder, {**store.manifest(folder), "format": form})
    with pytest.raises(BadFile, match=rf"trace format {form}; this mqlab reads 1: {do}"):
        mq.replay.open(folder)
    table = parquet.table_of(mq.run("fuse:2.20"))
    about = {**json.loads(table.schema.metadata[parquet.KEY]), "format": form}
    pq.write_table(table.replace_schema_metadata({parquet.KEY: json.dumps(about)}), tmp_path / "one")
    with pytest.raises(BadFile, match=rf"trace format {form}; this mqlab reads 1: {do}"):
        parquet.load(tmp_path / "one")


def test_a_trace_whose_own_words_are_damaged_is_told(tmp_path):
    table = parquet.table_of(mq.run("fuse:2.20"))
    for about, told in ((b"{", "damaged"), (b"[]", "damaged")):
        pq.write_table(table.replace_schema_metadata({parquet.KEY: about}), tmp_path / "one")
        with pytest.raises(BadFile, match=told):
            parquet.load(tmp_path / "one")
    pq.write_table(table.drop_columns(["hop"]), tmp_path / "one")
    with pytest.raises(BadFile, match="hop is missing"):
        parquet.load(tmp_path / "one")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no more")])
def test_a_run_that_an_error_ends_does_not_grow_any_more(tmp_path, monkeypatch, error):
    def end(self, header, names, grows=False):
        ended(self, header, names, grows)
        if len(self.files) == 2:
            raise error

    ended = store.Writer.end
    monkeypatch.setattr(store.Writer, "end", end)
    with pytest.raises(type(error)):
        long.run(*hub(2500), out=tmp_path / "run", rows=1 << 13)
    known = store.manifest(tmp_path / "run")
    assert not known["grows"]
    assert known["ended"].startswith(type(error).__name__)
    assert len(whole(tmp_path / "run")) == known["events"] == sum(f["events"] for f in known["files"])
    with pytest.raises(BadFile, match="already contains a trace"):  # what was written is kept
        long.run("fuse:2.20", out=tmp_path / "run")


def test_what_a_killed_run_has_left_is_cleared_by_the_next(tmp_path):
    out = tmp_path / "run"
    code = ("from tests.replay.test_long import hub; from mqlab.replay import long;"
            f"long.run(*hub(10**7), out={str(out)!r}, rows=1 << 13)")  # fmt: skip
    killed = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        end = time.monotonic() + 60
        while len(list(out.glob("events/*.parquet"))) < 4 and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.raises(BadFile, match="already contains a trace"):  # it goes on
            store.Writer(out)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    assert store.manifest(out)["grows"]
    assert not mq.replay.open(out).grows  # whoever follows it need not wait
    (out / "events" / ".000009.parquet.1.tmp").write_bytes(b"half")
    again = long.run("fuse:2.16", out=out, rows=1 << 13)
    assert whole(again).digest() == mq.run("fuse:2.16").digest()
    assert sorted(p.name for p in (out / "events").iterdir()) == ["000000.parquet"]


def test_what_somebody_writes_to_elsewhere_is_not_cleared(tmp_path):
    out = mq.replay.run("fuse:2.20", out=tmp_path / "run")
    for writer in ({"host": "elsewhere", "process": 1}, owner.here(), None):
        store.switch(out, {**store.manifest(out), "grows": True, "writer": writer})
        with pytest.raises(BadFile, match="already contains a trace"):
            mq.replay.run("fuse:2.20", out=out)
    assert owner.runs(os.getpid())


def test_what_a_killed_build_has_left_is_cleared_by_the_next(folder, spark):
    old = mq.replay.build(folder).folder
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, other = folder / "pyramid-left", folder / "pyramid-other"
    for path, process in ((left, gone.pid), (other, os.getpid())):
        owner.claim(path)
        (path / owner.WRITER).write_text(json.dumps({**owner.here(), "process": process}))
    built = mq.replay.build(folder).folder
    assert not left.exists()
    assert {path.name for path in folder.glob("pyramid-*")} == {old.name, other.name, built.name}
    assert not (built / owner.WRITER).exists()
