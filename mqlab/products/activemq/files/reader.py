"""Attributes of one document's elements: with placeholders replaced, and options in their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.errors import BadFile, BadValue, shown
from mqlab.files.markup import Document, Element
from mqlab.files.placeholders import missing, resolve
from mqlab.products.activemq.files import xml_names
from mqlab.products.activemq.files.schema import SCHEMA
from mqlab.spec.option import Option, bytes_of
from mqlab.spec.rows import OPTIONS


@dataclass(frozen=True)
class Reader:
    """Reads the elements of one document, with values for placeholders."""

    document: Document
    values: Mapping[str, str]

    def place(self, element: Element) -> str:
        """Return file, line and element for an error."""
        return f"{self.document.where}, line {element.line}, {element.name}"

    def text(self, element: Element, name: str, default: str = "") -> str:
        """Return an attribute with its placeholders replaced."""
        given = element.attributes.get(name)
        return default if given is None else resolve(given, self.values, self.place(element))

    def truth(self, element: Element, name: str, default: bool = False) -> bool:
        """Return whether an attribute says true, as the broker reads it: 1 does, and TRUE where it is taken."""
        return self.text(element, name, str(default)).strip().lower() in ("true", "1")

    def option(self, element: Element, row: Option, attribute: str) -> object:
        """Return an attribute in an option's type; raises with file and line."""
        text = self.text(element, attribute)
        unknown = missing(text) if "${" in text else []
        if unknown and row.type is not str:
            raise BadFile(
                f"{self.place(element)}: {attribute} is {shown(text)}, and nothing says what "
                f"{unknown[0]} is; give it a value"
            )
        # The schema has 1 and 0 for booleans, and units for some counts.
        text, known = text.strip(), SCHEMA.row(element.name)
        kind = known.attributes.get(attribute) if known is not None else None
        if kind == "size":
            text = bytes_of(text)
        elif kind == "boolean":
            text = {"1": "true", "0": "false"}.get(text, text)
        try:
            return row.read(text, self.place(element))
        except BadValue as error:
            raise BadFile(str(error)) from None

    def options(self, element: Element, kind: str, names: Mapping[str, str]) -> dict[str, object]:
        """Return the options that an element's attributes set, by Python name."""
        rows = OPTIONS[kind]
        return {
            name: self.option(element, rows[name], attribute)
            for name, attribute in names.items()
            if attribute in element.attributes
        }

    def named(self, element: Element, key: str) -> str:
        """Return an attribute that names a destination; raises for an empty one: no broker starts with it."""
        name = self.text(element, key)
        if not name.strip():
            raise BadFile(f"{self.place(element)}: the name is missing; add {key}=...")
        return name

    def destination(self, element: Element) -> str:
        """Return a destination element such as ``<queue physicalName="A"/>`` as a text."""
        key = (
            "physicalName" if self.text(element, "physicalName") or "name" not in element.attributes else "name"
        )
        name = self.named(element, key)
        return f"{xml_names.QUEUES[element.name]}://{name.strip()}"
