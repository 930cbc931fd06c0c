"""Rules that no recording shows: scripts played three times with real clients and brokers of 5.17.2.

The same came of all three runs; what is asserted is what came.
"""

from __future__ import annotations

import pytest

from tests.products.activemq.timed import gaps, path, run, tries

LINE = {"A": {"link": True, "store": "kahadb"}}
URI = "failover:({A})?initialReconnectDelay=200&useExponentialBackOff=false"
CUT = "cut link=A how=reset_once\nwait_connected client=C\nwait_ms ms=300\n"
RESUME = "resume_consumer consumer=K\nwait_ms ms=500\n"


def client(script, uri=URI):
    return run("A", f"start_broker broker=A\nconnect client=C uri={uri}\n{script}\nwait_ms ms=300\n"
               "snapshot label=end", more=LINE)  # fmt: skip


def holds(keys="", count=5, received=3):
    return (f"send client=C queue=Q count={count} session=send\n"
            f"open_consumer client=C consumer=K session=s queue=Q receiving=false {keys}\n"
            f"receive consumer=K count={received}\nwait_ms ms=200\n")  # fmt: skip


# Addresses


def connected(uri):
    found = run("B", f"start_broker broker=B\nconnect client=C uri={uri} max_ms=700", "E1")
    row = found["results"][0]
    if "still_waiting" in row:
        return "waits"
    return "ok" if row["ok"] else f"{row['error']['class']} {row['error']['cause'].partition(':')[0]}"


@pytest.mark.parametrize(("uri", "came"), [
    ("failover:({E1}),{B}", "waits"), ("failover:({B}),{E1}", "ok"), ("failover:({B})?", "ok"),
    ("failover:({B})?timeout=3&", "ok"), ("failover:({B})?&timeout=3", "JMSException IllegalArgumentException"),
    ("failover:({B})?timeout=3&&backup=true", "JMSException IllegalArgumentException"),
    ("failover:({B})?backup", "JMSException IllegalArgumentException"),
    ("failover:({B})?nested.soTimeout", "JMSException NullPointerException"),
    ("failover:({B})?maxReconnectAttempts=99999999999", "JMSException IllegalArgumentException"),
    ("failover:(({B}))", "JMSException IOException"), ("failover:({B}#x)", "JMSException IOException"),
    ("failover:([x],{B})", "JMSException IOException"), ("failover", "JMSException IOException"),
    ("failover:x({B})", "JMSException IOException"),
    ("failover:", "IllegalArgumentException URISyntaxException"),
    ("failover://", "IllegalArgumentException URISyntaxException"),
    ("({B})", "IllegalArgumentException URISyntaxException"),
    ("fail_over:({B})", "IllegalArgumentException URISyntaxException"),
    ("discovery:(static:(({B})))", "JMSException URISyntaxException"),
    ("discovery:()", "JMSException ArrayIndexOutOfBoundsException"),
    ("discovery:(static:({B}))?&x", "ok"),
    ("discovery:(masterslave:({B},{E1}))?discovered.soTimeout=3", "waits"),
    ("failover:({B})?jms.bogus=1", "JMSException IllegalArgumentException"),
    ("{B}?jms.prefetchPolicy.bogus=3", "JMSException IllegalArgumentException"),
    ("{B}?jms.sendTimeout=x", "JMSException IllegalArgumentException"), ("{B}?jms.useAsyncSend=x", "ok"),
    ("{B}?jms.redeliveryPolicy.maximumRedeliveries=2", "ok"),
    ("failover:({B}/path?soTimeout=3000)", "ok"), ("{B}/", "ok"), ("{B}#x", "ok"),
    ("{B},{E1}", "JMSException IllegalArgumentException"),
    ("{B}?soWriteTimeout=5&ioBufferSize=100&diffServ=EF", "ok"),
    ("{B}?diffServ=3&typeOfService=8", "JMSException IllegalArgumentException"),
    ("{B}?wireFormat.version=99", "JMSException ClassNotFoundException"),
])  # fmt: skip
def test_what_comes_of_an_address(uri, came):
    assert connected(uri) == came


@pytest.mark.parametrize("option", ["socket.bogus=5", "socket.soTimeout=x", "soTimeout=-1"])
def test_what_the_socket_does_not_take_is_found_out_when_it_is_open(option):
    found = run("B", "start_broker broker=B\nconnect client=C in_background=true "
                f"uri=failover:({{B}}?{option})?initialReconnectDelay=200\nwait_ms ms=300")  # fmt: skip
    assert [entry["result"] for entry in found["attempts"]["C"]] == ["connected"] * 2
    assert path(found) == []


def test_a_wait_below_zero_is_none_and_the_next_is_above_it_again():
    found = run("", "connect client=C uri=failover:({E1})?initialReconnectDelay=100"
                "&reconnectDelayExponent=-1&maxReconnectAttempts=4", "E1")  # fmt: skip
    assert gaps(found) == [100, 100]  # and one of less than a millisecond


def test_a_list_in_a_list_that_gives_up_while_a_command_waits_hangs_the_client():
    found = run("B", "start_broker broker=B\nconnect client=C in_background=true "
                "uri=failover:(failover:({E1})?maxReconnectAttempts=1,{B})?randomize=false\n"
                "wait_ms ms=2000", "E1")  # fmt: skip
    assert (path(found), tries(found)) == (["?"], ["E1"])
    assert found["results"][0]["still_waiting"]


# Received and not settled


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_what_an_open_transaction_had_received_comes_again_only_after_its_end(how):
    found = client(holds("transacted=true") + CUT + RESUME + "snapshot label=open\n"
                   f"{how} client=C session=s")  # fmt: skip
    assert found["snapshots"]["open"]["received_so_far"] == {"K": 5}
    assert found["consumers"]["K"]["redelivered"].startswith("4-5")


def test_a_copy_that_comes_while_the_first_still_waits_is_not_received():
    found = client("send client=C queue=Q count=3 session=send persistent=false\n"
                   + holds(received=2, count=0) + CUT + RESUME, URI + "&trackMessages=true")  # fmt: skip
    assert found["consumers"]["K"]["received"] == "1-3"


TX, KEPT = "transacted=true", "ack_mode=client acknowledge=false"
OTHER = ("connect client=D uri=failover:({A})\nopen_consumer client=D consumer=K2 session=y queue=Q\n"
         "wait_ms ms=600\nsnapshot label=other\n")  # fmt: skip


def counts(found, name="K2"):
    entry = found["consumers"][name]
    return entry["received"], entry.get("delivery_count", {})


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_a_rollback_after_a_loss_gives_all_again_in_order(how):
    found = client(holds(TX) + CUT + RESUME + f"{how} client=C session=s\nwait_ms ms=2000")
    assert counts(found, "K") == ("1-5, 1-5", {"1": 2, "2": 2, "3": 2, "4": 3, "5": 3})


def test_after_a_rollback_the_consumer_rests_before_it_takes_anything():
    found = client(holds(TX) + "rollback client=C session=s\n" + RESUME + "wait_ms ms=1500")
    assert found["consumers"]["K"]["received"] == "1-3, 1-5"


@pytest.mark.parametrize(("how", "came"), [
    ("commit", ("3-5", {})), ("rollback", ("1-5", {"1": 2, "2": 2})),
])  # fmt: skip
def test_a_consumer_closed_in_a_transaction_leaves_at_its_end(how, came):
    found = client(holds(TX, received=2) + "close_consumer consumer=K\n" + OTHER
                   + f"{how} client=C session=s\nwait_ms ms=500")  # fmt: skip
    assert found["snapshots"]["other"]["received_so_far"]["K2"] == 0
    assert counts(found) == came


@pytest.mark.parametrize(("keys", "cut", "came"), [
    ("", "", ("3-5", {})), (KEPT, "", ("1-5", {"1": 2, "2": 2})), (TX, "", ("1-5", {"1": 2, "2": 2})),
    ("", CUT, ("3-5", {"3": 2, "4": 2, "5": 2})),
    (TX, CUT, ("1-5", {"1": 3, "2": 3, "3": 2, "4": 2, "5": 2})),
])  # fmt: skip
def test_a_client_that_goes_in_order_counts_only_what_it_took(keys, cut, came):
    assert counts(client(holds(keys, received=2) + cut + "close_client client=C\n" + OTHER)) == came


def test_what_is_stored_is_taken_before_what_is_only_in_memory():
    sends = [f"send client=C queue=Q count=2 session=send persistent={word}" for word in
             ("false", "true", "false", "true")]  # fmt: skip
    found = client("\n".join(sends) + "\nopen_consumer client=C consumer=K session=s queue=Q\n")
    assert found["consumers"]["K"]["received"] == "3-4, 7-8, 1-2, 5-6"


@pytest.mark.parametrize("persistent", ["true", "false"])
def test_send_timeout_waits_for_the_answer_but_not_for_a_connection(persistent):
    send = f"send client=C queue=Q count=1 session=send persistent={persistent} label=s"
    late = client(f"{send}\ncut link=A how=drop_replies\n{send}", URI + "&jms.sendTimeout=400")
    assert late["results"][2]["failed"][0]["cause"].startswith("RequestTimedOutIOException")
    away = client(f"cut link=A how=refuse\nwait_ms ms=300\n{send} in_background=true\n"
                  "wait_ms ms=1200\nheal link=A\nwait_acts", URI + "&jms.sendTimeout=400")  # fmt: skip
    assert away["results"][1]["ok"]


def test_without_failover_a_loss_ends_consumers_and_no_session_can_be_opened():
    found = client(holds(KEPT) + "cut link=A how=reset_once\nwait_ms ms=300\n" + RESUME
                   + "acknowledge consumer=K label=old\nopen_session client=C session=n", "{A}")  # fmt: skip
    assert found["consumers"]["K"]["received"] == "1-3"
    errors = [row["error"]["class"] for row in found["results"] if not row["ok"]]
    assert errors == ["IllegalStateException", "ConnectionFailedException"]


# Connectors, and what brokers tell

FAST = "useExponentialBackOff=false&initialReconnectDelay=200"
TELLS = {"transport_connector": {"update_cluster_clients": True, "rebalance_cluster_clients": True}}


@pytest.mark.parametrize(("option", "waits"), [
    ("initialReconnectDelay=300", [300, 600]), ("bogus=1", [10, 20, 40, 80, 160, 320]),
])  # fmt: skip
def test_an_option_that_the_agent_does_not_know_costs_an_inner_list_its_own(option, waits):
    uri = f"static:(failover:({{E1}})?maxReconnectAttempts=0)?{option}"
    found = run("A", "start_broker broker=A\nwait_ms ms=950", "E1", [("A", uri)])
    assert gaps(found, "A")[: len(waits)] == waits


def test_a_connectors_address_has_a_scheme():
    found = run("A", "start_broker broker=A max_ms=500", connectors=[("A", "static")])
    assert found["start_failed"]["A"][0]["class"] == "IOException"


def test_a_bridge_takes_no_turn_of_the_list_when_it_comes():
    both = [("A", "static:({B})?" + FAST), ("B", "static:({A})?" + FAST)]
    found = run("A B", "start_broker broker=A\nconnect client=C1 uri=failover:({A})?randomize=false\n"
                "connect client=C2 uri=failover:({A})?randomize=false\nwait_ms ms=400\n"
                "start_broker broker=B\nwait_ms ms=1500", connectors=both, more={"*": TELLS})  # fmt: skip
    assert [(e["by"], e["brokers"]) for e in found["told"]["C2"]][1:] == [
        ("A", ["B", "A"]), ("B", ["A", "B"]),
    ]  # fmt: skip


def test_a_client_that_stays_when_asked_to_move_looks_for_spares_once_more():
    found = run("A", "start_broker broker=A\nwait_ms ms=100\nconnect client=C uri=failover:({E1},{A})"
                "?randomize=false&backup=true\nwait_ms ms=300", "E1", more={"A": TELLS})  # fmt: skip
    assert tries(found) == ["E1", "A", "E1", "E1", "E1"]


# Ends


@pytest.mark.parametrize(("end", "option", "error"), [
    ("close_client client=C", "", "ConnectionClosedException"),
    ("stop_broker broker=A\nwait_ms ms=400", "?maxReconnectAttempts=2", "ConnectionFailedException"),
])  # fmt: skip
def test_a_session_cannot_be_opened_when_the_connection_has_ended(end, option, error):
    found = client(f"open_session client=C session=old\n{end}\nopen_session client=C session=new\n"
                   "send client=C queue=Q count=1 session=old", "failover:({A})" + option)  # fmt: skip
    errors = [row["error"]["class"] for row in found["results"] if not row["ok"]]
    assert errors == [error, "IllegalStateException"]


@pytest.mark.parametrize(("mode", "cause"), [
    ("accept_close", "InactivityIOException"), ("silent", "IOException"),
])  # fmt: skip
def test_what_the_listener_hears_of_an_end_that_says_nothing(mode, cause):
    found = run("", "connect client=C max_ms=4000 uri=failover:({E1})?maxReconnectAttempts=2"
                "&nested.wireFormat.maxInactivityDurationInitalDelay=500", f"E1={mode}")  # fmt: skip
    assert found["exceptions"]["C"][0]["cause"].partition(":")[0] == cause
