"""A cluster that is asked for by its address: whether it answers, takes tasks, and is like this Python."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow as pa

from mqlab.errors import BadValue, CannotRun, MissingExtra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ANSWER = 5.0  # seconds for an address to answer
TAKE = 60.0  # seconds for a first task to be taken and done
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PORTS = {"spark": 7077, "sc": 15002}
_ADDRESS = re.compile(r"(?P<kind>spark|sc)://(?P<host>\[[^\]]+\]|[^:/;,]+)(:(?P<port>\d+))?")


def address(master: str) -> tuple[str, str, int]:
    """Return kind, host and port of ``spark://HOST:PORT`` or ``sc://HOST:PORT``; raises `BadValue`."""
    found = _ADDRESS.match(master)
    if found is None:
        raise BadValue(
            f"master {master!r}; use spark://HOST:PORT for a standalone cluster, "
            "or sc://HOST:PORT for Spark Connect"
        )
    kind = found["kind"]
    return kind, found["host"].strip("[]"), int(found["port"] or _PORTS[kind])


def reach(master: str) -> None:
    """Raise `CannotRun` if nobody listens at the address of a cluster; Spark itself tries a minute."""
    kind, host, port = address(master)
    if kind == "sc":
        _has_connect()
    try:
        socket.create_connection((host, port), timeout=ANSWER).close()
    except OSError as error:
        raise CannotRun(
            f"{master}: no answer at {host}:{port} ({error.strerror or error}); "
            "is the cluster started, and can this machine reach it?"
        ) from None


def settings(master: str) -> dict[str, str]:
    """Return the settings of a session on a standalone cluster, beside those of any session."""
    from mqlab.replay.gateway import import_path

    conf = {
        "spark.master": master,
        "spark.executorEnv.PYTHONPATH": import_path(),  # where the cluster is this machine
        "spark.executorEnv.PYTHONHASHSEED": "0",
    }
    if address(master)[1] in LOOPBACK:
        conf |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return conf


def check(spark: SparkSession, master: str) -> None:
    """Let the cluster do one small task; raises `CannotRun` that says what it lacks."""
    said: list[str] = []

    def ask() -> None:
        try:
            spark.range(0, 1, 1, 1).mapInArrow(_tell, "version string").toArrow()
        except Exception as error:
            said.append(str(error))  # here: it asks the cluster for its text

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(TAKE)
    if asking.is_alive():
        raise CannotRun(
            f"{master}: no worker took a task within {TAKE:g} s; is one registered, with a free core "
            "and as much memory as spark.executor.memory asks for (1 GB)?"
        )
    if said:
        raise CannotRun(f"{master}: {_reason(said[0])}")


def _tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return what a worker is: a task that needs all that other tasks need."""
    import numpy

    from mqlab.products.activemq.runtime import play

    told = f"{numpy.__version__} {play.__name__}"
    for batch in batches:
        yield pa.record_batch([pa.array([told] * batch.num_rows)], ["version"])


def _reason(said: str) -> str:
    """Return in plain words why a task failed on a cluster."""
    here = ".".join(map(str, sys.version_info[:2]))
    versions = re.search(r"different (?:minor )?version[^:]*: ?([\d.]+)", said)
    if "PYTHON_VERSION_MISMATCH" in said:
        other = f" (Python {versions[1]})" if versions else ""
        return (
            f"its workers have another Python{other} than this one ({here}); set PYSPARK_PYTHON, "
            f"before the session, to a Python {here} that is on every worker"
        )
    missing = re.search(r"No module named '([\w.]+)'", said)
    if missing:
        return (
            f"the Python of its workers has no {missing[1]}; there write: pip install 'mqlab[spark]', "
            "or set PYSPARK_PYTHON to one that has it"
        )
    errors = re.findall(r"^\s*((?!org\.|java\.)[\w.]+(?:Error|Exception): .+)$", said, re.MULTILINE)
    return f"a worker's Python failed: {errors[-1]}" if errors else " ".join(said.split())[:600]


def _has_connect() -> None:
    if find_spec("grpc") is None:
        raise MissingExtra.of("grpcio", "connect")
