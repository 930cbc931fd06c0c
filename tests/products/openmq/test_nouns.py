"""What happens to a cluster, written with nouns: the same as the recordings' steps, both ways."""

from __future__ import annotations

import json

import pytest

from mqlab.api import openmq
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.products import play
from mqlab.products.openmq.files import lab_file as files
from mqlab.products.openmq.files.python import python
from mqlab.products.openmq.lab import ClusterLab
from mqlab.products.openmq.script import actions
from mqlab.products.unsupported_steps import steps
from mqlab.spec import Scenario
from mqlab.spec.openmq.options import OPTIONS
from mqlab.spec.openmq.words import ROWS, STEPS
from tests.products.scenarios import of_figures, of_recordings

FIGURES, RECORDINGS = of_figures("openmq"), of_recordings("openmq")
Q = openmq.Queue("Q")


def executed(code):
    names = {}
    exec(code, names)  # what `python` prints is to be run by its reader
    return names["scenario"]


@pytest.mark.parametrize("scenario", [*FIGURES, *RECORDINGS])
def test_what_is_printed_with_nouns_runs_as_the_steps_do(scenario):
    code = python(scenario)
    again = executed(code)
    assert play(again).digest() == play(scenario).digest()
    assert python(again) == code
    assert again.actions == scenario.actions
    assert files.read(json.loads(json.dumps(files.write(again)))).actions == again.actions


@pytest.mark.complete
def test_every_step_is_a_noun_and_every_noun_of_the_door_is_a_step():
    assert {row.step for row in ROWS} == set(STEPS)
    assert {row.noun.__name__ for row in ROWS} <= set(openmq.__all__)
    assert {row.noun for row in ROWS} == set(actions.DO)


def test_a_cluster_is_written_with_the_words_that_all_products_share():
    net = openmq.Network("b1", "b2", openmq.Broker("b3", autocreate_queue=False),
                         model="peer", autocreate_reaptime=60)  # fmt: skip
    lab = ClusterLab(Scenario(net))
    lab.do(openmq.Start())
    lab.rest()
    lab.do(
        openmq.Consumer("desk", on="b2", reads=Q, selector="n > 2", delay="5ms",
                        options={"flow_limit": 10}),
        openmq.Producer("till", on="b1", sends=4, to=Q, properties={"n": [1, 2, 3, 4]}),
        openmq.Crash("b3", at="9s"),
        openmq.Restart("b3", at="12s"),
    )  # fmt: skip
    lab.until("10s")
    assert lab.roles["b3"] == "down"
    lab.rest()
    assert lab.trace.received() == {"desk": 2}
    assert "till" in lab.trace.names["node"]
    assert lab.brokers["b1"].option("imq.autocreate.reaptime") == 60


def test_a_cut_with_one_name_cuts_all_lines_of_that_broker():
    net = openmq.Network("b1", "b2", "b3")
    found = net.with_actions(openmq.Cut("b2", how="hang"), openmq.Heal("b2", "b1"))
    assert [[cut.one, cut.other] for cut in found.script] == [
        ["b2", "b1"], ["b2", "b3"], ["b2", "b1"]]  # fmt: skip


def test_a_transaction_is_a_producers_or_a_consumers():
    net = openmq.Network("b1").with_actions(
        openmq.Start(),
        openmq.OpenProducer("P", "b1", Q, options={"ack_mode": "transacted"}),
        openmq.Consumer("C", "b1", Q, ack_mode="transacted"),
        openmq.Send("P", 2),
        openmq.Call(openmq.Commit("P"), "sent"),
        openmq.Call(openmq.Commit("C"), "taken", limit="2s"),
    )
    assert steps(net)[-2:] == [
        {"do": "commit", "producer": "P", "id": "sent"},
        {"do": "commit", "consumer": "C", "id": "taken", "limit_ms": 2000}]  # fmt: skip
    assert {row["id"]: row["result"] for row in play(net).header["operations"] if "id" in row} == {
        "sent": "ok", "taken": "ok"}  # fmt: skip


@pytest.mark.parametrize(("action", "says"), [
    (openmq.Consumer("C", "b9", Q), "unknown broker 'b9'"),
    (openmq.Consumer("C", "b1", Q, prefetch=3), "OpenMQ knows no prefetch"),
    (openmq.Consumer("C", "b1", Q, options={"flowlimit": 3}), "did you mean 'flow_limit'"),
    (openmq.Cut("b1", "b2"), "supports only silent cuts"),
    (openmq.Cut("b1", "b7", how="hang"), "unknown broker 'b7'"),
    (openmq.DatabaseDown("hang"), "OpenMQ knows no how"),
    (openmq.Close("C"), "unknown consumer 'C'"),
    (openmq.CreateDestination(Q, "b1", options={"max_num_msgs": -2}), "too low"),
    (openmq.UpdateDestination(Q, "b1", options={"limit_behavior": "BLOCK"}), "unknown choice"),
    (openmq.Crash("b1", at="1s"), "is in the past"),
    (openmq.StartBroker("b1", options={"autocreate_queue": "maybe"}), "neither true nor false"),
    (openmq.Xa("explode", "x", on="b1"), "unknown action"),
    (openmq.Xa("stop", "x", on="b1"), "unknown action 'stop'"),
    (openmq.Xa("commit", "x", who="b1"), "unknown consumer 'b1'"),
    (openmq.Commit("b1"), "unknown consumer 'b1'"),
    (openmq.Recover("P"), "unknown consumer 'P'"),
])  # fmt: skip
def test_what_cannot_be_asked_for_is_refused_with_a_remedy_and_changes_nothing(action, says):
    lab = ClusterLab(openmq.Network("b1", "b2").with_actions(openmq.Start()))
    lab.rest()
    before = lab.trace
    with pytest.raises(MqlabError, match=says):
        lab.do(action)
    lab.rest()
    assert lab.trace.digest() == before.digest()
    assert lab.trace.header == before.header


def test_an_action_of_another_product_is_refused():
    from mqlab.spec.action import StartConnector

    with pytest.raises(BadValue, match="StartConnector: OpenMQ does not know this action"):
        openmq.Network("b1").with_actions(StartConnector("link"))
    with pytest.raises(UnknownName, match="did you mean 'cluster_monitor_interval'"):
        openmq.Network("b1", cluster_monitor_intervall=3)


@pytest.mark.parametrize("element", OPTIONS)
def test_every_option_is_a_whole_row(element):
    for row in OPTIONS[element].values():
        assert row.sentence.endswith(".")
        assert row.source
        assert row.default is None or row.read(row.default, "default") == row.default
    assert len({row.name for row in OPTIONS[element].values()}) == len(OPTIONS[element])
