"""XML, read with care: nothing is fetched and nothing is expanded.

A document with a DTD is refused where that begins, so it has no entities of its own; as is one larger than a
configuration ever is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.parsers import expat

from mqlab.errors import BadFile
from mqlab.files.markup import MOST_BYTES, Document, Element, Note
from mqlab.spec.origin import SourceFile

MOST_ELEMENTS = 20_000
MOST_DEPTH = 200
MOST_DOCUMENTS = 256  # that are kept as they were read
_TAG = re.compile(r"""[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")  # up to its end, past its ``>``
_LINE_END = re.compile(r"\r\n|\r|\n")
_TEMPLATE = re.compile(r"\{[{%]|<%|&&|@@")  # Jinja, ERB, and names that a script replaces


@lru_cache(maxsize=MOST_DOCUMENTS)
def document_of(file: SourceFile) -> Document:
    """Return the document that a file is; raises `BadFile` with file and line.

    Whose a file is, what stands in it and where its problems are: all ask, and nobody changes a document.

    >>> document_of(SourceFile("a.xml", "<a><b x='1'/></a>")).root.children[0].attributes
    {'x': '1'}
    """
    text, where = file.text, file.name
    if len(text) > MOST_BYTES:
        raise BadFile(f"{where}: more than {MOST_BYTES:,} characters; too large for a configuration file")
    if not text.strip():
        raise BadFile(f"{where}: the file is empty")
    builder = _Builder(text, where)
    try:
        builder.parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        told = f"not XML: {expat.ErrorString(error.code)}"
        if _TEMPLATE.search(text):
            told += "; it looks like a template: give the file that is made of it"
        raise BadFile(f"{where}, line {error.lineno}, column {error.offset}: {told}") from None
    return Document(where, text, file.encoding, builder.open[0].children[0])


class _Builder:
    """Builds elements, and finds their places in the text."""

    def __init__(self, text: str, where: str) -> None:
        self.whole, self.where = text, where
        self.lines = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self.open = [Element("", "", {}, 1, 0)]  # first what the root stands in
        self.count = 0
        self.parser = expat.ParserCreate("utf-8", "}")  # by which names come as namespace}name
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.ProcessingInstructionHandler = self.instruction

    def place(self) -> tuple[int, int]:
        """Return line and offset of what is being read."""
        line = self.parser.CurrentLineNumber
        return line, self.lines[line - 1] + self.parser.CurrentColumnNumber

    def refuse(self, *_declared: object) -> None:
        """A DTD begins, in which entities may be declared."""
        told = "DTDs and custom entities are not supported; remove them"
        raise BadFile(f"{self.where}, line {self.parser.CurrentLineNumber}: {told}")

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """A start tag."""
        line, start = self.place()
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.open) > MOST_DEPTH:
            what = f"more than {MOST_ELEMENTS:,} elements" if self.count > MOST_ELEMENTS else "too deep"
            raise BadFile(f"{self.where}, line {line}: {what}; not a plausible configuration")
        space, _, own = name.rpartition("}")
        given = {f"{{{key}" if "}" in key else key: value for key, value in attributes.items()}
        element = Element(space, own, given, line, start)
        found = _TAG.match(self.whole, start)
        element.inside = found.end() if found else len(self.whole)
        element.empty = self.whole[element.inside - 2] == "/"
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, _name: str) -> None:
        """An end tag, or the end of an empty element."""
        element = self.open.pop()
        _, place = self.place()
        element.end = element.inside if element.empty else self.whole.index(">", place) + 1

    def characters(self, content: str) -> None:
        """Text between tags."""
        self.open[-1].text += content

    def instruction(self, target: str, data: str) -> None:
        """A processing instruction; one outside of the root is not kept."""
        line, start = self.place()
        if len(self.open) > 1:
            end = self.whole.index("?>", start) + 2
            self.open[-1].notes.append(Note(target, data, line, start, end))
