"""The recorder: rows become columns as they are written, and a trace that was given never changes."""

import json
import pickle
import re
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.trace import COLUMNS, record
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import Recorder

FOO = mq.Queue("TEST.FOO")
CODES = Path(__file__).with_name("codes.json")


@pytest.mark.complete
def test_codes_of_kinds_and_reasons_stay_since_files_hold_them():
    stored = json.loads(CODES.read_text())
    for codes in (Kind, Reason):
        known, now = stored[codes.__name__], {one.name: int(one) for one in codes}
        moved = {name: number for name, number in known.items() if now.get(name) != number}
        assert not moved, f"{codes.__name__}: files hold these codes; put new ones at the end: {moved}"
        new = {name: number for name, number in now.items() if name not in known}
        assert not new, f"{codes.__name__}: write these into tests/trace/{CODES.name}, at the end: {new}"
        assert max(now.values()) <= 127, "a code is one byte of a column"


@pytest.mark.complete
def test_each_kind_and_reason_is_recorded_by_some_code():
    code = "\n".join(file.read_text(encoding="utf-8") for file in Path(mq.__file__).parent.rglob("*.py"))
    named = {*re.findall(r"\b(Kind|Reason)\.(\w+)", code)}
    idle = [one.name for one in (*Kind, *Reason) if (type(one).__name__, one.name) not in named]
    # Nothing is for want of advisories any more; its code stays, since files hold it.
    idle = [name for name in idle if name != "no_advisories"]
    assert not idle, f"no code records these: record them with an event, or take them out: {idle}"


@pytest.mark.parametrize("full", [0, 1, 7, 63])
def test_it_does_not_matter_how_often_rows_become_columns(monkeypatch, full):
    whole = mq.run("fuse:4.4").digest()
    monkeypatch.setattr(record, "FULL", full)
    assert mq.run("fuse:4.4").digest() == whole


@pytest.mark.parametrize("full", [0, 63])
def test_a_trace_stays_as_it_is_when_its_lab_goes_on(monkeypatch, full):
    monkeypatch.setattr(record, "FULL", full)
    lab = mq.Lab(mq.Network(mq.Broker("A")))
    lab.do(mq.Producer("P", on="A", sends=20, to=FOO))
    lab.rest()
    early = lab.trace
    before, count = early.digest(), len(early)
    other = lab.fork()
    for one in (lab, other):
        one.do(mq.Consumer("C", on="A", reads=FOO))
        one.rest()
    assert (early.digest(), len(early)) == (before, count)
    assert lab.trace.digest() == other.trace.digest()
    assert len(lab.trace) > count


def test_numbers_keep_their_values_and_their_signs():
    recorder = Recorder()
    rows = [
        (0, 0),
        (2**40, 127, 2**31 - 1, 2**15 - 1, -1, -(2**15), 2**15, 3, -(2**31), -128, 2**62, 5, 255),
    ]
    for row in rows:
        recorder.add(*row)
    trace = recorder.trace({})
    assert [trace.column(name)[1] for name in COLUMNS] == list(rows[1])
    assert [trace.column(name)[0] for name in COLUMNS] == [
        0,
        0,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        -1,
        0,
        0,
        0,
        -1,
    ]


@pytest.mark.parametrize(("place", "number"), [(2, 2**31), (3, 2**15), (9, 1 << 15), (3, -(2**15) - 1)])
def test_a_number_that_is_too_large_is_an_error_that_names_its_column(place, number):
    recorder = Recorder()
    row = [0] * len(COLUMNS)
    row[place] = number
    recorder.add(*row)
    with pytest.raises(BadValue, match=list(COLUMNS)[place]):
        recorder.trace({})


def test_a_message_crosses_hundreds_of_brokers():
    links = {
        f"B{i}": mq.NetworkConnector("n", uri=f"static:(tcp://B{i + 1}:61616)", network_ttl=-1)
        for i in range(199)
    }
    net = mq.Network(*(mq.Broker(name, link) for name, link in links.items()), mq.Broker("B199"))
    run = mq.run(
        net,
        mq.Consumer("C", on="B199", reads=mq.Queue("Q")),
        mq.Producer("P", on="B0", sends=2, to=mq.Queue("Q")),
    )
    assert run.received() == {"C": 2}
    assert max(run.column("hop")) == 199


def test_a_trace_keeps_what_it_was_lent_while_the_recorder_goes_on():
    recorder = Recorder()
    for no in range(5):
        recorder.add(no, 1, msg=no)
    early = recorder.trace({})
    assert list(early.column("t")) == [0, 1, 2, 3, 4]
    for no in range(5, 9):
        recorder.add(no, 1, msg=no)
    late = recorder.trace({})
    assert (len(early), len(late)) == (5, 9)
    assert list(early.column("t")) == [0, 1, 2, 3, 4]  # taken before
    assert list(early.column("msg")) == [0, 1, 2, 3, 4]  # taken now, when there are more
    assert [late.event(-1).message, early.event(-1).message] == [8, 4]
    with pytest.raises(IndexError):
        early.event(5)
    held = memoryview(late.column("t"))  # as numpy holds a column: it must not stand in the recorder's way
    recorder.add(9, 1)
    assert len(recorder.trace({})) == 10
    assert len(held) == 9
    for one in (early, late):
        assert pickle.loads(pickle.dumps(one)).digest() == one.digest()


def test_to_look_at_a_trace_after_each_step_copies_no_column():
    recorder = Recorder()
    for no in range(20_000):
        recorder.add(no, 1)
    columns = [id(column) for column in recorder.columns.values()]
    for no in range(20_000, 20_010):
        recorder.add(no, 1)
        trace = recorder.trace({})
        assert (len(trace), trace.event(no).t) == (no + 1, no)
    assert [id(column) for column in recorder.columns.values()] == columns
