"""Names in the files of ActiveMQ brokers that its schema has not: a broker with one of them does not start.

Source: the schema of 5.17.2, to which a broker holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from mqlab.checks.rule import Element, Found, bad_value, rule
from mqlab.errors import shown
from mqlab.files import markup
from mqlab.files.placeholders import resolve
from mqlab.files.schema import Row
from mqlab.products.activemq.files.reading import elements_of
from mqlab.products.activemq.files.schema import CORES, EARLIER, GONE, LATER, SCHEMA
from mqlab.products.activemq.rules.context import BrokerFile, CheckContext, files
from mqlab.spec import Network
from mqlab.spec.option import EDITIONS
from mqlab.spec.problem import Problem

SOURCE = "the schema of ActiveMQ 5.17"
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
    context = CheckContext(network)
    for name, broker in elements_of(network.origin).items() if network.origin is not None else ():
        for word in words(BrokerFile(context, name, broker)):
            if word.fix.startswith("write "):
                yield from _unknown_name.problems(word)


def words(file: BrokerFile) -> Iterator[Word]:
    """Yield the words of a file that the schema has not."""
    edition = EDITIONS.index(file.context.network.edition)
    for element, row in SCHEMA.walk(file.broker.element, "broker"):
        strange = [one for one in element.attributes if one not in row.attributes and one[0] != "{"]
        if strange:
            yield from _attributes(strange, file.at(element), element, row, edition)
        others = [one for one in element.children if one.namespace in CORES and one.name not in row.elements]
        if others:
            yield from _children(others, file, element, row, edition)


def _attributes(
    strange: Sequence[str], at: Element, element: markup.Element, row: Row, edition: int
) -> Iterator[Word]:
    later, gone = LATER.get(element.name, {}), GONE.get(element.name, {})
    for word in strange:
        text = f"{element.name} does not support {word}"
        if word in gone:
            if edition:
                yield Word(at, word, gone=gone[word])
        elif word in later:
            yield from _too_new(at, text, later[word], edition)
        elif edition or word not in EARLIER.get(element.name, ()):
            yield Word(at, text, row.instead(word))


def _children(
    others: Sequence[markup.Element], file: BrokerFile, element: markup.Element, row: Row, edition: int
) -> Iterator[Word]:
    gone, earlier = GONE.get(element.name, {}), EARLIER.get(element.name, ())
    for child in others:
        word, later = child.name, LATER.get(element.name, {})
        if word in {*gone, *earlier} and not edition:
            continue
        if word in later:
            yield from _too_new(file.at(child), f"{element.name} does not support {word}", later[word], edition)
        elif word in gone:
            yield Word(file.at(child), word, gone=gone[word])
        else:
            fix = f"move it into a {HOLDER[word]}" if word in HOLDER else row.instead(word)
            yield Word(file.at(child), f"{word} has no place in {element.name}", fix)


def _too_new(at: Element, text: str, release: str, edition: int) -> Iterator[Word]:
    """Yield a word of a later release than the edition, if that is not the last one that mqlab has."""
    nearest = release if release in EDITIONS else EDITIONS[-1]
    if edition < EDITIONS.index(nearest):
        own = "" if nearest == release else f", as the word is of {release}"
        yield Word(at, text, f"use edition {nearest}{own}")


@rule(
    "unknown-name",
    "error",
    finds="an attribute or element that is not in the schema: the broker does not start",
    what="{word.text}: the broker does not start",
    fix="{word.fix}",
    source=SOURCE,
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
    source=SOURCE,
    unshown="the broker does not start",
    of=(files, words),
)
def _removed(word: Word) -> Found:
    if word.gone:
        said, _, fix = word.gone.partition("; ")
        yield word.element, {"word": word.text, "said": said, "fix": fix}


@bad_value("bad-value", source=SOURCE, of=(files,))
def _bad_value(file: BrokerFile) -> Found:
    origin = file.context.network.origin
    values = dict(origin.values) if origin else {}
    for wrong in SCHEMA.wrong(file.broker.element, "broker", partial(resolve, values=values, where=file.name)):
        yield file.at(wrong.element), {"wrong": wrong}


LEFT_OUT = frozenset(". \t\n\u2026")  # dots stand in the guides' listings for what these leave out


@rule(
    "stray-content",
    "error",
    finds="text between the elements of a broker, or two stores in one persistenceAdapter",
    what="{text}: the broker does not start",
    fix="remove {it}",
    source=SOURCE,
    unshown="the broker does not start",
    of=(files,),
)
def _stray_content(file: BrokerFile) -> Found:
    for element, _ in SCHEMA.walk(file.broker.element, "broker"):
        text = element.text.strip()
        if not LEFT_OUT.issuperset(text):
            said = f"the text {shown(text)} stands in {element.name}, where only elements have a place"
            yield file.at(element), {"text": said, "it": "the text"}
        own = [child for child in element.children if child.namespace in CORES]
        if element.name == "persistenceAdapter" and len(own) > 1:
            names = " and ".join(child.name for child in own)
            yield file.at(own[1]), {"text": f"persistenceAdapter holds {names}", "it": "all but one"}
