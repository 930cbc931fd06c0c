"""The instructor's side of a notebook: the same, with every task answered rightly by code."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from mqlab.lessons import answers, checking, data, setups
from mqlab.lessons.data import Exercise, Prediction
from mqlab.spec.json_types import JsonDict

IGNORED = "nbval-ignore-output"  # a form or a picture: nothing in it is text


def solved(name: str, folder: Path | None = None) -> dict[str, object]:
    """Return the notebook of a lesson with its solutions; cells that only show a picture stay.

    Raises `OSError` for a notebook that is not there.
    """
    lesson = data.lesson(name)
    text = checking.notebook_of(name, folder).read_text(encoding="utf-8")
    notebook: JsonDict = copy.deepcopy(json.loads(text))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        for task in lesson.tasks:
            if f'lesson.ask("{task.id}")' in source:
                cell["source"] = answer(task)
                cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    first = notebook["cells"][0]
    title, _, rest = "".join(first["source"]).partition("\n")
    first["source"] = f"{title}: solutions\n{rest}"
    return notebook


def answer(task: Prediction | Exercise) -> str:
    """Return the line of code that does a task rightly."""
    if isinstance(task, Prediction):
        key = answers.key(task, setups.play(setups.scenario(task.setup)))
        plain = all(name.isidentifier() for name in key)
        given = ", ".join(f"{n}={v!r}" for n, v in key.items()) if plain else f"**{dict(key)!r}"
        return f'lesson.predict("{task.id}", {given})'
    if task.pieces:
        return f'lesson.arrange("{task.id}", {list(task.solution["order"])!r})'
    return f'lesson.fill("{task.id}", {dict(task.solution)!r})'
