"""What brokers say in their logs becomes a trace: logs of real brokers (5.17.2), and what is no such log.

`logs` has those of a chain of three: A's connector leads to B, B's duplex connector to C; B was killed and
started again, C stopped and started again. `ring-A` and `ring-C` are of another network: refused advisories.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.products import inputs
from mqlab.products.activemq.logs import lines
from mqlab.trace.kinds import Kind, Reason

LOGS = Path(__file__).with_name("logs")
CHAIN = tuple(LOGS / f"{name}.log" for name in "ABC")
DEBUG = re.compile(r".*\| DEBUG \|.*\n")


def events(trace, *kinds):
    return [one for one in trace.events() if one.kind in kinds]


def told(trace):
    return {one.what: one.why for one in trace.undone}


@pytest.fixture(scope="module")
def chain():
    return mq.trace_of(*CHAIN)


def test_brokers_and_bridges_come_and_go_as_the_logs_say(chain):
    links = [(one.kind.name, one.link) for one in events(chain, Kind.Connected, Kind.Disconnected)]
    back = "B/bc (duplex back)"
    up, down = "Connected", "Disconnected"
    assert links == [
        (up, "A/ab"), (up, "B/bc"), (up, back),
        (down, "B/bc"), (down, back), (down, "A/ab"),  # B is killed
        (up, "B/bc"), (up, back), (up, "A/ab"),
        (down, "B/bc"), (down, back), (up, "B/bc"), (up, back),  # C is restarted
        (down, "A/ab"), (down, "B/bc"), (down, back),  # all are stopped
    ]  # fmt: skip
    ends = [(one.kind.name, one.broker) for one in events(chain, Kind.Crashed, Kind.Stopped, Kind.Restarted)]
    assert ends == [
        ("Crashed", "B"), ("Restarted", "B"), ("Stopped", "C"), ("Restarted", "C"),
        ("Stopped", "A"), ("Stopped", "B"), ("Stopped", "C"),
    ]  # fmt: skip


def test_a_bridge_that_breaks_names_the_end_of_the_broker_beyond(chain):
    (crash,) = events(chain, Kind.Crashed)
    broken = next(one for one in events(chain, Kind.BridgeDown) if one.broker == "A")
    assert (broken.cause, broken.rule) == (crash.row, Reason.connection_lost)
    assert "java.io.EOFException" in str(mq.explain(chain, broker="A"))
    assert "bridge A/ab is down" in str(mq.explain(chain, "B"))


def test_messages_that_cross_bridges_are_followed(chain):
    first = [(one.kind.name, one.frm, one.to) for one in map(chain.event, chain.rows_of(1))]
    assert first == [("Sent", "producers at A", "A"), ("Forwarded", "A", "B"), ("Forwarded", "B", "C")]
    assert [chain.event(row).cause for row in chain.rows_of(1)][1:] == list(chain.rows_of(1))[:2]
    assert chain.path(1) == [["A", "B", "C"]]
    assert chain.message("ID:vm-44453-1795725207152-3:2:-1:1:5") == 5
    assert [line[:2] for line in chain.account().table()[1:]] == [["cut off", "6"]], "no log says who got them"


def test_demand_has_its_destination_where_any_line_tells_it(chain):
    named = {one.destination for one in events(chain, Kind.Subscribed)}
    assert named == {"queue://ORDERS", "topic://NEWS", None}
    assert told(chain)["5 subscriptions"] == "no line tells their destination"
    assert all("Advisory" not in name for name in chain.names["dest"])


def test_refused_advisories_have_their_reasons():
    ring = mq.trace_of(LOGS / "ring-A.log", LOGS / "ring-C.log")
    refused = {(one.to, one.link, one.rule.name) for one in events(ring, Kind.Refused)}
    assert refused == {
        ("A", "A/ac", "not_permitted"), ("A", "A/ac", "duplicate_route"), ("C", "C/ca", "consumer_ttl"),
    }  # fmt: skip
    gone = [one.rule.name for one in events(ring, Kind.Unsubscribed) if one.link == "A/ac"]
    assert gone == ["better_route", "better_route"]
    assert "no log of it is here" in told(ring)["Broker B"]


def test_at_level_info_brokers_and_bridges_are_told_and_what_is_missing_too(tmp_path):
    for path in CHAIN:
        (tmp_path / path.name).write_text(DEBUG.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
    trace = mq.trace_of(tmp_path)
    assert len(events(trace, Kind.Connected)) == 8
    assert not events(trace, Kind.Sent, Kind.Subscribed)
    assert "DEBUG" in told(trace)["Demand and messages"]


def test_rotated_compressed_and_joined_logs_tell_the_same(tmp_path, chain):
    lines = CHAIN[1].read_bytes().splitlines(keepends=True)
    (tmp_path / "b.log.1").write_bytes(b"".join(lines[:90]))
    with gzip.open(tmp_path / "b.log.2.gz", "wb") as file:
        file.write(b"".join(lines[90:]))
    (tmp_path / "joined.log").write_bytes(CHAIN[0].read_bytes() + CHAIN[2].read_bytes())
    (tmp_path / "db-1.log").write_bytes(b"\x00\x01 a journal")
    parts = mq.trace_of(tmp_path)
    assert parts.digest() == chain.digest()
    assert "several logs in one" in told(parts)["Times of joined.log"]


@pytest.mark.parametrize("edition", ["5.18", "6.1"])
def test_logs_of_later_editions_tell_the_same(edition):
    """Recorded from 5.18.3 and 6.1.0 with their own layout: B is killed while it forwards, and C stopped."""
    trace = mq.trace_of(*(LOGS / f"{edition}-{name}.log.gz" for name in "ABC"))
    assert len(events(trace, Kind.Connected)) == 6
    ways = {(event.message, event.frm, event.to) for event in events(trace, Kind.Forwarded)}
    assert ways == {(no, *way) for no in range(1, 6) for way in (("A", "B"), ("B", "C"))}
    assert [event.broker for event in events(trace, Kind.Crashed)] == ["B"]
    assert not [what for what in told(trace) if what.startswith("Clock")], (
        "one that crosses twice tells no clock"
    )


def test_the_command_takes_rotated_logs(mqlab, tmp_path):
    lines = CHAIN[1].read_bytes().splitlines(keepends=True)
    (tmp_path / "B.log.1").write_bytes(b"".join(lines[:90]))
    with gzip.open(tmp_path / "B-2026-11-26.log.gz", "wb") as file:
        file.write(b"".join(lines[90:]))
    rest = [tmp_path / "B.log.1", tmp_path / "B-2026-11-26.log.gz"]
    whole = mqlab("run", *CHAIN, "--json")
    assert whole.returncode == 0, whole.stderr
    parts = mqlab("run", CHAIN[0], *rest, CHAIN[2], "--json")
    assert json.loads(parts.stdout)["undone"] == json.loads(whole.stdout)["undone"]


@pytest.mark.parametrize(("name", "is_log"), [
    ("activemq.log", True), ("a/activemq.log.12", True), ("activemq.log.2026-11-26.gz", True),
    ("activemq.log.gz", True), ("activemq-2026-11-26.log.gz", True), ("advisories.jsonl", True),
    ("my.log.json", False), ("log", False), ("activemq.xml", False), ("a.log.d/activemq.xml", False),
])  # fmt: skip
def test_a_log_is_known_by_its_name(name, is_log):
    assert inputs.are_logs([name]) == is_log


def test_a_clock_that_differs_is_told_and_can_be_moved(tmp_path, chain):
    late = tmp_path / "B.log"
    late.write_text(CHAIN[1].read_text(encoding="utf-8").replace(" 20:33", " 19:33"), encoding="utf-8")
    trace = mq.trace_of(CHAIN[0], late, CHAIN[2])
    assert re.match(r"B is at least 3599\.\d+ s behind A; pass shift=", told(trace)["Clock of B"])
    moved = mq.trace_of(CHAIN[0], late, CHAIN[2], shift={"B": "60min"})
    assert moved.digest() == chain.digest()


def test_times_with_a_zone_are_taken_as_they_say(tmp_path, chain):
    for path in CHAIN:
        text = path.read_text(encoding="utf-8").replace(" 20:33", " 21:33")
        (tmp_path / path.name).write_text(re.sub(r"(,\d{3}) \|", r"\1+0100 |", text), encoding="utf-8")
    trace = mq.trace_of(tmp_path)
    assert (trace.header["since"], trace.digest()) == (chain.header["since"], chain.digest())


@pytest.mark.parametrize(("content", "says"), [
    (b"", "(0 lines)"),
    (b"[tool.ruff]\nline-length = 112\n", "expected lines such as"),
    (b" INFO | Apache ActiveMQ 5.17.2 (A, ID:x-1) started\n", "give data/activemq.log"),
    (bytes(range(256)) * 50, "no line with a time tells of a broker"),
    (b"2026-13-45 20:32:55,450 | INFO | Apache ActiveMQ 5.17.2 (A, ID:x-1) started\n", "no line with a time"),
], ids=["empty", "other", "console", "binary", "no-day"])  # fmt: skip
def test_what_is_no_log_of_activemq_is_told(tmp_path, content, says):
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(BadFile) as caught:
        mq.trace_of(CHAIN[0], path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_other_bad_input_is_told(tmp_path):
    for bad in ((), (tmp_path,), (tmp_path / "none.log",)):
        with pytest.raises(BadFile):
            mq.trace_of(*bad)
    for shift, error in (({"X": "1s"}, UnknownName), ({"B": "soon"}, BadValue), ({"B": 3}, BadValue)):
        with pytest.raises(error):
            mq.trace_of(CHAIN[1], shift=shift)


def test_half_a_line_at_either_end_is_passed_over(tmp_path, chain):
    path = tmp_path / "A.log"
    path.write_bytes(b"D Connector\xff half\n" + CHAIN[0].read_bytes()[:-40])
    assert len(events(mq.trace_of(path), Kind.Connected)) == 2


def test_a_log_is_read_line_by_line_and_only_what_tells_is_kept(tmp_path):
    path = tmp_path / "A.log"
    other = (
        b"2026-11-26 20:33:30,000 | DEBUG | WriteChecker 10000ms elapsed since last write check. | org | x\n"
    )
    text = CHAIN[0].read_bytes()
    path.write_bytes(text[:2000] + b"\n" + other * 20_000 + text)
    log = lines.Log(path)
    log.read()
    assert log.lines > 20_000
    assert len(log.said) < 60


def test_a_log_is_loaded_saved_and_drawn_as_other_traces(tmp_path, chain):
    assert mq.load(*CHAIN).digest() == chain.digest()
    assert mq.load(CHAIN[0]).names["node"][0] == "A"
    mq.save(chain, tmp_path / "logs.parquet")
    again = mq.load(tmp_path / "logs.parquet")
    assert (again.digest(), again.undone) == (chain.digest(), chain.undone)
    mq.save(chain, tmp_path / "logs.html")
    assert "Logs of A, B and C" in (tmp_path / "logs.html").read_text(encoding="utf-8")
    with pytest.raises(BadValue):
        mq.run(chain)


def test_the_summary_tells_since_when_and_what_is_not_known(chain):
    told_ = str(chain)
    assert "what logs of A, B and C tell from 2026-11-26 20:33:27 on" in told_
    assert "seed" not in told_
    assert "not known  Crash of B: its log does not say that it stopped before its next start;" in told_


ADVISORIES = LOGS / "advisories.jsonl"


def test_advisories_as_json_lines_tell_of_consumers_and_bridges():
    """Dumped from 5.16.7 by a STOMP client with transformation: jms-advisory-json."""
    trace = mq.trace_of(ADVISORIES)
    came = [(one.kind.name, one.broker, one.frm) for one in events(trace, Kind.Subscribed, Kind.Unsubscribed)]
    here = [("C", "reader-c"), ("A", "B"), ("B", "C")]
    assert came[:3] == [("Subscribed", *one) for one in here]
    assert sorted(came[3:]) == sorted(("Unsubscribed", *one) for one in here)
    assert {one.destination for one in events(trace, Kind.Subscribed)} == {"queue://ORDERS"}
    bridges = [(one.kind.name, one.frm, one.to) for one in events(trace, Kind.BridgeUp, Kind.BridgeDown)]
    assert bridges == [("BridgeUp", "C", "B"), ("BridgeUp", "A", "B"), ("BridgeDown", "C", "B")]


@pytest.mark.parametrize("time", ["", '"timestamp": "0", ', '"time": null, '])
def test_an_advisory_without_a_time_is_told(tmp_path, time):
    path = tmp_path / "dump.jsonl"
    started = '"started": "true", "originBrokerName": "A", "body": {"BrokerInfo": {"brokerName": "B"}}'
    path.write_text(f'{{{time}"destination": "/topic/ActiveMQ.Advisory.NetworkBridge", {started}}}\n')
    with pytest.raises(BadFile, match="with a field time"):
        mq.trace_of(path)
    path.write_text(path.read_text().replace("{", '{"time": 1795727314123, ', 1).replace(time, ""))
    (up,) = events(mq.trace_of(path), Kind.BridgeUp)
    assert (up.frm, up.to) == ("A", "B")


def test_what_is_half_an_advisory_is_passed_over(tmp_path):
    path = tmp_path / "dump.jsonl"
    odd = '{"destination": "/topic/ActiveMQ.Advisory.Consumer.Queue.Q", "originBrokerName": "A", "body": %s}\n'
    path.write_text("".join(odd % body for body in ("[]", '"{"', '{"ConsumerInfo": 3}', "null")) + '{"x": \n')
    path.write_bytes(path.read_bytes() + ADVISORIES.read_bytes())
    assert mq.trace_of(path).digest() == mq.trace_of(ADVISORIES).digest()


def test_the_log_of_5_5_tells_the_same_in_other_words():
    """Of 5.5.1: three brokers in one process, so one log; B was stopped and started again."""
    trace = mq.trace_of(LOGS / "5.5.log")
    names = [(one.kind.name, one.link) for one in events(trace, Kind.Connected, Kind.Disconnected)]
    back = "B/dbc (duplex back)"
    up, down = "Connected", "Disconnected"
    assert names == [
        (up, "A/ab"), (up, back), (up, "B/dbc"), (down, back), (down, "B/dbc"), (down, "A/ab"),
        (up, back), (up, "B/dbc"), (up, "A/ab"), (down, "A/ab"), (down, back), (down, "B/dbc"),
    ]  # fmt: skip
    ways = [[trace.event(row).to for row in trace.rows_of(number)] for number in (1, 2, 3)]
    assert ways == [["A", "B", "C"]] * 3
    merged = [one.subscription for one in events(trace, Kind.Merged)]
    assert merged == ["queue://ORDERS at B by B/dbc"]
    assert not events(trace, Kind.Refused, Kind.Crashed)


def test_a_message_that_went_two_ways_has_two_paths(tmp_path):
    line = (
        "2026-11-26 20:33:32,548 | DEBUG | bridging ({0} -> {1}), consumer: {0}->{1}-1:1:1:1, destination: "
        "topic://T, brokerPath: [{2}], message: ID:m-1:1 | o.a.a.network | x\n"
    )
    path = tmp_path / "a.log"
    ways = ("A", "B", "ID:a-1"), ("B", "C", "ID:a-1, ID:b-1"), ("B", "D", "ID:a-1, ID:b-1")
    started = "2026-11-26 20:33:31,000 | INFO | Apache ActiveMQ 5.17.2 ({}, ID:{}-1) started | x\n"
    text = "".join(started.format(name, name.lower()) for name in "AB")
    path.write_text(text + "".join(line.format(*way) for way in ways))
    assert mq.trace_of(path).path(1) == [["A", "B", "C"], ["A", "B", "D"]]
