"""A Spark job while it runs: how far it is, how long it will take, and how it is cancelled.

The bar counts units of our own, finished runs or files: Spark's count of tasks jumps where it
splits a query in two. An interrupted cell, or Ctrl-C, cancels the job.
"""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK = 0.3  # seconds between two looks at how far it is


class Bar:
    """What shows how far a job is; this one nobody sees."""

    def to(self, done: int) -> None:
        """Say how many are done."""


class Terminal(Bar):
    """The bar of a terminal, with the time that is left."""

    def __init__(self, what: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Left

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Left())
        self.progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.progress.add_task(what, total=total)

    def to(self, done: int) -> None:
        """Show how many are done."""
        self.progress.update(self.task, completed=done)


def in_notebook() -> bool:
    """Whether somebody works in a notebook here."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


@contextmanager
def shown(what: str, total: int, wanted: bool) -> Iterator[Bar]:
    """Show a bar where somebody sees it: in a notebook with a button that cancels."""
    if wanted and in_notebook():
        with suppress(ImportError):
            from mqlab.views.bar import NotebookBar

            bar = NotebookBar(what, total)
            bar.show()
            try:
                yield bar
            finally:
                bar.close()
            return
    if wanted and sys.stderr.isatty():
        terminal = Terminal(what, total)
        with terminal.progress:
            yield terminal
        return
    yield Bar()


def run(spark: SparkSession, work: Callable[[], None], look: Callable[[], None]) -> bool:
    """Do *work*, a Spark job, in a thread and *look* at it now and then; False if it was cancelled.

    Raises what *work* raises.
    """
    name, failed = f"mqlab-{uuid.uuid4().hex[:8]}", list[BaseException]()

    def watched() -> None:
        try:
            _name(spark, name)
            work()
        except BaseException as error:
            failed.append(error)

    thread = _thread(spark, watched)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK)
            look()
    except KeyboardInterrupt:
        while thread.is_alive():  # it may not have begun yet
            _cancel(spark, name)
            thread.join(LOOK)
        return False
    for error in failed:
        raise error
    return True


def _is_classic(spark: object) -> bool:
    return type(spark).__module__ == "pyspark.sql.session"


def _thread(spark: SparkSession, work: Callable[[], None]) -> threading.Thread:
    if not _is_classic(spark):
        return threading.Thread(target=work, daemon=True)
    from pyspark import InheritableThread

    thread: threading.Thread = InheritableThread(target=work, session=spark)
    thread.daemon = True
    return thread


def _name(spark: SparkSession, name: str) -> None:
    if _is_classic(spark):
        spark.sparkContext.setJobGroup(name, "mqlab", interruptOnCancel=True)
    else:
        spark.addTag(name)


def _cancel(spark: SparkSession, name: str) -> None:
    with suppress(Exception):  # what is over already
        if _is_classic(spark):
            spark.sparkContext.cancelJobGroup(name)
        else:
            spark.interruptTag(name)
