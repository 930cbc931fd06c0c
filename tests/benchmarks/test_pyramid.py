"""The pyramid of 10^7 events beside a plain scan of the same columns, and its marginals by polars and duckdb.

All of them in one process, in turns, on the same files: what counts is how they compare. Held to a bound is how
much they work, Java and all: that hangs less on what else the machine does than how long they take.
"""

import random
from functools import partial
from time import perf_counter, process_time

import numpy as np
import psutil
import pytest

import mqlab as mq
from mqlab.replay import cells
from mqlab.replay import spark as sparks
from tests.benchmarks.test_sweeps import worked
from tests.replay import synthetic

pytestmark = [pytest.mark.bench, pytest.mark.spark]
EVENTS = 10_000_000
COLUMNS = ["t", "kind", "broker", "link", "dest", "age"]
TURNS = 2
MOST = 8  # times the work of a plain scan; 4 to 5 are usual at this size, where Spark's fixed costs weigh
MOST_MS = {"link": 30, "age": 60}  # of nine tiles in ten, on a machine that does nothing else


def scan(files):
    import pyarrow.parquet as pq

    return sum(pq.read_table(file, columns=COLUMNS).num_rows for file in files)


def by_polars(files, shift):
    """Return how many cells the four marginals have."""
    import polars as pl

    events = pl.scan_parquet(files).with_columns(bucket=pl.col("t") // (1 << shift))
    counted = [events.group_by("bucket", name, "kind").agg(pl.len()) for name in ("link", "broker", "dest")]
    age = pl.col("age")
    received = events.filter(pl.col("kind") == int(mq.Kind.Received)).with_columns(
        bin=((age + 1).log(2) * 8).floor().cast(pl.Int16)
    )
    counted.append(received.group_by("bucket", "dest", "bin").agg(pl.len(), age.sum()))
    return sum(len(frame) for frame in pl.collect_all(counted))


def by_duckdb(files, shift):
    """Return how many cells the four marginals have."""
    import duckdb

    source = f"read_parquet({[str(file) for file in files]})"
    bucket = f"t >> {shift} as bucket"
    texts = [f"select {bucket}, {name}, kind, count(*) from {source} group by all"
             for name in ("link", "broker", "dest")]  # fmt: skip
    texts.append(f"select {bucket}, dest, floor(8 * log2(age + 1)) as bin, count(*), sum(age) from {source} "
                 f"where kind = {int(mq.Kind.Received)} group by all")  # fmt: skip
    with duckdb.connect() as connection:
        return sum(connection.sql(text).to_arrow_table().num_rows for text in texts)


def took(work):
    start = perf_counter()
    found = work()
    return perf_counter() - start, found


def costs(work, java):
    """Return how long *work* takes and how much it works (s), and what it finds."""
    before = process_time() + worked(java)
    seconds, found = took(work)
    return seconds, process_time() + worked(java) - before, found


def tile_ms(folder, marginal):
    """Return how long nine tiles in ten take at most (ms), of windows of all widths."""
    tiles, draw, times = mq.replay.open(folder), random.Random(1), []
    first, last = tiles.span
    for _ in range(60):
        wide = (last - first) * 2 ** -draw.uniform(0, 6)
        low = int(draw.uniform(first, last - wide))
        times.append(took(lambda: tiles.tile(marginal, low, int(low + wide), 256))[0])  # noqa: B023
    return float(np.quantile(times, 0.9)) * 1000


@pytest.mark.sample(3, pool="large")
def test_the_pyramid_beside_a_plain_scan(tmp_path, capsys):
    folder = synthetic.folder(tmp_path / "run", EVENTS, per_file=2_500_000)
    files = sorted((folder / "events").glob("*.parquet"))
    size = sum(file.stat().st_size for file in files) / EVENTS
    mq.replay.session()
    cold, built = took(lambda: mq.replay.build(folder))
    assert built.events == EVENTS
    shift = built.bucket.bit_length() - 1
    ways = {
        "plain scan": partial(scan, files), "polars": partial(by_polars, files, shift),
        "duckdb": partial(by_duckdb, files, shift), "pyramid": lambda: mq.replay.build(folder).events,
    }  # fmt: skip
    java = psutil.Process(sparks._gateway.process.pid)
    rounds = [{name: costs(work, java) for name, work in ways.items()} for _ in range(TURNS)]
    mq.replay.stop()
    best, work = ({n: min(turn[n][no] for turn in rounds) for n in ways} for no in (0, 1))
    finest = sum(pq_rows(built.folder / "level=0" / f"{name}.parquet") for name in cells.MARGINALS)
    # The same cells, or what is compared are not the same questions.
    assert rounds[0]["polars"][2] == rounds[0]["duckdb"][2] == finest
    ratio, works = (of["pyramid"] / of["plain scan"] for of in (best, work))
    tiles = {name: tile_ms(folder, name) for name in MOST_MS}
    with capsys.disabled():
        told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in best.items())
        print(f"\n  10^7 events: {told}; the first pyramid {cold:.1f} s\n"
              f"  the pyramid, all levels and written, takes {ratio:.1f} plain scans, by processor time "
              f"{works:.1f}; {size:.1f} B an event\n"
              f"  nine tiles in ten within "
              + ", ".join(f"{ms:.0f} ms ({name})" for name, ms in tiles.items()))  # fmt: skip
    assert works < MOST
    assert size <= 11
    assert all(ms < 5 * MOST_MS[name] for name, ms in tiles.items())  # others use the machine, too


def pq_rows(path):
    import pyarrow.parquet as pq

    return pq.read_metadata(path).num_rows
