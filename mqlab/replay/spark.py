"""One Spark session for the process.

Spark's shell scripts look for a system Java and pass it a module that small Javas lack. So the
gateway JVM is started by ourselves: Spark's launcher says with which command, we leave that module
out, and PySpark is told where the JVM listens (as PySpark's own start-up does).
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import platformdirs
import pyspark
from pyspark.sql import SparkSession

from mqlab.errors import MqlabError
from mqlab.replay import java as javas

VECTOR = "jdk.incubator.vector"
START_TAKES = 90  # seconds at most
_jvm: subprocess.Popen[bytes] | None = None


def configuration() -> dict[str, str]:
    """Return the settings of a local session; all of it listens on the loopback address only."""
    cores = os.cpu_count() or 2
    cache = Path(platformdirs.user_cache_dir("mqlab")) / "spark"
    cache.mkdir(parents=True, exist_ok=True)
    return {
        "spark.master": f"local[{cores},3]",  # 3: a killed worker's task is tried again
        "spark.app.name": "mqlab",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": str(cache / "warehouse"),
        "spark.local.dir": str(cache),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }


def session() -> Any:
    """Return the active session, or a local one; a session whose JVM has died is replaced."""
    if _jvm is not None and _jvm.poll() is not None:
        _forget()
    # The active one may be the user's own: a cluster, or Connect.
    return SparkSession.getActiveSession() or _start()


def stop() -> None:
    """Stop the session and its JVM; harmless without one."""
    if _jvm is None or _jvm.poll() is None:
        active = SparkSession.getActiveSession()
        if active is not None:
            active.stop()
    _forget()


def _start() -> Any:
    # Workers run this very Python: a kernel's environment is usually not the activated one.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Spark logs every analysis error as a line of JSON, although it is raised as well.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    # It runs with pandas 3 all the same (measured); the tables we pass are Arrow's.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    settings = configuration()
    port, secret = _launch(settings)
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


def _command(java: javas.Java, settings: dict[str, str]) -> list[str]:
    """Return the command by which Spark's launcher would start the JVM, less what Java lacks."""
    home = Path(pyspark.__file__).parent
    scala = next((home / "jars").glob("spark-core_*.jar")).name.split("_")[1].split("-")[0]
    options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    told = subprocess.run(
        [java.program, "-cp", str(home / "jars" / "*"), "org.apache.spark.launcher.Main",
         "org.apache.spark.deploy.SparkSubmit", *options, "pyspark-shell"],
        capture_output=True, timeout=START_TAKES,
        env={**os.environ, "JAVA_HOME": str(java.program.resolve().parent.parent),
             "SPARK_HOME": str(home), "SPARK_SCALA_VERSION": scala},
    )  # fmt: skip
    command = [part.strip() for part in told.stdout.decode().split("\0") if part.strip()]
    if not command:
        raise MqlabError(f"Spark's launcher failed: {told.stderr.decode()[:600]}")
    if VECTOR not in javas.modules(java):
        command = [part for part in command if VECTOR not in part]
    return command


def _launch(settings: dict[str, str]) -> tuple[int, str]:
    """Start the JVM and return the port and the secret of its gateway."""
    global _jvm
    command = _command(javas.find(), settings)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "connection"
        noise = Path(folder) / "stderr"
        with noise.open("wb") as errors:
            _jvm = subprocess.Popen(
                command, stdin=subprocess.PIPE, stderr=errors, stdout=subprocess.DEVNULL,
                env={**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)},
                preexec_fn=_ignore_interrupts if os.name == "posix" else None,
            )  # fmt: skip
        deadline = time.monotonic() + START_TAKES
        while not (told.exists() and told.stat().st_size > 8):
            if _jvm.poll() is not None or time.monotonic() > deadline:
                text = noise.read_text(errors="replace")[-600:]
                raise MqlabError(f"the Java of Spark did not start: {text}")
            time.sleep(0.05)
        data = told.read_bytes()
    port, length = struct.unpack(">ii", data[:8])
    return port, data[8 : 8 + length].decode()


def _ignore_interrupts() -> None:
    """Stopping a cell must not stop Spark."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _forget() -> None:
    """Let go of a session whose JVM is gone, or goes now: it ends when its input closes."""
    global _jvm
    from pyspark import SparkContext

    if _jvm is not None:
        if _jvm.stdin is not None:
            _jvm.stdin.close()
        _jvm = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = None
    SparkSession._activeSession = None  # type: ignore[attr-defined]
