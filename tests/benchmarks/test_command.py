"""How much work the command line does before it answers, as a multiple of what Python's own modules take."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# The goal is 0.4 s of processor time for a run. What is held here is the work, counted: a machine that serves
# others takes three times as long for the same start. The yardstick is what modules of Python itself do in a
# start: it changes with Python's version as ours does. Bounds are a twentieth above what was counted.
YARDSTICK = (
    "import asyncio, concurrent.futures, ctypes, decimal, difflib, email.message, http.client, logging.config, "
    "multiprocessing.pool, sqlite3, tarfile, unittest.mock, xml.dom.minidom, zipfile"
)
MOST = {  # instructions, bytes of compiled code
    "import": (["-c", "import mqlab"], 2.6, 0.83),
    "version": (["-m", "mqlab.cli", "--version"], 3.65, 1.05),
    "run": (["-m", "mqlab.cli", "run", "fuse:2.20"], 6.0, 1.52),
}


def work(arguments, compiled):
    """Return how many instructions one start executes and how many bytes of compiled code it loads.

    Compiled code is kept in *compiled*, whatever the surroundings say: without it every start compiles anew.
    """
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(compiled)}
    start = [sys.executable, ROOT / "tests" / "benchmarks" / "counted.py", *arguments]
    env["PYTHONPATH"] = str(ROOT)
    for _compile_first in range(2):
        done = subprocess.run(start, cwd=ROOT, env=env, check=True, capture_output=True)
    return [int(number) for number in done.stderr.split()]


@pytest.mark.bench
def test_the_command_line_answers_at_once(tmp_path):
    instructions, code = work(["-c", YARDSTICK], tmp_path)
    for name, (arguments, most_instructions, most_code) in MOST.items():
        executed, loaded = work(arguments, tmp_path)
        print(f"{name}: {executed / instructions:.2f} times the work, {loaded / code:.2f} times the code")
        assert executed / instructions < most_instructions, name
        assert loaded / code < most_code, name
