"""The core is pure: under Pyodide, with lark alone, a run is the same run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mqlab as mq
from tests.conftest import ROOT, missing

CODE = """
import sys, mqlab as mq
from mqlab.trace.outcome import outcome
from mqlab.views.scene import scene
trace = mq.run("fuse:2.20")
print(sys.platform, trace.digest(), trace.received(), len(scene(trace).columns))
"""


def call(*command, cwd):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True,
                          timeout=300)  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with Pyodide from npm, the project's wheel and the one it needs."""
    if not (shutil.which("npm") and shutil.which("node")):
        missing("node and npm are not installed")
    folder = tmp_path_factory.mktemp("pyodide")
    call("npm", "install", "--no-audit", "--no-fund", "pyodide@314.0.7", cwd=folder)
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "wheels",
         ROOT, "lark", cwd=folder)  # fmt: skip
    return folder


def test_figure_2_20_has_the_same_digest_under_pyodide(folder):
    wheels = sorted(Path(folder, "wheels").glob("*.whl"))
    assert [w.name.split("-")[0] for w in wheels] == ["lark", "mqlab"]
    told = call("node", ROOT / "tests" / "pyodide" / "run.mjs", folder, *wheels, "--", CODE,
                cwd=folder)  # fmt: skip
    here = mq.run("fuse:2.20")
    assert told.split()[:2] == ["emscripten", here.digest()]
    assert str(here.received()) in told
