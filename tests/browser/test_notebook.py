"""The first notebook, as a learner meets it: real JupyterLab, real Chromium, no internet."""

import json

import pytest

from tests.browser.conftest import IDLE, PATIENCE, READY, STEADY

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

FAILED = """() => jupyterapp.shell.currentWidget.content.widgets
  .flatMap(c => c.model.type === 'code' ? c.model.outputs.toJSON() : [])
  .filter(o => o.output_type === 'error')"""
# Every document is drawn, and those of a player have begun.
# Pixels of one exact colour among what moves on the stage of the n-th document.
PIXELS = """([n, colour]) => { const doc = Bokeh.documents[n];
  const view = Bokeh.index.find_one(doc.get_model_by_name('stage'));
  const canvas = view.shadow_el.querySelector('.mq-moving'), box = canvas.getContext('2d');
  const d = box.getImageData(0, 0, canvas.width, canvas.height).data, found = [];
  for (let i = 0; i < d.length; i += 4)
    if (d[i] === colour[0] && d[i+1] === colour[1] && d[i+2] === colour[2]) found.push(i / 4);
  return found; }"""
ORANGE = [0xE6, 0x9F, 0x00]
PLAYER = "([n, what]) => Bokeh.documents[n].mqlab.player[what]"
COUNTS = """([at, panel]) => { const { player } = Bokeh.documents[at].mqlab, p = player.panels[panel];
  const state = player.stateOf(p, player.t), { name, node } = p.data("consumers");
  return name.map((one, i) => `${one}: ${state.consumers.get(node[i])?.got ?? 0}`).sort(); }"""
GET = "([n, name, what]) => Bokeh.documents[n].get_model_by_name(name)[what]"


def open_notebook(page, jupyter, name):
    address, token, _ = jupyter
    page.goto(f"{address}/lab/tree/{name}?token={token}&reset")
    page.wait_for_function(READY)


def run_all(page):
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    assert page.evaluate(FAILED) == []


def run_cell(page, number):
    page.evaluate(
        """number => { jupyterapp.shell.currentWidget.content.activeCellIndex = number;
      return jupyterapp.commands.execute('notebook:run-cell'); }""",
        number,
    )


def moves(page, document):
    """Whether orange pixels change their places while the document plays, within a minute."""
    first = page.evaluate(PIXELS, [document, ORANGE])
    for _ in range(PATIENCE // 250):
        page.wait_for_timeout(250)
        now = page.evaluate(PIXELS, [document, ORANGE])
        if now and now != first:
            return True
    return False


def test_a_picture_comes_while_the_kernel_is_busy_with_the_next_cell(lab, jupyter):
    _, _, folder = jupyter
    shown = "import mqlab as mq\nmq.view(mq.run('fuse:2.20'))"
    notebook(folder / "busy.ipynb", shown, "import time\ntime.sleep(300)")
    page = lab("busy.ipynb")
    page.evaluate("() => void jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function("() => window.Bokeh?.documents?.length >= 1")
    page.wait_for_function(IDLE)
    prompts = "() => jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.promptNode.textContent)"
    assert page.evaluate(prompts) == ["[1]:", "[*]:"]
    page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()")


def test_a_learner_runs_plays_scrubs_changes_an_option_and_runs_again(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "first.ipynb", "import mqlab as mq\nmq.view(mq.run('fuse:2.20'))",
             "mq.widgets.Workbench('fuse:2.20')")  # fmt: skip
    page = lab("first.ipynb")
    run_all(page)
    page.wait_for_function("() => window.Bokeh?.documents?.length >= 2")
    page.wait_for_function(IDLE)

    view = page.locator("[data-mqlab=view]").first
    view.scroll_into_view_if_needed()
    page.evaluate(STEADY)
    view.get_by_role("button", name="Play").click()
    assert moves(page, 0)
    view.get_by_role("button", name="Play").click()  # pauses

    handle = view.get_by_role("slider").first
    handle.focus()
    handle.press("Home")
    assert page.evaluate(PLAYER, [0, "t"]) == 0
    handle.press("End")
    assert page.evaluate(COUNTS, [0, 0]) == ["C1: 6", "C2: 3", "C3: 3"]

    bench = page.locator("[data-mqlab=view]").nth(1)
    bench.scroll_into_view_if_needed()
    page.evaluate("""() => Bokeh.documents[1].mqlab.player.select(
      { kind: 'connector', name: 'A/linkToBrokerB' })""")
    bench.get_by_role("tab", name="Options").click()
    bench.get_by_label("conduitSubscriptions").uncheck()
    bench.get_by_role("button", name="Fork with 1 change").click()
    bench.get_by_role("button", name="Δ 1 change").wait_for()
    page.wait_for_function("() => Bokeh.documents[1].get_model_by_name('received').data.t.length === 12")
    bench.get_by_role("slider").first.focus()
    bench.get_by_role("slider").first.press("End")
    assert page.evaluate(COUNTS, [1, 0]) == ["C1: 4", "C2: 4", "C3: 4"]
    assert page.evaluate(FAILED) == []


def test_one_document_shows_any_network(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "one.ipynb", "import mqlab as mq\nbench = mq.widgets.Workbench('fuse:2.20')\nbench",
             "bench.topology.value = 'mesh'\nbench.size.value = 25")  # fmt: skip
    page = lab("one.ipynb")
    run_cell(page, 0)
    page.wait_for_function("() => window.Bokeh?.documents?.length === 1")
    page.wait_for_function(IDLE)
    page.evaluate("""() => { window.before = Bokeh.documents[0];
      window.stage = Bokeh.index.find_one(before.get_model_by_name('stage')); }""")
    assert len(page.evaluate(GET, [0, "brokers", "data"])["x"]) == 2
    run_cell(page, 1)
    page.wait_for_function("() => before.get_model_by_name('brokers').data.x.length === 25")
    assert page.evaluate("""() => Bokeh.documents.length === 1 && Bokeh.documents[0] === before
      && Bokeh.index.find_one(before.get_model_by_name('stage')) === stage""")
    view = page.locator("[data-mqlab=view]").first
    view.get_by_role("button", name="Play").click()
    assert moves(page, 0)
    assert page.evaluate(FAILED) == []


def notebook(path, *cells):
    path.write_text(json.dumps({
        "cells": [{"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [],
                   "execution_count": None, "source": text} for i, text in enumerate(cells)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python",
                                    "name": "python3"}},
        "nbformat": 4, "nbformat_minor": 5,
    }))  # fmt: skip


SOURCES = """() => jupyterapp.shell.currentWidget.content.widgets.map(
  c => c.model.sharedModel.getSource())"""
ACTIVE = "() => jupyterapp.shell.currentWidget.content.activeCellIndex"


def test_a_view_that_plays_takes_nothing_from_the_keyboard(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "keys.ipynb", "import mqlab as mq", "mq.view(mq.run('fuse:2.22'))", "1 + 1", "")
    page = lab("keys.ipynb")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    for _ in range(3):
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(200)
    page.wait_for_function("() => window.Bokeh?.documents?.length === 1")
    page.wait_for_function(IDLE)
    page.wait_for_function(f"() => ({ACTIVE})() === 3")  # Shift+Enter went through all cells
    view = page.locator("[data-mqlab=view]")
    # However long the machine takes for the letters, it plays on.
    view.get_by_label("Speed").select_option("0.25")
    view.get_by_role("button", name="Play").click()
    page.locator(".jp-Notebook .jp-Cell .cm-content").nth(3).click()
    text = "typed = 'while a view plays, every letter arrives'"
    page.keyboard.type(text, delay=40)
    assert page.evaluate(SOURCES)[3] == text
    assert page.evaluate(PLAYER, [0, "playing"])
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"() => ({ACTIVE})() === 4")
    assert page.evaluate(FAILED) == []


def test_a_failover_is_seen_in_the_notebook_and_in_the_workbench(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "dies.ipynb", "import mqlab as mq\nmq.view(mq.run('fuse:4.4'))",
             "mq.widgets.Workbench('fuse:4.1')")  # fmt: skip
    page = lab("dies.ipynb")
    run_all(page)
    page.wait_for_function("() => window.Bokeh?.documents?.length >= 2")
    page.wait_for_function(IDLE)
    assert page.evaluate(FAILED) == []
    # At the end of the view broker1 has crashed, one of the others is master, and the last one waits.
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration); }")
    roles = page.evaluate("""() => { const { player } = Bokeh.documents[0].mqlab, p = player.panels[0];
      const state = player.stateOf(p, player.t), { name, node } = p.data("brokers");
      const words = p.data("roles").word;
      const told = ({ condition, role }) => condition === "up" ? words[role] : condition;
      return Object.fromEntries(name.map((one, i) => [one, told(state.brokers.get(node[i]))])); }""")
    assert roles["broker1"] == "crashed"
    assert sorted([roles["broker2"], roles["broker3"]]) == ["master", "slave"]
    # The workbench shows a figure in time.
    bench = page.get_by_text("Which of the two serves?")
    bench.scroll_into_view_if_needed()
    assert page.get_by_label("Figure").input_value() == "fuse:4.1  Pure master/slave"
