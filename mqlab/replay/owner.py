"""Who writes to a folder: what a killed process has left there is told from what is being written."""

from __future__ import annotations

import json
import os
import shutil
import socket
from contextlib import suppress
from pathlib import Path

from mqlab.spec.json_types import JsonObject

WRITER = "writer.json"  # in a folder that is not whole yet


def here() -> dict[str, object]:
    """Return this process, as others find it in a file."""
    return {"host": socket.gethostname(), "process": os.getpid()}


def gone(told: JsonObject | None) -> bool:
    """Whether a process that a file names has ended; of another machine's nobody knows."""
    if not told or told.get("host") != socket.gethostname():
        return False
    return not runs(int(told["process"]))


def runs(process: int) -> bool:
    """Whether a process of this machine runs."""
    try:
        os.kill(process, 0)
    except PermissionError:  # somebody else's
        return True
    except OSError:
        return False
    return True


def claim(folder: Path) -> None:
    """Make a folder and say in it that this process writes to it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WRITER).write_text(json.dumps(here()), encoding="utf-8")


def release(folder: Path) -> None:
    """Say that a folder is whole."""
    (folder / WRITER).unlink()


def clear(parent: Path, pattern: str) -> None:
    """Remove the folders of some name that processes have left which are no more."""
    for told in parent.glob(f"{pattern}/{WRITER}"):
        with suppress(OSError, ValueError):
            if gone(json.loads(told.read_text(encoding="utf-8"))):
                shutil.rmtree(told.parent)
