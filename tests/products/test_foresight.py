"""A run that will take long is told after its first second, to who waits for it."""

import sys

import pytest

import mqlab as mq
from mqlab.engine import clock
from mqlab.products import foresight


@pytest.fixture
def told(monkeypatch):
    """What is said, by a clock that goes on by a second for each look."""
    said, seconds = [], iter(range(1_000_000))
    monkeypatch.setattr(foresight, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(foresight, "say", lambda *what: said.append(what))
    monkeypatch.setattr(clock, "OFTEN", 5)  # turns from one look to the next
    return said


def consumers(count):
    return [mq.Consumer(f"C{i}", on="B", reads=mq.Queue(f"Q{i}")) for i in range(count)]


def producers(count):
    return [mq.Producer(f"P{i}", on="B", sends=10, to=mq.Queue("Q")) for i in range(count)]


def test_connectors_that_start_are_counted(told):
    trace = mq.Lab(mq.complete(40)).trace
    ((seconds, memory),) = told
    assert len(trace.rows(mq.Kind.Connected)) == 2 * 780  # each is duplex
    assert seconds >= foresight.LONG
    assert memory >= foresight.used() / 2


def test_what_was_told_beforehand_is_not_told_again(told, monkeypatch):
    monkeypatch.setattr(foresight, "LARGE", 100)
    net = mq.Network(mq.Broker("B"))
    with pytest.warns(UserWarning, match="a run of 3000 messages"):
        mq.run(net, *producers(300))
    assert told == []
    monkeypatch.setattr(foresight, "LARGE", 100_000)
    mq.run(net, *producers(300))
    assert len(told) == 1


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_actions_are_counted_in_every_product(told, product):
    networks = {
        "activemq": mq.Network(mq.Broker("B")),
        "openmq": mq.openmq.Network("B"),
        "artemis": mq.artemis.Network(mq.artemis.Broker("B")),
    }
    mq.run(networks[product], *producers(300))
    assert len(told) == 1


def test_it_is_about_right(monkeypatch, told):
    looks, look = [], foresight.Foresight.look

    def counted(self):
        looks.append(len(told))
        look(self)

    monkeypatch.setattr(foresight.Foresight, "look", counted)
    mq.run(mq.Network(mq.Broker("B")), *producers(500))
    after = looks.count(1)  # a second each
    assert told[0][0] == pytest.approx(after, rel=0.3)


def test_of_a_short_run_nothing_is_said(told):
    mq.run(mq.Network(mq.Broker("B")), *consumers(3), *producers(2))
    assert told == []


def test_a_lab_has_nobody_who_looks_on_once_it_is_ready():
    assert mq.Lab(mq.Network(mq.Broker("A"))).onlooker is None


def test_the_sentence(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    foresight.say(45.2, 300)
    foresight.say(600, 3700)
    assert capsys.readouterr().err.splitlines() == [
        "This run needs about 45 s more. Ctrl-C ends it and keeps its trace so far.",
        "This run needs about 10 min more and 3.7 GB of memory. Ctrl-C ends it and keeps its trace so far.",
    ]
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    foresight.say(45.2, 300)
    assert capsys.readouterr().err == ""
