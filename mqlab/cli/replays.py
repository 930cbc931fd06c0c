"""Commands that run on Spark: sweep, replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mqlab.cli import arguments
from mqlab.cli.app import app, only, scenario, show, table, told
from mqlab.errors import BadValue


@app.command()
def sweep(
    what: arguments.What,
    over: Annotated[list[str], typer.Option(help="A/link.option=v1,v2 or edition=v1,v2")],
    out_dir: Annotated[Path, typer.Option("--out", help="output folder (must not exist)")],
    seeds: Annotated[int, typer.Option(min=1, help="number of seeds per combination")] = 1,
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
) -> None:
    """Run every combination of options and seeds on Spark."""
    from mqlab import replay

    choices: dict[str, Sequence[object]] = {}
    for text in over:
        path, equals, values = text.partition("=")
        if not equals:
            raise BadValue(f"--over {text!r}: write A/linkToBrokerB.network_ttl=1,2,3")
        if path in choices:
            raise BadValue(f"--over {text!r}: {path} has values already; write them in one, e.g. {path}=1,2,3")
        choices[path] = values.split(",")
    asked = scenario(only(what), None, None, load, consumers, producers, does)
    result = replay.sweep(asked, over=choices, seeds=seeds, out=out_dir)
    columns = ("options", "runs", "received")
    rows = table(f"{result.runs} runs, {len(result.failed)} failed", *columns)
    for row in result.summary():
        rows.add_row(*told(*(str(row[key]) for key in columns)))
    show(rows)


@app.command()
def replay(
    trace_dir: Path,
    out_dir: Annotated[Path | None, typer.Option("--out", help="output folder")] = None,
) -> None:
    """Build the zoom levels (pyramid) of a large trace with Spark, for the player."""
    from mqlab import replay as room

    show(str(room.build(trace_dir, out=out_dir)))
