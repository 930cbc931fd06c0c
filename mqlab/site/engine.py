"""The engine of the pages: Pyodide, and beside it the Python that runs in it, as one archive.

Nothing is fetched: Pyodide is a folder that is there (npm package ``pyodide``), the archive is made of this
installation of mqlab and of what it needs in a browser.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from importlib import metadata, resources
from pathlib import Path

from mqlab.conform import recorded
from mqlab.conform.recorded import folder as recordings
from mqlab.errors import BadFile
from mqlab.lessons import data

FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
SEEN = "314.0.7"  # the version that the tests run
NEVER = ("widgets", "replay", "cli")  # rooms that no page enters
LATE = ("py", "toml", "lark", "json", "md")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


def find(folder: Path | None = None) -> Path:
    """Return the folder of Pyodide: *folder* itself, the package in it, or the one that npm installed here.

    Raises `BadFile` with what to do where there is none.
    """
    places = [folder, folder / "node_modules" / "pyodide"] if folder else list(_by_npm())
    for place in places:
        if place is not None and all((place / name).is_file() for name in FILES):
            return place
    where = f"{folder}: no Pyodide there" if folder else "Pyodide was not found"
    raise BadFile(
        f"{where}; run `npm install pyodide@{SEEN}` here, or name a folder that holds "
        f"{FILES[0]} with --engine, or use --without-engine"
    )


def _by_npm() -> Iterator[Path]:
    yield from (up / "node_modules" / "pyodide" for up in (Path.cwd(), *Path.cwd().parents))
    if (npm := shutil.which("npm")) is not None:
        done = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            yield Path(done.stdout.strip()) / "pyodide"


def put(source: Path, target: Path) -> dict[str, object]:
    """Put Pyodide and the archive into *target*; returns name, version and bytes of what a page loads."""
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, target / name)
    archive(target / "python.zip")
    loaded = (*FILES, "python.zip")
    version = (
        json.loads((source / "package.json").read_text())["version"]
        if (source / "package.json").is_file()
        else ""
    )
    return {"version": version, "bytes": sum((target / name).stat().st_size for name in loaded)}


def archive(file: Path) -> None:
    """Write the Python of the pages: mqlab without what no page enters, and what it needs."""
    found = dict(_own())
    for name in needed():
        found |= dict(_installed(name))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for place in sorted(found):
            out.writestr(zipfile.ZipInfo(place, EPOCH), found[place], zipfile.ZIP_DEFLATED)


def needed() -> list[str]:
    """Return the distributions that mqlab needs in a browser, as its metadata says."""
    from packaging.requirements import Requirement

    rows = [Requirement(text) for text in metadata.requires("mqlab") or ()]
    browser = {"sys_platform": "emscripten", "platform_system": "Emscripten", "extra": ""}
    return [row.name for row in rows if row.marker is None or row.marker.evaluate(browser)]


def _own() -> Iterator[tuple[str, bytes]]:
    package = Path(str(resources.files("mqlab")))
    for file in sorted(package.rglob("*")):
        inner = file.relative_to(package)
        is_needed = file.suffix[1:] in LATE and "__pycache__" not in inner.parts
        if is_needed and inner.parts[0] not in NEVER and inner.parts[:2] != ("lessons", "notebooks"):
            yield f"mqlab/{inner.as_posix()}", file.read_bytes()
    told = {found.recorded for name in data.names() for found in data.lesson(name).discoveries}
    yield "mqlab/conform/recordings/told.tar.gz", recorded.pack(told)
    for file in sorted(recordings().glob("*.tar.xz")):
        yield f"mqlab/conform/recordings/{file.name}", file.read_bytes()
    # What asks for a widget is told that there is none.
    yield "mqlab/widgets/__init__.py", (package / "widgets" / "__init__.py").read_bytes()


def _installed(name: str) -> Iterator[tuple[str, bytes]]:
    for part in metadata.files(name) or ():
        place = part.as_posix()
        if not re.search(r"\.pyc$|^\.\.|\.dist-info/(RECORD|INSTALLER|REQUESTED)$", place):
            yield place, Path(str(part.locate())).read_bytes()
