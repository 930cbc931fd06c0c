"""Commands about this machine: lab, doctor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mqlab.cli import arguments
from mqlab.cli.app import app, print_version, show, table, told


@app.command()
def lab(
    folder: Annotated[Path | None, typer.Argument(help="folder for the notebooks")] = None,
    browser: Annotated[bool, typer.Option(help="open a browser")] = True,
    offline: Annotated[bool, typer.Option("--offline", help="make no network requests")] = False,
) -> None:
    """Start JupyterLab on the notebooks."""
    from mqlab.lessons import jupyter

    raise typer.Exit(jupyter.start(folder, browser=browser, offline=offline))


@app.command(hidden=True)
def version() -> None:
    """Print the version, as ``--version`` does."""
    print_version()


@app.command()
def doctor(as_json: arguments.Json = False) -> None:
    """Report what is installed, what is missing, and how to install it."""
    from mqlab.api.doctor import examine

    findings = examine()
    if as_json:
        print(json.dumps(findings))
        return
    columns = ("part", "needs", "state", "how to get it")
    parts = table("mqlab doctor", *columns)
    for row in findings:
        parts.add_row(*told(*(row[key] for key in ("part", "needs", "state", "how"))))
    show(parts)
