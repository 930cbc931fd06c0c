"""What a saved notebook shows of a picture without its kernel: a run in some lines of HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from mqlab.spec.plural import counted
from mqlab.trace.accounts import roles
from mqlab.trace.labels import title
from mqlab.trace.spans import spans
from mqlab.trace.trace import Trace
from mqlab.views import svg

MARK = "mqlab-summary"
STILL = f"img[src*={svg.MARK}], svg.{svg.MARK}"
# In JupyterLab the lines give way to the living picture beside them; without a kernel they hide the note that
# the picture is not there.
STYLE = f"""<style>
.jp-OutputArea-child:has(.{MARK}):has(+ .jp-OutputArea-child [data-mqlab=view]) {{ display: none; }}
.jp-OutputArea-child:has({STILL}):has(~ .jp-OutputArea-child [data-mqlab=view]) {{ display: none; }}
.jp-OutputArea-child:has(.{MARK}) + .jp-OutputArea-child:not(:has([data-mqlab=view])) {{ display: none; }}
</style>"""


def html(*traces: Trace) -> str:
    """Return what came of one run, or of two beside each other, as HTML that needs no script."""
    told = "".join(f"<p><b>{escape(title(one))}</b></p><ul>{_list(one)}</ul>" for one in traces)
    hint = "<p>Run the cell to play, query, break or fork this run.</p>"
    return f'{STYLE}<div class="{MARK}">{told}{hint}</div>'


def _list(trace: Trace) -> str:
    return "".join(f"<li>{escape(line)}</li>" for line in _lines(trace))


def _lines(trace: Trace) -> Iterator[str]:
    brokers = trace.names["node_role"].count("broker")
    yield (
        f"{counted(brokers, 'broker')}, {counted(trace.index.count, 'message')}, {counted(len(trace), 'event')}"
    )
    for name, count in trace.received().items():
        yield f"{name} received {count}"
    for broker, queues in trace.waiting().items():
        for queue, numbers in queues.items():
            yield (
                f"{counted(len(numbers), 'message')} waiting at {broker} in {queue} (numbers "
                f"{spans(numbers, most=12)})"
            )
    for name, changes in roles(trace).items():
        steps = [f"{role.replace('_', ' ')} at {time / 1e6:.1f} s" for time, role in changes]
        if len(steps) > 1:
            yield f"{name}: {', '.join(steps)}"
