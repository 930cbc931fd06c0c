"""A run whose independent parts are played beside each other in Spark tasks, and put together again.

    run/parts-<id>/<part>/...   the trace folder of a part, while it is made

The same as the run as one: the same events at the same times, with the same names, causes and numbers
of messages. Only those of different parts at one time have another order (see `merge`).
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import BadValue
from mqlab.replay import independent, long, merge, store
from mqlab.replay.spark import job, session
from mqlab.spec import Producer, Scenario
from mqlab.spec.values import duration
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

    from mqlab.trace.columns import Numbers


def run(
    scenario: Scenario, out: str | Path, shards: int, seed: int, jitter: int | str, until: int | str | None
) -> Path:
    """Run a scenario in parts, in so many tasks at most; see `mqlab.replay.run`."""
    if shards < 1:
        raise BadValue(f"shards {shards}; expected 1 or more")
    folder = Path(out).resolve()
    parts = independent.parts(scenario, duration(jitter, "jitter"))
    begun = _start(scenario, seed)
    independent.check_times(scenario, begun[1])
    writer = store.Writer(folder)
    aside = folder / f"parts-{uuid.uuid4().hex[:8]}"
    try:
        _play(parts, aside, shards, seed, until)
        _merge(scenario, parts, begun[0], writer, aside)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _start(scenario: Scenario, seed: int) -> tuple[Trace, int]:
    """Return the trace of the network without clients, and when it is at rest (us)."""
    frame = tuple(one for one in scenario.actions if isinstance(one, independent.FRAME))
    lab = products.lab_of(replace(scenario, actions=frame), seed)
    lab.play()
    return lab.trace, lab.clock.now


def _play(parts: Sequence[Scenario], aside: Path, shards: int, seed: int, until: int | str | None) -> None:
    """Play each part in a task; one that an earlier try has played stays as it is."""

    def play(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                played = aside / str(number)
                if not (played / store.MANIFEST).exists() or "ended" in store.manifest(played):
                    shutil.rmtree(played, ignore_errors=True)
                    long.run(parts[number], out=played, seed=seed, until=until)
            yield batch

    with job():
        tasks = session().range(0, len(parts), 1, min(shards, len(parts)))
        tasks.mapInArrow(play, "id long").toArrow()


def _merge(
    scenario: Scenario, parts: Sequence[Scenario], start: Trace, writer: store.Writer, aside: Path
) -> None:
    numbers = _numbers(scenario, parts)
    opened = [merge.Part(aside / str(no), start, known) for no, known in enumerate(numbers)]
    whole = merge.Merge(opened, start, writer)
    whole.run()
    writer.end(whole.header(products.product_of_scenario(scenario).write(scenario)), whole.names)


def _numbers(scenario: Scenario, parts: Sequence[Scenario]) -> list[object]:
    """Return the numbers in the whole run of the messages of each part: producers take them as they begin."""
    import numpy as np

    part_of = {id(action): no for no, part in enumerate(parts) for action in part.actions}
    producers = [one for one in scenario.actions if isinstance(one, Producer)]
    found: list[list[Numbers]] = [[np.empty(0, np.int32)] for _ in parts]
    first = 1
    for one in sorted(producers, key=lambda one: duration(one.at or 0)):
        found[part_of[id(one)]].append(np.arange(first, first + one.sends, dtype=np.int32))
        first += one.sends
    return [np.concatenate(numbers) for numbers in found]
