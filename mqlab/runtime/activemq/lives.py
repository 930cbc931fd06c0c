"""Steps in the lives of brokers, and the wait until nothing moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.runtime.activemq import durable
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.activemq.clients.calls import Call
    from mqlab.runtime.activemq.lab import Lab
    from mqlab.runtime.activemq.process import Process
    from mqlab.runtime.activemq.store import Store

QUIET, LONGEST_SETTLE = 300, 6000  # ms that nothing moves, and how long that is waited for


@dataclass(slots=True)
class Waiting:
    """A step under way: its place in the script, and what it waits for."""

    no: int
    step: Step
    start: int  # us
    call: Call | None = None
    until: int | None = None  # us
    life: int = 0  # of the broker that it has started
    goal: int = 0  # how many messages its consumer is to have
    due: int | None = None  # us, when something has been there for long enough


class Lives:
    """What a step does to a broker; `now` is the step that begins."""

    lab: Lab
    now: Waiting
    named: set[str]

    def _do_settle(self, step: Step) -> None:
        self.now.until = self.now.start + int(step.get("max_ms", LONGEST_SETTLE)) * 1000

    def _over_settle(self, waiting: Waiting) -> bool:
        lab = self.lab
        quiet = int(waiting.step.get("quiet_ms", QUIET)) * 1000
        return self._due(waiting, max(waiting.start, lab.recorder.moved_at()) + quiet)

    def _due(self, waiting: Waiting, due: int) -> bool:
        """Whether it is *due* already; if not, see to it that somebody looks then."""
        lab = self.lab
        if lab.clock.now < due and due != waiting.due:
            waiting.due = due
            lab.clock.later(due, self.on_due, None)
        return lab.clock.now >= due

    def on_due(self, _: None) -> None:
        """Time has come to look again."""

    def _do_start_broker(self, step: Step) -> None:
        process = self.lab.processes[step.keys["broker"]]
        self.named.add(process.name)
        if step.get("store") == "new":
            self._delete(process.broker.store)
        process.start(step.get("broker_id") == "new")
        self.now.life = process.life
        if step.get("wait_ms") is not None and step.get("max_ms") is None:
            self.now.until = None

    def _delete(self, store: Store) -> None:
        """Somebody deletes a store: what its last user had kept is gone."""
        brokers = {broker.node: broker for broker in self.lab.brokers.values()}
        for sub in store.durables:
            durable.ended(brokers[store.last], sub, Rule.store_deleted)
        holders = store.holders
        for message in store.empty():
            broker = brokers[holders[message]]
            broker.note(Kind.Discarded, message, rule=Rule.store_deleted, cause=message.row)

    def _over_start_broker(self, waiting: Waiting) -> bool:
        step = waiting.step
        process = self.lab.processes[step.keys["broker"]]
        ended = process.life != waiting.life  # it could not start
        if step.get("wait_ms") is not None:
            return self._waited(waiting, ended or process.role != "down")
        waits = step.get("wait", process.candidate is None)
        return ended or process.open or not waits

    def _waited(self, waiting: Waiting, there: bool) -> bool:
        """Whether `wait_ms`, and a random part of `jitter_ms`, have passed since it was there."""
        lab, step = self.lab, waiting.step
        if waiting.due is None and there:
            jitter = lab.random.randrange(int(step.get("jitter_ms", 0)) * 1000 + 1)
            return self._due(waiting, lab.clock.now + int(step.keys["wait_ms"]) * 1000 + jitter)
        return waiting.due is not None and lab.clock.now >= waiting.due

    def _do_start_brokers(self, step: Step) -> None:
        for name in step.keys["brokers"]:
            self.named.add(name)
            self.lab.processes[name].start()

    def _over_start_brokers(self, waiting: Waiting) -> bool:
        if not waiting.step.get("wait", True):
            return True
        return all(self.lab.processes[name].open for name in waiting.step.keys["brokers"])

    def _do_stop_broker(self, step: Step) -> None:
        process = self.lab.processes[step.keys["broker"]]
        process.stop()
        self.now.until = self.lab.clock.now + (process.costs.stop if step.get("wait", True) else 0)

    def _do_kill(self, step: Step) -> None:
        self.now.until = self.lab.clock.now + self.lab.timing.kill
        self.lab.clock.at(self.now.until, self.on_killed, self.lab.processes[step.keys["broker"]])

    def on_killed(self, process: Process) -> None:
        """The process is dead."""
        process.kill()

    def _do_pause(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].pause()

    def _do_resume(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].resume()

    def _do_host_down(self, step: Step) -> None:
        for process in self.lab.processes.values():
            if process.member.host == step.keys["host"]:
                process.kill()
