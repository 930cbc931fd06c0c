"""What a run's script says of a message and of a consumer, whatever the product.

Selectors and properties are in no column of a trace; they stand in the scenario that it carries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mqlab.spec.action import Consumer, Producer
from mqlab.spec.headers import NOT_OUT_YET, dealt, dealt_one
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.openmq.actions import Send

    Sending = Producer | Send  # what sends messages in a script


def openings(trace: Trace, consumer: str) -> list[Consumer]:
    """Return the actions that open a consumer, one for each of its lives."""
    return [one for one in trace.actions if isinstance(one, Consumer) and one.name == consumer]


def _sends(trace: Trace, sender: str) -> Iterator[Sending]:
    from mqlab.spec.openmq.actions import Send  # here: its classes are a tenth of `import mqlab`

    for action in trace.actions:
        names = (
            (action.name, action.on) if isinstance(action, Producer) else (getattr(action, "producer", None),)
        )
        if isinstance(action, (Producer, Send)) and sender in names:
            yield action


def properties(trace: Trace, number: int) -> dict[str, object]:
    """Return the properties that a message was sent with."""
    sending, place = sent_by(trace, number)
    return dealt(sending.properties, place) if sending else {}


def sent_with(trace: Trace, name: str) -> dict[int, dict[str, object]]:
    """Return the properties of each message that was sent with the property *name*, by its number."""
    found = {}
    for node, numbers in trace.index.sent.items():
        first = 0
        for sending in _sends(trace, trace.names["node"][node]):
            if name in sending.properties:
                sent = numbers[first : first + sending.sends]
                found.update({number: dealt(sending.properties, place) for place, number in enumerate(sent)})
            first += sending.sends
    return found


def headers(trace: Trace, number: int) -> dict[str, object]:
    """Return the JMS headers of a message that a selector may ask for, as it was sent."""
    sending, place = sent_by(trace, number)
    persistent, priority = (sending.persistent, sending.jms_priority) if sending else (True, 4)
    mode = "PERSISTENT" if persistent else "NON_PERSISTENT"
    if priority is None and sending is not None:  # OpenMQ's open producers keep it
        priority = _told_before(trace, sending)
    own: dict[str, object] = {"n": number} if trace.product == "openmq" else {}  # of every message there
    if trace.product == "activemq" and isinstance(sending, Producer):  # ActiveMQ rule 27.8
        lives, sent = duration(sending.time_to_live), trace.column("t")[trace.rows_of(number)[0]]
        own = {**NOT_OUT_YET, **({"JMSExpiration": (sent + lives) // 1000} if lives else {})}
    return dealt({"JMSPriority": priority, "JMSDeliveryMode": mode, **own}, place)


def _told_before(trace: Trace, sending: Sending) -> Any:
    """Return the priority that an open producer was told last before it sent so; 4 if it never was (JMS)."""
    sends = list(_sends(trace, getattr(sending, "producer", "")))
    told = [one for one in sends[: sends.index(sending)] if one.jms_priority is not None]
    return dealt_one(told[-1].jms_priority, told[-1].sends - 1) if told else 4


def asked_by(selector: str, trace: Trace, number: int) -> dict[str, object]:
    """Return what a message has that a selector looks at: the headers it names, and its properties."""
    named = set(re.findall(r"\w+", selector))
    found = {name: value for name, value in headers(trace, number).items() if name in named}
    return found | properties(trace, number)


def sent_by(trace: Trace, number: int) -> tuple[Sending | None, int]:
    """Return the action that sent a message, and how many it had sent before."""
    rows, frm = trace.rows_of(number), trace.column("frm")
    sent = next((row for row in rows if trace.column("kind")[row] == Kind.Sent), None)
    if sent is None:
        return None, 0  # an advisory, which no action sends
    place = trace.index.sent[frm[sent]].index(number)
    for sending in _sends(trace, trace.names["node"][frm[sent]]):
        if place < sending.sends:
            return sending, place
        place -= sending.sends
    return None, 0


def refusing_selector(trace: Trace, number: int, consumer: str) -> str | None:
    """Return the selector by which every life of a consumer refuses a message; None if one takes it."""
    from mqlab.spec.selector import Selector  # its grammar is only loaded when needed

    texts = [opened.selector for opened in openings(trace, consumer)]
    if not texts or not all(texts):
        return None
    asked = headers(trace, number), properties(trace, number)
    if any(Selector(str(text)).selects(*asked) for text in texts):
        return None
    return str(texts[-1])
