"""The desk: what a picture may ask of it, and what it answers, without a page."""

import json

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.experiments import Outcome
from mqlab.products import inputs as takes
from mqlab.workbench import WorkbenchSession

SOME = [
    "fuse:2.20",
    "fuse:4.4",
    "fuse:4.9",
    "openmq:4-1",
    "openmq:4-4",
    "artemis:21.1",
    "article:stuck",
]


def desk_of(figure):
    return WorkbenchSession(mq.run(figure), figure)


def events(trace, until):
    """Return the events before a time (us) as texts."""
    return [str(event) for event in trace.events() if event.t < until]


@pytest.mark.parametrize("figure", SOME)
def test_a_fork_is_the_same_run_until_its_moment(figure):
    for share in (0.3, 0.6, 0.95):
        desk = desk_of(figure)
        before, at = desk.traces[0], desk.shown[0].end * share // 1000 / 1000
        deed = desk.answer("deeds", {"ms": at})["deeds"][-1]
        desk.answer("break", {"ms": at, **deed})
        after = desk.traces[0]
        assert after is not before
        assert events(after, at * 1000) == events(before, at * 1000)


def test_a_crash_happens_at_the_moment_that_was_shown():
    desk = desk_of("fuse:4.4")
    told = desk.answer("break", {"ms": 15_000, "step": {"do": "Crash", "broker": "broker2"}})
    assert told["branches"][1]["parent"] == 0
    assert told["branches"][1]["ms"] == 15_000
    crashes = [event for event in desk.traces[0].events() if event.kind == mq.Kind.Crashed]
    assert crashes[-1].broker == "broker2"
    assert 15_000_000 <= crashes[-1].t < 15_100_000  # the signal takes a while
    # The script was over at 15.8 s; what follows from the crash is watched all the same.
    assert desk.traces[0].master("sharedBrokerData", "40s") == ["broker3"]


def deeds_of(desk, kind, name, ms):
    """Return what can be done to one part."""
    offered = desk.answer("deeds", {"ms": ms, "kind": kind, "name": name})["deeds"]
    return [deed for deed in offered if deed["of"] == name]


def test_all_parts_are_offered_and_the_chosen_one_first():
    desk = desk_of("fuse:2.20")
    offered = desk.answer("deeds", {"ms": 15, "kind": "broker", "name": "B"})["deeds"]
    parts = list(dict.fromkeys(deed["of"] for deed in offered))
    assert parts == ["B", "A", "linkToBrokerB", "C1", "C2", "C3"]
    texts = [deed["text"] for deed in offered]
    assert len(texts) == len(set(texts))
    assert len([text for text in texts if text.startswith("Cut the link")]) == 1, "from whichever end"
    assert {deed["of"] for deed in offered if "sends" in deed["step"]} == {"B"}
    assert "Resume C1" not in texts, "nothing has paused it"
    paused = desk.answer("break", {"ms": 10, "step": {"do": "Pause", "who": "C1"}})
    assert paused["current"] == 1
    assert "Resume C1" in [deed["text"] for deed in deeds_of(desk, "consumer", "C1", 15)]


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["fuse:2.20", "fuse:4.4", "openmq:4-1", "artemis:21.1"])
def test_whatever_is_offered_can_be_done(figure):
    desk = desk_of(figure)
    ms = desk.shown[0].end * 2 // 3 / 1000
    for part in desk.answer("tell", {})["parts"]:
        offered = deeds_of(desk, part["kind"], part["name"], ms)
        for deed in offered:
            desk.answer("break", {"ms": ms, **deed})
            desk.answer("undo", {})


def test_nothing_is_offered_for_a_client_that_is_not_open_yet():
    desk = desk_of("fuse:4.4")  # its consumer K comes when the master is gone
    assert deeds_of(desk, "consumer", "K", 7400) == []
    assert deeds_of(desk, "consumer", "K", 15_000) != []


def test_a_broker_that_is_down_can_be_started_and_nothing_else():
    desk = desk_of("fuse:4.4")
    texts = [deed["text"] for deed in deeds_of(desk, "broker", "broker1", 14_000)]
    assert texts[0] == "Start broker1 again"
    assert not any("Crash" in text for text in texts)


def test_undo_gives_back_the_very_run_and_redo_the_other():
    desk = desk_of("fuse:2.20")
    first = desk.traces[0]
    desk.answer("break", {"ms": 15, "step": {"do": "Pause", "who": "C1"}})
    second = desk.traces[0]
    assert desk.answer("undo", {})["undo"] == 0
    assert desk.traces == (first,)
    assert desk.answer("redo", {})["redo"] == 0
    assert desk.traces == (second,)
    assert desk.answer("undo", {})["redo"] == 1
    assert desk.answer("undo", {})["undo"] == 0, "before the first step there is nothing"


def test_what_if_changes_the_answer_and_its_fork_is_that_run():
    desk = desk_of("fuse:2.20")
    found = desk.answer("what if", {"message": 5, "consumer": "C2"})
    assert found["changes"][0]["text"] == "A/linkToBrokerB with conduitSubscriptions=false"
    assert found["changes"][0]["received"] == [["C1", 6, 4], ["C2", 3, 4], ["C3", 3, 4]]
    desk.answer("fork", {"change": 0})
    assert desk.answer("why", {"kind": "message", "name": "5"})["got"] == ["C2"]
    with pytest.raises(BadValue, match="ask again"):
        desk.answer("fork", {"change": 0})  # that list belonged to the run before


def test_what_is_stuck_is_cured_by_changes_that_tell_what_comes_of_them():
    desk = desk_of("article:stuck")
    found = desk.answer("cures", {"broker": "A", "destination": "queue://TEST.FOO"})
    assert found["title"] == "What would deliver the messages of queue://TEST.FOO at A?"
    first = found["changes"][0]
    assert (first["received"], first["stuck"]) == ([["C1", 0, 0], ["C2", 0, 10]], [10, 0])
    desk.answer("fork", {"change": 0})
    assert desk.traces[0].received() == {"C1": 0, "C2": 10}
    with pytest.raises(BadValue, match="no message is stuck at A"):
        desk.answer("cures", {"broker": "A", "destination": "queue://TEST.FOO"})


def test_why_tells_a_message_in_steps_with_rule_and_source():
    told = desk_of("fuse:2.20").answer("why", {"kind": "message", "name": "5"})
    assert told["title"] == "Why is message P-5 at C1?"
    assert told["why_not"] == ["C2", "C3"]
    turn = next(step for step in told["steps"] if step.get("rule") == "turn")
    assert (turn["ms"], turn["source"]) == (11.0, "Fuse 3, Load balancing")
    assert "[" not in turn["text"]


def test_why_not_names_what_decided_and_what_takes_it_away():
    told = desk_of("fuse:2.17").answer("why not", {"message": 1, "consumer": "C1"})
    assert told["title"].startswith("Why did C1 not receive message")
    assert any(step["change"] for step in told["steps"])


@pytest.mark.parametrize("name", ["linkToBrokerB", "A/linkToBrokerB"])
def test_a_connector_is_known_by_its_name_with_and_without_its_broker(name):
    told = desk_of("fuse:2.20").answer("why", {"kind": "connector", "name": name})
    assert told["answer"] == "6 messages were forwarded over it."


def option(desk, kind, name, guide):
    rows = desk.answer("options", {"kind": kind, "name": name})["rows"]
    return next(row for row in rows if row["name"] == guide)


def test_an_option_is_changed_as_a_fork_and_says_what_it_was():
    desk = desk_of("fuse:2.20")
    row = option(desk, "connector", "linkToBrokerB", "conduitSubscriptions")
    assert (row["value"], row["default"], row["written"], row["changed"]) == (
        True,
        True,
        False,
        False,
    )
    desk.answer("apply", {"kind": "connector", "name": "linkToBrokerB", "edits": [[row["path"], False]]})
    assert desk.traces[0].received() == {"C1": 4, "C2": 4, "C3": 4}
    row = option(desk, "connector", "linkToBrokerB", "conduitSubscriptions")
    assert (row["value"], row["was"], row["written"], row["changed"]) == (False, True, True, True)


def test_a_bad_value_stays_with_its_field_and_changes_nothing():
    desk = desk_of("fuse:2.20")
    ttl = option(desk, "connector", "linkToBrokerB", "networkTTL")["path"]
    prefetch = option(desk, "connector", "linkToBrokerB", "prefetchSize")["path"]
    edits = [[ttl, "two"], [prefetch, 5]]
    told = desk.answer("apply", {"kind": "connector", "name": "linkToBrokerB", "edits": edits})
    assert [(error["path"], "whole number" in error["text"]) for error in told["errors"]] == [(ttl, True)]
    assert len(desk.answer("tell", {})["branches"]) == 1


def test_all_connectors_are_changed_at_once():
    desk = desk_of("fuse:2.9")
    path = option(desk, "connector", "*", "networkTTL")["path"]
    desk.answer("apply", {"kind": "connector", "name": "*", "edits": [[path, "7"]]})
    assert {c["network_ttl"] for c in desk.shown[0].body["connectors"]} == {7}


@pytest.mark.parametrize(
    ("figure", "kind", "name", "guide", "value"),
    [
        ("fuse:2.20", "", "", "edition", "6.1"), ("fuse:2.20", "", "", "delay", "20ms"),
        ("fuse:2.20", "", "", "seed", "3"), ("fuse:2.20", "consumer", "C1", "delay", "9"),
        ("fuse:2.20", "producer", "P", "count", "3"), ("fuse:4.4", "client", "C", "uri", "tcp://broker2:61616"),
        ("fuse:4.4", "", "", "time", "3000"), ("openmq:4-1", "broker", "b1", "imq.autocreate.queue", False),
        ("openmq:4-1", "consumer", "C3", "flow_limit", "1"),
        ("openmq:4-1", "", "", "imq.autocreate.queue", False),
        ("artemis:21.1", "broker", "M1", "vote-on-replication-failure", True),
        ("artemis:21.1", "", "", "message-load-balancing", "OFF"),
        ("artemis:21.1", "", "", "sends", "3"),
    ],
)  # fmt: skip
def test_options_of_every_product_clients_faults_and_lines(figure, kind, name, guide, value):
    desk = desk_of(figure)
    row = option(desk, kind, name, guide)
    told = desk.answer("apply", {"kind": kind, "name": name, "edits": [[row["path"], value]]})
    assert "errors" not in told
    assert option(desk, kind, name, guide)["changed"]
    assert [guide in change for change in told["changes"]] == [True]


def test_an_option_goes_back_to_what_it_was():
    desk = desk_of("fuse:2.20")
    path = option(desk, "", "", "delay")["path"]
    desk.answer("apply", {"edits": [[path, "20ms"]]})
    assert desk.shown[0].end > 28_000
    desk.answer("apply", {"edits": [[path, None]]})
    assert desk.traces[0].digest() == mq.run("fuse:2.20").digest()


def test_a_fix_takes_its_problem_away_and_says_what_it_brings():
    desk = desk_of("fuse:2.17")
    before = desk.answer("check", {})["problems"]
    number, problem = next((n, p) for n, p in enumerate(before) if "selector" in p["what"])
    assert problem["part"]["kind"] == "connector"
    assert "conduitSubscriptions=false" in problem["fix"]
    desk.answer("fork", {"change": number})
    after = desk.answer("check", {})["problems"]
    assert problem["what"] not in [p["what"] for p in after]
    new = [p for p in after if (p["where"], p["what"]) not in {(b["where"], b["what"]) for b in before}]
    assert problem["brings"] == [f"{p['where']}: {p['what']}" for p in new]


@pytest.mark.parametrize("figure", ["fuse:2.20", "fuse:4.4", "openmq:4-1", "artemis:21.1"])
def test_the_code_of_a_fork_makes_the_same_run(figure):
    desk = desk_of(figure)
    ms = desk.shown[0].end / 2000
    deed = desk.answer("deeds", {"ms": ms})["deeds"][0]
    desk.answer("break", {"ms": ms, **deed})
    told, made = desk.answer("code", {}), {}
    exec(told["python"], made)
    again = mq.run(made["scenario"], until=desk.shown[0].setting.until)
    assert [*map(str, again.events())] == [*map(str, desk.traces[0].events())]
    assert products.product_of(json.loads(told["lab"])).name == desk.shown[0].product


def test_a_fork_keeps_the_name_and_may_stand_beside_what_it_left():
    desk = desk_of("fuse:2.20")
    told = desk.answer("break", {"ms": 15, "step": {"do": "Pause", "who": "C1"}, "beside": True})
    assert (told["name"], told["current"], told["sides"]) == ("fuse:2.20", 1, [0, 1])
    told = desk.answer("break", {"ms": 15, "step": {"do": "Pause", "who": "C2"}})
    assert (told["name"], told["branches"][2]["parent"], told["beside"]) == ("fuse:2.20", 1, None)


def test_two_runs_stand_side_by_side_the_older_one_on_the_left():
    desk = desk_of("fuse:2.20")
    desk.answer("break", {"ms": 15, "step": {"do": "Pause", "who": "C1"}})
    told = desk.answer("compare", {"number": 0})
    assert (told["current"], told["beside"], told["sides"]) == (1, 0, [0, 1])
    assert [trace.received()["C1"] for trace in desk.traces] == [6, 3]
    assert min(side["ms"] for side in told["comparison"]["first"] if side) >= 15
    told = desk.answer("compare", {})
    assert (told["current"], told["beside"]) == (1, None)


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_a_network_is_built_part_by_part(product):
    desk = desk_of("fuse:2.20")
    desk.answer("begin", {"product": product})
    assert desk.traces[0].received() == {"C1": 10}
    desk.answer("build", {"add": "broker", "name": "B"})
    if product == "activemq":
        desk.answer("build", {"add": "connector", "from": "A", "to": "B"})
    desk.answer("build", {"add": "consumer", "on": "B", "name": "far"})
    assert desk.traces[0].received()["far"] > 0
    told = desk.answer("build", {"remove": "broker", "name": "B"})
    assert desk.traces[0].received() == {"C1": 10}
    assert {part["name"] for part in told["parts"]} == {"A", "C1", "P1"}


def test_options_are_edited_in_place_while_one_builds():
    desk = desk_of("fuse:2.20")
    asked = {"kind": "connector", "name": "A/linkToBrokerB"}
    row = next(row for row in desk.answer("options", asked)["rows"] if row["name"] == "networkTTL")
    bad = desk.answer("build", {**asked, "edits": [[row["path"], "many"]]})
    assert [error["path"] for error in bad["errors"]] == [row["path"]]
    told = desk.answer("build", {**asked, "edits": [[row["path"], 0]]})
    assert len(told["branches"]) == 1, "no fork"
    assert desk.traces[0].received() == {"C1": 12, "C2": 0, "C3": 0}
    desk.answer("undo", {})
    assert desk.traces[0].received() == {"C1": 6, "C2": 3, "C3": 3}


@pytest.mark.parametrize(
    ("product", "serves"), [("activemq", "D1"), ("artemis", "D1")],
)  # fmt: skip
def test_a_pair_is_a_master_and_its_slave(product, serves):
    desk = desk_of("fuse:2.20")
    desk.answer("begin", {"product": product})
    desk.answer("build", {"add": "pair", "name": "D"})
    roles = mq.Lab(desk.traces[0])
    roles.rest()
    assert roles.roles["D1"] in ("master", "live")
    assert roles.roles["D2"] not in ("master", "live", "running")


@pytest.mark.parametrize(
    ("field", "given", "text"),
    [
        ("name", {"add": "broker", "name": "A"}, "'A' already exists; choose another name"),
        ("name", {"add": "broker", "name": "east 1"}, "Name: no spaces and no slash"),
        ("name", {"add": "consumer", "on": "A", "name": "C/9"}, "Name: no spaces and no slash"),
        ("queue", {"add": "consumer", "on": "A", "queue": "bad queue!"}, "Queue: no spaces and no slash"),
        ("count", {"add": "producer", "on": "A", "count": -3}, "Messages: a whole number from 0"),
        ("count", {"add": "producer", "on": "A", "count": "abc"}, "Messages: a whole number from 0"),
        ("count", {"add": "producer", "on": "A", "count": 2.5}, "Messages: a whole number from 0"),
    ],
)  # fmt: skip
def test_what_a_field_does_not_take_is_said_at_the_field(field, given, text):
    desk = desk_of("fuse:2.20")
    assert desk.answer("build", given) == {"errors": [{"path": [field], "text": text}]}
    assert desk.answer("tell", {})["undo"] == 0


def test_a_producer_may_send_nothing():
    desk = desk_of("fuse:2.20")
    desk.answer("build", {"add": "producer", "on": "A", "name": "idle", "count": 0})
    assert "'sends': 0" in str(desk.shown[0].body["actions"])


def test_an_empty_network_is_filled_part_by_part():
    desk = WorkbenchSession(mq.run(mq.Network()), "my network")
    assert desk.answer("tell", {})["parts"] == []
    for given in ({"add": "broker"}, {"add": "producer", "on": "A"}, {"add": "consumer", "on": "A"}):
        desk.answer("build", given)
    assert desk.traces[0].received() == {"C1": 10}
    for _ in range(3):
        told = desk.answer("undo", {})
    assert told["parts"] == []


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"add": "connector", "from": "A", "to": "X"}, "unknown broker 'X'"),
        ({"add": "connector", "from": "A", "to": "A"}, "given twice"),
        ({"add": "bridge"}, "unknown part"),
        ({"remove": "broker", "name": "X"}, "unknown broker 'X'"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_told(request_, message):
    desk = desk_of("fuse:2.20")
    with pytest.raises((BadValue, UnknownName), match=message):
        desk.answer("build", request_)
    assert desk.answer("tell", {})["undo"] == 0


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("whence", {}, "unknown request 'whence'"), ("why not", {"message": 1}, "'consumer'"),
        ("why", {"kind": "broker", "name": "Z"}, "unknown broker 'Z'"), ("show", {"number": 7}, "no run 7"),
        ("deeds", {"ms": -1}, "milliseconds"), ("deeds", {"ms": True}, "milliseconds"),
        ("begin", {"figure": "fuse:9.9"}, "fuse:9.9"),
        ("apply", {"edits": [[["nowhere"], 1]]}, "no option at nowhere"),
        ("options", {"kind": "broker", "name": "Z"}, "unknown broker 'Z'"),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_says_why(kind, data, message):
    with pytest.raises(mq.MqlabError, match=message):
        desk_of("fuse:2.20").answer(kind, data)


@pytest.mark.parametrize("figure", products.figures(), ids=lambda figure: figure.id)
def test_every_figure_can_be_asked_and_all_answers_are_json(figure):
    trace = products.play(figure.scenario)
    desk = WorkbenchSession(trace, figure.id)
    told = [desk.answer(kind, {}) for kind in ("tell", "why", "check", "code", "options")]
    for part in told[0]["parts"]:
        asked = {"kind": part["kind"], "name": part["name"]}
        told.append(desk.answer("why", asked))
        found = desk.answer("options", asked)
        assert all(row["sentence"] and row["source"] for row in found["rows"])
        told.append(found)
    assert json.loads(json.dumps(told)) == told


def test_a_picture_is_there_before_its_lab_file_is_read(monkeypatch):
    trace = mq.run("fuse:2.20")
    asked = []
    read = takes.body_of
    monkeypatch.setattr(takes, "body_of", lambda *what: asked.append(what) or read(*what))
    desk = WorkbenchSession(trace)
    assert not asked, "of a large network it takes longer than the picture"
    assert desk.answer("tell", {})["parts"]
    assert len(asked) == 1


def test_a_producer_that_is_drawn_sends():
    session = WorkbenchSession(mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C", "A", mq.Queue("Q"))))
    session.answer("build", {"add": "producer", "on": "A", "queue": "Q", "count": 7})
    assert session.traces[0].received() == {"C": 7}


def test_the_spread_of_a_run_comes_in_parts_and_one_of_its_seeds_is_a_run():
    desk = desk_of("unsafe:lease")
    found, first = [], 0
    while first < 100:
        told = desk.answer("spread", {"first": first})
        assert [one["seed"] for one in told["found"]] == [*range(first, told["next"])]
        found += told["found"]
        first = told["next"]
    texts = {one["text"] for one in found}
    assert len(found) == told["of"] == 100
    assert len(texts) > 3, "a lease that is shorter than its renewal ends in many ways"
    other = next(one for one in found if one["text"])
    own = Outcome.of(desk.traces[0])
    told = desk.answer("seed", {"seed": other["seed"], "beside": True})
    assert own.difference(Outcome.of(desk.state.shown.trace)) == other["text"]
    assert told["changes"] == [f"seed {other['seed']}, jitter 1 ms"]


@pytest.mark.parametrize("first", [-1, 100, "0", None, 1.5])
def test_a_spread_begins_at_one_of_its_seeds(first):
    with pytest.raises(BadValue, match="expected a seed from 0 to 99"):
        desk_of("fuse:2.20").answer("spread", {"first": first})


def test_a_run_too_long_for_a_spread_is_told_where_it_can_be_had():
    q = mq.Queue("Q")
    long = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C", on="A", reads=q),
                  mq.Producer("P", on="A", sends=6000, to=q))  # fmt: skip
    with pytest.raises(BadValue, match=r"use mq\.outcomes"):
        WorkbenchSession(long).answer("spread", {"first": 0})


# Faults that are moved


def two_brokers(*more):
    q = mq.Queue("Q")
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B"))
    opened = mq.Client("cc", uri="failover:(tcp://B:61616)"), mq.Consumer("C", on="cc", reads=q)
    sends = mq.Producer("P", on="A", sends=10, to=q, persistent=False, every="10ms", at="100ms")
    return WorkbenchSession(mq.run(net, *opened, sends, *more, until="3s"))


def test_faults_that_can_be_moved_have_their_time_with_at_or_without():
    desk = two_brokers(mq.Crash("B", at="150ms"), mq.Restart("B", at="400ms"))
    faults = desk.answer("tell", {})["faults"]
    assert [(one["text"], one["ms"], one["mends"]) for one in faults] == [
        ("crash B", 150.0, False), ("restart B", 400.0, True)]  # fmt: skip
    faults = desk_of("article:stuck").answer("tell", {})["faults"]
    assert [one["text"] for one in faults] == ["stop A", "restart A"]
    assert 0 < faults[0]["ms"] < faults[1]["ms"]
    assert desk_of("fuse:2.20").answer("tell", {})["faults"] == []


def test_a_fault_elsewhere_ends_as_it_is_told_and_as_the_fork_does():
    desk = two_brokers(mq.Crash("B", at="150ms"))
    crash = desk.answer("tell", {})["faults"][0]["action"]
    own = Outcome.of(desk.traces[0])
    early, same, late = desk.answer("outcomes", {"action": crash, "times": [105, 150, 390]})["found"]
    assert same["text"] == ""
    assert early["text"] != late["text"]
    told = desk.answer("move", {"action": crash, "ms": 105})
    assert told["changes"] == ["crash B at 105 ms"]
    assert own.difference(Outcome.of(desk.traces[0])) == early["text"]
    assert [one["ms"] for one in told["faults"]] == [105.0]


def test_outcomes_come_as_many_as_there_is_room_for_and_what_cannot_be_says_why(monkeypatch):
    monkeypatch.setattr("mqlab.workbench.moving.AT_ONCE", 1)
    desk = two_brokers(mq.Crash("B", at="150ms"))
    crash = desk.answer("tell", {})["faults"][0]["action"]
    assert len(desk.answer("outcomes", {"action": crash, "times": [110, 120, 130]})["found"]) == 1
    with pytest.raises(BadValue, match="action 0 is not a fault that can be moved"):
        desk.answer("outcomes", {"action": 0, "times": [110]})
    with pytest.raises(BadValue, match="expected milliseconds, 0 or more"):
        desk.answer("move", {"action": crash, "ms": -1})


BROKER = '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="{}"/>'


@pytest.mark.parametrize(("files", "received"), [
    ({"activemq.xml": BROKER.format("Z")}, {"consumer-Z": 10}),
    ({"a/activemq.xml": BROKER.format("A"), "b/activemq.xml": BROKER.format("B")},
     {"consumer-A": 10, "consumer-B": 10}),
    ({"broker.xml": '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><name>R</name></core>'
                    "</configuration>"}, {"consumer-R": 10}),
    ({"config.properties": "imq.instancename=m\n"}, {"consumer-m": 10}),
    ({"my.json": json.dumps(takes.scenario_in(mq.run("fuse:2.20")))}, {"C1": 6, "C2": 3, "C3": 3}),
], ids=["ActiveMQ", "two files", "Artemis", "OpenMQ", "lab file"])  # fmt: skip
def test_files_are_opened_with_traffic_and_a_step_goes_back(files, received):
    desk = desk_of("fuse:2.1")
    given = [{"name": name, "text": text} for name, text in files.items()]
    told = desk.answer("open", {"files": given})
    assert desk.traces[0].received() == received
    assert told["name"] == (given[0]["name"] if len(given) == 1 else "2 files")
    assert desk.answer("code", {})["lab"]
    assert desk.answer("undo", {})["name"] == "fuse:2.1"


@pytest.mark.parametrize(("files", "said"), [
    ([], "no file was given"),
    ([("pom.xml", "<project/>")], "^pom.xml"),
    ([("../../etc/my.json", "{")], "^etc/my.json"),
    ([("activemq.xml", "<broker")], "^activemq.xml, line 1"),
    ([("a.json", "{}"), ("b.xml", BROKER.format("B"))], "a.json: a lab file is loaded by itself"),
    ([("notes.txt", "hello")], "notes.txt"),
])  # fmt: skip
def test_files_that_cannot_be_opened_are_told_by_name_and_change_nothing(files, said):
    desk = desk_of("fuse:2.1")
    with pytest.raises(BadFile, match=said) as caught:
        desk.answer("open", {"files": [{"name": name, "text": text} for name, text in files]})
    assert "/tmp" not in str(caught.value)
    assert desk.answer("tell", {})["name"] == "fuse:2.1"


def test_a_queue_without_a_consumer_is_said_at_once():
    desk = desk_of("fuse:2.1")
    desk.answer("begin", {"product": "activemq"})
    told = desk.answer("build", {"add": "producer", "on": "A", "queue": "UNKNOWN", "count": 1})
    unread = ["1 message waits in UNKNOWN at A: no consumer subscribes to it"]
    assert told["outcome"]["left"] == {"waiting": 1, "lost": 0, "twice": 0, "expired": 0, "unread": unread}
    desk.answer("build", {"add": "consumer", "on": "A", "queue": "UNKNOWN"})
    assert desk.answer("tell", {})["outcome"]["left"]["unread"] == []


def test_a_properties_file_without_a_name_is_the_broker_that_openmq_makes_of_it():
    """It was called after a temporary folder."""
    desk = desk_of("fuse:2.20")
    told = desk.answer("open", {"files": [{"name": "config.properties", "text": "imq.persist.store=file\n"}]})
    assert [part["name"] for part in told["parts"] if part["kind"] == "broker"] == ["imqbroker"]
