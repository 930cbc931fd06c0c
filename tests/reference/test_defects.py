"""The faults of the products: each has its evidence, and the command lists them."""

import json

import pytest

from mqlab.errors import UnknownName
from mqlab.reference.defects import defects
from mqlab.reference.rules import find


def test_each_has_a_scenario_a_source_and_how_often_it_was_seen():
    assert all(one.fault and one.scenario and one.seen and one.source for one in defects())
    cited = [one for one in defects() if " rule " in one.source]
    assert len(cited) == 4
    for one in cited:
        assert len(list(find(one.product, one.source.split()[-1]))) == 1


def test_they_are_those_of_a_product():
    assert {one.product for one in defects()} == {"activemq", "artemis", "openmq"}
    assert {one.product for one in defects("openmq")} == {"openmq"}
    with pytest.raises(UnknownName, match="unknown product 'kafka'"):
        defects("kafka")


def test_the_command_lists_them(mqlab):
    shown = mqlab("rules", "--defects")
    assert shown.returncode == 0
    assert "Consumer not found" in shown.stdout
    lines = mqlab("rules", "artemis", "--defects", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [one.value() for one in defects("artemis")]
