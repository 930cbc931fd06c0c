"""Writes the site: pages for every notebook, their contents page, slides, and what all of them share."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path

from jinja2 import DictLoader, Environment
from markupsafe import Markup

from mqlab.errors import BadFile
from mqlab.lessons import data
from mqlab.lessons.data import ENGLISH
from mqlab.reference import glossary
from mqlab.site import book, engine, prose, slides
from mqlab.site.book import LANGUAGES, Page
from mqlab.site.parts import Part, Parts
from mqlab.views import bokehjs, player

ROOM = resources.files(__package__) / "page"
SCRIPTS = (
    "shared.js",
    "engine.js",
    "pictures.js",
    "progress.js",
    "tasks.js",
    "cells.js",
    "covers.js",
    "deck.js",
    "begin.js",
)
TEMPLATES = ("frame.html", "lesson.html", "contents.html", "slides.html", "terms.html")
SAID = (
    "right",
    "wrong",
    "close",
    "sum_over",
    "mistake",
    "no_mistake",
)  # what `page/tasks.js` puts together
MOST_STAGES = 2  # runs in one picture
HOST_ENDS = "export default { render };"


@dataclass
class Site:
    """The site of a folder. With Pyodide (a folder that holds it) its pages have the engine."""

    folder: Path
    pyodide: Path | None = None
    about: Mapping[str, object] | None = field(default=None, init=False)

    def write(self, chosen: Sequence[Page]) -> Iterator[Path]:
        """Write pages (`book.chosen`) and their translations, and yield each file that is done.

        Raises `BadFile` for a folder that cannot be written to.
        """
        own = [page for page in chosen if page.file is not None]
        names = {page.name for page in chosen if page.file is None}
        try:
            yield from self._assets()
            for language in LANGUAGES:
                yield from self._pages(book.pages(language), names)
            yield from self._pages(own, {page.name for page in own})
            others = [page for page in book.pages() if page.path not in {mine.path for mine in own}]
            yield self._put("index.html", self._contents([*own, *others]))
            yield self._put("terms.html", self._terms())
        except OSError as error:
            raise BadFile(f"{self.folder}: {error.strerror}; name another folder") from None

    def _put(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def _assets(self) -> Iterator[Path]:
        """Write what all pages share: BokehJS, the picture's document, looks, scripts, the engine."""
        yield self._put("assets/bokeh.js", "\n".join(bokehjs.texts()))
        yield self._put("assets/stages.js", _stages())
        yield self._put("assets/site.css", _text("site.css"))
        host = (resources.files("mqlab.views") / "host.js").read_text(encoding="utf-8")
        if host.count(HOST_ENDS) != 1:
            raise BadFile("mqlab/views/host.js does not end as a module with one `render`")
        shown = f"(() => {{\n{host.replace(HOST_ENDS, 'globalThis.mqlabHost = { render };')}\n}})();\n"
        yield self._put("assets/site.js", shown + "(() => {\n" + "\n".join(map(_text, SCRIPTS)) + "\n})();\n")
        if self.pyodide is not None:
            target = self.folder / "assets" / "engine"
            self.about = engine.put(self.pyodide, target)
            yield self._put("assets/engine/worker.js", _text("worker.js"))

    def _pages(self, pages: Sequence[Page], names: Container[str]) -> Iterator[Path]:
        for number, page in enumerate(pages):
            if page.name not in names:
                continue
            before = pages[number - 1] if number else None
            after = pages[number + 1] if number + 1 < len(pages) else None
            parts = Parts(page).all()
            yield self._put(page.path, self._lesson(page, parts, before, after))
            if page.language == ENGLISH and page.lesson.tasks:
                yield self._put(f"slides/{page.number}.html", self._slides(page, parts))

    def _lesson(self, page: Page, parts: list[Part], before: Page | None, after: Page | None) -> str:
        return self._made(
            "lesson.html",
            page.lesson.title,
            page,
            names=[other.name for other in book.pages(page.language)],
            parts=parts,
            before=before,
            after=after,
            said=data.texts(page.language)["words"],
            others=book.translations(page),
            languages=LANGUAGES,
            up=page.up,
        )

    def _slides(self, page: Page, parts: list[Part]) -> str:
        deck = slides.deck(page.lesson, parts, page.minutes, _words(page.language))
        return self._made("slides.html", page.lesson.title, page, deck=deck, up="../")

    def _contents(self, pages: Sequence[Page]) -> str:
        """Return the contents page: of all that is in the folder, also from before."""
        there = [page for page in pages if (self.folder / page.path).exists()]
        title, translations = _words(ENGLISH)["lessons"], book.translations
        return self._made("contents.html", title, pages=there, translations=translations, languages=LANGUAGES)

    def _terms(self) -> str:
        return self._made("terms.html", glossary.TITLE, text=glossary.page())

    def _made(
        self, template: str, title: str, page: Page | None = None, names: Iterable[str] = (), **given: object
    ) -> str:
        """Return a page of a template, of a lesson or of the whole site; *names* in its prose are links."""
        language = ENGLISH if page is None else page.language
        settings: dict[str, object] = {"engine": None, "words": _words(language)}
        if page is not None:
            said = data.texts(language)["words"]
            settings |= {"said": {name: said[name] for name in SAID}}
            settings |= {"engine": self.about} if page.is_run else {}
            settings |= {"files": page.files}
        shared = {"page": page, "title": title, "language": language, "words": settings["words"], "up": ""}
        return _environment([*names]).get_template(template).render(settings=settings, **{**shared, **given})


def _stages() -> str:
    """Return a script that gives ``mqlabStages``: documents for one and two runs, and the player they share.

    It is there once for the whole site; what differs between pictures is left open.
    """
    items = [player.models(count) for count in range(1, MOST_STAGES + 1)]
    told = json.dumps({"player": player.script(), "items": items}).replace("</", "<\\/")
    return f"globalThis.mqlabStages = {told};\n"


def _text(name: str) -> str:
    return ROOM.joinpath(name).read_text(encoding="utf-8")


def _words(language: str) -> dict[str, str]:
    """Return what the pages say beside their lessons; English where a language has no word."""
    found = tomllib.loads(_text("words.toml"))
    return {**found[ENGLISH], **found.get(language, {})}


def _environment(names: list[str]) -> Environment:
    made = Environment(loader=DictLoader({name: _text(name) for name in TEMPLATES}), autoescape=True)
    render = partial(prose.markdown, names=names)
    made.filters["markdown"] = lambda text: Markup(render(text))
    made.filters["python"] = lambda code: Markup(prose.python(code))
    made.filters["data"] = _data
    return made


def _data(value: object) -> Markup:
    """Return a value as JSON that may stand in a script element."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))
