"""What a file of events does not say and the events themselves do: what led to what, ages, hops, who is who."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.trace import tables
from mqlab.trace.kinds import Kind, Reason

Values = Mapping[str, list[Any]]  # column -> values
_SOURCE = {  # kind -> the kinds of events that lead to it, the likeliest first
    Kind.Enqueued: (Kind.Forwarded, Kind.Sent),
    Kind.Received: (Kind.Dispatched, Kind.Enqueued),
    Kind.Returned: (Kind.Dispatched,),
    **dict.fromkeys(
        (
            Kind.Forwarded,
            Kind.Dispatched,
            Kind.Held,
            Kind.Acknowledged,
            Kind.Discarded,
            Kind.Expired,
            Kind.DeadLettered,
        ),
        (Kind.Enqueued,),
    ),
}


def complete(values: Values) -> dict[str, list[object]]:
    """Return all columns of a trace: those that are missing are found from the others, or are empty."""
    size = len(values["t_us"])
    found = {name: list(values.get(name) or [None] * size) for name in tables.COLUMNS}
    if "rule" not in values:
        found["rule"] = [Reason.none] * size
    found["destination"] = _destinations(found)
    _fill_ends(found)
    if "cause" not in values:
        found["cause"] = _causes(found)
    _fill_whence(found)
    if "link" not in values:
        found["link"] = _links(found)
    if "hops" not in values:
        found["hops"] = _hops(found)
    if "age_us" not in values:
        found["age_us"] = _ages(found)
    return found


def _destinations(values: Values) -> list[str | None]:
    """Return where each message was sent to, for events that do not say."""
    sent: dict[int, str | None] = {}
    for message, destination in zip(values["message"], values["destination"], strict=True):
        if message is not None and destination is not None:
            sent.setdefault(message, destination)
    return [
        sent.get(message) if destination is None else destination
        for message, destination in zip(values["message"], values["destination"], strict=True)
    ]


def _fill_ends(values: Values) -> None:
    """Name the broker as the end that an event leaves out: what is sent to it, or goes out from it."""
    rows = zip(values["kind"], values["broker"], strict=True)
    for row, (kind, broker) in enumerate(rows):
        end = {
            Kind.Sent: "to",
            Kind.Enqueued: "to",
            Kind.Forwarded: "from",
            Kind.Dispatched: "from",
            Kind.Received: "from",
        }.get(kind)
        if end is not None and values[end][row] is None:
            values[end][row] = broker


def _fill_whence(values: Values) -> None:
    """Name whom a broker has a message from, where only what led to it says so."""
    for row, (kind, cause) in enumerate(zip(values["kind"], values["cause"], strict=True)):
        if kind == Kind.Enqueued and cause is not None and values["from"][row] is None:
            values["from"][row] = values["from"][cause]


def _links(values: Values) -> list[str | None]:
    """Return a name for what a message crosses between brokers."""
    brokers = set(values["broker"]) - {None}
    found = list[str | None]()
    for kind, broker, frm, to in zip(*(values[n] for n in ("kind", "broker", "from", "to")), strict=True):
        ends = {Kind.Forwarded: (broker, to), Kind.Enqueued: (frm, broker)}.get(kind, (None, None))
        crosses = None not in ends and brokers.issuperset(ends) and ends[0] != ends[1]
        found.append(f"{ends[0]}-{ends[1]}" if crosses else None)
    return found


def _ends(values: Values, row: int) -> str | None:
    """Return where what an event hands over arrives."""
    kind, broker, to = (values[name][row] for name in ("kind", "broker", "to"))
    hands_over = kind in (Kind.Forwarded, Kind.Dispatched) or (kind == Kind.Sent and broker is None)
    place: str | None = to if hands_over else broker
    return place


def _causes(values: Values) -> list[int | None]:
    """Return for each event the latest one of its message that can have led to it, at its place."""
    latest: dict[tuple[int, Kind, str | None], int] = {}
    found = list[int | None]()
    for row, (kind, message) in enumerate(zip(values["kind"], values["message"], strict=True)):
        at = values["to"][row] if kind == Kind.Received else values["broker"][row]
        places = (at, values["broker"][row])
        causes = [latest.get((message, source, place)) for source in _SOURCE.get(kind, ()) for place in places]
        found.append(next((cause for cause in causes if cause is not None), None))
        if message is not None:
            latest[message, kind, _ends(values, row)] = row
    return found


def _hops(values: Values) -> list[int]:
    """Return how many brokers had forwarded the message of each event."""
    found = list[int]()
    for kind, cause in zip(values["kind"], values["cause"], strict=True):
        before = found[cause] if cause is not None else 0
        crossed = cause is not None and kind == Kind.Enqueued and values["kind"][cause] == Kind.Forwarded
        found.append(before + crossed)
    return found


def _ages(values: Values) -> list[int]:
    """Return how long ago the message of each event was sent (us)."""
    sent: dict[int, int] = {}
    found = list[int]()
    for kind, message, time in zip(values["kind"], values["message"], values["t_us"], strict=True):
        if kind == Kind.Sent and message is not None:
            sent.setdefault(message, time)
        found.append(time - sent.get(message, time))
    return found


def names_of(values: Values) -> dict[str, list[str]]:
    """Return the tables of names: who is broker, producer or consumer, and what each link joins."""
    brokers = dict.fromkeys(name for name in values["broker"] if name is not None)
    roles, homes, ends = dict[str, str](), dict[str, str](), dict[str, tuple[str, str]]()
    rows = zip(*(values[n] for n in ("kind", "broker", "from", "to", "link")), strict=True)
    for kind, broker, frm, to, link in rows:
        for name, role in ((broker, "broker"), (frm, "producer"), (to, "consumer")):
            if name is not None and name not in roles:
                roles[name] = "broker" if name in brokers else role
                homes[name] = "" if name in brokers else broker or ""
        if kind in (Kind.Received, Kind.Dispatched) and to is not None and to not in brokers:
            roles[to] = "consumer"  # it may have sent as well
        if link is not None and frm in brokers and to in brokers:
            ends.setdefault(link, (frm, to))
        elif link is not None and None not in (broker, to) and to in brokers:
            ends.setdefault(link, (broker, to))
    links = dict.fromkeys(name for name in values["link"] if name is not None)
    return {
        "node": list(roles),
        "node_role": list(roles.values()),
        "node_home": list(homes.values()),
        "link": list(links),
        "link_from": [ends.get(link, ("", ""))[0] for link in links],
        "link_to": [ends.get(link, ("", ""))[1] for link in links],
        "dest": list(dict.fromkeys(d for d in values["destination"] if d is not None)),
        "sub": list(dict.fromkeys(s for s in values["subscription"] if s is not None)),
    }
