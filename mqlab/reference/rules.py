"""The rules as observed: a page of Markdown a product, whose rules have numbers that never change.

A rule names the recordings that show it, or else its source. Code, `check` and lessons cite one as
``ActiveMQ rule 1.6``, a whole section as ``ActiveMQ rules 15``, several as ``Artemis rules 2.2 and 2.4``.
A new rule goes to the end of its section, and the number of one that goes is not used again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mqlab.errors import UnknownName

# The name of a page -> how a citation calls it.
PAGES = {
    "activemq": "ActiveMQ",
    "openmq": "OpenMQ",
    "artemis": "Artemis",
    "recordings": "Recordings",
}
_NUMBER = r"\d+(?:\.\d+)?"
CITATION = re.compile(
    rf"\b({'|'.join(PAGES.values())}) rules? ({_NUMBER}(?:(?:, | and | to ){_NUMBER})*)(?![\d-])"
)
_EVIDENCE = ("Recordings: ", "Source: ")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its text in Markdown, the names of the recordings that show it, and its source if one is told.

    `product` is the name of its page; `recordings` are names that `mqlab.recorded` takes.
    """

    product: str
    number: str
    title: str
    text: str
    recordings: tuple[str, ...] = ()
    source: str = ""

    def __str__(self) -> str:
        return f"{PAGES[self.product]} rule {self.number}"

    @property
    def section(self) -> str:
        """The number of its section."""
        return self.number.partition(".")[0]

    def value(self) -> dict[str, object]:
        """Return it as a JSON value."""
        return {
            "product": self.product,
            "number": self.number,
            "title": self.title,
            "text": self.text,
            "recordings": list(self.recordings),
            "source": self.source,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its title, its text as it is shipped, the titles of its sections, and its rules in order."""

    name: str
    title: str
    text: str
    sections: dict[str, str]
    rules: tuple[Rule, ...]


@cache
def page(name: str) -> Page:
    """Return a page, read at its first use; raises `UnknownName` for one that is not there.

    >>> page("openmq").title
    'Open Message Queue: the rules'
    """
    if name not in PAGES:
        raise UnknownName.of("page of rules", name, PAGES)
    text = (resources.files(__package__) / "pages" / f"{name}.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\d+) (.+)$", text, re.MULTILINE))
    return Page(
        name,
        text.partition("\n")[0].removeprefix("# "),
        text,
        sections,
        tuple(_rule(name, part) for part in _parts(text)),
    )


def pages() -> list[Page]:
    """Return all pages."""
    return [page(name) for name in PAGES]


def find(product: str, number: str = "") -> tuple[Rule, ...]:
    """Return the rule of a number such as 1.6, or the rules of a section such as 1, or all of a page.

    Raises `UnknownName` for a page or a number that is not there.

    >>> [rule.title for rule in find("activemq", "1.6")]
    ['The order of dispatch in a queue']
    """
    rules = page(product).rules
    found = tuple(rule for rule in rules if number in ("", rule.number, rule.section))
    if not found:
        known = [*page(product).sections, *(rule.number for rule in rules)]
        raise UnknownName.of(f"rule of {PAGES[product]}", number, known)
    return found


def markdown(product: str, number: str = "") -> str:
    """Return a page, one of its sections or one of its rules in Markdown; raises as `find` does."""
    text = page(product).text
    if not number:
        return text
    find(product, number)
    level = "###" if "." in number else "##"
    start = text.index(f"\n{level} {number} ") + 1
    end = re.compile(rf"^#{{2,{len(level)}}} ", re.MULTILINE).search(text, start + 1)
    return text[start : end.start() if end else None].rstrip() + "\n"


def cited(text: str) -> Iterator[tuple[str, str]]:
    """Yield each rule or section that a text cites, as the name of its page and its number.

    >>> list(cited("AMQ Broker 7.1, 21.1; Artemis rules 2.2 and 3"))
    [('artemis', '2.2'), ('artemis', '3')]
    """
    names = {called: name for name, called in PAGES.items()}
    for called, numbers in CITATION.findall(text):
        yield from ((names[called], number) for number in re.findall(_NUMBER, numbers))


def _parts(text: str) -> Iterator[str]:
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        yield from re.split(r"^### ", section, flags=re.MULTILINE)[1:]


def _rule(product: str, part: str) -> Rule:
    head, _, body = part.partition("\n")
    number, _, title = head.partition(" ")
    lines = body.strip().splitlines()
    said = {kind: line.removeprefix(kind) for kind in _EVIDENCE for line in lines if line.startswith(kind)}
    text = "\n".join(line for line in lines if not line.startswith(_EVIDENCE)).strip()
    shown_by, source = (said.get(kind, "") for kind in _EVIDENCE)
    return Rule(product, number, title, text, tuple(re.findall(r"`([^`]+)`", shown_by)), source)
