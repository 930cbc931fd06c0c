"""The case of one message and one consumer that did not get it: what the trace says of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from mqlab.errors import UnknownName
from mqlab.explain import script
from mqlab.explain.news import on_behalf
from mqlab.spec.values import Destination
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

VIRTUAL = re.compile(r"queue://Consumer\.[^.]+\.(VirtualTopic\..+)")
ENDS = (Kind.Unsubscribed, Kind.Crashed, Kind.Stopped)  # of a subscription
TAKEN = (Kind.Enqueued, Kind.TakenOver, Kind.Held, Kind.Returned)
ENDED = (Kind.Discarded, Kind.Expired, Kind.DeadLettered, Kind.Failed)


def of_kind(trace: Trace, kind: Kind) -> Iterator[Event]:
    """Yield all events of a kind."""
    return (trace.event(row) for row in trace.rows(kind))


def _ends(life: Event, event: Event) -> bool:
    if event.row <= life.row or event.broker != life.broker:
        return False
    return event.kind != Kind.Unsubscribed or event.subscription == life.subscription


def _row(event: Event) -> int:
    return event.row


class Case:
    """One message and one consumer that did not get it; `lives` are its subscriptions, in order."""

    def __init__(self, trace: Trace, message: str | int, consumer: str) -> None:
        counts = trace.received()
        if consumer not in counts:
            raise UnknownName.of("consumer", consumer, counts)
        self.trace, self.consumer = trace, consumer
        self.number = trace.message(message)
        self.name = trace.message_name(self.number)
        self.events = [trace.event(row) for row in trace.rows_of(self.number)]
        self.lives = [e for e in of_kind(trace, Kind.Subscribed) if e.frm == consumer]

    @cached_property
    def received(self) -> bool:
        """Whether the consumer did get it."""
        return any(e.kind == Kind.Received and e.to == self.consumer for e in self.events)

    @cached_property
    def been(self) -> set[str]:
        """The brokers that the message has been at."""
        taken = (Kind.Enqueued, Kind.TakenOver)
        return {e.broker for e in self.events if e.kind in taken and e.broker}

    @cached_property
    def homes(self) -> set[str]:
        """The brokers that the consumer was on when the message was sent, or came to later."""
        sent = self.events[0].t
        return {e.broker for e, left in self.ends if e.broker and (left is None or left.t > sent)}

    @cached_property
    def ends(self) -> list[tuple[Event, Event | None]]:
        """Each of its lives, and what ended it: it left, or its broker did."""
        return self._spans(self.lives)

    @cached_property
    def news(self) -> list[Event]:
        """What its subscribing led to."""
        return [self.trace.event(row) for row in on_behalf(self.trace, self.consumer)]

    @property
    def refusals(self) -> list[Event]:
        """News of the consumer that came no further."""
        return [event for event in self.news if event.kind == Kind.Refused]

    @cached_property
    def asked_for(self) -> set[str]:
        """The brokers that the message was at while a subscription stood there on behalf of the consumer.

        In a cluster of OpenMQ or Artemis every broker knows of every consumer.
        """
        if self.trace.product != "activemq":
            roles = zip(self.trace.names["node"], self.trace.names["node_role"], strict=True)
            return {name for name, role in roles if role == "broker"}
        return {
            here.broker
            for here in self.events
            for event, over in self.stood
            if here.broker
            and here.broker == event.broker
            and here.kind in TAKEN
            and (over is None or over.row > here.row)
            and event.row < self.over
        }

    @cached_property
    def stood(self) -> list[tuple[Event, Event | None]]:
        """Each subscription that stood on its behalf, and what ended it."""
        stood = (Kind.Subscribed, Kind.Merged)
        return self._spans([event for event in self.news if event.kind in stood])

    def _spans(self, begun: list[Event]) -> list[tuple[Event, Event | None]]:
        """Return subscriptions, each with the event that ended it."""
        over = [event for kind in ENDS for event in of_kind(self.trace, kind)]
        return [(event, min((e for e in over if _ends(event, e)), key=_row, default=None)) for event in begun]

    @cached_property
    def handed(self) -> list[Event]:
        """All that was handed to the consumer."""
        return [e for e in of_kind(self.trace, Kind.Dispatched) if e.to == self.consumer]

    @cached_property
    def settled(self) -> list[Event]:
        """All that its subscriptions have let go of."""
        mine = {e.subscription for e in self.lives}
        over = (Kind.Acknowledged, Kind.Returned)
        return [e for k in over for e in of_kind(self.trace, k) if k == Kind.Returned or e.subscription in mine]

    @property
    def over(self) -> int:
        """The row at which it was too late for anybody else: somebody was given the message, or it ended."""
        if self.events[-1].kind == Kind.Held:
            return len(self.trace)  # it waits for whoever comes
        given = [e for e in self.events if e.kind in (Kind.Dispatched, *ENDED)]
        return (given or self.events)[0 if self.to_topic else -1].row

    def reads(self, text: str | None) -> bool:
        """Whether one of its subscriptions is of a destination."""
        to = Destination.parse(text or "")
        asked = {Destination.parse(life.destination or "") for life in self.lives}
        return any(one.takes(to) for dest in asked for one in dest.elements())

    @cached_property
    def targets(self) -> set[Destination]:
        """Where the message went, copies of a virtual destination included, or would have gone."""
        texts = {e.destination for e in self.events if e.destination}
        found = {one for text in texts for one in Destination.parse(text).elements()}
        for life in self.lives:
            front = VIRTUAL.match(life.destination or "")
            if front and Destination("topic", front[1]) in found:
                found.add(Destination.parse(life.destination or ""))
        return found

    @property
    def shared(self) -> bool:
        """Whether it competes for the message: on a queue, or by a shared subscription."""
        shares = (opened.options.get("shared") for opened in script.openings(self.trace, self.consumer))
        queues = (e for e in self.lives if (e.destination or "").startswith("queue://"))
        return any(queues) or any(shares)

    @property
    def to_topic(self) -> bool:
        """Whether the message went to a topic."""
        return (self.events[0].destination or "").startswith("topic://")
