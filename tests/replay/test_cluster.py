"""The same sweep and pyramid here, on a standalone cluster and through Spark Connect: the same bytes."""

import hashlib
import os
import signal
import sys
import threading
from contextlib import suppress

import psutil
import pytest

import mqlab as mq
from mqlab.errors import CannotRun
from mqlab.replay import spark as sparks
from tests.replay import cluster, held, synthetic
from tests.replay.cluster import nobody_listens
from tests.replay.test_long import whole
from tests.replay.test_questions import RECORDED, random_network
from tests.replay.test_replay import in_a_process
from tests.replay.test_shards import CHAIN
from tests.replay.test_shards import both as both_ends

pytestmark = pytest.mark.spark
OVER = "{'edition': ['5.5', '5.17'], 'A/linkToBrokerB.conduit_subscriptions': [True, False]}"
BOTH = """
import mqlab as mq, sys
from pathlib import Path
from tests.replay import held
from tests.replay.test_cluster import asked, long_run
from mqlab.replay import cluster, spark, sweeps
cluster.TAKE = 400  # two Javas start on two cores before a task is taken, and others may have these, too
where, master, seeds = Path(sys.argv[1]), sys.argv[2] or None, int(sys.argv[3])
few = {'spark.sql.shuffle.partitions': '2'} if master else {}
mq.replay.session(master, conf={'spark.executor.extraJavaOptions': spark.QUICK, **few})
sweeps.sweep('fuse:2.20', over=OVER, seeds=seeds, jitter='1ms', out=where / 'sweep', partitions=10,
             worker=held.worker(where / 'sweep', 6))
mq.replay.build(where / 'run', bucket_events=1000)
print(mq.replay.outcomes(where / 'sweep').where("received['C1'] = 6").count())
print(*[row[-1] for row in mq.replay.ask('timing', where / 'sweep').rows])
if sys.argv[4]:
    print(long_run(where), *asked(where))
mq.replay.stop()
""".replace("OVER", OVER)
QUESTIONS = ("stuck", "consumers", "busiest", "loops", "duplicates", "latency")


def asked(where):
    """Return what Spark answers to each question about runs that have all of them to tell."""
    network = random_network(3)
    traces = [mq.run(*network, jitter="2ms"), *map(mq.run, map(mq.recorded, RECORDED))]
    other = mq.replay.write(mq.run(*network, jitter="9ms"), where / "other")
    told = {name: getattr(mq.replay, name)(traces).collect() for name in QUESTIONS}
    told["difference"] = mq.replay.difference(traces[0], other).collect()
    mq.replay.events(other, "of_other")
    sql = mq.replay.session().sql("select kind, broker, count(*) from of_other group by all")
    told["sql"] = sql.collect()
    assert all(told.values()), {name: len(rows) for name, rows in told.items()}
    return [f"{name} {sorted(map(str, rows))}" for name, rows in told.items()]


def long_run(where):
    """Play a run in parts, and return the digest of what they make together."""
    ends = (part for no in range(3) for part in both_ends(no, "B3", "B1"))
    return whole(mq.replay.run(CHAIN, *ends, out=where / "long", shards=2)).digest()


def digests(folder):
    """Return name -> digest of every file of a sweep's rows and of a pyramid."""
    built = sorted(folder.glob("run/pyramid-*/level=*/*.parquet"))
    assert len(built) > 20
    files = {str(path.relative_to(path.parents[1])): path for path in built}
    files["runs"] = folder / "sweep" / "runs.parquet"
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def both(folder, master, seeds=10, asks="yes"):
    """Run a sweep and a pyramid in a process of its own, and ask all questions if it *asks*.

    Returns what it says, and the files' digests.
    """
    folder.mkdir(exist_ok=True)
    synthetic.folder(folder / "run", 120_000, per_file=40_000)
    script = folder / "both.py"
    script.write_text(BOTH)
    told = in_a_process(
        f"import sys; sys.argv = ['both', {str(folder)!r}, {master or ''!r}, '{seeds}', {asks!r}];"
        f"exec(open({str(script)!r}).read())",
        patience=600, PATH=os.environ["PATH"], SPARK_LOCAL_IP="127.0.0.1",
    )  # fmt: skip
    return told, digests(folder)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return both(tmp_path_factory.mktemp("here") / "out", None)


@pytest.fixture(scope="module")
def standalone(tmp_path_factory):
    with cluster.standalone(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.mark.sample(11, pool="javas")
def test_a_cluster_gives_the_same_bytes(here, standalone, tmp_path):
    assert both(tmp_path / "out", standalone[0]) == here


@pytest.mark.sample(11, pool="javas")
def test_spark_connect_gives_the_same_bytes(here, tmp_path):
    (tmp_path / "server").mkdir()
    with cluster.connect(tmp_path / "server") as address:
        assert both(tmp_path / "out", address) == here


@pytest.mark.sample(11, pool="javas")
def test_another_python_on_the_cluster_is_told(standalone, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import collections, sys\n"
        "of = collections.namedtuple('of', 'major minor micro releaselevel serial')\n"
        "sys.version_info = of(3, 99, 0, 'final', 0)\n"
    )
    other = tmp_path / "python"
    other.write_text(
        f'#!/bin/sh\nPYTHONPATH={tmp_path}:$PYTHONPATH exec {sys.executable} "$@"\n',
        encoding="utf-8",
    )
    other.chmod(0o755)
    told = in_a_process(
        "import mqlab as mq\n"
        "one = {'spark.cores.max': '1', 'spark.executor.extraJavaOptions': mq.replay.spark.QUICK}\n"
        f"try:\n    mq.replay.session({standalone[0]!r}, conf=one)\n"
        "except mq.MqlabError as error:\n    print(type(error).__name__, error)\n"
        "print(mq.replay.session().range(3).count()); mq.replay.stop()",
        PATH=os.environ["PATH"], PYSPARK_PYTHON=str(other), SPARK_LOCAL_IP="127.0.0.1",
    )  # fmt: skip
    assert told.startswith("CannotRun spark://127.0.0.1:")
    assert "another Python (Python 3.99)" in told
    assert told.split()[-1] == "3"


@pytest.mark.sample(11, pool="javas")
def test_a_worker_that_dies_in_the_middle_changes_nothing(here, standalone, tmp_path):
    """Last: it costs the cluster one of its two workers."""
    master, workers = standalone
    out = tmp_path / "out"

    def kill():
        with held.held(out / "sweep"):
            held.wait_for(out / "sweep", 6)
            below = psutil.Process(workers[0].pid).children(recursive=True)
            for process in (*below, workers[0]):
                with suppress(psutil.NoSuchProcess):  # it was done, or died with the one above it
                    process.send_signal(signal.SIGKILL)
            killed.append(len(below))

    killed: list[int] = []
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    told, files = both(out, master, asks="")
    assert here[0].startswith(told)
    assert files == here[1]
    killer.join(5)
    assert killed[0] >= 1  # it had an executor


def test_without_a_cluster_it_is_told_before_any_java_starts(monkeypatch):
    monkeypatch.setattr(sparks, "Gateway", lambda conf: pytest.fail("it starts"))
    with nobody_listens() as port, pytest.raises(CannotRun, match="no answer"):
        sparks._start(f"spark://127.0.0.1:{port}", {})
