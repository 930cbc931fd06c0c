"""A network of three real brokers with messages that wait: loaded by Jolokia, shown, checked, and asked why."""

from __future__ import annotations

import shutil

import pytest

import mqlab as mq
from tests.conftest import missing
from tests.products.activemq.running import PASSWORD, Consoles, distribution, messages_wait


@pytest.fixture(scope="session")
def console(tmp_path_factory):
    """Return a distribution of ActiveMQ with its web console, which the system's package does not have."""
    if not (shutil.which("mvn") and shutil.which("java")):
        missing("mvn and java are not installed")
    return distribution(tmp_path_factory.mktemp("console"))


@pytest.fixture(scope="module")
def brokers(console):
    """Return three brokers in which messages wait, and the clients that are connected to them."""
    with Consoles(console) as running:
        running.start(running.names)
        clients = messages_wait(running)
        yield running
        for client in clients:
            client.disconnect()


@pytest.fixture(scope="module")
def files(brokers, tmp_path_factory):
    """Return the files of the brokers; since they started that of B was changed."""
    folder = tmp_path_factory.mktemp("files")
    for name in brokers.names:
        text = brokers.xml(name).replace('Subscriptions="false"', 'Subscriptions="true"')
        (folder / name).mkdir()
        (folder / name / "activemq.xml").write_text(text)
    return [folder / name / "activemq.xml" for name in brokers.names]


@pytest.fixture
def live(brokers, files):
    return mq.load(*(brokers.address(name) for name in brokers.names), *files)


def test_it_is_shown_as_it_runs(live):
    text = str(live)
    assert "A/ab: a bridge to B stands, 4 messages forwarded" in text
    assert "B/bc: a bridge to C stands, 0 messages forwarded" in text
    for line in ("SLOW at A: 6 messages, 2 of them held", "ORDERS at A: 5 messages", "RETURNS at B: 4 messages",
                 "INVOICES at B: 3 messages", "NORTH at B: 2 messages"):  # fmt: skip
        assert f"queue {line}" in text
    assert "C3 at C consumes queue://NORTH with selector region = 'north'" in text
    assert PASSWORD not in text
    trace = mq.run(live)
    assert {queue: len(ones) for queue, ones in trace.waiting()["B"].items()} == {
        "queue://RETURNS": 4, "queue://INVOICES": 3, "queue://NORTH": 2}  # fmt: skip


@pytest.mark.parametrize(("queue", "on", "consumer", "change"), [
    ("ORDERS", "A", "C2", "every connector with networkTTL=2"),
    ("INVOICES", "B", "C2", "B/bc without excludedDestinations=['queue://INVOICES']"),
    ("RETURNS", "B", "C1", "replayWhenNoConsumers for queue://RETURNS at every broker"),
    ("NORTH", "B", "C3", "C3 without selector=region = 'north'"),
])  # fmt: skip
def test_the_answer_names_the_option(live, queue, on, consumer, change):
    found = mq.explain(live, queue=queue, on=on, why_not=consumer)
    assert [str(one) for one in found.changes] == [change]
    assert change in str(found)
    assert not [line for line in found.lines if line.startswith("The running bridge")]


def test_what_management_does_not_tell_is_asked_for(brokers):
    live = mq.load(*map(brokers.address, brokers.names))
    found = mq.explain(live, queue="INVOICES", on="B", why_not="C2")
    assert "The running bridge from B to C has no subscription to INVOICES" in str(found)


def test_the_one_difference_of_file_and_broker_is_found(live, files):
    (found,) = [one for one in mq.check(live) if one.rule in ("file-differs", "not-running", "not-in-file")]
    assert found.what == "conduitSubscriptions is true in the file and false in the broker"
    assert (found.where, found.file) == ("B/bc", str(files[1]))


def test_a_wrong_password_is_told(brokers):
    wrong = brokers.address("A").replace("keeper:", "stranger:")
    with pytest.raises(mq.MqlabError, match=r"user or password is wrong, or missing \(401\)"):
        mq.load(wrong)


def test_a_broker_that_is_gone_is_told_and_the_others_are_read(console):
    """Of a network of its own: the other tests need all of theirs, in whatever order they come."""
    with Consoles(console) as running:
        running.start(("A", "B"))
        running.end("B", orderly=False)
        live = mq.load(*map(running.address, ("A", "B")))
        assert live.names[0] == "A"
        assert [note for note in live.running.notes if f":{running.consoles['B']}" in note]
