"""A sweep in a notebook: its bar goes on while the cell runs, and Cancel ends it and keeps what was done."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_notebook import notebook

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.timeout(300)]
SWEEP = """
import time
import mqlab as mq
from mqlab.replay import sweeps

def tardy(text, seed, jitter):
    time.sleep(0.2)
    return sweeps.play(text, seed, jitter)

sweeps.sweep("fuse:2.20", over={}, seeds=2000, out="kept", worker=tardy, partitions=200)
"""
OUTPUTS = """() => jupyterapp.shell.currentWidget.content.widgets[0].model.outputs.toJSON()
  .filter(o => o.output_type === 'error').map(o => o.evalue)"""


def test_cancel_ends_a_sweep_and_keeps_its_runs(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "sweep.ipynb", SWEEP)
    page = lab("sweep.ipynb")
    page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells') }")
    said = page.get_by_text(re.compile(r"runs: [1-9]\d* of 2,000, \d+ \w+ left"))
    said.wait_for(timeout=120_000)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.wait_for_function(f"({OUTPUTS})().length")
    (error,) = page.evaluate(OUTPUTS)
    kept = int(re.search(r"cancelled: (\d+) of 2000 runs kept", error)[1])
    # What a worker was in the middle of may come in a moment later.
    assert 0 < kept <= sum(int(p.stem.split("-")[1]) for p in (folder / "kept" / "parts").glob("*.parquet"))
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
