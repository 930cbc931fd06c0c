"""Charts of one run or of two: what lay where over time, how long messages took, who got how many.

Colours are Okabe and Ito's, with dashes beside them; text and grid are of a grey that is read on light and on
dark. What is too much to be drawn is said, never left out silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np
from bokeh.document import Document
from bokeh.models import BasicTicker, Column, ColumnDataSource, FactorRange, Legend, Row
from bokeh.plotting import figure
from bokeh.transform import dodge

from mqlab.trace import Kind, Trace, fast
from mqlab.trace.labels import beside

if TYPE_CHECKING:
    from bokeh.models import GlyphRenderer

    from mqlab.trace.columns import Numbers

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
DASHES = ("solid", "dashed", "dotted", "dotdash")
MARKERS = ("circle", "square", "triangle", "diamond", "hex", "inverted_triangle")
GREY = "#7d8894"
MOST_LINES = 8  # places of one run that have a line of their own
MOST_STEPS = 2000  # of one line: of what is closer together the highest is shown
BINS = 40

Line = tuple[str, list[float], list[int]]  # name, times (ms), depths


def depths(trace: Trace) -> list[Line]:
    """Return for each broker and destination how many messages it held over time, the deepest first.

    The first depth is that at 0 ms, the last that at the end.
    """
    places, times, counts = fast.depths(trace)
    end = max(trace.column("t"), default=0)
    found = []
    for (broker, dest), time, count in zip(places, times, counts, strict=True):
        name = f"{trace.names['node'][broker]}, {trace.names['dest'][dest]}"
        t, depth = _thinned(time, count, end)
        found.append((name, [0.0, *t, end / 1000], [0, *depth, depth[-1]]))
    return sorted(found, key=lambda line: -max(line[2]))


def _thinned(time: Numbers, count: Numbers, end: int) -> tuple[list[float], list[int]]:
    """Return times (ms) and depths, at most so many: the last of each moment, the highest of each span."""
    last = np.flatnonzero(np.append(np.diff(time), 1))
    time, count = time[last], count[last]
    if len(time) > MOST_STEPS:
        span = time * MOST_STEPS // (end + 1)
        first = np.flatnonzero(np.diff(span, prepend=-1))
        highest = np.maximum.reduceat(count, first)
        time, count = np.append(time[first], time[-1]), np.append(highest, count[-1])
    return (time / 1000).tolist(), count.tolist()


def latencies(traces: Sequence[Trace]) -> tuple[list[float], list[list[int]]]:
    """Return the edges (ms) of the bins, and for each run how many messages took so long to a consumer."""
    ages = [
        np.asarray(trace.column("age"))[np.asarray(trace.rows(Kind.Received), int)] / 1000 for trace in traces
    ]
    longest = max((float(age.max()) for age in ages if len(age)), default=1.0)
    edges = np.linspace(0, longest or 1.0, BINS + 1)
    return edges.tolist(), [np.histogram(age, edges)[0].tolist() for age in ages]


def document(traces: Sequence[Trace]) -> Document:
    """Return the charts of one run, or of several side by side."""
    names = beside(traces)
    deep = [_depth(trace, name if len(traces) > 1 else "") for trace, name in zip(traces, names, strict=True)]
    for plot in deep[1:]:
        plot.x_range, plot.y_range = deep[0].x_range, deep[0].y_range
    row = Row(_latency(traces, names), _received(traces, names), sizing_mode="stretch_width")
    found = Document()
    found.add_root(Column(*deep, row, sizing_mode="stretch_width"))
    return found


def spans(counts: Mapping[str, Mapping[str, Sequence[int]]]) -> Document:
    """Return a chart of row -> name -> numbers: a bar from the least to the greatest, a mark at the mean."""
    names = list(dict.fromkeys(name for found in counts.values() for name in found))
    plot = _figure(
        "Messages per consumer",
        "messages",
        "",
        counts="x",
        tooltips="@row: @low to @high, mean @mean",
        y_range=FactorRange(*reversed(list(counts))),
    )
    plot.height = 110 + 14 * len(counts) * max(2, len(names))
    width, items = 0.8 / max(1, len(names)), []
    for place, (name, colour) in enumerate(zip(names, cycle(COLOURS), strict=False)):
        rows = {row: found[name] for row, found in counts.items() if found.get(name)}
        source = ColumnDataSource(
            {
                "row": list(rows),
                "low": [min(of) for of in rows.values()],
                "high": [max(of) for of in rows.values()],
                "mean": [sum(of) / len(of) for of in rows.values()],
            },
            name=name,
        )
        at = dodge("row", 0.4 - (place + 0.5) * width, range=plot.y_range)
        bar = plot.segment(
            x0="low", x1="high", y0=at, y1=at, source=source, line_color=colour, line_width=6, line_alpha=0.5
        )
        mark = plot.scatter(
            "mean", at, source=source, size=9, marker=MARKERS[place % len(MARKERS)], color=colour
        )
        items.append((name, [bar, mark]))
    _legend(plot, items, "right")
    found = Document()
    found.add_root(Column(plot, sizing_mode="stretch_width"))
    return found


def _figure(title: str, x: str, y: str, counts: str = "y", **more: object) -> figure:
    """Return an empty chart, on whose axis *counts* there are messages."""
    plot = figure(
        height=260,
        sizing_mode="stretch_width",
        toolbar_location=None,
        title=title,
        x_axis_label=x,
        y_axis_label=y,
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_color=None,
        **more,
    )
    plot.title.text_color = GREY
    for axis in (*plot.xaxis, *plot.yaxis):
        axis.axis_label_text_color = axis.major_label_text_color = axis.axis_line_color = GREY
        axis.major_tick_line_color = GREY
        axis.minor_tick_line_color = None
    axis, along, grid, across = plot.yaxis, plot.y_range, plot.ygrid, plot.xgrid
    if counts == "x":
        axis, along, grid, across = plot.xaxis, plot.x_range, plot.xgrid, plot.ygrid
    along.start = 0
    axis.ticker = BasicTicker(min_interval=1)  # nobody gets half a message
    across.visible = False
    grid.grid_line_color, grid.grid_line_alpha = GREY, 0.3
    return plot


def _legend(plot: figure, items: list[tuple[str, list[GlyphRenderer]]], place: str = "below") -> None:
    plot.add_layout(
        Legend(
            items=items,
            label_text_color=GREY,
            background_fill_alpha=0,
            border_line_color=None,
            click_policy="hide",
        ),
        place,
    )


def _depth(trace: Trace, name: str) -> figure:
    lines = depths(trace)
    more = len(lines) - MOST_LINES
    title = f"Queue depth{f': {name}' * bool(name)}"
    title += f" (deepest {MOST_LINES} shown, {more} omitted)" * (more > 0)
    plot = _figure(title, "time (ms)", "messages", tooltips="$name: @depth at @t ms")
    looks = islice(zip(cycle(COLOURS), cycle(DASHES), strict=False), MOST_LINES)
    items = []
    for (label, t, depth), (colour, dash) in zip(lines, looks, strict=False):
        source = ColumnDataSource({"t": t, "depth": depth}, name=label)
        glyph = plot.step(
            "t",
            "depth",
            source=source,
            mode="after",
            line_width=2,
            line_color=colour,
            line_dash=dash,
            name=label,
        )
        items.append((label, [glyph]))
    _legend(plot, items, "right")
    return plot


def _latency(traces: Sequence[Trace], names: Sequence[str]) -> figure:
    edges, counts = latencies(traces)
    plot = _figure("Latency from send to receipt", "ms", "messages")
    items = []
    for count, name, colour, dash in zip(counts, names, COLOURS, cycle(DASHES), strict=False):
        source = ColumnDataSource({"left": edges[:-1], "right": edges[1:], "count": count}, name="latency")
        glyph = plot.quad(
            left="left",
            right="right",
            top="count",
            bottom=0,
            source=source,
            line_width=2,
            fill_color=colour,
            fill_alpha=0.35,
            line_color=colour,
            line_dash=dash,
        )
        items.append((name, [glyph]))
    if len(traces) > 1:
        plot.height += 30 * len(traces)
        _legend(plot, items)
    return plot


def _received(traces: Sequence[Trace], names: Sequence[str]) -> figure:
    consumers = list(dict.fromkeys(name for trace in traces for name in trace.received()))
    plot = _figure(
        "Messages per consumer", "", "messages", x_range=FactorRange(*consumers), tooltips="@consumer: @count"
    )
    width, items = 0.8 / len(traces), []
    for place, (trace, name) in enumerate(zip(traces, names, strict=True)):
        counts = trace.received()
        source = ColumnDataSource(
            {"consumer": consumers, "count": [counts.get(c, 0) for c in consumers]}, name="received"
        )
        at = dodge("consumer", (place + 0.5) * width - 0.4, range=plot.x_range)
        colour, dash = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
        bar = plot.vbar(
            at,
            top="count",
            width=width * 0.9,
            source=source,
            fill_color=colour,
            fill_alpha=0.6,
            line_color=colour,
            line_dash=dash,
            line_width=2,
        )
        items.append((name, [bar]))
    if len(traces) > 1:
        plot.height += 30 * len(traces)
        _legend(plot, items)
    if len(consumers) > 12:
        plot.xaxis.major_label_orientation = "vertical"
    return plot
