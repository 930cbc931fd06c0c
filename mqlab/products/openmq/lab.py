"""A lab for OpenMQ clusters: the script's steps, one after the other, and what comes of each."""

from __future__ import annotations

from functools import partial
from typing import Any

from mqlab.engine.clock import NEVER
from mqlab.engine.completion import Completion
from mqlab.engine.in_vain import CLOSED, SessionState
from mqlab.engine.limits import LONGEST_REST
from mqlab.products.openmq.broker import report
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Consumer
from mqlab.products.openmq.files import treatment
from mqlab.products.openmq.ha import takeover
from mqlab.products.openmq.network.state import Cluster
from mqlab.products.openmq.notes import DOWN
from mqlab.products.openmq.script import actions, refusals, unanswered, waits
from mqlab.products.openmq.script.operation import (
    FOR_EVER,
    Answer,
    Outcome,
    Row,
    RunningStep,
    ScriptStep,
)
from mqlab.spec import action as a
from mqlab.spec.action import Action
from mqlab.spec.calls import fit_methods
from mqlab.spec.json_types import JsonDict
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.script import ScriptReader
from mqlab.spec.scenario import check_actions
from mqlab.spec.values import duration, told_time
from mqlab.trace.trace import Trace

MS = 1000  # us


class ClusterLab(Cluster):
    """A running cluster with its clients, and the script of what happens to them."""

    # The script

    reader: ScriptReader | None = None  # of what is done, once something is

    def _do(self, action: Action) -> None:
        check_actions((action,))
        place = len(self.plan) - len(self.script)
        reader, self.reader = self.reader, None
        if reader is None or self.script:
            reader = self.network.reader()
            for known in self.plan[:place]:
                reader.read(known.called)
        operations: list[ScriptStep[Action]] = [ScriptStep(one) for one in reader.read(action)]
        if self.script:  # what is still to come has to go with it
            for known in self.plan[place:]:
                reader.read(known.called)
        for operation in operations:
            if operation.at is not None:
                self.schedule(operation)
        self.reader = reader  # of what could not be done, nothing stays
        self.plan[place:place] = operations
        script = [known.called for known in self.plan]
        self.scenario = self.scenario.planned(script, script)
        for operation in operations:
            if operation.at is None:
                self._put_beside(self.begin(operation))

    def begin(self, action: Any) -> Completion:
        """Begin a step; it is over when its operation has its answer."""
        step: ScriptStep[Action] = action
        self.judge(step)
        if type(step.action) in actions.FAULTS:
            self.happened.clear()
        outcome = (
            refusals.at_client(self, step)
            or unanswered.waits(self, step)
            or actions.DO[type(step.action)](self, step)
        )
        if (
            step.in_background
            and isinstance(outcome, RunningStep)
            and not isinstance(step.action, actions.SENDS)
        ):
            self._note(step, {})  # what comes of it is not known yet
            self._put_beside(self._go_on_with(step, outcome))
            return (
                Completion(deadline=self.clock.now + round(step.lead * MS)) if self.recorded else Completion()
            )
        return self._go_on_with(step, outcome)

    def on_scheduled(self, action: object) -> None:
        """The time of a step has come: it happens beside the others."""
        self.scheduled -= 1
        self._put_beside(self.begin(action))

    def _put_beside(self, until: Completion) -> None:
        while until.argument is not None and self.is_over(until):
            until = self._go_on_after(until)
        if until.argument is not None:
            self.beside.append(until)
            self.later((until.deadline or self.clock.now) - self.clock.now)

    def hurry(self, last: int) -> None:
        """Let things happen as many steps would, up to the next action that has a time of its own."""
        times = [duration(action.at, "at") for action in self.appointments if action.at is not None]
        last = min([last, *(time - 1 for time in times)])
        if not self.blocked and not self.beside:
            super().hurry(last)
        elif self.under_way is None and not self.script and not self.ends_with_script:
            most = NEVER if self.limit is None else self.limit
            while self.beside and self.recorder.count <= most:
                self.clock.rush(self._told_beside(last), self.recorder, most)
                if self.recorder.count > most or not (self.clock.halted or self.clock.next_by(last)):
                    break
                self._look_beside()

    def _told_beside(self, last: int) -> int:
        """Return until when (us) nothing that goes on beside the script ends without a halt of the clock."""
        if self.blocked:
            return -1
        told = [until.told(until.argument) for until in self.beside if until.told is not None]
        return min(last, *told, *(until.deadline - 1 for until in self.beside if until.deadline is not None))

    def step(self, count: int = 1) -> bool:
        """Let the next thing happen, an event or the next step, or so many; False when nothing is left."""
        moved = super().step(count)
        if count != 1:  # each has been here
            return moved
        if not moved and any(until.deadline is not None for until in self.beside):
            self.clock.next()
            moved = True
        return self._look_beside() or moved

    def _look_beside(self) -> bool:
        """Let what was blocked, or goes on beside the script, go on if it can; True if a blocked step does.

        Who has a connection is read before who opens one, which takes several answers (OpenMQ rule 8.8).
        """
        blocked = (
            sorted(filter(ScriptStep.holds, self.blocked), key=unanswered.connects) if self.blocked else ()
        )
        for operation in blocked:
            if operation in self.blocked and operation.holds():  # the one before may let its broker wait again
                self.blocked.remove(operation)
                self._put_beside(self._go_on_with(operation, operation.go_on()))
        if any(map(self.is_over, self.beside)):  # hardly ever: the list of all that are is made then
            for until in [until for until in self.beside if self.is_over(until)]:
                self.beside.remove(until)
                self._put_beside(until)
        return bool(blocked)

    def _go_on_with(self, operation: ScriptStep[Action], outcome: Outcome) -> Completion:
        """Return when an operation is over, or goes on."""
        self.dispatch_all()
        if not isinstance(outcome, RunningStep):
            self._answer(operation, outcome)
            rest = waits.rest(self, operation.action, blocked=outcome == "blocked")
            return Completion(deadline=self.clock.now + round(rest * MS)) if rest else Completion()
        operation.waits = outcome
        end = self.clock.now + round(outcome.ms * MS) if outcome.ms < FOR_EVER else None
        return Completion(ScriptStep.holds, operation, end, told=ScriptStep.told)

    def _go_on_after(self, until: Completion) -> Completion:
        """Return what comes after an operation has waited."""
        operation: ScriptStep[Action] = until.argument
        self.acting = operation
        if isinstance(operation.action, actions.WAITS) and operation.is_late():
            self.tell(f"not so within {told_time(round(operation.waits.ms * MS))}", operation)  # type: ignore[union-attr]
        if operation.waits is not None and operation.waits.insists and not operation.holds():
            self.blocked.append(operation)
            return self._go_on_with(operation, "blocked")
        return self._go_on_with(operation, operation.go_on())

    def end_action(self) -> None:
        """The step under way, if there is one, goes on after it has waited, or is over."""
        until, self.under_way = self.under_way, None
        if until is not None and until.argument is not None:
            self.under_way = self._go_on_after(until)

    def _answer(self, operation: ScriptStep[Action], answer: Answer) -> None:
        """Note what came of a step, the second time what came of it in the end.

        True and None are ok, False is refused.
        """
        action = operation.action
        if not isinstance(answer, dict):
            answer = {"result": "ok" if answer in (True, None) else answer or "refused"}
        if operation.row is not None and operation.in_background:
            operation.row |= {"result": "ok", **answer}
            return
        if operation.row is not None:
            if answer.get("result") != "blocked":  # it may wait for one thing after another
                operation.row.setdefault("later", answer.get("result", "ok"))
            return
        if isinstance(action, actions.SENDS) and "first" not in answer:
            self.numbers += action.sends
        if isinstance(action, actions.SILENT):
            operation.row = answer
            return
        # One that sends beside the script says so itself.
        if not (operation.in_background and "first" in answer):
            answer.setdefault("result", "ok")
        if isinstance(action, (a.Receive, o.Receive)):
            self.tell_received(int(answer.get("took", 0)), action.count, action.consumer, operation)
        refusals.note(self, operation, answer.get("result", "ok"))
        self._note(operation, answer)

    def _note(self, operation: ScriptStep[Action], answer: Row) -> None:
        """Let a step have a row among those of the operations."""
        operation.row = answer
        answer["step"], answer["do"] = self.plan.index(operation) + 1, operation.word
        if operation.id is not None:
            answer["id"] = operation.id
        self.operations.append(answer)

    def session_state(self, name: str, session: str | None = None) -> SessionState | None:
        """Return what the session of a consumer or producer is now; None if it was never opened."""
        found = self.consumers.get(name) or self.producers.get(name)
        if found is None:
            return None
        gone = "" if clients.has_broker(found) else "it has lost its connection, and looks for no other"
        gone = CLOSED if found.closed else gone
        mode = "xa" if found.step.options.get("xa") else found.mode
        if not isinstance(found, Consumer):
            sent = sum(message.transaction == name for _, message in self.messages())
            return SessionState(gone, None, mode, mode in ("transacted", "xa"), sent + found.rollback_only)
        waits = mode != "auto" and not (mode == "client" and found.acknowledge)
        held = len(found.taken) + found.rollback_only
        return SessionState(gone, found.allowance is None, mode, waits, held)

    # What came of it

    def action_of(self, scripted: ScriptStep[Action]) -> Action:
        """Return the action of a step of the script."""
        return scripted.called

    @property
    def undone(self) -> list[JsonDict]:
        """What of the script has not happened, is still lost in a cut that is over, or is in doubt."""
        why = "TCP has not yet sent again what was lost in the cut; add a Wait after the Heal"
        healing = (" - ".join(sorted(line)) for line in self.healing)
        return [
            *super().undone,
            *({"what": f"The restored link {line}", "why": why} for line in sorted(healing)),
            *(
                {"what": f"The branch {xid}", "why": "prepared, and neither committed nor rolled back"}
                for xid in self.prepared
            ),
        ]

    @property
    def coming(self) -> bool:  # type: ignore[override]  # of a product where a takeover is housekeeping
        """Whether a broker is about to be taken over: a run goes on unless it ends with a look."""
        looked = isinstance(self.latest, ScriptStep) and isinstance(self.latest.action, actions.LOOKS)
        late = self.clock.now > self.rest_since + LONGEST_REST
        return not looked and not late and takeover.is_coming(self)

    @property
    def roles(self) -> dict[str, str]:
        """What each broker is: running, waiting for its master, or down."""
        return {name: self.notes.roles.get(name, DOWN) for name in self.brokers}

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        header = {
            **self.settings,
            "product": "openmq",
            "edition": self.network.edition,
            "undone": self.undone,
            "operations": [dict(row) for row in self.operations],
            "snapshots": dict(self.snapshots),
            "consumers": report.of_clients(self),
        }
        return self.notes.trace(header, partial(treatment.header, self.scenario), self.scenario.actions)


fit_methods(ClusterLab, ("step",))
