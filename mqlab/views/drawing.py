"""The figure of one run: glyphs over sources with fixed names, which the page fills (`page/stage.js`).

Nothing here knows a network. Each source below is drawn by one or two glyphs, in this order; what is later
lies above. Units are pixels of the stage, y downwards; colours are resolved in the page, for light and dark.
"""

from __future__ import annotations

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from mqlab.views.sizes import HEIGHT, WIDTH

FONT = value("system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif")
GLYPHS: dict[str, str] = {
    "frames": "x y w h fill edge dash hatch hatched",
    "halos": "xs ys w colour",
    "pipes": "xs ys w inner edge fill dash alpha",
    "strands": "xs ys w colour dash",
    "shapes": "xs ys fill edge w dash hatch",
    "cards": "x y w h fill edge width dash hatch hatched",
    "pills": "x y w h fill edge dash",
    "bars": "x y w h fill",
    "cells": "x y w h fill edge width",
    "wedges": "xs ys fill edge w",
    "rings": "x y r0 r1 a0 a1 fill",
    "dots": "x y size marker fill edge width dash",
    "words": "x y text font style colour align",
}


def stage(end: str, label: str) -> figure:
    """Return the figure of the run whose sources end with *end*, with *label* for those who do not see it."""
    plot = figure(
        width=WIDTH,
        height=HEIGHT,
        x_range=Range1d(0, WIDTH),
        y_range=Range1d(HEIGHT, 0),
        toolbar_location=None,
        min_border=0,
        outline_line_color=None,
        background_fill_alpha=0,
        border_fill_alpha=0,
        sizing_mode="scale_width",
        name="stage" + end,
        tools="",
        html_attributes={"role": "group", "aria-label": f"{label}; the table has the same data"},
    )
    # Axes, grids and a title that nobody sees are laid out at each paint all the same.
    plot.below, plot.left, plot.center, plot.title = [], [], [], None
    data = {
        name: ColumnDataSource({c: [] for c in shape.split()}, name=f"draw {name}{end}")
        for name, shape in GLYPHS.items()
    }
    _draw_lines(plot, data)
    _draw_cards(plot, data)
    _draw_marks(plot, data)
    for renderer in plot.renderers:
        renderer.selection_glyph = renderer.nonselection_glyph = renderer.muted_glyph = None
    return plot


def _rect(plot: figure, source: ColumnDataSource, radius: int, **looks: object) -> None:
    plot.rect("x", "y", "w", "h", source=source, fill_color="fill", border_radius=radius, **looks)


def _draw_lines(plot: figure, data: dict[str, ColumnDataSource]) -> None:
    """Add what lies below the cards: frames of hosts, the selection, pipes and subscriptions."""
    _rect(
        plot,
        data["frames"],
        10,
        line_color="edge",
        line_dash="dash",
        line_width=1.5,
        hatch_pattern="hatch",
        hatch_color="hatched",
        hatch_alpha=0.35,
        hatch_scale=14,
        hatch_weight=1,
    )
    plot.multi_line(
        "xs",
        "ys",
        source=data["halos"],
        line_width="w",
        line_color="colour",
        line_cap="round",
        line_join="round",
    )
    for width, colour in (("w", "edge"), ("inner", "fill")):
        plot.multi_line(
            "xs",
            "ys",
            source=data["pipes"],
            line_width=width,
            line_color=colour,
            line_dash="dash",
            line_alpha="alpha",
        )
    plot.multi_line(
        "xs",
        "ys",
        source=data["strands"],
        line_width="w",
        line_color="colour",
        line_dash="dash",
        line_join="round",
    )


def _draw_cards(plot: figure, data: dict[str, ColumnDataSource]) -> None:
    """Add brokers, clients and stores, and the queues in them."""
    plot.patches(
        "xs",
        "ys",
        source=data["shapes"],
        fill_color="fill",
        line_color="edge",
        line_width="w",
        line_dash="dash",
        hatch_pattern="hatch",
        hatch_color="edge",
        hatch_alpha=0.5,
        hatch_scale=14,
        hatch_weight=1,
    )
    _rect(
        plot,
        data["cards"],
        10,
        line_color="edge",
        line_width="width",
        line_dash="dash",
        hatch_pattern="hatch",
        hatch_color="hatched",
        hatch_alpha=0.5,
        hatch_scale=14,
        hatch_weight=1,
    )
    _rect(plot, data["pills"], 9, line_color="edge", line_dash="dash", line_width=1.5)
    _rect(plot, data["bars"], 2, line_color=None)
    _rect(plot, data["cells"], 3, line_color="edge", line_width="width")


def _draw_marks(plot: figure, data: dict[str, ColumnDataSource]) -> None:
    """Add rings, messages in windows, ports and signs, and all words; marks of what differs above cells."""
    plot.annular_wedge(
        "x",
        "y",
        "r0",
        "r1",
        "a0",
        "a1",
        source=data["rings"],
        fill_color="fill",
        line_color=None,
        direction="clock",
    )
    plot.scatter(
        "x",
        "y",
        size="size",
        marker="marker",
        source=data["dots"],
        fill_color="fill",
        line_color="edge",
        line_width="width",
        line_dash="dash",
    )
    plot.patches("xs", "ys", source=data["wedges"], fill_color="fill", line_color="edge", line_width="w")
    plot.text(
        "x",
        "y",
        "text",
        source=data["words"],
        text_font=FONT,
        text_font_size="font",
        text_font_style="style",
        text_color="colour",
        text_align="align",
        text_baseline="middle",
    )
