"""A run in the forms of other tools: a sequence diagram, a graph, a trace for a timeline viewer."""

from __future__ import annotations

import json
from collections.abc import Iterator

from mqlab.errors import BadValue
from mqlab.explain import sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

FORMS = ("mermaid", "dot", "timeline")
MOST_MESSAGES = 100  # in a sequence diagram that can still be read
_HOPS = (Kind.Sent, Kind.Dispatched, Kind.Forwarded)
_NOTES = (
    Kind.Crashed,
    Kind.Stopped,
    Kind.Restarted,
    Kind.Suspended,
    Kind.Resumed,
    Kind.RoleChanged,
)


def mermaid(trace: Trace) -> str:
    """Return the messages of a run as a Mermaid sequence diagram; raises `BadValue` for too many of them.

    >>> import mqlab as mq
    >>> mermaid(mq.run("fuse:2.20")).splitlines()[-1].strip()
    'n1->>n4: 12'
    """
    count = trace.index.count
    if count > MOST_MESSAGES:
        raise BadValue(
            f"{counted(count, 'message is', 'messages are')} too many for a sequence diagram; the limit "
            f"is {MOST_MESSAGES}"
        )
    lines = ["sequenceDiagram"]
    numbers = {name: f"n{no}" for no, name in enumerate(trace.names["node"])}
    for name, number in numbers.items():
        lines.append(f"    participant {number} as {_word(name)}")
    for event in trace.events():
        if event.kind in _HOPS and event.message is not None and event.frm and event.to:
            lines.append(f"    {numbers[event.frm]}->>{numbers[event.to]}: {event.message}")
        elif event.kind in _NOTES and event.broker:
            told = sentence(trace, event)
            note = _word(f"{told.text if told else event.kind.name}, {told_time(event.t)}")
            lines.append(f"    Note over {numbers[event.broker]}: {note}")
    return "\n".join(lines) + "\n"


def _word(name: str) -> str:
    """Return a name that neither Mermaid nor its page takes for something else."""
    kept = (c if c.isalnum() or c in " ,._-" else f"#{ord(c)};" for c in name)
    return "".join(kept) or "#32;"


def dot(trace: Trace) -> str:
    """Return the network of a run as a graph for Graphviz: brokers, clients, what crossed a connector."""
    names, crossed = trace.names, _crossed(trace)
    lines = ["digraph network {", "  rankdir=LR;"]
    for name, role in zip(names["node"], names["node_role"], strict=True):
        shape = "box" if role == "broker" else "ellipse"
        lines.append(f"  {_quoted(name)} [shape={shape}];")
    for link, frm, to in zip(names["link"], names["link_from"], names["link_to"], strict=True):
        label = f"{link}: {crossed.get(link, 0)}"
        lines.append(f"  {_quoted(frm)} -> {_quoted(to)} [label={_quoted(label)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _crossed(trace: Trace) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in trace.rows(Kind.Forwarded):
        link = trace.event(row).link
        if link is not None:
            found[link] = found.get(link, 0) + 1
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def timeline(trace: Trace) -> str:
    """Return a run as Chrome trace JSON, which Perfetto opens: a track a node, an arrow a message."""
    tracks = {name: no for no, name in enumerate(trace.names["node"])}
    events = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": no, "args": {"name": name}}
        for name, no in tracks.items()
    ]
    for event in trace.events():
        where = event.broker or event.to or event.frm
        if where is not None:
            events += _marks(event, tracks[where])
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events})


def _marks(event: Event, track: int) -> Iterator[dict[str, object]]:
    """Yield what a timeline shows of an event: when, what, and of which message."""
    message = "" if event.message is None else f" {event.message}"
    about = {
        "message": event.message,
        "destination": event.destination,
        "link": event.link,
        "rule": event.rule.sentence,
        "source": event.rule.source,
    }
    told = {key: value for key, value in about.items() if value}
    yield {
        "ph": "i",
        "s": "t",
        "name": f"{event.kind.name}{message}",
        "ts": event.t,
        "pid": 0,
        "tid": track,
        "args": told,
    }
