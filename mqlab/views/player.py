"""The player: one Bokeh document that plays any scene.

The document is the same for every network. Whatever depends on the network lies in column data
sources under the names of `scene.columns`; a second panel, for a comparison, has the same names with
``" 2"`` behind, a third ``" 3"``. What moves is moved by the scripts of the folder `page`, without a round
trip to Python.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import uuid
from collections.abc import Sequence
from functools import cache
from importlib import resources

from bokeh.document import Document
from bokeh.embed import json_item
from bokeh.events import DocumentReady
from bokeh.models import (
    Column,
    ColumnDataSource,
    CustomJS,
    Div,
    Row,
)

from mqlab.views import drawing
from mqlab.views.pack import pack
from mqlab.views.scene import SHAPES, Columns, Scene

LABELS = ("one", "other", "third", "fourth")
MOST = len(LABELS)  # runs side by side
TITLE, COLUMNS, SCRIPT = "mqlab:title", "mqlab:columns", "mqlab:script"  # what a template leaves open
_ID = re.compile(r'(?<!\\)"(p\d+)"')  # a model's name, and no text that only looks like one

# Of the folder page, in this order; together they are one function of the document's root.
SCRIPTS = (
    "bus.js",
    "unpack.js",
    "tokens.js",
    "clock.js",
    "model.js",
    "ink.js",
    "cards.js",
    "exclusive.js",
    "clients.js",
    "lines.js",
    "sides.js",
    "apart.js",
    "groups.js",
    "places.js",
    "stage.js",
    "lens.js",
    "pointing.js",
    "marks.js",
    "moving.js",
    "log.js",
    "axis.js",
    "foot.js",
    "caption.js",
    "breaks.js",
    "transport.js",
    "overview.js",
    "lanes.js",
    "faults.js",
    "whole.js",
    "tracks.js",
    "spacetime.js",
    "keys.js",
    "fit.js",
    "vector.js",
    "lab.js",
    "panel.js",
    "panel_compare.js",
    "panel_build.js",
    "spread.js",
    "panel_why.js",
    "panel_events.js",
    "panel_counters.js",
    "panel_tabs.js",
    "palette.js",
    "walk.js",
    "editor.js",
    "open.js",
    "top.js",
    "player.js",
)


def sources(end: str = "") -> dict[str, ColumnDataSource]:
    """Return a source for each of a scene's tables, empty; *end* tells a second panel's apart."""
    return {
        name: ColumnDataSource({column: [] for column in shape.split()}, name=name + end)
        for name, shape in SHAPES.items()
    }


def packed(scenes: Sequence[Scene]) -> str:
    """Return the columns of some scenes as the page takes them with it (`pack`)."""
    tables: Columns = {}
    for number, one in enumerate(scenes):
        end = f" {number + 1}" * bool(number)
        for name, shape in SHAPES.items():
            given = one.columns.get(name, {})
            tables[name + end] = {column: given.get(column, []) for column in shape.split()}
    return pack(tables)


def item(scenes: Sequence[Scene]) -> str:
    """Return what makes these scenes' document of a template (`host.Template`), which a page gets once.

    The template has the script and hundreds of models; a run is a seventieth of it.
    """
    count = len(scenes)
    mine = {"template": name_of(template(count)), "panels": count, "prefix": uuid.uuid4().hex[:8]}
    return json.dumps({**mine, "title": _label(scenes), "columns": packed(scenes)})


def template(panels: int) -> str:
    """Return the text of a document with so many panels, in which title and columns are left open."""
    return models(panels).replace(SCRIPT, json.dumps(script())[1:-1])


@cache
def models(panels: int) -> str:
    """Return a template without its script: hundreds of models take longer to make than a run to play."""
    doc = document([Scene(TITLE, 0.0, {})] * panels, SCRIPT)
    doc.roots[0].tags = [COLUMNS]
    return json.dumps(json_item(doc.roots[0]))


def filled(text: str, template: str) -> str:
    """Return the document of an item, as `host.js` makes it: with names of its own for the models."""
    item = json.loads(text)
    mine = _ID.sub(rf'"{item["prefix"]}-\1"', template)
    columns, title = (json.dumps(item[key])[1:-1] for key in ("columns", "title"))
    return mine.replace(COLUMNS, columns).replace(TITLE, title)  # a title may be any text


def name_of(template: str) -> str:
    """Return the name under which a page keeps a template: another text has another."""
    return hashlib.sha256(template.encode()).hexdigest()[:16]


def script() -> str:
    """Return the script of a page and what it says, as the files are now."""
    room = resources.files(__package__).joinpath("page")
    said = json.dumps(words(), ensure_ascii=False)
    files = (room.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return "\n".join([f"const TEXTS = {said};", *files])


def _label(scenes: Sequence[Scene]) -> str:
    return scenes[0].title or "network of brokers"


def document(scenes: Sequence[Scene], code: str | None = None) -> Document:
    """Return a document that plays one scene, or up to `MOST` on one clock, by its `script` or another."""
    panels, kept = [], []
    labels = LABELS[: len(scenes)] if len(scenes) > 1 else ("",)
    for number, (one, label) in enumerate(zip(scenes, labels, strict=True)):
        end = "" if number == 0 else f" {number + 1}"
        data = sources(end)
        kept += data.values()
        panels.append(drawing.stage(end, label or _label([one])))
    middle = Row(*panels, name="middle", sizing_mode="stretch_width")
    root = Column(
        _place("top"),
        middle,
        _place("foot"),
        _place("panel"),
        name="player",
        sizing_mode="stretch_width",
        html_attributes={"data-lm-suppress-shortcuts": "true"},
        tags=[packed(scenes)],
    )
    # A document only knows models that something refers to; most sources are read by the page alone.
    root.js_on_change("name", CustomJS(args={"kept": kept}, code=""))
    doc = Document()
    doc.add_root(root)
    doc.js_on_event(DocumentReady, CustomJS(args={"root": root}, code=code or script()))
    return doc


def words(language: str = "en") -> dict[str, str]:
    """Return what the page says (`words.toml`), key -> text; English where a language has no text."""
    found = tomllib.loads(resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
    return {**found["en"], **found.get(language, {})}


def _place(name: str) -> Div:
    """Return a place that the page fills (`page/*.js`); where it stands is for `page/fit.js`."""
    return Div(name=name, margin=0, sizing_mode="stretch_width")
