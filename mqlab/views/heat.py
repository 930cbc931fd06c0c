"""Heat maps, one or several beside each other on one scale: rows, columns, a number in each cell."""

from __future__ import annotations

from collections.abc import Mapping

from bokeh.document import Document
from bokeh.layouts import gridplot
from bokeh.models import Column, ColumnDataSource, Div, FactorRange, LinearColorMapper, UIElement
from bokeh.palettes import Cividis256
from bokeh.plotting import figure

from mqlab.views.charts import GREY

MOST = 12  # heat maps that are drawn; more are said
ACROSS = 3
Values = Mapping[str, Mapping[str, float | None]]


def document(panels: Mapping[str, Values], unit: str, high: float | None = None) -> Document:
    """Return a document with a heat map for each of *panels*: row -> column -> number in *unit*.

    Colours are light to dark, from 0 to *high*, or to the greatest number, and each cell says its number.
    """
    numbers = [n for rows in panels.values() for row in rows.values() for n in row.values() if n]
    scale = LinearColorMapper([*reversed(Cividis256)], low=0, high=high or max(numbers, default=1))
    shown = list(panels.items())[:MOST]
    maps = [_map(title, rows, scale, unit) for title, rows in shown]
    rows = [maps[at : at + ACROSS] for at in range(0, len(maps), ACROSS)]
    parts: list[UIElement] = [gridplot(rows, toolbar_location=None, sizing_mode="stretch_width")]
    if len(panels) > MOST:
        parts.append(Div(text=f"{len(panels) - MOST} more are not drawn; the table has them."))
    found = Document()
    found.add_root(Column(*parts, sizing_mode="stretch_width"))
    return found


def _map(title: str, rows: Values, scale: LinearColorMapper, unit: str) -> figure:
    across = list(dict.fromkeys(name for row in rows.values() for name in row))
    cells = [(row, name, n) for row, found in rows.items() for name, n in found.items() if n is not None]
    source = ColumnDataSource(
        {
            "row": [cell[0] for cell in cells],
            "column": [cell[1] for cell in cells],
            "n": [cell[2] for cell in cells],
            "told": [f"{cell[2]:.3g}" if cell[2] < 1000 else f"{cell[2]:.0f}" for cell in cells],
            "ink": ["white" if cell[2] > 0.5 * scale.high else "black" for cell in cells],
        },
        name=title,
    )
    plot = figure(
        title=title,
        x_range=FactorRange(*across),
        y_range=FactorRange(*reversed(list(rows))),
        height=110 + 32 * len(rows),
        sizing_mode="stretch_width",
        toolbar_location=None,
        tooltips=f"@row, @column: @told {unit}",
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_color=None,
    )
    plot.rect(
        "column",
        "row",
        0.96,
        0.94,
        source=source,
        line_color=None,
        fill_color={"field": "n", "transform": scale},
    )
    plot.text(
        "column",
        "row",
        "told",
        source=source,
        text_color="ink",
        text_align="center",
        text_baseline="middle",
        text_font_size="12px",
    )
    plot.title.text_color = GREY
    plot.grid.visible = False
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.major_label_text_color = GREY
        axis.axis_line_color = axis.major_tick_line_color = None
    plot.xaxis.major_label_orientation = 0.5
    return plot
