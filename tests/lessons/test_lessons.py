"""Every lesson: keys come from runs, mistakes can be told apart, exercises can be done and are not done."""

import json

import pytest

import mqlab as mq
from mqlab import lessons
from mqlab.errors import BadFile, UnknownName
from mqlab.lessons import answers, checking, data, guide, mistakes, setups, solutions
from mqlab.lessons.data import Exercise, Prediction
from tests.conftest import ROOT

TASKS = [
    pytest.param(name, task, id=f"{name}-{task.id}")
    for name in data.names() for task in data.lesson(name).tasks
]  # fmt: skip
PREDICTIONS = [param for param in TASKS if isinstance(param.values[1], Prediction)]
EXERCISES = [param for param in TASKS if isinstance(param.values[1], Exercise)]


@pytest.fixture
def lesson(tmp_path):
    """Return a function that opens a lesson with a progress file of its own."""
    return lambda name, **more: lessons.open(name, file=tmp_path / "progress.jsonl", **more)


@pytest.mark.parametrize("name", data.names())
def test_nothing_is_missing(name):
    assert checking.problems(name, ROOT / "notebooks") == []


@pytest.mark.parametrize(("name", "task"), PREDICTIONS)
def test_the_right_answer_is_right_and_each_mistake_is_named(name, task, lesson):
    opened = lesson(name)
    key = dict(opened.fields(task.id))
    assert opened.predict(task.id, **key).right
    body, trace = setups.body(opened.figure(task.id)), opened.trace(task.id)
    for mistake in task.mistakes:
        wrong = mistakes.answer(mistake, task, body, trace)
        said = opened.predict(task.id, **wrong)
        assert (said.right, said.mistake) == (False, mistake)
        assert data.texts()["mistakes"][mistake] in str(said)


@pytest.mark.parametrize(("name", "task"), EXERCISES)
def test_the_solution_passes_and_the_beginning_does_not(name, task, lesson):
    opened = lesson(name)
    assert "all" in str(opened.check(task.id, checking.solved(task))).lower()
    before = opened.check(task.id, opened.figure(task.id))
    assert not before.right
    assert "✗" in str(before)
    assert f"of {len(before.lines) - 1} checks passed" in str(before)


@pytest.mark.parametrize(("name", "task"), EXERCISES)
def test_a_bare_network_of_another_product_is_answered_in_words(name, task, lesson):
    net = mq.Network(mq.Broker("A"))
    assert not lesson(name).check(task.id, net).right


@pytest.mark.parametrize(("name", "task"), TASKS)
def test_hints_become_clearer_and_end(name, task, lesson):
    opened = lesson(name)
    said = [opened.hint(task.id) for _ in range(len(task.hints) + 2)]
    assert len(set(said)) >= len(task.hints) + 1
    assert said[-1] == data.texts()["words"]["no_more_hints"]
    if isinstance(task, Prediction):  # the last hint gives a value away, the others none
        first = next(iter(answers.key(task, opened.trace(task.id))))
        assert f"{first} is " in said[len(task.hints)]


NONSENSE = [
    {}, {"C1": 6}, {"C9": 1}, {"C1": -1, "C2": 3, "C3": 3}, {"C1": "six", "C2": 3, "C3": 3},
    {"C1": 1e99, "C2": 3, "C3": 3}, {"C1": float("nan"), "C2": 3, "C3": 3},
    {"C1": 2.5, "C2": 3, "C3": 3}, {"C1": None, "C2": 3, "C3": 3}, {"C1": True, "C2": 3, "C3": 3},
    {"C1": [6], "C2": 3, "C3": 3},
]  # fmt: skip


@pytest.mark.parametrize("given", NONSENSE, ids=str)
def test_nonsense_is_answered_in_words(given, lesson):
    opened = lesson("01-first-network")
    said = opened.predict("conduit", **given)
    assert not said.right
    assert "expected" in str(said)
    assert opened.progress.attempts == []  # what was no prediction is not written down


def test_too_many_messages_are_told(lesson):
    said = lesson("01-first-network").predict("conduit", C1=10, C2=10, C3=10)
    assert "Your numbers add up to 30, but only 12 were sent." in said.lines


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda o: o.fill("even", conduit_subscriptions="perhaps"), "conduit"),
        (lambda o: o.fill("even", ttl=3), "A/linkToBrokerB.conduit_subscriptions"),
        (lambda o: o.fill("even"), "A/linkToBrokerB.conduit_subscriptions"),
        (lambda o: o.check("even", "no such figure"), "no such figure"),
        (lambda o: o.check("even", 12), "12"),
    ],
)
def test_a_bad_attempt_at_an_exercise_is_told(call, word, lesson):
    said = call(lesson("01-first-network"))
    assert not said.right
    assert word in str(said)


@pytest.mark.parametrize("order", [[], ["Rome"], ["Rome", "Rome", "Paris"], ["Rome", "Paris", 3]])
def test_a_puzzle_needs_each_piece_once(order, lesson):
    said = lesson("02-connectors").arrange("in-a-row", order)
    assert str(said) == "use each of these once: Paris, Berlin, Rome"


def test_a_wrong_order_says_what_did_not_pass(lesson):
    said = lesson("02-connectors").arrange("in-a-row", ["Paris", "Berlin", "Rome"])
    assert "✗ messages that C2 received: 0 (not yet; expected at least 1)" in said.lines
    assert said.lines[-1] == "2 of 3 checks passed."


def test_own_network_is_played_with_the_exercises_actions(lesson):
    import mqlab as mq

    net = mq.Network(
        mq.Broker("A", mq.NetworkConnector("x", uri="static:(tcp://B:61616)", conduit_subscriptions=False)),
        mq.Broker("B"),
    )  # fmt: skip
    said = lesson("01-first-network").check("even", net)
    assert said.lines[0].startswith("✓ messages that C1 received: 4")


def test_learners_have_numbers_of_their_own(lesson):
    counts = {
        sum(lesson("01-first-network", learner=name).trace("conduit").received().values())
        for name in ("ana", "bob", "cem", "dua", "eva", "finn", "gil")
    }
    assert len(counts) > 1
    assert counts <= {12, 24, 36}
    ana = lesson("01-first-network", learner="ana")
    sent = sum(ana.trace("conduit").received().values())
    assert f"P sends {sent} messages" in ana.task("conduit").text
    again = lesson("01-first-network", learner="ana").trace("conduit").received()
    assert again == lesson("01-first-network", learner="ana").trace("conduit").received()


def test_unknown_things_are_named(lesson):
    with pytest.raises(UnknownName, match="did you mean '01-first-network'"):
        lesson("01-first-netwerk")
    with pytest.raises(UnknownName, match="did you mean 'conduit'"):
        lesson("01-first-network").predict("conduits", C1=1)
    with pytest.raises(UnknownName, match="language 'xx'"):
        lesson("01-first-network", language="xx")
    with pytest.raises(UnknownName, match=r"lesson\.predict"):
        lesson("01-first-network").fill("conduit", x=1)
    with pytest.raises(UnknownName, match=r"lesson\.fill"):
        lesson("01-first-network").predict("even", x=1)


def test_a_lesson_that_is_written_wrongly_is_told():
    task = {"id": "a", "text": "?", "kind": "received", "figure": "fuse:2.20"}
    body = {"title": "t", "question": "q", "minutes": 10, "predict": [task, task]}
    with pytest.raises(BadFile, match="two tasks are called 'a'"):
        data.read("mine", body)
    with pytest.raises(BadFile, match="kin"):
        data.read("mine", {**body, "predict": [{**task, "kin": "x"}]})
    with pytest.raises(BadFile, match="title"):
        data.read("mine", {})


@pytest.mark.parametrize("name", data.names())
def test_the_solutions_notebooks_are_those_of_the_lessons(name):
    stored = json.loads((ROOT / "notebooks/instructor/solutions" / f"{name}.ipynb").read_text())
    made = solutions.solved(name, ROOT / "notebooks")
    assert ["".join(c["source"]) for c in stored["cells"]] == ["".join(c["source"]) for c in made["cells"]]


@pytest.mark.parametrize("name", data.names())
def test_the_instructors_pages_are_those_of_the_lessons(name):
    page = (ROOT / "notebooks/instructor/guides" / f"{name}.md").read_text(encoding="utf-8")
    assert page == guide.page(name)
    for heading in ("**Goal.**", "## Questions to ask", "## When time is short"):
        assert heading in page
