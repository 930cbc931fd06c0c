"""The command that makes pages of the lessons: lessons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mqlab.cli import arguments
from mqlab.cli.app import app, note, print_json, show, table, told
from mqlab.errors import BadValue, MissingExtra
from mqlab.spec.plural import counted

if TYPE_CHECKING:
    from mqlab.site.book import Page


@app.command()
def lessons(
    names: Annotated[
        list[str] | None, typer.Argument(help="lessons to export, also MINE.toml (default: all)")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="export as HTML pages into this folder (serve it with any file server)")
    ] = None,
    engine: Annotated[
        Path | None,
        typer.Option(
            help="folder of Pyodide (npm install pyodide); detected automatically if npm installed it here"
        ),
    ] = None,
    without_engine: Annotated[
        bool,
        typer.Option(
            "--without-engine", help="omit the engine: pages play recorded runs but cannot run new ones"
        ),
    ] = False,
    as_json: arguments.Json = False,
) -> None:
    """List the lessons, or export them as static pages that need no kernel and no internet."""
    from mqlab.site import book

    pages = book.chosen(names or ())
    if html is not None:
        _write(html, pages, engine, without_engine)
        return
    if as_json:
        for page in pages:
            print_json(
                lesson=page.name, title=page.lesson.title, question=page.lesson.question, minutes=page.minutes
            )
        return
    made = table("", "lesson", "question", "minutes", whole=["lesson"])
    for page in pages:
        made.add_row(*told(page.name, page.lesson.question or page.lesson.title, str(page.minutes)))
    show(made)


def _write(folder: Path, pages: list[Page], engine: Path | None, without: bool) -> None:
    if engine is not None and without:
        raise BadValue("--engine and --without-engine cannot be combined; use one of them")
    with MissingExtra.told("lab"):
        from mqlab.site import writing
        from mqlab.site.engine import find
    site = writing.Site(folder, None if without else find(engine))
    count = sum(1 for _ in site.write(pages))
    note(f"{counted(count, 'file')} in {folder}; see them with: python -m http.server --directory {folder}")
