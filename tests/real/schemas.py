"""Packs the products' own schemas of configuration files, for `check` and for tests.

    python -m tests.real.schemas ARTEMIS_SERVER.jar LATER_SERVER.jar ACTIVEMQ_SPRING.jar MQ_DISTRIBUTION.zip

writes the broker's own defaults of OpenMQ beside the tests, and `schema.json` beside what reads and writes the
files of each other product. A row is an element: ``@name`` is an attribute and ``name`` an element in it, each
with its type. ``<a,b`` is an element that holds those, ``*`` stands for any element of another namespace, ``+``
for any element at all. Types: boolean int long short double string, ``flag`` (true or false in any letters),
``bytes`` and ``size`` (a number with or without a unit, with or without a sign), and words between bars.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import mqlab
from mqlab.files import properties

X = "{http://www.w3.org/2001/XMLSchema}"
PRODUCTS = Path(mqlab.__file__).parent / "products"
PLAIN = {"boolean", "int", "long", "short", "double", "string"}
AS = {"float": "double", "integer": "int"}  # what both products make of whole numbers of any size
EDITORS = {"BooleanEditor": "flag", "MemoryPropertyEditor": "size", "MemoryIntPropertyEditor": "size"}
CORE = "META-INF/services/org/apache/xbean/spring/http/activemq.apache.org/schema/core"
OPENMQ = Path(__file__).parents[1] / "files" / "openmq_defaults.properties"


def local(name: str | None) -> str:
    return (name or "").rpartition(":")[2]


def wild(part: Element) -> str:
    return "*" if part.get("namespace") == "##other" else "+"


class Schema:
    """One schema: what stands in each element."""

    def __init__(self, text: bytes, editors: dict[str, str]) -> None:
        root = fromstring(text)
        self.types = {t.get("name"): t for t in root if t.tag in (X + "complexType", X + "simpleType")}
        self.elements = {e.get("name"): e for e in root if e.tag == X + "element"}
        self.editors = editors
        self.rows: dict[str, list[str]] = {}

    def parts(self, node: Element) -> Iterator[Element]:
        """Yield the attributes, elements and wild cards of a complex type."""
        for one in node:
            if one.tag in (X + "attribute", X + "element", X + "any"):
                yield one
            elif one.tag == X + "extension" and local(one.get("base")) in self.types:
                yield from self.parts(self.types[local(one.get("base"))])
                yield from self.parts(one)
            elif one.tag not in (X + "annotation", X + "simpleType"):
                yield from self.parts(one)

    def row(self, name: str, node: Element) -> None:
        """Write down an element's parts, and those of the types that they have."""
        if name in self.rows:
            return
        found = self.rows[name] = []
        for part in self.parts(node):
            if part.tag == X + "any":
                found.append(wild(part))
            elif part.tag == X + "attribute":
                if part.get("name"):
                    found.append(f"@{part.get('name')}:{self.simple(name, part)}")
            else:
                part = self.elements.get(local(part.get("ref")), part)
                found.append(f"{part.get('name')}:{self.of(name, part)}")
        self.rows[name] = sorted(dict.fromkeys(found))

    def of(self, holder: str, element: Element) -> str:
        """Return the type of an element that is described in its place."""
        inside = element.find(X + "complexType")
        named = self.types.get(local(element.get("type")))
        if named is not None and named.tag == X + "complexType":
            self.row(local(element.get("type")), named)
            return local(element.get("type"))
        if inside is None:
            return self.simple(holder, element)
        parts = list(self.parts(inside))
        refs = [local(p.get("ref")) if p.get("ref") else wild(p) if p.tag == X + "any" else "" for p in parts]
        if all(refs):
            return "<" + ",".join(sorted(dict.fromkeys(refs)))
        own = f"{holder}.{element.get('name')}"
        self.row(own, inside)
        return own

    def simple(self, holder: str, node: Element) -> str:
        """Return the type of a value."""
        editor = self.editors.get(f"{holder}.{node.get('name')}", "")
        if editor:
            return EDITORS[editor]
        name = local(node.get("type"))
        restricted = self.types.get(name, node)
        words = [e.get("value") or "" for e in restricted.iter(X + "enumeration")]
        if words:
            return "|".join(words) + ("" if len(words) > 1 else "|")
        said = " ".join("".join(node.itertext()).split()).lower()
        if name == "string" and "byte notation" in said:
            return "bytes"
        kind = AS.get(name, name)
        return kind if kind in PLAIN else "string"


def packed(rows: dict[str, list[str]]) -> str:
    return json.dumps({name: " ".join(parts) for name, parts in sorted(rows.items())}, indent=0) + "\n"


def artemis(*jars: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the rows of `broker.xml`, from ``core`` on: those of the first release, and what later ones add.

    An element whose type was replaced has what either type has.
    """
    found: dict[str, dict[str, str]] = {}
    for rows in map(_core, jars):
        later = {name: dict(part.split(":", 1) for part in parts) for name, parts in rows.items()}
        for name, parts in later.items():
            there = found.setdefault(name, {})
            for part, kind in parts.items():
                if kind != there.setdefault(part, kind) and kind in later:
                    later[kind] = {**found[there[part]], **later[kind]}
                    found.setdefault(kind, {}).update(later[kind])
                    there[part] = kind
    return {name: sorted(f"{part}:{kind}" for part, kind in parts.items()) for name, parts in found.items()}


def _core(jar: zipfile.ZipFile) -> dict[str, list[str]]:
    schema = Schema(jar.read("schema/artemis-configuration.xsd"), {})
    core = schema.elements["core"]
    inside = core.find(X + "complexType")
    schema.row("core", schema.types[local(core.get("type"))] if inside is None else inside)
    return schema.rows


def activemq(jar: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the rows of all elements in ActiveMQ's namespace."""
    said = re.findall(r"^([\w-]+\.\w+)\.propertyEditor = .*\.(\w+)$", jar.read(CORE).decode(), re.MULTILINE)
    schema = Schema(jar.read("activemq.xsd"), dict(said))
    for name, element in schema.elements.items():
        inside = element.find(X + "complexType")
        if name and inside is not None:
            schema.row(name, inside)
    return schema.rows


def version(jar: Path) -> str:
    return jar.stem.rpartition("-")[2]


def place(product: str) -> Path:
    """Return where the rows of a product stand."""
    return PRODUCTS / product / "files" / "schema.json"


if __name__ == "__main__":
    core, later, spring, mq = map(Path, sys.argv[1:])
    for product, rows in (
        ("artemis", artemis(zipfile.ZipFile(core), zipfile.ZipFile(later))),
        ("activemq", activemq(zipfile.ZipFile(spring))),
    ):
        place(product).write_text(packed(rows), encoding="utf-8")
    text = zipfile.ZipFile(mq).read("mq/lib/props/broker/default.properties").decode("latin-1")
    entries = properties.read(text, mq.name)
    lines = [f"{entry.key}={' '.join(entry.value.split())}" for entry in entries]
    about = f"# The default.properties of OpenMQ {version(mq)}, without its comments.\n"
    OPENMQ.write_text(about + "\n".join(lines) + "\n", encoding="utf-8")
