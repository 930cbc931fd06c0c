"""Files made of the products' own schemas: each element and attribute that a schema has, once.

A case is the shortest way to something from the root of a file, with what has to stand beside it. Values are of
the schema's types; where a text has a grammar of its own, two texts of it stand in `TEXTS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from xml.sax.saxutils import escape

from mqlab.files.schema import Schema
from mqlab.products.activemq.files.schema import CORE
from mqlab.products.activemq.files.schema import SCHEMA as ACTIVEMQ
from mqlab.products.artemis.files.schema import SCHEMA as ARTEMIS

VALUES = {
    "boolean": ("true", "false"), "flag": ("true", "false"), "double": ("1.5", "2.5"), "bytes": ("3mb", "5mb"),
    "size": ("3mb", "5mb"), "int": ("3", "5"), "long": ("3", "5"), "short": ("3", "5"),
}  # fmt: skip
FILE = "made.xml"


@dataclass(frozen=True)
class Case:
    """An element, or an attribute if it has a name, by its way from the root."""

    product: str
    way: tuple[str, ...]
    attribute: str
    kind: str  # its type; "" of an element with others in it

    @property
    def id(self) -> str:
        return "/".join(self.way) + (f"@{self.attribute}" if self.attribute else "")


def root(product: str) -> tuple[Schema, str]:
    return (ACTIVEMQ, "broker") if product == "activemq" else (ARTEMIS, "core")


# What the products' users put where a schema allows any element of it.
HOLDS = {
    "policyEntries": ("policyEntry",),
    "users": ("authenticationUser",),
    "forwardTo": ("queue", "topic", "filteredDestination"),
    "virtualDestinations": ("virtualTopic", "compositeQueue", "compositeTopic"),
    "proxyConnectors": ("proxyConnector",),
    "authorizationEntries": ("authorizationEntry", "tempDestinationAuthorizationEntry"),
    "filteredPersistenceAdapters": ("filteredKahaDB",),
    "redeliveryPolicyEntries": ("redeliveryPolicy",),
    "dynamicallyIncludedDestinations": ("queue", "topic"),
    "excludedDestinations": ("queue", "topic"),
    "staticallyIncludedDestinations": ("queue", "topic"),
    "durableDestinations": ("queue", "topic"),
}
# Attribute or element -> two texts, where any letters will not do.
TEXTS = {
    "uri": ("static:(tcp://other:61616)", "static:(tcp://another:61616)"),
    "discoveryURI": ("static:(tcp://other:61616)", "static:(tcp://another:61616)"),
    "cluster-connection-uri@address": ("static://(tcp://a:1)", "static://(tcp://b:1)"),
    "selector": ("x = 1", "x = 2"),
    "transportConnector@uri": ("tcp://0.0.0.0:1", "tcp://0.0.0.0:2"),
    "journal-directory": ("/shared/a/journal", "/shared/b/journal"),
}
# What has to stand beside something for it to mean anything: element -> attributes and elements in it.
BESIDE = {
    "networkConnector": 'uri="static:(tcp://other:61616)"',
    "transportConnector": 'uri="tcp://0.0.0.0:61616"',
    "compositeQueue": 'name="C"',
    "compositeTopic": 'name="C"',
    "virtualTopic": 'name="V.>"',
    "policyEntry": 'queue="P"',
    "authorizationEntry": 'queue="P"',
    "simpleAuthenticationPlugin": 'anonymousAccessAllowed="true"',
    "queue": 'physicalName="Q"',
    "topic": 'physicalName="T"',
    "filteredDestination": 'queue="F"',
    "address-setting": 'match="#"',
    "address": 'name="A"',
    "cluster-connection": 'name="C"',
    "divert": 'name="D"',
    "core queue": 'name="Q"',
}
# Element -> what has to stand in it for what is around it to mean anything, unless the case is in it.
INSIDE = {
    "compositeQueue": '<forwardTo><queue physicalName="F"/></forwardTo>',
    "compositeTopic": '<forwardTo><queue physicalName="F"/></forwardTo>',
    "address-setting": "<redelivery-delay>9</redelivery-delay>",
    "address": '<anycast><queue name="Q"/></anycast>',
}
# Case -> what else its file needs.
ALSO = {"journal-directory": "<ha-policy><shared-store><master/></shared-store></ha-policy>"}
# Attributes of which an element has one or the other.
INSTEAD = {"discoveryURI": "uri", "topic": "queue", "name": "physicalName"}


@cache
def cases(product: str) -> tuple[Case, ...]:
    """Return the cases of a product, nearest to the root first."""
    schema, top = root(product)
    found: list[Case] = []
    seen, waiting = {top}, [((), top)]
    while waiting:
        way, kind = waiting.pop(0)
        row = schema.row(kind)
        found += [Case(product, way, name, type) for name, type in row.attributes.items()]
        inside = {name: name for name in HOLDS.get(way[-1], ())} if "+" in kind else row.elements
        for name, inner in inside.items():
            simple = schema.row(inner) is None
            found.append(Case(product, (*way, name), "", inner if simple else ""))
            if not simple and (inner not in seen or inner.startswith("<")):
                seen.add(inner)
                waiting.append(((*way, name), inner))
    return tuple(found)


def texts(case: Case) -> tuple[str, str]:
    """Return two values of a case."""
    name = case.attribute or case.way[-1]
    own = TEXTS.get(f"{case.way[-1] if case.way else ''}@{name}") or TEXTS.get(name)
    words = case.kind.split("|")
    return own or VALUES.get(case.kind) or ((words[0], words[1]) if len(words) > 1 else ("aa", "bb"))


def file(case: Case, value: str) -> tuple[str, int]:
    """Return a file with a value in a case, and its line there."""
    top = root(case.product)[1]
    space = (
        f' xmlns="{CORE}" brokerName="A" brokerId="A"'
        if case.product == "activemq"
        else ' xmlns="urn:activemq:core"'
    )
    lines, closing = [], []
    for depth, name in enumerate((top, *case.way)):
        last = depth == len(case.way)
        given = space if depth == 0 else beside(case.product, name)
        if last and case.attribute:
            own = "|".join({case.attribute, INSTEAD.get(case.attribute, case.attribute)})
            given = re.sub(rf'\s({own})="[^"]*"', "", given) + f' {case.attribute}="{escape(value)}"'
        text = escape(value) if case.kind and not case.attribute else INSIDE.get(name, "")
        lines.append(f"<{name}{given}>" + (text if last else ""))
        closing.insert(0, f"</{name}>")
    closing.insert(-1, ALSO.get(case.id, ""))
    return "\n".join((*lines, *closing)), len(lines)


def beside(product: str, name: str) -> str:
    given = BESIDE.get(f"core {name}" if product == "artemis" and name == "queue" else name, "")
    return given and f" {given}"
