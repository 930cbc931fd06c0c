"""Elements of an XML text that know their line and their place in it, so that the text can be edited."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mqlab.errors import BadFile, shown

MOST_BYTES = 4_000_000
MARKS = {"utf-8-sig": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
ENCODINGS = ("utf-8", "utf-16", "us-ascii", "iso-8859-1", "windows-1252")
_DECLARED = re.compile(rb"""\A<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_NAME = re.compile(r"<(/?)([A-Za-z_][\w.-]*)(?![\w.:-])")  # of an element, without a prefix
_ATTRIBUTE = re.compile(r"""\s+([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(slots=True)
class Element:
    """An element and where it stands: *start* to *end* in the text, its start tag up to *inside*."""

    namespace: str
    name: str
    attributes: dict[str, str]
    line: int
    start: int
    inside: int = 0
    end: int = 0
    empty: bool = False
    children: list[Element] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    text: str = ""

    def walk(self) -> Iterator[Element]:
        """Yield the element and all inside it, in the text's order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, *names: str) -> list[Element]:
        """Return its direct children of these names."""
        return [child for child in self.children if child.name in names]

    def first(self, *names: str) -> Element | None:
        """Return its first direct child of one of these names."""
        return next(iter(self.all(*names)), None)

    def below(self, *path: str) -> list[Element]:
        """Return what lies under it by a path of names, all of them; ``*`` is any name."""
        found = [self]
        for name in path:
            ones = (child for element in found for child in element.children)
            found = [child for child in ones if name == "*" or child.name == name]
        return found


@dataclass(frozen=True, slots=True)
class Note:
    """A processing instruction: ``<?target data?>``."""

    target: str
    data: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its root element; *encoding* is that of the file."""

    where: str
    text: str
    encoding: str
    root: Element

    def tag(self, element: Element) -> str:
        """Return an element's start tag as it is written."""
        return self.text[element.start : element.inside]

    def spans(self, element: Element) -> dict[str, tuple[int, int]]:
        """Return attribute -> where it and the space before it stand, of an element's start tag."""
        tag = self.tag(element)
        return {
            found[1]: (element.start + found.start(), element.start + found.end())
            for found in _ATTRIBUTE.finditer(tag)
        }


def load(path: str | Path) -> tuple[str, str]:
    """Return text and encoding of an XML or property file; raises `BadFile`.

    A property file that is not UTF-8 is ISO-8859-1, as `java.util.Properties.load` reads it.
    """
    where = str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadFile(f"{where}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise BadFile(f"{where}: cannot be read: {error}") from None
    if len(data) > MOST_BYTES:
        raise BadFile(f"{where}: more than {MOST_BYTES:,} bytes; too large for a configuration file")
    marked = next((name for name, mark in MARKS.items() if data.startswith(mark)), None)
    declared = _DECLARED.match(data)
    name = marked or (declared[1].decode("ascii").lower() if declared else "utf-8")
    if name not in (*ENCODINGS, *MARKS):
        raise BadFile(f"{where}, line 1: unknown encoding {name!r}; save it as UTF-8")
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        if where.endswith(".properties"):
            return data.decode("iso-8859-1"), "iso-8859-1"
        line = data.count(b"\n", 0, error.start) + 1
        raise BadFile(
            f"{where}, line {line}: not valid {name}; declare the file's encoding in its first line"
        ) from None
    return text if name == "utf-8-sig" else text.removeprefix("\ufeff"), name


def encoded(text: str, encoding: str) -> bytes:
    """Return a text as the bytes of a file in an encoding; what that has no letter for is a reference.

    >>> encoded("<a>é</a>", "us-ascii"), encoded("a", "utf-16-be")
    (b'<a>&#233;</a>', b'\\xfe\\xff\\x00a')
    """
    mark = MARKS[encoding] if encoding.startswith("utf-16-") else b""
    return mark + text.encode(encoding, "xmlcharrefreplace")


def encoding_of(text: str) -> str:
    """Return the encoding that a text names in its first line; utf-8 if it names none that is known."""
    found = _DECLARED.match(text[:200].encode("utf-8", "replace"))
    name = found[1].decode("ascii").lower() if found else "utf-8"
    return name if name in ENCODINGS else "utf-8"


@dataclass(frozen=True, slots=True)
class Edit:
    """Put *text* where *start* to *end* stands."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits made, in its own line ends; of those at one place the first comes first.

    >>> edited("a b c", [Edit(2, 3, "x"), Edit(4, 4, "d")])
    'a x dc'
    """
    parts, done = [], 0
    ends = "\r\n" if "\r\n" in text else "\n"
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [text[done : edit.start], edit.text if ends == "\n" else edit.text.replace("\n", ends)]
        done = max(done, edit.end)
    return "".join([*parts, text[done:]])


def prefixed(document: Document, element: Element, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yield edits in which elements have the prefix that an element has, which they stand in.

    What begins as a processing instruction stays as it is.
    """
    prefix, colon, _ = document.tag(element)[1:].split()[0].rstrip("/>").partition(":")
    for edit in edits:
        plain_text = not colon or edit.text.lstrip().startswith("<?")
        text = edit.text if plain_text else _NAME.sub(rf"<\1{prefix}:\2", edit.text)
        yield Edit(edit.start, edit.end, text)


_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


def plain(value: str) -> str:
    """Return a text as XML has it between tags; raises `BadFile` for what XML cannot hold."""
    if any(
        (ord(char) < 32 and char not in "\t\n\r") or 0xD800 <= ord(char) < 0xE000 or char in "\ufffe\uffff"
        for char in value
    ):
        raise BadFile(f"{shown(value)} contains a character not allowed in XML; remove it")
    return "".join(_ESCAPES.get(char, char) for char in value)


def quoted(value: str) -> str:
    """Return a text as the value of an attribute, in quotes."""
    return f'"{plain(value)}"'


def text_of(element: Element) -> str:
    """Return the text between an element's tags, without blanks around it."""
    return element.text.strip()


def tag(name: str, attributes: Mapping[str, str], inside: str = "", indent: str = "") -> str:
    """Return an element as text on lines of its own; *inside* are lines already."""
    given = "".join(f" {key}={quoted(value)}" for key, value in attributes.items())
    if not inside:
        return f"{indent}<{name}{given}/>\n"
    return f"{indent}<{name}{given}>\n{inside}{indent}</{name}>\n"
