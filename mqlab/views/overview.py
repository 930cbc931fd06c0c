"""The overview of a long run: messages sent and received per second, from a pyramid's tiles."""

from __future__ import annotations

from bokeh.document import Document
from bokeh.models import Column, ColumnDataSource
from bokeh.plotting import figure

from mqlab.views.scene import Columns


def document() -> Document:
    """Return a chart of the source ``rate``: `t` (ms), `sent` and `received` (messages/s)."""
    source = ColumnDataSource({"t": [], "sent": [], "received": []}, name="rate")
    plot = figure(height=170, sizing_mode="stretch_width", toolbar_location=None, tools="",
                  x_axis_label="time (ms)", y_axis_label="messages per second", name="overview",
                  background_fill_alpha=0, border_fill_alpha=0, outline_line_color=None)  # fmt: skip
    for column, colour, dash in (("sent", "#009E73", "dashed"), ("received", "#D55E00", "solid")):
        plot.step("t", column, source=source, mode="after", line_width=2, line_color=colour,
                  line_dash=dash, legend_label=column)  # fmt: skip
    plot.legend.orientation = "horizontal"
    plot.legend.location = "top_right"
    plot.legend.background_fill_alpha = 0.6
    plot.y_range.start = 0
    plot.xgrid.visible = False
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.axis_label_text_color = axis.major_label_text_color = "#7d8894"
    document = Document()
    document.add_root(Column(plot, sizing_mode="stretch_width"))
    return document


def columns(t: list[float], sent: list[float], received: list[float]) -> Columns:
    """Return the chart's columns."""
    return {"rate": {"t": t, "sent": sent, "received": received}}
