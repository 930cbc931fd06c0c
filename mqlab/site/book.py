"""Which pages there are, in their order: notebooks of the curriculum, translations, lessons of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mqlab.errors import BadFile, UnknownName
from mqlab.lessons import checking, data
from mqlab.lessons.checking import Cell
from mqlab.lessons.data import ENGLISH, LessonData
from mqlab.lessons.jupyter import notebooks

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
NEEDS_SPARK = "mq.replay"


@dataclass(frozen=True)
class Page:
    """One page: `name` is that of its notebook, `minutes` what a learner needs, about.

    A lesson of somebody's own has its `file`, such as ``mine.toml``, beside its notebook.
    """

    name: str
    language: str
    notebook: Path
    file: Path | None = None

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The notebook's cells, each with its ``source`` as one text."""
        return checking.cells(self.notebook)

    @cached_property
    def lesson(self) -> LessonData:
        """The lesson of the page; a notebook without tasks has its title and its question from its text."""
        if self.file is not None:
            return data.lesson(str(self.file))
        if self.name in data.names(self.language):
            return data.lesson(self.name, self.language)
        title, _, text = self.cells[0]["source"].partition("\n")
        asked = (part for part in text.split("**")[1::2] if part.endswith("?"))
        return LessonData(self.name, title.lstrip("# "), next(asked, ""), (), language=self.language)

    @property
    def minutes(self) -> int:
        """Minutes that a learner needs, about; as the English page has them."""
        english = self if self.language == ENGLISH else page(self.name)
        spent = sum(checking.minutes(cell, english.lesson) for cell in english.cells)
        return max(1, round(spent))

    @property
    def path(self) -> str:
        """The file of the page below the site's folder."""
        return ("" if self.language == ENGLISH else f"{self.language}/") + f"{self.name}.html"

    @property
    def up(self) -> str:
        """The way from the page to the site's folder."""
        return "" if self.language == ENGLISH else "../"

    @property
    def opened(self) -> str:
        """The name by which its cells open its lesson."""
        return self.name if self.file is None else self.file.name

    @property
    def files(self) -> dict[str, str]:
        """What its cells open by name: name -> text."""
        return {} if self.file is None else {self.opened: self.file.read_text(encoding="utf-8")}

    @property
    def number(self) -> str:
        """What stands for it in lists and addresses: the number of a lesson, the name of one's own."""
        return self.name[:2] if self.file is None else self.name

    @property
    def is_run(self) -> bool:
        """Whether the page's cells can be run without Spark."""
        return not any(NEEDS_SPARK in cell["source"] for cell in self.cells if cell["cell_type"] == "code")


def page(name: str, language: str = ENGLISH) -> Page:
    """Return a page by name."""
    folder = notebooks() if language == ENGLISH else notebooks() / language
    return Page(name, language, folder / f"{name}.ipynb")


def pages(language: str = ENGLISH) -> list[Page]:
    """Return the pages of a language in their order."""
    folder = notebooks() if language == ENGLISH else notebooks() / language
    found = sorted(folder.glob("[0-9]*.ipynb"))
    return [Page(file.stem, language, file) for file in found]


def chosen(names: Sequence[str]) -> list[Page]:
    """Return the English pages of these lessons, of all without names; a file (``mine.toml``) is a lesson, too.

    Raises `UnknownName`, `BadFile` for a lesson of one's own that is not there or is written wrongly.
    """
    known = {page.name: page for page in pages()}
    found = []
    for name in names or known:
        if name in known:
            found.append(known[name])
        elif name.endswith(data.OWN):
            file, notebook = Path(name), checking.notebook_of(name)
            data.lesson(name)  # read here, so that a fault is told before anything is written
            if not notebook.exists():
                raise BadFile(f"{notebook}: there is no such notebook; it stands beside {file.name}")
            found.append(Page(file.stem, ENGLISH, notebook, file))
        else:
            raise UnknownName.of("lesson", name, known)
    return found


def translations(of: Page) -> list[Page]:
    """Return the same page in the other languages that it is written in."""
    if of.file is not None:
        return []
    others = (page(of.name, language) for language in LANGUAGES if language != of.language)
    return [other for other in others if other.notebook.exists()]
