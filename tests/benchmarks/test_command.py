"""How long the command line takes to answer, as a multiple of an interpreter that does nothing."""

import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT

# Where `python -c pass` takes 13 ms, 30 times that is 0.4 s; an import of mqlab alone is below 0.3 s.
MOST = {"import": 22, "run": 30, "version": 22}
CODE = {
    "pass": ["-c", "pass"], "import": ["-c", "import mqlab"], "version": ["-m", "mqlab.cli", "--version"],
    "run": ["-m", "mqlab.cli", "run", "fuse:2.20"],
}  # fmt: skip


def fastest(arguments, times=7):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
        found.append(time.perf_counter() - start)
    return min(found)


@pytest.mark.bench
def test_the_command_line_answers_at_once():
    nothing = fastest(CODE["pass"])
    for name, most in MOST.items():
        ratio = fastest(CODE[name]) / nothing
        print(f"{name}: {ratio:.1f} x python -c pass ({nothing * 1000:.0f} ms)")
        assert ratio < most, name
