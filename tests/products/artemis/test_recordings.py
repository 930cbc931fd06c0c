"""Artemis set-ups against recordings of real brokers, and what is refused."""

from __future__ import annotations

import copy
import json
import tarfile
from dataclasses import replace

import pytest

from mqlab import products
from mqlab.conform import artemis as conformance
from mqlab.errors import BadFile, BadValue, MqlabError, SelectorError, UnknownName
from mqlab.files import detect_product
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.files import lab_file as artemis
from mqlab.spec.artemis.script import url_options
from tests.conftest import HERE, SHARED, missing, packed, recorded
from tests.products.artemis.ha import body, ha, master, problems, roles, run, slave, store

ALL = [path for path in packed("artemis") if path.endswith(".json")]


def depth(path):
    return packed("artemis")[path]["observed"]["deterministic"]


@pytest.mark.parametrize("value", recorded("artemis", lambda path: depth(path) != "none"))
def test_the_lab_does_what_real_brokers_did(value):
    found = outcome(play(artemis.read(value), limit=100_000))
    assert conformance.differences(found, value["observed"]) == []


@pytest.mark.parametrize("value", recorded("artemis-later", lambda path: True))
def test_the_lab_does_what_later_recordings_say(value):
    found = outcome(play(artemis.read(value), limit=100_000))
    assert conformance.differences(found, value["observed"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_seed_decides_only_what_is_a_race(seed):
    for path in ALL:
        value = packed("artemis")[path]
        found = outcome(play(artemis.read(value), seed))
        assert conformance.differences(found, value["observed"]) == [], path


def test_who_pairs_with_whom_is_such_a_race():
    read = artemis.read(some("pairing/no_groups_two_masters_three_slaves"))
    ends = [outcome(play(read, seed))["snapshots"]["end"]["brokers"] for seed in range(12)]
    pairs = {tuple((name, state.get("pair")) for name, state in end.items()) for end in ends}
    assert len(pairs) > 1
    assert {sum(state["role"] == "backup_in_sync" for state in end.values()) for end in ends} == {2}


def everybody(found):
    """Return (role, pair) of all brokers, hosted ones too, at each snapshot."""
    hosted = {
        f"{label} {name}": {who: (h["role"], h.get("pair")) for who, h in b["hosts"].items()}
        for label, shot in found["snapshots"].items()
        for name, b in shot["brokers"].items() if "hosts" in b
    }  # fmt: skip
    return {**conformance._roles(found), **hosted}


def nameless(shots):
    """Return how many brokers had each role at each snapshot."""
    return {label: sorted(role for role, _ in shot.values()) for label, shot in shots.items()}


@pytest.mark.parametrize("value", recorded("artemis", lambda path: depth(path) == "none"))
def test_where_runs_differ_the_lab_ends_as_one_of_them(value):
    assert conformance.differences({}, value["observed"]) == []  # these promise nothing
    found = everybody(outcome(play(artemis.read(value), limit=100_000)))
    seen = [everybody(entry["outcome"]) for entry in value["observed"]["outcomes"]]
    if value["scenario"]["name"] == "guide_fish_and_bird":  # who pairs with whom is a race
        found, seen = nameless(found), [nameless(shots) for shots in seen]
    assert found in seen


def test_each_depth_is_there_and_nothing_else():
    depths = [depth(path) for path in ALL]
    assert len(ALL) == 176
    assert {name: depths.count(name) for name in conformance.DEPTHS} == {
        "exact": 143, "counts": 3, "totals": 6, "roles": 2, "none": 22,
    }  # fmt: skip


def test_the_packed_recordings_are_the_shared_ones():
    source = SHARED / "conformance" / "artemis"
    if not source.exists():
        missing("../shared/conformance is not beside this checkout")
    files = {str(f.relative_to(source.parent)): f for f in source.rglob("*.json")}
    with tarfile.open(HERE / "recordings" / "artemis.tar.xz") as tar:
        assert {m.name for m in tar if m.name.endswith(".json")} == set(files)
    assert all(packed("artemis")[name] == json.loads(f.read_text()) for name, f in files.items())


@pytest.mark.parametrize(("name", "family"), [
    ("activemq", "activemq"), ("activemq-editions", "activemq"), ("failover", "activemq"),
    ("openmq", "openmq"), ("artemis", "artemis"),
])  # fmt: skip
def test_exactly_the_right_family_reads_every_recording(name, family):
    values = [value for value in packed(name).values() if "scenario" in value]
    assert len(values) > 100
    assert {products.product_of(value).name for value in values} == {family}
    claimed = [f.name for f in products.PRODUCTS if f.claims(values[0]["scenario"])]
    assert claimed[:1] == [family]


@pytest.mark.parametrize("value", recorded("artemis", lambda path: True))
def test_what_is_written_reads_as_the_same_scenario(value):
    read = artemis.read(value)
    written = json.loads(json.dumps(artemis.write(read)))
    again = artemis.read(written)  # a recording's step for several brokers is an action for each of them
    assert again.actions == read.actions
    assert replace(again, actions=()) == replace(read, actions=())
    assert products.product_of(written).name == "artemis"


# A comparison sees what it promises


def some(name="replication_failover/kill_persistent"):
    return copy.deepcopy(packed("artemis")[f"artemis/{name}.json"])


def last(found):
    return list(found["snapshots"].values())[-1]


def broker(found, name="S1"):
    return last(found)["brokers"][name]


SPOILT = [
    pytest.param(lambda o: o["consumers"]["C1"]["received"].reverse(), id="order"),
    pytest.param(lambda o: o["consumers"]["C1"]["received"].pop(), id="received"),
    pytest.param(lambda o: o["consumers"]["C1"].update(redelivered=[1]), id="redelivered"),
    pytest.param(lambda o: o["consumers"]["C1"].update(results=["x"]), id="results"),
    pytest.param(lambda o: o["consumers"].pop("C1"), id="consumer"),
    pytest.param(lambda o: o["senders"]["sender3"]["sent"].pop(), id="sent"),
    pytest.param(lambda o: o["senders"]["sender3"].update(failed=["x"]), id="failed"),
    pytest.param(lambda o: o["waits"][0].update(reached=False), id="wait"),
    pytest.param(lambda o: o["lost"].append(1), id="lost"),
    pytest.param(lambda o: o["received_more_than_once"].append(1), id="twice"),
    pytest.param(lambda o: o.update(refused=["x"]), id="refused"),
    pytest.param(lambda o: o["snapshots"].pop("before"), id="snapshot"),
    pytest.param(lambda o: last(o)["received_so_far"].update(C1=1), id="so far"),
    pytest.param(lambda o: broker(o, "M1").update(role="live"), id="role"),
    pytest.param(lambda o: broker(o).update(pair="S1"), id="pair"),
    pytest.param(lambda o: broker(o)["queues"].clear(), id="queue"),
    pytest.param(lambda o: broker(o)["queues"]["orders"].update(depth=1), id="depth"),
    pytest.param(lambda o: broker(o)["queues"]["orders"].update(waiting=[1]), id="waiting"),
    pytest.param(lambda o: broker(o)["queues"]["orders"].update(consumers=0), id="consumers"),
    pytest.param(lambda o: broker(o)["queues"]["orders"].update(enqueued=11), id="enqueued"),
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_an_exact_comparison_sees_every_difference(spoil):
    value = some()
    assert value["observed"]["deterministic"] == "exact"
    found = outcome(play(artemis.read(value)))
    assert conformance.differences(found, value["observed"]) == []
    for entry in value["observed"]["outcomes"]:
        spoil(entry["outcome"])
    assert conformance.differences(found, value["observed"])


def first_consumer(found):
    return next(iter(found["consumers"].values()))


def a_queue(found):
    return next(q for b in last(found)["brokers"].values() for q in b.get("queues", {}).values())


def change_role(found):
    next(iter(last(found)["brokers"].values()))["role"] = "paused"


COUNTS, TOTALS, ROLES = ("replication_failover/redelivery_order_two_consumers",
                         "failback/true_true_connected_client",
                         "replication_failover/slave_hangs")  # fmt: skip


@pytest.mark.parametrize(("name", "spoil"), [
    (COUNTS, lambda o: first_consumer(o).update(count=99)),
    (COUNTS, lambda o: first_consumer(o).update(failovers=["x"])),
    (COUNTS, lambda o: a_queue(o).update(waiting=[1] * 50)), (COUNTS, change_role),
    (TOTALS, lambda o: first_consumer(o).update(count=99)),
    (TOTALS, lambda o: a_queue(o).update(depth=99)), (TOTALS, change_role),
    (ROLES, change_role), (ROLES, lambda o: o["snapshots"].popitem()),
])  # fmt: skip
def test_looser_comparisons_still_see_what_they_promise(name, spoil):
    value = some(name)
    found = outcome(play(artemis.read(value)))
    assert conformance.differences(found, value["observed"]) == []
    for entry in value["observed"]["outcomes"]:
        spoil(entry["outcome"])
    assert conformance.differences(found, value["observed"])


def test_a_recording_of_unknown_depth_is_refused():
    with pytest.raises(BadFile, match="'deterministic' is 'rough'"):
        conformance.differences({}, {"deterministic": "rough"})


@pytest.mark.parametrize("name", ["replication_failover/kill_persistent",
                                  "failback/true_true_connected_client",
                                  "colocated/two_hosted_offset_100"])  # fmt: skip
def test_one_seed_gives_one_trace(name):
    read = artemis.read(some(name))
    assert play(read, seed=3).digest() == play(read, seed=3).digest()


def test_a_run_without_end_is_stopped():
    with pytest.raises(BadValue, match="more than 500 events"):
        play(artemis.read(body({"A": None}, "send broker=A queue=Q count=600\nwait ms=1")), limit=500)


# What is refused


def steps(*items):
    return lambda v: v["steps"].extend(items)


def policy(**more):
    return lambda v: v["brokers"][0]["ha"].update(more)


CONSUMER = {"do": "open_consumer", "consumer": "C", "broker": "M1", "queue": "Q"}


@pytest.mark.parametrize(("spoil", "error", "hint"), [
    (steps({"do": "kil", "broker": "M1"}), UnknownName, "'kill'"),
    (steps("kill"), BadValue, "step 2 is 'kill'; expected an object with the key 'do'"),
    (steps({"do": "kill", "broker": "M9"}), UnknownName, "step 2 .kill.*'M9'"),
    (steps({"do": "start", "brokers": ["M9"]}), UnknownName, "'M9'"),
    (steps({"do": "cut", "between": ["M1", ["S1", "M9"]]}), UnknownName, "'M9'"),
    (steps({"do": "heal", "isolate": ["clients"]}), UnknownName, "'clients'"),
    (steps({"do": "kill"}), BadValue, "key 'broker' or 'brokers' is missing"),
    (steps({"do": "kill", "broker": "M1", "soon": 1}), UnknownName, "soon"),
    (steps({"do": "send", "count": 1}), BadValue, "'producer', or 'broker', and"),
    (steps({"do": "send", "broker": "M1", "queue": "Q", "count": -1}), BadValue, "0 to 1000000000"),
    (steps({"do": "wait", "ms": -1}), BadValue, r"0 to 1e\+12"),
    (steps({"do": "wait", "ms": "long"}), BadValue, r"step 2 \(wait\), ms is 'long'; expected a number"),
    (steps({"do": "cut", "between": ["M1"]}), BadValue, "a list of 2"),
    (steps({"do": "kill", "broker": 3}), BadValue, "a name or a list of names"),
    (steps({**CONSUMER, "receiving": 1}), BadValue, "true or false"),
    (steps({**CONSUMER, "url": []}), BadValue, "url is .*an object"),
    (steps({**CONSUMER, "url": {"retry_interval": "1 s"}}), BadValue,
     r"step 2 \(open_consumer\), url: retryInterval: '1 s' is not a whole number"),
    (steps({**CONSUMER, "selector": "a ="}), SelectorError, r"step 2 \(open_consumer\)"),
    (steps({**CONSUMER, "durable_name": "d"}), BadValue, "client_id"),
    (steps({"do": "wait_until", "broker": ["M1"], "role": "live"}), BadValue, "one name"),
    (steps({"do": "open_client", "client": "X", "broker": "M1"},
           {"do": "send", "client": "X", "count": 1}), BadValue, r"step 3 \(send\).*'queue' or 'topic'"),
    (lambda v: v["queues"].append("R"), BadValue, "queue 2 is 'R'; expected an object"),
    (lambda v: v.update(cluster=3), BadValue, "cluster is 3; expected an object"),
    (steps({"do": "wait_until", "broker": "M1", "role": "alive"}), UnknownName, "'live'"),
    (steps({"do": "close_consumer", "consumer": "C9"}), UnknownName, "'C9'"),
    (steps({"do": "commit", "client": "P9"}), UnknownName, "'P9'"),
    (steps(CONSUMER, CONSUMER), BadValue, "its own name"),
    (steps({**CONSUMER, "ack_mode": "lazy"}), UnknownName, "'lazy'"),
    (steps({**CONSUMER, "url": {"reconnectAttempts": 1}}), UnknownName, "'reconnect_attempts'"),
    (steps({"do": "open_consumer", "consumer": "C", "broker": "M1"}), BadValue,
     "'queue' or 'topic' is missing"),
    (lambda v: v.update(steps={}), BadValue, "steps is .*list of objects"),
    (lambda v: v.update(borkers=[]), UnknownName, "'brokers'"),
    (lambda v: v.update(version="2.3"), UnknownName, "Known: 2.4, 2.5"),
    (lambda v: v["brokers"].append({"name": "M1"}), BadValue, "two brokers are called 'M1'"),
    (lambda v: v["brokers"].append({"nam": "b4"}), UnknownName, "did you mean 'name'"),
    (lambda v: v["brokers"].append("b4"), BadValue, "the key 'name'"),
    (lambda v: v["brokers"][0].update(hap={}), UnknownName, "'ha'"),
    (lambda v: v["brokers"][0].update(ha="replication"), BadValue, "an object with the key 'policy'"),
    (lambda v: v["brokers"][0].update(core={"network_check_lst": ""}), UnknownName, "_list'"),
    (lambda v: v["brokers"][0].update(cluster={"max_hop": 1}), UnknownName, "'max_hops'"),
    (policy(policy="replicated"), UnknownName, "'replication'"),
    (policy(role="standby"), UnknownName, "Known: master, slave"),
    (policy(quorum=1), UnknownName, "'quorum_size'"),
    (policy(allow_failback=True), BadValue, "'M1': allow_failback is not allowed in a replication"),
    (policy(quorum_size="two"), BadValue, "quorum-size: 'two' is not a whole number"),
    (policy(check_for_live_server=1), BadValue, "true or false"),
    (lambda v: v["brokers"][1]["ha"].update(scale_down={"connector": "M1"}), UnknownName,
     "'connectors'"),
    (lambda v: v["brokers"][1]["ha"].update(scale_down={"connectors": ["to_M9"]}), UnknownName,
     "scale-down of 'S1'.*'M9'"),
    (lambda v: v["brokers"].append({"name": "X", "ha": ha("replication", "colocated", slave={
        "group": "g"})}), UnknownName, "'X', ha, slave.*'group_name'"),
    (lambda v: v.update(cluster={"message_load_balancing": "ON"}), UnknownName, "Known: ON_DEMAND"),
    (lambda v: v.update(cluster={"hops": 1}), UnknownName, "'max_hops'"),
    (lambda v: v.update(address_settings={"redistribution": 1}), UnknownName, "_delay'"),
    (lambda v: v.update(clients={"ha": True, "retry": 1}), UnknownName, "'retry_interval'"),
    (lambda v: v["queues"].append({"name": "R", "on": ["M9"]}), UnknownName, "queue 'R'.*'M9'"),
    (lambda v: v["queues"].append({"name": "R", "routing": "many"}), UnknownName, "multicast"),
    (lambda v: v["queues"].append({"nam": "R"}), UnknownName, "'name'"),
])  # fmt: skip
def test_a_bad_scenario_is_refused_with_place_and_remedy(spoil, error, hint):
    value = body({"M1": master(), "S1": slave()})
    artemis.read(value)
    spoil(value)
    with pytest.raises(error, match=hint) as caught:
        artemis.read(value, "some.json")
    assert isinstance(caught.value, MqlabError)
    assert str(caught.value).startswith("some.json: ")


def test_a_text_is_read_in_the_type_of_its_option():
    value = body({"M1": master(), "S1": slave()})
    policy(quorum_size="2", check_for_live_server="true")(value)
    value |= {
        "cluster": {"max_hops": "3", "to": "S1"},
        "clients": {"retry_interval_multiplier": "2"},
    }
    steps({**CONSUMER, "url": {"retry_interval": "100"}})(value)
    read = artemis.read(value)
    network = read.network
    assert network.brokers[0].elements == {"quorum_size": 2, "check_for_live_server": True}
    assert network.cluster == {"max_hops": 3, "to": ["S1"]}
    assert network.clients == {"retry_interval_multiplier": 2.0}
    assert url_options(read.script[-1]) == {"retry_interval": 100}


@pytest.mark.parametrize(("brokers", "who", "says"), [
    ({"M1": master(), "S1": slave(quorum_size=0)}, "S1", "AMQ119041: quorum-size"),
    ({"M1": {"ha": ha("shared_store", "colocated", excludes=["to_M2"]), "shared_store": "s"}},
     "M1", "Invalid configuration"),
])  # fmt: skip
def test_what_the_product_refuses_at_start_is_an_outcome_and_a_problem(brokers, who, says):
    found = run(brokers)
    assert roles(found)[who] == "down"
    assert len(found["refused"]) == 1
    assert says in found["refused"][0]
    assert any(says in text and text.startswith("error") for text in problems(brokers))


def test_a_sound_shared_store_starts():
    found = run({"M1": store("master"), "S1": store("slave")})
    assert found["refused"] == []
    assert roles(found) == {"M1": "live", "S1": "backup_announced"}


def test_queues_of_one_multicast_address_each_have_every_message_and_take_turns_over_brokers():
    queues = [{"name": name, "routing": "multicast", "address": "T"} for name in ("X", "Y")]
    found = run(
        {"A": None, "B": None},
        """
        open_consumer consumer=XA broker=A queue=X
        open_consumer consumer=XB broker=B queue=X
        open_consumer consumer=YB broker=B queue=Y
        send broker=A topic=T count=4
        wait ms=1000
    """,
        queues=queues,
    )
    assert {name: got["received"] for name, got in found["consumers"].items()} == {
        "XA": [1, 3], "XB": [2, 4], "YB": [1, 2, 3, 4],
    }  # fmt: skip


def test_what_is_on_its_way_to_a_broker_that_hangs_outlives_its_sender():
    found = run(
        {"A": None, "B": None},
        """
        open_consumer consumer=C broker=B queue=Q
        pause broker=B
        send broker=A queue=Q count=2
        send broker=A queue=Q count=1 persistent=false
        kill broker=A
        start_broker broker=A
        snapshot label=hung
        resume_broker broker=B
        wait ms=1000
    """,
    )
    assert found["snapshots"]["hung"]["received_so_far"] == {"C": 0}
    assert found["consumers"]["C"]["received"] == [1, 2]
    assert found["lost"] == [3]


def test_a_file_without_queues_is_known_by_its_ha_policy():
    bare = {"brokers": [{"name": "A", "ha": {"policy": "live_only"}}], "steps": [{"do": "start"}]}
    assert detect_product.artemis(bare)
    assert products.product_of(bare).name == "artemis"
    assert not detect_product.artemis({"brokers": ["A"], "steps": []})
