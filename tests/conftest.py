"""What several test rooms share: the packed recordings, and a shell for the command line."""

from __future__ import annotations

import base64
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mqlab.site.engine import SEEN
from tests import plan
from tests.shell import Shell

HERE = Path(__file__).parent
ROOT = HERE.parent
SHARED = ROOT.parent / "shared"
# Of every Chromium that we start: no root sandbox, no graphics card, nobody to call; and no pages of its own
# behind the address bar, which take a second of work for every window (what follows them, Playwright disables).
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,HttpsUpgrades,"
         "MediaRouter,OptimizationHints,PaintHolding,RenderDocument,Translate"]  # fmt: skip
# Development only: types, and lint and format.
SCRIPT_TOOLS = ("typescript@7.0.2", "@biomejs/biome@2.6.8")
IN_CI = os.environ.get("CI") == "true"
ALL = plan.ALL in os.environ  # pytest --all
# How long an example takes says how busy the machine is; what a property says is the same on each.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_finish():
    """Spare the garbage collector all that 17,000 tests consist of, and whom it would disturb: who measures."""
    gc.collect()
    gc.freeze()


@cache
def packed(name: str) -> dict[str, dict]:
    """Return path -> value of every JSON file in tests/recordings/NAME.tar.xz."""
    with tarfile.open(HERE / "recordings" / f"{name}.tar.xz") as tar:
        return {
            member.name: json.load(tar.extractfile(member))
            for member in tar if member.name.endswith(".json")
        }  # fmt: skip


def peer_cases(name: str) -> list[dict]:
    """Return the rows of one of the case tables, and those that were published later."""
    tables = packed("peer_cases")
    return [
        row for folder in ("peer_cases", "peer_cases_later") for row in tables[f"{folder}/{name}.json"]["cases"]
    ]


def recorded(name: str, keep) -> list:
    """Return pytest parameters (file, recording) for those whose path *keep* accepts."""
    return [
        pytest.param(value, id=path.removesuffix(".json").split("/", 1)[1])
        for path, value in sorted(packed(name).items()) if keep(path)
    ]  # fmt: skip


def once(make):
    """Return *make*, whose answer for a recording is made once: all that is compared with it has a copy."""
    made = {}

    def answer(value):
        if id(value) not in made:
            made[id(value)] = value, json.dumps(make(value))  # the value stays, and so does its id
        return json.loads(made[id(value)][1])

    return answer


def missing(what: str):
    """Skip with the reason *what*; in CI, where nothing may be skipped, fail."""
    if IN_CI:
        pytest.fail(f"missing in CI: {what}")
    pytest.skip(what)


@pytest.fixture(scope="session")
def from_npm(tmp_path_factory):
    """Return a folder in which npm has installed Pyodide, axe and what checks the page's scripts."""
    if not (shutil.which("npm") and shutil.which("node")):
        missing("node and npm are not installed")
    folder = tmp_path_factory.mktemp("npm")
    done = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--fetch-retries=6", f"pyodide@{SEEN}",
         "axe-core@4.14.1", *SCRIPT_TOOLS],
        cwd=folder, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return folder


@pytest.fixture(scope="session")
def axe(from_npm):
    """Return axe-core as one script."""
    return (from_npm / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def types(tmp_path_factory):
    """Return what mypy says of the whole package, and its cache, with which little more takes a second."""
    cache = tmp_path_factory.mktemp("types")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(cache)], cwd=ROOT,
                          capture_output=True, text=True)  # fmt: skip
    return done, cache


@pytest.fixture(scope="session")
def shell():
    found = Shell(ROOT)
    yield found
    found.close()


@pytest.fixture
def mqlab(tmp_path, shell):
    """Run the command line in an empty folder; with an environment of its own, from the start of Python on."""

    def call(*arguments: str, **more) -> subprocess.CompletedProcess:
        if not more:
            return shell.call([*map(str, arguments)], tmp_path, {"COLUMNS": "160"})
        return subprocess.run(
            [sys.executable, "-m", "mqlab.cli", *map(str, arguments)], cwd=tmp_path, text=True,
            capture_output=True, timeout=300,
            env={**os.environ, "COLUMNS": "160", "PYTHONPATH": str(ROOT), **more},  # this checkout
        )  # fmt: skip

    return call


@pytest.fixture(scope="session")
def chromium():
    """Return a running Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        missing("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


def inflated(page: str) -> str:
    """Return what the columns say that a page plays: they are deflated in it, as text in base 64."""
    texts = re.findall(r"eN[A-Za-z0-9+/]{200,}={0,2}", page)
    return "".join(zlib.decompress(base64.b64decode(text)).decode("latin-1") for text in texts)


@contextmanager
def work_of_at_most(seconds: float):
    """Fail where this process takes more processor time (s): who else works on a machine does not count."""
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def end(server: subprocess.Popen) -> None:
    """End a process; one that still waits for somebody after 20 s is killed."""
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait(20)


def said_in(log: Path, pattern: str, server: subprocess.Popen) -> re.Match:
    """Return what *server* says in its log, once it matches *pattern*."""
    for _ in range(600):
        if found := re.search(pattern, log.read_text()):
            return found
        assert server.poll() is None, log.read_text()
        time.sleep(0.2)
    pytest.fail(f"nothing like {pattern} in {log.read_text()}")


def answer_of(url: str, server: subprocess.Popen, log: Path) -> bytes:
    """Return the page at *url* once *server* answers there: it logs its address before it listens."""
    for _ in range(1200):
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return answer.read()
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
    pytest.fail(f"{url} did not answer: {log.read_text()}")
