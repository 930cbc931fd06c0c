"""What can be done to a run at the moment that a picture shows: faults, and what clients do.

Each is one action more, with the time at which it happens. What is offered has been tried on the scenario: the
product would run it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from mqlab import products
from mqlab.errors import MqlabError
from mqlab.experiments.changes import told
from mqlab.spec import Scenario, codec
from mqlab.spec.change import Body
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.workbench.branch import Branch
from mqlab.workbench.parts import Part, destination, destinations, find, parts

Step = JsonDict
MESSAGES = 5  # that are sent by one press
MOST_OFFERED = 200  # in one list


@dataclass(frozen=True, slots=True)
class AvailableAction:
    """Something that can be done now: its text, the action as a lab file has it, and of which part."""

    text: str
    step: Step
    of: str = ""


def available_actions(branch: Branch, kind: str, name: str, at: int) -> list[AvailableAction]:
    """Return what can be done at a time (us), part by part: the chosen part is first, if *kind* names one."""
    return [*islice(_possible(branch, kind, name, at), MOST_OFFERED)]


def _possible(branch: Branch, kind: str, name: str, at: int) -> Iterator[AvailableAction]:
    body, trace, known = branch.body, branch.trace, set()
    chosen = find(body, kind, name)
    for part in sorted(parts(body), key=lambda one: one != chosen):
        for deed in _of_part(body, trace, part, at):
            if part != chosen and "sends" in deed.step:
                continue  # no fault: it is offered for what is chosen
            what = _same(deed.step)
            if what not in known and _can_be(branch.scenario, deed.step, at):
                known.add(what)
                yield deed


def _same(step: Step) -> frozenset[tuple[str, str]]:
    """Return what two actions share that are one: a line is cut from whichever end."""
    return frozenset((key.replace("other", "one"), str(value)) for key, value in step.items())


def _is_there(trace: Trace, name: str, at: int) -> bool:
    """Whether a client has done something by then: before it is open nothing can be done to it."""
    if name not in trace.names["node"]:
        return False
    node, columns = trace.names["node"].index(name), map(trace.column, ("t", "frm", "to"))
    return any(t <= at and node in (frm, to) for t, frm, to in zip(*columns, strict=True))


def _was(trace: Trace, at: int, *kinds: Kind) -> bool:
    """Whether something of these kinds has happened by then."""
    return any(trace.column("t")[row] <= at for row in trace.rows(*kinds))


def with_step(scenario: Scenario, step: Step, at: int) -> Scenario:
    """Return the scenario with one action more, which happens at a time (us)."""
    return scenario.with_actions(codec.read({**step, "at": f"{at}us"}, scenario.product))


def _can_be(scenario: Scenario, step: Step, at: int) -> bool:
    """Whether the scenario may have the step."""
    try:
        with_step(scenario, step, at)
    except MqlabError:
        return False
    return True


def _of_part(body: Body, trace: Trace, part: Part, at: int) -> list[AvailableAction]:
    if part.kind in ("consumer", "client", "producer") and not _is_there(trace, part.name, at):
        return []
    return [replace(deed, of=part.name) for deed in _offered(body, trace, part, at)]


def _offered(body: Body, trace: Trace, part: Part, at: int) -> Iterator[AvailableAction]:
    if part.kind == "broker":
        yield from _broker(body, trace, part.name, at)
    elif part.kind == "connector":
        yield from _connector(body, trace, part, at)
    elif part.kind == "consumer":
        yield from _consumer(body, part.name)
    elif part.kind == "client":
        yield AvailableAction(f"Close client {part.name}", {"do": "CloseClient", "client": part.name})
    yield from _sends(body, part)


def _broker(body: Body, trace: Trace, name: str, at: int) -> Iterator[AvailableAction]:
    state = _state(trace, name, at)
    if state in (Kind.Crashed, Kind.Stopped):
        yield AvailableAction(f"Start {name} again", {"do": "Restart", "broker": name})
        return
    if state == Kind.Suspended:
        yield AvailableAction(f"Resume {name}", {"do": "Resume", "who": name})
    yield AvailableAction(f"Crash {name}", {"do": "Crash", "broker": name})
    yield AvailableAction(f"Stop {name} cleanly", {"do": "Stop", "broker": name})
    if state != Kind.Suspended:
        yield AvailableAction(f"Suspend {name}", {"do": "Pause", "who": name})
    healable = _was(trace, at, Kind.Partitioned)
    for other in _neighbours(body, trace, name):
        yield from _line(body, name, other, healable)
    if products.product_of(body).name == "activemq":
        yield AvailableAction(f"Cut all connections to {name}", {"do": "Cut", "one": name})
        if healable:
            yield AvailableAction(f"Restore the connections to {name}", {"do": "Heal", "one": name})


def _line(body: Body, one: str, other: str, healable: bool) -> Iterator[AvailableAction]:
    ends = {"one": one, "other": other}
    how = {"how": "hang"} if products.product_of(body).name == "openmq" else {}  # the only cut it knows
    yield AvailableAction(f"Cut the link from {one} to {other}", {"do": "Cut", **ends, **how})
    if healable:
        yield AvailableAction(f"Restore the link from {one} to {other}", {"do": "Heal", **ends})


def _neighbours(body: Body, trace: Trace, name: str) -> list[str]:
    """Return the brokers that a broker has a line to."""
    ends = zip(trace.names["link_from"], trace.names["link_to"], strict=True)
    found = [end for pair in ends if name in pair for end in pair if end != name]
    brokers = [part.name for part in parts(body) if part.kind == "broker" and part.name != name]
    return list(dict.fromkeys(end for end in (found or brokers) if end in brokers))


def _connector(body: Body, trace: Trace, part: Part, at: int) -> Iterator[AvailableAction]:
    path = {"connector": part.name, "of": part.home}
    yield AvailableAction(f"Stop connector {part.name}", {"do": "StopConnector", **path})
    if _was(trace, at, Kind.Disconnected, Kind.BridgeDown):
        yield AvailableAction(f"Start connector {part.name}", {"do": "StartConnector", **path})
    for other in part.to:
        yield from _line(body, part.home, other, _was(trace, at, Kind.Partitioned))


def _consumer(body: Body, name: str) -> Iterator[AvailableAction]:
    yield AvailableAction(f"Pause {name}", {"do": "Pause", "who": name})
    if any(action["do"] == "Pause" and action["who"] == name for action in body["actions"]):
        yield AvailableAction(f"Resume {name}", {"do": "Resume", "who": name})
    yield AvailableAction(f"Close {name}", {"do": "Close", "consumer": name})
    yield AvailableAction(f"Kill the process of {name}", {"do": "KillClient", "consumer": name})


def _sends(body: Body, part: Part) -> Iterator[AvailableAction]:
    """Yield more messages: of a producer as it sends, at a broker to each destination there is."""
    if part.kind == "producer":
        sends = (one for one in body["actions"] if "sends" in one and _is_by(one, part.name))
        for action in islice(sends, 1):
            more = {key: value for key, value in action.items() if key not in ("at", "options", "id")}
            yield AvailableAction(f"{part.name} sends {MESSAGES} more", {**more, "sends": MESSAGES})
    if part.kind == "broker":
        for kind, name in destinations(body):
            where = {"name": f"P.{part.name}", "on": part.name, "to": f"{kind}://{name}"}
            text = f"Send {MESSAGES} messages to {name} here"
            yield AvailableAction(text, {"do": "Producer", **where, "sends": MESSAGES})


def _is_by(action: Body, producer: str) -> bool:
    return producer in (action.get("producer"), action.get("name"))


def _state(trace: Trace, broker: str, at: int) -> Kind | None:
    """Return the last thing that befell a broker until a time (us), of those that change its state."""
    kinds = (Kind.Started, Kind.Restarted, Kind.Stopped, Kind.Crashed, Kind.Suspended, Kind.Resumed)
    rows = [trace.event(row) for row in trace.rows(*kinds)]
    mine = [event.kind for event in rows if event.broker == broker and event.t <= at]
    return mine[-1] if mine else None


def text_of(step: Step) -> str:
    """Return what an action does, as its button says it."""
    dest = destination(step)
    if "sends" in step and dest is not None:
        return f"{counted(step['sends'], 'more message')} to {dest[1]}"
    return told(step)
