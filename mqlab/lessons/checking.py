"""What is missing in a lesson: its tasks are run, its notebook is read, its minutes are estimated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import MqlabError
from mqlab.lessons import answers, data, discoveries, feedback, mistakes, setups
from mqlab.lessons.data import Exercise, LessonData, Prediction
from mqlab.lessons.discoveries import Discovered
from mqlab.lessons.jupyter import notebooks
from mqlab.spec.json_types import JsonObject

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

WORDS_PER_MINUTE = 140  # of a text that is studied
MINUTES = {"code": 0.4, "predict": 1.5, "exercise": 2.5}
LEAST, MOST, APART = 10.0, 35.0, 10.0  # minutes of a lesson, and between two tasks
DISCOVERIES = "lesson.discoveries"  # the cell that shows them
NEW_THINGS = 7  # brokers, connectors and clients in the first picture
Cell = JsonObject


def problems(name: str, folder: Path | None = None) -> list[str]:
    """Return what is wrong with a lesson, in words; an empty list if nothing is.

    Raises `UnknownName` for a lesson that there is not, `BadFile` for one that cannot be read.
    """
    lesson = data.lesson(name)
    found = [f"{task.id}: {what}" for task in lesson.tasks for what in _of_task(task)]
    if lesson.tasks:
        found += _first_view(lesson)
    found += [f"{one.discovery.recorded}: {what}" for one in discoveries.of(lesson) for what in _discovery(one)]
    file = notebook_of(name, folder)
    if not file.exists():
        return [*found, f"there is no notebook {file.name}"]
    return [*found, *_of_notebook(lesson, cells(file))]


def notebook_of(name: str, folder: Path | None = None) -> Path:
    """Return the notebook of a lesson: beside its file, if it is one of somebody's own."""
    if name.endswith(data.OWN):
        return Path(name).with_suffix(".ipynb")
    return (folder or notebooks()) / f"{name}.ipynb"


def cells(file: Path) -> list[Cell]:
    """Return the cells of a notebook, each with its ``source`` as one text."""
    read = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in read]


def _of_task(task: Prediction | Exercise) -> Iterator[str]:
    if len(task.hints) < 2:
        yield "needs at least two hints, the second more specific than the first"
    if not task.told or not task.source:
        yield "lacks a concluding text (told) or a source"
    try:
        yield from _prediction(task) if isinstance(task, Prediction) else _exercise(task)
    except MqlabError as error:
        yield f"cannot be run: {error}"


def _discovery(found: Discovered) -> Iterator[str]:
    """Yield what is told of a recording that it does not show, or that the lab does not do."""
    try:
        yield from (
            f"{what} is {real} at the real broker, {here} in mqlab"
            for what, real, here in found.said()
            if real != here
        )
        if not found.told:
            yield "is not told"
    except MqlabError as error:
        yield str(error)


def _prediction(task: Prediction) -> Iterator[str]:
    scenario = setups.scenario(task.setup)
    trace, body = setups.play(scenario), setups.body(scenario)
    key = answers.key(task, trace)
    if not key:
        yield "there is nothing to predict"
    if not task.mistakes:
        yield "lists no mistakes"
    seen: list[answers.Answer] = []
    for name in task.mistakes:
        wrong = mistakes.answer(name, task, body, trace)
        if wrong is None:
            yield f"the mistake {name} cannot be played here"
        elif answers.same(wrong, key, task.within):
            yield f"the mistake {name} gives the right answer"
        elif any(answers.same(wrong, other, task.within) for other in seen):
            yield f"the mistake {name} cannot be told from one before it"
        else:
            seen.append(wrong)


def _exercise(task: Exercise) -> Iterator[str]:
    before = setups.scenario(task.setup)
    texts = data.texts()
    if feedback.on_exercise(task, setups.body(before), setups.body(before), texts).right:
        yield "its checks pass before anything is changed"
    done = solved(task)
    if not feedback.on_exercise(task, setups.body(done), setups.body(before), texts).right:
        yield "its solution does not pass its checks"


def solved(task: Exercise) -> Scenario:
    """Return the scenario of an exercise with its solution."""
    scenario = setups.scenario(task.setup)
    if order := task.solution.get("order"):
        return setups.in_order(scenario, tuple(order))
    return setups.changed(scenario, task.solution)


def _first_view(lesson: LessonData) -> Iterator[str]:
    body = setups.body(setups.scenario(lesson.tasks[0].setup))
    clients = {
        action[who]
        for action in body["actions"]
        for who in ("name", "consumer", "producer", "client")
        if isinstance(action.get(who), str)
    }
    count = len(body["brokers"]) + len(body.get("connectors", ())) + len(clients)
    if count > NEW_THINGS:
        yield f"{lesson.tasks[0].id}: {count} things in the first picture, at most {NEW_THINGS}"


def _of_notebook(lesson: LessonData, found: list[Cell]) -> Iterator[str]:
    text = "\n".join(cell["source"] for cell in found)
    for task in lesson.tasks:
        if f'"{task.id}"' not in text:
            yield f"{task.id} is not asked in the notebook"
    if lesson.discoveries and DISCOVERIES not in text:
        yield f"{DISCOVERIES} is not shown in the notebook"
    total, since = 0.0, 0.0
    for cell in found:
        spent = minutes(cell, lesson)
        since += spent
        total += spent
        if any(f'"{task.id}"' in cell["source"] for task in lesson.tasks):
            since = 0.0
        elif since > APART:
            yield f"{since:.0f} min without a task, before {cell['source'][:40]!r}"
            since = 0.0
    if not LEAST <= total <= MOST:
        yield f"takes about {total:.0f} min; the target is {LEAST:.0f} to {MOST:.0f} min"


def minutes(cell: Cell, lesson: LessonData) -> float:
    """Return how long a learner needs for a cell, about."""
    if cell["cell_type"] == "markdown":
        return _reading(cell["source"])
    for task in lesson.tasks:
        if f'"{task.id}"' in cell["source"]:
            reading = _reading(task.text, task.told, *task.hints)
            return reading + MINUTES["predict" if isinstance(task, Prediction) else "exercise"]
    if DISCOVERIES in cell["source"]:
        return _reading(*(f"{found.asks} {found.told}" for found in lesson.discoveries))
    return MINUTES["code"]


def _reading(*texts: str) -> float:
    return len(" ".join(texts).split()) / WORDS_PER_MINUTE


def length(name: str, folder: Path | None = None) -> float:
    """Return how many minutes a lesson takes, about."""
    lesson = data.lesson(name)
    return sum(minutes(cell, lesson) for cell in cells(notebook_of(name, folder)))
