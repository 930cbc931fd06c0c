"""Edits of an XML text, leaf by leaf: an attribute, the text of an element, an element more or less."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from mqlab.files.markup import Document, Edit, Element, plain, quoted, tag

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_STEP = "   "  # of what stands in an element without children of its own


def attribute(document: Document, element: Element, name: str, value: str | None) -> Iterator[Edit]:
    """Yield the edit that sets an attribute, or takes it out."""
    span = document.spans(element).get(name)
    if value is None:
        if span is not None:
            yield Edit(*span, "")
    elif span is not None:
        before = document.text[slice(*span)]
        yield Edit(*span, before[: before.index("=") + 1] + quoted(value))
    else:
        place = element.inside - (2 if element.empty else 1)
        yield Edit(place, place, f" {name}={quoted(value)}")


def removed(document: Document, element: Element) -> Edit:
    """Return the edit that takes an element out, with its line if it stands alone on it."""
    whole, start, end = document.text, element.start, element.end
    line = whole.rfind("\n", 0, start) + 1
    past = whole.find("\n", end)
    alone = not whole[line:start].strip() and past >= 0 and not whole[end:past].strip()
    return Edit(line, past + 1, "") if alone else Edit(start, end, "")


def written(document: Document, element: Element, value: str) -> Iterator[Edit]:
    """Yield the edits that give an element another text; comments and blanks around it stay."""
    if element.empty:
        start = document.tag(element).rstrip("/>").rstrip()
        name = start[1:].split()[0]
        yield Edit(element.start, element.end, f"{start}>{plain(value)}</{name}>")
        return
    end = document.text.rindex("<", element.inside, element.end)
    inner, place, put = document.text[element.inside : end], element.inside, False
    for part in re.split(f"({_COMMENT.pattern})", inner, flags=re.DOTALL):
        if part.strip() and not part.startswith("<!--"):
            begin = place + len(part) - len(part.lstrip())
            yield Edit(begin, place + len(part.rstrip()), "" if put else plain(value))
            put = True
        place += len(part)
    if not put:
        yield Edit(end, end, plain(value))


def put_in(
    document: Document, parent: Element, lines: str, after: Sequence[str] | None = None
) -> Iterator[Edit]:
    """Yield the edit that puts lines into an element, indented as those that are there.

    They go to its end, or behind the last child that is called like one in *after*: as its first without one.
    """
    lines = lines.rstrip("\n")
    known = parent.children if after is None else parent.all(*after)
    if known:
        last = known[-1]
        place = _behind(document.text, last.end)
        yield Edit(place, place, "\n" + indent(lines, _indent(document, last, indent_of(document, parent))))
    elif parent.children:
        first = parent.children[0]
        space = _indent(document, first, indent_of(document, parent))
        yield Edit(first.start, first.start, indent(lines, space).lstrip() + "\n" + space)
    else:
        yield _inside(document, parent, lines)


def _inside(document: Document, parent: Element, lines: str) -> Edit:
    space = indent_of(document, parent)
    made = f"\n{indent(lines, space + _STEP)}\n{space}"
    if parent.empty:
        slash = document.text.rindex("/", parent.start, parent.inside)
        name = document.tag(parent)[1:].split()[0].rstrip("/>")
        return Edit(slash, parent.inside, f">{made}</{name}>")
    end = document.text.rindex("<", parent.inside, parent.end)
    inner = document.text[parent.inside : end]
    return Edit(parent.inside + len(inner.rstrip()), end, made)


@dataclass(slots=True)
class Putting:
    """Puts lines into elements of a document; what an empty one gets is put in together, at the end."""

    document: Document
    filled: dict[int, tuple[Element, str]] = field(default_factory=dict)  # by the element's place

    def __call__(self, parent: Element, lines: str, after: Sequence[str] | None = None) -> Iterator[Edit]:
        """Yield the edit that puts lines into an element as `put_in` does."""
        if parent.children:
            yield from put_in(self.document, parent, lines, after)
        else:
            before = self.filled.get(parent.start, (parent, ""))[1]
            self.filled[parent.start] = parent, f"{before}{lines.rstrip()}\n"

    def rest(self) -> Iterator[Edit]:
        """Yield the edits of elements that were empty."""
        for parent, lines in self.filled.values():
            yield from put_in(self.document, parent, lines)


def indent_of(document: Document, element: Element) -> str:
    """Return the blanks before the line that an element begins in."""
    line = document.text.rfind("\n", 0, element.start) + 1
    before = document.text[line : element.start]
    return before[: len(before) - len(before.lstrip())]


def _indent(document: Document, child: Element, parent: str) -> str:
    line = document.text.rfind("\n", 0, child.start) + 1
    before = document.text[line : child.start]
    return before if not before.strip() else parent + _STEP


def _behind(text: str, end: int) -> int:
    """Return the end of the line behind an element, where nothing but a comment to it follows there."""
    past = text.find("\n", end)
    past = len(text) if past < 0 else past
    past -= text[past - 1 : past] == "\r"
    rest = text[end:past]
    return past if not _COMMENT.sub("", rest).strip() and "<!--" not in _COMMENT.sub("", rest) else end


def holder(name: str, lines: str, attributes: Mapping[str, str] | None = None) -> str:
    """Return an element around lines, which are indented."""
    return tag(name, attributes or {}, indent(lines, _STEP))
