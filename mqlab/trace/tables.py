"""A trace as a table for others: names in place of numbers, and units in the names of columns."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from mqlab.errors import MissingExtra
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

    from mqlab.trace.trace import Trace

# Column of the table -> that of the trace, and the table of names that its numbers point into.
COLUMNS = {
    "t_us": ("t", ""), "kind": ("kind", "kind"), "message": ("msg", ""), "broker": ("broker", "node"),
    "from": ("frm", "node"), "to": ("to", "node"), "link": ("link", "link"),
    "destination": ("dest", "dest"), "subscription": ("sub", "sub"), "hops": ("hop", ""),
    "age_us": ("age", ""), "rule": ("rule", "rule"), "cause": ("cause", ""),
}  # fmt: skip
ABSENT = ("message", "cause")  # of numbers, those in which -1 is none


def arrow() -> ModuleType:
    """Return pyarrow; raises `MissingExtra` where it is not installed."""
    with MissingExtra.told("lab"):
        import pyarrow
        import pyarrow.parquet
    found: ModuleType = pyarrow
    return found


def to_arrow(trace: Trace) -> pa.Table:
    """Return a row for each event; what does not apply is null, names are dictionaries."""
    pa = arrow()
    names = {
        **trace.names,
        "kind": [kind.name for kind in Kind],
        "rule": [rule.name for rule in Reason],
    }
    columns = {name: _column(pa, trace, *of, name in ABSENT) for name, of in COLUMNS.items()}
    return pa.table(
        {
            name: pa.DictionaryArray.from_arrays(column, pa.array(names[of], pa.string())) if of else column
            for (name, (_, of)), column in zip(COLUMNS.items(), columns.values(), strict=True)
        }
    )


def _column(pa: ModuleType, trace: Trace, column: str, of: str, absent: bool) -> object:
    """Return a column of numbers, in which -1 is null where it stands for none."""
    values = trace.column(column)
    kind = getattr(pa, {1: "int8", 2: "int16", 4: "int32", 8: "int64"}[values.itemsize])()
    found = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
    if not (of or absent):
        return found
    import pyarrow.compute as pc

    return pc.if_else(pc.less(found, 0), pa.scalar(None, kind), found)


def to_pandas(trace: Trace) -> DataFrame:
    """Return the same as a pandas frame: names are categories, numbers that may be missing are `Int32`."""
    with MissingExtra.told("spark"):
        import pandas as pd
    return to_arrow(trace).to_pandas(types_mapper={arrow().int32(): pd.Int32Dtype()}.get)
