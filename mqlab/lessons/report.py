"""What a class has tried: the progress files of a folder, summarised; names only when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mqlab.errors import BadFile
from mqlab.lessons.progress import Attempt, read


@dataclass(frozen=True, slots=True)
class Row:
    """One task: `learners` who tried it, the share of them that did it, tries until then, and what went wrong.

    `first` is the share that was right at the first try, `mistakes` wrong rules with how many followed each,
    `open` the learners who have not done it, by name.
    """

    lesson: str
    task: str
    learners: int
    done: float
    first: float
    tries: float
    hints: float
    mistakes: tuple[tuple[str, int], ...]
    open: tuple[str, ...]


def summarise(folder: Path) -> list[Row]:
    """Return a row for each task that somebody tried, by lesson.

    Each file (``*.jsonl``) is one learner, unless its lines name their learners. Raises `BadFile` for a
    folder that is none, or in which nobody's progress is.
    """
    if not folder.is_dir():
        raise BadFile(f"{folder} is not a folder; expected a folder with progress files (*.jsonl)")
    tasks: dict[tuple[str, str], dict[str, list[Attempt]]] = {}
    for file in sorted(folder.rglob("*.jsonl")):
        for attempt in read(file):
            who = attempt.learner or file.stem
            task = tasks.setdefault((attempt.lesson, attempt.task), {})
            task.setdefault(who, []).append(attempt)
    if not tasks:
        raise BadFile(f"{folder}: contains no progress files (*.jsonl)")
    return [_row(*key, tries) for key, tries in sorted(tasks.items())]


def _row(lesson: str, task: str, tries: dict[str, list[Attempt]]) -> Row:
    done = {who: [a for a in attempts if a.right] for who, attempts in tries.items()}
    firsts = (next((no for no, a in enumerate(attempts, 1) if a.right), 0) for attempts in tries.values())
    until = list(filter(None, firsts))
    wrong = Counter(name for attempts in tries.values() for name in {a.mistake for a in attempts if a.mistake})
    return Row(
        lesson,
        task,
        len(tries),
        _share(bool(right) for right in done.values()),
        _share(attempts[0].right for attempts in tries.values()),
        sum(until) / len(until) if until else 0.0,
        sum(max(a.hints for a in attempts) for attempts in tries.values()) / len(tries),
        tuple(wrong.most_common()),
        tuple(who for who, right in done.items() if not right),
    )


def _share(found: Iterable[bool]) -> float:
    values = list(found)
    return sum(values) / len(values)
