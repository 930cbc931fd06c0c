"""Traces of others: a file of events becomes a trace, by a mapping of its columns and of its words.

Every value has to fit; what does not is named, and then nothing is read. What such files seldom have is
found from the rest: how many hops a message has made, its age, and which event led to which.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mqlab.errors import BadFile, BadValue, UnknownName, nearest
from mqlab.replay import led, tabular
from mqlab.replay.led import Values
from mqlab.spec.plural import counted
from mqlab.trace import tables
from mqlab.trace.columns import COLUMNS, Names
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

UNITS = {"ns": 0.001, "us": 1, "ms": 1_000, "s": 1_000_000}
EPOCH = 10 * 365 * 86_400 * 1_000_000  # us: no run is so long; a time beyond it is a date
NEEDED = ("t_us", "kind", "message", "broker", "destination")
SHOWN = 5  # values that do not fit
# kind -> what an event of it must have
HAVE = {
    Kind.Sent: ("message", "from", "destination"),
    Kind.Enqueued: ("message", "broker"),
    Kind.Forwarded: ("message", "broker", "to"),
    Kind.Dispatched: ("message", "broker"),
    Kind.Received: ("message", "to"),
}
_NAMES = {name: table for name, (_, table) in tables.COLUMNS.items() if table not in ("", "kind", "rule")}
_NUMBERS = ("hops", "age_us", "cause")


def read(
    path: str | Path,
    columns: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    unit: str = "us",
    product: str = "activemq",
) -> Trace:
    """Return the trace that is in a file of others; see `mqlab.replay.read`."""
    if unit not in UNITS:
        raise UnknownName.of("unit of time", unit, UNITS)
    file = tabular.read(Path(path))
    chosen = _chosen(file, columns or {})
    fit = _Fit(file, chosen, kinds or {}, UNITS[unit])
    values = {name: fit.column(name) for name in chosen}
    ids = fit.numbered(values)
    fit.check(values, whole=bool(ids))
    if fit.wrong:
        raise BadFile(
            f"{path}: {_counted(len(fit.wrong))}, and nothing was read:\n  "
            + "\n  ".join(fit.wrong[:SHOWN] + ["..."] * (len(fit.wrong) > SHOWN))
        )
    if "cause" not in values:  # rows may be put in order: none is named by its place
        order = sorted(range(len(values["t_us"])), key=values["t_us"].__getitem__)
        values = {name: [column[row] for row in order] for name, column in values.items()}
    unused = [name for name in file.columns if name not in chosen.values()]
    about = {"file": Path(path).name, "unused": unused, **({"messages": ids} if ids else {})}
    header = {
        "product": product,
        "seed": 0,
        "scenario": {"title": Path(path).stem},
        "foreign": about,
    }
    return _trace(header, led.complete(values))


def _chosen(file: tabular.Columns, columns: Mapping[str, str]) -> dict[str, str]:
    """Return our column -> theirs; raises `UnknownName` for one that there is not."""
    for ours, theirs in columns.items():
        if ours not in tables.COLUMNS:
            raise UnknownName.of("column of a trace", ours, tables.COLUMNS)
        if theirs not in file.columns:
            raise UnknownName.of(f"column of {file.path.name}", theirs, file.columns)
    chosen = {
        name: columns.get(name, name) for name in tables.COLUMNS if name in columns or name in file.columns
    }
    missing = [name for name in NEEDED if name not in chosen]
    if missing:
        raise BadFile(
            f"{file.path}: no column mapped to {', '.join(missing)}; available: {', '.join(file.columns)}; "
            f"pass columns={{{missing[0]!r}: 'THEIR_NAME'}}"
        )
    return chosen


class _Fit:
    """Makes the values of a file ours, and keeps a sentence for each that cannot be."""

    def __init__(
        self, file: tabular.Columns, chosen: Mapping[str, str], kinds: Mapping[str, str], unit: float
    ) -> None:
        self.file, self.chosen, self.unit = file, chosen, unit
        self.kinds = {kind.name: kind for kind in Kind}
        for theirs, ours in kinds.items():
            if str(ours) not in Kind.__members__:
                raise UnknownName.of("kind of event", str(ours), Kind.__members__)
            self.kinds[theirs] = Kind[ours]
        self.wrong: list[str] = []

    def say(self, row: int, name: str, value: object, wanted: str) -> None:
        """Keep what does not fit: where it is, what it is, what it must be."""
        theirs = self.chosen.get(name, name)
        self.wrong.append(f"{self.file.place(row)}, column {theirs!r}: {value!r} is not {wanted}")

    def column(self, name: str) -> list[Any]:
        """Return a column of ours."""
        given = self.file.columns[self.chosen[name]]
        if name == "t_us":
            return self._times(given)
        if name == "message":
            return given
        take, wanted = self._taker(name)
        known: dict[object, object] = {None: take(None)}
        found = []
        for row, value in enumerate(given):
            try:
                if value not in known:
                    known[value] = take(value)
                found.append(known[value])
            except (TypeError, ValueError, KeyError, OverflowError):
                self.say(row, name, value, wanted + _meant(value, self.kinds if name == "kind" else ()))
                found.append(known[None])
        return found

    def _taker(self, name: str) -> tuple[Callable[[object], object], str]:
        """Return what makes a value ours, and what it expects, in words."""
        if name == "kind":
            return (
                lambda value: self.kinds[value] if value is not None else None,
                "a kind of event; write kinds={'THEIRS': 'OURS'}",
            )
        if name == "rule":
            return (
                lambda value: Reason[value] if value is not None else Reason.none,
                "a rule (mq.Reason)",
            )
        if name in _NUMBERS:
            return _number, "a whole number of 0 or more"
        return _destination if name == "destination" else _name, "a name"

    def _times(self, given: list[object]) -> list[int]:
        """Return microseconds; dates, and numbers that are one, count from the first."""
        found = []
        for row, value in enumerate(given):
            try:
                found.append(_time(value, self.unit))
            except (TypeError, ValueError, OverflowError):
                self.say(row, "t_us", value, "a time: a number, or a date such as 2026-01-31T12:00:00Z")
                found.append(0)
        first = min(found, default=0)
        return [time - first for time in found] if first >= EPOCH and not self.wrong else found

    def numbered(self, values: dict[str, list[Any]]) -> list[object]:
        """Let messages have numbers; returns what they were called, in order, if they had none."""
        given = values["message"]
        try:
            numbers = [_number(value) for value in given]
        except (TypeError, ValueError):
            ids = list(dict.fromkeys(value for value in given if value is not None))
            place = {name: no for no, name in enumerate(ids, 1)}
            values["message"] = [place.get(value) for value in given]
            for row, value in enumerate(given):
                if not isinstance(value, (str, int, type(None))):
                    self.say(row, "message", value, "an id of a message: a text or a whole number")
            return ids
        values["message"] = numbers
        return []

    def check(self, values: Values, whole: bool) -> None:
        """Look at what belongs together in an event, and in a message.

        Numbers beyond those that were sent are advisories, unless the file is *whole*: has messages alone.
        """
        sent = {
            no
            for no, kind in zip(values["message"], values["kind"], strict=True)
            if kind in (Kind.Sent, Kind.Failed)
        }
        last, told = max(sent - {None}, default=0), set[object]()
        for row, (kind, no, time) in enumerate(
            zip(values["kind"], values["message"], values["t_us"], strict=True)
        ):
            if kind is None:
                if self.file.columns[self.chosen["kind"]][row] is None:
                    self.say(row, "kind", None, "a kind of event")
                continue
            for name in HAVE.get(kind, ()):
                if name not in values or values[name][row] is None:
                    self.say(row, name, None, f"what an event {kind.name} must have")
            if no is not None and no not in sent and no not in told and (whole or no <= last or not last):
                told.add(no)
                self.say(
                    row,
                    "message",
                    self.file.columns[self.chosen["message"]][row],
                    "sent anywhere: a message begins with an event Sent",
                )
            if time < 0:
                self.say(row, "t_us", time, "0 or more")
            cause = values["cause"][row] if "cause" in values else None
            if cause is not None and cause >= row:
                self.say(row, "cause", cause, "the row of an earlier event")
            if "cause" in values and row and time < values["t_us"][row - 1]:
                self.say(row, "t_us", time, "as late as the row before, and causes name rows: sort it")


def _counted(wrong: int) -> str:
    return "1 value does not fit" if wrong == 1 else f"{counted(wrong, 'value does', 'values do')} not fit"


def _meant(value: object, known: Any) -> str:
    close = nearest(value, known) if isinstance(value, str) else None
    return f" (did you mean {close}?)" if close else ""


def _time(value: object, unit: float) -> int:
    if isinstance(value, str):
        text = value.strip()
        value = dt.datetime.fromisoformat(text) if "T" in text or ":" in text else float(text)
    if isinstance(value, dt.datetime):
        since = value.replace(tzinfo=value.tzinfo or dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return since // dt.timedelta(microseconds=1)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(value)
    return int(value * unit) if isinstance(value, int) and unit >= 1 else round(value * unit)


def _number(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
        raise TypeError(value)
    number = int(value)
    if not 0 <= number < 1 << 31:
        raise ValueError(value)
    return number


def _name(value: object) -> str | None:
    if isinstance(value, (bool, float)) or not isinstance(value, (str, int, type(None))):
        raise TypeError(value)
    return None if value is None else str(value)


def _destination(value: object) -> str | None:
    name = _name(value)
    return name if name is None or "://" in name else f"queue://{name}"


def _trace(header: Mapping[str, object], values: Values) -> Trace:
    names, numbers = led.names_of(values), dict[str, list[int]]()
    for name, (column, table) in tables.COLUMNS.items():
        if name in _NAMES:
            place = {text: no for no, text in reversed(list(enumerate(names[table])))}
            numbers[column] = [-1 if text is None else place[text] for text in values[name]]
        elif name in tables.ABSENT:
            numbers[column] = [-1 if number is None else number for number in values[name]]
        else:
            numbers[column] = [int(number or 0) for number in values[name]]
    try:
        columns = {name: array(code, numbers[name]) for name, code in COLUMNS.items()}
    except OverflowError as error:
        raise BadValue(f"this trace is too large: {error}") from None
    return Trace(header, Names(names), columns)
