"""What happens to brokers in time: they start, stop, die, stand still; and what is waited for then."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mqlab.engine.lab import Completion
from mqlab.products.activemq.broker import durable
from mqlab.products.activemq.script.steps import RunningStep, Stage, script_option
from mqlab.spec.action import Action, Pause, Restart, Resume, Settle, Start, Stop
from mqlab.spec.clients import StartBrokers
from mqlab.spec.faults import Crash, HostDown
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.ha.persistence_adapter import PersistenceAdapter
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.script.runner import ScriptRunner

QUIET, LONGEST_SETTLE = 300, 6000  # ms that nothing moves, and how long that is waited for


def start_network(stage: ScriptRunner, action: Start) -> Completion:
    """Start all brokers in order, then the connectors one by one: each bridge is up before the next."""
    lab = stage.lab
    stage.in_turn = True
    for process in lab.processes.values():
        process.start()
    stage.turns = deque(connector for connector in lab.connectors if connector.spec.get("auto_start"))
    return Completion(then=on_turn, argument=stage)


def on_turn(stage: ScriptRunner) -> None:
    """The next connector starts."""
    stage.in_turn = False
    while stage.turns:
        connector = stage.turns.popleft()
        if connector.process.open and not connector.attempts:
            connector.start()
            stage.lab.under_way = Completion(then=on_turn, argument=stage)
            return


def nothing(stage: Stage, action: Action) -> None:
    """Coming to rest is what every action ends in."""


def settle(stage: Stage, action: Settle) -> Completion | None:
    """Wait until nothing has moved for a while."""
    if not stage.lab.by_calls:
        return Completion(then=on_rest, argument=(stage.lab, duration(action.quiet)))
    most = LONGEST_SETTLE if action.at_most is None else action.at_most
    stage.now.until = stage.now.start + duration(most)
    return None


def on_rest(waits: tuple[Lab, int]) -> None:
    """All has come to rest: is it long enough?"""
    lab, quiet = waits
    due = lab.recorder.moved_at() + quiet
    if due > lab.clock.now:
        lab.under_way = Completion(deadline=due, then=on_quiet, argument=waits)


def on_quiet(waits: tuple[Lab, int]) -> None:
    """It was quiet for long enough, unless something has come up."""
    waits[0].under_way = Completion(then=on_rest, argument=waits)


def has_settled(stage: Stage, waiting: RunningStep, action: Settle) -> bool:
    """Whether nothing has moved for so long."""
    quiet = duration(QUIET if action.quiet == Settle().quiet else action.quiet)
    return stage.is_due(waiting, max(waiting.start, stage.lab.recorder.moved_at()) + quiet)


def start_broker(stage: Stage, action: Restart) -> None:
    """Start a broker."""
    process = stage.lab.processes[action.broker]
    stage.named.add(process.name)
    if action.store == "new":
        _delete(stage, process.broker.store)
    process.start(action.broker_id == "new")
    stage.now.life = process.incarnation
    if script_option(action, "wait_ms") is not None and script_option(action, "max_ms") is None:
        stage.now.until = None


def _delete(stage: Stage, store: PersistenceAdapter) -> None:
    """Somebody deletes a store: what its last user had kept is gone."""
    brokers = {broker.node: broker for broker in stage.lab.brokers.values()}
    for sub in store.durables:
        durable.ended(brokers[store.last], sub, Reason.store_deleted)
    holders = store.holders
    for message in store.empty():
        broker = brokers[holders[message]]
        broker.record_message(Kind.Discarded, message, rule=Reason.store_deleted, cause=message.row)


def has_started(stage: Stage, waiting: RunningStep, action: Restart) -> bool:
    """Whether a broker has a role, or serves; or could not start."""
    process = stage.lab.processes[action.broker]
    ended = process.incarnation != waiting.life
    if script_option(action, "wait_ms") is not None:
        return _waited(stage, waiting, ended or process.role != "down")
    waits = process.locker is None if action.wait is None else action.wait
    return ended or process.open or not waits


def _waited(stage: Stage, waiting: RunningStep, there: bool) -> bool:
    """Whether `wait_ms`, and a random part of `jitter_ms`, have passed since it was there."""
    lab, action = stage.lab, waiting.action
    if waiting.due is None and there:
        jitter = lab.random.randrange(duration(script_option(action, "jitter_ms", 0)) + 1)
        return stage.is_due(waiting, lab.clock.now + duration(script_option(action, "wait_ms")) + jitter)
    return waiting.due is not None and lab.clock.now >= waiting.due


def start_brokers(stage: Stage, action: StartBrokers) -> None:
    """Start several brokers at once."""
    for name in action.brokers:
        stage.named.add(name)
        stage.lab.processes[name].start()


def have_started(stage: Stage, waiting: RunningStep, action: StartBrokers) -> bool:
    """Whether all of them serve."""
    return not action.wait or all(stage.lab.processes[name].open for name in action.brokers)


def stop(stage: Stage, action: Stop) -> None:
    """Stop a broker in an orderly way."""
    process = stage.lab.processes[action.broker]
    process.stop()
    waits = action.wait is None or action.wait
    stage.now.until = stage.lab.clock.now + (process.costs.stop if waits else 0)


def crash(stage: Stage, action: Crash) -> None:
    """A broker's process dies."""
    clock = stage.lab.clock
    stage.now.until = clock.now + stage.lab.timing.kill
    clock.schedule(stage.now.until, on_killed, stage.lab.processes[action.broker])


def on_killed(process: BrokerService) -> None:
    """The process is dead."""
    process.kill()


def pause(stage: Stage, action: Pause) -> None:
    """A broker is suspended, or a consumer held."""
    if action.who in stage.lab.processes:
        stage.lab.processes[action.who].pause()
    else:
        stage.lab.consumers[action.who].allow(0)


def resume(stage: Stage, action: Resume) -> None:
    """It goes on."""
    if action.who in stage.lab.processes:
        stage.lab.processes[action.who].resume()
    else:
        stage.lab.consumers[action.who].allow(None)


def host_down(stage: Stage, action: HostDown) -> None:
    """All brokers of a host die at once."""
    for process in stage.lab.processes.values():
        if process.member.host == action.host:
            process.kill()
