"""What `mq.check` says of Artemis set-ups: each problem, and none where there is none."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab import artemis
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.rules import check
from tests.conftest import packed
from tests.products.artemis.ha import body, ha, master, pairs, problems, slave, store


def rules(brokers, script="", **more):
    return [p.rule for p in check(lab_file.read(body(brokers, script, **more)))]


def colocated(*others, **more):
    """Return a colocated broker that does not shift its connectors to *others*."""
    halves = {"master": {"check_for_live_server": True}, "slave": {"allow_failback": True}}
    return ha("replication", "colocated", excludes=[f"to_{o}" for o in others], **halves | more)


THREE = {"M1": master(group_name="g"), "M2": master(), "M3": master(), "S1": slave(group_name="g")}


@pytest.mark.parametrize(("brokers", "rule", "level", "says", "source"), [
    (pairs(3, {"quorum_size": 0}), "refused", "error", "AMQ119041", "rules 1.5 and 3.5"),
    ({"A": {"ha": ha("shared_store", "colocated", excludes=[], master={}, slave={})}}, "refused",
     "error", "excludes is not accepted", "rules 1.5 and 3.5"),
    ({"M1": master(), "S1": slave()}, "split-brain", "warning", "both are live", "21.1"),
    (pairs(3, {"quorum_size": 1}), "split-brain", "warning", "no other broker to vote", "rule 3.4"),
    ({"M1": master(), "S1": slave(quorum_size=2)}, "never-live", "error",
     "needs 1 vote but there are only 0 voters", "rules 3.1"),
    (pairs(3, {"quorum_size": 5}), "never-live", "error", "3 votes but there are only 2", "rules 3.1"),
    (pairs(3, {"allow_failback": True}), "duplicates", "error", "with the same node ID", "21.1.2"),
    (pairs(3, check_for_live_server=True), "no-failback", "warning", "in the slave role",
     "rule 4.3"),
    ({"A": ha("live_only", scale_down={}), "B": None}, "scale-down-target", "error",
     "no target", "21.4.1"),
    ({"A": ha("live_only", scale_down={"connectors": ["to_S1"]}), "M1": master(), "S1": slave()},
     "scale-down-target", "error", "no target: S1 is a slave", "21.4.1"),
    ({"A": ha("live_only", scale_down={"connectors": ["B"], "group_name": "g"}), "B": None},
     "scale-down-group", "error", "no other broker belongs to scale-down group 'g'", "21.4.3"),
    ({**pairs(3, {"scale_down": {"connectors": ["M2"]}})}, "scale-down-slave", "error",
     "NullPointerException", "rule 1.10"),
    ({n: colocated(request_backup=True) for n in "ABC"}, "excludes", "error",
     "to_A, to_B point to other brokers", "21.3.2"),
    ({"A": colocated("B", "C", request_backup=True, max_backups=0),
      "B": colocated("A", "C", max_backups=0), "C": None}, "no-host", "error",
     "keeps requesting", "rule 7.1"),
    ({"A": ha("shared_store", "colocated", slave={})}, "colocated-half", "warning",
     "without a master", "21.3.1"),
    ({"A": {"cluster_password": "one"}, "B": {"cluster_password": "two"}}, "cluster-password",
     "error", "differs from that of A", "rule 11.2"),
])  # fmt: skip
def test_what_does_harm_is_a_problem(brokers, rule, level, says, source):
    found = {p.rule: p for p in check(lab_file.read(body(brokers)))}
    assert rule in found
    problem = found[rule]
    assert (problem.level, says in problem.what, source in problem.source) == (level, True, True)
    assert problem.where.removeprefix("broker ") in brokers
    assert len(problem.remedy) > 5


def test_voters_of_2_4_never_let_a_slave_of_a_crashed_master_go_live():
    assert rules(THREE, version="2.4") == ["never-live"]
    assert rules(THREE, version="2.5") == []
    two = {"M1": master(group_name="g"), "M2": master(), "S1": slave(group_name="g")}
    assert rules(two, version="2.4") == ["never-live"]


SEND, READ = "send broker=A queue=Q count=1", "open_consumer consumer=C broker=B queue=Q"


@pytest.mark.parametrize(("script", "cluster", "delay", "expected"), [
    (f"{READ}\n{SEND}", "OFF", -1, ["off-remote"]),
    (f"{SEND}\n{READ}", "OFF", 0, ["no-redistribution", "no-effect-artemis"]),
    (f"{SEND}\n{READ}", "STRICT", 0, ["no-redistribution", "no-effect-artemis"]),
    (f"{SEND}\n{READ}", "ON_DEMAND", -1, ["no-redistribution"]),
    (f"{SEND}\n{READ}", "ON_DEMAND", 0, []),
    (f"{READ}\n{SEND}", "ON_DEMAND", -1, []),
    (f"{READ}\nclose_consumer consumer=C\n{SEND}", "OFF", -1, []),
    (f"{SEND}\nstop broker=A\n{READ}", "ON_DEMAND", -1, []),
    (f"open_consumer consumer=D broker=A queue=Q\n{READ}\n{SEND}", "OFF", -1, []),
])  # fmt: skip
def test_a_script_shows_messages_that_do_not_find_their_consumer(script, cluster, delay, expected):
    found = rules({"A": None, "B": None}, script, cluster={"message_load_balancing": cluster},
                  address_settings={"redistribution_delay": delay})  # fmt: skip
    assert found == expected


@pytest.mark.parametrize("brokers", [
    {"A": None}, THREE, {"M1": store("master"), "S1": store("slave")},
    pairs(3, {"allow_failback": True}, check_for_live_server=True),
    {"A": ha("live_only", scale_down={"connectors": ["to_B"]}), "B": None},
    {n: colocated(*"ABC".replace(n, ""), request_backup=True) for n in "ABC"},
])  # fmt: skip
def test_a_sound_set_up_has_no_problem(brokers):
    assert problems(brokers) == []


# Rule -> the recorded scenarios that have it; warnings of single pairs and of 2.4 votes apart.
RECORDED = {
    "refused": {"quorum/quorum_size_0"}, "duplicates": {"failback/no_check"},
    "no-failback": {"colocated/guide_last_sample"}, "group-alone": {"pairing/master_without_group"},
    "excludes": {"colocated/no_excludes"},
    "scale-down-group": {"scale_down/group_without_member"},
    "scale-down-target": {"scale_down/no_connector"},
    "scale-down-queue": {"scale_down/two_queues_one_missing"},
    "scale-down-slave": {"scale_down/slave_scales_down", "scale_down/slave_scales_down_orderly",
                         "scale_down_2_5/slave_scales_down"},
    "off-remote": {"load_balancing/off_redistribution", "load_balancing/off_remote_consumer"},
    "no-effect-artemis": {"load_balancing/off_redistribution"},
    "no-redistribution": {"load_balancing/on_demand_none",
                          "load_balancing/remote_killed_then_send"},
}  # fmt: skip


def test_recorded_scenarios_have_the_problems_that_were_seen_in_them_and_no_other():
    found: dict[str, set[str]] = {}
    for path, value in packed("artemis").items():
        for problem in check(lab_file.read(value)):
            name = path.removeprefix("artemis/").removesuffix(".json")
            found.setdefault(problem.rule, set()).add(name)
    lost = found.pop("never-live")
    for name in found.pop("split-brain"):  # no vote is needed with one master only
        items = packed("artemis")[f"artemis/{name}.json"]["scenario"]["brokers"]
        assert sum(b["ha"]["role"] == "master" for b in items if "ha" in b) == 1
    assert not any("_2_5" in name for name in lost)
    assert found == RECORDED


def test_where_the_check_warns_of_a_vote_no_slave_went_live_after_a_crash():
    for path, value in packed("artemis").items():
        never = [p for p in check(lab_file.read(value)) if p.rule == "never-live"]
        names = {problem.where.removeprefix("broker ") for problem in never}
        if not names or not any(s["do"] == "kill" for s in value["scenario"]["steps"]):
            continue
        for entry in value["observed"]["outcomes"]:
            last = list(entry["outcome"]["snapshots"].values())[-1]["brokers"]
            assert not any(last[n]["role"] == "live" and last[n].get("pair") != n for n in names), path


def test_a_queue_that_the_target_of_a_scale_down_lacks_is_told_and_its_loss_has_its_reason():
    orders = mq.Queue("ORDERS")
    brokers = artemis.Broker("A1"), artemis.Broker("A2", "live_only", scale_down={"connectors": ["A1"]})
    story = (
        mq.Producer("P", on="A2", sends=3, to=orders),
        mq.Stop("A2"),
        mq.Consumer("C", on="A1", reads=orders),
    )
    bare, listed = (
        artemis.Network(*brokers, queues=queues) for queues in ((), (artemis.AddressQueue("ORDERS"),))
    )
    assert [problem.rule for problem in mq.check(bare, *story)] == ["scale-down-queue"]
    assert "queues=(AddressQueue('ORDERS'),)" in mq.check(bare, *story)[0].remedy
    assert len(mq.check(listed, *story)) == len(mq.check(bare)) == 0
    own = artemis.Network(*brokers, queues=(artemis.AddressQueue("ORDERS", on=["A2"]),))
    assert [problem.rule for problem in mq.check(own)] == ["scale-down-queue"]
    trace = mq.run(bare, *story)
    assert trace.received() == {"C": 0}
    assert "the target has no such queue; the one that it creates has no routing type" in str(mq.explain(trace))
    assert mq.run(listed, *story).received() == {"C": 3}
