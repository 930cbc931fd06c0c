"""Every figure of the guides: it is there, it runs, and it ends as the real broker does."""

import json
import re
from importlib import resources

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.products.activemq.figures.claims import claims
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.runtime import play
from mqlab.trace.outcome import outcome
from tests.conftest import packed

IDS = [
    *(f"fuse:2.{n}" for n in range(1, 15)), "fuse:2.15a", "fuse:2.15b",
    *(f"fuse:2.{n}" for n in range(16, 23)),
    "amq6:3.1", "amq6:3.2", "amq6:3.3a", "amq6:3.3b", "amq6:3.4",
    "article:conduit", "article:stuck",
]  # fmt: skip
GUIDES = ("fuse", "amq6", "article")
FIGURES = [pytest.param(figure, id=figure.id) for figure in mq.figures() if figure.suggestion]
RAW = [
    pytest.param(item, id=item["id"])
    for guide in GUIDES
    for item in json.loads(
        resources.files("mqlab.products.activemq.figures").joinpath(f"{guide}.json").read_text(encoding="utf-8")
    )["figures"]
]
KEYS = {"id", "title", "question", "section", "scenario", "answer", "real", "suggestion", "expected"}

# figure -> the recording of the same story: names may be the figure's own, the counts are real
RECORDED = {
    "fuse:2.2": "connectors/two_way_each_side",
    "fuse:2.3": "connectors/duplex_each_side",
    "fuse:2.4": "connectors/parallel3_one_consumer",
    "fuse:2.6": "topologies/utility_graph_ttl2",
    "fuse:2.9": "topologies/hub_and_spoke",
    "fuse:2.12": "topologies/complete_graph_queue_ttl1",
    "fuse:2.13": "dynamic_propagation/fig_2_13_backlog",
    "fuse:2.14": "static_propagation/fig_2_14_static_nonpersistent",
    "fuse:2.15a": "static_propagation/fig_2_15a_static_duplex",
    "fuse:2.15b": "static_propagation/fig_2_15b_static_duplex",
    "fuse:2.16": "static_propagation/fig_2_16_self_avoiding",
    "fuse:2.17": "selectors/fig_2_17_selectors_emea_first",
    "fuse:2.18": "routes_and_priority/fig_2_18_decrease_suppress",
    "fuse:2.19": "routes_and_priority/fig_2_19_decrease_suppress",
    "fuse:2.20": "load_balancing/balance_12_conduit_on",
    "fuse:2.21": "load_balancing/balance_12_conduit_off",
    "fuse:2.22": "topologies/concentrator",
    "amq6:3.1": "dynamic_propagation/fig_2_13_backlog",
    "amq6:3.2": "static_propagation/fig_2_14_static_nonpersistent",
    "amq6:3.3a": "static_propagation/fig_2_15a_static_duplex",
    "amq6:3.3b": "static_propagation/fig_2_15b_static_duplex",
    "amq6:3.4": "static_propagation/fig_2_16_self_avoiding",
    "article:conduit": "load_balancing/balance_300_conduit_on",
    "article:stuck": "replay/stuck_messages_failover",
}


def ends(found, keep=lambda name: True):
    """Return received counts by size, and depths by broker, at the end of an outcome."""
    last = list(found["snapshots"].values())[-1]["brokers"]
    depth = {b: sum(q["depth"] for q in v.get("queues", {}).values()) for b, v in last.items()}
    return sorted(got["count"] for got in found["consumers"].values()), depth


def test_every_figure_is_there_once_and_in_order():
    assert [figure.id for figure in mq.figures() if figure.suggestion] == IDS


@pytest.mark.parametrize("figure", FIGURES)
def test_it_ends_as_the_real_broker_does(figure):
    received, depth = mq.run(figure).received(), ends(outcome(mq.run(figure)))[1]
    assert figure.expected
    assert figure.expected.get("received", {}).items() <= received.items()
    assert figure.expected.get("depth", {}).items() <= depth.items()


@pytest.mark.parametrize("figure", FIGURES)
def test_it_agrees_with_the_guide_or_says_why_not(figure):
    said = figure.scenario.about.get("guide_says", {})
    found = claims(said, mq.run(figure))
    assert found or said.get("note")
    assert all(claim.holds for claim in found) or figure.real


@pytest.mark.parametrize(("id", "recording"), RECORDED.items(), ids=RECORDED)
def test_its_numbers_are_those_of_the_recorded_story(id, recording):
    value = packed("activemq")[f"activemq/scenarios/{recording}.json"]
    real = value["observed"]["outcomes"][0]["outcome"]
    received, depth = ends(real)
    expected = mq.figure(id).expected
    assert sorted(expected["received"].values()) == received
    assert sorted(expected["depth"].values()) == sorted(depth.values())
    if expected["depth"].keys() == depth.keys():
        assert expected["depth"] == depth
    if expected["received"].keys() == real["consumers"].keys():
        assert expected["received"] == {name: c["count"] for name, c in real["consumers"].items()}


@pytest.mark.parametrize("item", RAW)
def test_it_speaks_only_of_what_is_in_its_network(item):
    scenario = item["scenario"]
    brokers = {broker["name"] for broker in scenario["brokers"]}
    consumers = {one["name"] for one in scenario["actions"] if one["do"] == "Consumer"}
    labels = {one["label"] for one in scenario["actions"] if one["do"] == "Snapshot"}
    says = scenario["guide_says"]
    shots = says.get("snapshots", {})
    assert set(item) <= KEYS
    assert set(shots) <= labels - {"final"}
    assert set(item["expected"]["received"]) == consumers
    assert set(item["expected"]["depth"]) == brokers
    for numbers in (says, *shots.values()):
        assert set(numbers.get("received", {})) <= consumers
        assert set(numbers.get("depth", {})) <= brokers
    assert {name for pair in says.get("distances", {}) for name in pair.split("-")} <= brokers


@pytest.mark.parametrize("item", RAW)
def test_every_message_of_a_queue_is_received_or_left(item):
    sends = [action for action in item["scenario"]["actions"] if action["do"] == "Producer"]
    if any(action["to"].startswith("topic") for action in sends):
        return  # each subscriber of a topic gets a copy of its own
    ends_at = item["expected"]
    sent = sum(action["sends"] for action in sends)
    assert sent == sum(ends_at["received"].values()) + sum(ends_at["depth"].values())


@pytest.mark.parametrize("item", RAW)
def test_it_can_be_drawn_and_its_producers_have_names(item):
    places = [tuple(broker["at"]) for broker in item["scenario"]["brokers"]]
    assert len(set(places)) == len(places)
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places)
    assert all(one.get("name") for one in item["scenario"]["actions"] if one["do"] == "Producer")


@pytest.mark.parametrize("item", RAW)
def test_the_recordings_it_names_are_there(item):
    names = {path.rpartition("/")[2].removesuffix(".json") for path in packed("activemq")}
    assert set(re.findall(r"\b[a-z]\w*_\w+", item.get("real", ""))) <= names


@pytest.mark.parametrize("figure", FIGURES)
def test_it_is_a_story_a_learner_can_follow(figure):
    assert figure.question.endswith("?")
    assert 60 < len(figure.answer) < 600
    assert figure.suggestion
    actions = lab_file.write(figure.scenario)["actions"]
    assert [action["do"] for action in actions[-2:]] == ["Settle", "Snapshot"]
    assert actions[-1]["label"] == "final"
    assert 2 <= len(re.findall(r"[.?!](?:\s|$)", figure.answer)) <= 4


def test_a_figure_is_a_lab_file():
    scenario = mq.figure("fuse:2.19").scenario
    again = lab_file.read(lab_file.write(scenario))
    assert again == scenario
    assert play(again).digest() == play(scenario).digest()


def test_a_plain_id_is_the_first_part_and_an_unknown_one_is_told():
    assert mq.figure("fuse:2.15").id == "fuse:2.15a"
    with pytest.raises(UnknownName, match=r"did you mean 'fuse:2\.20'"):
        mq.figure("fuse:2.200")


def test_changing_an_option_leaves_the_figure_as_it_was():
    figure = mq.figure("fuse:2.20")
    changed = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    assert mq.run(changed).received() == {"C1": 4, "C2": 4, "C3": 4}
    assert mq.run(figure).received() == {"C1": 6, "C2": 3, "C3": 3}


def test_what_a_caller_does_to_a_figure_stays_with_the_caller():
    figure = mq.figure("fuse:2.20")
    figure.expected["received"]["C1"] = 99
    figure.scenario.about["guide_says"]["received"]["C1"] = 99
    for again in (
        mq.figure("fuse:2.20"),
        next(f for f in mq.figures() if f.id == "fuse:2.20"),
    ):
        assert again.expected["received"]["C1"] == 6
        assert again.scenario.about["guide_says"]["received"]["C1"] == 6
