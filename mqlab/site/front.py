"""What stands for Bokeh and ipywidgets where there are none: pictures as columns that a page draws.

`install` puts this module where a notebook's widgets are looked for, so that `mq.view`, the desk's picture and
the workbench do in a page what they do in a notebook. It is for a process that does nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mqlab import products, widgets
from mqlab.lessons import progress
from mqlab.spec import Network
from mqlab.spec.topology import TOPOLOGIES
from mqlab.views.scene import Scene
from mqlab.views.still import Columns
from mqlab.workbench import WorkbenchSession, starting_points

Answer = Callable[[str, dict[str, object]], object]
Shown = dict[str, object]
FIRST = "fuse:2.20"


def item(scenes: Sequence[Scene]) -> list[Scene]:
    """Return what `View` takes: here a page has the document already, and only columns change."""
    return list(scenes)


class View:
    """A picture of a page, with the face of `mqlab.views.host.View`.

    `news` is what the page has not been told yet: ``stages`` (how many runs stand beside each other) and
    ``columns`` by name.
    """

    def __init__(self, scenes: list[Scene], answer: Answer | None = None) -> None:
        self.answer = answer
        self.choices: Shown | None = None
        self.news: Shown | None = None
        self.replace(scenes)

    def show(self, columns: Columns) -> None:
        """Show other columns in the same document."""
        self.news = {"stages": self.stages, "columns": columns}

    def replace(self, scenes: list[Scene]) -> None:
        """Show these scenes instead, as many as they are."""
        self.stages = len(scenes)
        self.news = {"stages": self.stages, "columns": dict(_named(scenes))}

    def take_news(self) -> Shown | None:
        """Return what is to be shown since this was last asked, or None."""
        news, self.news = self.news, None
        return news

    def __repr__(self) -> str:
        return "<mqlab.View>"


def _named(scenes: Sequence[Scene]) -> Iterator[tuple[str, object]]:
    for number, scene in enumerate(scenes):
        end = f" {number + 1}" * bool(number)
        yield from ((name + end, rows) for name, rows in scene.columns.items())


def workbench(what: str | Network = FIRST) -> Any:
    """Return the picture of a figure or of a network of one's own, with what else can be chosen."""
    from mqlab.workbench.picture import WorkbenchView

    if isinstance(what, Network):
        name, figure, trace = "my network", "", products.play(starting_points.across(what))
    else:
        name, figure, trace = what, what, products.play(starting_points.figure(what))
    picture = WorkbenchView(WorkbenchSession(trace, name))
    picture.choices = {
        "figures": [[one.id, one.title] for one in products.figures()],
        "topologies": list(TOPOLOGIES),
        "size": starting_points.SIZE,
        "figure": figure,
    }
    return picture


def install() -> None:
    """Stand where the pictures and the workbench of a notebook are looked for, from now on."""
    import mqlab.views

    os.environ[progress.VARIABLE] = os.devnull  # the page keeps the progress, not the kernel
    here = sys.modules[__name__]
    for name in ("player", "host"):
        sys.modules[f"mqlab.views.{name}"] = here
        setattr(mqlab.views, name, here)
    setattr(widgets, "Workbench", workbench)  # noqa: B010 - it is looked up by this name
