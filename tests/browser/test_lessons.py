"""Every lesson as a learner meets it: all cells run, every task is answered, wrongly and rightly."""

import re

import pytest
from playwright.sync_api import expect

from mqlab.lessons import answers, data, mistakes, setups
from mqlab.lessons.data import Prediction
from tests.browser.test_notebook import FAILED, open_notebook, run_all

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
FIND = """text => { const book = jupyterapp.shell.currentWidget.content;
  const at = book.widgets.findIndex((cell) => cell.model.sharedModel.source.includes(text));
  book.scrollToItem(at, 'start'); return at; }"""


def answer(page, task, given):
    """Fill a task's form in and press its first button; returns what it says."""
    page.evaluate(FIND, f'"{task.id}")')
    cell = page.locator(".jp-Cell", has=page.get_by_text(task.text, exact=True))
    for name, value in given.items():
        field = cell.locator(".widget-text", has=page.get_by_text(name, exact=True)).locator(
            "input"
        )
        field.fill(str(value))
    cell.locator("button").first.click()
    said = cell.locator(".mqlab-said [role=status]")
    said.wait_for(timeout=30_000)
    return cell, said


def wrong_and_right(task):
    """Return the answer of a wrong rule, and the right one, as they are typed."""
    if not isinstance(task, Prediction):
        right = task.solution
        if "order" in right:
            return {"order": " ".join(reversed(right["order"]))}, {
                "order": " ".join(right["order"])
            }
        return dict.fromkeys(right, "0"), {name: _typed(value) for name, value in right.items()}
    scenario = setups.scenario(task.setup)
    trace, body = setups.play(scenario), setups.body(scenario)
    wrong = mistakes.answer(task.mistakes[0], task, body, trace)
    return wrong, answers.key(task, trace)


def _typed(value):
    return ", ".join(value) if isinstance(value, list) else str(value).lower()


@pytest.mark.parametrize("name", data.names())
def test_a_lesson_runs_and_its_tasks_can_be_done(name, page, jupyter):
    open_notebook(page, jupyter, f"{name}.ipynb")
    run_all(page)
    assert page.evaluate(FAILED) == []
    for task in data.lesson(name).tasks:
        wrong, right = wrong_and_right(task)
        cell, said = answer(page, task, wrong)
        assert not re.search(r"Right: |All \d+ checks passed", said.inner_text())
        answer(page, task, right)
        word = "Right: " if isinstance(task, Prediction) else "checks passed."
        said.get_by_text(word).wait_for(timeout=30_000)
        expect(said).not_to_contain_text("✗", timeout=30_000)
        if isinstance(task, Prediction):  # the run is shown once the prediction is committed
            cell.locator("[data-mqlab=view]").first.wait_for(timeout=30_000)
