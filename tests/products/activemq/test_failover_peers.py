"""The failover rows of the peer cases: facts from the brokers' own public test suites."""

from __future__ import annotations

import pytest

from mqlab.errors import BadValue
from mqlab.products.activemq.client.addresses import (
    FailoverOptions,
    Refused,
    failover_options,
    split,
)
from mqlab.products.activemq.client.failover_transport import FailoverTransport
from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import Lab, play
from tests.products.activemq.timed import body, run, scenario

SETTLED = "wait_ms ms=8000"
LINK = "?useExponentialBackOff=false&initialReconnectDelay=200"


def play_row(brokers, uri, clients, steps, connectors=(), options=None):
    """Return the outcome of clients on a network to which *steps* are done, one snapshot for each."""
    names = [f"C{no}" for no in range(1, clients + 1)]
    running = [name for name in brokers if f"start {name}" not in steps[0:1]]
    lines = [f"start_broker broker={name}" for name in running]
    lines += [f"connect client={name} uri={uri}" for name in names]
    for no, done in enumerate(["settle", *steps]):
        do, _, broker = done.partition(" ")
        if do != "settle":
            lines.append(f"{do}_broker broker={broker}")
        lines += [SETTLED, f"snapshot label=s{no}"]
    links = [(home, "static:({" + to + "})" + LINK, rest) for home, to, rest in connectors]
    cluster = {"transport_connector": options} if options else {}
    value = body(" ".join(brokers), "\n".join(lines), connectors=links, more={"*": cluster})
    shots = outcome(play(timed_recordings.read(value)))["snapshots"].values()
    return [{name: shot["clients"][name] for name in names} for shot in shots]


def places(rows):
    """Return where the clients are after each step: one name if all are at one broker."""
    found = [{client["connected_to"] for client in row.values()} for row in rows]
    return ["".join(sorted(map(str, at))) for at in found]


BOTH = [("A", "B", {}), ("B", "A", {})]
SLOW = "&initialReconnectDelay=1000&useExponentialBackOff=false"


def net_0135():
    rows = play_row("AB", "failover://({A})?randomize=false", 10, ["start B"],
                    [("B", "A", {"duplex": True})],
                    {"update_cluster_clients": True, "rebalance_cluster_clients": True})  # fmt: skip
    assert places(rows)[-1] == "AB"


def net_0137():
    steps = ["stop B", "start B", *["stop A", "start A"] * 3, "stop B", "start B"]
    rows = play_row("AB", "failover:({A},{B})?randomize=false&priorityBackup=true" + SLOW, 5, steps,
                    BOTH)  # fmt: skip
    assert "".join(places(rows)) == "AAA" + "BA" * 3 + "AA"


def net_0138():
    uri = "failover:({A},{B})?randomize=false&priorityBackup=true&priorityURIs={B}" + SLOW
    steps = ["stop A", "start A", *["stop B", "start B"] * 3, "stop A", "start A"]
    assert "".join(places(play_row("AB", uri, 5, steps, BOTH))) == "BBB" + "AB" * 3 + "BB"


def net_0140():
    rows = play_row("AB", "failover:({A},{B})?randomize=false&priorityBackup=true" + SLOW, 5, [],
                    BOTH, {"update_cluster_clients": True})  # fmt: skip
    assert places(rows) == ["A"]


def backups(uri, steps=()):
    rows = play_row(["b1", "b2", "b3"], uri, 1, list(steps))
    return [row["C1"].get("backups", 0) for row in rows]


def net_0141():
    uri = "failover:({b1},{b2},{b3})?randomize=false&backup=true&backupPoolSize=2"
    assert backups(uri) == [2]


def net_0143():
    uri = "failover:({b1},{b2},{b3})?randomize=false&backup=true&backupPoolSize=1"
    assert backups(uri, ["stop b1", "stop b2"]) == [1, 1, 0]


def net_0145():
    tells = {"transport_connector": {"update_cluster_clients": True}}
    found = run("bs1 bs2", f"""
        start_broker broker=bs1
        connect client=C uri=failover:({{bs1}})
        open_consumer client=C consumer=K queue=test.failoverupdateuris
        send client=C queue=test.failoverupdateuris
        start_broker broker=bs2
        {SETTLED}
        stop_broker broker=bs1
        {SETTLED}
        send client=C queue=test.failoverupdateuris
        {SETTLED}
        snapshot label=x""", connectors=[("bs2", "static:({bs1})" + LINK, {"duplex": True})],
        more={"bs1": tells})  # fmt: skip
    assert found["consumers"]["K"]["count"] == 2
    assert found["snapshots"]["x"]["clients"]["C"]["connected_to"] == "bs2"


ROWS = {name: call for name, call in globals().items() if name.startswith("net_")}


@pytest.mark.parametrize("row", ROWS)
def test_a_failover_row_of_the_peer_cases_holds(row):
    ROWS[row]()


# Addresses


@pytest.mark.parametrize(("uri", "accepted"), [
    ("{B}?diffServ=32", True), ("{B}?diffServ=62", True), ("{B}?diffServ=64", False),
    ("{B}?diffServ=65", False), ("{B}?diffServ=hi", False), ("{B}?diffServ=", False),
    ("{B}?diffServ=A", False), ("{B}?typeOfService=0", True), ("{B}?typeOfService=254", True),
    ("{B}?typeOfService=255", True), ("{B}?typeOfService=256", False),
    ("failover:({B}?wireFormat.maxInactivityDuration=0&keepAlive=true)?jms.prefetchPolicy.all=500"
     "&initialReconnectDelay=10000&useExponentialBackOff=false&maxReconnectAttempts=0", True),
    ("failover://({B}?wireFormat.tightEncodingEnabled=false)?jms.useAsyncSend=true"
     "&jms.copyMessageOnSend=false", True),
])  # fmt: skip
def test_options_of_an_address_are_accepted_or_refused(uri, accepted):
    found = run("B", f"start_broker broker=B\nconnect client=C uri={uri} max_ms=3000")
    assert found["results"][0]["ok"] is accepted


@pytest.mark.parametrize(("uri", "accepted"), [
    ("static:(tcp://localhost,amqp://localhost)", True),
    ("static:amqp://localhost,tcp://127.0.0.1:0", True),
    ("static:(static:(static:(tcp+ssl://localhost:0,auto+nio+ssl://localhost)))", True),
    ("static:static:static:123://localhost:0,auto+nio+ssl://localhost", True),
    ("static:(static:(static:(static:(static:(bad://localhost)))))", True),
    ("static:(static:(static:(static:(static:(static:(tcp://localhost:0))))))", False),
    ("static:static:static:static:static:static:tcp://localhost:0", False),
])  # fmt: skip
def test_a_connectors_address_is_accepted_or_refused(uri, accepted):
    found = run("A", "start_broker broker=A max_ms=2000", connectors=[("A", uri)])
    assert ("start_failed" not in found) is accepted


def test_a_list_knows_an_address_by_its_host_and_port():
    lab = Lab(scenario())
    transport = FailoverTransport(lab, None, FailoverOptions(), ["tcp://localhost:61616"])
    for address in ("127.0.0.2:61616", "localhost:61616", "no.existing.hostname:61616",
                    "localhost:61617", "127.0.0.1:61616", "no.existing.hostname:61616"):  # fmt: skip
        transport.add(f"tcp://{address}")
    assert len(transport.addresses.configured) == 4


def test_options_are_read_or_refused():
    assert failover_options({"maxReconnectAttempts": "3"}, "5.17").max_reconnect_attempts == 3
    assert failover_options({}, "5.5").max_reconnect_attempts == -1
    for bad in ({"bogus": "1"}, {"timeout": "soon"}, {"randomise": "true"}):
        with pytest.raises(Refused):
            failover_options(bad, "5.17")
    with pytest.raises(Refused, match="parenthesis"):
        split("failover:(a")
    with pytest.raises(BadValue):
        scenario("A A", "")


@pytest.mark.parametrize("uri", [
    "failover:({B}?keepAlive=true)?jms.prefetchPolicy.all=1", "{B}?jms.prefetchPolicy.queuePrefetch=1",
])  # fmt: skip
def test_an_address_may_ask_for_a_prefetch(uri):
    found = run(
        "B",
        f"""
        start_broker broker=B
        connect client=C uri={uri}
        connect client=D uri={{B}}
        open_consumer client=C consumer=K queue=Q receiving=false
        open_consumer client=D consumer=L queue=Q
        send client=D queue=Q count=10
        wait_ms ms=300
        snapshot label=x""",
    )
    assert found["snapshots"]["x"]["received_so_far"] == {"K": 0, "L": 9}
