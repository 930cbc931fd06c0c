"""Logs of several brokers, merged by their times, as one trace.

At level INFO they tell of brokers and bridges; DEBUG of `org.apache.activemq.network` adds demand and each
message that crossed a bridge. What they do not tell is said by the trace (`undone`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mqlab.errors import BadFile, UnknownName
from mqlab.products.activemq.logs.events import Teller
from mqlab.products.activemq.logs.lines import Log, Said
from mqlab.products.activemq.logs.names import Known
from mqlab.spec.plural import counted
from mqlab.spec.values import duration, told_time
from mqlab.trace.trace import Trace

_JOURNAL = re.compile(r"db-.*\d+\.log")  # of KahaDB
WITH_TIMES = "give data/activemq.log, whose lines have times, or advisories with a field time"
EXPECTED = (
    "expected lines such as '2026-11-26 20:32:55,450 | INFO  | Apache ActiveMQ 5.17.2 (A, ID:...) started'"
)


def read(paths: Sequence[Path], shift: Mapping[str, str] | None = None) -> Trace:
    """Return the trace of the logs at some paths; *shift* is broker -> how far its times are to be moved.

    Raises `BadFile` for what is no log of ActiveMQ, `UnknownName` for a broker that none of them has.
    """
    logs = [
        log for path in dict.fromkeys(paths) for log in (_in_folder(path) if path.is_dir() else [_log(path)])
    ]
    logs.sort(key=lambda log: log.first)  # of rotated ones the oldest has the greatest number
    moved = _moved(logs, shift or {})
    known = Known.of(logs, moved)
    found = sorted(
        (*moved, *crashes(moved, known.remotes)), key=lambda one: (one.time, one.what != "crashed", one.broker)
    )
    teller = Teller(known, found[0].time)
    for one in found:
        teller.tell(one)
    began = dt.datetime.fromtimestamp(found[0].time / 1e6, dt.UTC).replace(tzinfo=None)
    brokers = _together(sorted(teller.seen))
    return teller.recorder.trace(
        {
            "product": "activemq",
            "scenario": {"title": f"Logs of {brokers}"},
            "part": f"what logs of {brokers} tell from {began:%Y-%m-%d %H:%M:%S} on",
            "since": began.isoformat(sep=" ", timespec="milliseconds"),
            "foreign": {"files": [str(log.path) for log in logs], "messages": list(teller.messages)},
            "details": teller.details,
            "unknown": list(untold(logs, found, known, teller.without_destination)),
        }
    )


def _log(path: Path) -> Log:
    log = Log(path)
    log.read()
    if not log.said:
        what = f"no line with a time tells of a broker of ActiveMQ or a bridge ({counted(log.lines, 'line')})"
        raise BadFile(f"{path}: {what}; {WITH_TIMES if log.timeless else EXPECTED}")
    return log


def _in_folder(folder: Path) -> list[Log]:
    """Return the logs in a folder, rotated ones too; a broker has other files there that are called so."""
    paths = sorted(one for one in folder.rglob("*.log*") if one.is_file() and not _JOURNAL.match(one.name))
    logs = [Log(path) for path in paths]
    for log in logs:
        log.read()
    if not any(log.said for log in logs):
        raise BadFile(f"{folder}: no log of ActiveMQ in this folder, such as activemq.log; {EXPECTED}")
    return [log for log in logs if log.said]


def _moved(logs: Iterable[Log], shift: Mapping[str, str]) -> list[Said]:
    said = [one for log in logs for one in log.said]
    brokers = {one.broker for one in said}
    for name in shift:
        if name not in brokers:
            raise UnknownName.of("broker of these logs", name, brokers)
    by = {name: _signed(value) for name, value in shift.items()}
    return [replace(one, time=one.time + by.get(one.broker, 0)) for one in said]


def _signed(value: str) -> int:
    """Return a duration that may be negative, such as "-60min" (us)."""
    minus = value.strip().startswith("-")
    return -int(duration(value.strip()[1:])) if minus else int(duration(value))


def _together(names: Sequence[str]) -> str:
    first = names[:5] if len(names) < 7 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join(filter(None, (", ".join(first[:-1]), *first[-1:])))


ENDS = ("stopping", "stopped")
DEBUG = ("demand", "merged", "gone", "replaced", "refused", "bridging")
SKEW = 1_000_000  # us by which a message may be late in a log without a word


def crashes(said: Sequence[Said], remotes: Mapping[tuple[str, str], str]) -> Iterator[Said]:
    """Yield that a broker crashed: it starts again, and had not said that it stops.

    When is not told. It is then at the first bridge to it that broke, or else with the last thing that it said.
    """
    own = defaultdict[str, list[Said]](list)
    losses = defaultdict[str, list[int]](list)
    for one in sorted(said, key=lambda one: one.time):
        own[one.broker].append(one)
        if one.what == "lost" and one.words["side"] == "remote":
            losses[remotes.get((one.broker, one.words["address"]), "")].append(one.time)
    for broker, ones in own.items():
        alive = False
        for before, one in zip([ones[0], *ones], ones, strict=False):
            if one.what == "starting" and alive:
                seen = next((time for time in losses[broker] if before.time <= time <= one.time), before.time)
                words = {"broker": broker, "after": str(before.time), "before": str(one.time)}
                yield Said(seen, "crashed", words, one.file, one.line)
            alive = one.what not in (*ENDS, "starting", "down") or (alive and one.what == "down")


def untold(logs: Sequence[Log], said: Sequence[Said], known: Known, subs: int) -> Iterator[dict[str, str]]:
    """Yield what these logs do not tell, as rows of `Trace.undone`."""
    speakers = {one.broker for one in said}
    others = sorted(set(known.remotes.values()) | set(known.ids.values()) - speakers)
    for name in (name for name in others if name not in speakers):
        yield {"what": f"Broker {name}", "why": "no log of it is here; this is what the others say of it"}
    yield from _levels(said, speakers)
    for one in said:
        if one.what == "crashed":
            gap = told_time(int(one.words["before"]) - int(one.words["after"]))
            why = f"its log does not say that it stopped before its next start; the time is known to {gap}"
            yield {"what": f"Crash of {one.broker}", "why": why}
    if subs:
        yield {"what": counted(subs, "subscription"), "why": "no line tells their destination"}
    for broker, connectors in known.connectors.items():
        if len(connectors) > 1 and not all(connectors.values()):
            yield {
                "what": f"Connectors of {broker}",
                "why": "its log does not tell which of them each bridge is of",
            }
    yield from _clocks(logs, said, known)


def _levels(said: Iterable[Said], speakers: Iterable[str]) -> Iterator[dict[str, str]]:
    debug = {one.broker for one in said if one.what in DEBUG}
    silent = sorted(set(speakers) - debug)
    where = f"in the log of {', '.join(silent)} " if debug and silent else ""
    if silent:
        why = f"nothing {where}tells of them; level DEBUG of org.apache.activemq.network does"
        yield {"what": "Demand and messages", "why": why}
    if debug:
        why = "logs tell of those that cross a bridge alone: not when they were sent, nor who consumed them"
        yield {"what": "Messages", "why": why}


def _clocks(logs: Sequence[Log], said: Iterable[Said], known: Known) -> Iterator[dict[str, str]]:
    """Yield what is odd with times: zones, steps back, a message that arrives before it is forwarded."""
    if len({zone for log in logs for zone in log.zoned}) > 1:
        why = "some have a time zone and some have none, which are taken as UTC; pass shift={'A': '-60min'}"
        yield {"what": "Times", "why": why}
    for log in logs:
        if log.back:
            line, by = log.back
            why = (
                f"at line {line} they go back by {told_time(by)}: a clock that was set, or several logs in one"
            )
            yield {"what": f"Times of {log.path.name}", "why": why}
    first: dict[tuple[str, str], int] = {}
    early: dict[tuple[str, str], int] = {}
    for one in (one for one in said if one.what == "bridging"):
        path = [known.ids.get(id_.strip(" []"), "") for id_ in one.words["path"].split(",")]
        message = one.words["message"]
        first.setdefault((message, one.broker), one.time)
        for before in path[:-1]:
            early.setdefault((before, one.broker), 0)
    sent = set[tuple[str, str, str]]()
    for one in (one for one in said if one.what == "bridging"):
        message, to = one.words["message"], one.words["remote"]
        again = (message, one.broker, to) in sent  # what was not answered before a crash crosses a second time
        sent.add((message, one.broker, to))
        if (message, to) in first and not again:
            pair = one.broker, to
            early[pair] = max(early.get(pair, 0), one.time - first[message, to])
    for (ahead, other), by in early.items():
        if by > SKEW:
            shift = f"shift={{{other!r}: '{told_time(by).replace(' ', '')}'}}"
            why = f"{other} is at least {told_time(by)} behind {ahead}; pass {shift}"
            yield {"what": f"Clock of {other}", "why": why}
