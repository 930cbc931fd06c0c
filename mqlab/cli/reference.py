"""Commands that tell what there is: figures, options, the schema of lab files."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mqlab import reference, verbs
from mqlab.cli.app import Json, app, show, table, told

GUIDES = ", ".join(reference.GUIDES)


@app.command(help=f"List the figures: id, title, question. GUIDE is one of: {GUIDES}.")
def figures(
    guide: Annotated[str | None, typer.Argument(help=GUIDES, metavar="[GUIDE]")] = None,
    as_json: Json = False,
) -> None:
    """List the figures."""
    listed = table("Figures", "id", "title", "question", whole=("id",))
    for figure in verbs.figures(guide):
        if as_json:
            print(json.dumps({"id": figure.id, "title": figure.title, "question": figure.question}))
        listed.add_row(*told(figure.id, figure.title, figure.question))
    if not as_json:
        show(listed)


@app.command()
def options(
    word: Annotated[str, typer.Argument(help="part of a name or a sentence")] = "",
    as_json: Json = False,
) -> None:
    """List options with type, unit, default in each edition, and the guide's sentence."""
    found = verbs.options(word)
    if as_json:
        for entry in found:
            print(json.dumps(entry.value()))
        return
    for element, entries in found.by_element().items():
        listed = table(element, "option", "type, default", "what it does")
        for entry in entries:
            name = f"{entry.option.name}\n{entry.option.guide}"
            kind = f"{entry.type}\ndefault {entry.default}"
            sentence = f"{entry.option.sentence} [{entry.option.source}]"
            listed.add_row(*told(name, kind, sentence))
        show(listed)


@app.command()
def schema(
    product: Annotated[str | None, typer.Argument(help="activemq, openmq or artemis; all")] = None,
) -> None:
    """Print the JSON Schema of lab files, for editors."""
    print(json.dumps(reference.schema(product), indent=1))
