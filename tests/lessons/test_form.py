"""The form of a task: nothing of the run is seen before the prediction is committed; never a traceback."""

import pytest

from mqlab import lessons
from mqlab.lessons import data

pytest.importorskip("ipywidgets", reason="the extra lab is not installed")


@pytest.fixture
def lesson(tmp_path):
    return lessons.open("01-first-network", file=tmp_path / "progress.jsonl")


def fill(form, **values):
    for name, value in values.items():
        form.inputs[name].value = value
    form.go.click()
    return form.said.value


def test_the_run_is_shown_after_the_commitment(lesson):
    form = lesson.ask("conduit")
    assert form.run.children == ()
    assert "C2 is missing" in fill(form, C1="6")
    assert "C2 is &#x27;some&#x27;; expected a number" in fill(form, C1="6", C2="some", C3="3")
    assert form.run.children == ()  # what was no prediction shows nothing either
    assert "Right: C1 6, C2 3, C3 3." in fill(form, C1="6", C2="3", C3=" 3 ")
    assert len(form.run.children) == 1
    shown = form.run.children[0]
    fill(form, C1="4", C2="4", C3="4")
    assert form.run.children[0] is shown


def test_a_wrong_answer_names_the_mistake_as_text(lesson):
    said = fill(lesson.ask("conduit"), C1="4", C2="4", C3="4")
    assert "a broker sees each consumer behind a connector" in said
    assert "role=" in said  # a live region
    assert "&lt;b&gt;" in fill(lesson.ask("conduit"), C1="<b>", C2="4", C3="4")


def test_hints_come_one_by_one(lesson):
    form = lesson.ask("conduit")
    form.help.click()
    form.help.click()
    assert form.hints.value.count("Hint") == 2


def test_blanks_take_values_as_a_configuration_has_them(lesson):
    form = lesson.ask("even")
    (name,) = form.inputs
    assert "0 of 4 checks" not in fill(form, **{name: "false"})
    assert "All checks passed: 4 of 4." in form.said.value
    assert "✗" in fill(lesson.ask("even"), **{name: "true"})
    assert "conduit" in fill(lesson.ask("even"), **{name: "maybe"})


def test_enter_in_a_field_commits(lesson):
    form = lesson.ask("alone")
    form.inputs["C1"].value = "5"
    form.inputs["C2"].value = "5"
    form.inputs["C2"]._handle_custom_msg({"event": "submit"}, [])
    assert "Right: C1 5, C2 5." in form.said.value


def test_an_empty_field_says_what_is_wanted_and_gives_nothing_away(tmp_path):
    for name in data.names():
        opened = lessons.open(name, file=tmp_path / "p.jsonl")
        for task in opened.data.tasks:
            told = opened.example(task.id)
            assert set(told) == set(opened.fields(task.id))
            if getattr(task, "pieces", ()):
                assert not opened.arrange(task.id, task.pieces).right, (name, task.id)
    (blank,) = lessons.open("01-first-network", file=tmp_path / "p.jsonl").ask("even").inputs.values()
    assert blank.placeholder == "true or false"


def test_pieces_are_put_in_order(tmp_path):
    puzzle = lessons.open("02-connectors", file=tmp_path / "p.jsonl").ask("in-a-row")
    assert "use each of these once" in fill(puzzle, order="Berlin")
    assert "All checks passed: 3 of 3." in fill(puzzle, order="Berlin, Paris, Rome")
