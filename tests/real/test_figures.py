"""Figures of Artemis and of Open Message Queue on the real products: as mqlab says, by the command."""

import json

import pytest


@pytest.mark.sample(2)
@pytest.mark.parametrize("figure", ["artemis:21.1", "artemis:21.4"])
def test_a_figure_of_artemis_is_on_real_brokers_what_the_lab_says(artemis_console, mqlab, figure):
    agrees(mqlab("real", figure, "--json", "--limit", "300", ARTEMIS_HOME=str(artemis_console)))


@pytest.mark.sample(2)
@pytest.mark.parametrize("figure", ["openmq:4-1", "openmq:4-2"])
def test_a_figure_of_openmq_is_on_real_brokers_what_the_lab_says(openmq_home, mqlab, figure):
    agrees(mqlab("real", figure, "--json", "--limit", "300", IMQ_HOME=str(openmq_home)))


def agrees(done):
    """Hold a comparison's answer against what it promises."""
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert (found["differs"], found["real"]["consumers"] or found["real"]["snapshots"]) != ([], {})
