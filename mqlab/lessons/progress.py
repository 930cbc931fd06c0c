"""Progress: what a learner has tried, one line of JSON each, in the user's own folder.

Lines are only ever added. A file that is gone, cannot be read or cannot be written costs nobody the lesson:
what was done in this session is kept in memory, and a calm word says so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

VARIABLE = "MQLAB_PROGRESS"  # names another file


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task: what was given, whether it was right, the wrong rule if one was found.

    `at` is in seconds since 1970; `hints` is how many had been asked for.
    """

    lesson: str
    task: str
    right: bool
    given: str
    mistake: str = ""
    hints: int = 0
    learner: str = ""
    at: float = field(default=0.0, compare=False)


def place() -> Path:
    """Return the file of this user."""
    if own := os.environ.get(VARIABLE):
        return Path(own)
    import platformdirs  # a page under Pyodide has no such folder

    return platformdirs.user_data_path("mqlab") / "progress.jsonl"


def read(file: Path) -> list[Attempt]:
    """Return the attempts in a file; lines that are none are passed over, and so is a missing file."""
    return list(_attempts(file))


def _attempts(file: Path) -> Iterator[Attempt]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            value = json.loads(line)
            if not isinstance(value["right"], bool):
                continue
            yield Attempt(**{name: value[name] for name in Attempt.__slots__ if name in value})
        except (ValueError, TypeError, KeyError):
            continue


class Progress:
    """What a learner has done in one lesson, from earlier sessions and this one."""

    def __init__(self, lesson: str, learner: str = "", file: Path | None = None) -> None:
        self.lesson, self.learner = lesson, learner
        self.file = file or place()
        self.attempts = [a for a in read(self.file) if (a.lesson, a.learner) == (lesson, learner)]
        self.trouble = ""  # why the file could not be written, in words

    def add(self, task: str, right: bool, given: object, mistake: str = "", hints: int = 0) -> None:
        """Note an attempt; a file that cannot be written is told in `trouble`."""
        attempt = Attempt(
            self.lesson, task, right, str(given)[:200], mistake, hints, self.learner, round(time.time(), 1)
        )
        self.attempts.append(attempt)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(attempt)) + "\n")
            self.trouble = ""
        except OSError as error:
            self.trouble = f"{self.file}: {error.strerror}"

    def done(self, task: str) -> bool:
        """Whether the task was once done rightly."""
        return any(attempt.right for attempt in self.attempts if attempt.task == task)

    def tries(self, task: str) -> int:
        """How often the task was tried."""
        return sum(attempt.task == task for attempt in self.attempts)
