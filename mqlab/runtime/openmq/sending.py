"""Producers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, stock
from mqlab.runtime.openmq.messages import (
    BLOCKED,
    OK,
    REFUSED,
    Keys,
    Message,
    Producer,
    destination_of,
)  # fmt: skip
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
    producer: Producer | None = None
    late: bool = False


def do_open_producer(lab: ClusterLab, keys: Keys) -> str:
    """Open a producer on a connection of its own."""
    return OK if _open(lab, keys["producer"], keys["producer"], keys) else REFUSED


def _open(lab: ClusterLab, key: str, name: str, keys: Keys) -> Producer | None:
    broker, dest = clients.reachable(lab, keys["broker"]), destination_of(keys)
    if broker is None or not broker.find(dest):
        return None
    if broker.instances[dest].limits("MaxNumProducers", broker.producers(dest) + 1):
        return None
    node = lab.notes.node(name, "producer", broker.name)
    lab.producers[key] = Producer(name, dest, keys, broker.name, node)
    return lab.producers[key]


def do_close_producer(lab: ClusterLab, keys: Keys) -> str:
    """Close a producer; what it has not committed is gone."""
    producer = lab.producers.pop(keys["producer"])
    producer.open, producer.closed = False, True
    end_transaction(lab, producer.name, commit=False)
    return OK


def do_send(lab: ClusterLab, keys: Keys) -> dict[str, Any]:
    """Send messages one by one; under flow control the rest waits."""
    numbers = lab.take_numbers(int(keys["count"]))
    row = {"first": numbers[0] if numbers else lab.numbers + 1, "count": len(numbers)}
    job = Sending({**row, "result": BLOCKED}, keys, deque(numbers), [],
                  lab.producers.get(str(keys.get("producer"))))  # fmt: skip
    if numbers and job.producer and not job.producer.open and not job.producer.refuses:
        # The send during the failure is lost when it ends; those after it go to the new home.
        job.refused.append(job.left.popleft())
        clients.wait_for_broker(lab, job.producer, keys)
    lab.jobs.append(job)
    go_on(lab, job)
    if job in lab.jobs and not keys.get("in_background"):
        lab.pass_until(lambda: job not in lab.jobs, int(keys.get("limit_ms", 30_000)))
        job.late = job in lab.jobs
    return job.row


def go_on(lab: ClusterLab, job: Sending) -> bool:
    """Send what a producer can send now; True if something moved."""
    if job.producer is None:
        where = clients.addresses(lab, job.keys["broker"])
        if not lab.brokers[where[0]].answers:
            return False
        job.producer = _open(lab, f"#{job.row['first']}", f"P.{where[0]}", job.keys)
        if job.producer is None:
            job.row["result"] = REFUSED
            lab.jobs.remove(job)
            return True
    producer, moved = job.producer, False
    broker = lab.brokers[producer.home]
    if not producer.open and not clients.comes_back(lab, producer):
        job.refused += job.left
        job.left.clear()
    while job.left and producer.open and broker.answers:
        message = _message(lab, job, job.left[0])
        result = stock.offer(broker, message, producer.node)
        if result == BLOCKED:
            break
        moved = True
        job.left.popleft()
        if result == REFUSED:
            job.refused.append(message.number)
        elif "time_to_live_ms" in job.keys:
            due = message.sent + int(job.keys["time_to_live_ms"]) * 1000
            lab.clock.later(due, stock.on_expired, (lab, message))
    if not job.left:
        _end(lab, job)
    return moved


def _end(lab: ClusterLab, job: Sending) -> None:
    """All is sent or refused: say how it ended."""
    row = job.row
    row["sent"] = row["count"] - len(job.refused)
    if job.refused:
        row["refused"] = job.refused
    row["result"] = OK if not job.refused else "partly refused" if row["sent"] else REFUSED
    if job.late:
        row["result"] = BLOCKED
    lab.producers.pop(f"#{row['first']}", None)
    lab.jobs.remove(job)


def _message(lab: ClusterLab, job: Sending, number: int) -> Message:
    keys, producer, place = job.keys, job.producer, number - job.row["first"]
    assert producer is not None

    def dealt(value: Any) -> Any:
        return value[place % len(value)] if isinstance(value, (list, tuple)) else value

    message = Message(
        number, producer.home, producer.dest, keys.get("persistent", True),
        dealt(keys.get("jms_priority", 4)),
        {name: dealt(value) for name, value in keys.get("properties", {}).items()},
        int(keys.get("size", 100)), lab.clock.now,
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
                stock.discard(lab, message, Rule.asked)
