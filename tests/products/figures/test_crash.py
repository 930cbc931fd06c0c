"""One crash in every family: what it costs, measured, in one table (Technical Overview 4, Table 4-1)."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, MqlabError
from mqlab.trace import Kind
from mqlab.trace.ledger import COLUMNS, Ledger

WANTED = ["crash:shared-file", "crash:conventional", "crash:enhanced", "crash:replicated"]


@pytest.fixture(scope="module")
def ledger():
    return mq.compare(*(mq.run(figure) for figure in mq.figures("crash")))


def test_the_same_work_is_done_in_every_family(ledger):
    assert [figure.id for figure in mq.figures("crash")] == WANTED
    for row in ledger.rows().values():
        assert (row["sent"], row["received"], row["lost"], row["duplicates"]) == (15, 15, 0, 0)
    for trace in ledger.traces:
        kinds = [e.kind for e in trace.events()]
        assert kinds[: kinds.index(Kind.Crashed)].count(Kind.Sent) == 10


def test_what_the_crash_costs_is_what_the_guides_say(ledger):
    shared, conventional, enhanced, replicated = ledger.rows().values()
    # Service: any broker of a cluster at once; a pair as soon as the other one is live.
    assert max(conventional["service back after"], enhanced["service back after"]) < 100
    assert 100 < replicated["service back after"] < 2_000
    assert 2_000 < shared["service back after"] <= 11_000
    # Data: conventional only when the broker is back (40 s), enhanced by takeover (17 to 20 s).
    assert conventional["backlog delivered after"] >= 39_000
    assert 15_000 <= enhanced["backlog delivered after"] <= 21_000
    for pair in (replicated, shared):  # the ten are the first that come
        assert 0 <= pair["backlog delivered after"] - pair["service back after"] < 20


def test_the_table_can_be_read(ledger, mqlab):
    text = str(ledger)
    assert text.splitlines()[0].split() == " ".join(COLUMNS).split()
    assert "OpenMQ, an enhanced cluster" in text
    assert "<th title=" in ledger._repr_html_()
    printed = mqlab("compare", *WANTED)
    assert printed.returncode == 0, printed.stderr
    assert "lost" in printed.stdout
    told = mqlab("run", "crash:replicated").stdout
    assert "Roles" in told
    assert "backup in sync at" in told
    refused = mqlab("compare", "crash:enhanced")
    assert refused.returncode == 2
    assert "needs two runs" in refused.stderr


def test_a_run_without_a_crash_has_no_times():
    pair = mq.compare(mq.run("fuse:2.20"), mq.run("fuse:2.20"))
    rows = pair.ledger().rows()
    assert len(rows) == 2
    for row in rows.values():
        assert row["received"] == 12
        assert row["service back after"] is row["backlog delivered after"] is row["longest outage"] is None
    assert isinstance(mq.compare(mq.run("fuse:2.20")), Ledger)


def test_what_is_lost_is_in_the_table():
    # Non-persistent messages do not survive: the column must not be zero by construction.
    figure = mq.figure("crash:replicated")
    from mqlab.products.artemis.files import lab_file

    value = lab_file.write(figure.scenario)
    for action in value["actions"]:
        if "sends" in action:
            action["persistent"] = False
    (row,) = mq.compare(mq.run(lab_file.read(value))).rows().values()
    assert (row["lost"], row["received"], row["backlog delivered after"]) == (10, 5, None)


def test_the_json_value_of_a_lab_file_can_be_run_and_checked():
    value = {"brokers": [{"name": "A"}], "queues": [{"name": "Q"}], "steps": [
        {"do": "start"}, {"do": "send", "broker": "A", "queue": "Q", "count": 2},
        {"do": "open_consumer", "consumer": "C", "broker": "A", "queue": "Q"}, {"do": "settle"},
    ]}  # fmt: skip
    assert mq.run(value).received() == {"C": 2}
    assert mq.check(value) == []
    with pytest.raises(MqlabError, match="lab file"):
        mq.run({"brokers": 7})


@pytest.mark.parametrize("use", [
    lambda: mq.view(mq.compare(*(mq.run("fuse:2.20") for _ in range(5)))),
    lambda: mq.faults("artemis:21.1", seed=1, rate=1),
], ids=["view", "faults"])  # fmt: skip
def test_what_a_family_cannot_do_is_said(use):
    with pytest.raises(BadValue, match=r"e\.g\. fuse:4\.4|the limit is 4"):
        use()
