"""A trace: integer columns, the names the integers stand for, and what was run."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from mqlab.errors import UnknownName
from mqlab.spec.values import duration
from mqlab.trace import accounts, questions
from mqlab.trace.event import Event

FORMAT = 1

# name -> array type code. Times are microseconds; -1 means "none" in every other column.
COLUMNS: dict[str, str] = {
    "t": "q",  # when, us since the lab began
    "kind": "b",  # a `Kind`
    "msg": "i",  # the message's number, 1, 2, 3 ... in the order of sending
    "broker": "h",  # where: index into names["node"]
    "frm": "h",  # from which node (broker, producer, consumer)
    "to": "h",  # to which node
    "link": "h",  # over which bridge: index into names["link"]
    "dest": "h",  # index into names["dest"]
    "sub": "i",  # index into names["sub"]
    "hop": "b",  # brokers that have forwarded the message so far
    "age": "q",  # us since the message was sent
    "rule": "b",  # a `Rule`: why
    "cause": "i",  # row number of the event that led to this one
}

TABLES = ("node", "node_role", "node_home", "link", "link_from", "link_to", "dest", "sub")


class Names(dict[str, list[str]]):
    """The name tables of a trace; equally long lists describe the same things.

    `node`, `node_role` (broker, producer or consumer), `node_home` (a client's broker);
    `link`, `link_from`, `link_to` (broker names, in the direction of messages);
    `dest` (such as ``queue://TEST.FOO``); `sub` (a sentence for each subscription).
    """

    def __init__(self, tables: Mapping[str, list[str]] | None = None) -> None:
        super().__init__({name: list((tables or {}).get(name, ())) for name in TABLES})

    def copy(self) -> Names:
        """Return names that do not change with these."""
        return Names(self)


class Trace:
    """All that happened in one run. Nothing in it changes.

    `header` holds the lab file (`scenario`), the `seed` and the `edition`: enough to run it again.
    """

    def __init__(
        self, header: Mapping[str, Any], names: Mapping[str, list[str]],
        columns: Mapping[str, array[int]],
    ) -> None:  # fmt: skip
        self.header = {"format": FORMAT, **header}
        self.names = Names(names)
        self._columns = dict(columns)
        self._details: dict[int, Mapping[str, Any]] | None = None

    @classmethod
    def from_columns(
        cls, header: Mapping[str, Any], names: Mapping[str, list[str]],
        columns: Mapping[str, Any],
    ) -> Trace:  # fmt: skip
        """Return a trace over any integer sequences, such as those read from a file."""
        return cls(header, names, {n: array(code, columns[n]) for n, code in COLUMNS.items()})

    def column(self, name: str) -> array[int]:
        """Return one column; treat it as read-only."""
        if name not in self._columns:
            raise UnknownName.of("trace column", name, COLUMNS)
        return self._columns[name]

    def __len__(self) -> int:
        return len(self._columns["t"])

    def __repr__(self) -> str:
        return f"<mqlab.Trace of {len(self)} events, {self.digest()}>"

    def detail(self, row: int) -> Mapping[str, Any]:
        """Return what no column holds of an event, such as the role a broker changed to."""
        if self._details is None:
            self._details = {int(at): told for at, told in self.header.get("details", ())}
        return self._details.get(row, {})

    def event(self, row: int) -> Event:
        """Return the event of one row, with names in place of numbers."""
        return Event.of(self, row)

    def events(self) -> Iterator[Event]:
        """Yield every event in the order in which they happened."""
        return (self.event(row) for row in range(len(self)))

    def digest(self) -> str:
        """Return a hash over names and columns: equal traces, equal words (12 hex digits)."""
        sha = hashlib.sha256(json.dumps(self.names, sort_keys=True).encode())
        for name, code in COLUMNS.items():
            column = array(code, self._columns[name])
            if sys.byteorder == "big":
                column.byteswap()
            # int32 is what "i" is on every machine we run on; the item size is part of the hash.
            sha.update(f"{name}{column.itemsize}".encode() + column.tobytes())
        return sha.hexdigest()[:12]

    # Questions. Each is a short function over the columns in `questions`.

    def received(self) -> dict[str, int]:
        """Return how many messages each consumer received (redeliveries count)."""
        return questions.received(self)

    def message(self, name: str | int) -> int:
        """Return the number of a message called by number (7) or by producer ("P-7")."""
        return questions.number(self, name)

    def message_name(self, number: int) -> str:
        """Return the name of a message: its producer and how manieth of that one it is."""
        return questions.message_names(self)[number]

    def path(self, message: str | int) -> list[list[str]]:
        """Return the brokers that each copy of a message went through, its producer's first."""
        return questions.paths(self, self.message(message))

    def waiting(self) -> dict[str, dict[str, list[int]]]:
        """Return broker -> destination -> numbers of the messages that lie there at the end."""
        return questions.waiting(self)

    def stuck(self) -> dict[str, dict[str, list[int]]]:
        """Return those of `waiting` which no consumer of the network, as it is, can ever get.

        A message is stuck when it lies on a broker it was forwarded to and no subscription
        there may take it (Fuse 2, "Stuck messages").
        """
        return questions.stuck(self)

    def lost(self) -> list[int]:
        """Return the numbers of messages that no consumer got and no queue holds."""
        return questions.lost(self)

    def duplicated(self) -> dict[str, dict[int, int]]:
        """Return consumer -> message number -> copies, where there is more than one."""
        return questions.duplicated(self)

    # Accounts of a run with faults. Each is a short function over the columns in `accounts`.

    def redelivered(self) -> dict[str, list[int]]:
        """Return consumer -> numbers of the messages that came with the redelivered flag."""
        return accounts.redelivered(self)

    def unavailable(self, broker: str) -> list[tuple[int, int]]:
        """Return from when to when (us) a broker did not serve."""
        return accounts.unavailable(self, broker)

    def downtime(self) -> dict[str, list[tuple[int, int]]]:
        """Return client or destination -> from when to when (us) it had no broker."""
        return accounts.downtime(self)

    def master(self, name: str, at: int | str) -> list[str]:
        """Return who of the set *name* serves at a time such as ``"3s"``."""
        return accounts.masters(self, name, duration(at, "at"))

    def account(self) -> dict[int, dict[str, Any]]:
        """Return message number -> what became of it, why, and its time line."""
        return accounts.account(self)
