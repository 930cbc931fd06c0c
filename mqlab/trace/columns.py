"""The columns of a trace, the names their integers stand for, and what was run."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from mqlab.errors import UnknownName, UnknownRow
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.values import Duration
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from numpy import signedinteger
    from numpy.typing import NDArray

    from mqlab.spec.action import Action

    Numbers = NDArray[signedinteger]  # a column, or a part of it, in numpy

FORMAT = 1
WORTH = 50_000  # events from which on it pays to import numpy
QUICKER = 2_500  # and from which on numpy is quicker where it is imported already, as in a task of a sweep

# name -> array type code. Times are microseconds; -1 means "none" in every other column.
COLUMNS: dict[str, str] = {
    "t": "q",  # when, us since the lab began
    "kind": "b",  # a `Kind`
    "msg": "i",  # the message's number, 1, 2, 3 ... in the order of sending
    "broker": "h",  # where: index into names["node"]
    "frm": "h",  # from which node (broker, producer, consumer)
    "to": "h",  # to which node
    "link": "i",  # over which bridge: index into names["link"]; 182 brokers may have 32,942
    "dest": "h",  # index into names["dest"]
    "sub": "i",  # index into names["sub"]
    "hop": "h",  # brokers that have forwarded the message so far
    "age": "q",  # us since the message was sent
    "rule": "b",  # a `Reason`: why
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


@dataclass(eq=False)
class GrowingColumns:
    """The columns of a recorder: rows are appended, and none that is there changes.

    A trace that has taken a column keeps it as it is: the recorder goes on with a copy of that one.
    """

    columns: dict[str, array[int]] = field(
        default_factory=lambda: {name: array(code) for name, code in COLUMNS.items()}
    )
    taken: set[str] = field(default_factory=set)

    def extend(self, more: Mapping[str, array[int]]) -> None:
        """Append rows."""
        for name in self.taken:
            self.columns[name] = self.columns[name][:]
        self.taken.clear()
        for name, column in more.items():
            self.columns[name].extend(column)


class LentColumns(dict[str, "array[int]"]):
    """The first *count* rows of columns that grow; each column is taken when it is first asked for.

    So a trace after each step costs nothing but what is asked of it (13 ms with 10^6 events when all
    columns were copied).
    """

    def __init__(self, source: GrowingColumns, count: int) -> None:
        super().__init__()
        self.source, self.count = source, count

    def __missing__(self, name: str) -> array[int]:
        column = self.source.columns[name]
        if len(column) > self.count:
            column = column[: self.count]
        else:
            self.source.taken.add(name)
        self[name] = column
        return column

    def __reduce__(self) -> tuple[type[dict[str, array[int]]], tuple[dict[str, array[int]]]]:
        return dict, ({name: self[name] for name in COLUMNS},)


class Columns:
    """All that was written down of one run. Nothing in it changes.

    `about` is what of the header was known at once, such as what became of calls; *later* returns the rest when
    somebody asks for it. `script` is what it did, of a run that was played here.
    """

    def __init__(
        self,
        header: JsonObject,
        names: Mapping[str, list[str]],
        columns: Mapping[str, array[int]],
        later: Callable[[], JsonObject] | None = None,
        script: tuple[Action, ...] | None = None,
    ) -> None:
        self.about: JsonDict = {"format": FORMAT, **header}
        self._later, self.script = later, script
        self.product = str(header.get("product", "activemq"))
        # Which part of a run it is, such as "the events of message 7"; empty for a whole run.
        part = header.get("part", "")
        self.part = part if isinstance(part, str) else "some of its events"  # of an older version
        self.names = Names(names)
        self._columns = columns if isinstance(columns, LentColumns) else dict(columns)
        self._count = columns.count if isinstance(columns, LentColumns) else len(columns["t"])
        self._details: dict[int, Mapping[str, object]] | None = None
        self._rows: dict[tuple[int, ...], array[int]] = {}

    @property
    def header(self) -> JsonDict:
        """What was run: the lab file (`scenario`), the `seed` and the `edition`, enough to run it again."""
        if self._later is not None:
            self.about |= self._later()
            self._later = None
        return self.about

    def __getstate__(self) -> dict[str, object]:
        """Return what a copy, or another process, has of it: the whole header."""
        return {**vars(self), "about": self.header, "_later": None, "script": None}

    @classmethod
    def from_columns(
        cls,
        header: Mapping[str, object],
        names: Mapping[str, list[str]],
        columns: Mapping[str, Iterable[int]],
    ) -> Self:
        """Return a trace over any integer sequences, such as those read from a file."""
        return cls(header, names, {n: array(code, columns[n]) for n, code in COLUMNS.items()})

    def column(self, name: str) -> array[int]:
        """Return one column; treat it as read-only."""
        if not isinstance(name, str) or name not in COLUMNS:
            raise UnknownName.of("trace column", name, COLUMNS)
        return self._columns[name]

    def __len__(self) -> int:
        return self._count

    def row(self, row: int) -> list[int]:
        """Return the integers of one row, in the order of `COLUMNS`; raises `UnknownRow` beyond the last."""
        place = self._place(row)
        lent = self._columns
        columns = lent.source.columns if isinstance(lent, LentColumns) else lent  # to read takes nothing
        return [columns[name][place] for name in COLUMNS]

    def _place(self, row: int) -> int:
        try:
            return range(self._count)[row]
        except (IndexError, TypeError):
            raise UnknownRow(f"no event {row}: the trace has {self._count}, counted from 0") from None

    def detail(self, row: int) -> JsonObject:
        """Return what no column holds of an event, such as the role a broker changed to.

        Raises `UnknownRow` beyond the last.
        """
        if self._details is None:
            self._details = {int(at): told for at, told in self.about.get("details", ())}
        return self._details.get(self._place(row), {})

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

    @property
    def by_numpy(self) -> bool:
        """Whether numpy is quicker for so many events: imported already, or installed and worth its import."""
        if "numpy" in sys.modules:
            return len(self) >= QUICKER
        return len(self) >= WORTH and find_spec("numpy") is not None

    def rows(self, *kinds: int) -> array[int]:
        """Return the rows of the events of some kinds, in order."""
        if kinds not in self._rows:
            find = _found_by_numpy if self.by_numpy else _found
            self._rows[kinds] = find(self._columns["kind"], tuple(map(Kind, kinds)))
        return self._rows[kinds]

    @property
    def end(self) -> Duration:
        """When the last event happened; 0 if there is none."""
        if not self.by_numpy:
            return Duration(max(self._columns["t"], default=0))
        import numpy as np

        return Duration(np.asarray(self._columns["t"]).max())

    def tallied(self, kinds: tuple[int, ...], *columns: str) -> dict[tuple[int, ...], tuple[int, int]]:
        """Return what events of some kinds have in some columns, with the first row of each and their number.

        They are in order of the first rows.
        """
        rows, found = self.rows(*kinds), dict[tuple[int, ...], tuple[int, int]]()
        values = [self.column(name) for name in columns]
        if self.by_numpy and len(rows):
            return _tallied_by_numpy(rows, values)
        for row in rows:
            key = tuple([column[row] for column in values])
            first, count = found.get(key, (row, 0))
            found[key] = first, count + 1
        return found


def _tallied_by_numpy(rows: array[int], columns: list[array[int]]) -> dict[tuple[int, ...], tuple[int, int]]:
    import numpy as np

    places = np.asarray(rows)
    values = [np.asarray(column)[places].astype(np.int64) for column in columns]
    keys = np.zeros(len(places), np.int64)
    for one in values:  # one number for all of them, from -1 on
        keys = keys * (int(one.max()) + 2) + one + 1
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    return {
        tuple(int(one[at]) for one in values): (int(places[at]), int(many))
        for at, many in sorted(zip(first.tolist(), count.tolist(), strict=True))
    }


@lru_cache(maxsize=64)
def _marks(wanted: tuple[int, ...]) -> bytes:
    """Return 1 for each code that is wanted, 0 for the others."""
    return bytes(code in wanted for code in range(256))


def _found(kinds: array[int], wanted: tuple[int, ...]) -> array[int]:
    data, found = kinds.tobytes().translate(_marks(wanted)), array("i")
    row = data.find(1)
    while row >= 0:
        found.append(row)
        row = data.find(1, row + 1)
    return found


def _found_by_numpy(kinds: array[int], wanted: tuple[int, ...]) -> array[int]:
    import numpy as np

    if len(wanted) == 1:  # a quarter of the time of what follows
        hits = np.asarray(kinds) == wanted[0]
    else:
        hits = np.frombuffer(kinds.tobytes().translate(_marks(wanted)), bool)
    rows = np.flatnonzero(hits)
    return array("i", rows.astype("int32").tobytes())
