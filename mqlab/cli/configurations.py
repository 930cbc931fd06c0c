"""Commands about files: check, save, conform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mqlab.api import verbs
from mqlab.cli import arguments
from mqlab.cli.app import app, changed, note, only, print_json, runs, scenario, show, table, told
from mqlab.errors import BadValue
from mqlab.files import files
from mqlab.products import inputs
from mqlab.spec.problem import Problem

if TYPE_CHECKING:
    from mqlab.experiments.effect import Effect


@app.command()
def check(
    whats: arguments.Whats,
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
    values: Annotated[str | None, typer.Option(help="property file for placeholders such as ${port}")] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(help="the broker on a host that no file names, HOST=BROKER; may be repeated"),
    ] = None,
    as_json: arguments.Json = False,
) -> None:
    """List problems in a configuration; exit status 1 if any of them is an error.

    Configuration files (and folders) given together form one network.
    """
    errors = 0
    for what, found in checked(whats, changes, edition, values, _pairs(hosts)):
        errors += sum(problem.level == "error" for problem in found)
        name = next(iter(told(what)))
        problems = table(name, "level", "where", "problem and fix", whole=("level",))
        effects = _effects(found)
        for problem in found:
            if as_json:
                shown = effects.get(problem.rule)
                more = {"effect": shown.changes} if shown else {}
                print_json(**asdict(problem), **more)
            text = f"{problem.what}; {problem.remedy} [{problem.source}]"
            problems.add_row(problem.level, *told(problem.place, text))
        if not as_json:
            show(problems if found else f"{name}: no problem found.")
            if effects:
                show(_shown(effects))
    raise typer.Exit(1 if errors else 0)


def _effects(found: list[Problem]) -> dict[str, Effect]:
    if not found:
        return {}  # the rules of all products, with what makes their examples, are a third of the start
    from mqlab.experiments.catalogue import examples
    from mqlab.experiments.effect import effect

    rules, known = dict.fromkeys(problem.rule for problem in found), examples()
    return {rule: effect(rule) for rule in rules if rule in known}


def _shown(effects: dict[str, Effect]) -> object:
    shown = table(
        "Effect, shown on a minimal example",
        "rule",
        "a run shows",
        whole=("rule",),
    )
    for effect in effects.values():
        shown.add_row(*told(effect.rule, effect.told))
    return shown


def _pairs(hosts: list[str] | None) -> dict[str, str]:
    """Return host -> broker; raises `BadValue` for what is no pair."""
    found = dict[str, str]()
    for text in hosts or ():
        host, _, broker = text.partition("=")
        if not host or not broker:
            raise BadValue(f"--hosts {text}: expected HOST=BROKER, e.g. --hosts b.example.com=B")
        if host in found:
            raise BadValue(f"--hosts {text}: {host} is {found[host]} already; give it once")
        found[host] = broker
    return found


def checked(
    whats: list[str],
    changes: list[str] | None,
    edition: str | None,
    values: str | None = None,
    hosts: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, list[Problem]]]:
    """Yield each WHAT with its problems; configuration files together, as a network without a script."""
    for paths in runs(whats):
        if files.is_configuration(paths[0]):
            found = verbs.check(changed(inputs.network_of(paths, values, hosts), changes, edition))
        else:
            if values is not None or hosts:
                what = "--values" if values is not None else "--hosts"
                raise BadValue(f"{what} is for configuration files, and {paths[0]} is none; omit it")
            found = verbs.check(scenario(paths, changes, edition))
        yield ", ".join(paths), found


@app.command()
def save(
    what: arguments.What,
    to: Annotated[str, typer.Option(help="file or folder to write, e.g. my.json, out/, run.html")],
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
) -> None:
    """Save a figure or lab file (with any --set changes), and list the files that were written.

    The ending of --to says as what: .json a lab file, a folder (out/) the configuration files of each broker,
    .html a page that plays the run, .svg a picture of its end.
    """
    paths = only(what)
    for path in verbs.save(scenario(paths, changes, edition), to):
        note(f"written: {path}")


@app.command()
def conform(
    paths: Annotated[list[Path], typer.Argument(help="recordings, or folders of them")],
    as_json: arguments.Json = False,
) -> None:
    """Compare runs with recordings of real brokers; exit status 1 if any recording disagrees or cannot be run.

    Recordings of depth "none" only give bounds; runs within them are counted separately.
    """
    from mqlab.conform import RESULTS
    from mqlab.conform import conform as verdicts

    judged = table("Conformance", "recording", "depth", "result", "details", whole=("depth", "result"))
    counts = dict.fromkeys(RESULTS, 0)
    for verdict in verdicts(list(paths)):
        counts[verdict.result] += 1
        if as_json:
            print_json(file=verdict.file, depth=verdict.depth, result=verdict.result, details=verdict.details)
        more = f"\n(and {len(verdict.details) - 3} more)" if len(verdict.details) > 3 else ""
        file, details = Path(verdict.file), "\n".join(verdict.details[:3]) + more
        name = f"{file.parent.name}/{file.stem}"
        judged.add_row(*told(name, verdict.depth, verdict.result, details))
    if not as_json:
        show(judged, ", ".join(f"{count} {result}" for result, count in counts.items()))
    raise typer.Exit(1 if counts["disagree"] or counts["cannot run"] else 0)
