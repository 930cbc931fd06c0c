"""Producers and consumers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, cluster, delivery, stock
from mqlab.runtime.openmq.model import (
    DEAD,
    Broker,
    Client,
    Consumer,
    Keys,
    Message,
    destination_of,
)
from mqlab.runtime.openmq.operation import Outcome, Row, Waiting, limit_of
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


# Producers


@dataclass(eq=False, slots=True)
class Sending:
    """A step that sends: `row` is its outcome, `left` the numbers that are still to be sent."""

    row: Row
    keys: Keys
    left: deque[int]
    refused: list[int]
    producer: Client | None
    under_way: int = 0  # messages that have not come to their home, or its receipt not to here
    late: bool = False


def do_open_producer(lab: ClusterLab, keys: Keys) -> bool:
    """Open a producer on a connection of its own."""
    return _open(lab, keys["producer"], keys["producer"], keys) is not None


def _open(lab: ClusterLab, key: str, name: str, keys: Keys) -> Client | None:
    broker, dest = clients.reachable(lab, keys), destination_of(keys)
    if broker is None or dest == DEAD or not broker.find(dest):
        return None  # only a broker writes to its dead messages (B4183)
    if broker.instances[dest].limits("MaxNumProducers", broker.producers(dest) + 1):
        return None
    node = lab.notes.node(name, "producer", broker.name)
    links = lab.new_link(), lab.new_link()
    lab.producers[key] = Client(name, dest, keys, broker, node, *links)
    return lab.producers[key]


def do_close_producer(lab: ClusterLab, keys: Keys) -> None:
    """Close a producer; what it has not committed is gone."""
    producer = lab.producers.pop(keys["producer"])
    producer.open, producer.closed = False, True
    end_transaction(lab, producer.name, commit=False)


def do_send(lab: ClusterLab, keys: Keys) -> Outcome:
    """Send messages one by one; under flow control the rest waits."""
    first, count = lab.numbers + 1, int(keys["count"])
    lab.numbers += count
    row = {"first": first, "count": count, "result": "blocked"}
    producer = lab.producers.get(str(keys.get("producer")))
    job = Sending(row, keys, deque(range(first, first + count)), [], producer)
    if job.left and producer and not producer.open and producer.mode != "transacted":
        _send_into_nothing(job, producer)
        if keys.get("persistent", True):
            return Waiting(_can_send, (lab, job), limit_of(keys), _begin)
    return _begin((lab, job))


def _can_send(asked: tuple[ClusterLab, Sending]) -> bool:
    producer = asked[1].producer
    return producer is None or clients.has_broker(producer)


def _begin(asked: tuple[ClusterLab, Sending]) -> Outcome:
    lab, job = asked
    lab.jobs.append(job)
    if job.keys.get("in_background"):
        go_on(lab, job)
        return job.row
    return Waiting(_has_ended, asked, limit_of(job.keys), _say_how)


def _has_ended(asked: tuple[ClusterLab, Sending]) -> bool:
    lab, job = asked
    return job not in lab.jobs


def _say_how(asked: tuple[ClusterLab, Sending]) -> Row:
    lab, job = asked
    job.late = job in lab.jobs
    return job.row


def _send_into_nothing(job: Sending, producer: Client) -> None:
    """A producer sends and has no broker: the message is lost, those after it go to the new home.

    Nobody waits for what is not persistent: the first such message is lost unnoticed, the others are
    refused until there is a connection again (6.5.0).
    """
    first = job.left.popleft()
    if job.keys.get("persistent", True):
        job.refused.append(first)
    else:
        job.refused += [first, *job.left] if producer.refuses else job.left
        job.left.clear()
        producer.refuses = True


def go_on(lab: ClusterLab, job: Sending) -> bool:
    """Send what a producer can send now; True if something moved."""
    producer, moved = job.producer, False
    if producer is None:  # a step that sends at a broker has one for itself
        where = clients.addresses(lab, job.keys["broker"])[0]
        if not where.answers:
            return False
        producer = job.producer = _open(lab, f"#{job.row['first']}", f"P.{where.name}", job.keys)
        if producer is None:
            job.row["result"] = "refused"
            lab.jobs.remove(job)
            return True
    if not producer.open and not clients.comes_back(producer):
        job.refused += job.left
        job.left.clear()
    while job.left and producer.open and producer.home.answers and not _awaits_receipt(job):
        message = _message(job, producer)
        result = stock.admit(message, producer.node)
        if result == "blocked":
            break
        moved = True
        job.left.popleft()
        if result == "refused":
            job.refused.append(message.number)
        else:
            job.under_way += 1
            arrives = on_sent if result == "ok" else on_dropped
            producer.to_home.carry(arrives, (job, producer, message))
    if not job.left and not job.under_way:
        _end(lab, job)
    return moved


def _awaits_receipt(job: Sending) -> bool:
    return job.under_way > 0 and bool(job.keys.get("persistent", True))


Sent = tuple[Sending, Client, Message]


def on_sent(what: Sent) -> None:
    """A message has come to its home."""
    job, producer, message = what
    lab = message.home.lab
    if not stock.take_in(message, producer.node):
        job.refused.append(message.number)
    elif "time_to_live_ms" in job.keys:
        message.expires = message.sent + int(job.keys["time_to_live_ms"]) * 1000
        lab.expiring.append(message)
        lab.later(stock.checked(message.expires) - lab.now)
    _confirm(job, producer, message)


def on_dropped(what: Sent) -> None:
    """A message that is not persistent has come to a home that has no room for it."""
    job, producer, message = what
    message.home.lab.notes.message(Kind.Discarded, message, rule=Rule.limit_reached)
    _confirm(job, producer, message)


def _confirm(job: Sending, producer: Client, message: Message) -> None:
    """Let the receipt go to the producer, who waits for it if the message is persistent."""
    if message.persistent:
        producer.from_home.carry(on_receipt, (job, producer, message))
        message.home.lab.stir()
    else:
        on_receipt((job, producer, message))


def on_receipt(what: Sent) -> None:
    """A producer knows that a message has come to its home."""
    job, _, message = what
    job.under_way -= 1
    message.home.lab.stir()


def _end(lab: ClusterLab, job: Sending) -> None:
    """All is sent or refused: say how it ended."""
    row = job.row
    row["sent"] = row["count"] - len(job.refused)
    if job.refused:
        row["refused"] = job.refused
    if not job.late:
        row["result"] = "ok" if not job.refused else "partly refused" if row["sent"] else "refused"
    lab.producers.pop(f"#{row['first']}", None)
    lab.jobs.remove(job)


def _message(job: Sending, producer: Client) -> Message:
    keys, number = job.keys, job.left[0]

    def dealt(value: Any) -> Any:
        place = number - job.row["first"]
        return value[place % len(value)] if isinstance(value, (list, tuple)) else value

    message = Message(
        number, producer.home, producer.dest, keys.get("persistent", True),
        dealt(keys.get("jms_priority", 4)),
        {name: dealt(value) for name, value in keys.get("properties", {}).items()},
        int(keys.get("size", 100)), producer.home.lab.clock.now,
    )  # fmt: skip
    if producer.mode == "transacted" or producer.keys.get("xa"):
        message.transaction = producer.name
    return message


def end_transaction(lab: ClusterLab, name: str, commit: bool) -> None:
    """Let a transaction take effect, or drop what was sent in it."""
    for instance, message in lab.messages():
        if message.transaction == name:
            message.transaction = None
            if not commit:
                instance.messages.remove(message)
                stock.discard(message, Rule.asked)


# Consumers


def do_open_consumer(lab: ClusterLab, keys: Keys) -> bool:
    """Open a consumer on a connection of its own."""
    broker, dest, id = clients.reachable(lab, keys), destination_of(keys), clients.client_id(keys)
    if broker is None or clients.is_used(lab, id) or not broker.find(dest):
        return False
    active, backup = (int(broker.instances[dest].option(f"MaxNum{which}Consumers"))
                      for which in ("Active", "Backup"))  # fmt: skip
    if min(active, backup) >= 0 and len(broker.consumers(dest)) >= active + backup:
        return False
    key = (id, str(keys.get("subscription_name", keys["consumer"])))
    if keys.get("durable") and not cluster.subscribe(broker, key, dest, keys.get("selector")):
        return False
    named = keys.get("durable") or keys.get("shared")
    _register(broker, dest, keys, key if named else keys["consumer"])
    return True


def do_temporary(lab: ClusterLab, keys: Keys) -> bool:
    """Make a temporary destination with a consumer: known everywhere at once."""
    kind, name, broker = keys.get("kind", "queue"), keys["consumer"], clients.reachable(lab, keys)
    if broker:
        broker.add(Destination(kind, f"temp:{name}"), "temporary", owner=name)
    return do_open_consumer(lab, {**keys, kind: f"temp:{name}"})


def _register(broker: Broker, dest: Destination, keys: Keys, key: object) -> None:
    """Make a consumer known, with its destination, on all brokers."""
    lab, name, text = broker.lab, keys["consumer"], keys.get("selector")
    of_queue = int(broker.instances[dest].option("ConsumerFlowLimit"))
    consumer = lab.consumers[name] = Consumer(
        name, dest, keys, broker, lab.notes.node(name, "consumer", broker.name),
        lab.new_link(), lab.new_link(),
        selector=Selector(text) if text else None, key=key,
        # What a topic has for a subscriber without a subscription crosses at once.
        limit=min(of_queue, keys.get("flow_limit", 1000)) if dest.is_queue or key != name else inf,
        allowance=None if keys.get("receiving", True) else 0,
        served=max((c.served for c in lab.consumers.values()), default=0),
    )  # fmt: skip
    consumer.sub = lab.notes.subscription(consumer)
    lab.notes.consumer(Kind.Subscribed, consumer, Rule.local_consumer)
    broker.spread(dest)


def do_close_consumer(lab: ClusterLab, keys: Keys) -> None:
    """Close consumer and connection; a temporary destination goes with it."""
    consumer = lab.consumers[keys["consumer"]]
    consumer.closed = True
    if consumer.open:
        if consumer.mode == "dups_ok":
            delivery.on_dups(consumer)
        delivery.let_go(consumer, Rule.consumer_left)
        consumer.open = False
        lab.notes.consumer(Kind.Unsubscribed, consumer, Rule.consumer_left)
        temporary = consumer.dest.name.startswith("temp:")
        for broker in (consumer.home, *consumer.home.peers) if temporary else ():
            broker.instances.pop(consumer.dest, None)


do_kill_client = do_close_consumer  # its broker sees the connection go, too


def do_receive(lab: ClusterLab, keys: Keys) -> Outcome:
    """Let a consumer take so many messages, and wait for them."""
    consumer = lab.consumers[keys["consumer"]]
    before, consumer.allowance = len(consumer.received), int(keys["count"])
    return Waiting(_has_taken, (consumer, before), keys.get("within_ms", 5000), _hold_again)


def _has_taken(asked: tuple[Consumer, int]) -> bool:
    return asked[0].allowance == 0


def _hold_again(asked: tuple[Consumer, int]) -> Row:
    consumer, before = asked
    consumer.allowance = 0
    return {"took": len(consumer.received) - before}


def do_acknowledge(lab: ClusterLab, keys: Keys) -> Outcome:
    """Acknowledge what the session has taken."""
    consumer = lab.consumers[keys["consumer"]]
    return Waiting(clients.has_broker, consumer, limit_of(keys), _acknowledge)


def _acknowledge(consumer: Consumer) -> bool:
    return delivery.acknowledge(consumer, list(consumer.taken))


def do_recover(lab: ClusterLab, keys: Keys) -> Outcome:
    """Let what was taken come again; refused without a connection."""
    consumer = lab.consumers[keys["consumer"]]
    return Waiting(clients.has_broker, consumer, limit_of(keys), _recover)


def _recover(consumer: Consumer) -> bool:
    delivery.recover(consumer)
    return consumer.open


def do_rollback(lab: ClusterLab, keys: Keys) -> Outcome:
    """Roll back a session's transaction."""
    if "consumer" in keys:
        return do_recover(lab, keys)
    lab.producers[keys["producer"]].refuses = False
    end_transaction(lab, keys["producer"], commit=False)
    return True


def do_commit(lab: ClusterLab, keys: Keys) -> Outcome:
    """Commit a session's transaction; refused if it was rolled back with its broker."""
    if "consumer" in keys:
        return do_acknowledge(lab, keys)
    producer = lab.producers[keys["producer"]]
    return Waiting(clients.has_broker, producer, limit_of(keys), _commit)


def _commit(producer: Client) -> bool:
    works, producer.refuses = producer.open and not producer.refuses, False
    end_transaction(producer.home.lab, producer.name, commit=works)
    return works
