"""The gates: lint, format and types, in check mode."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

GATES = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
}


@pytest.mark.parametrize("gate", GATES)
def test_the_gate_lets_it_pass(gate):
    done = subprocess.run([sys.executable, "-m", *GATES[gate]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_let_it_pass(types):
    done, _ = types
    assert done.returncode == 0, done.stdout + done.stderr
