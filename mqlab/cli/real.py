"""The command that plays on real brokers: real."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from mqlab.api import verbs
from mqlab.cli import arguments
from mqlab.cli.app import app, note, only, print_json, scenario, show, table, told


def _install(asked: str | None) -> None:
    if asked is not None:
        from mqlab.real.install import install

        home = install(asked, Path("mqlab-products"))
        print(f"{home} is in {home.folder}")
        print(f"export {home.product.variable}={shlex.quote(str(home.folder))}")
        raise typer.Exit


@app.command()
def real(
    what: arguments.What,
    changes: arguments.Set = None,
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    as_json: arguments.Json = False,
    record: Annotated[Path | None, typer.Option(help="save the real run as a recording")] = None,
    limit: Annotated[float, typer.Option(help="time limit in seconds")] = 120,
    install: Annotated[
        str | None,
        typer.Option(
            callback=_install,
            is_eager=True,
            metavar="PRODUCT:VERSION",
            help="bring a product, e.g. artemis:2.31.2, into mqlab-products by Maven, and play nothing",
        ),
    ] = None,
    plays: Annotated[
        int | None, typer.Option(help="plays of the real brokers (default: 1, or 5 if the first one differs)")
    ] = None,
) -> None:
    """Run a figure or lab file on real brokers as well and compare; exit status 1 if anything differs.

    Real brokers race in some networks. What varies between their plays is told with its counts.
    """
    paths = only(what)
    label, asked = ", ".join(paths), scenario(paths, changes, None, load, consumers, producers, does)
    both = verbs.real(asked, record=record, limit=limit, plays=plays)
    if as_json:
        print_json(
            what=label,
            version=both.version,
            plays=both.plays,
            differs=both.differs,
            varies={name: list(seen) for name, seen in both.varies.items()},
            problems=both.problems,
            undone=list(both.undone),
            real=both.real,
            lab=both.lab,
        )
    else:
        head, *lines = both.table()
        totals = table(next(iter(told(label))), *head)
        for line in lines:
            totals.add_row(*told(*line))
        show(totals, *told(*both.said, *both.problems))
    if record is not None:
        note(f"{label}: recording written to {record}")
    raise typer.Exit(1 if both.differs else 0)
