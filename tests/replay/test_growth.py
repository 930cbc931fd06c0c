"""A run that goes on: its pyramid grows with it, and what comes of it is what is built at the end."""

import threading

import pytest

import mqlab as mq
from mqlab.errors import BadFile
from mqlab.replay import cells, growth, long, store
from tests.replay import synthetic
from tests.replay.test_long import hub

pytestmark = pytest.mark.spark


def files(folder, pyramid):
    return {f"{path.parent.name}/{path.name}": path.read_bytes()
            for path in (folder / pyramid).glob("level=*/*.parquet")}  # fmt: skip


def grown(folder, steps):
    """Extend a folder's pyramid as its run writes file after file; return the steps' tiles."""
    whole, seen = store.manifest(folder), []
    for count in steps:
        part = whole["files"][:count]
        store.switch(folder, {**whole, "files": part, "grows": count < len(whole["files"]),
                              "events": sum(file["events"] for file in part)})  # fmt: skip
        seen.append(mq.replay.extend(folder))
    return seen


def test_a_pyramid_that_grew_is_the_one_that_is_built(tmp_path, spark):
    folder = synthetic.folder(tmp_path / "run", 300_000, per_file=20_000)
    seen = grown(folder, [1, 2, 3, 9, 15])
    shifts = [tiles.shift for tiles in seen]
    assert shifts == sorted(shifts)
    assert shifts[0] < shifts[-1]  # buckets got wider on the way
    made = files(folder, seen[-1].pyramid)
    assert made == files(folder, mq.replay.build(folder).folder)
    assert len(made) > 20


def test_buckets_wider_than_the_widest_of_before(tmp_path, spark):
    folder = synthetic.folder(tmp_path / "run", 200_000, first=100)
    first, last = grown(folder, [1, 2])
    assert last.shift >= first.shift + first.levels
    assert files(folder, last.pyramid) == files(folder, mq.replay.build(folder).folder)


def test_what_is_counted_is_not_read_again(tmp_path, monkeypatch):
    folder = synthetic.folder(tmp_path / "run", 60_000, per_file=20_000)
    read = []
    count = cells.count
    monkeypatch.setattr(cells, "count", lambda units, *given: read.extend(units) or count(units, *given))
    grown(folder, [1, 2, 2, 3])
    assert [path[-14:] for path, _ in read] == [
        "000000.parquet",
        "000001.parquet",
        "000002.parquet",
    ]


def test_what_is_not_counted_yet_is_told_not_left_out(tmp_path):
    folder = synthetic.folder(tmp_path / "run", 60_000, per_file=20_000)
    whole = store.manifest(folder)
    grown(folder, [2])
    store.switch(folder, whole)
    tiles = mq.replay.open(folder)
    with pytest.raises(BadFile, match="counts 40000 of 60000 events"):
        tiles.tile("link", *tiles.span)
    assert mq.replay.extend(folder).tile("link", *tiles.span).column("n").to_numpy().sum() == 60_000


@pytest.fixture
def in_step(monkeypatch):
    """A run writes on only when what it wrote has been seen: until then it waits for this semaphore."""
    seen, end = threading.Semaphore(0), store.Writer.end

    def wait(self, *told, **more):
        end(self, *told, **more)
        assert seen.acquire(timeout=60)

    monkeypatch.setattr(store.Writer, "end", wait)
    return seen


def test_a_run_is_followed_to_its_end(tmp_path, monkeypatch, in_step):
    monkeypatch.setattr(long, "FIRST", 1 << 13)
    monkeypatch.setattr(growth, "PATIENCE", 60)  # that it begins at all is another test's
    out = tmp_path / "run"
    runner = threading.Thread(target=lambda: long.run(*hub(10_000), out=out, rows=1 << 14), daemon=True)
    runner.start()
    counts, ends = [], []
    for tiles in growth.follow(out, every=0.01):
        counts.append(tiles.events_count)
        ends.append(tiles.span[1])
        if counts[-1]:
            assert tiles.tile("dest", *tiles.span).column("n").to_numpy().sum() == counts[-1]
            assert tiles.window(ends[-1] - 1000, ends[-1]).events()
        in_step.release()
    runner.join()
    full = [0, *range(1 << 13, store.manifest(out)["events"], 1 << 14)]
    assert counts == [*full, store.manifest(out)["events"]]
    assert len(full) > 5
    assert ends == sorted(ends)
    assert not tiles.grows
    assert len(list(out.glob("pyramid-*"))) <= 3


def test_a_folder_in_which_no_run_begins_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "PATIENCE", 0.05)
    with pytest.raises(BadFile, match=r"no readable manifest\.json"):
        next(growth.follow(tmp_path))
