"""Every figure, example and table of the guides stands in a lesson: the index of the seeds is the list."""

import re

import pytest

from mqlab.lessons import checking, data
from tests.conftest import ROOT, SHARED, missing

INDEX = SHARED / "seeds" / "INDEX.md"


def rows(text):
    """Yield each row of the index by guide and label; what has no number by its first words."""
    guide = None
    for line in text.splitlines():
        if found := re.match(r"## (\d{3})_", line):
            guide = found[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if guide is None or not line.startswith("|") or cells[0] in ("item", "---"):
            continue
        label = cells[0]
        if label in ("unnumbered", "list", "table", "fragment", "fragments"):
            label = " ".join(cells[1].replace("`", "").split()[:4])
        yield f"{guide} {label}"


def covered():
    """Return row -> (lesson, words) of all lessons."""
    return {row: (name, words) for name in data.names() for row, words in data.lesson(name).covers.items()}


def test_every_row_of_the_index_stands_in_a_lesson():
    if not INDEX.exists():
        missing("the index of the guides, which lies beside the project")
    listed = list(rows(INDEX.read_text(encoding="utf-8")))
    assert len(listed) > 80
    table = covered()
    untold = [row for row in listed if not any(row.startswith(known) for known in table)]
    foreign = [known for known in table if not any(row.startswith(known) for row in listed)]
    assert (untold, foreign) == ([], [])


@pytest.mark.parametrize("row", covered())
def test_what_is_said_to_be_there_is_there(row):
    name, words = covered()[row]
    cells = checking.cells(ROOT / "notebooks" / f"{name}.ipynb")
    tasks = [task.setup.figure + task.text + task.told + task.source for task in data.lesson(name).tasks]
    text = "\n".join([*(cell["source"] for cell in cells), *tasks])
    assert words in text
