"""Commands for those who write lessons and lead workshops: lesson new, lesson check, workshop report."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mqlab.cli import arguments
from mqlab.cli.app import Commands, app, print_json, show, table, told

lesson = Commands(no_args_is_help=True, help="Write and check lessons.")
workshop = Commands(no_args_is_help=True, help="The progress of a class.")
app.add_typer(lesson, name="lesson")
app.add_typer(workshop, name="workshop")


@lesson.command()
def new(
    name: Annotated[str, typer.Argument(help="e.g. why-is-it-slow")],
    folder: Annotated[Path, typer.Option("--to", help="folder for it")] = Path(),
) -> None:
    """Write the skeleton of a lesson: NAME.toml, its tasks, and NAME.ipynb."""
    from mqlab.lessons import skeleton

    for file in skeleton.write(name, folder):
        show(f"wrote {file}")


@lesson.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="built-in lessons or NAME.toml files (default: all built-in lessons)"),
    ] = None,
    as_json: arguments.Json = False,
) -> None:
    """Run the tasks of lessons, estimate their duration, report what is missing; exit status 1 if so."""
    from mqlab.lessons import checking, data

    found = {name: checking.problems(name) for name in names or data.names()}
    for name, problems in found.items():
        if as_json:
            print_json(lesson=name, problems=problems)
            continue
        there = checking.notebook_of(name).exists()
        show(f"{name}: {checking.length(name):.0f} minutes" if there else name)
        for problem in problems:
            show(*told(f"  {problem}"))
    raise typer.Exit(1 if any(found.values()) else 0)


@workshop.command()
def report(
    folder: Annotated[Path, typer.Argument(help="folder with a class's progress files (*.jsonl)")],
    names: Annotated[bool, typer.Option(help="list by name who has not done a task")] = False,
    as_json: arguments.Json = False,
) -> None:
    """Summarise a class's progress (names only with --names)."""
    from mqlab.lessons.report import summarise

    rows = summarise(folder)
    if as_json:
        for row in rows:
            print_json(**{k: v for k, v in asdict(row).items() if names or k != "open"})
        return
    columns = ["lesson", "task", "tried", "done", "at once", "tries", "what went wrong"]
    made = table("", *columns, *(["not yet"] if names else []))
    for row in rows:
        wrong = ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in row.mistakes)
        cells = [
            row.lesson,
            row.task,
            f"{row.learners}",
            f"{row.done:.0%}",
            f"{row.first:.0%}",
            f"{row.tries:.1f}",
            wrong,
            *([", ".join(row.open)] if names else []),
        ]
        made.add_row(*told(*cells))
    show(made)
