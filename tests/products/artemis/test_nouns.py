"""Everything that can happen to Artemis brokers can be written with nouns, and reads as the same run."""

from __future__ import annotations

import json

import pytest

from mqlab.api import artemis
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.client import client_actions
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.files.python import python
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.products.artemis.script import broker_actions
from mqlab.products.unsupported_steps import steps
from mqlab.spec import Scenario
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.artemis.script import OWN
from mqlab.spec.artemis.words import WORDS
from tests.products.scenarios import of_figures, of_recordings

ALL = [*of_figures("artemis"), *of_recordings("artemis")]
ORDERS = artemis.Queue("orders")
MASTER = artemis.Broker("M1", "replication", "master", check_for_live_server=True)
SLAVE = artemis.Broker("S1", "replication", "slave", allow_failback=True)
PAIR = artemis.Network(MASTER, SLAVE, queues=(artemis.AddressQueue("orders"),))


@pytest.mark.parametrize("scenario", ALL)
def test_code_with_nouns_makes_the_same_run(scenario):
    space = {}
    exec(python(scenario), space)  # what a user would write
    assert play(space["scenario"]).digest() == play(scenario).digest()


def test_a_network_with_faults_in_time():
    lab = ArtemisLab(PAIR.with_actions(
        artemis.Start(), artemis.WaitForRole("S1", "backup_in_sync"),
        artemis.Client("shop", uri="(tcp://M1:61616,tcp://S1:61616)?reconnectAttempts=-1"),
        artemis.Consumer("desk", on="M1", reads=ORDERS),
        artemis.Crash("M1", at="10s"), artemis.Restart("M1", at="20s"),
        artemis.Producer("till", on="shop", sends=300, to=ORDERS, every="100ms"),
        artemis.Wait("5s"), artemis.Snapshot("end"),
    ))  # fmt: skip
    lab.until("15s")
    assert lab.roles == {"M1": "down", "S1": "live"}
    lab.play()
    assert lab.roles == {"M1": "live", "S1": "backup_in_sync"}
    assert lab.trace.received() == {"desk": 300}
    assert (lab.trace.lost(), lab.trace.duplicated()) == ([], {})


def test_brokers_that_nobody_starts_are_started_first():
    sends = artemis.Producer("P", on="M1", sends=2, to=ORDERS)
    scenario = Scenario.of(PAIR, sends)
    assert scenario.script == (artemis.Start(), sends)
    assert Scenario.of(PAIR, *scenario.actions) == scenario
    assert outcome(play(scenario))["senders"]["P"]["sent"] == [1, 2]


@pytest.mark.parametrize(("one", "other"), [
    (artemis.Cut("M1", "S1"), {"between": ["M1", "S1"], "silent": False}),
    (artemis.Cut("M1"), {"between": ["M1", ["S1", "clients"]]}),
    (artemis.Isolate(("M1",), how="hang"), {"isolate": ["M1"], "silent": True}),
    (artemis.Wait("1500us"), {"ms": 1.5}),
    (artemis.ForcedFailover("M1"), {"broker": "M1", "failover": True}),
    (artemis.WaitForRole("M1", "live|stopped"), {"broker": "M1", "role": ["live", "stopped"]}),
    (artemis.Isolate("M1", clients=True), {"isolate": ["M1"], "clients": True}),
    (artemis.Consumer("C", on="M1", reads=ORDERS, ack_mode="transacted", delay="1s",
                      options={"commit_each": True}),
     {"consumer": "C", "broker": "M1", "queue": "orders", "ack_mode": "transacted", "delay_ms": 1000,
      "commit_each": True}),
    (artemis.Pause("S1", at="2s"), {"broker": "S1", "at": "2s"}),
    (artemis.Consumer("C", on="M1", reads=artemis.Topic("T"), durable=True, client_id="me",
                      options={"reconnect_attempts": 3, "time_limit": "2s"}),
     {"consumer": "C", "broker": "M1", "topic": "T", "client_id": "me", "durable_name": "C",
      "url": {"reconnect_attempts": 3}, "time_limit_ms": 2000}),
])  # fmt: skip
def test_an_action_is_a_step(one, other):
    _, *step = steps(PAIR.with_actions(one))[-1].items()
    written = {key: value for key, value in step if other.get(key) or value}
    assert written == {key: value for key, value in other.items() if value}


@pytest.mark.parametrize(("action", "told"), [
    (artemis.Crash("M2"), "'M2'"),
    (artemis.Cut("M1", "S1", how="reset_once"), "'refuse' or by 'hang'"),
    (artemis.Consumer("C", on="M1", reads=ORDERS, exclusive=True), "exclusive"),
    (artemis.Consumer("C", on="M1", reads=ORDERS, options={"prefetch": 3}), "'prefetch'"),
    (artemis.Producer("P", on="M1", sends=1, to=ORDERS, jms_priority=5), "jms_priority"),
    (artemis.Producer("P", on="shop", sends=1, to=ORDERS), "'shop'"),
    (artemis.Client("P", uri="tcp://M1:61616?reconnect=3"), "'reconnect'"),
    (artemis.Client("P", uri="tcp://M7:61616"), "'M7'"),
    (artemis.WaitForRole("M1", "boss"), "'boss'"),
    (artemis.Receive("C", 1), "'C'"),
    (artemis.Receive("C", 1, options={"wait": "2s"}), "unknown option 'wait'"),
    (artemis.Consumer("C", on="M1", reads=ORDERS, options={"time_limit": "soon"}), "time_limit: 'soon'"),
    (artemis.Producer("P", on="M1", sends=1, to=ORDERS, options={"timeout": "2s"}), "option 'timeout'"),
])  # fmt: skip
def test_what_cannot_be_done_is_told_and_leaves_the_lab_as_it_was(action, told):
    lab = ArtemisLab(Scenario(PAIR))
    before = lab.trace.digest(), lab.trace.header["scenario"]
    with pytest.raises(MqlabError, match=told):
        lab.do(action)
    assert (lab.trace.digest(), lab.trace.header["scenario"]) == before


@pytest.mark.parametrize(("step", "actions"), [
    ({"do": "send", "producer": "P", "count": 2, "group": "g", "commit": True, "stop_at_failure": True},
     [artemis.Producer("P", on="P", sends=2, to=ORDERS, properties={"JMSXGroupID": "g"}, size=10,
                       options={"stop_at_failure": True}), artemis.Commit("P")]),
    ({"do": "restart", "broker": "M1", "failover": True},
     [artemis.ForcedFailover("M1"), artemis.Restart("M1")]),
    ({"do": "start", "brokers": ["M1", "S1"], "one_by_one": False},
     [artemis.Restart("M1", wait=False), artemis.Restart("S1")]),
    ({"do": "stop", "broker": "M1", "wait": False}, [artemis.Stop("M1", wait=False)]),
    ({"do": "wait_depth", "broker": "M1", "queue": "orders", "depth": 3},
     [artemis.WaitForDepth("M1", "orders", 3)]),
    ({"do": "wait_consumers", "broker": "M1", "queue": "orders"}, [artemis.WaitForConsumers("M1", "orders")]),
    ({"do": "wait_replicas", "quiet_ms": 2000}, [artemis.Settle(quiet="2s")]),
    ({"do": "wait_until", "broker": "M1", "role": ["live", "down"]}, [artemis.WaitForRole("M1", "live|down")]),
    ({"do": "open_consumer", "consumer": "C", "broker": "M1", "queue": "orders", "transacted": True},
     [artemis.Consumer("C", on="M1", reads=ORDERS, ack_mode="transacted")]),
    ({"do": "heal", "isolate": ["M1"], "clients": True}, [artemis.Rejoin("M1", clients=True)]),
])  # fmt: skip
def test_words_of_the_recorder(step, actions):
    opens = {"do": "open_producer", "producer": "P", "broker": "M1", "queue": "orders", "transacted": True}
    body = {"brokers": [{"name": "M1"}, {"name": "S1"}], "steps": [opens, step]}
    assert lab_file.read(body).actions[1:] == tuple(actions)


@pytest.mark.parametrize(("step", "told"), [
    ({"do": "send", "broker": "M1", "queue": "orders", "count": 1, "commit": True}, "'commit' ends a client's"),
    ({"do": "start", "one_by_one": False}, "name the 'brokers'"),
    ({"do": "wait_until", "broker": "M1", "role": ["live", "king"]}, "'king'"),
    ({"do": "open_consumer", "consumer": "C", "broker": "M1", "queue": "orders", "xa": True}, "'xa'"),
])  # fmt: skip
def test_words_of_the_recorder_without_a_meaning_are_refused(step, told):
    with pytest.raises(MqlabError, match=told):
        lab_file.read({"brokers": [{"name": "M1"}], "steps": [step]})


def test_each_action_of_a_script_is_done():
    played = {OWN.get(word.action, word.action) for word in WORDS}
    assert played == {*broker_actions.DO, *client_actions.DO}


def test_what_another_product_does_is_no_action_here():
    from mqlab.spec.action import StopConnector

    with pytest.raises(BadValue, match="Artemis does not know this action"):
        PAIR.with_actions(StopConnector("x"))


@pytest.mark.parametrize(("options", "told"), [
    ({"max_hops": "two"}, "max-hops: 'two' is not a whole"), ({"max_hop": 2}, "max_hops"),
    ({"message_load_balancing": "SOME"}, "ON_DEMAND"), ({"allow_failback": True}, "slave"),
    ({"network_check_period": -1.5}, "whole number"), ({"max_hops": -1}, "0 or more"),
])  # fmt: skip
def test_a_wrong_option_of_a_broker_is_told(options, told):
    with pytest.raises((BadValue, UnknownName), match=told):
        artemis.Broker("M1", "replication", "master", **options)


@pytest.mark.parametrize(
    "row", [row for rows in OPTIONS.values() for row in rows.values()], ids=lambda row: row.guide
)
def test_a_row_says_all_of_its_option(row):
    assert row.sentence.endswith(".")
    assert row.source
    assert row.default is None or isinstance(row.default, row.type)


def test_what_is_written_with_nouns_is_a_lab_file_too():
    scenario = PAIR.with_actions(artemis.Start(), artemis.Producer("P", "M1", 3, ORDERS))
    again = lab_file.read(json.loads(json.dumps(lab_file.write(scenario))))
    assert again == scenario
    assert outcome(play(again))["senders"] == {"P": {"sent": [1, 2, 3]}}


@pytest.mark.parametrize(("edition", "connectors", "crashed", "target"), [
    ("2.5", ["to_B3"], (), "B1"), ("2.28", ["to_B3"], (), "B3"), ("2.28", ["to_B4", "to_B3"], (), "B4"),
    ("2.28", ["to_B4", "to_B3"], ("B4",), "B3"),
])  # fmt: skip
def test_where_a_connector_of_a_scale_down_leads(edition, connectors, crashed, target):
    """As 2.5.0 and 2.31.2 answered, two plays each (Artemis rule 6.2)."""
    down = artemis.Broker("B2", "live_only", scale_down={"connectors": connectors})
    others = (artemis.Broker(name) for name in ("B1", "B3", "B4"))
    net = artemis.Network(down, *others, edition=edition, message_load_balancing="OFF",
                          queues=(artemis.AddressQueue("orders"),))  # fmt: skip
    sends = artemis.Producer("P", on="B2", sends=5, to=artemis.Queue("orders"))
    crashes = (artemis.Crash(name) for name in crashed)
    steps = (artemis.Restart(name) for name in ("B1", "B2", "B3", "B4"))
    ends = artemis.Stop("B2"), artemis.Settle(), artemis.Snapshot("end")
    found = outcome(play(net.with_actions(*steps, sends, *crashes, *ends)))["snapshots"]["end"]["brokers"]
    depths = {name: one["queues"]["orders"]["depth"] for name, one in found.items() if "queues" in one}
    assert [name for name, depth in depths.items() if depth] == [target]
