"""What happens to brokers in time: they start, stop, die, stand still; and what is waited for then."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.engine.completion import Completion
from mqlab.engine.in_vain import STOPS_PAUSED
from mqlab.products.activemq.script.steps import RunningStep, script_option
from mqlab.spec.action import Action, Pause, Restart, Resume, Settle, Start, Stop
from mqlab.spec.clients import StartBrokers
from mqlab.spec.faults import Crash, HostDown
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.script.runner import ScriptRunner

QUIET, LONGEST_SETTLE = 300, 6000  # ms that nothing moves, and how long that is waited for


def start_network(runner: ScriptRunner, action: Start) -> Completion:
    """Start all brokers in order, then the connectors one by one: each bridge is up before the next.

    The slave of a pure pair starts when its master is up: without a master it would be one itself.
    """
    lab = runner.lab
    runner.in_turn = True
    _tell_running(runner, lab.processes)
    slaves = runner.pure_slaves()
    for process in lab.processes.values():
        if process not in slaves:
            process.start()
    runner.turns = deque(connector for connector in lab.connectors if connector.spec.get("auto_start"))
    lab.starting = runner.turns
    return Completion(then=on_masters if slaves else on_turn, argument=runner)


def on_masters(runner: ScriptRunner) -> None:
    """The masters of pure pairs are up: their slaves start."""
    for process in runner.pure_slaves():
        process.start()
    runner.lab.under_way = Completion(then=on_turn, argument=runner)


def _tell_running(runner: ScriptRunner, names: Iterable[str]) -> None:
    """Tell of brokers that are to start and run."""
    running = [name for name in names if runner.lab.processes[name].alive]
    if running:
        runner.lab.tell(f"{' and '.join(running)} {'was' if len(running) == 1 else 'were'} running already")


def on_turn(runner: ScriptRunner) -> None:
    """The next connector starts."""
    runner.in_turn = False
    while runner.turns:
        connector = runner.turns.popleft()
        if connector.process.open and not connector.attempts:
            connector.start()
            runner.lab.under_way = Completion(then=on_turn, argument=runner)
            return


def nothing(runner: ScriptRunner, action: Action) -> None:
    """Coming to rest is what every action ends in."""


def settle(runner: ScriptRunner, action: Settle) -> Completion | None:
    """Wait until nothing has moved for a while."""
    if not runner.lab.by_calls:
        return Completion(then=on_rest, argument=(runner.lab, duration(action.quiet)))
    most = LONGEST_SETTLE if action.at_most is None else action.at_most
    runner.now.until = runner.now.start + duration(most)
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


def has_settled(runner: ScriptRunner, waiting: RunningStep, action: Settle) -> bool:
    """Whether nothing has moved for so long."""
    quiet = duration(QUIET if action.quiet == Settle().quiet else action.quiet)
    return runner.is_due(waiting, max(waiting.start, runner.lab.recorder.moved_at()) + quiet)


def start_broker(runner: ScriptRunner, action: Restart) -> None:
    """Start a broker."""
    process = runner.lab.processes[action.broker]
    runner.named.add(process.name)
    if process.alive:
        runner.lab.tell("the broker was running already")
    if action.store == "new":
        process.broker.store.delete(process.broker)
    process.start(action.broker_id == "new")
    runner.now.life = process.incarnation
    if script_option(action, "wait_ms") is not None and script_option(action, "max_ms") is None:
        runner.now.until = None


def has_started(runner: ScriptRunner, waiting: RunningStep, action: Restart) -> bool:
    """Whether a broker has a role, or serves; or could not start."""
    process = runner.lab.processes[action.broker]
    ended = process.incarnation != waiting.life
    if script_option(action, "wait_ms") is not None:
        return _waited(runner, waiting, ended or process.role != "down")
    waits = process.locker is None if action.wait is None else action.wait
    return ended or process.open or not waits


def after_start(runner: ScriptRunner, action: Restart | StartBrokers) -> None:
    """The forwarders in front of brokers that serve begin to listen."""
    for name in (action.broker,) if isinstance(action, Restart) else action.brokers:
        process = runner.lab.processes[name]
        if process.open and process.line is not None and process.line.forwarder:
            process.line.heal()


def _waited(runner: ScriptRunner, waiting: RunningStep, there: bool) -> bool:
    """Whether `wait_ms`, and a random part of `jitter_ms`, have passed since it was there."""
    lab, action = runner.lab, waiting.action
    if waiting.due is None and there:
        jitter = lab.random.randrange(duration(script_option(action, "jitter_ms", 0)) + 1)
        return runner.is_due(waiting, lab.clock.now + duration(script_option(action, "wait_ms")) + jitter)
    return waiting.due is not None and lab.clock.now >= waiting.due


def start_brokers(runner: ScriptRunner, action: StartBrokers) -> None:
    """Start several brokers at once."""
    _tell_running(runner, action.brokers)
    for name in action.brokers:
        runner.named.add(name)
        runner.lab.processes[name].start()


def have_started(runner: ScriptRunner, waiting: RunningStep, action: StartBrokers) -> bool:
    """Whether all of them serve."""
    return not action.wait or all(runner.lab.processes[name].open for name in action.brokers)


def stop(runner: ScriptRunner, action: Stop) -> None:
    """Stop a broker in an orderly way."""
    process = runner.lab.processes[action.broker]
    if process.paused:
        runner.lab.tell(STOPS_PAUSED)
    takes = process.takes_to_stop if action.wait is None or action.wait else 0
    process.stop()
    runner.now.until = runner.lab.clock.now + takes
    if process.line is not None and process.line.forwarder:  # it goes on for as long as the stop takes
        runner.lab.clock.schedule(runner.now.until, process.line.cut, "refuse")


def crash(runner: ScriptRunner, action: Crash) -> None:
    """A broker's process dies."""
    clock = runner.lab.clock
    runner.now.until = clock.now + runner.lab.timing.kill
    clock.schedule(runner.now.until, on_killed, runner.lab.processes[action.broker])


def on_killed(process: BrokerService) -> None:
    """The process is dead."""
    process.kill()


def pause(runner: ScriptRunner, action: Pause) -> None:
    """A broker is suspended, or a consumer held."""
    if action.who in runner.lab.processes and action.kind != "consumer":
        runner.lab.processes[action.who].pause()
    else:
        runner.lab.consumers[action.who].allow(0)


def resume(runner: ScriptRunner, action: Resume) -> None:
    """It goes on."""
    if action.who in runner.lab.processes and action.kind != "consumer":
        broker = runner.lab.processes[action.who]
        if not broker.paused:
            runner.lab.tell("the broker was not paused")
        broker.resume()
    else:
        runner.lab.consumers[action.who].allow(None)


def host_down(runner: ScriptRunner, action: HostDown) -> None:
    """All brokers of a host die at once."""
    hosts = [process for process in runner.lab.processes.values() if process.member.host == action.host]
    if not any(process.alive for process in hosts):
        runner.lab.tell("none of its brokers was running")
    for process in hosts:
        process.kill()
