"""Upgrades of OpenMQ and Artemis: what changes, and the rule behind it (of ActiveMQ: test_questions.py)."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

Q = mq.Queue("Q")
ARTEMIS = mq.artemis.Network(
    *(mq.artemis.Broker(f"{role[0]}{no}", "replication", role, group_name=f"g{no}")
      for no in (1, 2, 3) for role in ("master", "slave")), queues=[mq.artemis.AddressQueue("Q")],
)  # fmt: skip
CRASHED = mq.Producer("P", on="m1", sends=3, to=Q), mq.Crash("m1"), mq.Wait("20s")
OPENMQ = mq.openmq.Network("b1", "b2")


def test_voters_that_forget_a_crashed_master_let_its_slave_take_over():
    told = mq.upgrade(ARTEMIS, "2.4.0", "2.5.0", *CRASHED)
    assert (told.old, told.new) == ("2.4", "2.5")
    assert told.before.waiting() == {"m1": {"queue://Q": [1, 2, 3]}}
    assert told.after.waiting() == {"s1": {"queue://Q": [1, 2, 3]}}
    assert [cause.split(" (")[0] for cause in told.causes] == [
        "voters drop a crashed broker from their topology, and a vote that says no is tried again"
    ]


def test_a_version_that_was_not_recorded_is_told():
    told = mq.upgrade(ARTEMIS, "2.5", "2.28", *CRASHED)
    assert not told.changes
    assert "Not done in 2.28: rules of version 2.28: only the target of a scale-down was recorded" in str(told)


def test_a_rule_of_the_later_version_is_named():
    told = mq.upgrade("artemis:21.4.1", "2.5", "2.28")
    assert told.changes
    assert told.causes[0].startswith("the connector of a scale-down is its target")


def test_what_a_client_of_openmq_holds_of_a_lost_home():
    story = (
        mq.openmq.Consumer("C", "b2", Q, ack_mode="transacted"), mq.openmq.Producer("P", "b1", 3, Q),
        mq.Crash("b1"), mq.openmq.Commit("C"), mq.Restart("b1"), mq.Wait("10s"),
    )  # fmt: skip
    told = mq.upgrade(OPENMQ, "5.1", "6.5", *story)
    assert told.changes == ("C receives 3, was 6.",)
    assert told.causes[0].startswith("what a client holds when a home is lost is stuck with it until it closes")


@pytest.mark.parametrize(("network", "versions", "error", "text"), [
    (OPENMQ, ("6.5", "6.5.0"), BadValue, "both versions are 6.5, so nothing differs; name another"),
    (OPENMQ, ("5.1", "5.17"), UnknownName, "5.17"),
    (ARTEMIS, ("2.4", "2.31"), UnknownName, "2.31"),
])  # fmt: skip
def test_versions_that_cannot_be_compared(network, versions, error, text):
    on = network.names[0]
    with pytest.raises(error, match=text):
        mq.upgrade(network, *versions, mq.Producer("P", on=on, sends=1, to=Q))


def test_the_command_goes_from_the_networks_version_to_the_latest(tmp_path, mqlab):
    mq.save(OPENMQ.under("5.1"), tmp_path / "old.json")
    done = mqlab("upgrade", str(tmp_path / "old.json"), "--load", "default")
    assert done.stdout.startswith("From 5.1 to 6.5:"), done.stderr
