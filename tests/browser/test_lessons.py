"""Every lesson as a learner meets it: all cells run, every task is answered, wrongly and rightly."""

import re

import pytest
from playwright.sync_api import expect

from mqlab.lessons import answers, checking, data, mistakes, setups
from mqlab.lessons.data import Prediction
from tests.browser.conftest import STEADY
from tests.browser.test_notebook import FAILED, run_all
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
FIND = """async text => { const book = jupyterapp.shell.currentWidget.content;
  const at = book.widgets.findIndex((cell) => cell.model.sharedModel.source.includes(text));
  book.widgets[at].node.dataset.mqlabTask = text; await book.scrollToItem(at, 'start'); }"""

SHOWN = """() => { const { widgets } = jupyterapp.shell.currentWidget.content;
  widgets.forEach((cell, at) => { cell.node.dataset.mqlabAt = at; });
  return widgets.flatMap((cell, at) => cell.model.type === "code"
    && /mq\\.view\\(|Workbench\\(/.test(cell.model.sharedModel.source) ? [at] : []); }"""


def answer(page, task, given):
    """Fill a task's form in and press its first button; returns what it says."""
    page.evaluate(FIND, f'"{task.id}")')
    cell = page.locator(f"""[data-mqlab-task='"{task.id}")']""")
    cell.get_by_text(task.text, exact=True).first.wait_for()
    for name, value in given.items():
        field = cell.locator(".widget-text", has=page.get_by_text(name, exact=True)).locator("input")
        field.fill(str(value))
    page.evaluate(STEADY)  # who presses what still moves may miss it
    cell.locator("button").first.click()
    said = cell.locator(".mqlab-said [role=status]")
    said.wait_for()
    return cell, said


def wrong_and_right(task):
    """Return the answer of a wrong rule, and the right one, as they are typed."""
    if not isinstance(task, Prediction):
        right = task.solution
        if "order" in right:
            return {"order": " ".join(reversed(right["order"]))}, {"order": " ".join(right["order"])}
        return dict.fromkeys(right, "0"), {name: _typed(value) for name, value in right.items()}
    scenario = setups.scenario(task.setup)
    trace, body = setups.play(scenario), setups.body(scenario)
    wrong = mistakes.answer(task.mistakes[0], task, body, trace)
    return wrong, answers.key(task, trace)


def _typed(value):
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)


def views_of(name):
    """Return how many pictures a notebook shows by itself."""
    cells = checking.cells(ROOT / "notebooks" / f"{name}.ipynb")
    return sum(cell["cell_type"] == "code" and ("mq.view(" in cell["source"] or "Workbench(" in cell["source"])
               for cell in cells)  # fmt: skip


def play_views(page):
    """Play every picture that the notebook itself shows, for a moment; returns how many there are."""
    places = page.evaluate(SHOWN)
    for place in places:
        page.evaluate("at => jupyterapp.shell.currentWidget.content.scrollToItem(at, 'start')", place)
        view = page.locator(f"[data-mqlab-at='{place}'] [data-mqlab=view]").first
        play, clock = (
            view.get_by_role("button", name="Play"),
            view.get_by_role("slider", name="Time"),
        )
        before = clock.get_attribute("aria-valuenow")
        play.click()
        expect(clock).not_to_have_attribute("aria-valuenow", before)
        play.click()
    return len(places)


@pytest.mark.sample(9, pool="long in JupyterLab")
@pytest.mark.parametrize("name", data.names())
def test_a_lesson_runs_and_its_tasks_can_be_done(name, lab):
    page = lab(f"{name}.ipynb")
    run_all(page)
    assert page.evaluate(FAILED) == []
    assert play_views(page) == views_of(name)
    for task in data.lesson(name).tasks:
        wrong, right = wrong_and_right(task)
        cell, said = answer(page, task, wrong)
        assert not re.search(r"Right: |All checks passed", said.inner_text())
        if isinstance(task, Prediction):  # the run is shown once the prediction is committed
            cell.locator("[data-mqlab=view]").first.wait_for()
        answer(page, task, right)
        word = "Right: " if isinstance(task, Prediction) else "checks passed"
        expect(said).to_contain_text(word)
        expect(said).not_to_contain_text("✗")
