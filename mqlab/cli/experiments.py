"""Commands that run something many times: what-if, outcomes."""

from __future__ import annotations

from typing import Annotated

import typer

from mqlab.api import asking, verbs
from mqlab.cli import arguments
from mqlab.cli.app import app, network, note, only, print_json, scenario, show, table, told
from mqlab.errors import BadValue, Interrupted
from mqlab.spec.link import Links
from mqlab.spec.plural import counted


@app.command()
def what_if(
    what: arguments.What,
    consumer: Annotated[str, typer.Option(help="the consumer in question")],
    message: Annotated[str | None, typer.Option(help="e.g. P-7, or a number")] = None,
    queue: arguments.Queue = None,
    on: arguments.On = None,
    at_most: Annotated[
        int | None, typer.Option(min=1, help="maximum number of runs (default: stop after a few seconds)")
    ] = None,
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
    load: arguments.Load = None,
    consumers: arguments.ConsumersAt = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
) -> None:
    """Find every single change that makes a consumer receive a message (or stops it)."""
    paths = only(what)
    if queue is not None:
        asked = network(paths, changes, edition)
    elif message is None:
        raise BadValue(f"what-if needs a message, e.g. --message P-1 --consumer {consumer}")
    else:
        asked = verbs.run(scenario(paths, changes, edition, load, consumers, producers, does), seed=seed)
    found = asking.what_if(asked, message=message, consumer=consumer, at_most=at_most, queue=queue, on=on)
    if as_json:
        print_json(
            what=", ".join(paths),
            message=found.message,
            consumer=found.consumer,
            received=found.received,
            changes=[change.text for change in found.changes],
            tried=found.tried,
            all_tried=found.all_tried,
        )
    else:
        print(found)


@app.command()
def outcomes(
    what: arguments.What,
    seeds: Annotated[int, typer.Option(min=1, help="number of runs")] = 200,
    jitter: Annotated[str, typer.Option(help="random extra delay per link")] = "1ms",
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    lines: arguments.Lines = None,
    as_json: arguments.Json = False,
) -> None:
    """Show every possible outcome of a run, its frequency, and a seed that reproduces it."""
    paths = only(what)
    asked = scenario(paths, changes, edition, load, consumers, producers, does)
    stopped = False
    try:
        found = asking.outcomes(asked, seeds=seeds, seed=seed, jitter=jitter, links=Links.parse(lines or ()))
    except Interrupted as stop:
        if (found := stop.outcomes) is None:
            raise
        note(f"interrupted after {found.runs} of {counted(seeds, 'run')}; these are their outcomes")
        stopped = True
    rows = table("", "runs", "share", "outcome", "seed", whole=("runs", "share", "seed"))
    for place, outcome in enumerate(found):
        if as_json:
            print_json(
                what=", ".join(paths),
                runs=outcome.runs,
                share=found.share(place),
                received=dict(outcome.received),
                waiting=dict(outcome.waiting),
                lost=outcome.lost,
                twice=outcome.twice,
                seed=outcome.seed,
            )
        share = f"{found.share(place):.0%}"
        rows.add_row(str(outcome.runs), share, *told(str(outcome)), str(outcome.seed))
    if not as_json:
        show(rows)
    if stopped:
        raise typer.Exit(130)
