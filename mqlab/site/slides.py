"""Slides of a lesson, one idea each, made of its own tasks and runs; what to say stands in the notes.

A prediction is two slides: the question with the run that is not played yet, and the answers with the rule
behind each. The words are those of the instructor's page (`mqlab.lessons.guide`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab.lessons import answers
from mqlab.lessons.data import Exercise, LessonData, Prediction
from mqlab.site.parts import Part
from mqlab.spec.json_types import JsonObject
from mqlab.spec.values import as_text

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide:
    """One slide. `rows` are pairs of an answer and what it shows, `lines` stand alone; `notes` are said."""

    kind: str
    title: str
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    picture: Mapping[str, object] | None = None
    notes: tuple[str, ...] = ()


def deck(lesson: LessonData, parts: Sequence[Part], minutes: int, words: Words) -> list[Slide]:
    """Return the slides of a lesson whose page has these *parts*."""
    about = lesson.instructor
    asked = {part.task["id"]: part for part in parts if part.task is not None}
    slides = [
        Slide(
            kind="title",
            title=lesson.title,
            lines=(lesson.question,),
            notes=(*_said(about.get("goal")), words["minutes"].format(minutes=minutes)),
        )
    ]
    for task in lesson.tasks:
        slides += _of_task(task, asked[task.id], words)
    if questions := tuple(about.get("ask", ())):
        slides.append(
            Slide(kind="ask", title=words["questions"], lines=questions, notes=_said(about.get("short")))
        )
    return slides


def _of_task(task: Prediction | Exercise, part: Part, words: Words) -> Iterator[Slide]:
    shown: JsonObject = part.task or {}
    after = f"{task.told} [{task.source}]"
    if isinstance(task, Prediction):
        rows = [(shown["key_told"], words["right"])]
        rows += [(answers.told(wrong), rule) for _, wrong, rule in shown["mistakes"]]
        alone = words["commit_alone"]
        yield Slide(
            kind="predict",
            title=task.text,
            picture=part.picture,
            notes=(alone, *(f"{given}: {rule}" for given, rule in rows)),
        )
        yield Slide(
            kind="answers",
            title=words["answers"],
            rows=tuple(rows),
            lines=(after,),
            notes=task.hints,
        )
        return
    given = tuple(f"{place} = {_written(value)}" for place, value in task.solution.items())
    yield Slide(kind="exercise", title=task.text, lines=task.blanks or task.pieces, notes=task.hints)
    yield Slide(
        kind="solution",
        title=words["solution"],
        rows=tuple((one, "") for one in given),
        lines=(after,),
    )


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return as_text(value)


def _said(text: object) -> tuple[str, ...]:
    return (str(text),) if text else ()
