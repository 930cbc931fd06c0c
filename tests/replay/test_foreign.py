"""Traces of others: what fits is a trace like ours, what does not is named."""

import csv
import json

import pyarrow.parquet as pq
import pytest

import mqlab as mq
from mqlab.errors import BadFile, UnknownName
from mqlab.trace import Kind
from mqlab.trace.questions import route

FAMILIES = ("fuse:2.16", "fuse:2.20", "fuse:4.4", "openmq:4-1", "artemis:21.4")
DERIVED = ("hops", "age_us", "cause")
LOG = [  # of a made-up broker with words of its own
    ("2026-03-01T12:00:00.000Z", "produced", "m-a", "north", "shop", None, "orders"),
    ("2026-03-01T12:00:00.002Z", "stored", "m-a", "north", "shop", None, None),
    ("2026-03-01T12:00:00.002Z", "relayed", "m-a", "north", "north", "south", None),
    ("2026-03-01T12:00:00.005Z", "stored", "m-a", "south", "north", None, None),
    ("2026-03-01T12:00:00.009Z", "consumed", "m-a", "south", "south", "till", None),
    ("2026-03-01T12:00:00.010Z", "done", "m-a", "south", None, None, None),
    ("2026-03-01T12:00:01.000Z", "produced", "m-b", "south", "shop2", None, "orders"),
    ("2026-03-01T12:00:01.001Z", "stored", "m-b", "south", "shop2", None, None),
]
HEAD = ("when", "what", "id", "node", "src", "dst", "queue")
COLUMNS = {
    "t_us": "when",
    "kind": "what",
    "message": "id",
    "broker": "node",
    "from": "src",
    "to": "dst",
    "destination": "queue",
}
KINDS = {"produced": "Sent", "stored": "Enqueued", "relayed": "Forwarded", "consumed": "Received",
         "done": "Acknowledged"}  # fmt: skip


def written(path, rows, head=HEAD):
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(head, row, strict=True))) + "\n" for row in rows))
    else:
        import pyarrow as pa

        pq.write_table(pa.table(list(zip(*rows, strict=True)), list(head)), path)
    return path


def told(trace):
    return [str(event) for event in trace.events()]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("figure", FAMILIES)
def test_our_own_events_come_back_as_they_were(tmp_path, figure, kind):
    trace = mq.run(figure)
    table = trace.to_arrow()
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    path = written(tmp_path / f"run.{kind}", rows, table.column_names)
    back = mq.replay.read(path, product=trace.header.get("product", "activemq"))
    assert told(back) == told(trace)
    assert list(back.column("cause")) == list(trace.column("cause"))
    assert back.received() == trace.received()
    assert back.waiting() == trace.waiting()


@pytest.mark.parametrize("figure", ["fuse:2.16", "fuse:2.20"])
def test_hops_ages_and_ways_are_found_where_a_file_does_not_say(tmp_path, figure):
    trace = mq.run(figure)
    table = trace.to_arrow().drop_columns([*DERIVED])
    path = tmp_path / "run.parquet"
    pq.write_table(table, path)
    back = mq.replay.read(path)
    assert len(back) == len(trace)
    ours = [row for row in range(len(trace)) if trace.column("msg")[row] > 0]
    for name in ("hop", "age"):
        assert [back.column(name)[r] for r in ours] == [trace.column(name)[r] for r in ours], name
    arrivals = [r for r in ours if trace.column("kind")[r] in (Kind.Enqueued, Kind.Received)]
    assert [route(back, row) for row in arrivals] == [route(trace, row) for row in arrivals]
    assert back.path(1) == trace.path(1)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_log_of_another_broker_is_a_trace_by_a_mapping(tmp_path, kind):
    trace = mq.replay.read(written(tmp_path / f"log.{kind}", LOG), COLUMNS, KINDS)
    assert list(trace.column("t")) == [0, 2000, 2000, 5000, 9000, 10000, 1_000_000, 1_001_000]
    assert trace.header["foreign"]["messages"] == ["m-a", "m-b"]
    assert (trace.message("m-b"), trace.message(2)) == (2, 2)
    story = str(mq.explain(trace, message="m-a"))
    assert "south enqueued it, received from north" in story
    assert "None" not in story
    assert trace.received() == {"till": 1}
    assert trace.path(1) == [["north", "south"]]
    assert [(e.link, e.hop, e.age) for e in trace.events()][3:5] == [
        ("north-south", 1, 5000), (None, 1, 9000)]  # fmt: skip
    roles = dict(zip(trace.names["node"], trace.names["node_role"], strict=True))
    assert roles == {"north": "broker", "south": "broker", "shop": "producer", "shop2": "producer",
                     "till": "consumer"}  # fmt: skip
    assert mq.view(trace) is not None


def test_rows_out_of_order_are_put_in_order(tmp_path):
    path = written(tmp_path / "log.jsonl", LOG[::-1])
    mixed = [LOG[no] for no in (3, 0, 1, 2, 5, 4, 6, 7)]
    assert told(mq.replay.read(written(path, mixed), COLUMNS, KINDS)) == told(
        mq.replay.read(written(tmp_path / "in_order.jsonl", LOG), COLUMNS, KINDS))  # fmt: skip


def changed(row, **values):
    rows = [dict(zip(HEAD, one, strict=True)) for one in LOG]
    rows[row] |= values
    return [tuple(one.values()) for one in rows]


@pytest.mark.parametrize(("rows", "said"), [
    pytest.param(changed(1, when="soon"), r"line 3, column 'when': 'soon' is not a time", id="time"),
    pytest.param(changed(1, what="stord"), r"line 3, column 'what': 'stord' is not a kind.*mean stored",
                 id="kind"),
    pytest.param(changed(3, what=None), r"line 5, column 'what': None is not a kind", id="no kind"),
    pytest.param(changed(2, dst=None), r"line 4, column 'dst': None is not what an event Forwarded must have",
                 id="forwarded nowhere"),
    pytest.param(changed(6, what="stored"), r"line 8, column 'id': 'm-b' is not sent anywhere",
                 id="never sent"),
])  # fmt: skip
def test_what_does_not_fit_is_named_by_line_and_column(tmp_path, rows, said):
    with pytest.raises(BadFile, match=r"1 value does not fit, and nothing was read:\s+" + said):
        mq.replay.read(written(tmp_path / "log.csv", rows), COLUMNS, KINDS)


def test_all_that_does_not_fit_is_counted(tmp_path):
    rows = [("soon", *row[1:]) for row in LOG]
    with pytest.raises(BadFile, match=r"8 values do not fit, and nothing was read:(\n  line .*){5}\n  \.\.\.$"):
        mq.replay.read(written(tmp_path / "log.csv", rows), COLUMNS, KINDS)


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.csv", "t_us,kind\n1,Sent\n2\n", r"a\.csv, line 3: 1 value, and the first line names 2 columns"),
    ("a.csv", 't_us,kind\n1,"Sent\n', r"a\.csv, line 2: not CSV"),
    ("a.csv", "t_us,t_us\n", "duplicate column names"),
    ("a.csv", "when\n", "no column mapped to t_us, kind, message, broker, destination"),
    ("a.jsonl", '{"t_us": 1}\n\n{"t_us": \n', r"a\.jsonl, line 3: not JSON"),
    ("a.jsonl", "[1]\n", "line 1: write an object on each line"),
    ("a.parquet", "PAR1 and no more", r"a\.parquet: damaged, or not a Parquet file"),
    ("a.xlsx", "", r"unsupported file type; expected one of \.jsonl, \.ndjson, \.csv, \.parquet"),
])  # fmt: skip
def test_a_file_that_is_none_is_told(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadFile, match=said):
        mq.replay.read(path)


def test_a_mapping_of_what_is_not_there_is_told(tmp_path):
    path = written(tmp_path / "log.csv", LOG)
    with pytest.raises(UnknownName, match=r"unknown column of log\.csv 'wen'; did you mean 'when'"):
        mq.replay.read(path, {**COLUMNS, "t_us": "wen"}, KINDS)
    with pytest.raises(UnknownName, match="unknown kind of event 'Sended'"):
        mq.replay.read(path, COLUMNS, {**KINDS, "produced": "Sended"})
    with pytest.raises(UnknownName, match="unknown unit of time 'min'"):
        mq.replay.read(path, COLUMNS, KINDS, unit="min")


@pytest.mark.parametrize(("unit", "factor"), [("ns", 0.001), ("us", 1), ("ms", 1000), ("s", 1_000_000)])
def test_times_have_a_unit(tmp_path, unit, factor):
    rows = [(1_000_000 * (no + 1), *row[1:]) for no, row in enumerate(LOG)]
    trace = mq.replay.read(written(tmp_path / "log.jsonl", rows), COLUMNS, KINDS, unit=unit)
    assert list(trace.column("t")) == [int(1_000_000 * (no + 1) * factor) for no in range(8)]
    since_1970 = [(1_772_000_000_000 + no, *row[1:]) for no, row in enumerate(LOG)]
    trace = mq.replay.read(written(tmp_path / "log.jsonl", since_1970), COLUMNS, KINDS, unit="ms")
    assert list(trace.column("t")) == [1000 * no for no in range(8)]


@pytest.mark.spark
def test_a_trace_of_others_answers_the_same_questions(tmp_path, spark):
    trace = mq.replay.read(written(tmp_path / "log.csv", LOG), COLUMNS, KINDS)
    assert [tuple(row)[1:7] for row in mq.replay.stuck(trace, "3ms").collect()] == [
        (1, "north", "queue://orders", None, 2000, None),
        (1, "south", "queue://orders", None, 5000, 10_000)]  # fmt: skip
    assert [tuple(row)[1:3] for row in mq.replay.consumers(trace).collect()] == [("till", 1)]
    assert [tuple(row)[2:] for row in mq.replay.busiest(trace).collect()] == [(1, "north-south", 1)]
