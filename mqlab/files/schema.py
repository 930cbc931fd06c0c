"""What a product's own schema allows in its configuration files: names, and the types of values.

The rows are packed into one file a product (`tests/real/schemas.py` says what they mean). Each is parsed when
it is asked for: whoever imports mqlab need not wait for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from mqlab.files.markup import Element

_BITS = {"short": 15, "int": 31, "long": 63}
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN")
_BYTES = re.compile(r"[+-]?[0-9]{1,18}\s*([kmg]i?)?b?", re.IGNORECASE)
_SIZE = re.compile(r"[0-9]{1,18}\s*[kmg]?b?", re.IGNORECASE)
LITERAL = ("boolean", "short", "int", "long", "double")  # what an XML parser looks at by itself
# Type -> what a person writes.
WORDS = {
    "boolean": "true or false",
    "flag": "true or false",
    "short": "a whole number",
    "int": "a whole number",
    "long": "a whole number",
    "double": "a number",
    "bytes": "a number of bytes, such as 10mb",
    "size": "a number of bytes, such as 10mb",
}


@dataclass(frozen=True, slots=True)
class Row:
    """What stands in an element: attribute and child -> type."""

    attributes: Mapping[str, str]
    elements: Mapping[str, str]

    def instead(self, word: str) -> str:
        """Return what to write for a name that is none, where it stands: it may be one of the other kind.

        >>> row = Row({"name": "string"}, {"plugins": "plugin"})
        >>> row.instead("plugins"), row.instead("name"), row.instead("nam")
        ('write it as an element, <plugins>', "write it as an attribute, name='...'", 'write name')
        """
        if word in self.elements:
            return f"write it as an element, <{word}>"
        if word in self.attributes:
            return f"write it as an attribute, {word}='...'"
        return near(word, {*self.attributes, *self.elements})


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that a schema refuses: its element, the attribute (empty: its text), what was expected."""

    element: Element
    attribute: str
    value: str
    expected: str

    @property
    def name(self) -> str:
        """The element or attribute, as it is called."""
        return self.attribute or self.element.name


@dataclass(frozen=True)
class Schema:
    """The rows of a schema by their types; a holder of others is a row of its own."""

    rows: Mapping[str, str]
    namespaces: tuple[str, ...]
    literally: bool = False  # whether values are looked at before placeholders are replaced

    @staticmethod
    def read(file: Path, namespaces: tuple[str, ...], literally: bool = False) -> Schema:
        """Return the schema of a file, for elements of some namespaces."""
        return Schema(json.loads(file.read_text(encoding="utf-8")), namespaces, literally)

    def row(self, kind: str) -> Row | None:
        """Return what stands in an element of a type; None for a simple one, or one that is not known."""
        if kind.startswith("<"):
            names = kind[1:].split(",")
            return Row({}, {name: name for name in (self.rows if "+" in names else names) if name != "*"})
        text = self.rows.get(kind)
        return None if text is None else _row(text)

    def walk(self, element: Element, kind: str) -> Iterator[tuple[Element, Row]]:
        """Yield an element of a type and all in it that the schema knows, with their rows."""
        row = self.row(kind)
        if row is None:
            return
        yield element, row
        for child in element.children:
            if child.namespace in self.namespaces:
                # What stands where it may not is looked at all the same.
                yield from self.walk(child, row.elements.get(child.name, child.name))

    def strange(self, element: Element, kind: str) -> Iterator[tuple[Element, str, str, str]]:
        """Yield what below an element the schema has not: where, its name, what is so, what to write."""
        for one, row in self.walk(element, kind):
            for name in one.attributes:
                if name not in row.attributes and name[0] != "{":
                    yield one, name, f"{one.name} does not support {name}", row.instead(name)
            for child in one.children:
                if child.name not in row.elements and child.namespace in self.namespaces:
                    told = f"{child.name} has no place in {one.name}"
                    yield child, child.name, told, row.instead(child.name)

    def wrong(self, element: Element, kind: str, resolved: Callable[[str], str]) -> Iterator[Wrong]:
        """Yield the values in an element of a type that the schema refuses, with placeholders *resolved*."""
        for one, row in self.walk(element, kind):
            for name, text in one.attributes.items():
                if self._refuses(text, row.attributes.get(name, ""), resolved):
                    yield Wrong(one, name, text, expected(row.attributes[name]))
            for child in one.children:
                simple = row.elements.get(child.name, "")
                text = child.text if child.namespace in self.namespaces and not child.children else ""
                if text and self._refuses(text, simple, resolved):
                    yield Wrong(child, "", text.strip(), expected(simple))

    def _refuses(self, text: str, kind: str, resolved: Callable[[str], str]) -> bool:
        if self.literally and kind in LITERAL:
            return "${" in text or not fits(text, kind)
        return not fits(resolved(text), kind)


@cache
def _row(text: str) -> Row:
    parts = dict(part.partition(":")[::2] for part in text.split())
    return Row(
        {part[1:]: kind for part, kind in parts.items() if part.startswith("@")},
        {part: kind for part, kind in parts.items() if part[0] not in "@*+"},
    )


def fits(text: str, kind: str) -> bool:
    """Whether a text is a value of a type; one with a placeholder that has no value may be.

    >>> fits(" 5 ", "int"), fits("5s", "int"), fits("yes", "boolean"), fits("10mb", "bytes")
    (True, False, False, True)
    """
    plain = text.strip()
    if "${" in text:
        return True
    if "|" in kind:
        return text in kind.split("|")
    if kind == "boolean":
        return plain in ("true", "false", "1", "0")
    if kind == "flag":
        return text.lower() in ("true", "false")
    if kind in _BITS:
        return bool(_WHOLE.fullmatch(plain)) and -(2 ** _BITS[kind]) <= int(plain) < 2 ** _BITS[kind]
    if kind == "double":
        return bool(_NUMBER.fullmatch(plain))
    pattern = {"bytes": _BYTES, "size": _SIZE}.get(kind)
    return pattern is None or bool(pattern.fullmatch(plain))


def near(word: str, known: Iterable[str]) -> str:
    """Return what to write for a name that is none.

    >>> near("adress", ["address", "name"]), near("x", ["address"])
    ('write address', 'remove it')
    """
    found = get_close_matches(word, sorted(known), 1, 0.8)
    return f"write {found[0]}" if found else "remove it"


def expected(kind: str) -> str:
    """Return what to write for a value of a type.

    >>> expected("int"), expected("OFF|STRICT|ON_DEMAND")
    ('a whole number', 'OFF, STRICT or ON_DEMAND')
    """
    if "|" not in kind:
        return WORDS.get(kind, kind)
    *first, last = (word for word in kind.split("|") if word)
    return f"{', '.join(first)} or {last}" if first else last
