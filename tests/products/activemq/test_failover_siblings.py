"""Neighbours of the recordings: the rules behind them, with other values and in other company.

What each expects follows from ActiveMQ rules 7 to 17 and 28; where these are silent, from ActiveMQ's own
code of that class.
"""

from __future__ import annotations

import pytest

from mqlab.errors import BadValue
from tests.products.activemq.timed import errors, gaps, path, result, roles, run, scenario, tries

THREE = "start_broker broker=A\nstart_broker broker=B\nstart_broker broker=D\n"
TELLS = {"update_cluster_clients": True, "rebalance_cluster_clients": True}
FAST = "?useExponentialBackOff=false&initialReconnectDelay=200"
LINE = {"A": {"link": True, "store": "kahadb"}}
URI = "failover:({A})?initialReconnectDelay=200&useExponentialBackOff=false"
CUT = "cut link=A how=reset_once\nwait_connected client=C\nwait_ms ms=300\n"


def client(script, uri=URI, more=None, **keys):
    options = "".join(f" {key}={value}" for key, value in keys.items())
    begin = f"start_broker broker=A\nconnect client=C uri={uri}{options}\n"
    return run("A", begin + script + "\nsnapshot label=end", more=more or LINE)


def end(found):
    return found["snapshots"]["end"]


# Spares and preferred addresses


def test_a_dead_spare_is_replaced_as_long_as_another_is_wanted():
    found = run("A B D", THREE + """
        connect client=C uri=failover:({A},{B},{D},{E1})?randomize=false&backup=true&backupPoolSize=3
        wait_ms ms=100
        stop_broker broker=B
        wait_ms ms=100
        snapshot label=end""", "E1")  # fmt: skip
    assert tries(found) == ["A", "B", "D", "E1", "B", "E1"]
    assert end(found)["clients"]["C"]["backups"] == 1


def test_while_it_waits_for_its_preferred_broker_a_client_keeps_a_spare():
    found = run("A B D", THREE + """
        connect client=C uri=failover:({A},{B},{D})?randomize=false&priorityBackup=true
        stop_broker broker=A
        wait_connected client=C to=B
        wait_ms ms=15""")  # fmt: skip
    assert tries(found)[1:4] == ["B", "D", "A"]  # the lost one is last in the list of spares too


# What brokers tell


def moves(script, options=TELLS, brokers="A B", connectors=(("A", "static:({B})" + FAST),), **more):
    return run(brokers, "start_broker broker=A\n" + script + "\nwait_ms ms=1500",
               connectors=list(connectors), more={"*": {"transport_connector": options}}, **more)  # fmt: skip


def connects(*names):
    uri = "failover:({A})?randomize=false"
    return "".join(f"connect client={n} uri={'{A}' if n == 'P' else uri}\n" for n in names)


def test_a_lost_broker_that_is_told_again_is_as_good_as_any_other():
    found = moves(connects("C1", "C2") + "start_broker broker=B\nwait_ms ms=1500\n"
                  "stop_broker broker=B\nwait_ms ms=1000\nstart_broker broker=B",
                  {**TELLS, "update_cluster_clients_on_remove": True})  # fmt: skip
    assert [path(found, name) for name in ("C1", "C2")] == [["A"], ["A", "B", "-", "A", "B"]]


def test_every_connection_takes_a_turn_of_the_list():
    found = moves(connects("C1", "P", "C2", "C3") + "start_broker broker=B")
    assert [path(found, name) for name in ("C1", "C2", "C3")] == [["A"], ["A"], ["A", "B"]]


def test_a_command_to_reconnect_is_obeyed_even_if_it_names_the_same_broker():
    found = run("A", "start_broker broker=A\nconnect client=C uri=failover:({A})\n"
                "tell_reconnect broker=A to=A\nwait_ms ms=100")  # fmt: skip
    assert tries(found) == ["A", "A"]
    assert path(found) == ["A"]  # a program that watches its connection sees no change


@pytest.mark.parametrize(("filter", "told"), [
    (" ", ["A", "B"]), (".*A.*,,B", ["A", "B"]), (" B ", ["A", "B"]), ("b", ["A"]), ("B,*A*", ["A", "B"]),
])  # fmt: skip
def test_a_filter_is_trimmed_and_the_first_expression_that_fits_decides(filter, told):
    more = {"A": {"transport_connector": {"update_cluster_clients": True,
                                          "update_cluster_filter": filter}}}  # fmt: skip
    found = run("A B", "start_broker broker=B\nstart_broker broker=A\n" + connects("C")
                + "wait_ms ms=500", connectors=[("A", "static:({B})")], more=more)  # fmt: skip
    assert found["told"]["C"][-1]["brokers"] == told


# Addresses


@pytest.mark.parametrize(("uri", "version", "accepted"), [
    ("failover:({B})x", "5.17.2", True), ("failover:({B}),{E1}", "5.17.2", True),
    ("failover:({B})#x", "5.17.2", True), ("failover:(discovery:(static:({B})))", "5.17.2", True),
    ("failover:({B}?wireFormat.bogus=1)", "5.17.2", False),
    ("failover:({B}?wireFormat.cacheSize=x)", "5.17.2", False),
    ("failover:({B}?connectionTimeout=x)", "5.17.2", False),
    ("failover:({B}?jms.useAsyncSend=true)", "5.17.2", False),
    ("failover:({B})?jms.useAsyncSend=true", "5.17.2", True), ("{B}?jms.useAsyncSend=true", "5.17.2", True),
    ("failover:({B})?maxPullCacheSize=5", "5.17.2", False),
    ("failover:({B})?reconnectDelayExponent=1e0", "5.17.2", True),
    ("failover:({B})?initialReconnectDelay=1e3", "5.17.2", False),
    ("discovery:(static:({B}))?initialReconnectDelay=soon", "5.17.2", True),
    ("discovery:(static:({B}),nonsense:x)", "5.17.2", True), ("discovery:()", "5.17.2", False),
    ("discovery:(zeroconf:_x.)", "5.17.2", False),
    ("failover:({B})?priorityBackup=true", "5.5.1", False),
    ("failover:({B})?nested.soTimeout=5", "5.5.1", False),
    ("failover:({B})?nested.soTimeout=5", "5.17.2", True),
])  # fmt: skip
def test_an_address_connects_or_does_not(uri, version, accepted):
    found = run("B", f"start_broker broker=B\nconnect client=C uri={uri} label=x max_ms=500", "E1",
                version=version)  # fmt: skip
    assert result(found, "x").get("ok", False) is accepted


@pytest.mark.parametrize(("address", "cause"), [
    ("tcp://no.such.host:61616", "UnknownHostException"), ("tcp://localhost:1", "ConnectException"),
    ("tcp://localhost", "IllegalArgumentException"), ("nonsense://localhost:1", "IOException"),
    ("{B}?bogus=1", "IllegalArgumentException"), ("{E1}", "ConnectException"),
])  # fmt: skip
def test_an_address_that_leads_nowhere_says_why(address, cause):
    for uri in (address, f"failover:({address})?maxReconnectAttempts=1"):
        found = run("B", f"start_broker broker=B\nconnect client=C uri={uri} label=x", "E1")
        error = result(found, "x")["error"]
        assert (error["class"], error["cause"].partition(":")[0]) == ("JMSException", cause)


def test_one_host_and_port_is_one_address_whatever_its_options_and_scheme():
    found = run("", "connect client=C uri=failover:({E1},{E1}?soTimeout=5,nio://localhost:61001)"
                "?maxReconnectAttempts=2 in_background=true\nwait_ms ms=100", "E1")  # fmt: skip
    assert tries(found) == ["E1"] * 2


def test_options_for_all_addresses_hide_which_was_lost_last():
    lost = run("A", "start_broker broker=A\nconnect client=C uri=failover:({A},{E1})"
               "?randomize=false&nested.soTimeout=5\nstop_broker broker=A\nwait_ms ms=50", "E1")  # fmt: skip
    assert tries(lost)[1:5] == ["A", "E1"] * 2


# Waits


@pytest.mark.parametrize("option", ["initialReconnectDelay=0", "initialReconnectDelay=-1",
                                    "maxReconnectDelay=0&initialReconnectDelay=0"])  # fmt: skip
def test_rounds_without_a_wait_still_take_their_time(option):
    found = run("", f"connect client=C uri=failover:({{E1}})?{option} in_background=true\n"
                "wait_ms ms=50", "E1")  # fmt: skip
    assert 34 <= len(tries(found)) < 38  # of 1.5 ms, until the script ends: a moment and 50 ms


@pytest.mark.parametrize(("option", "version", "rounds"), [
    ("maxReconnectAttempts=-2", "5.17.2", 1), ("startupMaxReconnectAttempts=-2", "5.17.2", 1),
    ("startupMaxReconnectAttempts=0&maxReconnectAttempts=3", "5.17.2", 1),
    ("maxReconnectAttempts=-1", "5.17.2", 5), ("maxReconnectAttempts=-2", "5.5.1", 5),
])  # fmt: skip
def test_only_minus_one_is_no_limit_since_5_6(option, version, rounds):
    found = run("", f"connect client=C uri=failover:({{E1}})?{option} in_background=true\n"
                "wait_ms ms=200", "E1", version=version)  # fmt: skip
    assert len(tries(found)) == rounds


@pytest.mark.parametrize(("options", "expected"), [
    ("initialReconnectDelay=0", []), ("initialReconnectDelay=x", [1000, 2000, 4000]),
    ("backOffMultiplier=1.5", [1000, 2000, 4000]), ("initialReconnectDelay=5000", [5000]),
    ("useExponentialBackOff=FALSE&initialReconnectDelay=4000", [4000, 4000]),
])  # fmt: skip
def test_a_static_agent_swallows_what_it_cannot_read_and_takes_0_for_ever(options, expected):
    found = run("A", "start_broker broker=A\nwait_ms ms=9000", "E1",
                connectors=[("A", f"static:({{E1}},{{E1}})?{options}")])  # fmt: skip
    assert gaps(found, "A") == expected
    assert tries(found, "A") == ["E1"] * (1 + len(expected))  # one bridge, though named twice


def test_a_silent_listener_that_is_not_checked_holds_a_client_for_15_s():
    found = run("B", "start_broker broker=B\nconnect client=C uri=failover:"
                "({E1}?wireFormat.maxInactivityDuration=0,{B})?randomize=false&initialReconnectDelay=100 "
                "in_background=true\nwait_connected client=C to=B max_ms=30000", "E1=silent")  # fmt: skip
    assert [e["gap_ms"][0] for e in found["attempts"]["C"] if "gap_ms" in e] == [15_100]


def bridges(found):
    return {name: [e["state"] for e in events] for name, events in found["bridges"].items()}


def test_a_killed_broker_does_not_see_its_duplex_bridge_go_but_its_peer_does():
    told = {"update_cluster_clients": True, "update_cluster_clients_on_remove": True}
    found = run("A B", "start_broker broker=B\nconnect client=C uri=failover:({B})\n"
                "start_broker broker=A\nwait_bridge from=A to=B\nkill broker=A\nwait_ms ms=100",
                connectors=[("A", "static:({B})", {"duplex": True})],
                more={"*": {"transport_connector": told, "process": True}})  # fmt: skip
    assert bridges(found) == {"A to B": ["up"], "B to A": ["up", "down"]}
    assert [told["brokers"] for told in found["told"]["C"]] == [["B"], ["B", "A"], ["B"]]


@pytest.mark.parametrize(("limit", "seen"), [
    ("", {"A to B": ["up"]}),
    ("&maxReconnectAttempts=0", {"A to B": ["up", "down"], "A to D": ["up"]}),
])  # fmt: skip
def test_a_failover_inside_hides_that_the_bridge_leads_elsewhere(limit, seen):
    found = run("A B D", THREE.replace("start_broker broker=A\n", "") + """start_broker broker=A
        wait_bridge from=A to=B
        connect client=C uri={D}
        open_consumer client=C consumer=K queue=Q
        connect client=P uri={A}
        stop_broker broker=B
        wait_ms ms=2000
        send client=P queue=Q count=3
        wait_ms ms=300""",
        connectors=[("A", "static:(failover:({B},{D})?randomize=false" + limit + ")")])  # fmt: skip
    assert bridges(found) == seen
    assert found["consumers"]["K"]["count"] == 3


# Multicast

GROUP = "multicast://default?group=g"


def refusing(options):
    script = f"start_broker broker=A\nadvertise endpoint=E1 uri={GROUP}\nwait_ms ms=9000"
    tried = run("A", script, "E1", connectors=[("A", GROUP + options)])["attempts"]["A"]
    return [e["gap_ms"][0] for e in tried if "gap_ms" in e]  # the agent's looks


def test_the_exponential_mode_of_multicast_reckons_powers_of_its_multiplier_in_ms():
    assert refusing("&useExponentialBackOff=true&backOffMultiplier=10") == [500, 500, 1500]
    assert refusing("&useExponentialBackOff=true&backOffMultiplier=10&maxReconnectDelay=200")[:5] == ([500] * 5)


def test_a_good_bye_wipes_out_what_had_failed_before():
    found = run("A B", "start_broker broker=A\nstart_broker broker=B\nwait_bridge from=A to=B\n"
                "stop_broker broker=B\nwait_ms ms=500\nstart_broker broker=B\nwait_ms ms=100",
                connectors=[("A", GROUP)], more={"B": {"discovery_uri": GROUP}})  # fmt: skip
    assert [e["state"] for e in found["bridges"]["A to B"]] == ["up", "down", "up"]


# What survives


def test_a_message_in_hand_at_a_loss_is_acknowledged_as_receive_had_come_back():
    found = client("send client=C queue=Q count=5\nopen_consumer client=C consumer=K queue=Q "
                   "delay_ms=100\nwait_received consumer=K count=2\n" + CUT + "wait_ms ms=800")  # fmt: skip
    assert found["consumers"]["K"]["received"] == "1-5"
    assert end(found)["brokers"]["A"]["queues"] == {"Q": 0}


def test_an_individual_acknowledgement_while_away_has_no_effect():
    found = client("send client=C session=send queue=Q count=3\nopen_consumer client=C consumer=K queue=Q "
                   "ack_mode=individual receiving=false\nreceive consumer=K count=2\ncut link=A\n"
                   "wait_ms ms=50\nacknowledge consumer=K\nheal link=A\nwait_connected client=C\n"
                   "wait_ms ms=300")  # fmt: skip
    assert end(found)["brokers"]["A"]["queues"] == {"Q": 1, "ActiveMQ.DLQ": 2}


def test_a_consumer_that_asks_for_each_message_asks_again_after_a_loss():
    found = client("open_consumer client=C consumer=K queue=Q\nsend client=C queue=Q count=2\n" + CUT
                   + "send client=C queue=Q count=2\nwait_ms ms=300", prefetch=0)  # fmt: skip
    assert found["consumers"]["K"]["received"] == "1-4"


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_the_end_of_a_transaction_waits_for_a_broker(how):
    found = client("open_session client=C session=t transacted=true\n"
                   "send client=C queue=Q count=2 session=t\nwait_ms ms=50\ncut link=A\nwait_ms ms=50\n"
                   f"{how} client=C session=t label=end in_background=true\nwait_ms ms=500\n"
                   "heal link=A\nwait_acts")  # fmt: skip
    assert result(found, "end")["ms"][0] > 500
    assert end(found)["brokers"]["A"].get("queues", {}).get("Q", 0) == (2 if how == "commit" else 0)


def test_the_timeout_is_of_what_was_not_sent_and_is_looked_at_every_100_ms():
    uri = "failover:({A})?timeout=250&maxReconnectDelay=100"
    sent = client("cut link=A how=hang\nsend client=C queue=Q label=s in_background=true\n"
                  "wait_ms ms=50\ncut link=A\nwait_ms ms=1000\nheal link=A\nwait_acts", uri)  # fmt: skip
    assert result(sent, "s")["ok"]
    waiting = client("send client=C queue=Q\ncut link=A\nwait_ms ms=50\nsend client=C queue=Q label=s", uri)
    assert result(waiting, "s")["ms"] == [300] * 3


def test_what_waits_before_a_first_send_is_its_producer():
    gone = "cut link=A\nsend client=C queue=Q count=3 persistent=%s label=s in_background=true\nwait_ms ms=900"
    for persistent in ("true", "false"):
        found = client(gone % persistent, "failover:({A})?maxReconnectAttempts=3")
        assert result(found, "s")["error"]["class"] == "JMSException"
        assert "failed" not in result(found, "s")
        late = client(gone % persistent + "\nheal link=A\nwait_acts",
                      "failover:({A})?timeout=250&maxReconnectDelay=100")  # fmt: skip
        assert result(late, "s")["ok"]


def test_whatever_waits_fails_with_its_connection():
    script = """send client=C queue=Q
        cut link=A
        send client=C queue=Q persistent=%s count=3 label=s in_background=true
        wait_ms ms=500
        send client=C queue=Q label=later"""
    for persistent in ("true", "false"):
        found = client(script % persistent, "failover:({A})?maxReconnectAttempts=3")
        failed = result(found, "s")["failed"][0]
        assert (failed["n"], failed["class"]) == (2, "JMSException")
        assert failed["cause"].startswith("ConnectException")
        assert result(found, "later")["error"]["class"] == "IllegalStateException"


def test_closing_a_connection_stands_behind_what_waits_for_one():
    found = client("send client=C queue=Q\nopen_consumer client=C consumer=K queue=Z loop=false session=x\n"
                   "receive_once consumer=K timeout_ms=5000 label=r in_background=true\ncut link=A\n"
                   "wait_ms ms=20\nsend client=C queue=Q label=s in_background=true\nwait_ms ms=20\n"
                   "close_client client=C label=c in_background=true\nwait_ms ms=3000\nheal link=A\n"
                   "wait_acts")  # fmt: skip
    assert (result(found, "r")["got"], result(found, "c")["ok"]) == (None, True)
    assert (result(found, "s")["sent"], result(found, "c")["ms"][0] >= 3000) == ("2", True)


@pytest.mark.parametrize(
    ("then", "connected"), [("wait_ms ms=0", True), ("cut link=A how=drop_replies", False)]
)
def test_a_line_that_is_reset_stays_as_it_was(then, connected):
    found = client(f"{then}\ncut link=A how=reset_once\nwait_ms ms=1000\nsnapshot label=end")
    assert (found["snapshots"]["end"]["clients"]["C"]["connected_to"] == "A") == connected


@pytest.mark.parametrize(("how", "cause"), [
    ("stop_broker broker=A", "EOFException"), ("cut link=A", "SocketException"),
    ("cut link=A how=hang\nwait_ms ms=80000", "InactivityIOException"),
])  # fmt: skip
def test_the_listener_hears_how_a_connection_ended(how, cause):
    found = client(how, "{A}")
    assert found["exceptions"]["C"][0]["cause"].startswith(cause)


def test_a_client_knows_by_advisories_that_a_temporary_queue_is_gone():
    script = """connect client=D uri={A} watch_topic_advisories=%s
        temp_queue client=C session=x name=T
        send client=D temp=T
        close_client client=C
        send client=D temp=T label=gone"""
    kinds = [result(client(script % watches), "gone")["failed"][0]["class"]
             for watches in ("true", "false")]  # fmt: skip
    assert kinds == ["InvalidDestinationException", "DestinationDoesNotExistException"]


@pytest.mark.parametrize("watches", ["true", "false"])
def test_no_producer_is_made_for_a_temporary_queue_that_has_gone(watches):
    found = client(f"""connect client=D uri={{A}} watch_topic_advisories={watches}
        temp_queue client=C session=x name=T
        close_client client=C
        send client=D temp=T label=gone""")
    assert result(found, "gone")["error"]["class"] == "DestinationDoesNotExistException"


@pytest.mark.parametrize(("option", "persistent", "queued"), [
    ("useAsyncSend", "true", 1), ("alwaysSyncSend", "false", 2),
])  # fmt: skip
def test_the_connection_may_say_which_sends_wait(option, persistent, queued):
    found = client(f"send client=C queue=Q\ncut link=A how=hang\nsend client=C queue=Q persistent={persistent} "
                   "in_background=true\nwait_ms ms=50\ncut link=A how=reset_once\nheal link=A\n"
                   "wait_connected client=C\nwait_ms ms=200", f"{URI}&jms.{option}=true")  # fmt: skip
    assert end(found)["brokers"]["A"].get("queues", {}).get("Q", 0) == queued


# Locks

LEASE = {
    "locker": "lease",
    "lock_acquire_sleep_interval_ms": 2000,
    "lock_keep_alive_period_ms": 1000,
}
PAIR = "start_broker broker=A wait=true\nstart_broker broker=B wait_ms=2600\n"


def lease(script, b=None, **options):
    member = {"process": True, "jdbc": {**LEASE, **options}}
    return run(
        "A B",
        PAIR + script + "\nsnapshot label=end",
        more={"A": member, "B": {**member, **(b or {})}},
    )


def last(found):
    return {name: roles(found, name)[-1] for name in "AB"}


def test_a_slave_whose_clock_is_behind_waits_so_much_longer():
    behind = lease("kill broker=A\nwait_ms ms=15000", {"clock_offset_seconds": -20})
    assert last(behind) == {"A": "down", "B": "slave"}
    corrected = lease("kill broker=A\nwait_ms ms=15000", {"clock_offset_seconds": -20},
                      max_allowable_diff_from_db_time_ms=1000)  # fmt: skip
    assert last(corrected)["B"] == "master"


def test_stop_on_error_ends_a_master_that_cannot_renew():
    away = "database_down\nwait_ms ms=3000"
    assert last(lease(away)) == {"A": "master", "B": "slave"}
    assert last(lease(away, stop_on_error=True))["A"] == "down"


def test_a_slave_that_stops_gives_back_the_lease_of_its_namesake():
    found = lease("stop_broker broker=B\nwait_ms ms=1500", lease_holder_id="X")
    assert roles(found, "A")[:4] == ["slave", "master", "down", "slave"]


def test_a_frozen_database_is_not_a_lost_one():
    frozen = lease("database_down how=hang\nwait_ms ms=1500\ndatabase_up\nwait_ms ms=500",
                   locker="database")  # fmt: skip
    assert last(frozen) == {"A": "master", "B": "slave"}
    lost = lease("database_down how=hang\nwait_ms ms=1500\ndatabase_down\nwait_ms ms=500",
                 locker="database")  # fmt: skip
    assert last(lost)["A"] != "master"


def test_only_the_file_locker_can_fail_if_locked():
    assert last(lease("wait_ms ms=3000", fail_if_locked=True)) == {"A": "master", "B": "slave"}


def test_a_lock_file_that_goes_while_its_new_holder_looks_twice_ends_its_start():
    member = {"process": True, "shared_store": "s", "lock_acquire_sleep_interval_ms": 1000,
              "lock_keep_alive_period_ms": 1000}  # fmt: skip
    found = run("A B", PAIR + "kill broker=A\nwait_ms ms=1200\ndelete_lock_file shared_store=s\n"
                "wait_ms ms=3000", more={"*": member})  # fmt: skip
    assert found["start_failed"]["B"][0]["class"] == "IOException"


# A pure pair


def pair(script, **pure):
    kahadb = {"process": True, "store": "kahadb", "link": True}
    more = {"M": {**kahadb, "pure": pure}, "S": {**kahadb, "pure_slave_of": "M"}}
    begin = """start_broker broker=M
        start_broker broker=S wait_ms=2500
        connect client=C uri=tcp://127.0.0.1:{M.port}
        send client=C queue=Q count=3
        """
    return run("M S", begin + script + "\nsnapshot label=end", version="5.5.1", more=more)


def test_a_master_that_must_not_be_alone_ends_when_the_line_to_its_slave_is_cut():
    cut = "cut link=M how=reset_once\nwait_ms ms=3000"
    both = [roles(pair(cut, shutdown_on_slave_failure=so), "M")[-1] for so in (False, True)]
    assert both == ["running", "down"]


def test_a_send_at_a_master_waits_as_long_as_the_line_to_its_slave_is_frozen():
    found = pair("cut link=M how=hang\nsend client=C queue=Q label=s in_background=true\n"
                 "wait_ms ms=900\nheal link=M\nwait_acts")  # fmt: skip
    assert result(found, "s")["ms"][0] >= 900
    assert [end(found)["brokers"][name]["queues"]["Q"] for name in "MS"] == [4, 4]


# Scripts


@pytest.mark.parametrize("line", ["send client=C count=0.5", "wait_ms ms=soon", "wait_ms ms=-1",
                                  "connect client=C uri=x prefetch=true"])  # fmt: skip
def test_a_number_of_a_script_is_a_number(line):
    with pytest.raises(BadValue, match=r"expected a (whole )?number"):
        scenario("A", "connect client=C uri={A}\n" + line)


def test_a_call_that_never_comes_back_does_not_hold_a_script_for_ever():
    found = run("A", "start_broker broker=A\nconnect client=C uri={A}\ncut link=A how=drop_replies\n"
                "send client=C queue=Q label=x\nwait_ms ms=10", more={"A": {"link": True}})  # fmt: skip
    assert result(found, "x")["still_waiting"]
    assert errors(found) == []
