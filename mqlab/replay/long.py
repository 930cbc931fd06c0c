"""A run that is too long to be kept in memory: its events go to files while it runs.

What stays in memory is the network with the messages that are in it, and the events of one file (40
bytes each); of OpenMQ's and Artemis' clients also the numbers of what they sent and received, which an
outcome lists (4 bytes each). The files so far can be read while the run goes on.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.products.inputs import scenario_of
from mqlab.replay import blocks
from mqlab.replay.store import Writer
from mqlab.spec.action import Action
from mqlab.spec.values import duration
from mqlab.trace import parquet

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab
    from mqlab.spec.scenario import Scenario
    from mqlab.trace.trace import Trace

ROWS = 1 << 20  # of a file, and of a row group
FIRST = 1 << 16  # of the first file: whoever follows the run soon sees something
MOST = (1 << 31) - 1  # events of a run: rows are numbered with 32 bits


class TraceFolderSink:
    """Takes the columns of a run and writes them to a trace folder."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.full, self.most, self.writer = min(rows, FIRST), rows, Writer(folder)
        self.lab: Lab

    def take(self, columns: dict[str, array[int]]) -> None:
        """Write a file, and let readers know of it."""
        self.writer.add(parquet.as_table(columns))
        self.writer.end(self.lab.trace.header, self.lab.recorder.names, grows=True)
        self.full = min(self.most, 2 * self.full)

    def run(self, scenario: Scenario, until: int | str | None, seed: int, jitter: int | str) -> None:
        """Play a scenario from beginning to end."""
        self.lab = products.lab_of(scenario, seed, jitter, MOST)
        self.lab.recorder.taker = self
        try:
            self.writer.end(self.lab.trace.header, self.lab.recorder.names, grows=True)
            burst = blocks.burst(scenario, seed) if until is None and not duration(jitter) else None
            ended = self._play(until) if burst is None else self._repeat(burst)
        except BaseException as error:  # Ctrl-C, too: nobody must wait for more
            self.writer.stop(error)
            raise
        self.writer.end(ended.header, ended.names)

    def _play(self, until: int | str | None) -> Trace:
        self.lab.play(until)
        rest = self.lab.trace
        self.writer.add(parquet.table_of(rest).replace_schema_metadata(None))
        return rest

    def _repeat(self, burst: blocks.Burst) -> blocks.Burst:
        for columns in burst.parts(self.most):
            self.writer.add(parquet.as_table(columns))
            self.writer.end(burst.header, burst.names, grows=True)
        return burst


def run(
    what: object,
    *actions: Action,
    out: str | Path,
    seed: int = 0,
    jitter: int | str = 0,
    until: int | str | None = None,
    rows: int = ROWS,
) -> Path:
    """Run what `mqlab.run` takes, and write its events to a trace folder; see `mqlab.replay.run`."""
    spool = TraceFolderSink(Path(out), rows)
    spool.run(scenario_of(what, *actions), until, seed, jitter)
    return spool.writer.folder
