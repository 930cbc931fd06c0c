"""A running Artemis cluster read from its management: what three real brokers (2.31.2) answered."""

from __future__ import annotations

import copy
from contextlib import ExitStack
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.errors import BadFile, CannotRun
from tests.conftest import packed
from tests.products.activemq.jolokia import Jolokia
from tests.products.activemq.jolokia import recorded as of_activemq
from tests.products.activemq.running import PASSWORD


def recorded(name):
    return copy.deepcopy(packed("running-artemis")[f"running-artemis/{name}.json"])


@pytest.fixture
def consoles():
    """Return broker -> its management, of three brokers of a cluster that were recorded."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(Jolokia(recorded(name)["answers"])) for name in "ABC"}


@pytest.fixture
def files(tmp_path):
    for name in "ABC":
        (tmp_path / name).mkdir()
        (tmp_path / name / "broker.xml").write_text(recorded(name)["xml"])
    return [tmp_path / name / "broker.xml" for name in "ABC"]


@pytest.fixture
def live(consoles):
    return mq.load(*(one.address() for one in consoles.values()))


def test_the_cluster_is_as_it_runs(live):
    assert (live.product, live.names, live.edition) == ("artemis", ("A", "B", "C"), "2.28")
    assert [live.option(broker, "max_hops") for broker in live.brokers] == [0, 0, 0]
    depths = {(queue.name, queue.broker): queue.depth for queue in live.running.queues if queue.depth}
    assert depths == {("ORDERS", "A"): 5, ("PLAIN", "A"): 4, ("LEFT", "A"): 3}
    assert sorted((one.broker, one.remote) for one in live.running.bridges) == [
        ("A", "B"), ("A", "C"), ("B", "A"), ("B", "C"), ("C", "A"), ("C", "B")]  # fmt: skip
    assert "A/my-cluster: a bridge to C stands, for 68 s at most" in str(live)


def test_why_messages_wait_there_now(live):
    """`artemis create` writes max-hops 0, with which a broker forwards nothing."""
    found = mq.explain(live, queue="PLAIN", on="A", why_not="consumer of PLAIN at C")
    assert [str(change) for change in found.changes] == ["A without max_hops=0"]
    tried = mq.what_if(live, queue="PLAIN", on="A", consumer="consumer of PLAIN at C")
    assert tried.run().received()["consumer of PLAIN at C"] == 4


def test_messages_that_were_there_before_the_consumer():
    """With a hop allowed they would have gone: so they came before it, and redistribution is off."""
    answers = {name: recorded(name)["answers"] for name in "ABC"}
    for told in answers.values():
        for bean in told["clusters"]["value"].values():
            bean["MaxHops"] = 1
    with ExitStack() as stack:
        consoles = [stack.enter_context(Jolokia(answers[name])) for name in "ABC"]
        live = mq.load(*(one.address() for one in consoles))
    found = mq.explain(live, queue="PLAIN", on="A", why_not="consumer of PLAIN at C")
    assert any(line.startswith("Supposed: the messages were there before") for line in found.lines)
    assert any("redistribution-delay -1" in line for line in found.lines)


def test_what_management_does_not_tell_is_said(live):
    found = mq.explain(live, queue="ORDERS", on="A", why_not="consumer of ORDERS at A")
    assert any("they have a selector, which management does not tell" in line for line in found.lines)


def test_what_the_lab_plays_is_what_stands_there(live):
    waiting = mq.run(live).waiting()
    lab = {(broker, queue): len(ones) for broker, queues in waiting.items() for queue, ones in queues.items()}
    assert lab == {("A", "queue://ORDERS"): 5, ("A", "queue://PLAIN"): 4, ("A", "queue://LEFT"): 3}


def test_its_picture(live, consoles):
    view = mq.view(live)
    columns = view.scenes[0].columns
    assert columns["brokers"]["name"] == ["A", "B", "C"]
    assert columns["clients"]["name"] == ["consumer of ORDERS", "consumer of ORDERS (2)", "consumer of PLAIN"]
    assert len(columns["links"]["name"]) == 3
    names = columns["counter_names"]["name"]
    place = list(
        zip(columns["counter_lines"]["broker"], columns["counter_lines"]["destination"], strict=True)
    ).index(("A", "queue://ORDERS"))
    counts = {name: columns["counter_steps"]["abcdefg"[no]][place] for no, name in enumerate(names)}
    assert (counts["MessageCount"], counts["ConsumerCount"]) == (5, 1)
    for bean in consoles["A"].answers["queues"]["value"].values():
        bean["MessageCount"] += 1
    view.refresh()
    assert view.scenes[0].title.endswith("17 messages waiting")


def test_check_compares_file_and_running_broker(consoles, files):
    files[1].write_text(files[1].read_text().replace("<max-hops>0<", "<max-hops>1<"))
    net = mq.load(*(one.address() for one in consoles.values()), *files)
    (found,) = [problem for problem in mq.check(net) if problem.rule == "cluster-differs"]
    assert found.what == "max-hops is 1 in the file and 0 in the broker"
    assert found.file == str(files[1])
    assert net.option(net.brokers[1], "max_hops") == 0


def test_what_runs_as_its_file_says_differs_in_nothing(consoles, files):
    net = mq.load(*(one.address() for one in consoles.values()), *files)
    assert not {"cluster-differs", "cluster-apart"} & {problem.rule for problem in mq.check(net)}


def test_a_node_that_cannot_be_reached_is_noted(consoles):
    live = mq.load(consoles["A"].address())
    assert live.names == ("A", "127.0.0.1:24636", "127.0.0.1:24626")
    assert sum("was not read: a bridge leads to it" in note for note in live.running.notes) == 2


def test_nothing_but_reading_and_no_secret(consoles, live, tmp_path):
    asked = [question for one in consoles.values() for question in one.seen]
    assert {question["type"] for question in asked} == {"read", "search"}
    (path,) = mq.save(live, tmp_path / "net.json")
    assert not [text for text in (repr(live), Path(path).read_text()) if PASSWORD in text or "s3cret" in text]


def test_brokers_and_files_of_two_products(consoles, tmp_path):
    with Jolokia(of_activemq("A")["answers"]) as other, pytest.raises(CannotRun, match="different products"):
        mq.load(consoles["A"].address(), other.address())
    file = tmp_path / "activemq.xml"
    file.write_text(of_activemq("A")["xml"])
    with pytest.raises(BadFile, match="is of activemq, and the running brokers are of artemis"):
        mq.load(consoles["A"].address(), file)
