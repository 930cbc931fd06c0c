"""Which function does an action, and what kinds of actions there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker import administration as admin
from mqlab.products.openmq.broker import report, transactions
from mqlab.products.openmq.client import consumers, producers
from mqlab.products.openmq.network import faults
from mqlab.products.openmq.script import waits
from mqlab.products.openmq.script.operation import Outcome, ScriptStep
from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.openmq import actions as o

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

Does = Callable[["Cluster", ScriptStep[Any]], Outcome]

FAULTS: dict[type[a.Action], Does] = {
    a.Start: faults.do_start,
    o.StartBrokers: faults.do_start,
    a.Restart: faults.do_start_broker,
    o.StartBroker: faults.do_start_broker,
    o.CrashAndRestart: faults.do_crash_and_restart,
    f.Crash: faults.do_crash,
    a.Stop: faults.do_stop,
    o.Shutdown: faults.do_stop,
    o.CrashOwner: faults.do_crash_owner,
    a.Pause: faults.do_pause,
    a.Resume: faults.do_resume,
    f.Cut: faults.do_cut,
    f.Heal: faults.do_heal,
    f.DatabaseDown: faults.do_database,
    f.DatabaseUp: faults.do_database,
}
DO: dict[type[a.Action], Does] = {
    **FAULTS,
    o.CreateDestination: admin.do_create_destination,
    o.UpdateDestination: admin.do_update_destination,
    o.DestroyDestination: admin.do_destroy_destination,
    o.PurgeDestination: admin.do_purge,
    o.PauseDestination: admin.do_pause_destination,
    o.ResumeDestination: admin.do_pause_destination,
    o.Browse: admin.do_browse,
    o.Unsubscribe: admin.do_unsubscribe,
    o.Connect: admin.do_connect,
    o.Knock: admin.do_knock,
    o.ChangeMaster: admin.do_change_master,
    o.TakeOver: admin.do_take_over,
    o.Reload: admin.do_reload,
    o.Quiesce: admin.do_quiesce,
    o.Unquiesce: admin.do_quiesce,
    a.Consumer: consumers.do_open_consumer,
    a.Close: consumers.do_close,
    o.KillClient: consumers.do_kill_client,
    o.Receive: consumers.do_receive,
    a.Receive: consumers.do_receive,
    a.Acknowledge: consumers.do_acknowledge,
    a.Commit: consumers.do_commit,
    a.Rollback: consumers.do_rollback,
    a.Recover: consumers.do_recover,
    o.OpenProducer: producers.do_open_producer,
    o.CloseProducer: producers.do_close_producer,
    o.Send: producers.do_send,
    a.Producer: producers.do_send,
    o.Xa: transactions.do_xa,
    a.Wait: waits.do_wait,
    a.Settle: waits.do_settle,
    o.WaitFor: waits.do_wait_for,
    o.WaitForReceived: waits.do_wait_for_received,
    a.WaitForSends: waits.do_wait_for_sends,
    a.Snapshot: report.do_snapshot,
    o.Look: report.do_snapshot,
}

OPENS = (a.Consumer, o.OpenProducer)  # a connection that stays
# Of a destination that its broker's administration lists.
OF_MANAGED = (o.UpdateDestination, o.PurgeDestination, o.PauseDestination, o.ResumeDestination)
SENDS = (o.Send, a.Producer)
CHANGES = (o.UpdateDestination, o.DestroyDestination, o.Unsubscribe)  # of what all brokers know
WAITS = (o.WaitFor, o.WaitForReceived, a.WaitForSends, o.Knock)  # until something has come about
CONNECTS = (*OPENS, o.Browse, o.Connect, o.Unsubscribe)  # by a client
LOOKS = (a.Snapshot, o.Look)
# What has no answer that a recording would list.
SILENT = (*LOOKS, a.Start, o.StartBrokers, a.Settle, a.Wait, o.WaitFor, o.WaitForReceived, a.WaitForSends)
OF_PRODUCERS = (o.Send, o.CloseProducer)
OF_SESSIONS = (a.Commit, a.Rollback, o.Xa)  # of consumers and of producers
