"""Names in the files of ActiveMQ brokers that its schema has not: a broker with one of them does not start.

Source: the schema of 5.17.2, to which a broker holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import get_close_matches

from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.files.schema import ATTRIBUTES, CHILDREN, GONE, LATER
from mqlab.products.activemq.files.xml_names import BEANS, CORES
from mqlab.products.activemq.rules.context import BrokerFile, CheckContext, files
from mqlab.spec import Network
from mqlab.spec.option import EDITIONS
from mqlab.spec.problem import Problem

SCHEMA = "the schema of ActiveMQ 5.17"
HOLDER = {"conditionalNetworkBridgeFilterFactory": "networkBridgeFilterFactory"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word that the schema has not: what is said of it, what to write; what became of one that is gone."""

    element: Element
    text: str
    fix: str = ""
    gone: str = ""


def misspelt(network: Network) -> Iterator[Problem]:
    """Yield the names that are none and are nearly one: with these no broker of any edition starts."""
    for file in files(CheckContext(network)):
        for word in words(file):
            if word.fix.startswith("write "):
                yield from _unknown_name.problems(word)


def words(file: BrokerFile) -> Iterator[Word]:
    """Yield the words of a file that the schema has not, attributes first."""
    edition = EDITIONS.index(file.context.network.edition)
    yield from _attributes(file, edition)
    yield from _children(file, edition)


def _attributes(file: BrokerFile, edition: int) -> Iterator[Word]:
    for element in file.broker.element.walk():
        known = ATTRIBUTES.get(element.name)
        if known is None or element.namespace not in CORES:
            continue
        later = LATER.get(element.name, {})
        gone = GONE.get(element.name, {})
        for word in element.attributes:
            text = f"{element.name} does not support {word}"
            if word.startswith("{") or word in known:
                continue
            if word in gone:
                if edition:
                    yield Word(file.at(element), word, gone=gone[word])
            elif word in later:
                if edition < EDITIONS.index(later[word]):
                    yield Word(file.at(element), text, f"use edition {later[word]}")
            else:
                there = known | CHILDREN.get(element.name, set())
                yield Word(file.at(element), text, _near(word, there))


def _children(file: BrokerFile, edition: int) -> Iterator[Word]:
    for element in file.broker.element.walk():
        gone = GONE.get(element.name, {}) if edition else {}
        known = CHILDREN.get(element.name)
        for child in element.children:
            if child.name in gone:
                yield Word(file.at(child), child.name, gone=gone[child.name])
            elif known and child.namespace != BEANS and child.name not in known:
                fix = _near(child.name, known)
                if child.name in HOLDER:
                    fix = f"move it into a {HOLDER[child.name]}"
                yield Word(file.at(child), f"{child.name} has no place in {element.name}", fix)


def _near(word: str, known: AbstractSet[str]) -> str:
    near = get_close_matches(word, known, 1, 0.8)
    return f"write {near[0]}" if near else "remove it"


@rule(
    "unknown-name",
    "error",
    finds="an attribute or element that is not in the schema: the broker does not start",
    what="{word.text}: the broker does not start",
    fix="{word.fix}",
    source=SCHEMA,
    unshown="the broker does not start",
    of=(files, words),
)
def _unknown_name(word: Word) -> Found:
    if not word.gone:
        yield word.element, {"word": word}


@rule(
    "removed",
    "error",
    finds="features removed in later versions: pure master/slave, old stores",
    what="{word}: {said}; the broker does not start",
    fix="{fix}",
    source=SCHEMA,
    unshown="the broker does not start",
    of=(files, words),
)
def _removed(word: Word) -> Found:
    if word.gone:
        said, _, fix = word.gone.partition("; ")
        yield word.element, {"word": word.text, "said": said, "fix": fix}
