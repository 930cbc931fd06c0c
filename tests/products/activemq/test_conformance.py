"""The runtime against recordings of a real ActiveMQ 5.17.2: the judge of all of it."""

import copy
import json
import tarfile

import pytest

from mqlab.conform import at_rest as recording
from mqlab.errors import CannotRun
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.runtime import LOOPBACK, play
from mqlab.trace.outcome import outcome
from tests.conftest import HERE, SHARED, missing, packed, recorded

# Files marked `none` in which it matters how long things take beside one another: how far a burst got
# before a consumer left, and how often a bridge with prefetch 1 had an answer before the client's next
# message. They lie within what was seen when things take as long as on the recording machine; with the
# usual timing a burst takes no time, and every passage the same millisecond.
RACES = {
    "fig_2_19_consumer_leaves_decrease",
    "fig_2_19_consumer_leaves_decrease_suppress",
    "fig_2_19_consumer_leaves_plain",
    "network_prefetch_1_persistent",
}


@pytest.mark.parametrize("value", recorded("activemq", lambda path: True))
def test_the_lab_does_what_the_real_broker_did(value):
    found = outcome(play(lab_file.read(value)))
    differences = recording.differences(found, value["observed"])
    if value["scenario"]["name"] in RACES:
        assert value["observed"]["deterministic"] == "none"
        assert differences, "it agrees now: take it off the list"
    else:
        assert differences == []


@pytest.mark.parametrize("value", recorded("activemq", lambda path: True))
def test_with_the_timing_of_the_recording_machine_every_recording_agrees(value):
    found = outcome(play(lab_file.read(value), timing=LOOPBACK))
    assert recording.differences(found, value["observed"]) == []


def test_a_trace_tells_by_which_timing_it_was_made():
    scenario = lab_file.read(some_recording())
    assert "timing" not in play(scenario).header
    assert play(scenario, timing=LOOPBACK).header["timing"]["link"] == LOOPBACK.link


def test_the_packed_recordings_are_the_shared_ones():
    source = SHARED / "conformance" / "activemq"
    if not source.exists():
        missing("../shared/conformance is not beside this checkout")
    files = {str(f.relative_to(source.parent)): f for f in source.rglob("*.json")}
    with tarfile.open(HERE / "recordings" / "activemq.tar.xz") as tar:
        names = {m.name for m in tar if m.name.endswith(".json")}
    assert names == set(files)
    assert all(packed("activemq")[name] == json.loads(f.read_text()) for name, f in files.items())


def some_recording():
    return packed("activemq")["activemq/scenarios/load_balancing/balance_12_conduit_on.json"]


@pytest.mark.parametrize("spoil", [
    pytest.param(lambda o: o["consumers"]["C1"]["received"].reverse(), id="order"),
    pytest.param(lambda o: o["consumers"]["C2"]["paths"][0]["path"].append("C"), id="path"),
    pytest.param(lambda o: o["snapshots"]["final"]["brokers"]["A"]["queues"]["TEST.FOO"].update(
        forwarded=5), id="counter"),
    pytest.param(lambda o: o["snapshots"]["final"]["brokers"]["A"]["subscriptions"][0].update(
        priority=1), id="subscription"),
    pytest.param(lambda o: o["problems"].append("x"), id="problem"),
])  # fmt: skip
def test_an_exact_comparison_sees_every_difference(spoil):
    value = copy.deepcopy(some_recording())
    found = outcome(play(lab_file.read(value)))
    spoil(value["observed"]["outcomes"][0]["outcome"])
    assert recording.differences(found, value["observed"])


def test_counts_do_not_look_at_message_numbers_but_at_how_many():
    value = copy.deepcopy(some_recording())
    value["observed"]["deterministic"] = "counts"
    real = value["observed"]["outcomes"][0]["outcome"]
    real["consumers"]["C1"]["received"].reverse()
    found = outcome(play(lab_file.read(value)))
    assert recording.differences(found, value["observed"]) == []
    real["consumers"]["C1"]["received"].append(99)
    assert recording.differences(found, value["observed"])


def test_a_feature_that_is_not_there_is_named(tmp_path, monkeypatch):
    from mqlab import conform

    def refuse(*_):
        raise CannotRun("masterslave addresses")

    monkeypatch.setattr(conform, "played", refuse)
    file = tmp_path / "x.json"
    file.write_text(json.dumps(some_recording()))
    verdict = conform.judge(file)
    assert (verdict.result, verdict.details) == ("cannot run", ("masterslave addresses",))
