"""A sweep on this machine: every combination with every seed, a row each, whoever played it."""

import subprocess
import sys

import pytest
from bokeh.models import ColumnDataSource

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments.plan import planned
from mqlab.views import charts
from tests.conftest import ROOT

CONDUIT, PREFETCH = "A/linkToBrokerB.conduit_subscriptions", "A/linkToBrokerB.prefetch_size"
OVER = {CONDUIT: [True, False], PREFETCH: [1, 1000]}


def test_every_combination_is_played_with_every_seed():
    runs = mq.sweep("fuse:2.20", over=OVER, seeds=3, processes=1)
    assert [(row["options"][CONDUIT], row["options"][PREFETCH], row["seed"]) for row in runs.rows] == [
        (conduit, prefetch, seed) for conduit in (True, False) for prefetch in (1, 1000) for seed in range(3)
    ]
    for row in runs.rows:
        changed = mq.figure("fuse:2.20").change(
            "A/linkToBrokerB", conduit_subscriptions=row["options"][CONDUIT],
            prefetch_size=row["options"][PREFETCH])  # fmt: skip
        trace = mq.run(changed, seed=row["seed"])
        assert (row["digest"], row["received"]) == (trace.digest(), trace.received())


@pytest.mark.slow
def test_processes_give_the_same_rows():
    alone = mq.sweep("fuse:2.20", over=OVER, seeds=[3, 8, 11], jitter="2ms", processes=1)
    assert mq.sweep("fuse:2.20", over=OVER, seeds=[3, 8, 11], jitter="2ms", processes=2).rows == alone.rows


def test_it_prints_a_line_for_each_combination_and_goes_on_to_pandas():
    runs = mq.sweep("fuse:2.20", over={CONDUIT: [True, False]}, seeds=2, processes=1)
    lines = str(runs).splitlines()
    assert lines[0].split()[:3] == ["options", "runs", "outcomes"]
    assert lines[1].startswith("conduit_subscriptions=True")
    assert "C1 6, C2 3, C3 3" in lines[1]
    assert "<table>" in runs._repr_html_()
    frame = runs.to_pandas()
    assert frame.groupby(CONDUIT)["received C1"].first().to_dict() == {True: 6, False: 4}
    assert len(frame) == len(runs) == 4


def test_a_combination_that_no_broker_takes_is_a_row_that_says_so():
    runs = mq.sweep("fuse:2.20", over={PREFETCH: [1, 0]}, edition="5.17", processes=1)
    assert [row["status"] for row in runs.rows] == ["done", "failed"]
    assert "prefetch" in runs.failed[0]["error"]
    assert "failed" in str(runs)


@pytest.mark.parametrize(("over", "seeds", "error"), [
    ({"A/linkToBrokerB.conduit": [True]}, 1, UnknownName), ({CONDUIT: []}, 1, BadValue),
    ({CONDUIT: "yes"}, 1, BadValue), ({}, 0, BadValue),
])  # fmt: skip
def test_wrong_options_are_told_before_anything_is_played(over, seeds, error):
    with pytest.raises(error):
        mq.sweep("fuse:2.20", over=over, seeds=seeds)


def test_a_chart_has_the_least_the_greatest_and_the_mean():
    found = charts.spans({"a": {"C1": [1, 4, 4]}, "b": {"C1": [2], "C2": [5]}})
    data = {one.name: one.data for one in found.select({"type": ColumnDataSource})}
    assert data["C1"] == {"row": ["a", "b"], "low": [1, 2], "high": [4, 2], "mean": [3, 2]}
    assert data["C2"] == {"row": ["b"], "low": [5], "high": [5], "mean": [5]}
    assert "C1" in mq.sweep("fuse:2.20", over={}, processes=1).plot().item


@pytest.mark.slow
def test_a_script_needs_no_guard_and_runs_once(tmp_path):
    script = tmp_path / "bare.py"
    script.write_text("import mqlab as mq\nprint(len(mq.sweep('fuse:2.20', over={}, seeds=40, processes=2)))\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120,
                          env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "40\n", "")


def test_a_plan_is_small_however_many_runs_there_are():
    plan = planned("fuse:2.20", OVER, 500_000, None, 0)
    assert (plan.runs, plan.place(1_999_999)) == (2_000_000, (3, 499_999))
