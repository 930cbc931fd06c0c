"""Producers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, stock
from mqlab.runtime.openmq.messages import Client, Keys, Message, destination_of
from mqlab.trace.kinds import Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


@dataclass(eq=False, slots=True)
class Sending:
    """A step that sends: `row` is its outcome, `left` the numbers that are still to be sent."""

    row: dict[str, Any]
    keys: Keys
    left: deque[int]
    refused: list[int]
    producer: Client | None
    late: bool = False


def do_open_producer(lab: ClusterLab, keys: Keys) -> bool:
    """Open a producer on a connection of its own."""
    return _open(lab, keys["producer"], keys["producer"], keys) is not None


def _open(lab: ClusterLab, key: str, name: str, keys: Keys) -> Client | None:
    broker, dest = clients.reachable(lab, keys), destination_of(keys)
    if broker is None or not broker.find(dest):
        return None
    if broker.instances[dest].limits("MaxNumProducers", broker.producers(dest) + 1):
        return None
    node = lab.notes.node(name, "producer", broker.name)
    lab.producers[key] = Client(name, dest, keys, broker, node)
    return lab.producers[key]


def do_close_producer(lab: ClusterLab, keys: Keys) -> None:
    """Close a producer; what it has not committed is gone."""
    producer = lab.producers.pop(keys["producer"])
    producer.open, producer.closed = False, True
    end_transaction(lab, producer.name, commit=False)


def do_send(lab: ClusterLab, keys: Keys) -> dict[str, Any]:
    """Send messages one by one; under flow control the rest waits."""
    first, count = lab.numbers + 1, int(keys["count"])
    lab.numbers += count
    row = {"first": first, "count": count, "result": "blocked"}
    producer = lab.producers.get(str(keys.get("producer")))
    job = Sending(row, keys, deque(range(first, first + count)), [], producer)
    if job.left and producer and not producer.open and not producer.refuses:
        # The send during the failure is lost when it ends; those after it go to the new home.
        job.refused.append(job.left.popleft())
        clients.wait_for_broker(producer, keys)
    lab.jobs.append(job)
    go_on(lab, job)
    if not keys.get("in_background"):
        lab.pass_until(lambda: job not in lab.jobs, keys)
        job.late = job in lab.jobs
    return row


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
    while job.left and producer.open and producer.home.answers:
        message = _message(job, producer)
        result = stock.offer(message, producer.node)
        if result == "blocked":
            break
        moved = True
        job.left.popleft()
        if result == "refused":
            job.refused.append(message.number)
        elif "time_to_live_ms" in job.keys:
            due = message.sent + int(job.keys["time_to_live_ms"]) * 1000
            lab.clock.later(due, stock.on_expired, message)
    if not job.left:
        _end(lab, job)
    return moved


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
