"""What can be written: options and actions of every product as tables, and lab files as JSON Schema."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mqlab import products
from mqlab.errors import UnknownName, nearest, shown
from mqlab.spec import codec
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.manual import defaults, kind
from mqlab.spec.option import Option
from mqlab.spec.options import tables
from mqlab.trace.grid import TextTable

GUIDES = tuple(products.GUIDES)
PRODUCTS = ("activemq", "openmq", "artemis")
DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Entry:
    """An option, and the element that has it."""

    element: str
    option: Option

    @property
    def type(self) -> str:
        """Its type, unit and range in words."""
        return kind(self.option)

    @property
    def default(self) -> str:
        """Its default, and that of the editions that have another."""
        return defaults(self.option)

    def value(self) -> dict[str, str]:
        """Return it as a JSON value."""
        row = self.option
        return {
            "element": self.element,
            "option": row.name,
            "guide_name": row.guide,
            "type": self.type,
            "default": self.default,
            "sentence": row.sentence,
            "source": row.source,
        }


class Options(TextTable, tuple[Entry, ...]):
    """Options in a tuple: prints and shows as a table."""

    def by_element(self) -> dict[str, list[Entry]]:
        """Return element -> its options."""
        found: dict[str, list[Entry]] = {}
        for entry in self:
            found.setdefault(entry.element, []).append(entry)
        return found

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per option."""
        lines = [[e.element, e.option.name, e.type, e.default, e.option.sentence] for e in self]
        return [["element", "option", "type", "default", "what it does"], *lines]

    __repr__ = TextTable.__str__


def options(word: str = "") -> Options:
    """Return the options in whose name, sentence or element *word* stands; raises `UnknownName` for none.

    >>> [entry.option.name for entry in options("networkTTL")]
    ['network_ttl']
    """
    asked = str(word).lower().replace("_", "")
    entries = [Entry(element, row) for name in PRODUCTS for element, row in _elements(name)]
    for element, rows in tables("addresses").items():  # they have one name: that in the address
        entries += [Entry(element, replace(row, name=row.guide)) for row in rows.values()]
    found = [entry for entry in entries if asked in _text(entry)]
    if not found:
        near = nearest(word, [entry.option.name for entry in entries])
        hint = f"did you mean {near!r}?" if near else "without a word, all are listed"
        raise UnknownName(f"no option has {shown(word)} in its name or description; {hint}")
    return Options(found)


def _text(entry: Entry) -> str:
    row = entry.option
    return f"{entry.element} {row.name} {row.guide} {row.sentence}".lower().replace("_", "")


def _elements(product: str) -> Iterator[tuple[str, Option]]:
    known = products.BY_NAME[product].options()
    of = "" if product == "activemq" else f"{product} "
    yield from ((f"{of}{name}", row) for name, rows in known.items() for row in rows.values())


def schema(product: str | None = None) -> JsonDict:
    """Return the JSON Schema (draft 2020-12) of one product's lab files, or of all.

    A file that it accepts can still name a broker that is not there; whoever runs it says so.
    """
    if product is not None and product not in PRODUCTS:
        raise UnknownName.of("product", product, PRODUCTS)
    head: JsonDict = {
        "$schema": DRAFT,
        "title": f"lab file of mqlab, {product or 'any product'}",
    }
    if product is not None:
        return {**head, **_scenario(product)}
    return {**head, "$defs": {name: _scenario(name) for name in PRODUCTS}, **_which()}


def _scenario(product: str) -> JsonObject:
    found: JsonDict = dict(products.BY_NAME[product].shape().schema())
    found["properties"]["product"] = {"const": product}
    return found


def _which() -> JsonDict:
    """Return how a file says whose it is, as `files.detect_product` reads it."""
    ours = {name: {"$ref": f"#/$defs/{name}"} for name in PRODUCTS}
    model = {
        "properties": {"cluster": {"required": ["model"]}, "product": {"const": "openmq"}},
        "required": ["cluster"],
    }
    named = {"properties": {"product": {"const": "artemis"}}, "required": ["product"]}
    ha = {"properties": {"brokers": {"contains": {"required": ["ha"]}}}, "required": ["brokers"]}
    unnamed = {"not": {"required": ["product"]}}
    policy = {"allOf": [unnamed, {"anyOf": [{"required": ["queues"]}, ha]}]}
    return {
        "if": model,
        "then": ours["openmq"],
        "else": {"if": {"anyOf": [named, policy]}, "then": ours["artemis"], "else": ours["activemq"]},
    }


@dataclass(frozen=True, slots=True)
class Actions(TextTable):
    """Name of an action -> the products that take it, and what it does."""

    rows: dict[str, tuple[frozenset[str], str]]

    def table(self) -> list[list[str]]:
        """Return the table as text: an action a line, a column for each product."""
        lines = [
            [name, *("yes" if product in takers else "-" for product in PRODUCTS), does]
            for name, (takers, does) in self.rows.items()
        ]
        return [["action", *PRODUCTS, "what it does"], *lines]


def actions(word: str = "") -> Actions:
    """Return the actions in whose name or documentation *word* stands, by name; raises `UnknownName` for none.

    >>> sorted(actions("Crash").rows["Crash"][0])
    ['activemq', 'artemis', 'openmq']
    """
    takers: dict[str, set[str]] = {}
    told: dict[str, str] = {}
    for product in PRODUCTS:
        for name, noun in codec.nouns(product).items():
            takers.setdefault(name, set()).add(product)
            told.setdefault(name, inspect.getdoc(noun) or "")
    asked = word.lower()
    found = [name for name in sorted(told) if asked in f"{name} {told[name]}".lower()]
    if not found:
        raise UnknownName.of("action", word, sorted(told))
    return Actions({name: (frozenset(takers[name]), told[name].partition("\n")[0]) for name in found})
