"""Every picture keeps its rules, on stages of three sizes, watching and building."""

import json
from collections import Counter

import pytest

import mqlab as mq
from mqlab import products
from mqlab.spec import topology
from mqlab.views.boxes import Box
from mqlab.views.scene import scene
from mqlab.workbench import starting_points
from tests.plan import today
from tests.real.differential.__main__ import drawn
from tests.views.picture_rules import RULES, STAGES, broken, count, painted

NEVER = ("overlap", "outside", "line through a card", "line through a name", "name far from its line")
# What is left of the others, each a defect to be mended: no more of them than this in all figures together, and
# before the layout was measured 89, 123, 28 and 28.
LEFT = {"short connector": 4, "connector without a name": 26, "name cut": 0, "stage not filled": 2}
# Up to so many brokers every connector of every topology is long enough, too. Of more there is no room on the
# smallest stage: a mesh of 60 has eight rows there, on 290 px. Two in a complete graph of 11 show 37 px:
# on the next smaller cards nobody could read what a broker is.
ROOM_FOR, SHORTER = 30, ("complete graph", 11)
FAMILIES, SEED, EACH = ("openmq", "artemis", "failover", "faults", "networks"), 34, 60


@pytest.fixture(scope="module")
def scenes():
    """The scenes of the figures of the day; of all with --all."""
    figures = today(products.figures(), 12)
    return {figure.id: scene(products.play(figure.scenario)) for figure in figures}


@pytest.mark.slow
def test_no_figure_breaks_a_rule_that_all_keep(scenes):
    found = {(id, rule): what for id, one in scenes.items() for stage in STAGES for build in (False, True)
             for rule, what in broken(one, stage, build) if rule in NEVER}  # fmt: skip
    assert found == {}


@pytest.mark.slow
def test_what_is_left_of_broken_rules_gets_no_more(scenes):
    found = sum((count(one) for one in scenes.values()), Counter())
    assert set(found) <= set(RULES)
    assert {rule: found[rule] for rule, most in LEFT.items() if found[rule] > most} == {}


@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_topologies_keep_the_rules(shape):
    for size in today(range(2, 61), 25):
        found = count(scene(products.play(starting_points.topology(shape, size, 4))))
        kept = (*NEVER, "short connector") if size <= ROOM_FOR and (shape, size) != SHORTER else NEVER
        assert {rule: found[rule] for rule in kept if found[rule]} == {}, size


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_random_networks_keep_the_rules(family):
    """Three hundred of all products, with faults, clients and stores; some of them each day."""
    for number in today(range(1, EACH + 1), 30):
        one = scene(mq.run(drawn(family, SEED, number, 1).popitem()[1]))
        found = count(one)
        assert {rule: found[rule] for rule in NEVER if found[rule]} == {}, number


def test_a_picture_that_breaks_the_rules_is_found_out():
    one = scene(products.play(products.figure("fuse:2.3").scenario))
    plan = painted(one, STAGES[1]).plan
    texts = one.columns["plans"]["text"]
    brokers = plan["brokers"]
    brokers["x"][1] = brokers["x"][0] + 40
    brokers["y"][1] = brokers["y"][0]
    plan["labels"]["y"] = [y + 90 for y in plan["labels"]["y"]]
    plan["links"]["x1"] = [x + 10 for x in plan["links"]["x0"]]
    texts[:] = [json.dumps(plan)]
    rules = {rule for rule, _ in broken(one, STAGES[1])}
    assert {"overlap", "short connector", "name far from its line"} <= rules
    assert painted(one, STAGES[1]).frame.meets(Box(0, 0, 5000, 5000))
