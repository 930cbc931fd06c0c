"""Every figure of the guides: it is there, it runs, and it ends as the real broker does."""

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.formats import lab
from mqlab.runtime import play
from mqlab.scenarios.guide import claims
from mqlab.trace.outcome import outcome
from tests.conftest import packed

IDS = [
    *(f"fuse:2.{n}" for n in range(1, 15)), "fuse:2.15a", "fuse:2.15b",
    *(f"fuse:2.{n}" for n in range(16, 23)),
    "amq6:3.1", "amq6:3.2", "amq6:3.3a", "amq6:3.3b", "amq6:3.4", "article:conduit", "article:stuck",
]  # fmt: skip
FIGURES = [pytest.param(figure, id=figure.id) for figure in mq.figures()]

# figure -> the recording of the same set-up: networks and actions are its own, the counts must be too
RECORDED = {
    "fuse:2.4": "connectors/parallel3_one_consumer",
    "fuse:2.6": "topologies/utility_graph_ttl2",
    "fuse:2.9": "topologies/hub_and_spoke",
    "fuse:2.12": "topologies/complete_graph_queue_ttl1",
    "fuse:2.15a": "static_propagation/fig_2_15a_static_duplex",
    "fuse:2.15b": "static_propagation/fig_2_15b_static_duplex",
    "fuse:2.16": "static_propagation/fig_2_16_self_avoiding",
    "fuse:2.18": "routes_and_priority/fig_2_18_one_way_decrease",
    "fuse:2.19": "routes_and_priority/fig_2_19_decrease_suppress",
    "fuse:2.20": "load_balancing/balance_12_conduit_on",
    "fuse:2.21": "load_balancing/balance_12_conduit_off",
    "fuse:2.22": "topologies/concentrator",
    "article:conduit": "load_balancing/balance_300_conduit_on",
    "article:stuck": "replay/stuck_messages_failover",
}


def ends(found, keep=lambda name: True):
    """Return received counts by size, and depths by broker, at the end of an outcome."""
    last = list(found["snapshots"].values())[-1]["brokers"]
    depth = {b: sum(q["depth"] for q in v.get("queues", {}).values()) for b, v in last.items()}
    return sorted(got["count"] for got in found["consumers"].values()), depth


def test_every_figure_is_there_once_and_in_order():
    assert [figure.id for figure in mq.figures()] == IDS


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
def test_its_numbers_are_those_of_the_recorded_set_up(id, recording):
    value = packed("activemq")[f"activemq/scenarios/{recording}.json"]
    real = ends(value["observed"]["outcomes"][0]["outcome"])
    ours = ends(outcome(mq.run(id)))
    assert ours[0] == real[0]
    assert sorted(ours[1].values()) == sorted(real[1].values())


@pytest.mark.parametrize("figure", FIGURES)
def test_it_is_a_story_a_learner_can_follow(figure):
    assert figure.question.endswith("?")
    assert 60 < len(figure.answer) < 600
    assert figure.suggestion
    steps = lab.write(figure.scenario)["steps"]
    assert [step["do"] for step in steps[-2:]] == ["settle", "snapshot"]


def test_a_figure_is_a_lab_file():
    scenario = mq.figure("fuse:2.19").scenario
    again = lab.read(lab.write(scenario))
    assert again == scenario
    assert play(again).digest() == play(scenario).digest()


def test_a_plain_id_is_the_first_part_and_an_unknown_one_is_told():
    assert mq.figure("fuse:2.15").id == "fuse:2.15a"
    with pytest.raises(UnknownName, match="did you mean 'fuse:2.20'"):
        mq.figure("fuse:2.200")


def test_changing_an_option_leaves_the_figure_as_it_was():
    figure = mq.figure("fuse:2.20")
    changed = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    assert mq.run(changed).received() == {"C1": 4, "C2": 4, "C3": 4}
    assert mq.run(figure).received() == {"C1": 6, "C2": 3, "C3": 3}
