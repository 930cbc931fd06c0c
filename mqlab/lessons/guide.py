"""The instructor's page of a lesson, as Markdown: made from the lesson's data and from runs.

What learners get wrong stands beside the answer that each wrong rule gives, so that an instructor who sees the
answer knows the rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.lessons import answers, checking, data, discoveries, mistakes, setups
from mqlab.lessons.data import Exercise, LessonData, Prediction


def page(name: str) -> str:
    """Return the page of a lesson; raises `UnknownName`."""
    return "\n".join(_lines(data.lesson(name), checking.length(name))) + "\n"


def _lines(lesson: LessonData, minutes: float) -> Iterator[str]:
    about = lesson.instructor
    yield f"# {lesson.name}: {lesson.title}"
    yield ""
    yield f"**Question.** {lesson.question} About {minutes:.0f} min for a learner alone."
    if goal := about.get("goal"):
        yield ""
        yield f"**Goal.** {goal}"
    for task in lesson.tasks:
        yield ""
        yield f"## {task.id}"
        yield ""
        yield task.text
        yield ""
        yield from _prediction(task) if isinstance(task, Prediction) else _exercise(task)
        yield ""
        yield f"{task.told} [{task.source}]"
    if lesson.discoveries:
        yield ""
        yield "## What real brokers do"
        yield ""
        for found in discoveries.of(lesson):
            yield f"* *{found.discovery.asks}* {found.told} `{found.discovery.recorded}`"
    if questions := about.get("ask"):
        yield ""
        yield "## Questions to ask"
        yield ""
        yield from (f"* {question}" for question in questions)
    if short := about.get("short"):
        yield ""
        yield "## When time is short"
        yield ""
        yield str(short)


def _prediction(task: Prediction) -> Iterator[str]:
    scenario = setups.scenario(task.setup)
    trace, body = setups.play(scenario), setups.body(scenario)
    yield "| answer | what it shows |"
    yield "|---|---|"
    yield f"| **{answers.told(answers.key(task, trace))}** | right |"
    for name in task.mistakes:
        wrong = mistakes.answer(name, task, body, trace)
        if wrong is not None:
            yield f"| {answers.told(wrong)} | {data.texts()['mistakes'][name]} |"


def _exercise(task: Exercise) -> Iterator[str]:
    given = ", ".join(f"`{place}` = `{value}`" for place, value in task.solution.items())
    yield f"One solution: {given}."
