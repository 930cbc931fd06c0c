"""Making something large: how long it takes is said once, after a second, to who waits."""

import sys

import pytest

from mqlab.spec import foretold, topology


@pytest.fixture
def told(monkeypatch, capsys):
    """Return a function that makes 10 brokers, a connector in so many seconds, and returns what is said."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)

    def make(seconds):
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        clock = iter(range(1000))
        monkeypatch.setattr(foretold, "monotonic", lambda: next(clock) * seconds)
        topology.network("complete graph", 10)
        return capsys.readouterr().err

    return make


def test_what_takes_long_is_said_once(told):
    said = "Making 10 brokers with 45 connectors takes about 44 s more, before anything runs. Ctrl-C ends it.\n"
    assert told(1) == said


def test_what_does_not_is_not_said(told):
    assert told(0.05) == ""
