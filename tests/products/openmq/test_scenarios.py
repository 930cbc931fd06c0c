"""OpenMQ clusters against recordings of real brokers, and what is refused."""

from __future__ import annotations

import copy
import json
import tarfile

import pytest

from mqlab import products
from mqlab.conform.openmq import differences
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.files import detect_product
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.rules import check
from tests.conftest import HERE, SHARED, missing, packed, recorded
from tests.products.openmq.cluster import at, body, holds, result, run

ALL = [path for path in packed("openmq") if path.endswith(".json")]


@pytest.mark.parametrize("value", recorded("openmq", lambda path: True))
def test_the_lab_does_what_real_clusters_did(value):
    found = outcome(play(lab_file.read(value), limit=100_000))
    assert differences(found, value["observed"]) == []


@pytest.mark.parametrize("value", recorded("openmq-later", lambda path: True))
def test_the_lab_does_what_real_clusters_did_later(value):
    found = outcome(play(lab_file.read(value), limit=100_000))
    assert differences(found, value["observed"]) == []


def test_only_what_is_a_race_in_the_product_is_not_compared():
    bare = [p for p in ALL if packed("openmq")[p]["observed"]["deterministic"] == "none"]
    assert len(ALL) == 128
    assert len(bare) == 11
    assert {path.split("/")[1] for path in bare} == {"balancing", "durable", "enhanced"}


@pytest.mark.parametrize("value", recorded("openmq", lambda path: "/balancing/" in path))
def test_where_shares_are_a_race_everything_is_received_all_the_same(value):
    found = outcome(play(lab_file.read(value)))
    real = value["observed"]["outcomes"][0]["outcome"]["consumers"]
    total = sum(entry["count"] for entry in real.values())
    assert sum(entry["count"] for entry in found["consumers"].values()) == total


@pytest.mark.parametrize(("name", "folder"), [("openmq", "."), ("openmq-later", "later")])
def test_the_packed_recordings_are_the_shared_ones(name, folder):
    source = SHARED / "conformance" / folder / "openmq"
    if not source.exists():
        missing("../shared/conformance is not beside this checkout")
    files = {str(f.relative_to(source.parent)): f for f in source.rglob("*.json")}
    with tarfile.open(HERE / "recordings" / f"{name}.tar.xz") as tar:
        assert {m.name for m in tar if m.name.endswith(".json")} == set(files)
    assert all(packed(name)[path] == json.loads(f.read_text()) for path, f in files.items())


def test_clusters_and_other_scenarios_are_told_apart():
    assert all(detect_product.openmq(value["scenario"]) for value in packed("openmq").values())
    for name in ("activemq", "failover", "activemq-editions"):
        bodies = [value["scenario"] for value in packed(name).values() if "scenario" in value]
        assert len(bodies) > 20
        assert not any(map(detect_product.openmq, bodies))
    for value in packed("openmq").values():
        assert products.product_of(value).name == "openmq"


@pytest.mark.parametrize("value", recorded("openmq", lambda path: True))
def test_what_is_written_reads_as_the_same_scenario(value):
    read = lab_file.read(value)
    assert lab_file.read(json.loads(json.dumps(lab_file.write(read)))) == read


def some(name="delivery/queue_remote_consumer"):
    return copy.deepcopy(packed("openmq")[f"openmq/{name}.json"])


SPOILT = [
    pytest.param(lambda o: o["consumers"]["C1"]["received"].reverse(), id="order"),
    pytest.param(lambda o: o["consumers"]["C1"]["received"].pop(), id="received"),
    pytest.param(lambda o: o["consumers"]["C1"].update(redelivered=[1]), id="redelivered"),
    pytest.param(lambda o: o["consumers"].pop("C1"), id="consumer"),
    pytest.param(lambda o: o["operations"][0].update(result="refused"), id="result"),
    pytest.param(lambda o: o["operations"].pop(), id="operation"),
    pytest.param(lambda o: last(o)["received_so_far"].update(C1=1), id="so far"),
    pytest.param(lambda o: last(o)["brokers"].pop("b2"), id="broker"),
    pytest.param(lambda o: last(o)["brokers"]["b1"].update(running=False), id="running"),
    pytest.param(lambda o: last(o)["brokers"]["b1"]["cluster"].update(b2="BROKER_DOWN"), id="link"),
    pytest.param(lambda o: queue(o, "b1").update(messages=3), id="depth"),
    pytest.param(lambda o: queue(o, "b3").update(remote=1), id="remote"),
    pytest.param(lambda o: queue(o, "b2").update(consumers=0), id="consumers"),
    pytest.param(lambda o: queue(o, "b2").update(created_by="admin"), id="created by"),
    pytest.param(lambda o: last(o)["brokers"]["b2"]["destinations"].clear(), id="known"),
]


def last(found):
    return list(found["snapshots"].values())[-1]


def queue(found, broker):
    return next(iter(last(found)["brokers"][broker]["destinations"].values()))


@pytest.mark.parametrize("spoil", SPOILT)
def test_an_exact_comparison_sees_every_difference(spoil):
    value = some()
    assert value["observed"]["deterministic"] == "exact"
    found = outcome(play(lab_file.read(value)))
    assert differences(found, value["observed"]) == []
    spoil(value["observed"]["outcomes"][0]["outcome"])
    assert differences(found, value["observed"])


@pytest.mark.parametrize(("name", "spoil"), [
    ("enhanced/takeover", lambda o: o["consumers"]["C1"]["received"].pop()),
    ("enhanced/takeover", lambda o: queue(o, "b2").update(messages=9)),
    ("durable/moves_to_another_broker", lambda o: next(iter(
        o["consumers"].values()))["received"].append(99)),
    ("propagation/temporary_reconnect_never", lambda o: o["operations"][0].update(result="x")),
])  # fmt: skip
def test_looser_comparisons_still_see_what_they_promise(name, spoil):
    value = some(name)
    found = outcome(play(lab_file.read(value)))
    assert differences(found, value["observed"]) == []
    for entry in value["observed"]["outcomes"]:
        spoil(entry["outcome"])
    assert differences(found, value["observed"])


# The same again


@pytest.mark.parametrize("name", ["enhanced/takeover", "crash/client_fails_over",
                                  "balancing/one_local_two_remote"])  # fmt: skip
def test_one_seed_gives_one_trace(name):
    read = lab_file.read(some(name))
    assert play(read, seed=3).digest() == play(read, seed=3).digest()


def test_who_wins_a_takeover_is_a_race_that_the_seed_decides():
    read = lab_file.read(some("enhanced/takeover"))
    states = {last(outcome(play(read, seed=seed)))["brokers"]["b2"]["cluster"]["b1"]
              for seed in range(12)}  # fmt: skip
    assert states == {"TAKEOVER_COMPLETE by b2", "TAKEOVER_COMPLETE by b3"}


def test_a_run_without_end_is_stopped():
    with pytest.raises(BadValue, match="more than 500 events"):
        play(lab_file.read(body("send broker=b1 queue=Q count=600")), limit=500)


# What is refused


@pytest.mark.parametrize(("spoil", "error", "hint"), [
    (lambda v: v["steps"].append({"do": "kil", "broker": "b1"}), UnknownName, "'kill'"),
    (lambda v: v["steps"].append({"do": "kill", "broker": "b9"}), UnknownName, "'b9'"),
    (lambda v: v["steps"].append({"do": "start", "brokers": ["b9"]}), UnknownName, "'b9'"),
    (lambda v: v["steps"].append({"do": "cut", "between": ["b1", "b9"]}), UnknownName, "'b9'"),
    (lambda v: v["steps"].append({"do": "kill"}), BadValue, "key 'broker' is missing"),
    (lambda v: v["steps"].append({"do": "kill", "broker": "b1", "soon": 1}), UnknownName, "soon"),
    (lambda v: v["steps"].append({"do": "send", "count": 1}), BadValue, "'producer', or 'broker'"),
    (lambda v: v["steps"].append({"do": "send", "broker": "b1", "queue": "Q", "count": -1}),
     BadValue, "0 to 1000000000"),
    (lambda v: v["steps"].append({"do": "close_consumer", "consumer": "C9"}), UnknownName, "'C9'"),
    (lambda v: v["steps"].append({"do": "commit", "producer": "P9"}), UnknownName, "'P9'"),
    (lambda v: v["steps"].extend([{"do": "open_consumer", "consumer": "C", "broker": "b1",
                                   "queue": "Q"}] * 2), BadValue, "its own name"),
    (lambda v: v["steps"].append({"do": "open_consumer", "consumer": "C", "broker": "b1"}),
     BadValue, "'queue' or 'topic' is missing"),
    (lambda v: v["steps"].append({"do": "create_destination", "broker": "b1", "queue": "Q",
                                  "options": {"MaxNumMsg": 1}}), UnknownName, "'max_num_msgs'"),
    (lambda v: v["steps"].append({"do": "create_destination", "broker": "b1", "queue": "Q",
                                  "options": {"LimitBehavior": "BLOCK"}}), UnknownName, "FLOW_CON"),
    (lambda v: v["steps"].append({"do": "admin", "broker": "b1", "command": "quiet"}),
     UnknownName, "quiesce"),
    (lambda v: v["steps"].append("kill"), BadValue, "step 2 is 'kill'; expected an object"),
    (lambda v: v.update(steps={}), BadValue, "list of objects"),
    (lambda v: v.update(borkers=[]), UnknownName, "'brokers'"),
    (lambda v: v.update(brokers=[]), BadValue, "without brokers"),
    (lambda v: v["brokers"].append("b1"), BadValue, "two brokers are called 'b1'"),
    (lambda v: v["brokers"].append({"nam": "b4"}), UnknownName, "did you mean 'name'"),
    (lambda v: v["brokers"][0].update(option={}), UnknownName, "'options'"),
    (lambda v: v["cluster"].update(model="masters"), UnknownName, "'master'"),
    (lambda v: v["cluster"].update(masters="b1"), UnknownName, "'master'"),
    (lambda v: v["cluster"].update(master="b9"), UnknownName, "'b9'"),
    (lambda v: v["cluster"].pop("master"), BadValue, "C4090"),
    (lambda v: v["cluster"].update(model="enhanced"), BadValue, "ignores imq.cluster.masterbroker"),
    (lambda v: v["cluster"].update(model="peer"), BadValue, "imq.cluster.nomasterbroker=true"),
    (lambda v: v["cluster"].update(model="none"), BadValue, "has no imq.cluster.masterbroker"),
])  # fmt: skip
def test_a_bad_scenario_is_refused_with_place_and_remedy(spoil, error, hint):
    value = body()
    lab_file.read(value)
    spoil(value)
    with pytest.raises(error, match=hint) as caught:
        lab_file.read(value, "some.json")
    assert isinstance(caught.value, MqlabError)
    assert str(caught.value).startswith("some.json: ")


# What is accepted and does harm: brokers start, and then refuse one another, or end


def problems(**more):
    return [str(problem) for problem in check(lab_file.read(body(**more)))]


@pytest.mark.parametrize(("more", "says"), [
    ({"model": "peer", "own": {"b3": {"imq.cluster.clusterid": "other"}}},
     "imq.cluster.clusterid is '' and 'other': the brokers refuse to connect"),
    ({"model": "enhanced", "own": {"b3": {"imq.cluster.clusterid": "other"}}},
     "two separate clusters in the same database"),
    ({"own": {"b2": {"imq.autocreate.queue": "false"}}}, "imq.autocreate.queue is 'true' and"),
    ({"own": {"b2": {"imq.autocreate.topic": "false"}}}, "imq.autocreate.topic is 'true' and"),
    ({"own": {"b2": {"imq.service.activelist": "jms"}}}, "imq.service.activelist is 'jms,admin'"),
    ({"own": {"b3": {"imq.cluster.masterbroker": "${b2}"}}}, "imq.cluster.masterbroker is 'b1'"),
    ({"model": "enhanced", "options": {"imq.cluster.masterbroker": "${b1}"}}, "there is no master"),
    ({"model": "enhanced", "options": {"imq.cluster.brokerlist": "x"}}, "ignored with a warning"),
    ({"model": "enhanced", "own": {"b1": {"imq.brokerid": "x"}, "b2": {"imq.brokerid": "x"}}},
     "the imq.brokerid 'x' of b1: the second one to start exits immediately (status 1)"),
    ({"model": "none"}, "still has destroyed destinations and misses new ones"),
    ({"start": False, "script": "start_broker broker=b2"}, "before its master broker b1"),
])  # fmt: skip
def test_what_is_accepted_and_does_harm_is_a_problem(more, says):
    found = problems(**more)
    assert len(found) == 1
    assert says in found[0]


@pytest.mark.parametrize("model", ["master", "peer", "enhanced"])
def test_a_sound_cluster_has_no_problem(model):
    assert problems(model=model) == []
    more = {"imq.autocreate.queue.maxNumActiveConsumers": 2}  # these may differ: recorded
    assert problems(model=model, own={"b1": more}) == []


@pytest.mark.parametrize("more", [
    {"model": "peer", "own": {"b3": {"imq.cluster.clusterid": "other"}}},
    {"own": {"b3": {"imq.autocreate.topic": "false"}}},
    {"own": {"b3": {"imq.service.activelist": "jms"}}},
])  # fmt: skip
def test_brokers_that_must_be_alike_and_are_not_refuse_the_link(more):
    found = run("send broker=b1 queue=Q count=3\nopen_consumer consumer=C broker=b3 queue=Q",
                **more)  # fmt: skip
    assert at(found, "b1")["cluster"]["b3"] != "OPERATING"
    assert at(found, "b1")["cluster"]["b2"] == "OPERATING"
    assert holds(found, "b1") == 3


def test_the_later_of_two_brokers_with_one_id_ends():
    found = run("start brokers=[\"b1\"]\nstart_broker broker=b2 id=second", model="enhanced",
                brokers="b1 b2", start=False,
                own={"b1": {"imq.brokerid": "x"}, "b2": {"imq.brokerid": "x"}})  # fmt: skip
    assert result(found, "second") == "ended"
    assert not at(found, "b2")["running"]
