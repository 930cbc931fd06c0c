"""Commands that run something: run, explain, compare, upgrade."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mqlab import products
from mqlab.api import asking, verbs
from mqlab.cli import arguments
from mqlab.cli.app import (
    app,
    check_paths,
    network,
    note,
    of_logs,
    only,
    print_json,
    runs,
    scenario,
    show,
    table,
    told,
)
from mqlab.errors import BadValue, Interrupted, MqlabError, in_options
from mqlab.spec.link import Links
from mqlab.spec.plural import counted

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario
    from mqlab.trace import Comparison, Trace

_VERSION = re.compile(r"\d+\.\d+(\.\d+)?")  # of a broker, in place of --old and --new
WAITING = ("consumed", "waiting")  # fates that the other tables tell


@app.command()
def run(
    whats: arguments.Whats,
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
    limit: arguments.Limit = None,
    jitter: arguments.Jitter = "0ms",
    until: arguments.Until = None,
    lines: arguments.Lines = None,
    trace: Annotated[Path | None, typer.Option(help="write the trace (Parquet)")] = None,
    html: Annotated[
        Path | None, typer.Option(help="write a self-contained HTML page that plays the run")
    ] = None,
) -> None:
    """Run figures or lab files and show the results.

    --html makes a page that plays the run in any browser, --trace a file that mq.load reads. Logs of ActiveMQ
    (activemq.log) are shown as they tell.
    """
    from mqlab import products

    asked_for = runs(whats)
    if len(asked_for) > 1 and (trace or html):
        raise BadValue("--trace and --html need exactly one WHAT; run them separately")
    check_paths(trace, html)
    failed = False
    for paths in asked_for:
        what = ", ".join(paths)
        try:
            given = changes, edition, load, consumers, producers, does
            played, asked = of_logs(paths, *given), None
            if played is None:
                asked = scenario(paths, *given)
                played = verbs.run(
                    asked, seed=seed, jitter=jitter, limit=limit, until=until, links=Links.parse(lines or ())
                )
        except Interrupted as stop:
            note("interrupted; this is what has happened so far")
            _show(what, stop.trace, asked)
            raise typer.Exit(130) from None
        except MqlabError as error:
            if not as_json:
                raise
            failed = True
            kind = type(error).__name__
            print_json(what=what, error={"type": kind, "message": str(error)})
            continue
        _write(played, trace, html)
        if as_json:
            undone = [{"what": one.what, "why": one.why} for one in played.undone]
            print_json(what=what, outcome=products.outcome_of(played), undone=undone)
        else:
            _show(what, played, asked)
    raise typer.Exit(1 if failed else 0)


def _show(what: str, trace: Trace, asked: Scenario | None) -> None:
    from mqlab.trace.spans import spans

    if asked is None:  # of logs, which tell as much as their trace shows
        show(str(trace))
        return

    title = str(trace.header["scenario"].get("title") or what)
    received = table("", "consumer", "received")
    for consumer, count in trace.received().items():
        received.add_row(*told(consumer), str(count))
    show(f"[bold]{next(iter(told(title)))}[/]", received if received.row_count else "No consumers.")
    _show_roles(trace)
    waiting = table("Waiting messages", "broker", "destination", "messages", "numbers")
    for broker, destinations in trace.waiting().items():
        for destination, numbers in destinations.items():
            waiting.add_row(*told(broker, destination, str(len(numbers)), spans(numbers, most=12)))
    show(waiting if waiting.row_count else "No messages waiting.")
    _show_fates(trace)
    for one in trace.undone:
        show(f"[yellow]Not done: {next(iter(told(in_options(str(one), one.calls))))}.[/]")
    _show_races(trace)
    _show_guide(what, trace, asked)


def _show_fates(trace: Trace) -> None:
    """Show what became of messages that neither came nor wait, and of sends that reached nobody."""
    head, *lines = trace.account().table()
    fates = table("Fate of the remaining messages", *head)
    for line in lines:
        if line[0] not in WAITING:
            fates.add_row(*told(*line))
    missing = _asked(trace) - len(trace.account())
    if missing > 0:
        fates.add_row("never sent", str(missing), "no broker took them", "")
    if fates.row_count:
        show(fates)
    nobody = missing + sum(int(line[1]) for line in lines if line[0] == "dropped")
    if nobody > 0:
        show(f"[yellow]{counted(nobody, 'message was', 'messages were')} not delivered to any consumer.[/]")


def _show_races(trace: Trace) -> None:
    """Show that the run might have ended otherwise, where it is short enough to be played again."""
    from mqlab.experiments import other_outcomes

    found = other_outcomes(trace)
    if found is not None and len(found) > 1:
        show(
            f"[yellow]One of at least {counted(len(found), 'outcome')}: the result depends on timing "
            "(see mqlab "
            "outcomes).[/]"
        )


def _asked(trace: Trace) -> int:
    """Return how many messages the script's sends ask for; 0 for a run that was stopped before its end."""
    return sum(getattr(action, "sends", 0) for action in trace.actions)


def _show_guide(what: str, trace: Trace, asked: Scenario) -> None:
    from mqlab import products
    from mqlab.products.activemq.figures.claims import claims

    said = asked.about.get("guide_says", {}) if asked.product == "activemq" else {}
    for claim in claims(said, trace):
        show(f"[{'green' if claim.holds else 'yellow'}]{next(iter(told(str(claim))))}[/]")
    real = products.real_note(what)
    if real and asked == scenario((what,)):  # it is told of the figure as it is printed
        show(f"The real broker: {next(iter(told(real)))}")


def _show_roles(trace: Trace) -> None:
    from mqlab.trace import accounts

    roles = table("Roles", "broker", "at the end", "before")
    for broker, changes in accounts.roles(trace).items():
        texts = [f"{role.replace('_', ' ')} at {time / 1e6:.1f} s" for time, role in changes]
        roles.add_row(*told(broker, texts[-1], ", ".join(texts[:-1])))
    if roles.row_count:
        show(roles)


def _write(played: Trace, trace: Path | None, html: Path | None) -> None:
    from mqlab.products.inputs import writing

    if trace:
        from mqlab.trace import parquet

        with writing(trace) as file:
            parquet.save(played, file)
        note(f"trace of {counted(len(played), 'event')} written to {trace}")
    if html:
        from mqlab import views

        page = views.html(played)
        with writing(html) as file:
            file.write_text(page, encoding="utf-8")
        note(f"page written to {html}")


@app.command()
def explain(
    what: arguments.What,
    message: Annotated[str | None, typer.Option(help="e.g. P-7, or a number")] = None,
    consumer: Annotated[str | None, typer.Option(help="its name")] = None,
    broker: Annotated[str | None, typer.Option(help="its name")] = None,
    client: Annotated[str | None, typer.Option(help="its name, or that of a producer")] = None,
    why_not: Annotated[str | None, typer.Option(help="explain why this consumer did not receive it")] = None,
    queue: arguments.Queue = None,
    on: arguments.On = None,
    changes: arguments.Set = None,
    edition: arguments.Edition = None,
    load: arguments.Load = None,
    consumers: arguments.ConsumersAt = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
) -> None:
    """Explain what happened to a message, a consumer, a client, a broker or a whole run.

    Of a running network: why messages of a --queue wait --on a broker, and --why-not go to a consumer.
    """
    paths = only(what)
    if consumer is not None and "=" in consumer:
        raise BadValue(f"--consumer takes a name here; to add a consumer write --consumer-at {consumer}")
    if queue is None and why_not is not None and message is None:
        raise BadValue(f"--why-not {why_not} needs a message, e.g. --message P-1 --why-not {why_not}")
    if sum(one is not None for one in (consumer or why_not or message, broker, client)) > 1:
        one = "--broker" if client is None else "--client"
        raise BadValue(f"{one} cannot be combined with --message, --consumer or --why-not; ask one question")
    asked = {"message": message, "consumer": consumer, "broker": broker, "client": client, "why_not": why_not}
    if queue is not None:
        found = asking.explain(network(paths, changes, edition), queue=queue, on=on, **asked)
    else:
        given = changes, edition, load, consumers, producers, does
        played = of_logs(paths, *given) or verbs.run(scenario(paths, *given), seed=seed)
        found = asking.explain(played, on=on, **asked)
    if as_json:
        causes = [
            {
                "text": cause.text,
                "rule": cause.rule.name,
                "source": cause.source,
                "change": cause.change.text if cause.change else None,
            }
            for cause in found.causes
        ]
        label = ", ".join(paths)
        print_json(what=label, title=found.title, lines=list(found.lines), causes=causes)
    else:
        print(in_options(str(found), found.calls))


@app.command()
def compare(
    what: Annotated[list[str], typer.Argument(help="two or more figures, lab files or folders of a network")],
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
) -> None:
    """Run figures or lab files and compare losses, duplicates and downtime; two: where they first differ."""
    from mqlab.trace import Comparison

    if len(what) < 2:
        raise BadValue(f"compare needs two runs; use e.g. {what[0]} fuse:2.21")
    asked = [scenario((name,), None, None, load, consumers, producers, does) for name in what]
    both = asking.compare(*(verbs.run(scenario, seed=seed) for scenario in asked))
    ledger = both.ledger() if isinstance(both, Comparison) else both
    if as_json:
        for name, row in ledger.rows().items():
            print_json(run=name, **row)
        return
    # A run is a column: eight measures beside one another are wider than a terminal.
    head, *lines = ledger.table()
    cost = table("Losses and downtime", "", *(next(iter(told(line[0]))) for line in lines))
    for no, measure in enumerate(head[1:], 1):
        cost.add_row(measure, *(line[no] for line in lines))
    show(cost)
    if isinstance(both, Comparison):
        _show_parting(both, *what)


def _show_parting(both: Comparison, one: str, other: str) -> None:
    received = table("Received", "consumer", one, other)
    for consumer, (left, right) in both.received().items():
        received.add_row(*told(consumer), str(left), str(right))
    parted = both.first_difference()
    show(received, "The runs are identical." if parted is None else "The first events that differ:")
    for event in parted or ():
        show(*told(f"  {event}"))


@app.command()
def upgrade(
    what: arguments.What,
    old: Annotated[str | None, typer.Option(help="current version (default: the network's)")] = None,
    new: Annotated[str | None, typer.Option(help="target version (default: the latest)")] = None,
    changes: arguments.Set = None,
    load: arguments.Load = None,
    consumers: arguments.Consumers = None,
    producers: arguments.Producers = None,
    does: arguments.Does = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
) -> None:
    """Show what an upgrade changes, which default or rule causes it, and what keeps the old behaviour.

    The two versions may also follow WHAT: mqlab upgrade fuse:2.20 5.5 5.18
    """
    if len(what) > 2 and all(map(_VERSION.fullmatch, what[-2:])):
        *what, old, new = what
    for version in filter(_VERSION.fullmatch, what):
        raise BadValue(f"{version}: write mqlab upgrade WHAT OLD NEW, such as fuse:2.20 5.5 5.18")
    paths = only(what)
    asked = scenario(paths, changes, None, load, consumers, producers, does)
    # Of the network's own edition, and the latest of its product, where none is named.
    *_, latest = products.product_of_scenario(asked).edition_rules
    found = asking.upgrade(asked, old or asked.network.edition, new or latest, seed=seed)
    if as_json:
        print_json(
            what=", ".join(paths), old=found.old, new=found.new, changes=found.changes, causes=found.causes
        )
    else:
        print(found)
