"""The core is pure: under Pyodide, with lark, a run and a page's kernel are the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.lessons import data
from mqlab.site import book, engine
from mqlab.site.parts import ASKED, RUN
from tests.conftest import ALL, ROOT
from tests.plan import today

CODE = """
import sys, mqlab as mq
from mqlab.trace.outcome import outcome
from mqlab.views.scene import scene
trace = mq.run("fuse:2.20")
print(sys.platform, trace.digest(), trace.received(), len(scene(trace).columns))
"""
KERNEL = "from mqlab.site import kernel; kernel.main()"


def call(*command, cwd, say=""):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True,
                          timeout=500, input=say)  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return done.stdout


def under_pyodide(folder, archives, code, say=""):
    return call("node", ROOT / "tests" / "pyodide" / "run.mjs", folder, *archives, "--", code,
                cwd=folder, say=say)  # fmt: skip


def test_figure_2_20_has_the_same_digest_under_pyodide(from_npm, tmp_path):
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--retries=10", "--no-deps", "--wheel-dir", tmp_path,
         ROOT, "lark", cwd=tmp_path)  # fmt: skip
    wheels = sorted(Path(tmp_path).glob("*.whl"))
    assert [w.name.split("-")[0] for w in wheels] == ["lark", "mqlab"]
    told = under_pyodide(from_npm, wheels, CODE)
    here = mq.run("fuse:2.20")
    assert told.split()[:2] == ["emscripten", here.digest()]
    assert str(here.received()) in told


def requests():
    """Yield what pages ask: to open the runs of some lessons, to fork one, and to run the cells of two."""
    for name in sorted({*today(data.names(), 3), "01-first-network"}):
        lesson = mq.lessons.open(name, file=Path("/dev/null"))
        for task in lesson.data.tasks:
            header = lesson.trace(task.id).header
            run = {key: header[key] for key in RUN if header.get(key) is not None}
            yield {"what": "open", "view": task.id, "run": run, "name": ""}
    step = {"do": "Crash", "broker": "B"}
    for kind, data_ in [("tell", {}), ("deeds", {"ms": 4}), ("break", {"ms": 4, "step": step}),
                        ("check", {}), ("code", {}), ("compare", {"number": 0})]:  # fmt: skip
        yield {"what": "ask", "view": "conduit", "kind": kind, "data": data_}
    yield {"what": "task", "lesson": "01-first-network", "language": "en", "task": "conduit",
           "kind": "predict", "given": {"C1": "4", "C2": "4", "C3": "4"}}  # fmt: skip
    for name in ("00-start-here", "01-first-network"):
        for cell in book.page(name).cells:
            if cell["cell_type"] == "code" and not ASKED.search(cell["source"]):
                yield {"what": "run", "code": cell["source"]}


@pytest.mark.timeout(600)
def test_a_page_is_told_under_pyodide_what_python_tells_it(from_npm, tmp_path):
    """Every digest, column and sentence, byte for byte."""
    engine.archive(tmp_path / "python.zip")
    asked = [json.dumps(request) for request in requests()]
    say = "".join(f"{line}\n" for line in asked)
    here = call(sys.executable, "-m", "mqlab.site.kernel", cwd=ROOT, say=say).splitlines()
    there = under_pyodide(from_npm, [tmp_path / "python.zip"], KERNEL, say).splitlines()
    assert len(here) == len(there) == len(asked) > (80 if ALL else 20)
    for line, one, other in zip(asked, here, there, strict=True):
        assert one == other, line[:300]
    assert not [line for line in here if line.startswith('{"error"')]
