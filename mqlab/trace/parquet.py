"""A trace as an Arrow table and as one Parquet file.

Integers only, zstd, delta packing for the two columns that grow (measured: 10.6 bytes an event);
names and header are JSON in the schema's metadata. The same trace gives the same bytes.
"""

from __future__ import annotations

import json
import os
from array import array
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


def schema(metadata: dict[bytes, bytes] | None = None) -> pa.Schema:
    """Return the schema of every trace."""
    pa = arrow()
    types = {name: getattr(pa, _BITS[code])() for name, code in COLUMNS.items()}
    return pa.schema([pa.field(n, t, nullable=False) for n, t in types.items()], metadata)


def table_of(trace: Trace) -> pa.Table:
    """Return the trace's columns as a table, without copying, names and header beside them."""
    pa = arrow()
    about = {"format": FORMAT, "header": trace.header, "names": trace.names}
    shape = schema({KEY: json.dumps(about, sort_keys=True).encode()})
    columns = [
        pa.Array.from_buffers(
            field.type, len(trace), [None, pa.py_buffer(trace.column(field.name))]
        )
        for field in shape
    ]
    return pa.table(columns, schema=shape)


def trace_of(table: pa.Table, where: str = "table") -> Trace:
    """Return the trace of a table; raises `BadFile` for a table that is none."""
    about = (table.schema.metadata or {}).get(KEY)
    if about is None:
        raise BadFile(f"{where}: not a trace of mqlab; write one with mqlab run ... --trace FILE")
    known = json.loads(about)
    if known["format"] != FORMAT:
        raise BadFile(f"{where}: trace format {known['format']}; this mqlab reads {FORMAT}")
    columns = {}
    for name, code in COLUMNS.items():
        chunks = table.column(name).cast(getattr(arrow(), _BITS[code])()).to_numpy()
        columns[name] = array(code, chunks.tobytes())
    return Trace(known["header"], known["names"], columns)


def write(table: pa.Table, path: Path) -> None:
    """Write a table of events beside *path*, then move it there."""
    pa = arrow()
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pa.parquet.write_table(
            table, beside, compression="zstd", row_group_size=1 << 20, write_page_checksum=True,
            use_dictionary=[name for name in COLUMNS if name not in DELTA],
            column_encoding=dict.fromkeys(DELTA, "DELTA_BINARY_PACKED"),
        )  # fmt: skip
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
