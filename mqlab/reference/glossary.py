"""The glossary: one term for each idea, as the guides use it, and the variants that mqlab does not use."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mqlab.errors import UnknownName
from mqlab.trace.grid import TextTable

TITLE = "Terms"


@dataclass(frozen=True, slots=True)
class Term:
    """A term, what it means, where it is used so, and the product's own word where that differs."""

    name: str
    group: str
    meaning: str
    source: str
    own: str = ""
    instead_of: tuple[str, ...] = ()

    def value(self) -> dict[str, object]:
        """Return it as a JSON value."""
        return {
            "term": self.name,
            "group": self.group,
            "meaning": self.meaning,
            "own": self.own,
            "instead_of": list(self.instead_of),
            "source": self.source,
        }


class Terms(TextTable, tuple[Term, ...]):
    """Terms in a tuple: prints and shows as a table."""

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per term."""
        lines = [[one.name, one.meaning, one.own, one.source] for one in self]
        return [["term", "meaning", "in a product", "source"], *lines]

    def by_group(self) -> dict[str, list[Term]]:
        """Return group -> its terms."""
        found: dict[str, list[Term]] = {}
        for one in self:
            found.setdefault(one.group, []).append(one)
        return found

    __repr__ = TextTable.__str__


@cache
def glossary() -> Terms:
    """Return all terms, in the order of the file."""
    text = resources.files("mqlab.reference").joinpath("glossary.toml").read_text(encoding="utf-8")
    return Terms(
        Term(**{**row, "instead_of": tuple(row.get("instead_of", ()))}) for row in tomllib.loads(text)["term"]
    )


def terms(word: str = "") -> Terms:
    """Return the terms in whose name, meaning or variants *word* stands, or that it abbreviates.

    Hyphens and capitals do not matter. Raises `UnknownName` for none.

    >>> [term.name for term in terms("for ever")]
    ['forever, permanently']
    >>> [term.name for term in terms("DLQ")]
    ['dead letter queue']
    """
    asked = _plain(str(word))
    found = [
        one for one in glossary() if _initials(one) == asked or any(asked in _plain(t) for t in _texts(one))
    ]
    if not found:
        raise UnknownName.of("term", word, [one.name for one in glossary()])
    return Terms(found)


def _texts(term: Term) -> Iterable[str]:
    return (term.name, term.own, term.meaning, *term.instead_of)


def _plain(text: str) -> str:
    """Return a text as it is searched: in small letters, its words apart by one blank."""
    return " ".join(text.lower().replace("-", " ").split())


def _initials(term: Term) -> str:
    return "".join(word[0] for word in _plain(term.name).split())


def page() -> str:
    """Return the glossary as a page in Markdown, a table for each group."""
    lines = [
        f"# {TITLE}",
        "",
        "One term for each idea; the last column lists variants that mqlab does not use.",
        "",
    ]
    for group, found in glossary().by_group().items():
        lines += [f"## {group.capitalize()}", "", "| term | meaning | in a product | source | not |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        lines += [
            f"| {one.name} | {one.meaning} | {one.own} | {one.source} | {', '.join(one.instead_of)} |"
            for one in found
        ]
        lines.append("")
    return "\n".join(lines)
