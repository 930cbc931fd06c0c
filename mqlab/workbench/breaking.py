"""What can be done to a run at the moment that a picture shows: faults, and what clients do.

Each is one step more in the lab file, with the time at which it happens. What is offered has been
read: the product would run it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

from mqlab import products
from mqlab.errors import MqlabError
from mqlab.spec.change import Body
from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.workbench.parts import Part, destination, destinations, find, parts

Step = JsonDict
MESSAGES = 5  # that are sent by one press
# What each product calls what is done to a broker.
_STOP = {"activemq": "stop_broker"}
_RESTART = {"activemq": "start_broker"}
_RESUME = {"artemis": "resume_broker"}
_HOLD = {"artemis": "hold"}


@dataclass(frozen=True, slots=True)
class AvailableAction:
    """Something that can be done now: what it is called, and the step that it is."""

    text: str
    step: Step


def available_actions(body: Body, trace: Trace, kind: str, name: str, at: int) -> list[AvailableAction]:
    """Return what can be done at a time (us) to a part, or to the network if *kind* is empty."""
    part = find(body, kind, name)
    if part is None:
        offered = _everything(body)
    elif part.kind in ("consumer", "client", "producer") and not _is_there(trace, name, at):
        return []
    else:
        offered = _of_part(body, trace, part, at)
    return [deed for deed in offered if _can_be(body, deed.step, at)]


def _is_there(trace: Trace, name: str, at: int) -> bool:
    """Whether a client has done something by then: before it is open nothing can be done to it."""
    if name not in trace.names["node"]:
        return False
    node, columns = trace.names["node"].index(name), map(trace.column, ("t", "frm", "to"))
    return any(t <= at and node in (frm, to) for t, frm, to in zip(*columns, strict=True))


def _was(trace: Trace, at: int, *kinds: Kind) -> bool:
    """Whether something of these kinds has happened by then."""
    return any(trace.column("t")[row] <= at for row in trace.rows(*kinds))


def _everything(body: Body) -> Iterator[AvailableAction]:
    """Yield a crash of every broker: what one does first to a network."""
    for part in parts(body):
        if part.kind == "broker":
            yield AvailableAction(f"Crash {part.name}", {"do": "kill", "broker": part.name})


def with_step(body: Body, step: Step, at: int) -> dict[str, object]:
    """Return the lab file with one step more, which happens at a time (us)."""
    changed: JsonDict = copy.deepcopy(dict(body))
    changed["steps"] = [*changed.get("steps", ()), {**step, "at": f"{at}us"}]
    return changed


def _can_be(body: Body, step: Step, at: int) -> bool:
    """Whether the product reads the lab file with the step in it."""
    changed = with_step(body, step, at)
    try:
        products.product_of(changed).read(changed)
    except MqlabError:
        return False
    return True


def _of_part(body: Body, trace: Trace, part: Part, at: int) -> Iterator[AvailableAction]:
    if part.kind == "broker":
        yield from _broker(body, trace, part.name, at)
    elif part.kind == "connector":
        yield from _connector(body, trace, part, at)
    elif part.kind == "consumer":
        yield from _consumer(body, part.name)
    elif part.kind == "client":
        yield AvailableAction(f"Close client {part.name}", {"do": "close_client", "client": part.name})
    yield from _sends(body, part)


def _broker(body: Body, trace: Trace, name: str, at: int) -> Iterator[AvailableAction]:
    product = products.product_of(body).name
    state = _state(trace, name, at)
    if state in (Kind.Crashed, Kind.Stopped):
        restart = _RESTART.get(product, "restart")
        yield AvailableAction(f"Start {name} again", {"do": restart, "broker": name})
        return
    if state == Kind.Suspended:
        yield AvailableAction(f"Resume {name}", {"do": _RESUME.get(product, "resume"), "broker": name})
    yield AvailableAction(f"Crash {name}", {"do": "kill", "broker": name})
    yield AvailableAction(f"Stop {name} in order", {"do": _STOP.get(product, "stop"), "broker": name})
    if state != Kind.Suspended:
        yield AvailableAction(f"Suspend {name}", {"do": "pause", "broker": name})
    healable = _was(trace, at, Kind.Partitioned)
    for other in _neighbours(body, trace, name):
        yield from _line(product, name, other, healable)
    if product == "activemq":
        yield AvailableAction(f"Cut all lines to {name}", {"do": "cut", "link": name})
        if healable:
            yield AvailableAction(f"Heal the lines to {name}", {"do": "heal", "link": name})


def _line(product: str, one: str, other: str, healable: bool) -> Iterator[AvailableAction]:
    ends = {"link": one, "other": other} if product == "activemq" else {"between": [one, other]}
    yield AvailableAction(f"Cut the line {one} to {other}", {"do": "cut", **ends})
    if healable:
        yield AvailableAction(f"Heal the line {one} to {other}", {"do": "heal", **ends})


def _neighbours(body: Body, trace: Trace, name: str) -> list[str]:
    """Return the brokers that a broker has a line to."""
    ends = zip(trace.names["link_from"], trace.names["link_to"], strict=True)
    found = [end for pair in ends if name in pair for end in pair if end != name]
    brokers = [part.name for part in parts(body) if part.kind == "broker" and part.name != name]
    return list(dict.fromkeys(end for end in (found or brokers) if end in brokers))


def _connector(body: Body, trace: Trace, part: Part, at: int) -> Iterator[AvailableAction]:
    path = {"connector": part.name, "from": part.home}
    yield AvailableAction(f"Stop connector {part.name}", {"do": "stop_connector", **path})
    if _was(trace, at, Kind.Disconnected, Kind.BridgeDown):
        yield AvailableAction(f"Start connector {part.name}", {"do": "start_connector", **path})
    for other in part.to:
        healable = _was(trace, at, Kind.Partitioned)
        yield from _line(products.product_of(body).name, part.home, other, healable)


def _consumer(body: Body, name: str) -> Iterator[AvailableAction]:
    product = products.product_of(body).name
    yield AvailableAction(f"Pause {name}", {"do": _HOLD.get(product, "pause"), "consumer": name})
    yield AvailableAction(f"Resume {name}", {"do": "resume", "consumer": name})
    yield AvailableAction(f"Close {name}", {"do": "close_consumer", "consumer": name})
    yield AvailableAction(f"Kill the process of {name}", {"do": "kill_client", "consumer": name})


def _sends(body: Body, part: Part) -> Iterator[AvailableAction]:
    """Yield more messages: of a producer as it sends, at a broker to each destination there is."""
    if part.kind == "producer":
        step = next(
            s for s in body["steps"] if s["do"] == "send" and part.name in (s.get("producer"), s.get("name"))
        )
        more = {key: value for key, value in step.items() if key not in ("at", "label")}
        yield AvailableAction(f"{part.name} sends {MESSAGES} more", {**more, "count": MESSAGES})
    if part.kind == "broker":
        for kind, name in destinations(body):
            where = {"broker": part.name, "count": MESSAGES, kind: name}
            yield AvailableAction(f"Send {MESSAGES} messages to {name} here", {"do": "send", **where})


def _state(trace: Trace, broker: str, at: int) -> Kind | None:
    """Return the last thing that befell a broker until a time (us), of those that change its state."""
    kinds = (Kind.Started, Kind.Restarted, Kind.Stopped, Kind.Crashed, Kind.Suspended, Kind.Resumed)
    rows = [trace.event(row) for row in trace.rows(*kinds)]
    mine = [event.kind for event in rows if event.broker == broker and event.t <= at]
    return mine[-1] if mine else None


def told(body: Body, step: Step) -> str:
    """Return what a step does, as its button says it."""
    dest = destination(step)
    who = step.get("broker") or step.get("consumer") or step.get("connector") or step.get("client")
    what = str(step["do"]).replace("_", " ")
    if step["do"] == "send" and dest is not None:
        return f"{step.get('count', 1)} messages more to {dest[1]}"
    ends = step.get("between") or [end for end in (step.get("link"), step.get("other")) if end]
    return f"{what} {who or ' '.join(ends)}".strip()
