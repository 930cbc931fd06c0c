"""The class-data archive: Spark's 15,000 classes, parsed once and kept in the user's cache.

The first session writes down which classes it loads; a process of low priority then makes the
archive of them, while the work goes on. Later sessions start in half the time. Its key is the Java
and the class path; Java itself checks the date of each jar, and passes over an archive that does
not fit any more.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mqlab.replay import owner

MAIN = "org.apache.spark.deploy.SparkSubmit"
ROOM = 1 << 30  # bytes of disk that must be free; an archive takes 180 MB
LONGEST = 600  # seconds after which one that is still being made is taken for given up
LOADED = 30  # seconds after which a session has loaded most that it ever loads
KEPT = 3  # archives, the newest ones


@dataclass(frozen=True, slots=True)
class Archive:
    """The archive of one Java with one class path, made or not: `java` is the command up to the main class."""

    path: Path
    java: tuple[str, ...]

    @classmethod
    def of(cls, command: Sequence[str]) -> Archive:
        """Return the archive that belongs to a command line."""
        java = [part for part in command[: command.index(MAIN)] if not part.startswith("-Xm")]
        entries = java[java.index("-cp") + 1].split(os.pathsep)
        read = [Path(java[0]).resolve(), *(Path(entry.rstrip("*")) for entry in entries)]
        dates = [path.stat().st_mtime_ns for path in read if path.exists()]
        key = hashlib.sha256(json.dumps([java, dates]).encode()).hexdigest()[:16]
        return cls(cache() / f"classes-{key}.jsa", tuple(java))

    @property
    def classes(self) -> Path:
        """The list of classes, while the archive is being made."""
        return self.path.with_suffix(".classes")

    def added(self, command: Sequence[str], begun: bool) -> list[str]:
        """Return the command line with what makes Java use the archive, or list the classes for one."""
        at = command.index(MAIN)
        if begun:
            more = [f"-XX:DumpLoadedClassList={self.classes}"]
        else:
            more = [f"-XX:SharedArchiveFile={self.path}"] if self.path.exists() else []
        return [*command[:at], *more, *command[at:]]

    def begin(self) -> bool:
        """Whether this process is to make the archive: there is none, room for it, and nobody else at it.

        Continuous integration (which sets CI) begins each time anew: nobody would use what takes 20 s to make.
        """
        if self.path.exists() or os.environ.get("CI"):
            return False
        with suppress(OSError):
            if time.time() - self.classes.stat().st_mtime > LONGEST:
                self.classes.unlink()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self.path.parent).free < ROOM:
                return False
            self.classes.touch(exist_ok=False)
        except OSError:  # somebody is at it, or the cache cannot be written to
            return False
        return True

    def make(self, session: int) -> None:
        """Let a process of its own make the archive, of the classes that a session's process loads."""
        with suppress(OSError):
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(self.path), str(session), *self.java],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.path.parent,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            )


def cache() -> Path:
    """Return the folder of the user's cache for Spark."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("mqlab"), "spark")


def main(path: Path, session: int, java: Sequence[str]) -> None:
    """Make an archive of the classes that a session has listed."""
    archive = Archive(path, tuple(java))
    beside = path.with_suffix(".making")
    with suppress(AttributeError):  # no such thing on Windows
        os.nice(19)
    end = time.monotonic() + LOADED
    while time.monotonic() < end and owner.runs(session):
        time.sleep(0.2)
    try:
        # The session may be in the middle of a line.
        whole = archive.classes.read_text(encoding="utf-8").rpartition("\n")[0]
        listed = path.with_suffix(".listed")
        listed.write_text(whole + "\n", encoding="utf-8")
        done = subprocess.run(
            [
                java[0],
                "-Xshare:dump",
                f"-XX:SharedClassListFile={listed}",
                f"-XX:SharedArchiveFile={beside}",
                "-XX:ParallelGCThreads=1",
                *java[1:],
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LONGEST,
            check=False,
        )
        if done.returncode == 0:
            beside.replace(path)
            _forget_old(path.parent)
    finally:
        for file in (beside, path.with_suffix(".listed"), archive.classes):
            file.unlink(missing_ok=True)


def _forget_old(folder: Path) -> None:
    kept = sorted(folder.glob("classes-*.jsa"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-KEPT]:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
