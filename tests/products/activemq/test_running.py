"""A running network read from its management: what real brokers answered, what may stand in the way."""

from __future__ import annotations

import json
import pickle
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, CannotRun, MqlabError
from mqlab.files import management
from tests.products.activemq.jolokia import Jolokia, recorded
from tests.products.activemq.running import PASSWORD

SECRETS = (PASSWORD, "s3cret%2Fword%40home", "s3cret")


@pytest.fixture
def consoles():
    """Return broker -> its management, of three brokers that were recorded."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(Jolokia(recorded(name)["answers"])) for name in "ABC"}


@pytest.fixture
def live(consoles):
    return mq.load(*(one.address() for one in consoles.values()))


@pytest.fixture
def files(tmp_path):
    """Return the files that the brokers ran with."""
    for name in "ABC":
        (tmp_path / name).mkdir()
        (tmp_path / name / "activemq.xml").write_text(recorded(name)["xml"])
    return [tmp_path / name / "activemq.xml" for name in "ABC"]


def test_the_network_is_as_it_runs(live):
    a, b, c = live.brokers
    assert (live.names, live.edition) == (("A", "B", "C"), "5.17")
    assert (a.connectors[0].targets, a.connectors[0].duplex) == (("B",), True)
    assert b.connectors == (mq.NetworkConnector("bc", "static:(tcp://C:61616)", conduit_subscriptions=False),)
    assert c.connectors == ()
    assert {broker.get("store") for broker in live.brokers} == {"memory"}


def test_what_stands_in_it_is_told(live):
    running = live.running
    assert {(q.name, q.broker): q.depth for q in running.queues if q.depth} == {
        ("ORDERS", "A"): 5, ("SLOW", "A"): 6, ("INVOICES", "B"): 3, ("RETURNS", "B"): 4, ("NORTH", "B"): 2,
    }  # fmt: skip
    assert [(b.broker, b.remote, b.by_duplex) for b in running.bridges] == [
        ("A", "B", False), ("B", "A", True), ("B", "C", False)]  # fmt: skip
    clients = {(c.client, c.broker, c.destination): c for c in running.consumers if not c.network}
    assert clients["C3", "C", "queue://NORTH"].selector == "region = 'north'"
    hung = clients["hung", "A", "queue://SLOW"]
    assert (hung.prefetch, hung.held) == (2, 2)
    assert len(clients) == 5


def test_it_prints_as_what_stands_there(live):
    text = str(live)
    assert "A/ab: a bridge to B stands, 4 messages forwarded" in text
    assert "queue ORDERS at A: 5 messages; 0 subscriptions" in text
    assert "C3 at C consumes queue://NORTH with selector region = 'north'" in text


def test_files_fill_in_what_management_does_not_tell(consoles, files):
    alone = mq.load(consoles["B"].address())
    both = mq.load(*(one.address() for one in consoles.values()), *files)
    assert alone.broker("B").connectors[0].excluded_destinations == ()
    bc = both.broker("B").connectors[0]
    assert (bc.excluded_destinations, bc.targets) == (("queue://INVOICES",), ("C",))
    assert bc.conduit_subscriptions is False


def test_nothing_but_reading_is_asked(consoles, live):
    asked = [question for one in consoles.values() for question in one.seen]
    assert {question["type"] for question in asked} == {"read", "search"}
    attributes = {name for question in asked for name in question.get("attribute", ())}
    assert not {name for name in attributes if "Password" in name or "UserName" in name}
    assert {path for one in consoles.values() for path in one.paths} == {"/api/jolokia/"}


def test_no_secret_is_kept_or_printed(consoles, live, files, tmp_path):
    there = consoles["A"].address()
    kept = [repr(live), repr(live.running), str(live.running), repr(pickle.dumps(live)), str(mq.check(live))]
    kept += [Path(path).read_text() for path in mq.save(live, tmp_path / "net.json")]
    told = []
    for wrong in (there.replace("/api/", "/none/"), f"{there}x y", there.replace("http:", "ftp:")):
        with pytest.raises(MqlabError) as raised:
            mq.load(wrong)
        told += [str(raised.value), repr(raised.value.__cause__), repr(raised.value.__context__)]
    assert len(told) == 9
    assert not [text for text in kept + told for secret in SECRETS if secret in text]


def test_the_password_may_be_in_the_environment(consoles, monkeypatch):
    one = consoles["C"]
    monkeypatch.setattr(management, "_secrets", {})
    with pytest.raises(CannotRun, match=r"user or password is wrong, or missing \(401\)"):
        mq.load(one.address(user=""))
    monkeypatch.setenv("MQLAB_JOLOKIA_PASSWORD", PASSWORD)
    assert mq.load(one.address(user="keeper@")).names == ("C",)
    monkeypatch.setattr(management, "_secrets", {})
    monkeypatch.setenv("MQLAB_JOLOKIA_USER", "keeper")
    assert mq.load(one.address(user="")).names == ("C",)


def test_brokers_are_found_by_their_bridges():
    """Each on a host of its own, their management at one port."""
    told = {name: recorded(name)["answers"] for name in "ABC"}
    for name, other, host in (("A", "B", "127.0.0.2"), ("B", "C", "127.0.0.3"), ("B", "A", "127.0.0.1")):
        for bean in told[name]["bridges"]["value"].values():
            if bean["RemoteBrokerName"] == other:
                bean["RemoteAddress"] = f"tcp://{host}:61616"
    with (
        Jolokia(told["A"]) as a,
        Jolokia(told["B"], host="127.0.0.2", port=a.port),
        Jolokia(told["C"], host="127.0.0.3", port=a.port) as c,
    ):
        live = mq.load(a.address())
    assert [one.name for one in live.running.brokers] == ["A", "B", "C"]
    assert c.seen
    assert not [note for note in live.running.notes if "was not read" in note]


def test_a_bridge_to_what_cannot_be_reached_is_noted(consoles):
    live = mq.load(consoles["A"].address())
    assert live.names == ("A", "B")
    (note,) = [note for note in live.running.notes if note.startswith("broker B was not read")]
    assert "it is here by its name alone" in note
    assert live.broker("A").connectors[0].targets == ("B",)


IN_THE_WAY = {
    "page": r"is not JSON but text/html, titled 'Sign in to Example'\. A proxy or a page for login",
    "moved": r"it leads on to http://login\.example\.com/sign-in \(302\)",
    "ends": r"went away while it was read",
    "forbidden": r"may not read management \(403\)",
}


@pytest.mark.parametrize("mode", IN_THE_WAY)
def test_what_stands_in_the_way_is_one_clear_error(mode):
    with Jolokia(recorded("A")["answers"], mode) as one, pytest.raises(CannotRun, match=IN_THE_WAY[mode]):
        mq.load(one.address())


@pytest.mark.parametrize("mode", IN_THE_WAY)
def test_the_others_are_shown_all_the_same(mode, consoles):
    with Jolokia(recorded("A")["answers"], mode) as one:
        live = mq.load(one.address(), consoles["C"].address())
    assert live.names == ("C",)
    assert [note for note in live.running.notes if f":{one.port}" in note]


def test_who_is_not_there_is_told():
    with Jolokia({}) as one:
        address = one.address()
    with pytest.raises(CannotRun, match=r"it cannot be reached: .*refused"):
        mq.load(address)


def test_no_jolokia_and_no_activemq(consoles):
    with pytest.raises(CannotRun, match=r"there is no Jolokia \(404\); ActiveMQ's is at /api/jolokia"):
        mq.load(consoles["A"].address(path="/jolokia"))
    with Jolokia({}) as other, pytest.raises(CannotRun, match="not for a broker; ActiveMQ's is at"):
        mq.load(other.address())


def test_strict_checking_of_origins():
    with Jolokia(recorded("C")["answers"], "strict") as one:
        assert mq.load(one.address()).names == ("C",)
    assert one.origins == [f"http://127.0.0.1:{one.port}", "http://localhost"] * 2


@pytest.mark.parametrize(
    "text", ["jolokia:", "jolokia:host:8161", "jolokia:http://:8161/x", "jolokia:http://h:x/"]
)
def test_an_address_that_is_none(text):
    with pytest.raises(BadValue, match=r"use e\.g\. jolokia:http://localhost:8161/api/jolokia"):
        mq.load(text)


def test_an_address_without_its_scheme_is_told_with_it(consoles):
    address = consoles["A"].address()
    with pytest.raises(BadFile, match=r"use e\.g\. 'jolokia:http://127\.0\.0\.1:\d+/api/jolokia'") as raised:
        mq.load(address.removeprefix("jolokia:"))
    with pytest.raises(BadFile, match="use e\\.g\\. 'jolokia:") as again:
        mq.run(address.removeprefix("jolokia:"))
    assert not [text for text in (str(raised.value), str(again.value)) if "s3cret" in text]


def test_two_addresses_of_one_broker(consoles):
    one = consoles["C"]
    live = mq.load(one.address(), one.address().replace("127.0.0.1", "localhost"))
    assert live.names == ("C",)
    assert any("was read at another address" in note for note in live.running.notes)


def test_two_files_of_one_broker(consoles, files, tmp_path):
    again = tmp_path / "again" / "activemq.xml"
    again.parent.mkdir()
    again.write_text(files[0].read_text())
    with pytest.raises(BadFile, match="two files are of broker 'A'"), pytest.warns(match="several files name"):
        mq.load(consoles["A"].address(), files[0], again)


def test_files_of_another_product(consoles, tmp_path):
    other = tmp_path / "broker.xml"
    other.write_text('<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"/></configuration>')
    with pytest.raises(BadFile, match="is of artemis, and the running brokers are of activemq"):
        mq.load(consoles["A"].address(), other)


def test_ten_thousand_queues_in_one_request():
    answers = recorded("A")["answers"]
    name, bean = next(iter(answers["queues"]["value"].items()))
    many = {
        name.replace("ORDERS", f"Q{no}"): {**bean, "Name": f"Q{no}", "QueueSize": no % 7}
        for no in range(10_000)
    }
    answers["queues"]["value"] = many
    with Jolokia(answers) as one:
        live = mq.load(one.address())
    assert len(live.running.queues) == 10_000
    assert len(one.seen) == 2 + 5  # whose it is, then one request with a question for each kind
    assert "... and 9988 more queues" in str(live)
    assert ", read in 3.5 s: A (5.16.7)" in str(replace(live.running, seconds=3.5))


def test_a_broker_from_its_file_alone_is_noted(consoles, files):
    live = mq.load(consoles["A"].address(), files[0], files[2])
    assert live.names == ("A", "B", "C")
    assert any(note.startswith("broker C was not read while it runs") for note in live.running.notes)


def test_a_connector_without_a_bridge(files):
    answers = recorded("B")["answers"]
    answers["bridges"]["value"] = {}
    with Jolokia(answers) as one:
        alone, with_file = mq.load(one.address()), mq.load(one.address(), files[1])
    assert "B/bc: no bridge stands" in str(alone)
    assert any("where it leads; give the file of B" in note for note in alone.running.notes)
    assert alone.broker("B").connectors == ()
    assert [problem.rule for problem in mq.check(alone) if problem.level == "error"] == ["no-bridge"]
    assert with_file.broker("B").connectors[0].targets == ("127.0.0.1",)


def test_a_kind_that_may_not_be_read_is_noted():
    answers = recorded("A")["answers"]
    with Jolokia(answers) as one:
        plain = one.one
        one.one = lambda question: (
            {"status": 403, "error": "Access denied"} if "clientId" in question["mbean"] else plain(question)
        )
        live = mq.load(one.address())
    assert (len(live.running.consumers), len(live.running.queues)) == (0, 3)
    assert any("consumers could not be read: Access denied" in note for note in live.running.notes)


def test_a_lab_file_of_it_is_an_ordinary_one(live, tmp_path):
    (path,) = mq.save(live, tmp_path / "net.json")
    assert json.loads(Path(path).read_text())["brokers"][0]["name"] == "A"
    assert mq.load(path).network == mq.load(path).network


# What waits -> broker, consumer, what the answer names, and the single change that would deliver it.
WAITING = {
    "ORDERS": ("A", "C2", "consumerTTL", "every connector with networkTTL=2"),
    "INVOICES": ("B", "C2", "destination filters", "B/bc without excludedDestinations=['queue://INVOICES']"),
    "RETURNS": ("B", "C1", "never returns", "replayWhenNoConsumers for queue://RETURNS at every broker"),
    "NORTH": ("B", "C3", "selector", "C3 without selector=region = 'north'"),
    "SLOW": ("A", "hung", "prefetch window", "hung without receiving=false"),
}


@pytest.fixture
def whole(consoles, files):
    return mq.load(*(one.address() for one in consoles.values()), *files)


@pytest.mark.parametrize("queue", WAITING)
def test_why_messages_wait_there_now(whole, queue):
    on, consumer, word, change = WAITING[queue]
    found = mq.explain(whole, queue=queue, on=on, why_not=consumer)
    assert found.title.startswith(f"{consumer} did not receive message {queue}@{on}")
    assert found.lines[0].startswith(f"{whole.running.depth(queue, on)} messages in {queue} at {on} (read 2")
    assert word in str(found)
    assert [str(one) for one in found.changes] == [change]
    assert not [line for line in found.lines if line.startswith("The running bridge")]  # as in the lab


def test_what_the_lab_plays_is_what_stands_there(whole):
    """The same depths at the same brokers, whatever the messages and consumers of other queues."""
    told = {(q.broker, f"queue://{q.name}"): q.depth for q in whole.running.queues if q.depth}
    waiting = mq.run(whole).waiting()
    lab = {(broker, queue): len(ones) for broker, queues in waiting.items() for queue, ones in queues.items()}
    assert lab == told


def test_more_can_be_done_to_what_stands_there(live):
    trace = mq.run(live, mq.Consumer("more", on="A", reads=mq.Queue("ORDERS")))
    assert trace.received()["more"] == 5


def test_where_messages_came_from_is_told(whole):
    found = mq.explain(whole, queue="RETURNS", on="B", why_not="C1")
    assert any(line.startswith("Of these messages 4 came from A, as the counters") for line in found.lines)
    assert "A forwarded it to B over A/ab" in str(mq.explain(mq.run(whole), message="RETURNS@B from A-1"))


def test_what_management_does_not_tell_is_named(live):
    """Without the file of B the lab would deliver: its bridge subscribes where the running one does not."""
    found = mq.explain(live, queue="INVOICES", on="B", why_not="C2")
    assert found.title.startswith("In mqlab all messages of INVOICES leave B")
    (cause,) = found.causes
    assert "The running bridge from B to C has no subscription to INVOICES" in cause.text
    assert "excludedDestinations" in cause.text
    with pytest.raises(BadValue, match="give the file of B"):
        mq.what_if(live, queue="INVOICES", on="B", consumer="C2")


def test_an_option_that_would_deliver_what_waits(live):
    found = mq.what_if(live, queue="ORDERS", on="A", consumer="C2")
    assert [str(change) for change in found.changes] == ["every connector with networkTTL=2"]
    assert found.run().received()["C2"] == 5


def test_a_queue_alone(live):
    found = mq.explain(live, queue="queue://ORDERS")
    assert found.title == "Message ORDERS@A-1: still waiting at A (route so far: A)."
    assert any("no matching subscription" in line for line in found.lines)


def test_questions_about_what_is_not_there(live):
    with pytest.raises(MqlabError, match="unknown queue 'ORDER'; did you mean 'ORDERS'"):
        mq.explain(live, queue="ORDER")
    with pytest.raises(MqlabError, match="unknown consumer of ORDERS 'C9'"):
        mq.explain(live, queue="ORDERS", on="A", why_not="C9")
    with pytest.raises(BadValue, match=r"no message of ORDERS waits at B; some wait at A \(5\)"):
        mq.explain(live, queue="ORDERS", on="B")
    with pytest.raises(MqlabError, match="unknown broker that was read 'D'"):
        mq.explain(live, queue="ORDERS", on="D")
    with pytest.raises(BadValue, match="a queue and the broker that it waits at are asked about together"):
        mq.explain(live, on="A")
    with pytest.raises(BadValue, match="asks about a running network"):
        mq.explain(mq.chain(2), queue="ORDERS")


def test_a_bridge_that_does_not_stand_is_stopped_in_the_lab(files):
    answers = {name: recorded(name)["answers"] for name in "BC"}
    kept = {n: bean for n, bean in answers["B"]["bridges"]["value"].items() if "duplex" in n}
    answers["B"]["bridges"]["value"] = kept
    orders = next(bean for bean in answers["B"]["queues"]["value"].values() if bean["Name"] == "ORDERS")
    orders["QueueSize"] = orders["EnqueueCount"] = 3
    with Jolokia(answers["B"]) as b, Jolokia(answers["C"]) as c:
        net = mq.load(b.address(), c.address(), *files[1:])
    found = mq.explain(net, queue="ORDERS", on="B", why_not="C2")
    assert any("bridge B/bc is down" in line for line in found.lines)
    assert {problem.rule for problem in mq.check(net)} >= {"no-bridge"}


def test_a_large_queue_is_played_in_part(consoles):
    answers = recorded("A")["answers"]
    for bean in answers["queues"]["value"].values():
        bean["QueueSize"] = bean["EnqueueCount"] = 70_000
    with Jolokia(answers) as one:
        live = mq.load(one.address())
    found = mq.explain(live, queue="ORDERS", on="A")
    assert found.lines[0].endswith("; the lab plays 20 of them.")


def test_check_compares_file_and_running_broker(consoles, files):
    text = files[1].read_text()
    assert 'conduitSubscriptions="false"' in text
    files[1].write_text(text.replace('conduitSubscriptions="false"', 'conduitSubscriptions="true"'))
    net = mq.load(*(one.address() for one in consoles.values()), *files)
    found = [problem for problem in mq.check(net) if problem.rule == "file-differs"]
    assert [problem.what for problem in found] == [
        "conduitSubscriptions is true in the file and false in the broker"
    ]
    assert (found[0].where, found[0].file, found[0].line) == ("B/bc", str(files[1]), 5)


def test_what_runs_as_its_file_says_differs_in_nothing(whole):
    assert not {"file-differs", "not-running", "not-in-file", "no-bridge"} & {p.rule for p in mq.check(whole)}


def test_connectors_of_only_one_side(consoles, files):
    files[1].write_text(files[1].read_text().replace('name="bc"', 'name="to-c"'))
    net = mq.load(*(one.address() for one in consoles.values()), *files)
    told = {problem.rule: problem for problem in mq.check(net)}
    assert told["not-running"].what.startswith("networkConnector to-c is in the file")
    assert told["not-in-file"].what.startswith("the broker runs a networkConnector bc")
    assert net.broker("B").connectors[0].name == "bc"


def test_check_names_what_waits_and_what_was_not_read(consoles):
    found = mq.check(mq.load(consoles["A"].address()))
    told = {problem.rule: problem.what for problem in found}
    assert told["waiting"] == "5 messages in queue ORDERS, and no subscription takes from it"
    assert any("broker B was not read" in problem.what for problem in found if problem.rule == "not-read")


def test_the_command_line(consoles, files, mqlab, tmp_path):
    addresses = [one.address() for one in consoles.values()]
    files[1].write_text(files[1].read_text().replace('Subscriptions="false"', 'Subscriptions="true"'))
    checked = mqlab("check", *addresses, *files)
    asked = mqlab("explain", *addresses, "--queue", "ORDERS", "--on", "A", "--why-not", "C2", "--json")
    tried = mqlab("what-if", *addresses, "--queue", "ORDERS", "--on", "A", "--consumer", "C2")
    played = mqlab("run", *addresses)
    saved = mqlab("save", *addresses, "--to", "net.json")
    assert "conduitSubscriptions is true in the file and false in the broker" in checked.stdout
    assert "every connector with networkTTL=2" in json.loads(asked.stdout)["lines"][-1]
    assert "every connector with networkTTL=2: would receive it" in tried.stdout
    assert "ORDERS" in played.stdout
    assert (saved.returncode, mq.load(tmp_path / "net.json").network.names) == (0, ("A", "B", "C"))
    wrong = mqlab("check", addresses[0].replace("/api/", "/none/"))
    assert wrong.returncode
    assert "there is no Jolokia (404)" in wrong.stderr
    forgotten = mqlab("check", addresses[0].removeprefix("jolokia:"))
    assert "use e.g. 'jolokia:http://127.0.0.1" in forgotten.stderr
    every = (checked, asked, tried, played, saved, wrong, forgotten)
    assert not [one for one in every for secret in SECRETS if secret in one.stdout + one.stderr]
    assert PASSWORD not in (tmp_path / "net.json").read_text()
