"""Failover and discovery: a behaviour of the guides a test, as ActiveMQ rules 7 to 14 correct it."""

from __future__ import annotations

import pytest

from mqlab.products.activemq.client.addresses import split
from mqlab.products.activemq.files import lab_file as lab_files
from mqlab.products.activemq.files import timed_recordings
from tests.products.activemq.timed import absolute, body, errors, gaps, path, result, run, tries

TELLS = {"transport_connector": {"update_cluster_clients": True}}
ALL_TOLD = {"transport_connector": {"update_cluster_clients": True,
                                    "rebalance_cluster_clients": True}}  # fmt: skip
FAST = "useExponentialBackOff=false&initialReconnectDelay=200"


def connect_to(uri, brokers="", down="", steps="wait_ms ms=2000", **more):
    starts = "\n".join(f"start_broker broker={name}" for name in brokers.split())
    script = f"{starts}\nconnect client=C uri={uri} in_background=true label=connect\n{steps}"
    return run(brokers, script, down, **more)


def f1():
    found = connect_to("failover:({E1},{B})?randomize=false", "B", "E1")
    assert tries(found) == ["E1", "B"]
    assert gaps(found) == []


def f2():
    found = run("", "sample_orders uri=failover:({E1},{E2},{E3}) count=20000 label=x", "E1 E2 E3")
    first = {"E1": 0, "E2": 0, "E3": 0}
    for order, count in found["snapshots"]["x"]["orders"].items():
        first[order[:2]] += count
    shares = [count / 20000 for count in first.values()]
    assert shares == pytest.approx([1 / 3, 10 / 27, 8 / 27], abs=0.015)


def f3():
    found = connect_to("failover:({E1})", down="E1")
    assert gaps(found)[:6] == [10, 20, 40, 80, 160, 320]
    assert gaps(connect_to("failover:({E1})?initialReconnectDelay=5", down="E1"))[:4] == [5] * 4


def f4():
    found = connect_to("failover:({E1})?maxReconnectDelay=100", down="E1")
    assert gaps(found)[:6] == [10, 20, 40, 80, 100, 100]


def f5():
    uri = "failover:({E1})?useExponentialBackOff=false&initialReconnectDelay=100"
    assert gaps(connect_to(uri, down="E1"))[:4] == [100] * 4


def f6():
    uri = "failover:({E1},{E2})?randomize=false&maxReconnectAttempts=0"
    assert tries(connect_to(uri, down="E1 E2")) == ["E1", "E2"]
    old = connect_to(uri, down="E1 E2", version="5.5.1")
    assert len(tries(old)) > 6
    lost = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A},{E1})?randomize=false&maxReconnectAttempts=0
        stop_broker broker=A
        wait_ms ms=500""",
        "E1",
    )
    assert tries(lost) == ["A"]  # no attempt at all after a loss
    assert len(lost["exceptions"]["C"]) == 1


def f7():
    found = run(
        "",
        """
        connect client=C uri=failover:({E1},{E2})?maxReconnectAttempts=3 in_background=true
        wait_ms ms=500
        send client=C queue=Q label=later""",
        "E1 E2",
    )
    assert len(tries(found)) == 6
    assert gaps(found) == [10, 20]
    assert not result(found, "later")["ok"]


def f8():
    uri = "failover:({E1})?startupMaxReconnectAttempts=1"
    assert tries(connect_to(uri, down="E1")) == ["E1"]
    found = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A})?startupMaxReconnectAttempts=1
        stop_broker broker=A
        wait_ms ms=1500
        start_broker broker=A
        wait_connected client=C""",
    )
    assert path(found) == ["A", "-", "A"]


def f9():
    found = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A},{E2},{E3})?randomize=false
        stop_broker broker=A
        wait_ms ms=100""",
        "E2 E3",
    )
    assert tries(found)[1:7] == ["E2", "E3", "A"] * 2


def f10():
    found = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A})?timeout=3000&maxReconnectDelay=100
        send client=C queue=Q
        cut link=A
        send client=C queue=Q label=away
        heal link=A
        wait_connected client=C
        send client=C queue=Q label=back""",
        more={"A": {"link": True}},
    )
    assert result(found, "away")["failed"][0]["class"] == "JMSException"
    assert 3000 <= result(found, "away")["ms"][0] <= 3100
    assert result(found, "back")["ok"]


def f11():
    found = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A})
        cut link=A
        send client=C queue=Q label=away in_background=true
        wait_ms ms=60000""",
        more={"A": {"link": True}},
    )
    assert result(found, "away")["still_waiting"]


def f12():
    found = run(
        "A B",
        """
        start_broker broker=A
        start_broker broker=B
        connect client=C uri=failover:({A},{B})?randomize=false&priorityBackup=true
        stop_broker broker=A
        wait_ms ms=1000
        start_broker broker=A
        wait_connected client=C to=A""",
    )
    assert path(found) == ["A", "-", "B", "A"]


def f13():
    script = """
        start_broker broker=A
        connect client=C uri=failover:({{A}})?initialReconnectDelay=200
        open_session client=C session=t transacted=true
        send client=C queue=Q count=2 session=t
        cut link=A how={how}
        commit client=C session=t label=commit in_background=true
        wait_ms ms=200
        cut link=A how=refuse
        heal link=A
        wait_acts
        wait_ms ms=100
        snapshot label=after
        send client=C queue=Q count=1 session=t
        commit client=C session=t label=next
        snapshot label=end"""
    for how, depth in (("hang", 0), ("drop_replies", 2)):
        found = run("A", script.format(how=how), more={"A": {"link": True}})
        assert errors(found) == ["TransactionRolledBackException"]
        shots = found["snapshots"]
        assert shots["after"]["brokers"]["A"].get("queues", {}).get("Q", 0) == depth
        assert result(found, "next")["ok"]
        assert shots["end"]["brokers"]["A"]["queues"]["Q"] == depth + 1


def f14():
    found = run(
        "A",
        """
        start_broker broker=A
        connect client=C uri=failover:({A})?initialReconnectDelay=200
        send client=C session=send queue=Q count=3
        open_consumer client=C consumer=K queue=Q ack_mode=client acknowledge=false receiving=false
        receive consumer=K count=3
        cut link=A
        wait_ms ms=50
        acknowledge consumer=K label=ack
        heal link=A
        wait_connected client=C
        resume_consumer consumer=K
        wait_ms ms=500""",
        more={"A": {"link": True}},
    )
    assert result(found, "ack")["ok"]
    assert found["consumers"]["K"]["received"] == "1-3, 1-3"
    assert found["consumers"]["K"]["redelivered"] == "1-3"


def joins(connectors, more, rest=""):
    return run(
        "A B",
        f"""
        start_broker broker=A
        connect client=C uri=failover:({{A}})?randomize=false
        start_broker broker=B
        wait_ms ms=1000
        {rest}""",
        connectors=connectors,
        more=more,
    )


def f15():
    stops = "stop_broker broker=A\n        wait_ms ms=2000"
    mine = joins([("A", f"static:({{B}})?{FAST}")], {"*": TELLS}, stops)
    assert path(mine) == ["A", "-", "B"]
    theirs = joins([("B", f"static:({{A}})?{FAST}")], {"*": TELLS}, stops)
    assert path(theirs) == ["A", "-"]  # only who defines the connector learns of the other
    both = joins([("B", f"static:({{A}})?{FAST}", {"duplex": True})], {"*": TELLS}, stops)
    assert path(both) == ["A", "-", "B"]


def f16():
    leaves = "stop_broker broker=B\n        wait_ms ms=500\n        snapshot label=x"
    kept = joins([("A", f"static:({{B}})?{FAST}")], {"*": TELLS}, leaves)
    assert kept["snapshots"]["x"]["clients"]["C"]["told"] == ["A", "B"]
    removes = {"transport_connector": {"update_cluster_clients": True,
                                       "update_cluster_clients_on_remove": True}}  # fmt: skip
    gone = joins([("A", f"static:({{B}})?{FAST}")], {"*": removes}, leaves)
    assert gone["snapshots"]["x"]["clients"]["C"]["told"] == ["A"]
    returns = leaves + "\n        start_broker broker=B\n        wait_ms ms=1000"
    back = joins([("A", f"static:({{B}})?{FAST}")], {"*": TELLS}, returns)
    assert back["told"]["C"][-1]["brokers"] == ["A", "B", "B"]


def f17():
    def told(pattern):
        more = {"A": {"transport_connector": {"update_cluster_clients": True,
                                              "update_cluster_filter": pattern}}}  # fmt: skip
        found = joins([("A", f"static:({{B}})?{FAST}")], more)
        return found["told"]["C"][-1]["brokers"], [e["state"] for e in found["bridges"]["A to B"]]

    assert told(".*A.*,.*B.*") == (["A", "B"], ["up"])
    assert told(".*X.*") == (["A"], ["up"])
    assert told(".*A.*, .*B.*")[0] == ["A"]
    brokers, bridge = told("*A*,*B*")  # the guide's own: there is no network at all
    assert brokers == ["A"]
    assert bridge.count("up") > 2


def f18():
    clients = "\n".join(f"connect client=C{n} uri=failover:({{A}})?randomize=false"
                        for n in range(1, 5))  # fmt: skip
    found = run("A B", f"start_broker broker=A\n{clients}\nstart_broker broker=B\nwait_ms ms=2000",
                connectors=[("A", f"static:({{B}})?{FAST}")], more={"*": ALL_TOLD})  # fmt: skip
    assert [path(found, f"C{n}") for n in range(1, 5)] == [["A"], ["A", "B"]] * 2


def f19():
    found = run(
        "A B",
        """
        start_broker broker=A
        connect client=C uri=failover:({A})?updateURIsSupported=false
        start_broker broker=B
        wait_ms ms=1000
        snapshot label=x
        stop_broker broker=A
        wait_ms ms=1000""",
        connectors=[("A", f"static:({{B}})?{FAST}")],
        more={"*": TELLS},
    )
    assert "told" not in found["snapshots"]["x"]["clients"]["C"]
    assert path(found) == ["A", "-"]


def f20():
    outer = split("static:failover:(tcp://m:61002,tcp://s:61002)?maxReconnectAttempts=0")
    assert (len(outer.elements), dict(outer.options)) == (1, {})
    inner = split(outer.elements[0])
    assert len(inner.elements) == 2
    assert inner.options == {"maxReconnectAttempts": "0"}
    found = run("A", "start_broker broker=A\nwait_ms ms=4000", "E1 E2", connectors=[
        ("A", "static:failover:({E1},{E2})?maxReconnectAttempts=0&randomize=false")])  # fmt: skip
    assert tries(found, "A") == ["E1", "E2"] * 3
    assert gaps(found, "A") == [1000, 2000]


def f21():
    outer = split("discovery://(static://(tcp://localhost:61716,tcp://localhost:61816))")
    assert len(split(outer.elements[0]).elements) == 2
    assert path(connect_to("discovery://(static://({E1},{B}))", "B", "E1")) == ["B"]


def f22():
    assert errors(connect_to("failover:({E1}", down="E1")) == ["JMSException"]
    found = connect_to("failover:()")
    assert tries(found) == []
    assert result(found, "connect")["still_waiting"]


def f23():
    assert errors(connect_to("failover:({B})?bogus=1", "B")) == ["JMSException"]
    found = run("A", "start_broker broker=A\nwait_ms ms=1500", "E1",
                connectors=[("A", "static:({E1})?bogus=1")])  # fmt: skip
    assert tries(found, "A") == ["E1", "E1"]


def static(options, wait=100_000, **more):
    return run("A", f"start_broker broker=A\nwait_ms ms={wait}", "E1",
               connectors=[("A", "static:({E1})" + options)], **more)  # fmt: skip


def f24():
    assert gaps(static(""), "A") == [1000, 2000, 4000, 8000, 16000, 30000, 30000]


def f25():
    assert gaps(static("?maxReconnectAttempts=3"), "A") == [1000, 2000]


def f26():
    found = run(
        "A B",
        """
        start_broker broker=B
        start_broker broker=A
        wait_bridge from=A to=B
        wait_ms ms=6000
        stop_broker broker=B
        wait_ms ms=8000""",
        connectors=[("A", "static:({B})")],
    )
    down = absolute(found, found["bridges"]["A to B"][-1])
    after = [absolute(found, e) - down for e in found["attempts"]["A"][1:]]
    assert after == [1001, 3003, 7004]  # waits of 1, 2 and 4 s, and 1.5 ms for each round


MULTICAST = "multicast://239.255.2.3:{mport}?group={group}"


def f27():
    script = """
        start_broker broker=A
        start_broker broker=B
        wait_ms ms=500
        connect client=C uri=discovery:({uri})
        wait_configured client=C count=2
        {how} broker=B
        wait_configured client=C count=1 label=removed"""
    more = {"*": {"discovery_uri": MULTICAST, "process": True}}
    killed = run("A B", script.format(uri=MULTICAST, how="kill"), more=more)
    assert 4500 <= result(killed, "removed")["ms"][0] <= 5200
    stopped = run("A B", script.format(uri=MULTICAST, how="stop_broker"), more=more)
    assert result(stopped, "removed")["ms"][0] == 0


def f28():
    more = {name: {"discovery_uri": MULTICAST} for name in "ABD"}
    more["X"] = {"discovery_uri": MULTICAST.replace("{group}", "other")}
    found = run("A B D X", "start_brokers brokers=[\"A\",\"B\",\"D\",\"X\"]\nwait_ms ms=3000",
                connectors=[(name, MULTICAST) for name in "ABD"], more=more)  # fmt: skip
    assert sorted(found["bridges"]) == sorted(f"{a} to {b}" for a in "ABD" for b in "ABD" if a != b)


def f29():
    def refusing(options):
        found = run("A", f"start_broker broker=A\nadvertise endpoint=E1 uri={MULTICAST}\n"
                    "wait_ms ms=17500", "E1", connectors=[("A", MULTICAST + options)])  # fmt: skip
        return [e["gap_ms"][0] for e in found["attempts"]["A"] if "gap_ms" in e]  # the agent's looks

    assert all(5000 <= gap <= 5500 for gap in refusing(""))
    assert all(1000 <= gap <= 1500 for gap in refusing("&initialReconnectDelay=1000"))
    assert refusing("&useExponentialBackOff=true")[:8] == [500] * 8  # 2, 4, 8 ... ms
    assert len(refusing("&initialReconnectDelay=500&maxReconnectAttempts=3")) == 3


def f30():
    one = run("A", "start_broker broker=A\nwait_ms ms=100", "E1",
              connectors=[("A", "masterslave:({E1})")])  # fmt: skip
    assert one["start_failed"]["A"][0]["class"] == "IllegalArgumentException"
    script = "start_broker broker=B\nstart_broker broker=D\nstart_broker broker=A\nwait_ms ms=500"
    both = run("A B D", script, connectors=[("A", "masterslave:({B},{D})")])
    assert list(both["bridges"]) == ["A to B"]
    second = run("A B", "start_broker broker=B\nstart_broker broker=A\nwait_ms ms=500", "E1",
                 connectors=[("A", "masterslave:({E1},{B})")])  # fmt: skip
    assert list(second["bridges"]) == ["A to B"]


def f31():
    shared = {"process": True, "shared_store": "store", "lock_acquire_sleep_interval_ms": 1000}
    found = run("M S R", """
        start_broker broker=M wait=true
        start_broker broker=S wait_ms=1200
        start_broker broker=R
        wait_bridge from=R to=M
        wait_ms ms=4000""", more={"M": shared, "S": shared},
        connectors=[("R", "static:({M},{S})")])  # fmt: skip
    assert tries(found, "R").count("M") == 1
    assert tries(found, "R").count("S") >= 3


BEHAVIOURS = {f"F{no}": globals()[f"f{no}"] for no in range(1, 32)}


@pytest.mark.parametrize("number", BEHAVIOURS)
def test_behaviour(number):
    BEHAVIOURS[number]()


def test_every_scenario_can_be_written_down_and_read_again():
    value = body("A B", "start_broker broker=A\nwait_ms ms=5", "E1 E2=silent", [("A", "static:({B})")])
    read = timed_recordings.read(value)
    assert lab_files.read(lab_files.write(read)) == read
