"""Broker URIs, by one parser.

The grammar (ActiveMQ rule 28.1)::

    uri       = scheme ":" ssp [ "#" fragment ]
    ssp       = [ "//" ] ( composite | plain )
    composite = "(" list ")" [ [ "/" ] path ] [ "?" query ]
    plain     = list                    (a "?query" of plain belongs to its last element)
    list      = [ uri *( "," uri ) ]    (split at parenthesis depth 0 only)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote_plus

from mqlab.errors import UriError, shown

COMPOSITE = ("failover", "static", "simple", "discovery", "masterslave", "fanout", "mock")
MOST_PARENTHESES = 100
MOST_NESTED = 5  # composite URIs inside one another in the address of a network connector
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_COLON = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)//")


@dataclass(frozen=True, slots=True, kw_only=True)
class Uri:
    """A parsed broker URI. `components` are the URIs inside; `port` is None when not given.

    `text` is how it was written; `composite` tells whether its components stand in parentheses.
    An element inside another URI may lack a scheme: then `scheme` is empty and all is `path`.
    """

    text: str
    scheme: str
    composite: bool = False
    components: tuple[Uri, ...] = ()
    path: str | None = None
    fragment: str | None = None
    parameters: Mapping[str, str | None] = field(default_factory=dict)
    host: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        return self.text

    def leaves(self) -> tuple[Uri, ...]:
        """Return the addresses at the bottom, in the order in which they are written."""
        if not self.components:
            return (self,)
        return tuple(leaf for part in self.components for leaf in part.leaves())


@lru_cache(maxsize=4096)
def parse(text: str) -> Uri:
    """Read a broker URI; raises `UriError`, which shows the place. A text is read once: nobody changes a `Uri`.

    >>> parse("static:(tcp://B:61616,tcp://C:61616)?maxReconnectDelay=5000").components[1].host
    'C'
    """
    if text.count("(") > MOST_PARENTHESES:
        raise UriError(f"broker URI: more than {MOST_PARENTHESES} parentheses: {shown(text)}")
    return _Parser(text).uri(text.strip(), len(text) - len(text.lstrip()))


def read(text: str) -> Uri | None:
    """Return a broker URI; None for what is none: whoever opens it says why."""
    try:
        return parse(text)
    except UriError:
        return None


def check_inside(uri: Uri) -> None:
    """Raise `UriError` for what no broker takes inside the address of a network connector (ActiveMQ rule 28.2).

    Such is a scheme that lacks its colon, as in ``tcp//B:61616``, or too many addresses inside one another.
    """
    for leaf in uri.leaves():
        found = None if leaf.scheme else _NO_COLON.match(leaf.text)
        if found:
            place = uri.text.index(leaf.text) + found.end() - 2
            raise UriError.at(
                uri.text, place, f"the colon after {found[1]!r} is missing; use e.g. tcp://B:61616"
            )
    inside = [uri]
    for _ in range(MOST_NESTED + 1):
        inside = [part for one in inside for part in one.components]
    if inside:
        raise UriError(
            f"broker URI: {uri}: more than {MOST_NESTED} addresses inside one another; "
            "write one static:(...) with a list"
        )


@dataclass(frozen=True, slots=True)
class _Parser:
    """Reads one text; every piece knows its offset, so that an error can point at it."""

    text: str

    def uri(self, piece: str, offset: int) -> Uri:
        scheme = _SCHEME.match(piece)
        if scheme is None:
            raise self.error(offset, "a scheme is missing; use e.g. tcp://B:61616")
        name = scheme[0][:-1]
        body, start = piece[scheme.end() :], offset + scheme.end()
        body, hash_, fragment = body.partition("#")
        opened = body.count("(") - body.count(")")  # their order is not asked
        if hash_ and opened and opened == fragment.count(")") - fragment.count("("):
            raise self.error(
                start + len(body),
                "'#' ends an address, so host names cannot contain it; rename the broker",
            )
        if opened:
            raise self.error(start, "unbalanced parentheses")
        if body.startswith("//") and not body.startswith("//("):
            inner, shift = body[2:], 2
        else:
            inner, shift = body.removeprefix("//"), len(body) - len(body.removeprefix("//"))
        tail = fragment if hash_ else None
        if inner.startswith("("):
            return self.composite(name, piece, inner, start + shift, tail)
        if name in COMPOSITE or not body.startswith("//"):
            parts = self.split(inner, start + shift)
            return Uri(text=piece, scheme=name, components=parts, fragment=tail)
        return self.address(name, piece, inner, start + shift, tail)

    def composite(self, scheme: str, piece: str, inner: str, start: int, fragment: str | None) -> Uri:
        depth, end = 0, -1
        while end + 1 < len(inner) and (depth or end < 0):
            end += 1
            depth += (inner[end] == "(") - (inner[end] == ")")
        if depth != 0:
            raise self.error(start, "this parenthesis is never closed")
        rest, _, query = inner[end + 1 :].partition("?")
        if rest and not rest.startswith("/") and scheme != "broker":  # its name may stand there as it is
            raise self.error(start + end + 1, "after ')' only /path or ?options may stand")
        return Uri(
            text=piece,
            scheme=scheme,
            composite=True,
            components=self.split(inner[1:end], start + 1),
            path=rest.removeprefix("/") or None,
            fragment=fragment,
            parameters=read_query(query) if query else {},
        )

    def split(self, text: str, start: int) -> tuple[Uri, ...]:
        parts, depth, begin = [], 0, 0
        for place, char in enumerate([*text, ","]):
            depth += (char == "(") - (char == ")")
            if char == "," and depth == 0:
                piece = text[begin:place]
                if _SCHEME.match(piece.strip()):
                    gap = len(piece) - len(piece.lstrip())
                    parts.append(self.uri(piece.strip(), start + begin + gap))
                elif piece.strip():  # a bare name is taken, whether or not it leads anywhere
                    path, _, query = piece.strip().partition("?")
                    parts.append(Uri(text=piece.strip(), scheme="", path=path, parameters=read_query(query)))
                elif place < len(text):
                    raise self.error(start + begin, "an address is missing before this comma")
                begin = place + 1
        return tuple(parts)

    def address(self, scheme: str, piece: str, inner: str, start: int, fragment: str | None) -> Uri:
        place, _, query = inner.partition("?")
        authority, slash, path = place.partition("/")
        host, colon, port = authority.rpartition("@")[2].rpartition(":")
        if not colon:
            host, port = port, ""
        if port and not (port.isdecimal() and len(port) < 9 and int(port) <= 65535):
            raise self.error(start + inner.find(port), f"{shown(port)} is not a port; expected 0 to 65535")
        return Uri(
            text=piece,
            scheme=scheme,
            host=host or None,
            port=int(port) if port else None,
            path=slash + path,
            fragment=fragment,
            parameters=read_query(query) if query else {},
        )

    def error(self, place: int, expected: str) -> UriError:
        return UriError.at(self.text, place, expected)


def read_query(text: str) -> dict[str, str | None]:
    """Return the options in ``a=1&b``: URL-decoded, a key without "=" is None, the last of equal keys wins."""
    found: dict[str, str | None] = {}
    for pair in filter(None, text.split("&")):
        key, equals, value = pair.partition("=")
        found[unquote_plus(key)] = unquote_plus(value) if equals else None
    return found
