"""Prose and code of a notebook as HTML: Markdown by mistune, colours by Pygments."""

from __future__ import annotations

import re
from collections.abc import Collection
from html import escape

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


class _Renderer(mistune.HTMLRenderer):
    """Gives headings an id, and makes a link of a page's name."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__(escape=True)
        self.names = names

    def heading(self, text: str, level: int, **attrs: object) -> str:
        """Return a heading that can be linked to."""
        return f'<h{level} id="{_id(text)}">{text}</h{level}>\n'

    def codespan(self, text: str) -> str:
        """Return code; the name of another page leads there."""
        shown = f"<code>{escape(text)}</code>"
        return f'<a href="{text}.html">{shown}</a>' if text in self.names else shown

    def block_code(self, code: str, info: str | None = None) -> str:
        """Return code that the keyboard can scroll, where it is too wide."""
        return super().block_code(code, info).replace("<pre>", '<pre tabindex="0">', 1)


def markdown(text: str, names: Collection[str] = ()) -> str:
    """Return Markdown as HTML; what is HTML in it is shown as text. Code that is one of *names* is a link."""
    render = mistune.create_markdown(renderer=_Renderer(names), plugins=["table", "url"])
    return re.sub(
        r"(<table>.*?</table>)",
        r'<div class="scroll" tabindex="0">\1</div>',
        str(render(text)),
        flags=re.DOTALL,
    )


def python(code: str) -> str:
    """Return Python code as HTML with classes for what is what."""
    return str(highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)))


def _id(text: str) -> str:
    plain = re.sub(r"<[^>]+>", "", text).lower()
    return "-".join(re.findall(r"\w+", plain))
