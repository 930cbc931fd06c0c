"""What several test rooms share: the packed recordings, and a shell for the command line."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent
SHARED = ROOT.parent / "shared"
IN_CI = os.environ.get("CI") == "true"


@cache
def packed(name: str) -> dict[str, dict]:
    """Return path -> value of every JSON file in tests/recordings/NAME.tar.xz."""
    with tarfile.open(HERE / "recordings" / f"{name}.tar.xz") as tar:
        return {
            member.name: json.load(tar.extractfile(member))
            for member in tar if member.name.endswith(".json")
        }  # fmt: skip


def recorded(name: str, keep) -> list:
    """Return pytest parameters (file, recording) for those whose path *keep* accepts."""
    return [
        pytest.param(value, id=path.removesuffix(".json").split("/", 1)[1])
        for path, value in sorted(packed(name).items()) if keep(path)
    ]  # fmt: skip


def missing(what: str):
    """Skip with the reason *what*; in CI, where nothing may be skipped, fail."""
    if IN_CI:
        pytest.fail(f"missing in CI: {what}")
    pytest.skip(what)


@pytest.fixture
def mqlab(tmp_path):
    """Run the command line in an empty folder."""

    def call(*arguments: str, **more) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "mqlab.cli", *map(str, arguments)], cwd=tmp_path, text=True,
            capture_output=True, timeout=300,
            env={**os.environ, "COLUMNS": "160", "PYTHONPATH": str(ROOT), **more},  # this checkout
        )  # fmt: skip

    return call


def inflated(page: str) -> str:
    """Return what the columns say that a page plays: they are deflated in it, as text in base 64."""
    texts = re.findall(r"eN[A-Za-z0-9+/]{200,}={0,2}", page)
    return "".join(zlib.decompress(base64.b64decode(text)).decode("latin-1") for text in texts)


def answer_of(url: str, server: subprocess.Popen, log: Path) -> bytes:
    """Return the page at *url* once *server* answers there: it logs its address before it listens."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return answer.read()
        except (urllib.error.URLError, OSError):
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
    pytest.fail(f"{url} did not answer: {log.read_text()}")
