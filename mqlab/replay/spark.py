"""One Spark session per process.

A session that is there already (the user's own) is used as it is. Otherwise one is started: local, on
a standalone cluster (``spark://``), both with a Java process of ours (`gateway`), or with Spark Connect
(``sc://``), whose Java is elsewhere. One whose Java has died is replaced.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.sql import SparkSession

from mqlab import errors
from mqlab.errors import BadValue, CannotRun, MqlabError
from mqlab.replay import cluster
from mqlab.replay.archive import cache
from mqlab.replay.gateway import Gateway

# Seconds that a process may take to end after its connections are gone: on a busy machine it is some before a
# killed Java has given back its memory.
ENDS = 30.0
# Java's second compiler and its parallel collector take more than half of the processor time of a start, and
# what is heavy here, runs and pyramids, is done by Python and numpy.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
TRIES = 3  # of each task: a killed worker does not end the job

_lock = threading.RLock()
_gateway: Gateway | None = None  # of this process; Spark itself allows one context only
_remote: SparkSession | None = None  # the session of Spark Connect that we have made
_master: str | None = None  # what the session that we have made was asked for


def session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Return the process's Spark session: the active one, else one that is started now.

    *master* is ``spark://HOST:PORT`` or ``sc://HOST:PORT``; without it the session is local. *conf* holds
    Spark settings of a new session, such as ``{"spark.driver.memory": "8g"}``. Raises `MissingExtra` where
    no Java is found, `CannotRun` for a cluster that does not answer or has another Python.
    """
    with _lock:
        if _dead():
            stop()
        try:
            there = _there()
        except Exception as error:
            if not (_gateway and _is_of_connection(error) and _gateway.ends(ENDS)):
                raise
            stop()  # Java died while it was asked: what was just killed looks alive for a moment
            there = None
        if there is None:
            return _start(master, conf or {})
        if conf or master not in (None, _master):
            raise BadValue("a Spark session is already running with other settings; call replay.stop() first")
        return there


def stop() -> None:
    """End the session that `session` started; one that was there before is left alone."""
    global _gateway, _remote, _master
    with _lock:
        if _remote is not None:
            with suppress(Exception):  # its server may be gone
                _remote.stop()
            for name in ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE"):
                os.environ.pop(name, None)
        if _gateway is not None:
            if _gateway.alive:
                with suppress(Exception):  # it ends in a moment, one way or the other
                    SparkSession.builder.getOrCreate().stop()
            _forget()
            _gateway.close()
        _gateway = _remote = _master = None


def start_soon() -> None:
    """Start a local session in the background, so that who asks for it later need not wait."""

    def start() -> None:
        with suppress(Exception):  # whoever asks for a session is told
            session()

    threading.Thread(target=start, name="mqlab-spark", daemon=True).start()


def cores(spark: SparkSession) -> int:
    """Return how many tasks run at the same time, as far as the session tells."""
    if not _is_remote():
        return spark.sparkContext.defaultParallelism
    # Spark Connect has no such number; this one is set to fit the cluster.
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 2)


@contextmanager
def job() -> Iterator[None]:
    """Run a Spark job: an error of ours, which comes back from a task as text, is raised again.

    Raises `CannotRun` where Spark's Java has died meanwhile.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except Exception as error:
        if _gateway is not None and _gateway.ends(ENDS if _is_of_connection(error) else 0):
            raise CannotRun(
                "Spark's Java process has ended; what was finished is kept, and the same call goes on "
                "with a new one"
            ) from None
        if not isinstance(error, PySparkException):
            raise
        found = re.findall(r"mqlab\.errors\.(\w+): (.+)", str(error))
        kind = getattr(errors, found[-1][0], None) if found else None
        if not (isinstance(kind, type) and issubclass(kind, MqlabError)):
            raise
        raise kind(found[-1][1]) from None


def _is_of_connection(error: Exception) -> bool:
    """Whether an error says that Java could not be talked to: it may be about to end."""
    from py4j.protocol import Py4JError

    return isinstance(error, (Py4JError, OSError, EOFError))


def local_conf() -> dict[str, str]:
    """Return the settings of a local session: loopback only, no page, no files where you work."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        **_any_conf(),
        "spark.master": f"local[{here},{TRIES}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(here),
        "spark.driver.extraJavaOptions": QUICK,
    }


def _any_conf() -> dict[str, str]:
    return {
        "spark.app.name": "mqlab",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "0",  # the result is one row for each run or file
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.warehouse.dir": str(cache() / "warehouse"),
    }


def _start(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    global _gateway, _remote, _master
    if master is not None:
        cluster.reach(master)
    try:
        if master is not None and master.startswith("sc:"):
            made = _remote = _connect_remote(master, conf)
        else:
            own = local_conf() if master is None else {**_any_conf(), **cluster.settings(master)}
            _gateway = Gateway({**own, **conf})
            made = _connect(_gateway)
        if master is not None:
            cluster.check(made, master)
    except BaseException:
        stop()
        raise
    _master = master
    return made


def _dead() -> bool:
    """Whether the Java process of the session that we have made is gone."""
    if _remote is not None:
        try:
            _remote.version  # noqa: B018  its server has to answer
        except Exception:
            return True
    return _gateway is not None and not _gateway.alive


def _there() -> SparkSession | None:
    """Return the session that is there, ours or one that somebody else has made."""
    if _remote is not None:
        return _remote
    if _gateway is None and not _is_remote():
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
        PYSPARK_GATEWAY_PORT=str(gateway.port),
        PYSPARK_GATEWAY_SECRET=gateway.secret,
        PYSPARK_PYTHON=os.environ.get("PYSPARK_PYTHON", sys.executable),
        PYSPARK_DRIVER_PYTHON=sys.executable,
    ):
        return SparkSession.builder.getOrCreate()


def _connect_remote(master: str, conf: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.remote(master)
    for name, value in conf.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of settings that the server keeps for itself
        return builder.getOrCreate()


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


@contextmanager
def _set(**values: str) -> Iterator[None]:
    before: dict[str, str | None] = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
