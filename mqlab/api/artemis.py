"""The building blocks and actions for Artemis clusters.

>>> from mqlab import artemis
>>> net = artemis.Network(
...     artemis.Broker("M1", "replication", "master"), artemis.Broker("S1", "replication", "slave"))
>>> net.with_actions(artemis.Start(), artemis.Crash("M1")).actions
(Start(), Crash('M1'))
"""

from __future__ import annotations

from typing import Any

from mqlab.errors import no_attribute
from mqlab.spec.action import (
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Receive,
    Recover,
    Restart,
    Resume,
    Rollback,
    Start,
    Stop,
    Wait,
)
from mqlab.spec.artemis import Network
from mqlab.spec.artemis.actions import (
    Files,
    ForcedFailover,
    Gateway,
    Isolate,
    Rejoin,
    Session,
    Settle,
    SlowLine,
    Snapshot,
    StartAs,
    WaitForConsumers,
    WaitForDepth,
    WaitForFailover,
    WaitForRole,
    WaitForSends,
    Xa,
)
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.clients import Client, CloseClient
from mqlab.spec.faults import Crash, Cut, Heal
from mqlab.spec.values import Queue, Topic

__all__ = [
    # the network
    "AddressQueue", "Broker", "Network", "Queue", "Topic",
    # clients
    "Client", "Close", "CloseClient", "Commit", "Consumer", "Pause", "Producer", "Receive", "Recover", "Resume",
    "Rollback", "Session", "Xa",
    # what happens to brokers and lines
    "Crash", "Cut", "ForcedFailover", "Gateway", "Heal", "Isolate", "Rejoin", "Restart", "SlowLine",
    "Start", "StartAs", "Stop",
    # waiting and looking
    "Files", "Settle", "Snapshot", "Wait", "WaitForConsumers", "WaitForDepth", "WaitForFailover",
    "WaitForRole", "WaitForSends",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Say the nearest name for one that is not here."""
    from mqlab.spec.jms_names import INSTEAD

    raise no_attribute("mqlab.artemis", name, __all__, INSTEAD)
