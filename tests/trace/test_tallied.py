"""What events have in some columns, by numpy and without: the same."""

import pytest

import mqlab as mq
from mqlab.trace.columns import Columns
from mqlab.trace.kinds import Kind

CASES = [
    (("frm",), (Kind.Sent,)),
    (("dest", "broker"), (Kind.Enqueued, Kind.TakenOver)),
    (("to",), (Kind.Voted,)),
    (("link", "sub", "rule"), tuple(Kind)),
]


@pytest.mark.parametrize("id", ["fuse:2.20", "fuse:4.4", "openmq:4-1", "artemis:21.4"])
@pytest.mark.parametrize(("columns", "kinds"), CASES)
def test_values_are_tallied_in_order_of_their_first_rows(id, columns, kinds, monkeypatch):
    trace = mq.run(id)
    wanted = {}
    for row in trace.rows(*kinds):
        key = tuple(trace.column(name)[row] for name in columns)
        first, count = wanted.get(key, (row, 0))
        wanted[key] = first, count + 1
    for by_numpy in (True, False):
        monkeypatch.setattr(Columns, "by_numpy", by_numpy)
        assert list(trace.tallied(kinds, *columns).items()) == list(wanted.items())
        assert trace.end == max(trace.column("t"))
