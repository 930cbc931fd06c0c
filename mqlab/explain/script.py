"""What a run's script says of a message and of a consumer, whatever the product.

Selectors and properties are in no column of a trace; they stand in the scenario that it carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.spec.json_types import JsonObject
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

Step = JsonObject


def steps(trace: Trace) -> list[Step]:
    """Return the steps of the run's script; none for a trace without one."""
    found: list[Step] = list(trace.header.get("scenario", {}).get("steps", ()))
    return found


def openings(trace: Trace, consumer: str) -> list[Step]:
    """Return the steps that open a consumer, one for each of its lives."""
    opens = ("open_consumer", "temporary")
    return [s for s in steps(trace) if s["do"] in opens and s.get("consumer") == consumer]


def _sends(trace: Trace, sender: str) -> Iterator[Step]:
    """Yield the steps by which a producer sends; who was not named is called by its place."""
    for no, step in enumerate(steps(trace)):
        if step["do"] == "send":
            named = [step.get(key) for key in ("producer", "name", "client") if step.get(key)]
            by_place = ("P", f"P.{step.get('broker')}", f"sender{no}")
            if sender in (named or by_place):
                yield step


def properties(trace: Trace, number: int) -> dict[str, object]:
    """Return the properties that a message was sent with."""
    step, place = _sending(trace, number)
    return _dealt(step.get("properties", {}), place)


def headers(trace: Trace, number: int) -> dict[str, object]:
    """Return the JMS headers of a message that a selector may ask for."""
    step, place = _sending(trace, number)
    mode = "PERSISTENT" if step.get("persistent", True) else "NON_PERSISTENT"
    return _dealt({"JMSPriority": step.get("jms_priority", 4), "JMSDeliveryMode": mode}, place)


def asked_by(selector: str, trace: Trace, number: int) -> dict[str, object]:
    """Return what a message has that a selector looks at: the headers it names, and its properties."""
    named = set(re.findall(r"\w+", selector))
    found = {name: value for name, value in headers(trace, number).items() if name in named}
    return found | properties(trace, number)


def _dealt(given: Step, place: int) -> dict[str, object]:
    """Return values for the message at *place*; those in a list are dealt out in turn."""
    return {k: v[place % len(v)] if isinstance(v, list) and v else v for k, v in given.items()}


def _sending(trace: Trace, number: int) -> tuple[Step, int]:
    """Return the step that sent a message, and how many it had sent before."""
    rows, frm = trace.rows_of(number), trace.column("frm")
    sent = next((row for row in rows if trace.column("kind")[row] == Kind.Sent), None)
    if sent is None:
        return {}, 0  # an advisory, which no step sends
    place = trace.index().sent[frm[sent]].index(number)
    for step in _sends(trace, trace.names["node"][frm[sent]]):
        if place < step["count"]:
            return step, place
        place -= step["count"]
    return {}, 0


def refusing_selector(trace: Trace, number: int, consumer: str) -> str | None:
    """Return the selector by which every life of a consumer refuses a message; None if one takes it."""
    from mqlab.spec.selector import Selector  # its grammar is only loaded when needed

    texts = [step.get("selector") for step in openings(trace, consumer)]
    if not texts or not all(texts):
        return None
    asked = headers(trace, number), properties(trace, number)
    if any(Selector(str(text)).selects(*asked) for text in texts):
        return None
    return str(texts[-1])
