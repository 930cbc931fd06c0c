"""A lesson as a learner meets it: predict, run, observe, explain, change one thing, predict again.

>>> lesson = open("01-first-network")
>>> lesson.trace("conduit").received()
{'C1': 6, 'C2': 3, 'C3': 3}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.lessons import answers, data, discoveries, feedback, setups
from mqlab.lessons.data import Exercise, Prediction
from mqlab.lessons.discoveries import Discoveries
from mqlab.lessons.feedback import Feedback
from mqlab.lessons.progress import Progress
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.lessons.form import TaskForm
    from mqlab.spec.scenario import Scenario


def open(name: str, learner: str = "", language: str = "en", file: Path | None = None) -> Lesson:
    """Return a lesson by the name of its notebook; raises `UnknownName`.

    A *learner* who gives a name gets individual message counts and an individual progress file, *file*
    (default: in the user's folder).
    """
    return Lesson(data.lesson(name, language), Progress(name, learner, file), learner)


class Lesson:
    """The tasks of a lesson. Invalid input is answered with a message, never with an exception."""

    def __init__(self, of: data.LessonData, progress: Progress, learner: str = "") -> None:
        self.data, self.progress, self.learner = of, progress, learner
        self.texts = data.texts(of.language)
        self.hints: dict[str, int] = {}

    def __repr__(self) -> str:
        done = sum(self.progress.done(task.id) for task in self.data.tasks)
        told = self.texts["words"]["summary"].format(done=done, all=len(self.data.tasks))
        return f"{self.data.title}: {self.data.question} {told}."

    def task(self, id: str) -> Prediction | Exercise:
        """Return a task; raises `UnknownName`."""
        for task in self.data.tasks:
            if task.id == id:
                return replace(task, text=setups.told(task.text, task.setup, self.learner))
        raise UnknownName.of("task", id, [task.id for task in self.data.tasks], self.data.name)

    def figure(self, id: str) -> Scenario:
        """Return the scenario of a task, which every verb takes: ``mq.run``, ``mq.check``, ..."""
        return setups.scenario(self.task(id).setup, self.learner)

    def trace(self, id: str) -> Trace:
        """Return the run of a task's scenario."""
        return setups.play(self.figure(id))

    @property
    def discoveries(self) -> Discoveries:
        """Surprising behaviour of real brokers, as recorded, beside mqlab's runs."""
        return discoveries.of(self.data)

    def ask(self, id: str) -> TaskForm | str:
        """Return the form of a task; without ipywidgets its text."""
        task = self.task(id)
        try:
            from mqlab.lessons.form import TaskForm
        except ModuleNotFoundError:
            return task.text
        return TaskForm(self, task)

    def fields(self, id: str) -> answers.Answer:
        """Return what is to be filled in: for a prediction the fields of its answer, else its blanks."""
        task = self.task(id)
        if isinstance(task, Exercise):
            return dict.fromkeys(task.blanks or ("order",) if task.pieces else task.blanks, "")
        return answers.key(task, self.trace(id))

    def example(self, id: str) -> Mapping[str, str]:
        """Return what stands in the empty fields of a task: the kind of answer that is wanted, never one."""
        return answers.example(self.task(id), self.fields(id), self.texts["words"])

    def predict(self, id: str, *unnamed: object, **given: object) -> Feedback:
        """Commit a prediction and return what is to be said about it."""
        task, key = self._prediction(id), self.fields(id)
        if unnamed:
            raise BadValue(f"name what is predicted: lesson.predict({id!r}, {next(iter(key))}=...)")
        try:
            read = answers.read(given, key)
        except BadValue as error:
            return Feedback(False, (str(error),), counted=False)
        found = setups.body(self.figure(id))
        said = feedback.on_prediction(task, read, found, self.trace(id), self.texts)
        return self._noted(id, said, answers.told(read))

    def hint(self, id: str) -> str:
        """Return the next hint of a task; each is clearer than the one before."""
        task = self.task(id)
        self.hints[id] = self.hints.get(id, 0) + 1
        key = self.fields(id) if isinstance(task, Prediction) else {}
        return feedback.hint(task, self.hints[id], key, self.texts)

    def fill(self, id: str, values: dict[str, object] | None = None, **given: object) -> Feedback:
        """Fill in the blanks of an exercise by ``path.option``, or by option where it stands once."""
        task = self._exercise(id)
        options = {place.rpartition(".")[2]: place for place in task.blanks}
        read = {options.get(name, name): value for name, value in {**(values or {}), **given}.items()}
        if set(read) != set(task.blanks):
            blanks = ", ".join(task.blanks)
            said = self.texts["words"]["blanks_wrong"].format(blanks=blanks)
            return Feedback(False, (said,), counted=False)
        return self._tried(task, lambda: setups.changed(self.figure(id), read), read)

    def arrange(self, id: str, order: Sequence[str]) -> Feedback:
        """Put the pieces of a puzzle in an order; messages then go along it."""
        task = self._exercise(id)
        if sorted(map(str, order)) != sorted(task.pieces):
            pieces = ", ".join(task.pieces)
            said = self.texts["words"]["pieces_wrong"].format(pieces=pieces)
            return Feedback(False, (said,), counted=False)
        return self._tried(task, lambda: setups.in_order(self.figure(id), tuple(order)), order)

    def check(self, id: str, what: object) -> Feedback:
        """Hold a network, figure or scenario of the learner's own against an exercise's checks.

        A bare network is played with the exercise's own actions.
        """
        from mqlab.products import inputs
        from mqlab.spec.scenario import AnyNetwork

        task, own = self._exercise(id), self.figure(id)

        def scenario() -> Scenario:
            return (
                inputs.scenario_of(what, *own.actions)
                if isinstance(what, AnyNetwork)
                else inputs.scenario_of(what)
            )

        return self._tried(task, scenario, what)

    def _tried(self, task: Exercise, scenario: Callable[[], Scenario], given: object) -> Feedback:
        try:
            body = setups.body(scenario())
            before = setups.body(self.figure(task.id))
            said = feedback.on_exercise(task, body, before, self.texts)
        except MqlabError as error:
            return Feedback(False, (str(error),), counted=False)
        return self._noted(task.id, said, given)

    def _noted(self, id: str, said: Feedback, given: object) -> Feedback:
        self.progress.add(id, said.right, given, said.mistake, self.hints.get(id, 0))
        if not self.progress.trouble:
            return said
        note = self.texts["words"]["not_saved"].format(trouble=self.progress.trouble)
        return Feedback(said.right, (*said.lines, note), said.mistake)

    def _prediction(self, id: str) -> Prediction:
        task = self.task(id)
        if not isinstance(task, Prediction):
            raise UnknownName(f"{id} is an exercise; use lesson.fill, lesson.arrange or lesson.check")
        return task

    def _exercise(self, id: str) -> Exercise:
        task = self.task(id)
        if not isinstance(task, Exercise):
            raise UnknownName(f"{id} is a prediction; use lesson.predict({id!r}, ...)")
        return task
