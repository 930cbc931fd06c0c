"""Ctrl-C ends a run, and what has happened until then is kept."""

import _thread
import threading

import pytest

import mqlab as mq
from mqlab.errors import Interrupted
from mqlab.trace.columns import COLUMNS
from mqlab.trace.record import Recorder

Q = mq.Queue("Q")


def endless(product):
    net = product.Network(product.Broker("A"))
    sends = mq.Producer("P", on="A", sends=10**6, to=Q)
    return net, mq.Consumer("C", on="A", reads=Q), sends


@pytest.mark.parametrize("product", [mq, mq.openmq, mq.artemis])
def test_the_trace_so_far_is_kept(product):
    mq.run(*endless(product), until="1s")  # all is imported
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as told:
            mq.run(*endless(product))
    finally:
        timer.cancel()
    assert isinstance(told.value, Interrupted)
    trace = told.value.trace
    whole = mq.run(*endless(product), until=trace.end)
    assert len(trace) > 100
    for name in COLUMNS:
        assert trace.column(name) == whole.column(name)[: len(trace)]
    assert trace.undone
    assert f"{len(trace)} events" in str(told.value)


def recorder(rows):
    made = Recorder()
    for row in range(rows):
        made.add(row, 0, row)
    return made


def numbers(made):
    made.flush()
    assert {len(column) for column in made.columns.values()} == {made.count}
    return list(made.columns["msg"])


def test_a_row_that_was_written_and_not_counted_counts():
    made = recorder(5)
    made.count -= 1
    made.mend()
    assert numbers(made) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("done", range(1, len(COLUMNS) + 1))
def test_columns_that_were_being_made_are_made_anew(done):
    made = recorder(5)
    rows = bytes(made.rows)
    made.flush()
    made.rows += rows  # as if it had been interrupted before they were cleared ...
    for name in list(COLUMNS)[done:]:  # ... and before these were made
        del made.columns[name][:]
    made.mend()
    assert numbers(made) == [0, 1, 2, 3, 4]
