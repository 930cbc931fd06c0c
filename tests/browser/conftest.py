"""A real JupyterLab and a real Chromium, without the internet."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache

import pytest
from playwright.sync_api import expect

import mqlab as mq
from mqlab import views
from mqlab.real import ports
from mqlab.views import bokehjs
from tests.conftest import ROOT, answer_of, end

IDLE = """() => window.Bokeh?.documents?.length && Bokeh.documents.every(
  d => d.is_idle && (d.get_model_by_name('player') == null || d.mqlab?.player?.begun))"""

PATIENCE = 60_000  # ms that a page or a kernel may take for one thing: many times what it does take
expect.set_options(timeout=PATIENCE)
# For some frames nothing has come, gone, or changed its place: a picture is laid out in several steps.
STEADY = """() => new Promise((done) => { let before = "", same = 0;
  const look = () => {
    let count = 0;
    const boxes = [], inside = (el) => { count += 1;
      if (el.tagName === "CANVAS" || el.classList.contains("bk-Figure"))
        boxes.push(el.getBoundingClientRect());
      for (const one of el.children) inside(one);
      for (const one of el.shadowRoot?.children ?? []) inside(one); };
    inside(document.body);
    const now = JSON.stringify([count, boxes]);
    same = now === before ? same + 1 : 0;
    before = now;
    if (same < 6) requestAnimationFrame(look); else done(); };
  look(); })"""
OPEN = """async name => { const { commands, serviceManager, shell } = jupyterapp;
  for (const one of [...shell.widgets("main")]) { one.dispose(); }
  await serviceManager.sessions.shutdownAll();
  await commands.execute("docmanager:open", { path: name }); }"""
READY = """() => { const w = window.jupyterapp?.shell.currentWidget;
  return w?.context?.isReady && w.sessionContext?.session?.kernel?.status === 'idle' }"""


@pytest.fixture
def page(chromium):
    """Return a page that reaches this machine only; console errors fail the test."""
    with one_page(chromium) as page:
        yield page


@contextmanager
def one_page(chromium):
    """Give a page that reaches this machine only; in the end there must be no console errors."""
    context = chromium.new_context(viewport={"width": 1500, "height": 1100})
    context.set_default_timeout(PATIENCE)
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


@cache
def page_of(figure):
    """Return the page of a figure's run, which many tests open: to draw it takes up to a second."""
    return views.html(mq.run(figure))


@pytest.fixture
def opened(page, tmp_path):
    """Return a function that opens the page of a figure, a run or two runs in a window of that size (px)."""

    def open_page(what, width=1500, height=1100):
        file = tmp_path / "page.html"
        text = page_of(what) if isinstance(what, str) else views.html(what)
        file.write_text(text, encoding="utf-8")
        page.set_viewport_size({"width": width, "height": height})
        page.goto(file.as_uri())
        page.wait_for_function(IDLE)
        page.evaluate(STEADY)
        return page

    return open_page


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
    (port,) = ports.take("127.0.0.1", 1)
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
    end(server)
    ports.give_back([port])


@pytest.fixture(scope="session")
def loaded_lab(chromium, jupyter):
    """Return the page of a JupyterLab that is loaded once: it takes seconds."""
    address, token, _ = jupyter
    with one_page(chromium) as page:
        page.goto(f"{address}/lab?token={token}&reset")
        page.wait_for_function("() => window.jupyterapp?.restored")
        page.evaluate("() => jupyterapp.restored")
        yield page


@pytest.fixture
def lab(loaded_lab):
    """Return a function that opens a notebook in JupyterLab, with nothing of those before; returns the page."""

    def open_notebook(name):
        loaded_lab.evaluate(OPEN, name)
        loaded_lab.wait_for_function(READY)
        loaded_lab.wait_for_function("() => !window.Bokeh?.documents?.length")
        return loaded_lab

    yield open_notebook
    faults = [*loaded_lab.faults]
    loaded_lab.faults.clear()  # each test has its own
    assert faults == []
