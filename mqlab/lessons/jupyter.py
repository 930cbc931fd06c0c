"""JupyterLab on the notebooks, with BokehJS served from this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from mqlab.errors import BadFile, MissingExtra

FIRST = "00-start-here.ipynb"


def notebooks() -> Path:
    """Return where the notebooks are: in the checkout, or in the installed package."""
    package = Path(str(resources.files("mqlab")))
    checkout = package.parent / "notebooks"
    return checkout if (checkout / FIRST).exists() else package / "lessons" / "notebooks"


def prepare(folder: Path | None) -> Path:
    """Return the folder to work in: the checkout's own, or *folder* with a copy of the notebooks.

    Notebooks that are there already are left as they are.
    """
    source = notebooks()
    if folder is None and source.parent.joinpath("pyproject.toml").exists():
        return source
    target = folder or Path("mqlab-notebooks")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(source.glob("*.ipynb")):
            if not (target / notebook.name).exists():
                shutil.copy(notebook, target / notebook.name)
    except OSError as error:
        raise BadFile(
            f"{target}: no folder for notebooks: {error.strerror}; name another"
        ) from None
    return target


def start(folder: Path | None = None, browser: bool = True) -> int:
    """Start JupyterLab and wait for its end; returns its exit status."""
    if find_spec("jupyterlab") is None:
        raise MissingExtra.of("jupyterlab", "lab")
    from mqlab.views import bokehjs

    target = prepare(folder)
    bokehjs.install()
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={target.resolve()}",
               f"--LabApp.default_url=/lab/tree/{FIRST}"]  # fmt: skip
    if not browser:
        command.append("--no-browser")
    if os.name == "posix" and os.geteuid() == 0:
        command.append("--allow-root")
    return subprocess.run(command, check=False).returncode
