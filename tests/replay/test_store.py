"""The folder of a trace: what its manifest says of the files."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mqlab as mq
from mqlab import replay
from mqlab.replay import store, tiles
from mqlab.trace import parquet

Q = mq.Queue("Q")


def table(numbers):
    import pyarrow as pa

    columns = {f.name: np.zeros(len(numbers)) for f in parquet.schema()} | {"msg": np.array(numbers)}
    return pa.table({f.name: pa.array(columns[f.name].astype(f.type.to_pandas_dtype()))
                     for f in parquet.schema()}, schema=parquet.schema())  # fmt: skip


@given(st.lists(st.integers(-1, 2**31 - 1).map(lambda n: n >> (n % 24)), max_size=400))
def test_each_message_of_a_row_group_is_in_a_run_of_it(numbers):
    runs = [end for group in store.messages_of(table(numbers)) for end in group]
    assert all(store.has_message(runs, number) for number in numbers if number >= 0)
    assert not store.has_message(runs, -1)
    assert len(runs) % 2 == 0
    assert len(runs) <= 2 * store.MOST_RUNS
    assert all(one < other for one, other in pairwise(runs[1::2]))


def test_what_is_far_from_the_messages_of_a_row_group_is_in_no_run():
    starts = [no * 100_000 for no in range(store.MOST_RUNS)]
    (runs,) = store.messages_of(table([start + no for start in starts for no in range(1000)]))
    assert len(runs) == 2 * len(starts)
    assert not any(store.has_message(runs, start + 50_000) for start in starts)


@pytest.mark.parametrize("told", [True, False])
def test_one_message_of_several_producers_is_found_in_the_row_groups_that_have_it(tmp_path, monkeypatch, told):
    monkeypatch.setattr(parquet, "GROUP", 1000)
    senders = [mq.Producer(f"P{i}", on="B", sends=1500, to=Q, in_background=True) for i in range(5)]
    trace = mq.run(mq.Network(mq.Broker("B")), mq.Consumer("C", on="B", reads=Q), *senders)
    folder = replay.write(trace, tmp_path / "run")
    if not told:  # as an older mqlab wrote it
        manifest = json.loads((folder / store.MANIFEST).read_text())
        for entry in manifest["files"]:
            del entry["messages"]
        store.switch(folder, manifest)
    read, group = [], tiles._group
    monkeypatch.setattr(tiles, "_group", lambda *what: read.append(what[1]) or group(*what))
    number = trace.message("P3-700")
    found = replay.path(folder, number)
    assert [event.t for event in found.events()] == [trace.event(row).t for row in trace.rows_of(number)]
    assert len(trace) > 20_000
    assert len(set(read)) <= 12 if told else len(set(read)) > 30
