"""What stands in a running network as a script for the lab: who is connected, what waits, where that came from.

Management tells no more of a message than its queue. So messages are plain: without properties. Those that
other brokers forwarded come that way in the lab, too, for a consumer that leaves before the others come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mqlab.errors import MqlabError
from mqlab.products.story import MOST, MOST_QUEUES, Story
from mqlab.spec.action import Action, Close, Consumer, Producer, Start, Stop, StopConnector
from mqlab.spec.network import Network
from mqlab.spec.plural import counted
from mqlab.spec.running import Running, RunningConsumer, RunningQueue
from mqlab.spec.values import Destination, Queue

DEFAULT_PREFETCH = {"queue": 1000, "topic": 32767}
_GIVEN_UP = (MqlabError, ValueError)


def story(network: Network, queue: str | None = None, on: str | None = None) -> Story:
    """Return what stands in a running network, or only what is about one *queue* at the broker *on*."""
    running = network.running
    if running is None:
        return Story(())
    waiting = sorted((one for one in running.queues if one.depth), key=lambda one: -one.depth)
    if queue is not None:
        waiting = [one for one in waiting if (one.name, one.broker) == (queue, on)]
    notes = []
    if len(waiting) > MOST_QUEUES:
        notes.append(f"{counted(len(waiting) - MOST_QUEUES, 'queue')} with fewer messages are not played")
    brought = [step for one in waiting[:MOST_QUEUES] for step in _brought(running, one)]
    readers = [one for one in running.consumers if not one.network and (queue is None or _reads(one, queue))]
    consumers = list(_consumers(readers, network.names, notes))
    if queue is not None:
        notes += _provisos(brought, consumers, queue)
    made = [step.name for step in brought if isinstance(step, (Consumer, Producer))]
    return Story((Start(), *_down(network, running), *brought, *consumers), tuple(made), tuple(notes))


def _provisos(brought: Iterable[Action], consumers: Iterable[Consumer], queue: str) -> Iterator[str]:
    """Yield what the lab supposes of a queue's messages, as management does not tell."""
    for step in brought:
        if isinstance(step, Producer) and " from " in step.name:
            yield (
                f"Of these messages {step.sends} came from {step.on}, as the counters of both brokers say; the "
                "lab brings them by a consumer that leaves."
            )
    if any(one.selector for one in consumers):
        yield f"Management does not tell the properties of messages in {queue}; those of the lab have none."


def _down(network: Network, running: Running) -> Iterator[Action]:
    """Yield that a broker does not run, and that a connector has no bridge."""
    up = {one.name for one in running.brokers} | {one.remote for one in running.bridges}
    yield from (Stop(name) for name in network.names if name not in up)
    standing = {(one.broker, one.connector) for one in running.bridges if not one.by_duplex}
    read = {one.name for one in running.brokers}
    for broker, connector in network.connectors():
        known = all(target in up for target in connector.targets)
        if broker.name in read and known and (broker.name, connector.name) not in standing:
            yield StopConnector(f"{broker.name}/{connector.name}")


def _brought(running: Running, queue: RunningQueue) -> Iterator[Action]:
    """Yield how messages come to where they wait."""
    to, name = Queue(queue.name), f"{queue.name}@{queue.broker}"
    for home, count in origins(running, queue, min(queue.depth, MOST)):
        if home == queue.broker:
            yield Producer(name, on=home, sends=count, to=to)
            continue
        earlier = f"earlier consumer of {name} from {home}"
        yield Consumer(earlier, on=queue.broker, reads=to, receiving=False)
        yield Producer(f"{name} from {home}", on=home, sends=count, to=to)
        yield Close(earlier)


def origins(running: Running, queue: RunningQueue, count: int) -> list[tuple[str, int]]:
    """Return where *count* of a queue's messages were sent, by what was enqueued there and forwarded to it."""
    came = _came(running, queue)
    local = max(0, queue.enqueued - sum(came.values()))
    shares = {_home(running, queue.name, frm): number for frm, number in came.items() if number}
    if local or not shares:
        shares[queue.broker] = max(local, 1)
    whole, left = sum(shares.values()), count
    found = []
    for place, (home, number) in enumerate(sorted(shares.items())):
        rest = len(shares) - place - 1
        part = left - rest if not rest else max(1, min(left - rest, round(count * number / whole)))
        if part > 0:
            found.append((home, part))
            left -= part
    return found


def _came(running: Running, queue: RunningQueue) -> dict[str, int]:
    """Return broker -> how many messages of a queue it forwarded to here, where no other can have got them."""
    found = {}
    for other in running.queues:
        if other.name != queue.name or not other.forwarded or other.broker == queue.broker:
            continue
        ends = {one.remote for one in running.bridges if one.broker == other.broker and one.forwarded}
        if ends == {queue.broker}:
            found[other.broker] = min(other.forwarded, queue.enqueued)
    return found


def _home(running: Running, name: str, broker: str) -> str:
    """Return where messages that a broker forwarded were sent: there, or where it had them all from."""
    seen = {broker}
    while True:
        here = next((one for one in running.queues if (one.name, one.broker) == (name, broker)), None)
        came = {} if here is None else _came(running, here)
        if here is None or len(came) != 1 or sum(came.values()) < here.enqueued or set(came) & seen:
            return broker
        (broker,) = came
        seen.add(broker)


def _reads(consumer: RunningConsumer, queue: str) -> bool:
    """Whether a consumer reads a queue, by a pattern or as one of several, too."""
    asked = Queue(queue)
    return any(one.takes(asked) for one in Destination.parse(consumer.destination).elements())


def _consumers(
    readers: Iterable[RunningConsumer], brokers: Iterable[str], notes: list[str]
) -> Iterator[Consumer]:
    """Yield the consumers that are connected, each with a name of its own."""
    taken = set(brokers)
    for one in readers:
        if not one.active:
            notes.append(f"durable subscriber {one.client} at {one.broker} is not connected, and not played")
            continue
        number, name = 1, one.client
        while name in taken:
            number += 1
            name = f"{one.client} ({number})"
        taken.add(name)
        try:
            yield _consumer(name, one)
        except _GIVEN_UP as error:
            notes.append(f"consumer {one.client} at {one.broker} is not played: {error}")


def _consumer(name: str, one: RunningConsumer) -> Consumer:
    reads = Destination.parse(one.destination)
    usual = one.prefetch == DEFAULT_PREFETCH.get(reads.kind)
    return Consumer(
        name,
        on=one.broker,
        reads=reads,
        selector=one.selector,
        priority=max(0, one.priority),
        prefetch=None if usual else one.prefetch,
        exclusive=one.exclusive,
        receiving=not 0 < one.prefetch <= one.held,
        durable=one.subscription is not None,
        client_id=one.client if one.subscription is not None else None,
        subscription_name=one.subscription,
    )
