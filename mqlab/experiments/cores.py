"""Many runs on all cores: some are played here, and if the rest is worth it, other processes share it.

The processes are Pythons of their own, who read what to do from a pipe: nothing of the program that asks is
imported again, Ctrl-C is heard here alone, and a process whose pipe has closed ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeVar

from mqlab.errors import CannotRun

Item = TypeVar("Item")
Result = TypeVar("Result")
TRIED = 0.3  # s for which runs are played here before it is asked what the rest takes
# s that other processes have to spare. To start two takes 0.4 s; with runs of 3 to 10 ms, two cores were
# quicker from 1.3 s of runs on.
WORTH = 0.7
SHARE = 0.2  # s of work that a process is given at a time
CODE = "from mqlab.experiments.cores import serve; serve()"


def each(
    task: Callable[[Item], Result], items: Sequence[Item], processes: int | None = None, progress: bool = True
) -> Iterator[Result]:
    """Yield what *task* gives for each item, in order: an error, too, comes in the place of its item.

    With *processes* None the work is shared out where that pays; with a number, among so many, and with 1 it
    is done here. Task and items have to be values that another process can be sent.
    """
    most = 1 if sys.platform == "emscripten" else processes or os.cpu_count() or 1  # a page has no processes
    begin, done = perf_counter(), 0
    while done < len(items) and perf_counter() - begin < TRIED and (processes is None or most == 1):
        yield task(items[done])
        done += 1
    left = items[done:]
    if not left:
        return
    one, count = (perf_counter() - begin) / done if done else 0.0, min(most, len(left))
    shared = most > 1 and (processes is not None or one * len(left) * (1 - 1 / count) > WORTH)
    size = min(int(SHARE / one) + 1, -(-len(left) // count)) if one else 1
    parts = [left[at : at + size] for at in range(0, len(left), size)]
    with _bar(len(left), progress) as advance:
        for result in _shared(task, parts, count) if shared else map(task, left):
            advance()
            yield result


def _shared(task: Callable[[Item], Result], parts: Sequence[Sequence[Item]], count: int) -> Iterator[Result]:
    """Yield the results of all parts in order, from *count* processes; none of these is there afterwards."""
    workers = [_start() for _ in range(count)]
    idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
    sent = pickle.dumps(task)

    def ask(part: Sequence[Item]) -> tuple[list[Result], Exception | None]:
        worker = idle.get()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            pickle.dump((sent, part), worker.stdin)
            worker.stdin.flush()
            found: tuple[list[Result], Exception | None] = pickle.load(worker.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise CannotRun("a process that plays runs has ended; play them here: processes=1") from None
        finally:
            idle.put(worker)
        return found

    threads = ThreadPoolExecutor(count)
    try:
        for worker in workers:
            idle.put(worker)
        for results, error in threads.map(ask, parts):
            yield from results
            if error is not None:
                raise error
    finally:
        for worker in workers:
            worker.kill()
        threads.shutdown(cancel_futures=True)
        for worker in workers:
            worker.communicate()


def _start() -> subprocess.Popen[bytes]:
    known = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": known},
        start_new_session=True,
    )


def serve() -> None:
    """Do what comes in through the pipe until it closes: what a process does."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a task prints is no answer
    while True:
        try:
            sent, part = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        task, results, failed = pickle.loads(sent), list[Any](), None
        try:
            for item in part:
                results.append(task(item))
        except Exception as error:  # it is raised where the runs were asked for
            failed = error
        pickle.dump((results, failed), answers)
        answers.flush()


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
