"""Java's property files: ``key=value`` lines, each with its place, so that one can change and the rest stay.

Source: the documentation of `java.util.Properties.load`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.errors import BadFile
from mqlab.files.markup import MOST_BYTES, Edit, edited

_LINE = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*")
_NEXT = r"\\(?:\r\n|[\r\n])[ \t\f]*"  # a line goes on in the next one
_PARTS = re.compile(
    rf"(?P<key>(?:[^\\=: \t\f\r\n]|{_NEXT}|\\[\s\S])*)(?:[ \t\f]|{_NEXT})*[=:]?(?:[ \t\f]|{_NEXT})*"
)
_ESCAPE = re.compile(rf"(?:{_NEXT})|\\(u[0-9a-fA-F]{{4}}|[\s\S]|$)")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value; the value stands from *start* to *end* in the text."""

    key: str
    value: str
    line: int
    start: int
    end: int


def read(text: str, where: str) -> list[Entry]:
    """Return the entries of a text, in its order; raises `BadFile` with the line.

    >>> [(entry.key, entry.value) for entry in read("# one\\na.b = c d\\ne", "x.properties")]
    [('a.b', 'c d'), ('e', '')]
    """
    if len(text) > MOST_BYTES:
        raise BadFile(f"{where}: more than {MOST_BYTES:,} characters; too large for a configuration file")
    found, place, line = [], 0, 1
    while place < len(text):
        whole = _LINE.match(text, place)
        assert whole is not None  # the empty line matches, too
        body = whole[0]
        lead = len(body) - len(body.lstrip(" \t\f"))
        if body[lead : lead + 1] not in ("", "#", "!"):
            found.append(_entry(body, lead, place, line, where))
        elif body[lead:]:  # a comment ends with its line, whatever stands at the end of it
            end = min((n for n in (text.find(c, place) for c in "\r\n") if n >= 0), default=len(text))
            body = text[place:end]
        line += body.count("\n")
        place += len(body)
        if text.startswith("\r\n", place):
            place += 1
        line += text[place : place + 1] in ("\n", "\r")
        place += 1
    return found


def _entry(body: str, lead: int, place: int, line: int, where: str) -> Entry:
    parts = _PARTS.match(body, lead)
    assert parts is not None
    if not parts["key"]:
        raise BadFile(f"{where}, line {line}: a value without a key; write key=value")
    value = body[parts.end() :]
    return Entry(_plain(parts["key"]), _plain(value), line, place + parts.end(), place + len(body))


def _plain(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        given = found[1] or ""
        if given[:1] == "u" and len(given) == 5:
            return chr(int(given[1:], 16))
        return _CONTROL.get(given, given)

    made = _ESCAPE.sub(one, text)
    pairs = made.encode("utf-16", "surrogatepass")  # a sign beyond \uffff is written as two halves
    return pairs.decode("utf-16", "replace")


def escaped(value: str) -> str:
    """Return a value as it is written in a property file, whose signs are those of ASCII."""
    text = value.replace("\\", "\\\\")
    for sign, char in _CONTROL.items():
        text = text.replace(char, f"\\{sign}")
    text = "".join(char if char < "\x80" else _halves(char) for char in text)
    return "\\" + text if text[:1] == " " else text


def _halves(char: str) -> str:
    data = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[no : no + 2].hex()}" for no in range(0, len(data), 2))


def mapping(text: str, where: str) -> dict[str, str]:
    """Return what a text says; of a key that comes twice, the last value."""
    return {entry.key: entry.value for entry in read(text, where)}


def changed(text: str, wanted: Mapping[str, str | None], where: str) -> str:
    """Return the text with values set; None takes a line out, and a new key goes to the end.

    >>> changed("a=1\\n# b\\n", {"a": "2", "c": "3"}, "x.properties")
    'a=2\\n# b\\nc=3\\n'
    """
    edits, rest = [], dict(wanted)
    for entry in read(text, where):
        if entry.key not in wanted:
            continue
        value = wanted[entry.key]
        rest.pop(entry.key, None)
        if value is None:
            start = text.rfind("\n", 0, entry.start) + 1
            past = text.find("\n", entry.end)
            edits.append(Edit(start, len(text) if past < 0 else past + 1, ""))
        elif value != entry.value:
            edits.append(Edit(entry.start, entry.end, escaped(value)))
    made = edited(text, edits)
    added = [f"{_key(key)}={escaped(value)}\n" for key, value in rest.items() if value is not None]
    lines = ("\n" if added and made and not made.endswith(("\n", "\r")) else "") + "".join(added)
    return made + edited(text, [Edit(len(text), len(text), lines)])[len(text) :]


def _key(key: str) -> str:
    return re.sub(r"(?<!\A\\)([=: #!])", r"\\\1", escaped(key))
