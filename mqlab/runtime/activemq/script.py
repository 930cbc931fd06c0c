"""The script of a timed scenario: each step begins when the one before has come to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mqlab.runtime.activemq import costs as machine
from mqlab.runtime.activemq.acts import Acts
from mqlab.runtime.activemq.clients.calls import Call
from mqlab.runtime.activemq.waits import WAITS
from mqlab.spec.fault import Step

if TYPE_CHECKING:
    from mqlab.runtime.activemq.process import Process
    from mqlab.runtime.activemq.timed import FailoverLab

PACE = 5000  # us between two steps: a client takes a moment; a snapshot shows the very end
LONGEST_CALL = 60_000  # ms that a script waits for a call to come back, unless told
QUIET, LONGEST_SETTLE = 300, 6000  # ms that nothing moves, and how long that is waited for
PATIENCE = 20_000  # ms that a step which waits for something has, unless told


class Script(Acts):
    """Goes from step to step; `began` is when each began, and at which row of the trace.

    A step with a time of its own happens then, beside the others.
    """

    def __init__(self, lab: FailoverLab, steps: Sequence[Step]) -> None:
        self.lab, self.steps = lab, steps
        self.place = -1
        self.began: list[tuple[int, int, int]] = []  # step, us, row
        self.ended = self.resting = False
        self.calls: list[Call] = []
        self.call: Call | None = None
        self.rows: list[dict[str, Any]] = []  # results that are no calls
        self.until: int | None = None  # us
        self.named: set[str] = set()  # the brokers that have been started at least once
        self.quiet_at = 0  # us, when a settle is looked at again
        self.go_on_at: int | None = None  # us, when a broker has been there for long enough

    def begin(self) -> None:
        """Begin with the first step; those with a time of their own are put on the clock."""
        for no, step in enumerate(self.steps):
            if step.at is not None:
                self.lab.clock.at(step.at * 1000, self.on_time, no)
        self._next()

    def perform(self, step: Step) -> None:
        """Do a step now, beside the others; what it calls comes back in its own time."""
        self.steps = (*self.steps, step)
        self.on_time(len(self.steps) - 1)

    def on_time(self, no: int) -> None:
        """The time of a step has come."""
        place, call, until = self.place, self.call, self.until
        self.place = no
        self.began.append((no, self.lab.clock.now, self.lab.recorder.count))
        self._act(self.steps[no])
        self.place, self.call, self.until = place, call, until

    def _act(self, step: Step) -> None:
        getattr(self, f"_do_{step.do}")(step)

    def _following(self) -> int:
        """Return the number of the next step that has no time of its own."""
        no = self.place + 1
        while no < len(self.steps) and self.steps[no].at is not None:
            no += 1
        return no

    def go_on(self) -> None:
        """Go on to the next step a moment after the one under way has come to its end."""
        if not self.ended and not self.resting and self._over():
            self.resting = True
            no = self._following()
            pace = 0 if no < len(self.steps) and self.steps[no].do == "snapshot" else PACE
            self.lab.clock.at(self.lab.clock.now + pace, self.on_paced, None)

    def on_paced(self, _: None) -> None:
        """The moment between two steps is over."""
        self.resting = False
        self._next()

    def _over(self) -> bool:
        step = self.steps[self.place]
        now = self.lab.clock.now
        late = self.until is not None and now >= self.until
        held = self._held(step)
        if held is None:
            return self.until is None or late
        if not held and not late:
            return False
        self._report_wait(step, held)
        return True

    def _held(self, step: Step) -> bool | None:
        """Whether what *step* waits for has come; None if it waits for nothing but time."""
        if self.call is not None:
            return self.call.done
        if step.do in WAITS:
            return WAITS[step.do](self.lab, step)
        over: Callable[[], bool] | None = getattr(self, f"_over_{step.do}", None)
        return None if over is None else over()

    def _report_wait(self, step: Step, held: bool) -> None:
        if step.do == "wait_configured" and step.get("label"):
            self.rows.append({
                "step": self.place, "do": step.do, "client": step.keys["client"],
                "label": step.keys["label"], "ok": True, "reached": held,
                "ms": [(self.lab.clock.now - self.start) // 1000] * 3,
            })  # fmt: skip

    def _next(self) -> None:
        self.place = self._following()
        self.call, self.until = None, None
        if self.place >= len(self.steps):
            self.ended = True
            return
        step = self.steps[self.place]
        lab = self.lab
        self.start = lab.clock.now
        self.began.append((self.place, lab.clock.now, lab.recorder.count))
        if (
            step.get("max_ms") is not None
            or step.do in WAITS
            or (hasattr(self, f"_over_{step.do}"))
        ):
            self.until = lab.clock.now + int(step.get("max_ms", PATIENCE)) * 1000
        if step.do not in WAITS:
            self._act(step)
        if self.call is not None and self.until is None:
            self.until = lab.clock.now + LONGEST_CALL * 1000
        lab.clock.at(lab.clock.now, self._nothing, None)
        if self.until is not None:
            lab.clock.at(self.until, self._nothing, None)

    def _nothing(self, _: None) -> None:
        """Time has come to look again."""

    def report(self) -> list[dict[str, Any]]:
        """Return what came of the calls, in the order of the steps."""
        found = list(self.rows)
        for call in self.calls:
            step = call.step
            row: dict[str, Any] = {"step": call.no, "do": step.do, "client": call.client}
            if step.get("label"):
                row["label"] = step.keys["label"]
            if call.done:
                row |= {**call.row, "ms": [call.took] * 3}
            else:
                row["still_waiting"] = True
            found.append(row)
        return sorted(found, key=lambda row: row["step"])

    def _do_settle(self, step: Step) -> None:
        self.until = self.lab.clock.now + int(step.get("max_ms", LONGEST_SETTLE)) * 1000

    def _over_settle(self) -> bool:
        lab, step = self.lab, self.steps[self.place]
        due = max(self.start, lab.recorder.moved_at()) + int(step.get("quiet_ms", QUIET)) * 1000
        if lab.clock.now >= due:
            return True
        if due != self.quiet_at:
            self.quiet_at = due
            lab.clock.at(due, self._nothing, None)
        return False

    # Brokers

    def _do_start_broker(self, step: Step) -> None:
        process = self.lab.processes[step.keys["broker"]]
        self.go_on_at = None
        self.named.add(process.name)
        if step.get("store") == "new":
            process.broker.store.empty()
        process.start(step.get("broker_id") == "new")
        self.life = process.life
        if step.get("wait_ms") is not None and step.get("max_ms") is None:
            self.until = None

    def _over_start_broker(self) -> bool:
        step = self.steps[self.place]
        process = self.lab.processes[step.keys["broker"]]
        ended = process.life != self.life  # it could not start
        if step.get("wait_ms") is not None:
            return self._waited(step, ended or process.role != "down")
        waits = step.get("wait", process.candidate is None)
        return ended or process.open or not waits

    def _waited(self, step: Step, there: bool) -> bool:
        """Whether `wait_ms`, and a random part of `jitter_ms`, have passed since it was there."""
        lab = self.lab
        if self.go_on_at is None and there:
            jitter = lab.random.randrange(int(step.get("jitter_ms", 0)) * 1000 + 1)
            self.go_on_at = lab.clock.now + int(step.keys["wait_ms"]) * 1000 + jitter
            lab.clock.at(self.go_on_at, self._nothing, None)
            return False
        return self.go_on_at is not None and lab.clock.now >= self.go_on_at

    def _do_start_brokers(self, step: Step) -> None:
        for name in step.keys["brokers"]:
            self.named.add(name)
            self.lab.processes[name].start()

    def _over_start_brokers(self) -> bool:
        step = self.steps[self.place]
        if not step.get("wait", True):
            return True
        return all(self.lab.processes[name].open for name in step.keys["brokers"])

    def _do_stop_broker(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].stop()
        self.until = self.lab.clock.now + machine.STOP

    def _do_kill(self, step: Step) -> None:
        self.until = self.lab.clock.now + machine.KILL
        self.lab.clock.at(self.until, self.on_killed, self.lab.processes[step.keys["broker"]])

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
