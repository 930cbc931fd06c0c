"""The pyramid of 10^7 events against a plain scan of the same columns, side by side in one process."""

from time import perf_counter

import pytest

import mqlab as mq
from tests.replay import synthetic

pytestmark = [pytest.mark.bench, pytest.mark.spark]
EVENTS = 10_000_000
COLUMNS = ["t", "kind", "broker", "link", "dest", "age"]


def test_the_pyramid_against_a_plain_scan(tmp_path, capsys):
    import pyarrow.parquet as pq

    folder = synthetic.folder(tmp_path / "run", EVENTS, per_file=2_500_000)
    files = sorted((folder / "events").glob("*.parquet"))
    mq.replay.session()

    def scan():
        start = perf_counter()
        rows = sum(pq.read_table(file, columns=COLUMNS).num_rows for file in files)
        assert rows == EVENTS
        return perf_counter() - start

    def build():
        start = perf_counter()
        assert mq.replay.build(folder).events == EVENTS
        return perf_counter() - start

    cold = build()
    rounds = [(build(), scan()) for _ in range(2)]
    mq.replay.stop()
    warm = min(rounds)[0]
    ratio = min(b / s for b, s in rounds)
    with capsys.disabled():
        print(f"\n  pyramid of 10^7 events: {warm:.1f} s warm, {cold:.1f} s cold; "
              f"{ratio:.1f} times a plain scan, {EVENTS / warm / 1e6:.1f} M events/s")  # fmt: skip
    # The notes measured 17 to 22 times at this size, where the fixed costs of Spark weigh most.
    assert ratio < 25
