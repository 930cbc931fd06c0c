"""A trace of what clients of a real network saw: each message's way, when it was sent and when it came.

Real brokers tell nothing of the hours between; the steps of a way are laid at equal times from sending to
arrival. A message that nobody received is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mqlab.trace.kinds import Kind
from mqlab.trace.record import Recorder
from mqlab.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class ObservedMessage:
    """A message that came: where it was sent to, the brokers that it came by, its ends, times in us."""

    number: int
    dest: str
    path: tuple[str, ...]
    producer: str
    consumer: str
    sent: int
    received: int


Step = tuple[Kind, str, str]  # what happens, from and to
Row = tuple[int, int, int, Kind, str, str, ObservedMessage, Step | None]


def trace(names: Iterable[str], seen: Iterable[ObservedMessage], header: Mapping[str, object]) -> Trace:
    """Return the trace of what was seen, in the order of time; it begins with the first message.

    >>> one = ObservedMessage(1, "queue://Q", ("A", "B"), "P", "C", 5_000_000, 5_002_000)
    >>> found = trace(["A", "B"], [one], {})
    >>> found.received(), [event.kind.name for event in found.events()]
    ({'C': 1}, ['Sent', 'Enqueued', 'Forwarded', 'Enqueued', 'Dispatched', 'Received'])
    """
    seen = sorted(seen, key=lambda one: (one.sent, one.received, one.consumer))
    recorder = Recorder()
    nodes = {name: recorder.add_node(name, "broker") for name in names}
    for one in seen:
        ends = ((one.producer, "producer", one.path[0]), (one.consumer, "consumer", one.path[-1]))
        for name, role, home in ends:
            if name not in nodes:
                nodes[name] = recorder.add_node(name, role, home)
    start = min((one.sent for one in seen), default=0)
    rows = sorted((row for one in seen for row in _way(one, start)), key=lambda row: row[:3])
    told: dict[tuple[object, ...], int] = {}
    for time, number, place, kind, frm, to, one, cause in rows:
        key = (number, kind, frm, to)
        if key in told:
            continue  # copies of a topic's message go one way together
        home = frm if kind in (Kind.Forwarded, Kind.Dispatched, Kind.Received) else to
        link = recorder.name_link(f"{frm}-{to}", frm, to) if kind == Kind.Forwarded else -1
        told[key] = recorder.add(
            time,
            kind,
            number,
            nodes[home],
            nodes[frm],
            nodes[to],
            link,
            recorder.name_destination(one.dest),
            -1,
            max(0, (place - 1) // 2),
            time - (one.sent - start),
            cause=-1 if cause is None else told.get((number, *cause), -1),
        )
    return recorder.trace({**header, "observed": True})


def _way(one: ObservedMessage, start: int) -> Iterable[Row]:
    """Yield time, number, place on the way, kind, from, to, what was seen and the cause of each event."""
    steps: list[Step] = [
        (Kind.Sent, one.producer, one.path[0]),
        (Kind.Enqueued, one.producer, one.path[0]),
    ]
    for here, there in zip(one.path, one.path[1:], strict=False):
        steps += [(Kind.Forwarded, here, there), (Kind.Enqueued, here, there)]
    last = one.path[-1]
    steps += [(Kind.Dispatched, last, one.consumer), (Kind.Received, last, one.consumer)]
    for place, (kind, frm, to) in enumerate(steps):
        time = one.sent + (one.received - one.sent) * place // (len(steps) - 1) - start
        yield time, one.number, place, kind, frm, to, one, steps[place - 1] if place else None
