"""What an action comes to: to brokers in time, to lines, files and clients with addresses.

By the pace of calls an action is over when its call has come back, when what it waits for holds, or when
its patience is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mqlab.runtime.activemq import client_acts, lives, surroundings
from mqlab.runtime.activemq.stage import RunningStep, Stage, script_option
from mqlab.runtime.activemq.waits import WAITS
from mqlab.runtime.kernel.lab import Completion
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec import faults as f
from mqlab.spec.steps import name_of

PATIENCE = 20_000  # ms that an action which waits for something has, unless told
LONGEST_CALL = 60_000  # ms that a script waits for a call to come back, unless told


class ScriptRunner(Stage):
    """Does actions, and knows when they are over."""

    def do(self, no: int, action: a.Action) -> Completion:
        """Begin an action, and say when it is over."""
        clock = self.lab.clock
        over = isinstance(action, c.WaitUntil) or type(action) in OVER
        most = script_option(action, "max_ms")
        self.now = now = RunningStep(no, action, clock.now)
        if most is not None or over:
            now.until = clock.now + int(PATIENCE if most is None else most) * 1000
        if not isinstance(action, c.WaitUntil):
            DO[type(action)](self, action)
        if now.call is not None and now.until is None:
            now.until = clock.now + LONGEST_CALL * 1000
        waits = now.call is not None or over
        if not waits and now.until is None:
            return Completion(deadline=clock.now)
        return Completion(self.condition_holds if waits else None, now, now.until, self.on_over)

    def only_waits(self, action: a.Action) -> bool:
        """Whether an action does nothing but wait."""
        return isinstance(action, (c.WaitUntil, c.ReceiveOnce))

    def condition_holds(self, waiting: RunningStep) -> bool:
        """Whether what an action waits for has come."""
        action = waiting.action
        if waiting.call is not None:
            return waiting.call.done
        if isinstance(action, c.WaitUntil):
            return WAITS[action.what](self.lab, action.about)
        return OVER[type(action)](self, waiting, action)

    def on_over(self, waiting: RunningStep) -> None:
        """An action is over: some say how long it took."""
        action = waiting.action
        if (
            isinstance(action, c.WaitUntil)
            and action.what == "configured"
            and script_option(action, "label")
        ):
            self.rows.append({
                "step": waiting.no, "do": name_of(action), "client": action.about["client"],
                "label": action.about["label"], "ok": True, "reached": self.condition_holds(waiting),
                "ms": [(self.lab.clock.now - waiting.start) // 1000] * 3,
            })  # fmt: skip

    def report(self) -> list[dict[str, object]]:
        """Return what came of the calls, in the order of the actions."""
        found = list(self.rows)
        for call in self.calls:
            row: dict[str, object] = {
                "step": call.no, "do": name_of(call.action), "client": call.client,
            }  # fmt: skip
            if script_option(call.action, "label"):
                row["label"] = script_option(call.action, "label")
            if call.done:
                row |= {**call.row, "ms": [call.took] * 3}
            else:
                row["still_waiting"] = True
            found.append(row)
        return sorted(found, key=lambda row: row["step"])


DO: dict[type[a.Action], Callable[[Stage, Any], None]] = {
    # brokers
    a.Restart: lives.start_broker, c.StartBrokers: lives.start_brokers, a.Stop: lives.stop,
    f.Crash: lives.crash, f.HostDown: lives.host_down, a.Pause: lives.pause,
    a.Resume: lives.resume, a.Settle: lives.settle,
    # what is around them
    f.Cut: surroundings.cut, f.Heal: surroundings.heal,
    f.DatabaseDown: surroundings.database_down, f.DatabaseUp: surroundings.database_up,
    f.SlowDisk: surroundings.slow_disk, f.DeleteLock: surroundings.delete_lock,
    f.TouchLock: surroundings.touch_lock, f.CopyStore: surroundings.copy_store,
    f.WriteFile: surroundings.write_file, f.SetEndpoint: surroundings.set_endpoint,
    f.Advertise: surroundings.advertise, f.StopAdvertising: surroundings.stop_advertising,
    f.Sniff: surroundings.sniff, f.SendAway: surroundings.send_away,
    a.StartConnector: surroundings.start_connector, a.StopConnector: surroundings.stop_connector,
    a.Wait: surroundings.wait, a.Snapshot: surroundings.take_snapshot,
    c.SampleOrders: surroundings.sample_orders,
    # clients
    c.Client: client_acts.connect, c.CloseClient: client_acts.close_client,
    c.OpenSession: client_acts.open_session, c.TemporaryQueue: client_acts.temporary_queue,
    c.Unsubscribe: client_acts.unsubscribe, c.ReceiveOnce: client_acts.receive_once,
    a.Consumer: client_acts.open_consumer, a.Close: client_acts.close_consumer,
    a.Producer: client_acts.send, a.Receive: client_acts.receive,
    a.Acknowledge: client_acts.acknowledge, a.Commit: client_acts.commit,
    a.Rollback: client_acts.rollback,
}  # fmt: skip
# Those that are over when something holds.
OVER: dict[type[a.Action], Callable[[Stage, RunningStep, Any], bool]] = {
    a.Restart: lives.has_started, c.StartBrokers: lives.have_started, a.Settle: lives.has_settled,
    a.Receive: client_acts.has_received,
}  # fmt: skip
