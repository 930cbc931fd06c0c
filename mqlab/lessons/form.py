"""The form of a lesson's task: fields, a button that commits, hints; the run is shown after that."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import ipywidgets as w

from mqlab.api import verbs
from mqlab.lessons.data import Prediction
from mqlab.spec.values import as_typed

if TYPE_CHECKING:
    from mqlab.lessons.data import Exercise
    from mqlab.lessons.feedback import Feedback
    from mqlab.lessons.lesson import Lesson
    from mqlab.spec.json_types import JsonObject

FIELD = w.Layout(width="auto", max_width="320px")
ADDRESS = w.Layout(width="100%", max_width="640px")  # a list of brokers has to be seen whole
WIDE = {"description_width": "initial"}


class TaskForm(w.VBox):
    """A prediction to commit, blanks to fill in, or pieces to put in order.

    Nothing of the run is seen before the prediction is committed.
    """

    def __init__(self, lesson: Lesson, task: Prediction | Exercise) -> None:
        self.lesson, self.task = lesson, task
        words = lesson.texts["words"]
        self.predicts = isinstance(task, Prediction)
        self.inputs = {name: self._input(name, told) for name, told in lesson.example(task.id).items()}
        self.go = w.Button(
            description=words["commit" if self.predicts else "check_all"],
            button_style="primary",
            layout=w.Layout(width="auto"),
        )
        self.help = w.Button(description=words["ask_hint"], icon="lightbulb-o", layout=w.Layout(width="auto"))
        self.said, self.hints, self.run = w.HTML(), w.HTML(), w.VBox()
        self.said.add_class("mqlab-said")
        head = f"<b>{escape(task.text)}</b>"
        if lesson.progress.done(task.id):
            head += f" <i>{escape(words['earlier'])}</i>"
        fields = w.HBox([*self.inputs.values()], layout=w.Layout(flex_flow="row wrap"))
        super().__init__([w.HTML(head), fields, w.HBox([self.go, self.help]), self.hints, self.said, self.run])
        self.go.on_click(lambda _: self.commit())
        self.help.on_click(lambda _: self.hint())

    def __repr__(self) -> str:
        return f"<mqlab.TaskForm {self.task.id}>"

    def _input(self, name: str, told: str) -> w.DOMWidget:
        # Text, not a number field: an empty field is not a prediction of 0, and what is no number is told.
        layout = FIELD if self.predicts else ADDRESS
        field = w.Text(description=name, placeholder=told, style=WIDE, layout=layout)
        field.on_msg(self._on_message)
        return field

    def _on_message(self, _: object, content: JsonObject, __: object) -> None:
        if content.get("event") == "submit":  # Enter in a field: as if the button had been pressed
            self.commit()

    def commit(self) -> None:
        """Commit what is in the fields; say what is to be said, and show the run."""
        given = {name: field.value for name, field in self.inputs.items() if field.value.strip()}
        said = self._answer(given)
        lines = "".join(f"<li>{escape(line)}</li>" for line in said.lines)
        colour = "var(--jp-success-color0, #00704E)" if said.right else "var(--jp-warn-color0, #8A5A00)"
        # A live region: who cannot see it hears it.
        self.said.value = (
            f"<div role='status' style='border-left: 4px solid {colour}; padding-left: 10px'>"
            f"<ul style='list-style: none; padding: 0; margin: 4px 0'>{lines}</ul></div>"
        )
        if self.predicts and said.counted and not self.run.children:
            self.run.children = [verbs.view(self.lesson.trace(self.task.id))]

    def _answer(self, given: dict[str, str]) -> Feedback:
        if isinstance(self.task, Prediction):
            return self.lesson.predict(self.task.id, **given)
        if self.task.pieces:
            return self.lesson.arrange(self.task.id, given.get("order", "").replace(",", " ").split())
        return self.lesson.fill(self.task.id, {name: as_typed(text) for name, text in given.items()})

    def hint(self) -> None:
        """Show the next hint below those before it."""
        self.hints.value += f"<p role='status'>{escape(self.lesson.hint(self.task.id))}</p>"
