"""Logs of several brokers, merged by their times, as one trace.

At level INFO they tell of brokers and bridges; DEBUG of `org.apache.activemq.network` adds demand and each
message that crossed a bridge. What they do not tell is said by the trace (`undone`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mqlab.errors import BadFile, UnknownName
from mqlab.products.activemq.logs.events import Teller
from mqlab.products.activemq.logs.gaps import crashes, untold
from mqlab.products.activemq.logs.lines import Log, Said
from mqlab.products.activemq.logs.names import Known
from mqlab.spec.plural import counted
from mqlab.spec.values import duration
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
