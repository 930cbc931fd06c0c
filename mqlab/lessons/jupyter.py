"""JupyterLab on the notebooks, with BokehJS served from this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from mqlab.errors import BadFile, MissingExtra

FIRST = "00-start-here.ipynb"
INSTRUCTOR = "instructor"  # whose notebooks are solutions, outputs included
# A question about news of Jupyter would lie over the first page that somebody reads.
NO_NEWS = "--LabApp.news_url=None"
# By itself JupyterLab asks others for its own newest version, too, and for extensions.
OFFLINE = (
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


def notebooks() -> Path:
    """Return where the notebooks are: in the checkout, or in the installed package."""
    package = Path(str(resources.files("mqlab")))
    checkout = package.parent / "notebooks"
    return checkout if (checkout / FIRST).exists() else package / "lessons" / "notebooks"


def prepare(folder: Path | None = None) -> Path:
    """Return the folder to work in, *folder* or ``mqlab-notebooks`` here, with a copy of the notebooks.

    The copies of lessons have no outputs: what is stored for readers and tests would give every answer away
    before it is asked. What is there already is left as it is.
    """
    source, target = notebooks(), folder or Path("mqlab-notebooks")
    try:
        for file in sorted(source.rglob("*")):
            place = target / file.relative_to(source)
            if not file.is_file() or place.exists() or ".ipynb_checkpoints" in file.parts:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
            if _gives_away(place, target):
                _strip(place)
    except OSError as error:
        raise BadFile(
            f"{target}: cannot create the notebook folder: {error.strerror}; choose another"
        ) from None
    return target


def clear(folder: Path) -> None:
    """Take the outputs out of the lessons' notebooks where they are, for a place where people begin at once."""
    for file in sorted(folder.rglob("*.ipynb")):
        if _gives_away(file, folder):
            _strip(file)


def _gives_away(file: Path, folder: Path) -> bool:
    return file.suffix == ".ipynb" and INSTRUCTOR not in file.relative_to(folder).parts


def _strip(file: Path) -> None:
    """Take outputs and the numbers of runs out of a notebook."""
    book = json.loads(file.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    text = json.dumps(book, indent=1, ensure_ascii=False) + "\n"
    file.write_text(text, encoding="utf-8")


def start(folder: Path | None = None, browser: bool = True, offline: bool = False) -> int:
    """Start JupyterLab and wait for its end; returns its exit status. *offline* it asks no other machine."""
    if find_spec("jupyterlab") is None:
        raise MissingExtra.of("jupyterlab", "lab")
    from mqlab.views import bokehjs

    target = prepare(folder)
    bokehjs.install()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={target.resolve()}",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
        NO_NEWS,
    ]
    if offline:
        command += OFFLINE
    if not browser:
        command.append("--no-browser")
    if os.name == "posix" and os.geteuid() == 0:
        command.append("--allow-root")
    return subprocess.run(command, check=False).returncode
