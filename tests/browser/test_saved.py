"""A notebook's whole life with a picture in it: run again and again, its kernel restarted, saved, reopened."""

import json

import pytest

from tests.browser.test_notebook import FAILED, IDLE, notebook, open_notebook, run_cell

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ONE = "() => window.Bokeh?.documents?.length === 1 && Bokeh.documents[0].mqlab?.player?.begun"
COUNTS = """() => { const count = (el) => 1 + [...el.children].reduce((sum, one) => sum + count(one), 0)
    + (el.shadowRoot ? [...el.shadowRoot.children].reduce((sum, one) => sum + count(one), 0) : 0);
  const area = document.querySelector('.jp-Notebook .jp-OutputArea');
  return [Bokeh.documents.length, Object.keys(Bokeh.index).length || [...Bokeh.index.roots ?? []].length,
          count(area)]; }"""
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"


def shown(page):
    page.wait_for_function(ONE, timeout=60_000)
    page.wait_for_function(IDLE)
    page.wait_for_timeout(300)


def test_ten_runs_of_a_cell_leave_one_picture(page, jupyter):
    _, _, folder = jupyter
    notebook(folder / "again.ipynb", "import mqlab as mq\nmq.view('fuse:2.20')")
    open_notebook(page, jupyter, "again.ipynb")
    counts = []
    for _ in range(10):
        run_cell(page, 0)
        page.wait_for_timeout(600)
        shown(page)
        counts.append(page.evaluate(COUNTS))
    assert counts[-1] == counts[1]
    assert counts[-1][0] == 1
    assert page.evaluate(FAILED) == []


def test_a_question_a_fork_and_undo_in_the_notebook(page, jupyter):
    _, _, folder = jupyter
    notebook(folder / "ask.ipynb", "import mqlab as mq\nview = mq.view('fuse:2.20')\nview",
             "print(view.trace.received())")  # fmt: skip
    open_notebook(page, jupyter, "ask.ipynb")
    run_cell(page, 0)
    shown(page)
    view = page.locator("[data-mqlab=view]")
    page.evaluate(
        "() => Bokeh.documents[0].mqlab.player.select({ kind: 'message', name: '5', msg: 5 })"
    )
    view.get_by_role("button", name="Why not C2?").click()
    view.get_by_role("button", name="What if?").click()
    view.get_by_role("button", name="Fork", exact=True).first.click()
    view.get_by_role("button", name="Δ 1 change").wait_for()
    run_cell(page, 1)
    page.get_by_text("{'C1': 4, 'C2': 4, 'C3': 4}").wait_for(timeout=20_000)
    view.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function("() => Bokeh.documents.at(-1)?.mqlab?.player?.panels.length === 2")
    view.get_by_text("Received at the end").wait_for()
    view.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => Bokeh.documents.at(-1)?.mqlab?.player?.panels.length === 1")
    assert page.evaluate(FAILED) == []


def test_a_restarted_kernel_is_told_and_the_picture_plays_on(page, jupyter):
    _, _, folder = jupyter
    notebook(folder / "restart.ipynb", "import mqlab as mq\nmq.view('fuse:2.20')")
    open_notebook(page, jupyter, "restart.ipynb")
    run_cell(page, 0)
    shown(page)
    page.evaluate(f"() => {KERNEL}.restart()")
    view = page.locator("[data-mqlab=view]")
    view.get_by_text("The kernel was restarted.").first.wait_for(timeout=60_000)
    before = page.evaluate("() => Bokeh.documents[0].mqlab.player.t")
    page.evaluate("() => Bokeh.documents[0].mqlab.player.setPlaying(true)")
    page.wait_for_timeout(600)
    assert page.evaluate("() => Bokeh.documents[0].mqlab.player.t") > before
    page.wait_for_function(f"() => {KERNEL}.status === 'idle'", timeout=60_000)
    run_cell(page, 0)
    page.wait_for_timeout(600)
    shown(page)
    page.locator("[data-mqlab=view]").get_by_text("What came of it?").wait_for()


def test_a_notebook_that_is_reopened_without_its_kernel_shows_what_came_of_it(page, jupyter):
    _, _, folder = jupyter
    file = folder / "saved.ipynb"
    notebook(file, "import mqlab as mq\nmq.view('fuse:2.20')", "mq.widgets.Workbench('fuse:4.4')")
    open_notebook(page, jupyter, "saved.ipynb")
    run_cell(page, 0)
    run_cell(page, 1)
    page.wait_for_function("() => window.Bokeh?.documents?.length === 2", timeout=60_000)
    page.wait_for_function(IDLE)
    assert page.get_by_text("Run the cell to watch it").first.is_hidden()
    page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_timeout(1500)
    kept = json.loads(file.read_text())["cells"][0]["outputs"]
    assert "C1 received 6" in "".join(kept[0]["data"]["text/html"])
    page.evaluate(f"() => {KERNEL}.shutdown()")
    page.wait_for_timeout(1000)
    page.faults.clear()
    address, token, _ = jupyter
    page.goto(f"{address}/lab/tree/saved.ipynb?token={token}&reset")
    page.get_by_text("C1 received 6").wait_for(timeout=60_000)
    page.get_by_text("K received 10").wait_for()
    page.wait_for_timeout(3000)
    assert page.get_by_text("Error displaying widget").filter(visible=True).count() == 0
    # The notebook's own widget manager notes that the model is gone; nothing else is wrong.
    page.faults[:] = [fault for fault in page.faults if "widget model not found" not in fault]
