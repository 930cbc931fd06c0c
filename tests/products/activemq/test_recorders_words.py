"""Words of the recorders that no recording has: what they take a step to say is played."""

from __future__ import annotations

import pytest

from tests.products.activemq.timed import body, path, result, run, scenario

TO_A = "failover:({A})?initialReconnectDelay=50"
CONNECTED = f"start_broker broker=A\nconnect client=C uri={TO_A}"


def received(found, who="K"):
    return found["consumers"][who]["received"]


def depth(found, label="final", broker="A", queue="Q"):
    return found["snapshots"][label]["brokers"][broker].get("queues", {}).get(queue, 0)


def test_a_send_can_open_its_transaction():
    found = run("A", f"""
        {CONNECTED}
        open_consumer client=C consumer=K session=k queue=Q
        send client=C session=t queue=Q count=2 transacted=true
        wait_ms ms=200
        snapshot label=before
        commit client=C session=t label=commit
        wait_ms ms=200
        snapshot
    """)  # fmt: skip
    assert result(found, "commit")["ok"]
    assert found["snapshots"]["before"]["received_so_far"]["K"] == 0
    assert received(found) == "1-2"


def test_whoever_names_a_session_first_says_how_it_acknowledges():
    script = f"""
        {CONNECTED}
        send client=C session=send queue=Q count=2
        open_session client=C session=t transacted=true
        open_consumer client=C consumer=K session=t queue=Q
        wait_ms ms=200
        rollback client=C session=t label=rollback
        wait_ms ms=1500
        snapshot
    """
    found = run("A", script)
    assert received(found) == "1-2, 1-2"
    assert depth(found) == 2
    alone = run("A", script.replace("open_session client=C session=t transacted=true", "wait_ms ms=1"))
    assert result(alone, "rollback")["error"]["class"] == "IllegalStateException"
    assert received(alone) == "1-2"


def test_a_connection_that_was_not_started_delivers_nothing_and_waits_for_nobody():
    found = run("A", """
        connect client=C uri=failover:({A}) start=false label=connect max_ms=300
        start_broker broker=A
        wait_connected client=C max_ms=2000
        open_consumer client=C consumer=K session=k queue=Q
        send client=C session=send queue=Q count=2
        wait_ms ms=200
        snapshot
    """)  # fmt: skip
    assert result(found, "connect")["ok"]
    assert path(found)[-1] == "A"
    assert (received(found), depth(found)) == ("", 2)


@pytest.mark.parametrize(
    ("step", "ms"),
    [
        ("wait_attempts by=C to=A count=1 max_ms=3000", 0),
        ("wait_attempts by=C to=B count=1 max_ms=3000", 3000),
        ("wait_attempts count=1 max_ms=3000", 0),
        ("wait_configured client=C list=updated count=0 max_ms=3000", 0),
        ("wait_configured client=C list=backups count=1 max_ms=3000", 3000),
        ("wait_ms ms=100 jitter_ms=100", 150),
    ],
)
def test_what_is_waited_for(step, ms):
    found = run("A B", f"{CONNECTED}\n{step}\nsnapshot")
    began = found["step_began_ms"]
    assert began[3] - began[2] == pytest.approx(ms, abs=5)


def test_several_brokers_are_started_one_after_the_other():
    found = run("A B", 'start_brokers brokers=["A","B"]\nsnapshot')
    up = [entry for name in "AB" for entry in found["roles"][name]]
    assert [entry["role"] for entry in up] == ["running", "running"]
    assert up[0]["step"] < up[1]["step"]


def test_a_line_that_is_cut_open_is_whole():
    found = run("A", f"""
        {CONNECTED}
        cut link=A how=refuse
        wait_ms ms=300
        cut link=A how=open
        wait_ms ms=500
    """, more={"A": {"link": True}})  # fmt: skip
    assert path(found) == ["A", "-", "A"]


def test_what_a_recorder_supplies_itself():
    value = body("A B", "start_broker broker=A", connectors=[("A", "static:({B})")])
    named = scenario("A B", "start_broker broker=A", connectors=[("A", "static:({B})", {"name": "link"})])
    del value["connectors"][0]["name"]
    value["brokers"][0] = "A"
    from mqlab.products.activemq.files import timed_recordings

    assert timed_recordings.read({**value, "time_limit_seconds": 60}).network == named.network
