"""The figures with time end as they say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.products.activemq.files import lab_file as lab_files
from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import play
from mqlab.trace.kinds import Kind
from tests.products.activemq.safety import UNSAFE, not_received, shortest, unsafe
from tests.products.activemq.timed import gaps, path

FIGURES = {
    figure.id: figure for guide in ("fuse", "unsafe") for figure in mq.figures(guide) if not figure.suggestion
}
GUIDE = [id for id in FIGURES if id.startswith("fuse:")]
LOSING = [id for id in FIGURES if id.startswith("unsafe:")]


def final(found):
    return found["snapshots"].get("final", {"brokers": {}, "clients": {}})


@pytest.mark.parametrize("id", GUIDE)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_figure_of_the_guide_ends_as_it_says(id, seed):
    figure = FIGURES[id]
    found = outcome(play(figure.scenario, seed=seed, limit=100_000))
    said = figure.expected
    shot = final(found)
    for name, role in said.get("roles", {}).items():
        assert shot["brokers"][name]["role"] == role, name
    for name, depth in said.get("depth", {}).items():
        assert shot["brokers"][name]["queues"]["TEST.FOO"] == depth
    for name, count in said.get("received", {}).items():
        assert found["consumers"][name]["count"] == count
    for name, target in said.get("connected", {}).items():
        assert shot["clients"][name]["connected_to"] == target
    for name, brokers in said.get("told", {}).items():
        assert shot["clients"][name]["told"] == brokers
    for name, waits in said.get("gaps", {}).items():
        assert gaps(found, name)[: len(waits)] == waits
    for name, way in said.get("path", {}).items():
        assert path(found, name) == way


def test_there_are_all_figures_and_examples():
    wanted = [f"fuse:4.{no}" for no in range(1, 11)]
    wanted += [f"fuse:example-1.{no}" for no in range(1, 5)]
    wanted += [f"fuse:example-4.{no}" for no in range(1, 9)]
    assert set(wanted) <= set(FIGURES)
    with pytest.raises(UnknownName, match=r"fuse:4\.1"):
        mq.figure("fuse:4.11")


@pytest.mark.parametrize("id", LOSING)
def test_a_stored_counterexample_loses_what_was_acknowledged(id):
    played = play(FIGURES[id].scenario, limit=100_000)
    assert not_received(outcome(played))


@pytest.mark.parametrize("name", UNSAFE)
def test_the_stored_counterexample_is_the_shortest(name):
    stored = FIGURES["unsafe:" + name.replace(", ", "-").replace(" ", "-")]
    found = timed_recordings.read({**unsafe(name, shortest(name))})
    patience = {"max_ms": 20_000}  # the recorder's own, of which figures say nothing
    said = tuple(
        replace(one, options={}) if getattr(one, "options", {}) == patience else one for one in found.actions
    )
    assert said == stored.scenario.actions


@pytest.mark.parametrize("id", FIGURES)
def test_a_figure_can_be_written_down_and_read_again(id):
    scenario = FIGURES[id].scenario
    assert lab_files.read(json.loads(json.dumps(lab_files.write(scenario)))) == scenario


def test_times_of_steps_survive_too():
    assert any(action.at for action in mq.figure(LOSING[0]).scenario.actions)
    assert mq.Crash("A", at=5) != mq.Crash("A")


def test_random_faults_are_drawn_by_a_verb():
    steady = mq.figure("fuse:4.4").scenario
    troubled = mq.faults("fuse:4.4", seed=3, rate=0.5, length="20s")
    more = troubled.actions[len(steady.actions) :]
    assert more
    assert all(action.at is not None and action.at < 25_000 for action in more)
    assert troubled == mq.faults("fuse:4.4", seed=3, rate=0.5, length=20_000)
    assert troubled != mq.faults("fuse:4.4", seed=4, rate=0.5, length="20s")
    crashes = [e for e in mq.run(troubled).events() if e.kind in (Kind.Crashed, Kind.Suspended)]
    assert len(crashes) > 1  # one is the figure's own
    anywhere = mq.faults("fuse:2.20", seed=1, rate=1)
    assert len(anywhere.actions) > len(mq.figure("fuse:2.20").scenario.actions)
    with pytest.raises(BadValue, match=r"fuse:4\.4"):
        mq.faults("openmq:4-1", seed=1, rate=1)
    with pytest.raises(BadValue, match="rate is -1"):
        mq.faults("fuse:4.4", seed=1, rate=-1)
