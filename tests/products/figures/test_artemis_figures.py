"""The figures of Artemis end as they say, in the library and on the command line."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.products import outcome_of as outcome
from mqlab.products.artemis.files import lab_file
from tests.conftest import inflated, packed

FIGURES = {figure.id: figure for figure in mq.figures("artemis")}


def test_there_are_all_figures_lists_and_samples_of_the_chapter():
    wanted = ["21.1", "21.1.1", "21.1.2", "21.1.2-duplicates", "21.1.3", "21.3", "21.3.1", "21.3.2",
              "21.3.2-without", "21.4", "21.4.1", "21.4.1-none", "21.4.2", "21.4.3", "21.4.3-alone",
              "21.4.4", "21.4.4-shared"]  # fmt: skip
    assert list(FIGURES) == [f"artemis:{id}" for id in wanted]
    assert [figure.id for figure in mq.figures("artemis")] == list(FIGURES)
    with pytest.raises(UnknownName, match=r"artemis:21\.1"):
        mq.figure("artemis:21.2")


def port(row):
    """Return the port that a hosted backup has, or would have: of its own connector."""
    ports = [text.rpartition(" ")[2] for text in row["acceptors"]]
    return int(ports[0]) if ports else None


def in_sync(figure, final):
    """Return group -> slaves of it that have a copy of a master of the same group."""
    groups = {server.name: server.element("group_name") for server in figure.scenario.network.brokers}
    found = Counter(groups[name] for name, state in final.items()
                    if state["role"] == "backup_in_sync" and groups[state["pair"]] == groups[name])  # fmt: skip
    return dict(found)


def ends(figure, trace):
    """Return what came of a run, by the keys of `expected`."""
    found = outcome(trace)
    assert "final" in found["snapshots"], f"the script of {figure.id} does not end with a Snapshot 'final'"
    final = found["snapshots"]["final"]["brokers"]
    hosted = {name: state["hosts"] for name, state in final.items() if "hosts" in state}
    queues = {name: state["queues"]["orders"] for name, state in final.items() if "queues" in state}
    dead = {name for name, state in final.items() if state["role"] == "down"}
    return {
        "roles": {name: state["role"] for name, state in final.items()},
        "roles_at": {label: {name: state["role"] for name, state in shot["brokers"].items()}
                     for label, shot in found["snapshots"].items()},
        "count": dict(Counter(state["role"] for state in final.values())),
        "in_sync": in_sync(figure, final) if "in_sync" in figure.expected else {},
        "received": trace.received(), "redelivered": trace.redelivered(),
        "order": {name: got["received"] for name, got in found["consumers"].items()},
        "twice": found["received_more_than_once"],
        "waiting": {name: queue["depth"] for name, queue in queues.items()},
        "stored": {name: sum(map(len, of.values())) for name, of in trace.waiting().items()
                   if name in dead},
        "hosted": {name: {who: [row["role"], row.get("pair"), port(row)]
                          for who, row in rows.items()} for name, rows in hosted.items()},
        "connectors": {text: any(text in row["connectors"] for rows in hosted.values()
                                 for row in rows.values())
                       for text in figure.expected.get("connectors", ())},
        "lost": len(trace.lost()), "problems": sorted({p.rule for p in mq.check(figure)}),
    }  # fmt: skip


def mismatches(figure, trace):
    """Return the keys of a figure's `expected` that a run does not meet."""
    real, wrong = ends(figure, trace), []
    for key, said in figure.expected.items():
        got = real[key]
        if key in ("roles", "roles_at") and isinstance(said, dict):  # those that are named
            got = only(said, got)
        if got != said:
            print(f"{figure.id}: {key}: expected says {said}, the run ends with {got}")
            wrong.append(key)
    return wrong


def only(said, got):
    return {key: only(value, got[key]) if isinstance(value, dict) else got[key]
            for key, value in said.items() if key in got}  # fmt: skip


@pytest.mark.parametrize("id", FIGURES)
@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_a_figure_ends_as_it_says(id, seed):
    assert mismatches(FIGURES[id], mq.run(id, seed=seed)) == []


OTHER = [(id, key) for id, figure in FIGURES.items() for key in figure.expected]


def spoilt(value):
    """Return another value of the same form."""
    if isinstance(value, dict) and value:
        key = next(iter(value))
        return {**value, key: spoilt(value[key])}
    if isinstance(value, list):
        return [*value, "more"]
    return {"more": 1} if isinstance(value, dict) else f"not {value}"


@pytest.mark.parametrize(("id", "key"), OTHER)
def test_the_comparison_would_see_another_end(id, key):
    figure = FIGURES[id]
    expected = {**figure.expected, key: spoilt(figure.expected[key])}
    fields = {name: getattr(figure, name) for name in figure.__slots__}
    assert mismatches(type(figure)(**fields | {"expected": expected}), mq.run(id)) == [key]


@pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)
def test_a_figure_is_told_whole_and_can_be_written_down(figure):
    for name in ("title", "question", "section", "answer", "real"):
        assert len(getattr(figure, name)) > 10, f"{figure.id}: write its {name}, or more of it"
    assert figure.question.endswith("?")
    scenario = figure.scenario
    assert lab_file.read(json.loads(json.dumps(lab_file.write(scenario)))) == scenario


@pytest.mark.parametrize(("id", "recording", "broker"), [
    ("21.3", "colocated/two_hosted_offset_100", "A"), ("21.3.2", "colocated/excluded_connector", "A"),
    ("21.3.2-without", "colocated/no_excludes", "A"),
])  # fmt: skip
def test_hosted_backups_are_as_real_brokers_had_them(id, recording, broker):
    real = packed("artemis")[f"artemis/{recording}.json"]["observed"]["outcomes"][0]["outcome"]
    shot = list(real["snapshots"].values())[-1]["brokers"][broker]["hosts"]
    found = ends(FIGURES[f"artemis:{id}"], mq.run(f"artemis:{id}"))["hosted"][broker]
    assert {name: row["role"] for name, row in shot.items()} == {n: r[0] for n, r in found.items()}


def test_the_guides_order_is_that_of_real_brokers():
    real = packed("artemis")["artemis/scale_down/guide_example.json"]["observed"]["outcomes"]
    order = FIGURES["artemis:21.4"].expected["order"]["C"]
    assert [entry["outcome"]["consumers"]["C1"]["received"] for entry in real] == [order]


def test_the_command_line_lists_runs_checks_explains_and_draws_a_figure(mqlab, tmp_path):
    listed = mqlab("figures", "artemis")
    assert all(re.search(rf"{re.escape(id)}\s", listed.stdout) for id in FIGURES)
    ran = mqlab("run", "artemis:21.1", "--html", "page.html", "--trace", "out.parquet")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"C\W+10\b", ran.stdout)
    assert "The real broker: A slave that cannot reach its master" in ran.stdout
    page = (tmp_path / "page.html").read_text()
    assert "M1-S1" in inflated(page)
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert (tmp_path / "out.parquet").exists()
    told = mqlab("run", "artemis:21.4", "--json")
    assert json.loads(told.stdout)["outcome"]["consumers"]["C"]["count"] == 10
    warned = mqlab("check", "artemis:21.1")
    assert (warned.returncode, "split" in warned.stdout or "vote" in warned.stdout) == (0, True)
    assert mqlab("check", "artemis:21.1.2-duplicates").returncode == 1
    why = mqlab("explain", "artemis:21.1", "--message", "11")
    assert "held in memory only" in why.stdout


def test_a_recording_is_a_lab_file_too(mqlab, tmp_path):
    file = tmp_path / "kill.json"
    file.write_text(json.dumps(packed("artemis")["artemis/replication_failover/kill_persistent.json"]))
    assert "1 agree" in mqlab("conform", file).stdout
    ran = mqlab("run", file, "--json")
    assert json.loads(ran.stdout)["outcome"]["consumers"]["C1"]["received"] == [*range(1, 11)]
    assert "recovered it from the store" in mqlab("explain", file, "--message", "3").stdout
    file.write_text(json.dumps({"product": "artemis", "brokers": [{"name": "A", "ha": {
        "policy": "replication", "role": "mastr"}}], "queues": [], "steps": []}))  # fmt: skip
    refused = mqlab("run", file)
    assert refused.returncode != 0
    assert "master" in refused.stderr + refused.stdout
    assert "Traceback" not in refused.stderr
