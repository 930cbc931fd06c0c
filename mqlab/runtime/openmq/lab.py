"""A lab for OpenMQ clusters: the script's steps, one after the other, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import openmq as files
from mqlab.runtime.clock import Clock
from mqlab.runtime.openmq import (
    admin,
    cluster,
    delivery,
    faults,
    receiving,
    report,
    sending,
    stock,
)  # fmt: skip
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import (
    BLOCKED,
    Client,
    Consumer,
    Instance,
    Keys,
    Message,
    Producer,
)  # fmt: skip
from mqlab.runtime.openmq.notes import Notes
from mqlab.runtime.openmq.takeover import Takeover
from mqlab.spec.openmq import OPENS, ClusterScenario
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace


class ClusterLab:
    """A running cluster with its clients; `play` goes through the script."""

    def __init__(
        self, scenario: ClusterScenario, seed: int, jitter: Any, limit: int | None
    ) -> None:
        self.scenario, self.seed, self.limit = scenario, seed, limit
        self.random = Random(f"openmq:{seed}")
        self.clock, self.notes = Clock(), Notes(self)
        self.listed = [m.name for m in scenario.members if not m.not_listed]
        self.brokers = {m.name: Broker(self, m.name) for m in scenario.members}
        self.notes.name_links(list(self.brokers))
        self.consumers: dict[str, Consumer] = {}
        self.producers: dict[str, Producer] = {}
        self.jobs: list[sending.Sending] = []  # sends that have not ended
        self.prepared: dict[str, admin.Prepared] = {}
        self.record: list[tuple[str, tuple[Any, ...]]] = []  # of administrative changes
        self.cuts: set[frozenset[str]] = set()  # lines that swallow everything
        self.database_up = True
        self.takeover = Takeover(self)
        self.numbers = 0  # of messages
        self.operations: list[dict[str, Any]] = []
        self.snapshots: dict[str, Any] = {}
        self.events: dict[str, dict[str, int]] = {}  # how often a client's connection was ...
        self.happened: set[str] = set()  # since the last fault

    # The script

    def play(self) -> None:
        """Play the script to its end."""
        for no, step in enumerate(self.scenario.steps, start=1):
            self.notes.begins.add(self.notes.count)
            result = self._do(step)
            self.settle()
            if result is not None:
                self._note_refusal(step, result["result"])
                id = {"id": step.keys["id"]} if "id" in step.keys else {}
                result.update({"step": no, "do": step.do, **id})
                self.operations.append(result)
            if self.limit is not None and self.notes.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

    def _note_refusal(self, step: Step, result: str) -> None:
        """Record what a broker was asked for in vain; sends have events of their own."""
        asked = step.keys.get("broker")
        if (
            result != "ok"
            and step.do != "send"
            and isinstance(asked, str)
            and asked in self.brokers
        ):
            names = ("queue", "topic", "consumer", "subscription_name", "command")
            about = " ".join(str(step.keys[name]) for name in names if name in step.keys)
            told = {step.do: f"{about} {result}".strip()}
            self.notes.add(Kind.Failed, told, broker=self.brokers[asked].node)

    def _do(self, step: Step) -> dict[str, Any] | None:
        """Do a step, unless its client is not there, or its broker answers nobody."""
        asked = self.brokers.get(str(step.keys.get("broker")))
        opened = OPENS.get(step.do)
        gone = step.keys.get("consumer", "") not in (*self.consumers, "") or (
            step.keys.get("producer", "") not in (*self.producers, "")
        )
        answer: Any
        if gone and opened is None:  # its opening was refused, or it is closed
            answer = self._not_reached(step)
        elif asked and not asked.answers and step.do not in ("send", *FAULTS):
            answer = BLOCKED
        else:
            answer = ACTIONS[step.do](self, step.keys)
        return {"result": answer} if isinstance(answer, str) else answer

    def _not_reached(self, step: Step) -> dict[str, Any]:
        result: dict[str, Any] = {"result": "not reached"}
        if step.do == "send":
            numbers = self.take_numbers(int(step.keys["count"]))
            result |= {"first": self.numbers - len(numbers) + 1, "count": len(numbers)}
        return result

    def take_numbers(self, count: int) -> list[int]:
        """Return the numbers of the next *count* messages."""
        self.numbers += count
        return list(range(self.numbers - count + 1, self.numbers + 1))

    # What is there

    def client(self, keys: Keys) -> Client | None:
        """Return the client that a step names."""
        producer = self.producers.get(str(keys.get("producer")))
        return producer or self.consumers.get(str(keys.get("consumer")))

    def messages(self) -> list[tuple[Instance, Message]]:
        """Return all messages with the instances that hold them."""
        instances = [i for broker in self.brokers.values() for i in broker.instances.values()]
        return [(instance, message) for instance in instances for message in instance.messages]

    def is_open(self, transaction: str | None) -> bool:
        """Whether a transaction ends with its broker: it is not prepared."""
        return transaction is not None and transaction not in self.prepared

    def is_cut(self, one: Broker, other: Broker) -> bool:
        """Whether the network between two brokers swallows everything."""
        return frozenset((one.name, other.name)) in self.cuts

    @property
    def store_down(self) -> bool:
        """Whether the store that all brokers of an enhanced cluster share is away."""
        return self.takeover.enhanced and not self.database_up

    def happens(self, event: str, about: str) -> None:
        """Remember an event for those who wait for it."""
        self.happened |= {event, f"{event} {about}"}

    def has_happened(self, event: str, about: str | None = None) -> bool:
        """Whether an event has happened since the last fault."""
        return (f"{event} {about}" if about else event) in self.happened

    # Time

    def settle(self) -> None:
        """Let everything move that can move now."""
        moved = True
        while moved:
            sources = [(broker, dest) for broker in self.brokers.values() if broker.serves
                       for dest in list(broker.instances)]  # fmt: skip
            went = [delivery.dispatch(broker, dest) for broker, dest in sources]
            went += [delivery.consume(self, c) for c in list(self.consumers.values())]
            went += [sending.go_on(self, job) for job in list(self.jobs)]
            moved = any(went)
        cluster.reap(self)
        stock.note_waiting(self)

    def pass_time(self, ms: float) -> None:
        """Let time go on; what falls due meanwhile happens."""
        self.clock.rest(self.clock.now + round(ms * 1000))
        self.settle()

    def pass_until(self, holds: Callable[[], bool], limit_ms: int) -> None:
        """Let time go on until something holds, or the limit is over."""
        end = self.clock.now + limit_ms * 1000
        while not holds() and self.clock.now < end:
            due = self.clock.heap[0][0] if self.clock.heap else end
            self.clock.rest(min(end, max(due, self.clock.now)))
            self.settle()

    def on_due(self, _: None) -> None:
        """Something may go on by now."""
        self.settle()

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        received = {name: {"count": len(c.received), "received": c.received,
                           "redelivered": c.redelivered}
                    for name, c in self.consumers.items() if not c.keys.get("process")}  # fmt: skip
        moved = {name: {"count": 0, "received": [], "redelivered": []}
                 for name in self.events if name not in self.consumers}  # fmt: skip
        return self.notes.trace({
            "scenario": files.write(self.scenario), "seed": self.seed, "product": "openmq",
            "edition": self.scenario.version, "operations": self.operations,
            "snapshots": self.snapshots, "events": self.events, "consumers": received | moved,
        })  # fmt: skip


def do_wait(lab: ClusterLab, keys: Keys) -> None:
    """Let time pass."""
    lab.pass_time(keys["ms"])


def do_settle(lab: ClusterLab, keys: Keys) -> None:
    """Wait until nothing moves, nor will when a consumer has done its work."""
    lab.settle()
    lab.pass_until(lambda: not any(c.open and c.buffer and c.busy_until > lab.clock.now
                                   for c in lab.consumers.values()),
                   int(keys.get("ms", 30_000)))  # fmt: skip


def do_wait_received(lab: ClusterLab, keys: Keys) -> None:
    """Wait until a consumer has so many messages, or for as long as the step allows."""
    consumer, count = lab.consumers[keys["consumer"]], int(keys["count"])
    lab.settle()
    lab.pass_until(lambda: len(consumer.received) >= count, int(keys.get("limit_ms", 30_000)))


def do_wait_background(lab: ClusterLab, keys: Keys) -> None:
    """Wait until sends in the background have ended."""
    lab.settle()
    lab.pass_until(lambda: not lab.jobs, int(keys.get("limit_ms", 30_000)))


def do_wait_for(lab: ClusterLab, keys: Keys) -> None:
    """Wait until an event has happened since the last fault, such as a takeover."""
    lab.pass_until(lambda: lab.has_happened(keys["event"], keys.get("about")),
                   int(keys.get("limit_ms", 60_000)))  # fmt: skip
    lab.pass_time(keys.get("settle_ms", 1000))


ACTIONS: dict[str, Callable[[ClusterLab, Keys], Any]] = {
    name.removeprefix("do_"): action
    for room in (vars(admin), vars(faults), vars(receiving), vars(report), vars(sending), globals())
    for name, action in list(room.items()) if name.startswith("do_")
}  # fmt: skip
FAULTS = [name.removeprefix("do_") for name in vars(faults) if name.startswith("do_")]
