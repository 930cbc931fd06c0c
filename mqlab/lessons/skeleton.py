"""A new lesson: its data and its notebook, filled with what has to be replaced."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mqlab.errors import BadFile, BadValue
from mqlab.products import inputs

DATA = """title = "{title}"
question = "Which question does this lesson answer, that somebody who runs brokers would ask?"

# Something to predict: text, what is measured (received, waits, crosses, hops, route, lost, twice, serves,
# seconds), the wrong rules that learners follow, two hints or more, what to say afterwards, and the source.
[[predict]]
id = "first"
place = 1
figure = "fuse:2.1"
kind = "received"
text = "How many messages does each consumer receive?"
mistakes = ["connectors_lead_both_ways"]
hints = ["In which direction are messages forwarded?", "Does B have a connector to forward over?"]
told = "A connector forwards one way."
source = "Fuse 2, Network connectors, figure 2.1"

# Something to bring about: with blanks (options by path), with pieces (brokers to be put in order), or with a
# network of the learner's own.
[[exercise]]
id = "then"
place = 2
figure = "fuse:2.1"
text = "Let C2 receive its messages, too."
blanks = ["A/linkToBrokerB.duplex"]
checks = [{{ kind = "received", of = "C2", is = 10 }}]
solution = {{ "A/linkToBrokerB.duplex" = true }}
hints = ["Which option lets B forward over A's connection?", "Write true."]
told = "duplex carries messages both ways."
source = "Fuse 2, Network connectors, figure 2.3"
"""
INTRODUCTION = """# {title}

One question, in bold. Who asks it, and when? Name the guide and the section that this lesson follows."""
END = """## What you know now

* One line for each thing that a learner can say now and could not before."""


def write(name: str, folder: Path) -> list[Path]:
    """Write ``NAME.toml`` and ``NAME.ipynb`` into a folder; returns both.

    Raises `BadValue` for a name that is none of a file, `BadFile` where one of them is there already.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name):
        told = "a name has letters, digits and hyphens"
        raise BadValue(f"{name!r} is not a valid lesson name: {told}; use e.g. my-first-lesson")
    title = name.replace("-", " ").capitalize()
    files = [folder / f"{name}.toml", folder / f"{name}.ipynb"]
    texts = [DATA.format(title=title), json.dumps(_notebook(name, title), indent=1) + "\n"]
    for file in files:
        if file.exists():
            raise BadFile(f"{file} already exists; choose another name")
    for file, text in zip(files, texts, strict=True):
        with inputs.writing(file) as path:
            path.write_text(text, encoding="utf-8")
    return files


def _notebook(name: str, title: str) -> dict[str, object]:
    cells = [
        _text(INTRODUCTION.format(title=title)),
        _code(f'import mqlab as mq\n\nlesson = mq.lessons.open("{name}.toml")'),
        _text("## Predict"),
        _code('lesson.ask("first")'),
        _text("Say what to look at, then ask a message."),
        _code('trace = lesson.trace("first")\nmq.explain(trace, message=1)'),
        _text("## Change one thing"),
        _code('lesson.ask("then")'),
        _text(END),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _text(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }
