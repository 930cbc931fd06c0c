"""The events of a run that goes on as a stream of Spark: Structured Streaming over the folder it writes.

Files appear whole, under names of their own, so that a stream sees each once. It is read with the schema of
traces: none that were guessed from the first file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.replay import named, store
from mqlab.replay.spark import session
from mqlab.trace import tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

AT_ONCE = 4  # files of a batch: of a run that has long begun they come in turn


def stream(folder: str | Path, view: str | None = None) -> DataFrame:
    """Return the events of a run that goes on as a streaming DataFrame; see `mqlab.replay.stream`."""
    from pyspark.sql import functions as f

    folder = Path(folder).resolve()
    manifest = store.manifest(folder)
    read = (
        session()
        .readStream.schema(named.TYPES)
        .option("maxFilesPerTrigger", AT_ONCE)
        .parquet(str(folder / "events"))
    )
    columns = []
    for known, (name, (code, table)) in zip(named.columns(manifest), tables.COLUMNS.items(), strict=True):
        # What got its name after the stream had begun is there by its number.
        later = f.when(f.col(code) >= 0, f.concat(f.lit("number "), f.col(code)))
        columns.append(f.coalesce(known, later).alias(name) if table else known)
    frame = read.select(*columns)
    if view is not None:
        frame.createOrReplaceTempView(view)
    return frame
