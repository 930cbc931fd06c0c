"""The processes that share runs: Pythons of their own, who read what to do from a pipe."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from mqlab.errors import CannotRun

Item = TypeVar("Item")
Result = TypeVar("Result")
CODE = "from mqlab.experiments.workers import serve; serve()"


def shared(task: Callable[[Item], Result], parts: Sequence[Sequence[Item]], count: int) -> Iterator[Result]:
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
        task, results, failed = pickle.loads(sent), list[object](), None
        try:
            for item in part:
                results.append(task(item))
        except Exception as error:  # it is raised where the runs were asked for
            failed = error
        pickle.dump((results, failed), answers)
        answers.flush()
