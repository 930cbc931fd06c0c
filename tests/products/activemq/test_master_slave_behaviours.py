"""What masters and slaves do: a behaviour of the guides a test, as ActiveMQ rules 7 and 15 to 17 correct it."""

from __future__ import annotations

import pytest

from tests.products.activemq.timed import (
    absolute,
    errors,
    gaps,
    path,
    result,
    roles,
    run,
    tries,
    when,
)

ALL = "failover:({A},{B})?randomize=false&maxReconnectDelay=100"


def shared(names, interval=1000, **more):
    return {name: {"process": True, "shared_store": "store",
                   "lock_acquire_sleep_interval_ms": interval, **more}
            for name in names.split()}  # fmt: skip


def jdbc(names, locker="database", interval=1000, keep=500, **more):
    return {name: {"process": True, "jdbc": {"locker": locker,
                   "lock_acquire_sleep_interval_ms": interval,
                   "lock_keep_alive_period_ms": keep, **more}} for name in names.split()}  # fmt: skip


def pair(script, more, brokers="A B", **rest):
    starts = "start_broker broker=A wait=true\nstart_broker broker=B wait_ms=1200"
    return run(brokers, f"{starts}\n{script}", more=more, **rest)


def takeover(found, old="A", new="B"):
    return when(found, new, "master") - when(found, old, "down")


def h1():
    found = run(
        "A B D",
        """
        start_brokers brokers=["A","B","D"] wait=false
        wait_ms ms=8000
        snapshot label=x
        connect client=C uri=failover:({A},{B},{D})?randomize=false""",
        more=shared("A B D"),
    )
    held = [b["role"] for b in found["snapshots"]["x"]["brokers"].values()]
    assert sorted(held) == ["master", "slave", "slave"]


def h2():
    for interval in (200, 1000, 3000, 10_000):
        for seed in range(4):
            found = run(
                "A B",
                f"""
                start_broker broker=A wait=true
                start_broker broker=B wait_ms=100 jitter_ms={interval}
                stop_broker broker=A
                wait_master brokers=["B"]""",
                more=shared("A B", interval),
                seed=seed,
            )
            assert 0 <= takeover(found) <= interval + 350


def crash_on(file_system):
    return pair(
        """kill broker=A
        wait_ms ms=60000
        snapshot label=x""",
        shared("A B", 10_000, file_system=file_system),
    )


def h3():
    assert 30_000 <= takeover(crash_on("nfs4")) <= 40_350
    assert 0 <= takeover(crash_on("san")) <= 10_350


def h4():
    assert crash_on("nfs3")["snapshots"]["x"]["brokers"]["B"]["role"] == "slave"


def h5():
    found = pair("snapshot label=x", shared("A B", file_system="ocfs2"))
    assert {b["role"] for b in found["snapshots"]["x"]["brokers"].values()} == {"master"}


def h6():
    found = pair(
        """kill broker=A
        wait_master brokers=["B"]
        start_broker broker=A wait_ms=3000""",
        shared("A B"),
    )
    assert roles(found, "A") == ["slave", "master", "down", "slave"]
    assert roles(found, "B") == ["slave", "master"]


def h7():
    for more in (shared("A B"), jdbc("A B")):
        found = pair(
            f"""connect client=C uri={ALL}
            send client=C queue=P count=10
            send client=C queue=N count=10 persistent=false
            kill broker=A
            wait_connected client=C to=B
            open_consumer client=C consumer=KP queue=P
            open_consumer client=C consumer=KN queue=N
            wait_ms ms=500""",
            more,
        )
        assert found["consumers"]["KP"] == {"count": 10, "received": "1-10"}
        assert found["consumers"]["KN"]["count"] == 0


def h8():
    found = pair("connect client=C uri={B}", shared("A B"))
    assert errors(found) == ["JMSException"]


def h9():
    script = """delete_lock_file shared_store=store
        wait_ms ms={wait}
        snapshot label=x"""
    blind = pair(script.format(wait=4000), shared("A B"))
    assert {b["role"] for b in blind["snapshots"]["x"]["brokers"].values()} == {"master"}
    looks = shared("A B", lock_keep_alive_period_ms=1000, restart_allowed=False)
    found = pair(script.format(wait=5000), looks)
    assert roles(found, "A") == ["slave", "master", "down"]
    assert roles(found, "B") == ["slave", "master"]
    assert takeover(found) >= 0  # the newcomer waits one period before it serves
    again = pair(script.format(wait=6000), shared("A B", lock_keep_alive_period_ms=1000))
    held = [b["role"] for b in again["snapshots"]["x"]["brokers"].values()]
    assert sorted(held) == ["master", "slave"]
    touched = pair("touch_lock_file shared_store=store\nwait_ms ms=5000", looks)
    assert roles(touched, "A") == ["slave", "master", "down"]


def h10():
    found = pair("snapshot label=x", shared("A B", use_lock=False))
    assert {b["role"] for b in found["snapshots"]["x"]["brokers"].values()} == {"master"}


def h11():
    found = pair("wait_ms ms=100", shared("A B", fail_if_locked=True))
    assert roles(found, "B") == ["slave", "down"]
    assert found["start_failed"]["B"][0]["class"] == "IOException"


def h12():
    for seed in range(6):
        found = run(
            "A B",
            """
            start_broker broker=A wait=true
            start_broker broker=B wait_ms=100 jitter_ms=3000
            kill broker=A
            wait_master brokers=["B"]""",
            more=jdbc("A B"),
            seed=seed,
        )
        assert 0 <= takeover(found) <= 1850


def h13():
    found = pair(
        """database_down
        wait_ms ms=4000
        snapshot label=away
        database_up
        wait_ms ms=5000
        snapshot label=end""",
        jdbc("A B"),
    )
    assert found["snapshots"]["away"]["brokers"]["A"]["role"] == "down"
    assert roles(found, "A") == ["slave", "master", "down", "slave", "down"]
    assert found["start_failed"]["A"][0]["class"] == "ConnectException"
    assert found["snapshots"]["end"]["brokers"]["B"]["role"] == "master"


def lease(**more):
    return jdbc("A B", "lease", 2000, 1000, **more)


def h14():
    found = pair(
        """pause broker=A
        wait_ms ms=6000
        snapshot label=away
        resume broker=A
        wait_ms ms=2500
        snapshot label=end""",
        lease(),
    )
    assert found["snapshots"]["away"]["brokers"]["B"]["role"] == "master"
    assert roles(found, "A")[2:] == ["down", "slave"]
    assert found["snapshots"]["end"]["brokers"]["B"]["role"] == "master"


def h15():
    found = pair("wait_ms ms=34000", jdbc("A B", "lease", 10_000, 30_000))
    assert when(found, "B", "master") - when(found, "B", "slave") <= 20_000
    assert roles(found, "A")[1:3] == ["master", "down"]


def h16():
    found = pair('stop_broker broker=A\nwait_master brokers=["B"]', lease())
    assert 0 <= takeover(found) <= 2350
    for seed in range(4):
        killed = pair("wait_ms ms=1000\nkill broker=A\nwait_master brokers=[\"B\"]", lease(),
                      seed=seed)  # fmt: skip
        assert 1000 <= takeover(killed) <= 4350


def h17():
    same = lease(lease_holder_id="X")
    alive = pair("wait_ms ms=6000\nsnapshot label=x", same)
    assert alive["snapshots"]["x"]["brokers"]["B"]["role"] == "slave"
    lapsed = pair("pause broker=A\nwait_ms ms=6000\nresume broker=A\nwait_ms ms=5000\n"
                  "snapshot label=x", same)  # fmt: skip
    assert {b["role"] for b in lapsed["snapshots"]["x"]["brokers"].values()} == {"master"}


def h18():
    for diff, role in ((0, "master"), (1000, "slave")):
        more = lease(max_allowable_diff_from_db_time_ms=diff)
        more["B"]["clock_offset_seconds"] = 20
        found = pair("wait_ms ms=3000\nsnapshot label=x", more)
        assert found["snapshots"]["x"]["brokers"]["B"]["role"] == role
    more = lease()
    more["A"]["clock_offset_seconds"] = 20
    found = pair('kill broker=A\nwait_master brokers=["B"] max_ms=40000', more)
    assert 20_000 <= takeover(found) <= 26_000


OLD = "5.5.1"
PURE_URI = "failover:({M},{S})?randomize=false"


def pure(script, master=None, slave=None, brokers="M S", link=True):
    more = {name: {"process": True, "store": "kahadb", "pure_slave_of": "M", "pure": slave or {}}
            for name in brokers.split()}  # fmt: skip
    more["M"] = {"process": True, "link": link, "store": "kahadb", "pure": master or {}}
    starts = "start_broker broker=M\nstart_broker broker=S wait_ms=2500\n"
    return run(brokers, script if master else starts + script, more=more, version=OLD)


CLIENT = f"connect client=C uri={PURE_URI}\n"


def h19():
    found = pure(
        CLIENT
        + """open_session client=C session=t transacted=true
        send client=C queue=Q count=2 session=t
        pause broker=S
        commit client=C session=t label=commit in_background=true
        wait_ms ms=3000
        resume broker=S
        wait_acts
        kill broker=M
        wait_connected client=C to=S
        snapshot label=x"""
    )
    assert result(found, "commit")["ms"][0] >= 3000
    assert found["snapshots"]["x"]["brokers"]["S"]["queues"]["Q"] == 2


def h20():
    script = (
        CLIENT
        + """send client=C queue=Q count=5
        kill broker=M
        wait_ms ms=2000
        snapshot label=x"""
    )
    found = pure(script)
    assert takeover(found, "M", "S") <= 100
    assert found["snapshots"]["x"]["brokers"]["S"]["queues"]["Q"] == 5
    stopped = pure(script, slave={"shutdown_on_master_failure": True})
    assert roles(stopped, "S") == ["slave", "down"]


def h21():
    found = pure(
        CLIENT
        + """start_broker broker=S2 wait_ms=3000
        send client=C queue=Q count=3
        kill broker=M
        wait_ms ms=1000
        snapshot label=x""",
        brokers="M S S2",
    )
    shot = found["snapshots"]["x"]["brokers"]
    assert shot["S"] == shot["S2"] == {"role": "master", "queues": {"Q": 3}}


def h22():
    script = CLIENT + "kill broker=S\nwait_ms ms=3000\nsnapshot label=x"
    assert pure(script)["snapshots"]["x"]["brokers"]["M"]["role"] == "running"
    starts = "start_broker broker=M\nstart_broker broker=S wait_ms=2500\n"
    found = pure(starts + script, master={"shutdown_on_slave_failure": True})
    assert found["snapshots"]["x"]["brokers"]["M"]["role"] == "down"
    gap = pure(
        CLIENT
        + """send client=C queue=Q count=5
        kill broker=S
        wait_ms ms=100
        send client=C queue=Q count=5
        start_broker broker=S wait_ms=2500
        send client=C queue=Q count=5
        kill broker=M
        wait_connected client=C to=S
        snapshot label=x"""
    )
    assert gap["snapshots"]["x"]["brokers"]["S"]["queues"]["Q"] == 5


def h23():
    found = pure(
        f"""start_broker broker=M wait=false
        connect client=C uri={PURE_URI} in_background=true
        wait_ms ms=3000
        snapshot label=alone
        start_broker broker=S wait_ms=3000
        wait_connected client=C
        wait_ms ms=500
        snapshot label=x""",
        master={"wait_for_slave": True},
        link=False,  # which a recorder opens only where the start ends with a broker that serves
    )
    assert found["snapshots"]["alone"]["brokers"]["M"]["role"] == "down"
    assert path(found)[:4] == ["M", "-", "M", "-"]
    assert found["snapshots"]["x"]["brokers"]["M"]["role"] == "running"
    late = pure("start_broker broker=M wait=false\nwait_ms ms=6000",
                master={"wait_for_slave": True, "wait_for_slave_timeout_ms": 3000})  # fmt: skip
    assert late["start_failed"]["M"][0]["class"] == "IllegalStateException"


def h24():
    script = f"""start_broker broker=M
        {CLIENT}
        send client=C queue=Q count=10
        start_broker broker=S wait_ms=2500
        connect client=D uri={PURE_URI}
        send client=WHO queue=Q count=5
        kill broker=M
        wait_connected client=C to=S
        snapshot label=x"""
    for who, depth in (("D", 5), ("C", 0)):
        found = pure(script.replace("WHO", who), master={"shutdown_on_slave_failure": False})
        assert found["snapshots"]["x"]["brokers"]["S"].get("queues", {}).get("Q", 0) == depth


def h25():
    found = pure("cut link=M\nwait_ms ms=500\nsnapshot label=x")
    shot = found["snapshots"]["x"]["brokers"]
    assert [shot[name]["role"] for name in ("M", "S")] == ["running", "master"]
    asleep = pure("pause broker=M\nwait_ms ms=8000\nsnapshot label=x")
    assert asleep["snapshots"]["x"]["brokers"]["S"]["role"] == "slave"


def h26():
    found = pure(
        CLIENT
        + """send client=C queue=Q count=5
        kill broker=M
        wait_connected client=C to=S
        send client=C queue=Q count=2
        stop_broker broker=S
        copy_store from=S to=M
        start_broker broker=M
        start_broker broker=S wait_ms=2500
        wait_connected client=C to=M
        snapshot label=x"""
    )
    assert found["snapshots"]["x"]["brokers"]["M"]["queues"]["Q"] == 7


def h27():
    for uri in ("masterslave:({A},{B})", "static:failover:({A},{B})?maxReconnectAttempts=0"):
        found = pair(f"""start_broker broker=R
            wait_bridge from=R to=A
            connect client=K uri={ALL}
            open_consumer client=K consumer=K queue=Q
            connect client=P uri={{R}}
            wait_ms ms=300
            send client=P queue=Q count=5
            wait_received consumer=K count=5
            kill broker=A
            send client=P queue=Q count=5
            wait_bridge from=R to=B
            send client=P queue=Q count=5
            wait_received consumer=K count=15
            wait_ms ms=300
            snapshot label=x""", {**shared("A B"), "R": {"store": "kahadb"}}, "A B R",
            connectors=[("R", uri)])  # fmt: skip
        assert found["account"] == {"sent": 15, "received": 15, "not_received": ""}


def h28():
    more = {name: {"process": True, "shared_store": f"set{name[0]}", "host": host,
                   "lock_acquire_sleep_interval_ms": 1000}
            for name, host in (("A1", "one"), ("B2", "one"), ("B1", "two"), ("A2", "two"))}  # fmt: skip
    found = run(
        "A1 A2 B1 B2",
        """
        start_broker broker=A1 wait=true
        start_broker broker=B1 wait=true
        start_broker broker=A2 wait_ms=1200
        start_broker broker=B2 wait_ms=1200
        host_down host=one
        wait_ms ms=2000
        snapshot label=x""",
        more=more,
    )
    held = {name: b["role"] for name, b in found["snapshots"]["x"]["brokers"].items()}
    assert held == {"A1": "down", "A2": "master", "B1": "master", "B2": "down"}


def h29():
    found = pair("""kill broker=A
        wait_master brokers=["B"]
        start_broker broker=A wait_ms=3000
        wait_ms ms=1000""", shared("A B"), connectors=[
        ("B", "static:({A})?useExponentialBackOff=false&initialReconnectDelay=200")])  # fmt: skip
    assert "start_failed" not in found
    assert set(tries(found, "B")) == {"A"}
    assert "bridges" not in found
    assert set(gaps(found, "B")) == {200}


def h30():
    for seed in range(6):
        found = run(
            "A B D",
            """
            start_broker broker=A wait=true
            start_broker broker=B wait_ms=1200
            start_broker broker=D wait_ms=1200
            connect client=C uri=failover:({A},{B},{D})""",
            more=shared("A B D"),
            seed=seed,
        )
        assert path(found) == ["A"]


BEHAVIOURS = {f"H{no}": globals()[f"h{no}"] for no in range(1, 31)}


@pytest.mark.parametrize("number", BEHAVIOURS)
def test_behaviour(number):
    BEHAVIOURS[number]()


def test_a_takeover_never_precedes_the_end_of_the_old_master():
    found = pair('kill broker=A\nwait_master brokers=["B"]', shared("A B"))
    assert absolute(found, found["roles"]["A"][-1]) < when(found, "B", "master")
