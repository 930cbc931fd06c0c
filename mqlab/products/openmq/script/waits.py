"""Steps that only let time pass, until something holds."""

from __future__ import annotations

from math import ceil
from operator import itemgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import removal
from mqlab.products.openmq.broker.report import ANSWER_MS, hang
from mqlab.products.openmq.client.clients import is_seeking
from mqlab.products.openmq.client.state import Consumer
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep
from mqlab.spec import action as a
from mqlab.spec.openmq import actions as o
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

# The recorder's: quiet is what two looks find unchanged. 350 ms after each, and 27 ms for the brokers' answers
# (eight settles in the 11.05 s of death_behind_cut_noticed, two plays).
LOOK_MS = 350 + 27
LOOKS_MS = 3 * LOOK_MS
SETTLE_MS = 10_000  # until then another look begins
LOOK_IN_VAIN_MS = ANSWER_MS + 350  # a look at a broker that does not answer
# The recorder's, too: how long it rests after who comes or goes; with the 13 to 54 ms that one takes who is not
# blocked (three plays of 20 steps).
REST_MS, TAKES_MS = 300, 20
RESTED = (o.Unsubscribe, a.Consumer, o.OpenProducer, a.Close, o.CloseProducer, o.CreateDestination,
          o.UpdateDestination, o.DestroyDestination, o.PauseDestination, o.ResumeDestination)  # fmt: skip


def do_wait(lab: Cluster, step: ScriptStep[a.Wait]) -> Outcome:
    """Let time pass."""
    return RunningStep(None, None, duration(step.action.time) / 1000)


def do_settle(lab: Cluster, step: ScriptStep[a.Settle]) -> Outcome:
    """Wait until nothing moves, nor will when a consumer has done its work.

    A broker that answers nobody cannot be asked whether it is quiet: each look waits for its answer.
    Who looks whether something moves looks several times, so that meanwhile messages may expire, a line may be
    noticed to be whole, and a client may come nearer to its next attempt.
    """
    limit = step.limit
    lab.looked_at.update(broker for broker in lab.brokers.values() if broker.serves)
    if hang(lab):
        limit = ceil(min(limit, SETTLE_MS) / LOOK_IN_VAIN_MS) * LOOK_IN_VAIN_MS
    last = 0
    if _something_is_due(lab):
        last = lab.clock.now + LOOKS_MS * 1000
        lab.later(LOOKS_MS * 1000)
    return RunningStep(_is_quiet, (lab, last), limit)


def _something_is_due(lab: Cluster) -> bool:
    """Whether something comes about by time alone, so that it matters how long a script takes."""
    if any((lab.expiring, lab.healing, lab.lost, lab.blocked, lab.uncalled)):
        return True
    if any(removal.is_due_by(one, lab.clock.now + SETTLE_MS * 1000) for one in lab.physical()):
        return True
    lazy = any(c.let_go or (c.open and c.mode == "dups_ok" and c.taken) for c in lab.consumers.values())
    return lazy or any(map(is_seeking, (*lab.consumers.values(), *lab.producers.values())))


def rest(lab: Cluster, action: a.Action, blocked: bool) -> float:
    """Return how long a script rests after an action (ms): as its recorder does if that matters."""
    if lab.recorded and isinstance(action, RESTED) and (lab.jobs or _something_is_due(lab)):
        return REST_MS if blocked else REST_MS + TAKES_MS
    return 0


def _is_quiet(asked: tuple[Cluster, int]) -> bool:
    lab, last = asked
    if lab.clock.now < last:
        return False
    if any(lab.clock.now < job.due and job.interval < 2 * LOOK_MS * 1000 for job in lab.jobs):
        return False  # the next message comes before two looks have found nothing new
    if lab.clock.now < lab.sent_last + 2 * LOOK_MS * 1000:  # nor have they since the last one
        return False
    busy = (c for c in lab.consumers.values() if c.open and c.buffer and c.busy_until > lab.clock.now)
    return lab.resting and not any(busy) and not hang(lab)


def do_wait_for_received(lab: Cluster, step: ScriptStep[o.WaitForReceived]) -> Outcome:
    """Wait until a consumer has so many messages, or for as long as the step allows."""
    consumer = lab.consumers[step.action.consumer]
    return RunningStep(_has_received, (consumer, step.action.count), step.limit)


def _has_received(asked: tuple[Consumer, int]) -> bool:
    return len(asked[0].received) >= asked[1]


def do_wait_for_sends(lab: Cluster, step: ScriptStep[a.WaitForSends]) -> Outcome:
    """Wait until calls beside the script have ended."""
    return RunningStep(_have_ended, lab, step.limit)


def _have_ended(lab: Cluster) -> bool:
    return all("result" in step.row for step in lab.plan if step.in_background and step.row is not None)


def do_wait_for(lab: Cluster, step: ScriptStep[o.WaitFor]) -> Outcome:
    """Wait until an event has happened since the last fault, such as a takeover."""
    action = step.action
    event = action.event, action.about, action.by
    pause = RunningStep(None, None, duration(step.action.settle) / 1000)
    return RunningStep(_has_happened, (lab, event, pause), step.limit, itemgetter(2))


def _has_happened(asked: tuple[Cluster, tuple[str, str | None, str | None], RunningStep]) -> bool:
    lab, event, _ = asked
    return lab.has_happened(*event)
