"""Files of others as columns of plain values: JSON lines, CSV, Parquet, each row with its place there."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mqlab.errors import BadFile
from mqlab.spec.plural import counted
from mqlab.trace import tables


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file, None for what is empty; `unit` and `at` say where a row stands: line 17."""

    path: Path
    columns: dict[str, list[Any]]
    unit: str
    at: list[int] | range

    def place(self, row: int) -> str:
        """Return where a row stands in the file."""
        return f"{self.unit} {self.at[row]}"


def read(path: Path) -> Columns:
    """Read a file by the end of its name; raises `BadFile` for one that is damaged, or of another kind."""
    reader = _READERS.get(path.suffix.lower())
    if path.is_dir():
        raise BadFile(f"{path} is a folder; a trace folder of mqlab is opened with mq.replay.open")
    if reader is None:
        raise BadFile(f"{path}: unsupported file type; expected one of {', '.join(_READERS)}")
    try:
        return reader(path)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error}") from None
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: not UTF-8 at byte {error.start}; write the file in UTF-8") from None


def _json_lines(path: Path) -> Columns:
    rows, at = list[dict[str, object]](), list[int]()
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise BadFile(f"{path}, line {number}: not JSON: {error}") from None
            if not isinstance(row, dict):
                raise BadFile(f"{path}, line {number}: write an object on each line, not {line.strip()[:60]}")
            rows.append(row)
            at.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    return Columns(path, {name: [row.get(name) for row in rows] for name in names}, "line", at)


def _csv(path: Path) -> Columns:
    rows, at = list[list[str]](), list[int]()
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            head = next(reader, [])
            if len(set(head)) < len(head):
                raise BadFile(f"{path}, line 1: duplicate column names: {', '.join(head)}")
            for row in reader:
                if row and len(row) != len(head):
                    raise BadFile(
                        f"{path}, line {reader.line_num}: {counted(len(row), 'value')}, and the first line "
                        f"names {counted(len(head), 'column')}"
                    )
                if row:
                    rows.append(row)
                    at.append(reader.line_num)
        except csv.Error as error:
            raise BadFile(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    found = {name: [row[no] or None for row in rows] for no, name in enumerate(head)}
    return Columns(path, found, "line", at)


def _parquet(path: Path) -> Columns:
    pa = tables.arrow()
    try:
        table = pa.parquet.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise BadFile(f"{path}: damaged, or not a Parquet file: {' '.join(str(error).split())}") from None
    found = {name: table.column(name).to_pylist() for name in table.column_names}
    return Columns(path, found, "row", range(table.num_rows))


_READERS: dict[str, Callable[[Path], Columns]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _csv,
    ".parquet": _parquet,
}
