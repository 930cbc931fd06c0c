"""Why messages wait in a running network: the lab plays what stands there, and names what decides.

Where the lab's bridges subscribe otherwise than the running ones, an answer says so: then something decides
that management does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mqlab import products
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments.confirm import confirm
from mqlab.experiments.what_if import WhatIf
from mqlab.experiments.what_if import what_if as changes
from mqlab.explain import Cause, Explanation
from mqlab.explain import explain as read_off
from mqlab.products.story import Story
from mqlab.products.subscriptions import remotes
from mqlab.spec import Consumer, Scenario
from mqlab.spec.plural import counted
from mqlab.spec.running import Running
from mqlab.spec.scenario import AnyNetwork
from mqlab.spec.values import Destination, Queue
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

NOT_TOLD = "excludedDestinations, dynamicallyIncludedDestinations or staticBridge"


@dataclass(frozen=True, slots=True)
class Played:
    """A question about a queue at a broker of a running network, and what the lab did with what stands there.

    `message` is one that waits there in the lab; None where none does.
    """

    running: Running
    queue: str
    on: str
    story: Story
    trace: Trace
    message: int | None

    def consumer(self, name: str) -> str:
        """Return the consumer that a client's id, or its beginning, names; raises `UnknownName`."""
        known = [step.name for step in self.story.actions if isinstance(step, Consumer)]
        known = [one for one in known if one not in self.story.made]
        found = [one for one in known if one == name] or [one for one in known if one.startswith(name)]
        if len(found) != 1:
            raise UnknownName.of(f"consumer of {self.queue}", name, known)
        return found[0]

    @property
    def told(self) -> str:
        """How many messages wait, and how many of them were played."""
        depth = self.running.depth(self.queue, self.on)
        played = self.trace.index.count
        part = "" if played >= depth else f"; the lab plays {played} of them"
        return f"{counted(depth, 'message')} in {self.queue} at {self.on} (read {self.running.at}){part}."


def played(network: object, queue: str, on: str | None) -> Played:
    """Return what the lab does with what stands about a queue; raises `BadValue` or `UnknownName`."""
    if not isinstance(network, AnyNetwork) or network.running is None:
        raise BadValue(
            "queue= asks about a running network; load one, e.g. mq.load('jolokia:http://...'). Of a run, ask "
            "about the broker where messages wait (broker=), or about one of them (message=)"
        )
    name = Destination.parse(queue).name
    place = _place(network.running, name, on)
    held = sum(one.held for one in network.running.queues if (one.name, one.broker) == (name, place))
    for found in products.stories(network, name, place):
        trace = products.play(Scenario.of(network, *found.actions))
        waiting = trace.waiting().get(place, {}).get(str(Queue(name)), [])
        message = waiting[min(held, len(waiting) - 1)] if waiting else None  # the first that no consumer holds
        if message is not None:
            break
    return Played(network.running, name, place, found, trace, message)


def _place(running: Running, queue: str, on: str | None) -> str:
    """Return the broker that is asked about: the one named, or the only one at which messages wait."""
    depths = {one.broker: one.depth for one in running.queues if one.name == queue}
    if not depths:
        raise UnknownName.of("queue", queue, [one.name for one in running.queues if one.depth])
    waits = [broker for broker, depth in depths.items() if depth]
    listed = ", ".join(f"{broker} ({depths[broker]})" for broker in waits)
    if on is None:
        if len(waits) != 1:
            raise BadValue(
                f"messages of {queue} wait at {listed or 'no broker'}; name one: on= (--on), e.g. {waits[:1]}"
            )
        return waits[0]
    if on not in {one.name for one in running.brokers}:
        raise UnknownName.of("broker that was read", on, [one.name for one in running.brokers])
    if not depths.get(on):
        raise BadValue(f"no message of {queue} waits at {on}; some wait at {listed or 'no broker'}")
    return on


def explain(network: object, queue: str, on: str | None = None, why_not: str | None = None) -> Explanation:
    """Explain why messages of a queue wait at a broker of a running network, or do not reach a consumer.

    Raises `BadValue` where none waits, `UnknownName` for a queue, broker or consumer that is not there.
    """
    asked = played(network, queue, on)
    consumer = None if why_not is None else asked.consumer(why_not)
    differs = tuple(_differences(asked))
    causes = tuple(Cause(line, about=tuple(re.findall(r"\b[a-z]+[A-Z]\w+", line))) for line in differs)
    notes = (*differs, *asked.story.notes)
    if asked.message is None:
        got = ", ".join(f"{name} {count}" for name, count in asked.trace.received().items() if count)
        title = f"In mqlab all messages of {queue} leave {asked.on}: what keeps them there was not read."
        line = f"With what was read, they would be received: {got or 'none'}."
        return Explanation(title, (asked.told, line, *notes), causes)
    message = asked.message
    if consumer is None:
        found = read_off(asked.trace, message=message)
    else:
        found = read_off(asked.trace, message=message, why_not=consumer)
        found = confirm(asked.trace, found, message, consumer, asked.story.made)
    return replace(found, told=(asked.told, *found.told, *notes), causes=(*found.causes, *causes))


def what_if(network: object, queue: str, on: str | None, consumer: str, at_most: int | None = None) -> WhatIf:
    """Find the single changes by which a consumer of a running network gets a message that waits.

    Raises `BadValue` where none waits, in the running network or in the lab.
    """
    asked = played(network, queue, on)
    name = asked.consumer(consumer)
    if asked.message is None:
        told = " ".join(_differences(asked)) or "management does not tell what keeps them there"
        raise BadValue(f"in mqlab all messages of {queue} leave {asked.on}: {told}")
    return changes(asked.trace, message=asked.message, consumer=name, at_most=at_most, made=asked.story.made)


def _differences(asked: Played) -> Iterator[str]:
    """Yield where bridges subscribe to the queue in only one of the two, the lab and the running network."""
    running, queue = asked.running, Queue(asked.queue)
    if not any(one.network for one in running.consumers):
        return  # management does not tell of subscriptions
    read = {one.name for one in running.brokers}
    lab = {(broker, remote) for broker, remote in _subscribed(asked.trace, queue) if broker in read}
    there = set()
    for one in running.consumers:
        if one.network and any(part.takes(queue) for part in Destination.parse(one.destination).elements()):
            there |= {(one.broker, remote) for remote in remotes(running, one.broker, one.client)}
    for broker, remote in sorted(lab - there):
        duplex = any(one.by_duplex for one in running.bridges if (one.broker, one.remote) == (broker, remote))
        owner = remote if duplex else broker
        yield (
            f"The running bridge from {broker} to {remote} has no subscription to {asked.queue}; the lab's has "
            f"one. Management does not tell {NOT_TOLD}: give the file of {owner}."
        )
    for broker, remote in sorted(there - lab):
        yield (
            f"The running bridge from {broker} to {remote} subscribes to {asked.queue}, and the lab's does "
            "not: a consumer there, or an option, was not read."
        )


def _subscribed(trace: Trace, queue: Destination) -> set[tuple[str, str]]:
    """Return broker and remote broker of the bridges that subscribe to a queue at the end of a run."""
    found: dict[tuple[str | None, str | None], tuple[str, str]] = {}
    for event in trace.events():
        key = event.broker, event.subscription
        if event.kind == Kind.Subscribed and event.link and event.destination:
            if event.broker and event.frm and Destination.parse(event.destination).takes(queue):
                found[key] = event.broker, event.frm
        elif event.kind == Kind.Unsubscribed:
            found.pop(key, None)
    return set(found.values())
