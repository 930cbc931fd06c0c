"""Makes the instructor's pages and solutions, and keeps the text outputs of all notebooks.

``python -m tests.notebooks [NAME...]``

Cells tagged nbval-ignore-output (forms, pictures) keep none; nbval holds all others to the letter.
"""

import os
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

from mqlab.lessons import data, guide, solutions
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"
SOLUTIONS = NOTEBOOKS / "instructor" / "solutions"


def write_solutions(names):
    SOLUTIONS.mkdir(parents=True, exist_ok=True)
    for name in names:
        book = nbformat.from_dict(solutions.solved(name, NOTEBOOKS))
        nbformat.write(book, SOLUTIONS / f"{name}.ipynb")
        pages = NOTEBOOKS / "instructor" / "guides"
        pages.mkdir(exist_ok=True)
        (pages / f"{name}.md").write_text(guide.page(name), encoding="utf-8")


def keep(file):
    """Run a notebook and write it back with the outputs that are text."""
    book = nbformat.read(file, 4)
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": NOTEBOOKS}},
                   record_timing=False).execute()  # fmt: skip
    book.metadata.pop("widgets", None)
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        tags = cell.metadata.get("tags", [])
        cell.outputs = [] if solutions.IGNORED in tags else cell.outputs
        for output in cell.outputs:
            if output.output_type == "error":
                output.traceback = []  # it holds the places of files on this machine
    nbformat.write(book, file)


def main(names):
    os.environ["MQLAB_PROGRESS"] = os.path.join(tempfile.mkdtemp(), "progress.jsonl")
    chosen = [name for name in data.names() if not names or name in names]
    write_solutions(chosen)
    files = sorted(file for file in NOTEBOOKS.rglob("*.ipynb") if not names or file.stem in names)
    for file in files:
        print(file.relative_to(ROOT))
        keep(file)


if __name__ == "__main__":
    main(sys.argv[1:])
