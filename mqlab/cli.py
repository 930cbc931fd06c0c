"""The command line. No logic: every command calls the public verbs and prints.

Exit status: 0 all well, 1 something disagrees or could not be run, 2 bad input.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mqlab import errors, products, verbs
from mqlab.doctor import examine
from mqlab.explain import explain as tell
from mqlab.formats import lab as lab_files
from mqlab.scenarios.guide import claims
from mqlab.spec.scenario import Scenario
from mqlab.trace import Comparison, Ledger, Trace, accounts
from mqlab.trace.spans import spans

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="See a network of message brokers think.")  # fmt: skip
out = Console()

Whats = Annotated[list[str], typer.Argument(help="figure ids or lab files")]
Json = Annotated[bool, typer.Option("--json", help="one JSON object per line")]
Set = Annotated[list[str] | None, typer.Option(
    "--set", help="change an option: A/linkToBrokerB.network_ttl=3")]  # fmt: skip
Edition = Annotated[str | None, typer.Option(help="5.5, 5.17, 5.18 or 6.1")]
Seed = Annotated[int, typer.Option(help="of the generator that decides races")]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _scenario(what: str, changes: list[str] | None) -> Any:
    path = Path(what)
    scenario = verbs.scenario_of(path if path.suffix == ".json" or path.exists() else what)
    for change in changes or ():
        place, equals, value = change.partition("=")
        if not equals:
            raise errors.BadValue(f"--set {change!r}: write A/linkToBrokerB.network_ttl=3")
        if not isinstance(scenario, Scenario):
            raise errors.BadValue("--set changes options of plain networks; edit the lab file")
        element, option = lab_files.split_path(place)
        scenario = scenario.change(element, **{option: value})
    return scenario


@app.command()
def lab(
    folder: Annotated[Path | None, typer.Argument(help="where the notebooks go")] = None,
    browser: Annotated[bool, typer.Option(help="open a browser")] = True,
) -> None:
    """Start JupyterLab on the notebooks."""
    from mqlab.lessons import jupyter

    raise typer.Exit(jupyter.start(folder, browser=browser))


@app.command()
def figures(
    guide: Annotated[str | None, typer.Argument(help="fuse, amq6, article")] = None,
) -> None:
    """List the figures: id, title, question."""
    table = _table("Figures", "id", "title", "question")
    for figure in verbs.figures(guide):
        table.add_row(figure.id, escape(figure.title), escape(figure.question))
    out.print(table)


@app.command()
def run(
    whats: Whats, changes: Set = None, edition: Edition = None, seed: Seed = 0, as_json: Json = False,
    trace: Annotated[Path | None, typer.Option(help="write the trace (Parquet)")] = None,
    html: Annotated[Path | None, typer.Option(help="write a page that plays the run")] = None,
) -> None:  # fmt: skip
    """Run figures or lab files and show what came of them."""
    if len(whats) > 1 and (trace or html):
        raise errors.BadValue("--trace and --html take one WHAT; run them one by one")
    failed = False
    for what in whats:
        try:
            scenario = _scenario(what, changes)
            played = verbs.run(scenario, edition=edition, seed=seed)
        except errors.MqlabError as error:
            if not as_json:
                raise
            failed = True
            print(json.dumps({"what": what, "error": {
                "type": type(error).__name__, "message": str(error)}}))  # fmt: skip
            continue
        if as_json:
            print(json.dumps({"what": what, "outcome": products.outcome_of(played)}))
        else:
            _show(what, played, scenario)
        _write(what, played, trace, html)
    raise typer.Exit(1 if failed else 0)


def _show(what: str, trace: Trace, scenario: Any) -> None:
    out.print(f"[bold]{escape(str(trace.header['scenario'].get('title') or what))}[/]")
    table = _table("", "consumer", "received")
    for consumer, count in trace.received().items():
        table.add_row(escape(consumer), str(count))
    out.print(table if table.row_count else "There is no consumer.")
    _show_roles(trace)
    waiting = _table("Waiting messages", "broker", "destination", "messages", "numbers")
    for broker, destinations in trace.waiting().items():
        for destination, numbers in destinations.items():
            row = (broker, destination, str(len(numbers)), spans(numbers, most=12))
            waiting.add_row(*map(escape, row))
    out.print(waiting if waiting.row_count else "No message waits anywhere.")
    lost = trace.lost()
    if lost:
        out.print(f"[yellow]{len(lost)} lost: {spans(lost, most=12)}[/]")
    said = scenario.about.get("guide_says", {}) if isinstance(scenario, Scenario) else {}
    for claim in claims(said, trace):
        out.print(f"[{'green' if claim.holds else 'yellow'}]{escape(str(claim))}[/]")
    real = verbs.real_note(what)
    if real:
        out.print(f"The real broker: {escape(real)}")


def _show_roles(trace: Trace) -> None:
    table = _table("Roles", "broker", "at the end", "before")
    for broker, changes in accounts.roles(trace).items():
        told = [f"{role.replace('_', ' ')} at {time / 1e6:.1f} s" for time, role in changes]
        table.add_row(escape(broker), escape(told[-1]), escape(", ".join(told[:-1])))
    if table.row_count:
        out.print(table)


def _write(what: str, played: Trace, trace: Path | None, html: Path | None) -> None:
    if trace:
        from mqlab.trace import parquet

        parquet.save(played, trace)
        out.print(f"trace of {len(played)} events written to {trace}")
    if html:
        from mqlab import views

        html.write_text(views.html(played, title=what), encoding="utf-8")
        out.print(f"page written to {html}")


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

    table = _table("Conformance", "recording", "depth", "result", "details")
    counts = dict.fromkeys(RESULTS, 0)
    for verdict in verdicts(list(paths)):
        counts[verdict.result] += 1
        if as_json:
            print(json.dumps({"file": verdict.file, "depth": verdict.depth,
                              "result": verdict.result, "details": verdict.details}))  # fmt: skip
        more = f"\n(and {len(verdict.details) - 3} more)" if len(verdict.details) > 3 else ""
        file = Path(verdict.file)
        table.add_row(f"{file.parent.name}/{file.stem}", verdict.depth,
                      verdict.result, escape("\n".join(verdict.details[:3]) + more))  # fmt: skip
    if not as_json:
        out.print(table)
        out.print(", ".join(f"{count} {result}" for result, count in counts.items()))
    raise typer.Exit(1 if counts["disagree"] or counts["cannot run"] else 0)


@app.command()
def check(
    whats: Whats, changes: Set = None, edition: Edition = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show the problems of a configuration; exit 1 if one is an error."""
    errors_found = 0
    for what in whats:
        scenario = _scenario(what, changes)
        if edition is not None and not isinstance(scenario, Scenario):
            raise errors.BadValue(f"{what} has an edition of its own; leave --edition out")
        found = verbs.check(scenario if edition is None else scenario.under(edition))
        errors_found += sum(problem.level == "error" for problem in found)
        table = _table(escape(what), "level", "where", "what", "remedy", "source")
        for problem in found:
            if as_json:
                print(json.dumps({"what": what, **asdict(problem)}))
            table.add_row(problem.level, *map(escape, (problem.where, problem.what,
                                                       problem.remedy, problem.source)))  # fmt: skip
        if not as_json:
            out.print(table if found else f"{escape(what)}: no problem found.")
    raise typer.Exit(1 if errors_found else 0)


@app.command()
def explain(
    what: Annotated[str, typer.Argument(help="figure id or lab file")],
    message: Annotated[str | None, typer.Option(help="such as P-7, or a number")] = None,
    consumer: Annotated[str | None, typer.Option()] = None,
    broker: Annotated[str | None, typer.Option()] = None,
    why_not: Annotated[str | None, typer.Option(help="a consumer that did not get it")] = None,
    changes: Set = None, edition: Edition = None, seed: Seed = 0,
) -> None:  # fmt: skip
    """Tell why a message, a consumer, a broker or a whole run is as it is."""
    played = verbs.run(_scenario(what, changes), edition=edition, seed=seed)
    print(tell(played, message=message, consumer=consumer, broker=broker, why_not=why_not))


@app.command()
def compare(
    what: Annotated[list[str], typer.Argument(help="two or more figures or lab files")],
    seed: Seed = 0,
) -> None:
    """Run figures or lab files and show what each cost, and where two of them part."""
    if len(what) < 2:
        raise errors.BadValue(f"compare needs two runs; write for example {what[0]} fuse:2.21")
    both = verbs.compare(*(verbs.run(_scenario(one, None), seed=seed) for one in what))
    ledger = both if isinstance(both, Ledger) else both.ledger()
    head, *lines = ledger.table()
    table = _table("What each run cost", *head)
    for line in lines:
        table.add_row(*map(escape, line))
    out.print(table)
    if isinstance(both, Comparison):
        _parted(both, *what)


def _parted(both: Comparison, one: str, other: str) -> None:
    table = _table("Received", "consumer", one, other)
    for consumer, (left, right) in both.received().items():
        table.add_row(escape(consumer), str(left), str(right))
    out.print(table)
    parted = both.first_difference()
    out.print("The runs are alike." if parted is None else "The first events that differ:")
    for event in parted or ():
        out.print(f"  {escape(str(event))}")


@app.command()
def sweep(
    what: str, over: Annotated[list[str], typer.Option(help="A/link.option=v1,v2")],
    out_dir: Annotated[Path, typer.Option("--out", help="a new folder")],
    seeds: Annotated[int, typer.Option(help="runs of each combination")] = 1,
) -> None:  # fmt: skip
    """Run every combination of options, for each seed, on Spark."""
    from mqlab import replay

    choices: dict[str, list[Any]] = {}
    for text in over:
        path, equals, values = text.partition("=")
        if not equals:
            raise errors.BadValue(f"--over {text!r}: write A/linkToBrokerB.network_ttl=1,2,3")
        choices[path] = values.split(",")
    result = replay.sweep(_scenario(what, None), over=choices, seeds=seeds, out=out_dir)
    table = _table(
        f"{result.runs} runs, {len(result.failed)} failed", "options", "runs", "received"
    )
    for row in result.summary():
        table.add_row(*(escape(str(row[key])) for key in ("options", "runs", "received")))
    out.print(table)


@app.command()
def replay(
    trace_dir: Path,
    out_dir: Annotated[Path | None, typer.Option("--out", help="where the pyramid goes")] = None,
) -> None:
    """Build the pyramid of a trace on Spark."""
    from mqlab import replay as room

    pyramid = room.build(trace_dir, out=out_dir)
    out.print(str(pyramid))


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what is installed, what is missing, and how to get it."""
    findings = examine()
    if as_json:
        print(json.dumps(findings))
        return
    table = _table("mqlab doctor", "part", "needs", "state", "how to get it")
    for row in findings:
        table.add_row(*(escape(row[key]) for key in ("part", "needs", "state", "how")))
    out.print(table)


def main() -> None:
    """Run the command line; bad input ends in one message and status 2."""
    try:
        app()
    except errors.MqlabError as error:
        print(f"mqlab: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
