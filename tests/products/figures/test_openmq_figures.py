"""The figures of OpenMQ clusters end as they say, in the library and on the command line."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.products import outcome_of as outcome
from mqlab.products.openmq.files import lab_file
from mqlab.trace.kinds import Kind
from tests.conftest import inflated, packed
from tests.products.openmq.cluster import known

FIGURES = {figure.id: figure for figure in mq.figures("openmq")}
KEYS = {"received", "redelivered", "results", "known", "crossed", "so_far", "order", "owners",
        "lost"}  # fmt: skip


def test_there_are_all_figures_of_the_chapter():
    wanted = ["openmq:4-1", "openmq:4-2", "openmq:4-3", "openmq:4-4", "openmq:4-5a", "openmq:4-5b"]
    assert list(FIGURES) == wanted
    assert [figure.id for figure in mq.figures("openmq")] == wanted
    assert mq.figure("openmq:4-5").id == "openmq:4-5a"
    with pytest.raises(UnknownName, match="openmq:4-1"):
        mq.figure("openmq:4-9")


def mismatches(figure, trace):
    """Return the keys of a figure's `expected` that a run does not meet."""
    found, said = outcome(trace), figure.expected
    results = {row["id"]: row["result"] for row in found["operations"] if "id" in row}
    assert "final" in found["snapshots"], f"the script of {figure.id} does not end with a Snapshot 'final'"
    final = found["snapshots"]["final"]["brokers"]
    owners = {state["cluster"]["b1"] for state in final.values() if "cluster" in state
              and "b1" in state["cluster"]}  # fmt: skip
    links = Counter(e.link for e in trace.events() if e.kind == Kind.Forwarded)
    real = {
        "received": {name: trace.received()[name] for name in said.get("received", {})},
        "redelivered": trace.redelivered(), "results": results, "crossed": dict(links),
        "known": {dest: known(found, dest, "final") for dest in said.get("known", {})},
        "so_far": {label: {name: found["snapshots"][label]["received_so_far"][name]
                           for name in counts} for label, counts in said.get("so_far", {}).items()},
        "owners": len(owners), "lost": len(trace.lost()),
    }  # fmt: skip
    wrong = [key for key in said if key != "order" and real[key] != said[key]]
    for key in wrong:
        print(f"{figure.id}: {key}: expected says {said[key]}, the run ends with {real[key]}")
    for name, (first, last, then, end) in said.get("order", {}).items():
        numbers = [*range(first, last + 1), *range(then, end + 1)]
        if found["consumers"][name]["received"] != numbers:
            wrong.append("order")
    return wrong


@pytest.mark.parametrize("id", FIGURES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_figure_ends_as_it_says(id, seed):
    figure = FIGURES[id]
    assert set(figure.expected) <= KEYS
    assert mismatches(figure, mq.run(id, seed=seed)) == []


@pytest.mark.parametrize(("id", "key", "value"), [
    ("openmq:4-1", "crossed", {"b1-b3": 6}), ("openmq:4-1", "lost", 1),
    ("openmq:4-2", "results", {}), ("openmq:4-2", "known", {"queue://NEW": ["b2"]}),
    ("openmq:4-4", "owners", 2), ("openmq:4-4", "received", {"C3": 9}),
    ("openmq:4-5a", "order", {"C2": [1, 10, 11, 15]}),
    ("openmq:4-5a", "so_far", {"without_b1": {"C2": 15}}),
])  # fmt: skip
def test_the_comparison_would_see_another_end(id, key, value):
    figure = FIGURES[id]
    figure = type(figure)(
        **{name: getattr(figure, name) for name in figure.__slots__}
        | {"expected": {**figure.expected, key: value}}
    )
    assert mismatches(figure, mq.run(id)) == [key]


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_is_told_whole_and_can_be_written_down(figure):
    for name in ("title", "question", "section", "answer", "real"):
        assert len(getattr(figure, name)) > 10, f"{figure.id}: write its {name}, or more of it"
    assert figure.question.endswith("?")
    scenario = figure.scenario
    assert lab_file.read(json.loads(json.dumps(lab_file.write(scenario)))) == scenario
    assert mq.check(figure) == []


@pytest.mark.parametrize(("id", "recording"), [
    ("openmq:4-5a", "table/availability_master"), ("openmq:4-5b", "table/availability_enhanced"),
])  # fmt: skip
def test_the_compared_models_end_as_real_brokers_did(id, recording):
    real = packed("openmq")[f"openmq/{recording}.json"]["observed"]["outcomes"]
    found = mq.run(id).received()
    assert {entry["outcome"]["consumers"]["C2"]["count"] for entry in real} == {found["C2"]}


def test_the_command_line_lists_runs_checks_and_draws_a_figure(mqlab, tmp_path):
    listed = mqlab("figures", "openmq")
    assert all(id in listed.stdout for id in FIGURES)
    ran = mqlab("run", "openmq:4-1", "--html", "page.html", "--trace", "out.parquet")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"C3\W+9\b", ran.stdout)
    assert "The real broker: As the guide says." in ran.stdout
    page = (tmp_path / "page.html").read_text()
    assert "b1-b3" in inflated(page)
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert (tmp_path / "out.parquet").exists()
    checked = mqlab("check", "openmq:4-1")
    assert (checked.returncode, "no problem found" in checked.stdout) == (0, True)


def test_a_recording_is_a_lab_file_too(mqlab, tmp_path):
    file = tmp_path / "takeover.json"
    file.write_text(json.dumps(packed("openmq")["openmq/enhanced/takeover.json"]))
    assert "1 agree" in mqlab("conform", file).stdout
    ran = mqlab("run", file, "--json")
    assert json.loads(ran.stdout)["outcome"]["consumers"]["C1"]["received"] == [*range(1, 11)]
    told = mqlab("explain", file, "--message", "3")
    assert "recovered it from the store" in told.stdout
    edited = json.loads(file.read_text())["scenario"]
    edited["brokers"][2] = {"name": "b3", "options": {"imq.cluster.clusterid": "other"}}
    file.write_text(json.dumps(edited))
    assert mqlab("check", file).returncode == 1
