"""What the commands share: the application, options that several have, tables, what a WHAT is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from mqlab.api import verbs
from mqlab.errors import BadFile, BadValue
from mqlab.files import files, management
from mqlab.products import inputs

if TYPE_CHECKING:
    from rich.table import Table

    from mqlab.spec.scenario import AnyNetwork, Scenario
    from mqlab.trace.trace import Trace

    Changed = TypeVar("Changed", AnyNetwork, Scenario)


def print_version() -> None:
    """Print the version of mqlab."""
    import mqlab

    print(f"mqlab {mqlab.__version__}")


def _version(asked: bool) -> None:
    if asked:
        print_version()
        raise typer.Exit


class Command(TyperCommand):
    """A command whose options are given once, unless each of their values counts."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raise `BadValue` for an option that is repeated where only the last one would count."""
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for one in dict.fromkeys(order):
            many = getattr(one, "multiple", True) or getattr(one, "is_flag", True)
            if not many and order.count(one) > 1:
                raise BadValue(f"{one.opts[0]} is given {order.count(one)} times; give it once")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Call the command; Ctrl-C, of which it has told nothing itself, is told."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            note(f"mqlab {ctx.info_name}: interrupted before it was over")
            raise


class Commands(typer.Typer):
    """Commands of that class."""

    if not TYPE_CHECKING:  # who checks types has typer's own

        def command(self, *given, **named):
            """Return what makes a command of a function."""
            return super().command(*given, cls=Command, **named)


app = Commands(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """See how a network of message brokers behaves."""


def table(title: str, *columns: str, whole: Sequence[str] = ()) -> Table:
    """Return an empty table; what stands in the *whole* columns is not broken over lines."""
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold", no_wrap=column in whole)
    return made


def show(*lines: object) -> None:
    """Print texts (with rich's marks) and tables to standard output, as wide as the terminal or 80."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 80
    console = Console(width=width, soft_wrap=False, highlight=False)
    for line in lines:
        console.print(line)


def told(*texts: str) -> Iterable[str]:
    """Yield texts in which nothing is a mark of rich's."""
    from rich.markup import escape

    return map(escape, texts)


def print_json(**values: object) -> None:
    """Print a JSON object on a line of its own."""
    print(json.dumps(values))


def note(text: str) -> None:
    """Print what is no result, such as where a file went, to standard error."""
    print(text, file=sys.stderr)


def runs(whats: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what each run is of: all configuration files, folders and running brokers are one network.

    All logs are of one run.

    What is printed of them has no password.
    """
    whats = [management.without_secret(what) if management.is_address(what) else what for what in whats]
    together = tuple(what for what in whats if files.is_configuration(what))
    logs = tuple(what for what in whats if inputs.are_logs([what]))
    alone: list[tuple[str, ...]] = [(what,) for what in whats if what not in (*together, *logs)]
    return [*filter(None, (together, logs)), *alone]


def only(whats: Sequence[str]) -> tuple[str, ...]:
    """Return what the one run of a command is of; raises `BadValue` for several."""
    first, *more = runs(whats)
    if more:
        raise BadValue(
            f"{more[0][0]}: one figure or lab file at a time; several files of one network may be given"
        )
    return first


def scenario(
    what: tuple[str, ...],
    changes: list[str] | None = None,
    edition: str | None = None,
    load: str | None = None,
    consumers: Iterable[str] | None = None,
    producers: Iterable[str] | None = None,
    does: Iterable[str] | None = None,
) -> Scenario:
    """Return the scenario that *what* names, changed as ``--set`` says, with traffic and actions added."""
    from mqlab.products.traffic import action_of, traffic_of

    first, path = what[0], Path(what[0])
    if len(what) > 1:
        found = verbs.scenario_of(verbs.load(*what))
    elif ":" not in first and not (inputs.is_file(first) or _exists(path)):
        raise BadFile(f"{first}: neither a file or folder here nor the id of a figure, such as fuse:2.20")
    else:
        found = verbs.scenario_of(path if first and (path.suffix == ".json" or _exists(path)) else first)
    made = changed(found, changes, edition)
    traffic = traffic_of(made, load, consumers or (), producers or ())
    return verbs.scenario_of(made, *traffic, *(action_of(text, made.product) for text in does or ()))


def of_logs(what: tuple[str, ...], *given: object) -> Trace | None:
    """Return what logs tell; None for anything else. What is *given* beside them raises `BadValue`."""
    if not inputs.are_logs(what):
        return None
    if any(given):
        raise BadValue(f"{what[0]}: logs tell of what is over; leave out options that change or add something")
    return inputs.logs(what)


def network(what: tuple[str, ...], changes: list[str] | None, edition: str | None) -> object:
    """Return the network of running brokers, changed as ``--set`` says; raises `BadValue` for anything else."""
    found = inputs.network_of(what) if files.is_configuration(what[0]) else None
    if found is None or found.running is None:
        raise BadValue(
            f"--queue asks about a running network; give its address as WHAT, e.g. {management.EXAMPLE}"
        )
    return changed(found, changes, edition)


def changed(found: Changed, changes: list[str] | None, edition: str | None) -> Changed:
    """Return a scenario or a network with options changed as ``--set`` says."""
    from mqlab import products

    set_already: dict[tuple[str, str], str] = {}
    for change in changes or ():
        place, equals, value = change.partition("=")
        element, dot, option = place.rpartition(".")
        if not (equals and dot and element and option):
            raise BadValue(f"--set {change!r}: expected e.g. A/linkToBrokerB.network_ttl=3")
        name = products.option_name(found, option)
        if (before := set_already.setdefault((element, name), change)) is not change:
            raise BadValue(f"--set {change!r}: --set {before!r} sets the same option; give it once")
        found = found.change(element, **{name: value})
    return found if edition is None else found.under(edition)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # no name of a file
        return False


def check_paths(trace: Path | None, html: Path | None) -> None:
    """Raise for what cannot be written, before anybody waits for the run."""
    pairs = (
        (trace, ".parquet", "--trace", "a trace is a Parquet"),
        (html, ".html", "--html", "a page is an HTML"),
    )
    for path, ending, option, kind in pairs:
        if path and path.suffix != ending and not path.is_dir():
            raise BadValue(f"{option} {path}: {kind} file; use e.g. {path.with_suffix(ending)}")
        if path:
            with inputs.writing(path):
                pass
