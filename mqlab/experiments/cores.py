"""Many runs on all cores: some are played here, and if the rest is worth it, other processes share it.

The processes are Pythons of their own, who read what to do from a pipe: nothing of the program that asks is
imported again, Ctrl-C is heard here alone, and a process whose pipe has closed ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TypeVar

from mqlab.spec.shape import whole

Item = TypeVar("Item")
Result = TypeVar("Result")
TRIED = 0.3  # s for which runs are played here before it is asked what the rest takes
# s that other processes have to spare. To start two takes 0.4 s; with runs of 3 to 10 ms, two cores were
# quicker from 1.3 s of runs on.
WORTH = 0.7
MOST_SEEDS = 1_000_000  # of one experiment here; more are for Spark
BAR = 5.0  # s of work that is left, from which a bar shows how far it is
SHARE = 0.2  # s of work that a process is given at a time


def each(
    task: Callable[[Item], Result], items: Sequence[Item], processes: int | None = None, progress: bool = True
) -> Iterator[Result]:
    """Yield what *task* gives for each item, in order: an error, too, comes in the place of its item.

    With *processes* None the work is shared out where that pays; with a number, among so many, and with 1 it
    is done here. Task and items have to be values that another process can be sent.
    """
    if processes is not None:
        whole(1).check(processes, "processes")
    most = 1 if sys.platform == "emscripten" else processes or os.cpu_count() or 1  # a page has no processes
    begin, done = perf_counter(), 0
    while done < len(items) and perf_counter() - begin < TRIED and (processes is None or most == 1):
        yield task(items[done])
        done += 1
    left = items[done:]
    if not left:
        return
    one, count = (perf_counter() - begin) / done if done else 0.0, min(most, len(left))
    pays = most > 1 and (processes is not None or one * len(left) * (1 - 1 / count) > WORTH)
    size = min(int(SHARE / one) + 1, -(-len(left) // count)) if one else 1
    parts = [left[at : at + size] for at in range(0, len(left), size)]
    waited_for = progress and (not done or one * len(left) > BAR)
    with _bar(len(left), waited_for) as advance:
        for result in _shared(task, parts, count) if pays else map(task, left):
            advance()
            yield result


def _shared(task: Callable[[Item], Result], parts: Sequence[Sequence[Item]], count: int) -> Iterator[Result]:
    from mqlab.experiments.workers import shared  # processes and threads: a twentieth of a start

    return shared(task, parts, count)


@contextmanager
def _bar(runs: int, shown: bool) -> Iterator[Callable[[], None]]:
    """Show how many runs are done, where somebody sees it; gives what counts one more."""
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:  # in a page
        yield lambda: None
        return
    console = Console(stderr=True)
    seen = shown and (console.is_terminal or console.is_jupyter)
    with Progress(console=console, transient=True, disable=not seen) as bar:
        task = bar.add_task("runs", total=runs)
        yield lambda: bar.advance(task)
