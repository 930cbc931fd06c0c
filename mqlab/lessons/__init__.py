"""Predict, run, explain: the curriculum's lessons, and how its notebooks are opened.

``lessons.open("01-first-network")`` gives the tasks of a notebook; what they are is data (`data`), their keys
are computed by the engine (`answers`), and so are the answers of wrong rules (`mistakes`).
"""

from mqlab.lessons.data import names
from mqlab.lessons.feedback import Feedback
from mqlab.lessons.lesson import Lesson, open
from mqlab.lessons.progress import Progress

__all__ = ["Feedback", "Lesson", "Progress", "names", "open"]
