"""Bokeh and anywidget, only here: draws any trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, MissingExtra
from mqlab.spec.plural import counted
from mqlab.trace.difference import Comparison
from mqlab.trace.labels import beside
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace
from mqlab.views.scene import MOST_EVENTS, Scene, scene
from mqlab.views.story import PlaybackTime

if TYPE_CHECKING:
    from mqlab.views.host import View

__all__ = [
    "MOST_EVENTS",
    "Scene",
    "drawn",
    "html",
    "picture",
    "plot",
    "plot_heat",
    "plot_spans",
    "scene",
    "scenes",
    "view",
]


Viewable = Trace | Comparison | Ledger  # a run, or several side by side

# The page around the player: a phone shows it at its own width, a screen reader finds its heading and landmark.
_PAGE = """{% block preamble %}
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <style>
      main { height: 100%; }
      h1 { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
    </style>
{% endblock %}
{% block contents %}
  <main>
  <h1>{{ title | e }}</h1>
  {{ super() }}
  </main>
{% endblock %}
"""


def _player() -> ModuleType:
    with MissingExtra.told("lab"):
        from mqlab.views import player
    return player


def scenes(what: Viewable) -> list[Scene]:
    """Return the columns of a run, or those of several on one clock; raises `BadValue` for anything else."""
    runs = _runs(what)
    if len(runs) > 1:
        story = PlaybackTime.of(*runs)
        return [scene(run, name, story) for run, name in zip(runs, beside(runs), strict=True)]
    return [scene(run) for run in runs]


def _runs(what: Viewable) -> tuple[Trace, ...]:
    if isinstance(what, Comparison):
        return what.one, what.other
    if isinstance(what, Ledger):
        most = _player().MOST
        if len(what.traces) > most:
            raise BadValue(
                f"{counted(len(what.traces), 'run')} at a time cannot be viewed; the limit is {most}"
            )
        return what.traces
    if not isinstance(what, Trace):
        raise BadValue(f"{type(what).__name__} cannot be viewed; pass a trace, or mq.compare(a, b)")
    return (what,)


def _drawable(found: list[Scene]) -> list[Scene]:
    """Refuse an empty network: only a workbench can fill it."""
    if not any(one.columns["nodes"]["name"] for one in found):
        raise BadValue("an empty network cannot be drawn; add a broker, e.g. mq.Network(mq.Broker('A'))")
    return found


def view(what: Viewable) -> View:
    """Return a widget that plays a run, or several side by side on one clock.

    Raises `BadValue` for a run too long to be sent whole or without a broker, `MissingExtra` without Bokeh.
    """
    shown = _player().item(_drawable(scenes(what)))
    with MissingExtra.told("lab"):
        from mqlab.views.host import View
    return View(shown)


def plot(what: Trace | Comparison) -> View:
    """Return a widget with the charts of one run, or of two beside each other (see `charts`).

    Raises `MissingExtra` without Bokeh.
    """
    traces = (what.one, what.other) if isinstance(what, Comparison) else (what,)
    with MissingExtra.told("lab"):
        from mqlab.views.charts import document
        from mqlab.views.host import View
    return View(document(traces))


def plot_spans(counts: Mapping[str, Mapping[str, Sequence[int]]]) -> View:
    """Return a widget with a chart: row -> name -> numbers, each from its least to its greatest.

    Raises `MissingExtra` without Bokeh.
    """
    with MissingExtra.told("lab"):
        from mqlab.views.charts import spans
        from mqlab.views.host import View
    return View(spans(counts))


def plot_heat(
    panels: Mapping[str, Mapping[str, Mapping[str, float | None]]],
    unit: str,
    high: float | None = None,
) -> View:
    """Return a widget with heat maps: title -> row -> column -> number in *unit*, all on one scale.

    Raises `MissingExtra` without Bokeh.
    """
    with MissingExtra.told("lab"):
        from mqlab.views.heat import document
        from mqlab.views.host import View
    return View(document(panels, unit, high))


def drawn(what: Viewable, ending: str) -> str:
    """Return a run as a file of that *ending* shows it: a page (.html), or the picture of its end."""
    if ending == ".html":
        return html(what)
    if not isinstance(what, Trace):
        raise BadValue("a picture shows one run; save all as a page (.html), or each as a picture (.svg)")
    return picture(what)


def picture(what: Trace) -> str:
    """Return the picture of a run's end as SVG."""
    from mqlab.views import svg

    (found,) = _drawable(scenes(what))
    return svg.picture(found.columns)


def html(what: Viewable) -> str:
    """Return a page that plays a run from a file, without network or kernel, under the run's title."""
    found = _drawable(scenes(what))
    document = _player().document(found)
    from bokeh.embed import file_html
    from bokeh.resources import INLINE

    title = " / ".join(one.title for one in found)
    return str(file_html(document, INLINE, title=title, template=_PAGE))
