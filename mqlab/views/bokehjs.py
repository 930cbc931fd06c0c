"""BokehJS for the notebook, without the internet: copied from the installed Bokeh.

The Jupyter server serves every file below ``share/jupyter/labextensions``; a copy there loads fast
and is kept by the browser. Where there is none, the kernel sends the scripts.
"""

from __future__ import annotations

import os
import sys
from importlib import resources
from pathlib import Path

import bokeh

NAMES = ("bokeh", "bokeh-widgets")


def folder(prefix: str | None = None) -> Path:
    """Return where the copy belongs."""
    share = Path(prefix or sys.prefix) / "share" / "jupyter" / "labextensions"
    return share / "mqlab-bokehjs" / "static"


def is_installed(prefix: str | None = None) -> bool:
    """Whether a copy of just the installed version is there."""
    mark = folder(prefix) / "version"
    return mark.is_file() and mark.read_text() == bokeh.__version__


def texts() -> list[str]:
    """Return the scripts, in the order in which they load."""
    static = resources.files("bokeh") / "server" / "static" / "js"
    return [(static / f"{name}.min.js").read_text(encoding="utf-8") for name in NAMES]


def install(prefix: str | None = None) -> None:
    """Put the copy there, the mark of its version last."""
    if is_installed(prefix):
        return
    target = folder(prefix)
    target.mkdir(parents=True, exist_ok=True)
    files = dict(zip((f"{name}.min.js" for name in NAMES), texts(), strict=True))
    for name, text in {**files, "version": bokeh.__version__}.items():
        beside = target / f".{name}.{os.getpid()}"
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, target / name)
