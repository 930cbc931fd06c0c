"""A task as data of its page: what is asked, and all that is said without an engine.

The key and the answers of wrong rules are computed here, once; `page/tasks.js` puts together what
`mqlab.lessons.feedback` would say to a prediction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from mqlab.lessons import Lesson, answers, feedback, mistakes, setups
from mqlab.lessons.data import Exercise, Prediction
from mqlab.spec.values import as_typed

MOST_ORDERS = 120
NUMBERS = tuple(str(number) for number in range(13))


def described(lesson: Lesson, id: str) -> dict[str, object]:
    """Return a task as a JSON value."""
    task = lesson.task(id)
    fields = lesson.fields(id)
    shared = {
        "id": id,
        "lesson": lesson.data.name,
        "language": lesson.data.language,
        "hints": list(_hints(lesson, task, fields)),
    }
    if isinstance(task, Prediction):
        return {**shared, "kind": "predict", **_prediction(lesson, task)}
    kind = "arrange" if task.pieces else "fill"
    return {**shared, "kind": kind, "fields": list(fields), "tried": dict(_tried(lesson, task))}


def _hints(lesson: Lesson, task: Prediction | Exercise, fields: answers.Answer) -> Iterator[str]:
    key = fields if isinstance(task, Prediction) else {}
    count = len(task.hints) + bool(key)
    yield from (feedback.hint(task, number, key, lesson.texts) for number in range(1, count + 2))


def _prediction(lesson: Lesson, task: Prediction) -> dict[str, object]:
    trace, body = lesson.trace(task.id), setups.body(lesson.figure(task.id))
    key = answers.key(task, trace)
    wrong = ((name, mistakes.answer(name, task, body, trace)) for name in task.mistakes)
    sent = trace.index.count
    source = lesson.texts["words"]["source"].format(source=task.source) if task.source else ""
    return {
        "fields": list(key),
        "key": dict(key),
        "key_told": answers.told(key),
        "within": task.within,
        "whole": [name for name, value in key.items() if isinstance(value, int)],
        "sums": task.kind in ("received", "waits"),
        "sent": sent,
        "mistakes": [
            [name, dict(answer), lesson.texts["mistakes"][name]] for name, answer in wrong if answer is not None
        ],
        "told": " ".join([task.told, source]).strip(),
        "ask": feedback.question(task, trace),
    }


def _tried(lesson: Lesson, task: Exercise) -> Iterator[tuple[str, object]]:
    """Yield what was given (as it is typed, fields joined by a line) with what is said to it."""
    for given in _attempts(task):
        if task.pieces:
            said = lesson.arrange(task.id, given["order"].split())
        else:
            said = lesson.fill(task.id, {name: as_typed(text) for name, text in given.items()})
        yield "\n".join(given.values()), {"right": said.right, "lines": list(said.lines)}


def _attempts(task: Exercise) -> Iterator[Mapping[str, str]]:
    if task.pieces:
        orders = itertools.islice(itertools.permutations(task.pieces), MOST_ORDERS)
        yield from ({"order": " ".join(order)} for order in orders)
        return
    for values in itertools.product(*(_values(task.solution[name]) for name in task.blanks)):
        yield dict(zip(task.blanks, values, strict=True))


def _values(right: object) -> tuple[str, ...]:
    """Return what a learner may try in the place of the right value."""
    if isinstance(right, bool):
        return ("true", "false", "0", "1")
    if isinstance(right, int):
        return tuple(dict.fromkeys([*NUMBERS, "100", "1000", "2000", "10000", str(right)]))
    return (", ".join(map(str, right)) if isinstance(right, list) else str(right), "0")
