"""A lab for OpenMQ clusters: the script's steps, one after the other, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import openmq as files
from mqlab.runtime.kernel.clock import Clock
from mqlab.runtime.openmq import admin, cluster, delivery, faults, report, sessions, stock
from mqlab.runtime.openmq.model import Broker, Client, Consumer, Instance, Keys, Message
from mqlab.runtime.openmq.notes import Notes
from mqlab.spec.openmq import OPENS, SILENT, ClusterScenario
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace


class ClusterLab:
    """A running cluster with its clients; `play` goes through the script."""

    def __init__(
        self, scenario: ClusterScenario, seed: int, jitter: Any, limit: int | None
    ) -> None:
        self.scenario, self.seed, self.limit = scenario, seed, limit
        self.enhanced = scenario.model == "enhanced"
        self.random = Random(f"openmq:{seed}")
        self.clock, self.notes = Clock(), Notes(self)
        self.listed = [m.name for m in scenario.members if not m.not_listed]
        self.brokers = {m.name: Broker(self, m.name) for m in scenario.members}
        self.notes.name_links(list(self.brokers))
        self.consumers: dict[str, Consumer] = {}
        self.producers: dict[str, Client] = {}
        self.moved: set[str] = set()  # producers that lost their broker
        self.jobs: list[sessions.Sending] = []  # sends that have not ended
        self.prepared: dict[str, admin.Prepared] = {}
        self.mortal: list[Message] = []  # messages that expire
        self.record: list[tuple[str, tuple[Any, ...]]] = []  # of administrative changes
        self.cuts: set[frozenset[str]] = set()  # lines that swallow everything
        self.database_up = True
        self.numbers = 0  # of messages
        self.operations: list[dict[str, Any]] = []
        self.snapshots: dict[str, Any] = {}
        self.happened: set[str] = set()  # since the last fault

    # The script

    def play(self) -> None:
        """Play the script to its end."""
        for no, step in enumerate(self.scenario.steps, start=1):
            self.notes.begins.add(self.notes.recorder.count)
            result = self._do(step)
            self.settle()
            if result is not None:
                self._note_refusal(step, result["result"])
                id = {"id": step.keys["id"]} if "id" in step.keys else {}
                result.update({"step": no, "do": step.do, **id})
                self.operations.append(result)
            if self.limit is not None and self.notes.recorder.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

    def _do(self, step: Step) -> dict[str, Any] | None:
        """Do a step; True and None are ok, False is refused."""
        answer = self._in_vain(step) or ACTIONS[step.do](self, step.keys)
        if step.do in SILENT:
            return None
        if not isinstance(answer, dict):
            answer = {"result": "ok" if answer in (True, None) else answer or "refused"}
        if step.do == "send" and "first" not in answer:
            self.numbers += int(step.keys["count"])
        return answer if "result" in answer else {**answer, "result": "ok"}

    def _in_vain(self, step: Step) -> str:
        """Say why a step cannot be done: its client is not there, or its broker answers nobody."""
        clients = (("consumer", self.consumers), ("producer", self.producers))
        gone = any(step.keys.get(kind, "") not in (*known, "") for kind, known in clients)
        if gone and step.do not in OPENS:  # its opening was refused, or it is closed
            return "not reached"
        asked = self._asked(step)
        waits = asked is not None and not asked.answers and step.do != "send"
        return "blocked" if waits and not hasattr(faults, f"do_{step.do}") else ""

    def _note_refusal(self, step: Step, result: str) -> None:
        """Record what a broker was asked for in vain; sends have events of their own."""
        asked = self._asked(step)
        if asked and result != "ok" and step.do != "send":
            names = ("queue", "topic", "consumer", "subscription_name", "command")
            about = " ".join(str(step.keys[name]) for name in names if name in step.keys)
            self.notes.add(Kind.Failed, {step.do: f"{about} {result}".strip()}, broker=asked.node)

    def _asked(self, step: Step) -> Broker | None:
        return self.brokers.get(str(step.keys.get("broker")))

    # What is there

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
        return self.enhanced and not self.database_up

    def happens(self, event: str, about: str) -> None:
        """Remember an event for those who wait for it."""
        self.happened |= {event, f"{event} {about}"}

    # Time

    def settle(self) -> None:
        """Let everything move that can move now."""
        moved = True
        while moved:
            stock.expire(self.mortal)
            sources = [(broker, dest) for broker in self.brokers.values() if broker.serves
                       for dest in list(broker.instances)]  # fmt: skip
            went = [delivery.dispatch(broker, dest) for broker, dest in sources]
            went += [delivery.consume(consumer) for consumer in list(self.consumers.values())]
            went += [sessions.go_on(self, job) for job in list(self.jobs)]
            moved = any(went)
        for broker in self.brokers.values():
            cluster.reap(broker)
            stock.note_waiting(broker)

    def pass_time(self, ms: float) -> None:
        """Let time go on; what falls due meanwhile happens."""
        self.pass_until(lambda: False, {"limit_ms": ms})

    def pass_until(self, holds: Callable[[], bool], keys: Keys) -> None:
        """Let time go on until something holds, or a step's `limit_ms` (30 s) is over."""
        self.settle()
        end = self.clock.now + round(keys.get("limit_ms", 30_000) * 1000)
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
        nothing = {"count": 0, "received": [], "redelivered": []}
        received = {name: {"count": len(c.received), "received": c.received,
                           "redelivered": c.redelivered}
                    for name, c in self.consumers.items() if not c.keys.get("process")}  # fmt: skip
        return self.notes.trace({
            "scenario": files.write(self.scenario), "seed": self.seed, "product": "openmq",
            "edition": self.scenario.version, "operations": self.operations,
            "snapshots": self.snapshots,
            "consumers": {**dict.fromkeys(sorted(self.moved), nothing), **received},
        })  # fmt: skip


def do_wait(lab: ClusterLab, keys: Keys) -> None:
    """Let time pass."""
    lab.pass_time(keys["ms"])


def do_settle(lab: ClusterLab, keys: Keys) -> None:
    """Wait until nothing moves, nor will when a consumer has done its work."""
    lab.pass_until(lambda: not any(c.open and c.buffer and c.busy_until > lab.clock.now
                                   for c in lab.consumers.values()), keys)  # fmt: skip


def do_wait_received(lab: ClusterLab, keys: Keys) -> None:
    """Wait until a consumer has so many messages, or for as long as the step allows."""
    received = lab.consumers[keys["consumer"]].received
    lab.pass_until(lambda: len(received) >= keys["count"], keys)


def do_wait_background(lab: ClusterLab, keys: Keys) -> None:
    """Wait until sends in the background have ended."""
    lab.pass_until(lambda: not lab.jobs, keys)


def do_wait_for(lab: ClusterLab, keys: Keys) -> None:
    """Wait until an event has happened since the last fault, such as a takeover."""
    event = f"{keys['event']} {keys.get('about', '')}".strip()
    lab.pass_until(lambda: event in lab.happened, keys)
    lab.pass_time(keys.get("settle_ms", 1000))


ROOMS = [vars(room) for room in (admin, faults, report, sessions)]
ACTIONS: dict[str, Callable[[ClusterLab, Keys], Any]] = {
    name.removeprefix("do_"): action
    for room in (*ROOMS, globals()) for name, action in list(room.items()) if name.startswith("do_")
}  # fmt: skip
