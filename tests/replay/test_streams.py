"""The events of a run that goes on as a stream: each once, as soon as its file is there."""

from contextlib import contextmanager

import pytest

import mqlab as mq
from mqlab.errors import BadFile
from mqlab.replay import long, store
from tests.replay.test_long import hub

pytestmark = pytest.mark.spark
COLUMNS = ["t_us", "kind", "message", "broker", "link", "destination", "hops", "age_us", "rule"]


@contextmanager
def collected(frame, name):
    """Give a query that keeps what comes in a table of that name."""
    query = frame.writeStream.format("memory").queryName(name).start()
    try:
        yield query
    finally:
        query.stop()


def rows(table):
    return sorted(table.select(COLUMNS).to_pylist(), key=repr)


def test_each_event_comes_once_as_soon_as_its_file_is_there(tmp_path, spark):
    folder = long.run(*hub(3000), out=tmp_path / "run", rows=1 << 13)
    files = [folder / file["name"] for file in store.manifest(folder)["files"]]
    assert len(files) > 3
    for file in files[2:]:
        file.rename(tmp_path / file.name)
    with collected(mq.replay.stream(folder), "live") as query:
        query.processAllAvailable()
        assert spark.table("live").count() == 2 << 13
        for file in files[2:]:
            (tmp_path / file.name).rename(file)
        query.processAllAvailable()
        got = spark.table("live").toArrow()
    assert rows(got) == rows(mq.run(*hub(3000)).to_arrow())


def test_what_got_its_name_later_is_there_by_its_number(tmp_path, spark):
    folder = mq.replay.write(mq.run("fuse:2.20"), tmp_path / "run")
    known = store.manifest(folder)
    names = {**known["names"], "node": known["names"]["node"][:2]}
    store.switch(folder, {**known, "names": names})
    with collected(mq.replay.stream(folder), "named") as query:
        query.processAllAvailable()
        brokers = {row[0] for row in spark.table("named").select("to").distinct().collect()}
    to = {known["names"]["node"].index(name) for name in ("C1", "C2", "C3")}
    assert {f"number {code}" for code in to} <= brokers
    assert None in brokers  # of what goes nowhere


def test_a_folder_without_a_run_is_told(tmp_path, spark):
    with pytest.raises(BadFile, match=r"no readable manifest\.json"):
        mq.replay.stream(tmp_path)
