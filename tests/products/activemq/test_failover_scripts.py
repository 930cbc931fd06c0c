"""Any script can be played: whatever is done in whatever order, the lab has an answer, always the same."""

from __future__ import annotations

from random import Random

import pytest

from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import play
from tests.plan import today
from tests.products.activemq.timed import scenario

LOCK = {"lock_acquire_sleep_interval_ms": 500, "lock_keep_alive_period_ms": 300}
TELLS = {"update_cluster_clients": True, "rebalance_cluster_clients": True,
         "update_cluster_clients_on_remove": True}  # fmt: skip
SETS = {
    "alone": {"store": "kahadb", "transport_connector": TELLS},
    "announced": {"process": True, "discovery_uri": "multicast://default"},
    "file": {"process": True, "shared_store": "s", **LOCK},
    "database": {"process": True, "jdbc": {"locker": "database", **LOCK}},
    "lease": {"process": True, "jdbc": {"locker": "lease", **LOCK},
              "io_exception_handler": {"kind": "lease", "resume_check_sleep_period_ms": 0}},
}  # fmt: skip
ADDRESSES = (
    "{A}", "failover:({A},{B})?randomize=false", "failover:({A},{B},{E})?backup=true&maxReconnectDelay=50",
    "failover:({B},{A})?priorityBackup=true", "failover:({A},{B})?maxReconnectAttempts=3&timeout=100",
    "failover:(failover:({A},{E})?maxReconnectAttempts=1,{B})?trackMessages=true&maxReconnectDelay=50",
    "discovery:(multicast://default)", "failover:({E},{A})?initialReconnectDelay=0",
)  # fmt: skip
CONNECTORS = ("static:({B},{E})", "masterslave:({B},{E})", "static:(failover:({B},{E}))",
              "multicast://default")  # fmt: skip
ACTS = (
    "kill broker={b}", "stop_broker broker={b}", "start_broker broker={b} wait=false", "pause broker={b}",
    "resume broker={b}", "tell_reconnect broker={b} to={b2}", "set_endpoint endpoint=E mode={mode}",
    "cut link={b} how={how}", "cut link={b} how={how}", "heal link={b}", "cut link=database how={how}",
    "database_up", "advertise endpoint=E uri=multicast://default", "wait_ms ms=40", "wait_ms ms=600",
    "send client={c} queue=Q count=3 session={s} persistent={yes}", "commit client={c} session=t",
    "send client={c} queue=Q count=3 session={s} persistent={yes}", "rollback client={c} session=t",
    "temp_queue client={c} name=T",
    "send client={c} temp=T session={s}", "open_consumer client={c} consumer={new} queue=Q session={s} "
    "ack_mode={ack} receiving={yes} delay_ms={ms} acknowledge={yes}", "acknowledge consumer={k}",
    "receive consumer={k} count=2 max_ms=50", "receive_once consumer={k} timeout_ms=100",
    "resume_consumer consumer={k}", "close_consumer consumer={k}", "close_client client={c}",
)  # fmt: skip
CALLS = (
    "send",
    "commit",
    "rollback",
    "open_",
    "temp_queue",
    "acknowledge",
    "receive_once",
    "close_",
)


def script(random, kind):
    """Return the lines of a script: two clients, then twenty things that may happen to what is there."""
    acts = [act for act in ACTS if "database" not in act or "jdbc" in SETS[kind]]
    clients = ["C", "D"]
    lines = [f"start_broker broker={name} wait_ms=900" for name in "AB"]
    lines += [f"connect client={name} uri={random.choice(ADDRESSES)} in_background=true" for name in "CD"]
    lines += ["wait_ms ms=300", "open_consumer client=C consumer=K0 queue=Q in_background=true"]
    lines += [f"open_session client={name} session=t transacted=true in_background=true" for name in "CD"]
    consumers, modes = ["K0"], {}
    for no in range(1, 20):
        act = random.choice(acts)
        if act.startswith("close_client"):
            if len(clients) == 1:
                continue
            client = clients.pop(random.randrange(2))
        else:
            client = random.choice(clients)
        consumer, mode = random.choice(consumers), random.choice(("auto", "client", "individual", "dups_ok"))
        if act.startswith("acknowledge") and modes.get(consumer) in ("auto", "dups_ok"):
            continue
        lines.append(act.format(
            b=random.choice("AB"), b2=random.choice("AB"), c=client, s=random.choice("st"),
            k=consumer, new=f"K{no}", yes=random.choice(("true", "false")),
            mode=random.choice(("refuse", "silent", "accept_close")), ms=random.choice((0, 30)),
            how=random.choice(("refuse", "reset_once", "hang", "drop_replies")),
            ack=mode,
        ) + " in_background=true" * act.startswith(CALLS))  # fmt: skip
        if "{new}" in act:
            consumers.append(f"K{no}")
            modes[f"K{no}"] = mode
    return "\n".join([*lines, "wait_ms ms=3000", "snapshot label=end"])


def _in_background(action):
    return bool(getattr(action, "in_background", False) or
                getattr(action, "options", {}).get("in_background"))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", SETS)
def test_any_script_can_be_played_and_comes_out_the_same_again(kind):
    for number in today(range(60), 3):
        random, more = Random(f"{kind} {number}"), {"*": {"link": True, **SETS[kind]}}
        read = scenario("A B", script(random, kind), "E", [("A", random.choice(CONNECTORS))], more)
        played = play(read, limit=200_000)
        assert played.digest() == play(read, limit=200_000).digest()
        found = outcome(played)
        calls = sum(_in_background(action) for action in read.actions)
        assert len(found["results"]) == calls
        assert "end" in found["snapshots"]
