"""The ordinary network of a running Artemis cluster, and what stands in it as a script for the lab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mqlab.products.artemis.files import broker_xml
from mqlab.products.artemis.live import reading
from mqlab.products.story import MOST, MOST_QUEUES, Story
from mqlab.spec.action import Consumer, Producer, Start
from mqlab.spec.artemis import WORDS, ArtemisNetwork
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.origin import SourceFile
from mqlab.spec.running import Running, RunningQueue
from mqlab.spec.values import Queue

MOST_CONSUMERS = 5  # of a queue at a broker that are played
NOT_TOLD = "not_told_by_management = TRUE"  # of consumers that leave messages: management does not tell theirs


def read(
    consoles: Sequence[str],
    sources: tuple[SourceFile, ...],
    values: Mapping[str, str],
    hosts: Mapping[str, str],
) -> ArtemisNetwork:
    """Return the cluster that runs, with what stands in it as its `running`.

    Options of cluster connections are those of the running brokers; policies of high availability and settings
    of addresses are as the files have them. Raises `CannotRun` if no broker can be read, `BadFile` for files.
    """
    running = reading.read(consoles)
    plain = broker_xml.read(sources, values, hosts) if sources else ArtemisNetwork(())
    read_ = [one.name for one in running.brokers]
    names = dict.fromkeys([*read_, *(one.remote for one in running.bridges), *plain.names])
    notes = [
        f"broker {name} was not read while it runs: it is as its file says"
        for name in plain.names
        if name not in read_
    ]
    known = dict(zip(plain.names, plain.brokers, strict=True))
    brokers = tuple(_broker(name, known.get(name), plain, running) for name in names)
    edition, version = _edition(running)
    if edition != version:
        notes.append(f"Artemis {version}: mqlab runs edition {edition}")
    return replace(plain, brokers=brokers, edition=edition, running=running.noted(*notes))


def _edition(running: Running) -> tuple[str, str]:
    version = running.brokers[0].version
    numbers = [int(part) for part in version.split(".")[:2] if part.isdecimal()]
    known = sorted(WORDS, key=lambda edition: [int(part) for part in edition.split(".")])
    older = [edition for edition in known if [int(part) for part in edition.split(".")] <= numbers]
    return (older or known)[-1 if older else 0], version


def _broker(name: str, base: Broker | None, plain: ArtemisNetwork, running: Running) -> Broker:
    """Return a broker: as its file has it, with the options that its cluster connection runs with."""
    made = Broker(name) if base is None else base
    clusters = [one for one in running.connectors if one.broker == name]
    if base is None and not clusters and name in {one.name for one in running.brokers}:
        return made.change(clustered=False)
    told = {key: value for one in clusters[:1] for key, value in one.options}
    changed = {key: value for key, value in told.items() if plain.option(made, key) != value}
    return made.change(**changed) if changed else made


def stories(network: ArtemisNetwork, queue: str | None = None, on: str | None = None) -> Iterator[Story]:
    """Yield what stands in a running cluster: with the consumers there first, then with the messages first.

    A queue does not hand on what it has for consumers elsewhere that come later, unless redistribution is on.
    """
    running = network.running
    if running is None:
        return
    waiting = sorted((one for one in running.queues if one.depth), key=lambda one: -one.depth)
    if queue is not None:
        waiting = [one for one in waiting if (one.name, one.broker) == (queue, on)]
    read_ = [one for one in running.queues if one.consumers and queue in (None, one.name)]
    sent = [
        Producer(f"{one.name}@{one.broker}", on=one.broker, sends=min(one.depth, MOST), to=Queue(one.name))
        for one in waiting[:MOST_QUEUES]
    ]
    consumers = [consumer for one in read_ for consumer in _consumers(one)]
    notes = list(_notes(read_)) if queue is not None else []
    made = tuple(step.name for step in sent)
    yield Story((Start(), *consumers, *sent), made, tuple(notes))
    notes.append(
        "Supposed: the messages were there before the consumers. With redistribution-delay -1, the default, a "
        "broker does not hand them on."
    )
    yield Story((Start(), *sent, *consumers), made, tuple(notes))


def _consumers(queue: RunningQueue) -> Iterator[Consumer]:
    name = f"consumer of {queue.name} at {queue.broker}"
    for number in range(min(queue.consumers, MOST_CONSUMERS)):
        yield Consumer(
            name if number == 0 else f"{name} ({number + 1})",
            on=queue.broker,
            reads=Queue(queue.name),
            selector=NOT_TOLD if _leaves(queue) else None,
            receiving=not queue.held,
        )


def _leaves(queue: RunningQueue) -> bool:
    """Whether consumers leave what waits in their queue: they hold nothing, so they do not take it."""
    return queue.depth > 0 and not queue.held and not queue.paused


def _notes(queues: Sequence[RunningQueue]) -> Iterator[str]:
    for one in queues:
        if _leaves(one):
            yield (
                f"The consumers of {one.name} at {one.broker} take none of its messages: they have a selector, "
                "which management does not tell, or are stopped."
            )
