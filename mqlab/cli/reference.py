"""Commands that tell what there is: figures, options, the schema of lab files, the rules."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mqlab import reference
from mqlab.api import verbs
from mqlab.cli import arguments
from mqlab.cli.app import app, print_json, show, table, told
from mqlab.errors import UnknownName

GUIDES = ", ".join(reference.GUIDES)
WORD = "or text to search for in titles and questions"


@app.command(help=f"List the figures: id, title, question. GUIDE is one of: {GUIDES}; {WORD}.")
def figures(
    guide: Annotated[str | None, typer.Argument(help=f"{GUIDES}; {WORD}", metavar="[GUIDE]")] = None,
    as_json: arguments.Json = False,
) -> None:
    """List the figures."""
    listed = table("Figures", "id", "title", "question", whole=("id",))
    for figure in verbs.figures(guide):
        if as_json:
            print_json(id=figure.id, title=figure.title, question=figure.question)
        listed.add_row(*told(figure.id, figure.title, figure.question))
    if not as_json:
        show(listed)


@app.command()
def options(
    word: Annotated[str, typer.Argument(help="text to search for in names and descriptions")] = "",
    as_json: arguments.Json = False,
) -> None:
    """List options with type, unit, default per version, and description."""
    found = verbs.options(word)
    if as_json:
        for entry in found:
            print_json(**entry.value())
        return
    for element, entries in found.by_element().items():
        listed = table(element, "option", "type, default", "what it does")
        for entry in entries:
            name = "\n".join(dict.fromkeys((entry.option.name, entry.option.guide)))
            kind = f"{entry.type}\ndefault {entry.default}"
            sentence = f"{entry.option.sentence} [{entry.option.source}]"
            listed.add_row(*told(name, kind, sentence))
        show(listed)


@app.command()
def actions(
    word: Annotated[str, typer.Argument(help="text to search for in names and documentation")] = "",
    as_json: arguments.Json = False,
) -> None:
    """List the actions of scripts, and which product takes each."""
    found = reference.actions(word)
    if as_json:
        for name, (takers, does) in found.rows.items():
            print_json(action=name, products=sorted(takers), does=does)
        return
    head, *lines = found.table()
    listed = table("Actions", *head, whole=head[:-1])
    for line in lines:
        listed.add_row(*told(*line))
    show(listed)


@app.command()
def schema(
    product: Annotated[str | None, typer.Argument(help="activemq, openmq or artemis (default: all)")] = None,
) -> None:
    """Print the JSON Schema of lab files, for editors."""
    print(json.dumps(reference.schema(product), indent=1))


@app.command()
def terms(
    term: Annotated[str, typer.Argument(help="part of a term, its meaning or a variant (default: all)")] = "",
    as_json: arguments.Json = False,
) -> None:
    """List the terms of the glossary: meaning, the product's own word, source."""
    from mqlab.reference import glossary

    for group, found in glossary.terms(term).by_group().items():
        listed = table(group.capitalize(), "term", "meaning", "source", whole=("source",))
        for one in found:
            if as_json:
                print_json(**one.value())
            own = f" In a product: {one.own}." if one.own else ""
            listed.add_row(*told(one.name, one.meaning + own, one.source))
        if not as_json:
            show(listed)


CHECK = "check"  # the page of what `check` finds; all others are pages of the reference
ABOUT_CHECK = "What mqlab check finds"


@app.command()
def rules(
    product: Annotated[
        str, typer.Argument(help="activemq, openmq, artemis, recordings or check; default: list the pages")
    ] = "",
    number: Annotated[str, typer.Argument(help="a rule such as 1.6, or a section such as 1")] = "",
    defects: Annotated[bool, typer.Option("--defects", help="list faults of the products instead")] = False,
    as_json: arguments.Json = False,
) -> None:
    """Print the rules of a product as observed, in Markdown: all, a section, or one.

    `check` is the page of what `mqlab check` finds; its numbers are the names that a problem has.
    """
    if defects:
        _defects(product, as_json)
        return
    from mqlab.experiments.catalogue import rules as checks
    from mqlab.reference.rules import PAGES, find, markdown, pages

    if not product:
        listed = table("Rules", "page", "title", "rules", whole=("page",))
        counts = [(page.name, page.title, len(page.rules)) for page in pages()]
        for name, title, count in (*counts, (CHECK, ABOUT_CHECK, len(checks()))):
            if as_json:
                print_json(page=name, title=title, rules=count)
            listed.add_row(*told(name, title, str(count)))
        if not as_json:
            show(listed)
    elif product == CHECK:
        _check(number, as_json)
    elif product not in PAGES:
        raise UnknownName.of("page of rules", product, [*PAGES, CHECK])
    elif as_json:
        for rule in find(product, number):
            print_json(**rule.value())
    else:
        print(markdown(product, number), end="")


def _defects(product: str, as_json: bool) -> None:
    from mqlab.reference.defects import defects

    found = defects(product)
    if as_json:
        for one in found:
            print_json(**one.value())
        return
    head, *lines = found.table()
    listed = table("Faults of the products", *head, whole=("version",))
    for line in lines:
        listed.add_row(*told(*line))
    show(listed)


def _check(name: str, as_json: bool) -> None:
    from mqlab.experiments import catalogue
    from mqlab.experiments.effect import effect

    known = catalogue.rules()
    if name and name not in known:
        raise UnknownName.of("rule of check", name, known)
    asked = [known[name]] if name else list(known.values())
    shown = {rule.id: effect(rule.id).told for rule in asked if rule.example}
    if not (name or as_json):
        print(catalogue.page(shown), end="")
        return
    for rule in asked:
        told_ = shown.get(rule.id, "")
        if as_json:
            print_json(
                rule=rule.id,
                product=catalogue.family_of(rule),
                finds=rule.finds,
                shown=told_,
                recording=rule.see,
            )
        else:
            print(f"{rule.id}: {rule.finds}\n{told_ or 'no run: ' + rule.unshown}")
