"""What an action comes to, by two paces.

At rest, each action is over when the network has come to rest. By the pace of calls it is over when its call
has come back, when what it waits for holds, or when its patience is over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mqlab.engine.completion import AT_ONCE, Completion
from mqlab.products.activemq.client import request_reply
from mqlab.products.activemq.client.calls import PendingCall, is_beside
from mqlab.products.activemq.script import broker_actions, client_actions, fault_actions
from mqlab.products.activemq.script.steps import RunningStep, script_option
from mqlab.products.activemq.script.waits import WAITS
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec import faults as f
from mqlab.spec.json_types import JsonDict
from mqlab.spec.network_names import DATABASE
from mqlab.spec.steps import name_of
from mqlab.spec.values import told_time

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.ha.jdbc import Database
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector
    from mqlab.products.activemq.transport.sockets import NetworkPath

PATIENCE = 20_000  # ms that an action which waits for something has, unless told
LONGEST_CALL = 60_000  # ms that a script waits for a call to come back, unless told


@dataclass(eq=False)
class ScriptRunner:
    """Does actions, and knows when they are over.

    `now` is the action that begins, `calls` are all that clients have made, `rows` results that are no calls,
    `named` the brokers that have been started at least once, `turns` connectors that start one after the other.
    """

    lab: Lab
    calls: list[PendingCall] = field(default_factory=list)
    rows: list[JsonDict] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    turns: deque[DiscoveryNetworkConnector] = field(default_factory=deque)
    in_turn: bool = False
    now: RunningStep = field(init=False)

    def do(self, no: int, action: a.Action) -> Completion:
        """Begin an action, and say when it is over."""
        self.lab.judge(action)
        clock = self.lab.clock
        over = isinstance(action, c.WaitUntil) or type(action) in OVER
        most = script_option(action, "max_ms")
        self.now = now = RunningStep(no, action, clock.now)
        if most is not None or over:
            now.until = clock.now + int(PATIENCE if most is None else most) * 1000
        if isinstance(action, c.WaitUntil) and action.what == "acts":
            now.until = None  # it is told by `are_joined`
        end = None if isinstance(action, c.WaitUntil) else DO[type(action)](self, action)
        if end is None and not self.lab.by_calls and getattr(action, "in_background", False):
            return AT_ONCE
        if end is not None or not (self.lab.by_calls or isinstance(action, (c.WaitUntil, c.ReceiveOnce))):
            return end or Completion()
        if now.call is not None and now.until is None:
            now.until = clock.now + LONGEST_CALL * 1000
        waits = now.call is not None or over
        if not waits and now.until is None:
            return Completion(deadline=clock.now)
        return Completion(self.condition_holds if waits else None, now, now.until, self.on_over)

    def call(self, client: str) -> PendingCall:
        """Return the call of a client that the action makes; the script waits for it, unless told."""
        return self.wait_for(PendingCall(self.lab, self.now.no, self.now.action, client))

    def wait_for(self, call: PendingCall) -> PendingCall:
        """Let the script wait for a call, unless its action says that nobody does."""
        self.calls.append(call)
        if is_beside(call.action):
            self.now.until = None  # its limit is not the script's
        else:
            self.now.call = call
        return call

    def pure_slaves(self) -> list[BrokerService]:
        """Return the brokers that are slaves of pure pairs."""
        pairs = ((p, p.pure_master_slave) for p in self.lab.processes.values())
        return [process for process, pure in pairs if pure is not None and pure.is_slave]

    def is_due(self, waiting: RunningStep, due: int) -> bool:
        """Whether the time *due* (us) has come; if not, see to it that somebody looks then."""
        clock = self.lab.clock
        if clock.now < due and due != waiting.due:
            waiting.due = due
            clock.schedule_background(due, self.on_due, None)
        return clock.now >= due

    def on_due(self, _: None) -> None:
        """Time has come to look again."""

    def lines(self, one: str, other: str | None) -> Sequence[NetworkPath | Database]:
        """Return the line of two, all that lead to one, or that to the database."""
        if one == DATABASE:
            return [self.lab.database]
        directory = self.lab.directory
        return directory.lines_to(one) if other is None else [directory.join(one, other)]

    def condition_holds(self, waiting: RunningStep) -> bool:
        """Whether what an action waits for has come."""
        action = waiting.action
        if waiting.call is not None:
            return waiting.call.done
        if isinstance(action, c.WaitUntil):
            holds = WAITS[action.what](self.lab, action.about)
            return holds or (action.what == "acts" and self.are_joined(waiting))
        return OVER[type(action)](self, waiting, action)

    def are_joined(self, waiting: RunningStep) -> bool:
        """Whether the calls were waited for one after the other, each for as long as the action says."""
        most, at = int(script_option(waiting.action, "max_ms", PATIENCE)) * 1000, waiting.start
        for call in self.calls:
            if not call.done:
                at += most
            elif call.began + call.took * 1000 > at:
                at = min(at + most, call.began + call.took * 1000)
        return self.is_due(waiting, at)

    def on_over(self, waiting: RunningStep) -> None:
        """An action is over: some say how long it took."""
        action = waiting.action
        if isinstance(action, (a.Restart, c.StartBrokers)):
            broker_actions.after_start(self, action)
        if isinstance(action, (c.WaitUntil, c.StartBrokers)) and not self.condition_holds(waiting):
            self.lab.tell(f"not so within {told_time(self.lab.clock.now - waiting.start)}", action)
        if isinstance(action, c.WaitUntil) and action.what == "configured":
            row, ms = _row(waiting.no, action, action.about["client"]), self.lab.clock.now - waiting.start
            reached = self.condition_holds(waiting)
            self.rows.append({**row, "ok": True, "reached": reached, "ms": [ms // 1000] * 3})

    def report(self) -> list[dict[str, object]]:
        """Return what came of the calls, in the order of the actions."""
        found = list(self.rows)
        for call in self.calls:
            ended = {**call.row, "ms": [call.took] * 3} if call.done else {"still_waiting": True}
            found.append({**_row(call.no, call.action, call.client), **ended})
        return sorted(found, key=lambda row: row["step"])


def _row(no: int, action: a.Action, client: str) -> JsonDict:
    """Return which call of whom a result is of."""
    label = script_option(action, "label")
    return {"step": no, "do": name_of(action), "client": client, **({"label": label} if label else {})}


DO: dict[type[a.Action], Callable[[ScriptRunner, Any], Completion | None]] = {
    # brokers
    a.Start: broker_actions.start_network,
    a.Restart: broker_actions.start_broker,
    c.StartBrokers: broker_actions.start_brokers,
    a.Stop: broker_actions.stop,
    f.Crash: broker_actions.crash,
    f.HostDown: broker_actions.host_down,
    a.Pause: broker_actions.pause,
    a.Resume: broker_actions.resume,
    a.Settle: broker_actions.settle,
    # what is around them
    f.Cut: fault_actions.cut,
    f.Heal: fault_actions.heal,
    f.DatabaseDown: fault_actions.database_down,
    f.DatabaseUp: fault_actions.database_up,
    f.SlowDisk: fault_actions.slow_disk,
    f.DeleteLock: fault_actions.delete_lock,
    f.TouchLock: fault_actions.touch_lock,
    f.CopyStore: fault_actions.copy_store,
    f.WriteFile: fault_actions.write_file,
    f.SetEndpoint: fault_actions.set_endpoint,
    f.Advertise: fault_actions.advertise,
    f.StopAdvertising: fault_actions.stop_advertising,
    f.Sniff: fault_actions.sniff,
    f.SendAway: fault_actions.send_away,
    a.StartConnector: fault_actions.start_connector,
    a.StopConnector: fault_actions.stop_connector,
    a.Wait: fault_actions.wait,
    a.Snapshot: fault_actions.take_snapshot,
    a.WaitForSends: broker_actions.nothing,
    c.SampleOrders: fault_actions.sample_orders,
    # clients
    c.Client: client_actions.connect,
    c.CloseClient: client_actions.close_client,
    c.OpenSession: client_actions.open_session,
    c.TemporaryQueue: client_actions.temporary_queue,
    c.Unsubscribe: client_actions.unsubscribe,
    c.ReceiveOnce: client_actions.receive_once,
    a.Consumer: client_actions.open_consumer,
    a.Close: client_actions.close_consumer,
    a.Producer: client_actions.send,
    a.Receive: client_actions.receive,
    a.Acknowledge: client_actions.acknowledge,
    **dict.fromkeys((a.Commit, a.Rollback), client_actions.end_transaction),
    a.Recover: client_actions.recover,
    a.RequestReply: request_reply.begin,
}
# Those that are over when something holds.
OVER: dict[type[a.Action], Callable[[ScriptRunner, RunningStep, Any], bool]] = {
    a.Restart: broker_actions.has_started,
    c.StartBrokers: broker_actions.have_started,
    a.Settle: broker_actions.has_settled,
    a.Receive: client_actions.has_received,
}
