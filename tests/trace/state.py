"""What brokers hold at the end of a run, read off the lab itself and not off its trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from mqlab.products.activemq.runtime import Lab as NetworkLab
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.products.openmq.lab import ClusterLab
from mqlab.trace.fates import Fate
from mqlab.trace.kinds import Kind

# The events that may decide a fate: none is told by an event that says something else.
DECIDES = {
    Fate.consumed: {Kind.Received},
    Fate.waiting: {Kind.Enqueued, Kind.TakenOver, Kind.Held, Kind.Dispatched, Kind.Forwarded,
                   Kind.Received, Kind.Returned, Kind.Refused},
    Fate.expired: {Kind.Expired},
    Fate.dead_lettered: {Kind.DeadLettered, Kind.Expired},
    Fate.dropped: {Kind.Discarded, Kind.Unsubscribed},
    Fate.lost: {Kind.Discarded, Kind.Unsubscribed, Kind.Stopped, Kind.Crashed, Kind.Interrupted},
    Fate.never_accepted: {Kind.Sent, Kind.Failed},
    Fate.cut_off: {Kind.Sent},
}  # fmt: skip

Held = Iterator[tuple[str, object, int]]  # broker, destination, number of the message


def of_activemq(lab: NetworkLab) -> Held:
    """Queues, what subscriptions of topics have not acknowledged, and the stores of stopped brokers."""
    names = {broker.node: name for name, broker in lab.brokers.items()}
    stores = {id(broker.store): broker.store for broker in lab.brokers.values()}
    for name, broker in lab.brokers.items():
        for dest, destination in broker.by_name.items():
            if dest.is_queue:
                yield from ((name, dest, message.number) for message in destination.messages)
        for sub in broker.subs if broker.running else ():
            for message in (*sub.dispatched, *sub.waiting):
                if not message.dest.is_queue:
                    yield name, message.dest, message.number
    for store in stores.values():
        for messages in store.destinations.values():
            yield from ((names[store.holders[m]], m.dest, m.number) for m in messages)
        for sub in store.durables:
            yield from ((names[store.last], m.dest, m.number) for m in sub.waiting)


def of_openmq(lab: ClusterLab) -> Held:
    """Each home's messages, and the brokers that have a copy for their consumers."""
    for name, broker in lab.brokers.items():
        for dest, instance in broker.instances.items():
            for message in instance.messages:
                yield name, dest, message.number
                yield from ((there.name, dest, message.number) for there in message.copies)
    for consumer in lab.consumers.values():  # copies outlive their homes in the hands of consumers
        for claim in consumer.unacknowledged:
            if consumer.home in claim.message.copies:
                yield consumer.home.name, claim.message.dest, claim.message.number


def of_artemis(lab: ArtemisLab) -> Held:
    """Queues and what is kept for other pairs: of those who serve, and on the disks of those who do not."""
    for broker in lab.all_brokers():
        for name, left in broker.left_behind.items():
            if left.home.name == f"{broker.name}/{name}":
                yield from (
                    (left.home.name, item.message.dest, item.message.number) for _, item in left.items()
                )
        journal = broker.served_journal
        if journal is None and broker.stored_journal is not None and broker.stored_journal.home is broker:
            journal = broker.stored_journal
        if journal is None:
            continue
        for _, item in journal.items():
            yield broker.name, item.message.dest, item.message.number
        for kept in journal.store_and_forward.values():
            yield from ((broker.name, stored.message.dest, stored.message.number) for stored in kept)


def held(lab) -> dict[str, dict[str, list[int]]]:
    """Return broker -> destination -> numbers, as `Trace.waiting` does, for a lab of any product."""
    found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    read = {NetworkLab: of_activemq, ClusterLab: of_openmq, ArtemisLab: of_artemis}[type(lab)]
    for broker, dest, number in read(lab):
        if not dest.name.startswith("ActiveMQ.Advisory."):
            found[broker][str(dest)].add(number)
    return {
        broker: {dest: sorted(numbers) for dest, numbers in dests.items()} for broker, dests in found.items()
    }


def check(lab) -> None:
    """Hold that every message sent has one fate, and that what waits is what brokers hold."""
    trace = lab.trace
    account = trace.account()
    sent = {trace.column("msg")[row] for row in trace.rows(Kind.Sent)}
    assert sent <= set(account)
    assert sum(account.counts().values()) == len(account)
    found = held(lab)
    assert trace.waiting() == found
    lies = {number for queues in found.values() for numbers in queues.values() for number in numbers}
    kinds = trace.column("kind")
    for number, entry in account.items():
        if entry.fate in (Fate.waiting, Fate.dead_lettered):
            assert number in lies or kinds[entry.row] == Kind.DeadLettered, entry
        elif entry.fate is not Fate.consumed:
            assert number not in lies, entry
        assert kinds[entry.row] in DECIDES[entry.fate], f"{entry} says nothing of its end"
