"""A real JupyterLab and a real Chromium, without the internet."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys

import pytest

from mqlab.views import bokehjs
from tests.conftest import ROOT, answer_of, missing

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip


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


@pytest.fixture
def page(chromium):
    """Return a page that reaches this machine only; console errors fail the test."""
    context = chromium.new_context(viewport={"width": 1500, "height": 1100})
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(f"{error}\n{error.stack}"))
    page.on("console", lambda line: page.faults.append(f"{line.text} {line.location}")
            if line.type == "error" else None)  # fmt: skip
    context.route("**/*", lambda route: route.continue_() if _is_here(route.request.url)
                  else route.abort())  # fmt: skip
    yield page
    context.close()
    assert page.faults == []


def _is_here(url):
    return url.startswith(("http://127.0.0.1", "file:", "data:", "blob:"))


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory):
    """Return (address, token, folder) of a JupyterLab on a copy of the notebooks."""
    bokehjs.install()
    home = tmp_path_factory.mktemp("jupyter")
    folder = home / "work"
    shutil.copytree(ROOT / "notebooks", folder)
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home / "ipython"),
           "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
           "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}  # fmt: skip
    env |= {f"JUPYTER_{what}_DIR": str(home / what) for what in ("CONFIG", "DATA", "RUNTIME")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    log = (home / "log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
         f"--IdentityProvider.token={token}", "--expose-app-in-browser", "--allow-root",
         f"--ServerApp.root_dir={folder}"], env=env, stdout=log, stderr=log,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    answer_of(f"{address}/api/status?token={token}", server, home / "log")
    yield address, token, folder
    server.terminate()
    server.wait(20)
