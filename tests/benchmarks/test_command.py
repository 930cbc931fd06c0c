"""How much work the command line does before it answers, as a multiple of what Python's own modules take."""

import os
import resource
import statistics
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# An import of mqlab takes 0.10 s where these modules of Python itself take 0.07, and a run 0.24 s (the goal is
# 0.4 s). They are the yardstick since they do what a start does: read compiled code, make classes.
MOST = {"import": 1.7, "run": 3.6, "version": 2.4}
YARDSTICK = (
    "import asyncio, concurrent.futures, ctypes, decimal, difflib, email.message, http.client, logging.config, "
    "multiprocessing.pool, sqlite3, tarfile, unittest.mock, xml.dom.minidom, zipfile"
)
CODE = {
    "yardstick": ["-c", YARDSTICK], "import": ["-c", "import mqlab"],
    "version": ["-m", "mqlab.cli", "--version"], "run": ["-m", "mqlab.cli", "run", "fuse:2.20"],
}  # fmt: skip


def work(arguments, compiled, times=1):
    """CPU seconds of one start: a machine that has others to serve first does not lengthen them.

    Compiled code is kept in *compiled*, whatever the surroundings say: without it every start compiles anew.
    """
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(compiled)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / times


@pytest.mark.bench
def test_the_command_line_answers_at_once(tmp_path):
    for arguments in CODE.values():
        work(arguments, tmp_path)
    rounds = []
    for _ in range(7):
        yardstick = work(CODE["yardstick"], tmp_path, times=2)
        rounds.append({name: work(CODE[name], tmp_path) / yardstick for name in MOST})
    for name, most in MOST.items():
        ratio = statistics.median(each[name] for each in rounds)
        print(f"{name}: {ratio:.2f} times the yardstick")
        assert ratio < most, name
