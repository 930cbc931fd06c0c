"""`mqlab lab --offline`: neither the browser nor the server asks another machine for anything."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.browser.conftest import IDLE
from tests.browser.test_notebook import open_notebook, run_all
from tests.conftest import ROOT, answer_of, end, said_in

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
OFFLINE = "--offline"
# Every process of the server writes down whom it wants to reach.
WATCH = """
import os, sys
def watch(event, values):
    if event in ("socket.connect", "socket.getaddrinfo"):
        place = values[1] if event == "socket.connect" else values
        with open(os.environ["WATCHED"], "a") as out:
            print(place[0] if isinstance(place, tuple) else place, file=out)
sys.addaudithook(watch)
"""
HERE = re.compile(r"127\.|localhost|::1|0\.0\.0\.0|None|/|$")


@pytest.fixture
def server(tmp_path):
    """Return (address, token) of an offline JupyterLab on a copy of the notebooks, and whom it asked."""
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    asked, log = tmp_path / "asked", tmp_path / "log"
    asked.touch()
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "WATCHED": str(asked)}
    env |= {f"JUPYTER_{what}_DIR": str(tmp_path / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    env |= {f"JUPYTERLAB_{what}_DIR": str(tmp_path / what) for what in ("SETTINGS", "WORKSPACES")}
    config = tmp_path / "CONFIG" / "jupyter_lab_config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"LabApp": {"expose_app_in_browser": True}}))
    command = [sys.executable, "-m", "mqlab.cli", "lab", str(tmp_path / "books"), "--no-browser"]
    with log.open("wb") as out:
        started = subprocess.Popen([*command, OFFLINE], env=env, stdout=out, stderr=out)
    try:
        found = said_in(log, r"(http://127\.0\.0\.1:\d+)/\S*token=(\w+)", started)
        answer_of(f"{found[1]}/api/status?token={found[2]}", started, log)
        yield (found[1], found[2], tmp_path / "books"), asked
    finally:
        subprocess.run(["pkill", "-P", str(started.pid)], check=False)
        end(started)


def test_a_lesson_runs_and_nobody_else_is_asked(page, server):
    jupyter, asked = server
    elsewhere = []
    page.on("requestfailed", lambda request: elsewhere.append(request.url))
    open_notebook(page, jupyter, "01-first-network.ipynb")
    run_all(page)
    page.wait_for_function("() => window.Bokeh?.documents?.length", timeout=180_000)
    page.wait_for_function(IDLE)
    assert [url for url in elsewhere if "127.0.0.1" not in url] == []
    for what in ("update", "news", "extensions"):  # what JupyterLab asks its server sooner or later
        answer = page.request.get(f"{jupyter[0]}/lab/api/{what}?token={jupyter[1]}")
        assert answer.ok
    names = set(asked.read_text().split("\n"))
    assert "localhost" in names  # the server's own lines were seen
    assert [name for name in names if not HERE.match(name)] == []
