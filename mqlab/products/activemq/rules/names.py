"""Names in the files of ActiveMQ brokers that its schema has not: a broker with one of them does not start.

Source: the schema of 5.17.2, to which a broker holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from mqlab.files.markup import Element
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.schema import ATTRIBUTES, CHILDREN, GONE, LATER
from mqlab.products.activemq.files.xml_names import BEANS, CORES
from mqlab.products.activemq.rules.file_context import SCHEMA, FileContext, filed
from mqlab.spec import Network
from mqlab.spec.option import EDITIONS
from mqlab.spec.problem import Problem


def misspelt(network: Network) -> Iterator[Problem]:
    """Yield the names that are none and are nearly one: with these no broker of any edition starts."""
    files = filed(network)
    for name, broker in files.found.items():
        for problem in (*names(files, name, broker), *children(files, name, broker)):
            if problem.rule == "unknown-name" and problem.remedy.startswith("write "):
                yield problem


def names(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Yield attributes that the schema has not."""
    edition = EDITIONS.index(files.network.edition)
    for element in broker.element.walk():
        known = ATTRIBUTES.get(element.name)
        if known is None or element.namespace not in CORES:
            continue
        later = LATER.get(element.name, {})
        gone = GONE.get(element.name, {})
        for attribute in element.attributes:
            if attribute.startswith("{") or attribute in known:
                continue
            if attribute in gone:
                if edition:
                    yield _gone(files, name, element, attribute, gone[attribute])
            elif attribute in later:
                if edition < EDITIONS.index(later[attribute]):
                    yield _unknown(
                        files, name, element, attribute, f"use edition {later[attribute]}"
                    )
            else:
                near = get_close_matches(
                    attribute, known | CHILDREN.get(element.name, set()), 1, 0.8
                )
                yield _unknown(files, name, element, attribute,
                               f"write {near[0]}" if near else "take it out")  # fmt: skip


def _unknown(files: FileContext, name: str, element: Element, word: str, remedy: str) -> Problem:
    return files.problem(
        "unknown-name", "error", name, element,
        f"{element.name} has no {word}: the broker does not start", remedy, SCHEMA,
    )  # fmt: skip


def _gone(files: FileContext, name: str, element: Element, word: str, told: str) -> Problem:
    said, _, remedy = told.partition("; ")
    return files.problem(
        "removed",
        "error",
        name,
        element,
        f"{word}: {said}; the broker does not start",
        remedy,
        SCHEMA,
    )


def children(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Yield elements where the schema has none of the name."""
    for element in broker.element.walk():
        gone = GONE.get(element.name, {}) if files.network.edition != "5.5" else {}
        known = CHILDREN.get(element.name)
        for child in element.children:
            if child.name in gone:
                yield _gone(files, name, child, child.name, gone[child.name])
            elif known and child.namespace != BEANS and child.name not in known:
                near = get_close_matches(child.name, known, 1, 0.8)
                holder = {"conditionalNetworkBridgeFilterFactory": "networkBridgeFilterFactory"}
                remedy = f"write {near[0]}" if near else "take it out"
                if child.name in holder:
                    remedy = f"put it into a {holder[child.name]}"
                yield _unknown(files, name, child, f"place in {element.name}", remedy)
