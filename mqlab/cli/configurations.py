"""Commands about files: check, save, conform."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from mqlab import verbs
from mqlab.cli.app import Edition, Json, Set, What, Whats, app, note, scenario, show, table, told


@app.command()
def check(
    whats: Whats, changes: Set = None, edition: Edition = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show the problems of a configuration; exit 1 if one is an error."""
    errors = 0
    for what in whats:
        found = verbs.check(scenario(what, changes, edition))
        errors += sum(problem.level == "error" for problem in found)
        name = next(iter(told(what)))
        problems = table(
            name, "level", "where", "what happens, and what to write", whole=("level",)
        )
        for problem in found:
            if as_json:
                print(json.dumps({"what": what, **asdict(problem)}))
            text = f"{problem.what}; {problem.remedy} [{problem.source}]"
            problems.add_row(problem.level, *told(problem.where, text))
        if not as_json:
            show(problems if found else f"{name}: no problem found.")
    raise typer.Exit(1 if errors else 0)


@app.command()
def save(
    what: What,
    to: Annotated[Path, typer.Option(help="the lab file to write")],
    changes: Set = None, edition: Edition = None,
) -> None:  # fmt: skip
    """Write a figure or a lab file, perhaps with other options, as a lab file."""
    verbs.save(scenario(what, changes, edition), to)
    note(f"{what} written to {to}")


@app.command()
def conform(
    paths: Annotated[list[Path], typer.Argument(help="recordings, or folders of them")],
    as_json: Json = False,
) -> None:
    """Compare runs with recordings of real brokers; exit 1 if one disagrees or cannot run.

    Recordings of depth none are bounds: what lies within is counted apart, as unjudged.
    """
    from mqlab.conform import RESULTS
    from mqlab.conform import conform as verdicts

    judged = table(
        "Conformance", "recording", "depth", "result", "details", whole=("depth", "result")
    )
    counts = dict.fromkeys(RESULTS, 0)
    for verdict in verdicts(list(paths)):
        counts[verdict.result] += 1
        if as_json:
            print(json.dumps({"file": verdict.file, "depth": verdict.depth,
                              "result": verdict.result, "details": verdict.details}))  # fmt: skip
        more = f"\n(and {len(verdict.details) - 3} more)" if len(verdict.details) > 3 else ""
        file, details = Path(verdict.file), "\n".join(verdict.details[:3]) + more
        name = f"{file.parent.name}/{file.stem}"
        judged.add_row(*told(name, verdict.depth, verdict.result, details))
    if not as_json:
        show(judged, ", ".join(f"{count} {result}" for result, count in counts.items()))
    raise typer.Exit(1 if counts["disagree"] or counts["cannot run"] else 0)
