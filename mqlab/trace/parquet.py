"""A trace as an Arrow table and as one Parquet file.

Integers only, zstd, delta packing for the two columns that grow (measured: 10.6 bytes an event);
names and header are JSON in the schema's metadata. The same trace gives the same bytes.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import BadFile
from mqlab.trace.columns import COLUMNS, FORMAT
from mqlab.trace.tables import arrow
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

_BITS = {"b": "int8", "h": "int16", "i": "int32", "q": "int64"}
DELTA = ("t", "msg")
KEY = b"mqlab"
GROUP = 1 << 18  # rows that are read at once: a window takes a quarter of the time that 1 << 20 take


def schema(metadata: dict[bytes, bytes] | None = None) -> pa.Schema:
    """Return the schema of every trace."""
    pa = arrow()
    types = {name: getattr(pa, _BITS[code])() for name, code in COLUMNS.items()}
    return pa.schema([pa.field(n, t, nullable=False) for n, t in types.items()], metadata)


def table_of(trace: Trace) -> pa.Table:
    """Return the trace's columns as a table, without copying, names and header beside them."""
    about = {"format": FORMAT, "header": trace.header, "names": trace.names}
    columns = {name: trace.column(name) for name in COLUMNS}
    return as_table(columns, {KEY: json.dumps(about, sort_keys=True).encode()})


def as_table(columns: Mapping[str, Sized], metadata: dict[bytes, bytes] | None = None) -> pa.Table:
    """Return columns as a table, without copying."""
    pa = arrow()
    shape = schema(metadata)
    size = len(columns["t"])
    arrays = [
        pa.Array.from_buffers(field.type, size, [None, pa.py_buffer(columns[field.name])]) for field in shape
    ]
    return pa.table(arrays, schema=shape)


def check(found: pa.Schema, where: str) -> None:
    """Raise `BadFile` that names each column of *found* which is no trace's; narrower integers may be widened.

    An older mqlab wrote `hop` with 8 bits.
    """
    types = arrow().types
    wanted, given = {f.name: f.type for f in schema()}, {f.name: f.type for f in found}
    wrong = [f"{name} is missing" for name in wanted if name not in given]
    wrong += [f"{name} is not a column of a trace" for name in given if name not in wanted]
    for name, kind in given.items():
        most = wanted.get(name)
        if most is not None and not (types.is_signed_integer(kind) and kind.bit_width <= most.bit_width):
            wrong.append(f"{name} is {kind} and must be {most}")
    if wrong:
        raise BadFile(
            f"{where}: not the events of a trace (columns: {'; '.join(wrong)}); "
            "to read foreign event files use mqlab.replay.read"
        )


def other_format(found: object) -> str:
    """Return what to say of a trace of another format than ours."""
    newer = isinstance(found, int) and found > FORMAT
    do = "install a newer mqlab" if newer else "re-create it with this version"
    return f"trace format {found}; this mqlab reads {FORMAT}: {do}"


def trace_of(table: pa.Table, where: str = "table") -> Trace:
    """Return the trace of a table; raises `BadFile` for a table that is none."""
    about = (table.schema.metadata or {}).get(KEY)
    if about is None:
        raise BadFile(
            f"{where}: not a trace of mqlab; make one with mqlab run ... --trace FILE, "
            "or read it with mqlab.replay.read"
        )
    try:
        known = json.loads(about)
        form, header, names = known["format"], known.get("header"), known.get("names")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"{where}: its trace metadata is damaged: {error!r}") from None
    if form != FORMAT:
        raise BadFile(f"{where}: {other_format(form)}")
    check(table.schema, where)
    columns = {}
    for name, code in COLUMNS.items():
        chunks = table.column(name).cast(getattr(arrow(), _BITS[code])()).to_numpy()
        columns[name] = array(code, chunks.tobytes())
    return Trace(header, names, columns)


def write(table: pa.Table, path: Path) -> None:
    """Write a table of events beside *path*, then move it there."""
    pa = arrow()
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pa.parquet.write_table(
            table,
            beside,
            compression="zstd",
            row_group_size=GROUP,
            write_page_checksum=True,
            use_dictionary=[name for name in COLUMNS if name not in DELTA],
            column_encoding=dict.fromkeys(DELTA, "DELTA_BINARY_PACKED"),
        )
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def save(trace: Trace, path: str | Path) -> None:
    """Write a trace as one Parquet file; nothing half-written is left behind."""
    write(table_of(trace), Path(path))


def load(path: str | Path) -> Trace:
    """Read a trace from a Parquet file; raises `BadFile`."""
    pa = arrow()
    try:
        table = pa.parquet.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadFile(f"{path}: cannot be read as Parquet: {error}") from None
    return trace_of(table, str(path))
