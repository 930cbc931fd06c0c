"""The player: one Bokeh document that plays any scene.

The document is the same for every network. Whatever depends on the network lies in column data
sources under the names of `scene.columns`; a second panel, for a comparison, has the same names with
``" 2"`` behind. What moves is moved by the scripts of the folder `page`, without a round trip to Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from bokeh.core.properties import value
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import (
    Column,
    ColumnDataSource,
    CustomJS,
    Div,
    HoverTool,
    Range1d,
    Row,
)  # fmt: skip
from bokeh.plotting import figure

from mqlab.views import twin
from mqlab.views.scene import Columns, Scene
from mqlab.views.stage import HEIGHT, WIDTH

FONT = value("Helvetica, Arial, sans-serif")
# Of the folder page, in this order; together they are one function of the document's root.
SCRIPTS = (
    "bus.js",
    "tokens.js",
    "clock.js",
    "stage.js",
    "marks.js",
    "moving.js",
    "log.js",
    "axis.js",
    "foot.js",
    "caption.js",
    "breaks.js",
    "transport.js",
    "overview.js",
    "tracks.js",
    "spacetime.js",
    "keys.js",
    "fit.js",
    "lab.js",
    "panel.js",
    "panel_compare.js",
    "panel_build.js",
    "panel_why.js",
    "panel_tabs.js",
    "top.js",
    "player.js",
)
SHAPES: dict[str, str] = {
    "brokers": "node x y name label letters font gx gy up depth gauge shown r",
    "clients": "node x y name role hx hy size marker colour tx align text up",
    "links": "x0 y0 cx cy x1 y1 name frm to hx hy angle up wide",
    "legend": "x y text marker colour", "ways": "x0 y0 cx cy x1 y1 from to",
    "flights": "t0 took way look msg", "destinations": "name", "depths": "t node value",
    "received": "t node value", "states": "t what number up", "events": twin.NAMES,
    "rules": "sentence source", "folds": "x0 x1 text told",
    "lanes": "track name", "steps": "t lane value", "spans": "t0 t1 lane text", "nodes": "name role home",
    "clock": "play t", "meta": "title duration events radius beat unit",
}  # fmt: skip


def sources(columns: Columns, end: str = "") -> dict[str, ColumnDataSource]:
    """Return a source for each of a scene's tables; *end* tells a second panel's apart."""
    return {
        name: ColumnDataSource(
            {c: columns.get(name, {}).get(c, []) for c in shape.split()}, name=name + end
        )
        for name, shape in SHAPES.items()
    }


def document(scenes: Sequence[Scene]) -> Document:
    """Return a document that plays one scene, or two side by side on one clock."""
    panels, kept = [], []
    labels = ("one", "other") if len(scenes) > 1 else ("",)
    for number, (one, label) in enumerate(zip(scenes, labels, strict=True)):
        end = "" if number == 0 else f" {number + 1}"
        data = sources(one.columns, end)
        kept += data.values()
        panels.append(_panel(data, end, label or one.title or "network of brokers"))
    middle = Row(*panels, _place("panel", width=372), name="middle", sizing_mode="stretch_width")
    root = Column(
        _place("top"), middle, _place("foot"), name="player", sizing_mode="stretch_width",
        html_attributes={"data-lm-suppress-shortcuts": "true"},
    )  # fmt: skip
    # A document only knows models that something refers to; most sources are read by the page alone.
    root.js_on_change("name", CustomJS(args={"kept": kept}, code=""))
    room = resources.files(__package__).joinpath("page")
    code = "\n".join(room.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    doc = Document()
    doc.add_root(root)
    doc.js_on_event(DocumentReady, CustomJS(args={"root": root}, code=code))
    return doc


def _place(name: str, width: int | None = None) -> Div:
    """Return a place that the page fills (`page/*.js`): as wide as there is room, or *width* px."""
    if width is None:
        return Div(name=name, margin=0, sizing_mode="stretch_width")
    return Div(name=name, margin=0, width=width, sizing_mode="stretch_height")


def _panel(data: dict[str, ColumnDataSource], end: str, label: str) -> Any:
    """Return the figure of one run."""
    plot = figure(
        width=WIDTH, height=HEIGHT, x_range=Range1d(0, WIDTH), y_range=Range1d(0, HEIGHT),
        toolbar_location=None, min_border=0, outline_line_color=None, background_fill_alpha=0,
        border_fill_alpha=0, sizing_mode="scale_width", name="stage" + end, tools="",
        html_attributes={"role": "img", "aria-label": f"{label}; the table tells the same"},
    )  # fmt: skip
    plot.axis.visible = False
    plot.grid.visible = False
    _draw_links(plot, data, end)
    _draw_clients(plot, data, end)
    _draw_brokers(plot, data, end)
    _draw_words(plot, data, end)
    return plot


def _draw_links(plot: Any, data: dict[str, ColumnDataSource], end: str) -> None:
    edges = plot.quadratic(
        "x0", "y0", "x1", "y1", "cx", "cy", source=data["links"], line_width="wide", line_alpha="up",
        line_color="#8b95a1", name="edges" + end,
    )  # fmt: skip
    plot.scatter("hx", "hy", marker="triangle", angle="angle", size=11, source=data["links"],
                 fill_color="#8b95a1", line_color=None, fill_alpha="up", name="heads" + end)  # fmt: skip
    plot.add_tools(HoverTool(renderers=[edges], tooltips="connector @name: @frm to @to",
                             line_policy="interp"))  # fmt: skip


def _draw_clients(plot: Any, data: dict[str, ColumnDataSource], end: str) -> None:
    source = data["clients"]
    plot.segment("hx", "hy", "x", "y", source=source, line_dash=[4, 4], line_color="#8b95a1",
                 line_alpha="up", name="tethers" + end)  # fmt: skip
    marks = plot.scatter("x", "y", marker="marker", size="size", fill_color="colour", source=source,
                         line_color="white", line_width=1.5, fill_alpha="up", line_alpha="up",
                         name="marks" + end)  # fmt: skip
    plot.text("tx", "y", "text", source=source, text_align="align", text_baseline="middle",
              text_font=FONT, text_font_size="13px", text_alpha="up", name="client names" + end)  # fmt: skip
    plot.add_tools(HoverTool(renderers=[marks], tooltips="@role @name"))


def _draw_brokers(plot: Any, data: dict[str, ColumnDataSource], end: str) -> None:
    source = data["brokers"]
    # No line shows through a broker that is drawn faintly.
    plot.circle("x", "y", radius="r", source=source, fill_color="white", line_color=None,
                name="discs" + end)  # fmt: skip
    circles = plot.circle(
        "x",
        "y",
        radius="r",
        source=source,
        fill_color="#0072B2",
        line_color="white",
        line_width=2.5,
        fill_alpha="up",
        name="circles" + end,
    )
    plot.text("x", "y", "label", source=source, text_align="center", text_baseline="middle",
              text_color="white", text_font=FONT, text_font_size="font", text_font_style="bold",
              name="broker names" + end)  # fmt: skip
    plot.text(
        "gx",
        "gy",
        "gauge",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_color="#111111",
        text_font=FONT,
        text_font_size="12px",
        text_font_style="bold",
        background_fill_color="#E69F00",
        background_fill_alpha="shown",
        padding=3,
        border_radius=4,
        name="gauges" + end,
    )
    plot.add_tools(HoverTool(renderers=[circles], tooltips="broker @name: @depth waiting"))


def _draw_words(plot: Any, data: dict[str, ColumnDataSource], end: str) -> None:
    """Add legend, title and clock."""
    plot.scatter("x", "y", marker="marker", size=13, fill_color="colour", line_color="colour",
                 fill_alpha=0.9, source=data["legend"])  # fmt: skip
    plot.text("x", "y", "text", x_offset=16, source=data["legend"], text_baseline="middle",
              text_font=FONT, text_font_size="12px", name="legend words" + end)  # fmt: skip
    words = ColumnDataSource({"x": [14, WIDTH - 14], "y": [HEIGHT - 22] * 2, "text": ["", ""],
                              "align": ["left", "right"]}, name="words" + end)  # fmt: skip
    plot.text("x", "y", "text", source=words, text_align="align", text_baseline="middle",
              text_font=FONT, text_font_size="15px", text_font_style="bold",
              name="title words" + end)  # fmt: skip
