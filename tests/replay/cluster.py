"""A standalone cluster on the loopback: a master, workers, a server of Connect, each a process of its own."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyspark

from mqlab.real import ports
from mqlab.replay import gateway, java
from mqlab.replay.spark import QUICK
from tests.conftest import end, said_in

HOME = Path(pyspark.__file__).parent


@contextmanager
def free_port():
    """Give a port that is ours until the end; a Java process takes seconds before it listens there."""
    (port,) = ports.take("127.0.0.1", 1)
    try:
        yield port
    finally:
        ports.give_back([port])


@contextmanager
def nobody_listens():
    """Give a port at which nobody listens, and nobody can."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield one.getsockname()[1]


def start(folder, name, main, *arguments, **env):
    """Start a Java process of Spark's; its log is in *folder*."""
    found = java.find()
    modules = [f"--add-modules={gateway.INCUBATOR}"] if found.has_module(gateway.INCUBATOR) else []
    opens = [part for part in gateway.command({}) if part.startswith(("--add-opens", "-Dio.netty"))]
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [found.program, "-cp", f"{HOME / 'jars'}/*", "-Xmx512m", *QUICK.split(), *modules, *opens,
             main, *arguments],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd=folder,
            env={**os.environ, **gateway.environment(), "SPARK_LOCAL_IP": "127.0.0.1",
                 "PYSPARK_PYTHON": sys.executable, **env},
        )  # fmt: skip


def listens(port, process, patience=120):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        assert process.poll() is None
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(port)


@contextmanager
def standalone(folder, workers=2):
    """Give the address of a cluster and its workers' processes; all end afterwards."""
    with free_port() as port, ended() as started:
        master = start(
            folder, "master", "org.apache.spark.deploy.master.Master",
            "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0",
        )  # fmt: skip
        started.append(master)
        listens(port, master)
        for number in range(workers):
            name = f"worker{number}"
            (folder / name).mkdir()
            started.append(start(
                folder, name, "org.apache.spark.deploy.worker.Worker",
                "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g",
                "--work-dir", str(folder / name), f"spark://127.0.0.1:{port}",
            ))  # fmt: skip
        for number, worker in enumerate(started[1:]):
            said_in(folder / f"worker{number}.log", "Successfully registered with master", worker)
        yield f"spark://127.0.0.1:{port}", started[1:]


@contextmanager
def ended():
    """Give a list of processes; those that it has in the end are ended, the last one first."""
    started = []
    try:
        yield started
    finally:
        for process in reversed(started):
            end(process)


@contextmanager
def connect(folder):
    """Give the address of a server of Spark Connect with two cores."""
    with free_port() as port, ended() as started:
        settings = {
            "spark.master": "local[2,3]", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1", "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port), "spark.log.level": "ERROR",
            "spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }  # fmt: skip
        conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        started.append(start(
            folder, "connect", "org.apache.spark.deploy.SparkSubmit", *conf, "--class",
            "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
        ))  # fmt: skip
        listens(port, *started)
        yield f"sc://127.0.0.1:{port}"
