"""A notebook's whole life with a picture in it: run again and again, its kernel restarted, saved, reopened."""

import json
from contextlib import suppress

import pytest
from playwright.sync_api import expect

import mqlab as mq
from tests.browser.conftest import IDLE, STEADY
from tests.browser.test_notebook import FAILED, notebook, open_notebook, run_cell

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# One document, and another one than before the cell ran.
ONE = """() => window.Bokeh?.documents?.length === 1 && Bokeh.documents[0].mqlab?.player?.begun
  && Bokeh.documents[0] !== window.before"""
COUNTS = """() => { const count = (el) => 1 + [...el.children].reduce((sum, one) => sum + count(one), 0)
    + (el.shadowRoot ? [...el.shadowRoot.children].reduce((sum, one) => sum + count(one), 0) : 0);
  const area = document.querySelector('.jp-Notebook .jp-OutputArea');
  return [Bokeh.documents.length, Object.keys(Bokeh.index).length || [...Bokeh.index.roots ?? []].length,
          count(area)]; }"""
RUNS = 10
LEFT = 28  # of a run: nodes that a cell with a text leaves in JupyterLab 4.6
KERNEL = "jupyterapp.shell.currentWidget.sessionContext.session.kernel"


def show(page):
    """Run the first cell, and wait for the picture that it makes."""
    page.evaluate("() => { window.before = window.Bokeh?.documents?.[0]; }")
    run_cell(page, 0)
    page.wait_for_function(ONE)
    page.wait_for_function(IDLE)
    page.evaluate(STEADY)


def alive(devtools):
    """Return how many nodes and listeners a page holds, once what can go is gone."""
    for _ in range(3):
        devtools.send("HeapProfiler.collectGarbage")
    told = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    return told["Nodes"], told["JSEventListeners"]


@pytest.mark.sample(9, pool="long in JupyterLab")
def test_ten_runs_of_a_cell_leave_one_picture(page, jupyter):
    """In a page of its own: all that there is in it is counted, and what a picture before has left."""
    _, _, folder = jupyter
    notebook(folder / "again.ipynb", "import mqlab as mq\nmq.view('fuse:2.20')")
    open_notebook(page, jupyter, "again.ipynb")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    counts, held = [], []
    for _ in range(RUNS):
        show(page)
        page.locator("[data-mqlab=view] .spread").wait_for(
            state="attached"
        )  # the last that comes into a picture
        page.evaluate(STEADY)
        counts.append(page.evaluate(COUNTS))
        held.append(alive(devtools))
    assert counts[-1] == counts[1], counts
    assert counts[-1][0] == 1
    # A picture has 880 nodes and 100 listeners. V8 may keep one for ever: the first of a hidden class.
    nodes, listeners = ((after - before) / (RUNS - 3) for before, after in zip(held[2], held[-1], strict=True))
    assert nodes < LEFT, held
    assert listeners < LEFT, held
    assert page.evaluate(FAILED) == []


# The choosers of a workbench without mqlab.
PLAIN = """import ipywidgets as w
w.Widget.close_all()
menus = [w.Dropdown(options=["-" * 9] * {figures}), w.Dropdown(options=["-" * 9] * {shapes})]
w.VBox([w.HBox([*menus, w.IntSlider(), w.BoundedIntText(), w.Button(description="Run")]), w.HTML()])"""


@pytest.mark.sample(9, pool="long in JupyterLab")
def test_a_workbench_that_runs_again_leaves_no_more_than_its_choosers_by_themselves(page, jupyter):
    """JupyterLab 4.6 keeps what ipywidgets drew: of these choosers 633 nodes a run, with a workbench 633.2."""
    bench = mq.widgets.Workbench("fuse:2.20")
    plain = PLAIN.format(figures=len(bench.figure.options), shapes=len(bench.topology.options))
    left = []
    for name, cell in (("plain", plain), ("bench", "import mqlab as mq\nmq.widgets.Workbench('fuse:2.20')")):
        notebook(jupyter[2] / f"{name}.ipynb", cell)
        open_notebook(page, jupyter, f"{name}.ipynb")
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")
        held = []
        for _ in range(7):
            if name == "bench":
                show(page)
            else:
                run_cell(page, 0)
                page.wait_for_function(f"() => {KERNEL}.status === 'idle'")
            page.wait_for_timeout(1000)  # the one before goes after this one is shown
            held.append(alive(devtools))
        left.append([(after - before) / 4 for before, after in zip(held[2], held[-1], strict=True)])
    assert all(own - chooser < LEFT for chooser, own in zip(*left, strict=True)), left


def test_a_question_a_fork_and_undo_in_the_notebook(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "ask.ipynb", "import mqlab as mq\nview = mq.view('fuse:2.20')\nview",
             "print(view.trace.received())")  # fmt: skip
    page = lab("ask.ipynb")
    show(page)
    view = page.locator("[data-mqlab=view]")
    page.evaluate("() => Bokeh.documents[0].mqlab.player.select({ kind: 'message', name: '5', msg: 5 })")
    view.get_by_role("button", name="Why not C2?").click()
    view.get_by_role("button", name="What if?").click()
    view.get_by_role("button", name="Fork", exact=True).first.click()
    view.get_by_role("button", name="Δ 1 change").wait_for()
    run_cell(page, 1)
    page.get_by_text("{'C1': 4, 'C2': 4, 'C3': 4}").wait_for()
    view.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function("() => Bokeh.documents.at(-1)?.mqlab?.player?.panels.length === 2")
    view.get_by_text("Received at the end").wait_for()
    view.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => Bokeh.documents.at(-1)?.mqlab?.player?.panels.length === 1")
    assert page.evaluate(FAILED) == []


def test_a_restarted_kernel_is_told_and_the_picture_plays_on_without_its_choosers(lab, jupyter):
    _, _, folder = jupyter
    notebook(folder / "restart.ipynb", "import mqlab as mq\nmq.widgets.Workbench('fuse:2.20')")
    page = lab("restart.ipynb")
    show(page)
    page.evaluate(f"() => {KERNEL}.restart()")
    view = page.locator("[data-mqlab=view]")
    view.get_by_text("The kernel was restarted.").first.wait_for()
    page.get_by_text("run the cell again to choose a network").wait_for()
    assert page.evaluate("() => document.querySelector('.mqlab-workbench button').closest('[inert]') !== null")
    before = page.evaluate("() => Bokeh.documents[0].mqlab.player.t")
    page.evaluate("() => Bokeh.documents[0].mqlab.player.setPlaying(true)")
    page.wait_for_function("before => Bokeh.documents[0].mqlab.player.t > before", arg=before)
    page.wait_for_function(f"() => {KERNEL}.status === 'idle'")
    show(page)
    page.locator("[data-mqlab=view]").get_by_text("What was the result?").wait_for()
    assert page.locator(".mqlab-workbench [inert]").count() == 0


def outputs(file):
    """Return the outputs of a saved notebook's first cell; none while the server is still writing the file."""
    with suppress(json.JSONDecodeError):
        return json.loads(file.read_text())["cells"][0]["outputs"]
    return []


# The still of a run, as JupyterLab shows an SVG.
STILL = ".jp-RenderedSVG :is(img, svg)"


def test_a_notebook_that_is_reopened_without_its_kernel_shows_what_came_of_it(page, jupyter):
    _, _, folder = jupyter
    file = folder / "saved.ipynb"
    notebook(file, "import mqlab as mq\nmq.view('fuse:2.20')", "mq.widgets.Workbench('fuse:4.4')")
    open_notebook(page, jupyter, "saved.ipynb")
    run_cell(page, 0)
    run_cell(page, 1)
    page.wait_for_function("() => window.Bokeh?.documents?.length === 2")
    page.wait_for_function(IDLE)
    stills = page.locator(STILL).filter(visible=True)
    expect(page.get_by_text("Run the cell to play").first).to_be_hidden()
    expect(stills).to_have_count(0)
    page.evaluate("() => jupyterapp.commands.execute('docmanager:save')")
    while not (kept := outputs(file)):
        page.wait_for_timeout(100)
    still, lines = kept[0]["data"], kept[1]["data"]
    assert "received 6" in "".join(still["image/svg+xml"])
    assert "C1 received 6" in "".join(lines["text/html"])
    page.evaluate(f"() => {KERNEL}.shutdown()")
    page.goto("about:blank")  # what the page says of a kernel that has gone, it has said by then
    page.faults.clear()
    address, token, _ = jupyter
    page.goto(f"{address}/lab/tree/saved.ipynb?token={token}&reset")
    page.get_by_text("C1 received 6").wait_for()
    page.get_by_text("K received 10").wait_for()
    expect(stills).to_have_count(2)
    page.wait_for_timeout(3000)
    assert page.get_by_text("Error displaying widget").filter(visible=True).count() == 0
    # The notebook's own widget manager notes that the model is gone; nothing else is wrong.
    page.faults[:] = [fault for fault in page.faults if "widget model not found" not in fault]
