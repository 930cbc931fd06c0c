"""XML, read with care: nothing is fetched and nothing is expanded.

A document with a DTD or an entity of its own is refused, as is one larger than a configuration ever is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from io import BytesIO
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler, feature_namespaces
from xml.sax.xmlreader import AttributesNSImpl, InputSource, Locator

from defusedxml import DefusedXmlException

from mqlab.errors import BadFile
from mqlab.files.markup import MOST_BYTES, Document, Element, Note
from mqlab.spec.origin import SourceFile

MOST_ELEMENTS = 20_000
MOST_DEPTH = 200
MOST_DOCUMENTS = 256  # that are kept as they were read
_TAG = re.compile(r"""[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")  # up to its end, past its ``>``
_LINE_END = re.compile(r"\r\n|\r|\n")


def parse(text: str, where: str, encoding: str = "utf-8") -> Document:
    """Return the document that a text is; raises `BadFile` with file and line.

    >>> parse("<a><b x='1'/></a>", "a.xml").root.children[0].attributes
    {'x': '1'}
    """
    if len(text) > MOST_BYTES:
        raise BadFile(f"{where}: more than {MOST_BYTES:,} characters; too large for a configuration file")
    if not text.strip():
        raise BadFile(f"{where}: the file is empty")
    from defusedxml.expatreader import DefusedExpatParser  # brings ssl and http.client: a tenth of a start

    reader = DefusedExpatParser(forbid_dtd=True, forbid_entities=True, forbid_external=True)
    reader.setFeature(feature_namespaces, True)
    builder = _Builder(text, where)
    reader.setContentHandler(builder)
    source = InputSource()
    source.setEncoding("utf-8")
    source.setByteStream(BytesIO(text.encode("utf-8", "surrogatepass")))
    try:
        reader.parse(source)
    except DefusedXmlException:
        line = reader.getLineNumber()
        raise BadFile(
            f"{where}, line {line}: DTDs and custom entities are not supported; remove them"
        ) from None
    except SAXParseException as error:
        line, column = error.getLineNumber(), error.getColumnNumber()
        raise BadFile(f"{where}, line {line}, column {column}: not XML: {error.getMessage()}") from None
    except SAXException as error:
        raise BadFile(f"{where}: not XML: {error.getMessage()}") from None
    if builder.root is None:
        raise BadFile(f"{where}: not XML: no element")
    return Document(where, text, encoding, builder.root)


@lru_cache(maxsize=MOST_DOCUMENTS)
def document_of(file: SourceFile) -> Document:
    """Return the document that a file is; raises `BadFile` with file and line.

    Whose a file is, what stands in it and where its problems are: all ask, and nobody changes a document.
    """
    return parse(file.text, file.name, file.encoding)


class _Builder(ContentHandler):
    """Builds elements, and finds their places in the text."""

    def __init__(self, text: str, where: str) -> None:
        super().__init__()
        self.whole, self.where = text, where
        self.lines = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def place(self) -> tuple[int, int]:
        """Return line and offset of what is being read."""
        locator: Locator = self._locator  # type: ignore[attr-defined]  # that the parser has set
        line, column = locator.getLineNumber() or 1, locator.getColumnNumber() or 0
        return line, self.lines[line - 1] + column

    def startElementNS(  # noqa: N802 - SAX's name
        self, name: tuple[str | None, str], qname: str | None, attrs: AttributesNSImpl
    ) -> None:
        line, start = self.place()
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.open) >= MOST_DEPTH:
            what = f"more than {MOST_ELEMENTS:,} elements" if self.count > MOST_ELEMENTS else "too deep"
            raise BadFile(f"{self.where}, line {line}: {what}; not a plausible configuration")
        given = {
            known if not space else f"{{{space}}}{known}": value for (space, known), value in attrs.items()
        }
        element = Element(name[0] or "", name[1], given, line, start)
        found = _TAG.match(self.whole, start)
        element.inside = found.end() if found else len(self.whole)
        element.empty = self.whole[element.inside - 2] == "/"
        if self.open:
            self.open[-1].children.append(element)
        elif self.root is None:
            self.root = element
        self.open.append(element)

    def endElementNS(self, name: tuple[str | None, str], qname: str | None) -> None:  # noqa: N802
        element = self.open.pop()
        _, place = self.place()
        element.end = element.inside if element.empty else self.whole.index(">", place) + 1

    def characters(self, content: str) -> None:
        if self.open:
            self.open[-1].text += content

    def processingInstruction(self, target: str, data: str) -> None:  # noqa: N802
        line, start = self.place()
        end = self.whole.index("?>", start) + 2
        if self.open:
            self.open[-1].notes.append(Note(target, data, line, start, end))
