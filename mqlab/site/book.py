"""Which pages there are, in their order: each notebook of the curriculum, and its translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mqlab.lessons import checking, data
from mqlab.lessons.checking import Cell
from mqlab.lessons.data import ENGLISH, LessonData
from mqlab.lessons.jupyter import notebooks

LANGUAGES = {ENGLISH: "English", "zh": "中文"}
NEEDS_SPARK = "mq.replay"


@dataclass(frozen=True)
class Page:
    """One page: `name` is that of its notebook, `minutes` what a learner needs, about."""

    name: str
    language: str
    notebook: Path

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The notebook's cells, each with its ``source`` as one text."""
        return checking.cells(self.notebook)

    @cached_property
    def lesson(self) -> LessonData:
        """The lesson of the page; a notebook without tasks has its title and its question from its text."""
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


def translations(of: Page) -> list[Page]:
    """Return the same page in the other languages that it is written in."""
    others = (page(of.name, language) for language in LANGUAGES if language != of.language)
    return [other for other in others if other.notebook.exists()]
