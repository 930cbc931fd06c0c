"""A lesson as data: what is asked, of which scenario, which mistakes are likely, what to say.

Each lesson is a TOML file in the folder ``data``, one folder a language; a translation holds the texts and
takes the rest from English. How a lesson is written: ``mqlab lesson new NAME``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from mqlab.errors import BadFile, UnknownName
from mqlab.spec.json_types import JsonDict, JsonObject

FOLDER = resources.files(__package__) / "data"
ENGLISH = "en"
OWN = ".toml"  # a lesson of somebody's own is a file


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The scenario of a task: a guide's `figure`, or a `lab` file written in the lesson.

    `change` is options by path (as `mqlab run --set` takes them). `vary` gives a producer's numbers of
    messages, one of which each learner has; the first is that of the scenario, and of the question's text.
    """

    figure: str = ""
    lab: Mapping[str, object] = field(default_factory=dict)
    change: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    vary: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Something to predict: `kind` says what (see `answers`), `of` of whom; `text` asks it.

    `mistakes` are wrong rules by which learners predict (see `mistakes`), the likeliest first. `hints`
    become clearer; a last one is made from the run. `told` explains; `source` is the guide's section, `guide`
    its answer where the real broker's is another.
    """

    id: str
    text: str
    setup: Setup
    kind: str
    of: tuple[str, ...] = ()
    within: float = 0.0
    guide: Mapping[str, int | str] = field(default_factory=dict)
    mistakes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    told: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What must be so after the learner's run: what is measured of whom, and its bounds."""

    kind: str
    of: str
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """Something to bring about.

    With `blanks` (``A/link.network_ttl``) their values are asked for; with `pieces` (names of brokers)
    their order along a chain of connectors; with neither, a whole network. `most_changes` bounds the
    options that may differ from the setup.
    """

    id: str
    text: str
    setup: Setup
    checks: tuple[Check, ...]
    blanks: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    most_changes: int | None = None
    solution: JsonObject = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    told: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Something that the real broker was `recorded` to do and that nobody expects: `asks`, and `told`.

    In `told` a name in braces stands for a number of the recording: a row of ``mq.recorded``, or of `shows`,
    which has names for paths into the outcome (see `discoveries.value_at`). `source` is where a guide says
    otherwise or nothing.
    """

    asks: str
    recorded: str
    told: str
    source: str
    shows: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LessonData:
    """A lesson: its `name` is that of its notebook; `covers` are rows of the guides' index, each
    with the words by which it stands in the lesson. `instructor` has a goal, questions to ask, and what to
    do when time is short.
    """

    name: str
    title: str
    question: str
    tasks: tuple[Prediction | Exercise, ...]
    discoveries: tuple[Discovery, ...] = ()
    covers: Mapping[str, str] = field(default_factory=dict)
    instructor: JsonObject = field(default_factory=dict)
    language: str = ENGLISH


def names(language: str = ENGLISH) -> tuple[str, ...]:
    """Return the names of all lessons of a language, in their order."""
    folder = FOLDER / language
    if not folder.is_dir():
        known = [entry.name for entry in FOLDER.iterdir() if entry.is_dir()]
        raise UnknownName.of("language", language, sorted(known))
    found = (entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(name.removesuffix(".toml") for name in found if name[0].isdigit()))


@cache
def texts(language: str = ENGLISH) -> Mapping[str, Mapping[str, str]]:
    """Return what all lessons say: ``words`` and ``mistakes``; English where a language has none."""
    english = _toml(ENGLISH, "words")
    if language == ENGLISH:
        return english
    own = _toml(language, "words")
    return {part: {**said, **own.get(part, {})} for part, said in english.items()}


@cache
def lesson(name: str, language: str = ENGLISH) -> LessonData:
    """Return a lesson by name, or that of a file of one's own (``mine.toml``).

    Raises `UnknownName`, and `BadFile` for one that is written wrongly.
    """
    if name.endswith(OWN):
        return read(Path(name).stem, _file(Path(name)), language)
    if name not in names(language):
        raise UnknownName.of("lesson", name, names(language))
    body = _toml(ENGLISH, name) if name in names() else _toml(language, name)
    return read(name, _translated(body, name, language), language)


def read(name: str, body: JsonObject, language: str = ENGLISH) -> LessonData:
    """Return the lesson that a TOML value describes; raises `BadFile`."""
    try:
        tasks = tuple(_tasks(body))
        double = {task.id for task in tasks if sum(other.id == task.id for other in tasks) > 1}
        if double:
            raise BadFile(f"lesson {name}: two tasks are called {sorted(double)[0]!r}")
        found = tuple(Discovery(**entry) for entry in body.get("discover", ()))
        return LessonData(
            name,
            body["title"],
            body["question"],
            tasks,
            found,
            body.get("covers", {}),
            body.get("instructor", {}),
            language,
        )
    except (KeyError, TypeError) as error:
        raise BadFile(f"lesson {name}: {error}") from None


def _toml(language: str, name: str) -> JsonDict:
    return _file(FOLDER / language / f"{name}{OWN}")


def _file(file: Traversable) -> JsonDict:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{file.name}: lesson not found: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{file.name}: {error}") from None


def _translated(body: JsonDict, name: str, language: str) -> dict[str, object]:
    """Put the texts of a translation over the English ones, task by task."""
    if language == ENGLISH or name not in names():
        return body
    own = _toml(language, name)
    said = {task["id"]: task for kind in ("predict", "exercise") for task in own.get(kind, ())}
    head: dict[str, object] = {key: own[key] for key in ("title", "question") if key in own}
    merged: dict[str, object] = {**body, **head}
    for kind in ("predict", "exercise"):
        merged[kind] = [{**task, **said.get(task["id"], {})} for task in body.get(kind, ())]
    told = {found["recorded"]: found for found in own.get("discover", ())}
    found = body.get("discover", ())
    merged["discover"] = [{**entry, **told.get(entry["recorded"], {})} for entry in found]
    return merged


def _tasks(body: JsonObject) -> Iterator[Prediction | Exercise]:
    """Yield the tasks in the order of their `place`, which is that of the notebook."""
    found: list[tuple[type[Prediction | Exercise], JsonDict]]
    found = [(Prediction, task) for task in body.get("predict", ())]
    found += [(Exercise, task) for task in body.get("exercise", ())]
    for kind, task in sorted(found, key=lambda pair: pair[1].get("place", 0)):
        given = {key: value for key, value in task.items() if key != "place"}
        setup = {f.name: given.pop(f.name) for f in fields(Setup) if f.name in given}
        setup["vary"] = {who: tuple(counts) for who, counts in setup.get("vary", {}).items()}
        if "checks" in given:
            given["checks"] = tuple(_check(check) for check in given["checks"])
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        yield kind(**{**given, **lists}, setup=Setup(**setup))


def _check(check: JsonObject) -> Check:
    exact = check.get("is")
    least, most = check.get("least", exact), check.get("most", exact)
    low = float("-inf") if least is None else float(least)
    high = float("inf") if most is None else float(most)
    return Check(check["kind"], check.get("of", ""), low, high)
