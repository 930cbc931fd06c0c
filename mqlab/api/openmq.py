"""The building blocks and actions for Open Message Queue clusters.

>>> from mqlab import openmq
>>> net = openmq.Network("b1", "b2", model="peer")
>>> net.with_actions(openmq.Start(), openmq.Crash("b1")).actions
(Start(), Crash('b1'))
"""

from __future__ import annotations

from typing import Any

from mqlab.errors import no_attribute
from mqlab.spec.action import (
    Acknowledge,
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Recover,
    Restart,
    Resume,
    Rollback,
    Settle,
    Snapshot,
    Start,
    Stop,
    Wait,
    WaitForSends,
)
from mqlab.spec.faults import Crash, Cut, DatabaseDown, DatabaseUp, Heal
from mqlab.spec.openmq import Broker, Network
from mqlab.spec.openmq.actions import (
    Browse,
    Call,
    ChangeMaster,
    CloseProducer,
    Connect,
    CrashAndRestart,
    CrashOwner,
    CreateDestination,
    DestroyDestination,
    KillClient,
    Knock,
    Look,
    OpenProducer,
    PauseDestination,
    PurgeDestination,
    Quiesce,
    Receive,
    Reload,
    ResumeDestination,
    Send,
    Shutdown,
    StartBroker,
    StartBrokers,
    TakeOver,
    Unquiesce,
    Unsubscribe,
    UpdateDestination,
    WaitFor,
    WaitForReceived,
    Xa,
)
from mqlab.spec.values import Destination, Queue, Topic

__all__ = [
    # the cluster
    "Broker", "Destination", "Network", "Queue", "Topic",
    # clients
    "Acknowledge", "Close", "CloseProducer", "Commit", "Connect", "Consumer", "KillClient", "Knock",
    "OpenProducer", "Pause", "Producer", "Receive", "Recover", "Resume", "Rollback", "Send",
    "Unsubscribe", "Xa",
    # what happens to brokers and lines
    "Crash", "CrashAndRestart", "CrashOwner", "Cut", "DatabaseDown", "DatabaseUp", "Heal", "Restart",
    "Shutdown", "Start", "StartBroker", "StartBrokers", "Stop",
    # what an administrator does
    "Browse", "ChangeMaster", "CreateDestination", "DestroyDestination", "PauseDestination",
    "PurgeDestination", "Quiesce", "Reload", "ResumeDestination", "TakeOver", "Unquiesce", "UpdateDestination",
    # waiting and looking
    "Call", "Look", "Settle", "Snapshot", "Wait", "WaitFor", "WaitForReceived", "WaitForSends",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Say the nearest name for one that is not here."""
    from mqlab.spec.jms_names import INSTEAD

    raise no_attribute("mqlab.openmq", name, __all__, INSTEAD)
