"""mqlab: see a network of message brokers think.

>>> import mqlab as mq
>>> trace = mq.run("fuse:2.20")
>>> trace.received()
{'C1': 6, 'C2': 3, 'C3': 3}
"""

from __future__ import annotations

import importlib
from typing import Any

from mqlab.errors import MqlabError
from mqlab.spec import (
    Acknowledge,
    Advertise,
    Around,
    Broker,
    Client,
    Close,
    CloseClient,
    Commit,
    Consumer,
    CopyStore,
    Crash,
    Cut,
    DatabaseDown,
    DatabaseUp,
    DeleteLock,
    Destination,
    Endpoint,
    Heal,
    HostDown,
    Link,
    Network,
    NetworkConnector,
    OpenSession,
    Pause,
    Producer,
    Queue,
    Receive,
    ReceiveOnce,
    Redelivery,
    RequestReply,
    Restart,
    Resume,
    Rollback,
    SampleOrders,
    Scenario,
    SendAway,
    SetEndpoint,
    Settle,
    SlowDisk,
    Snapshot,
    Sniff,
    Start,
    StartBrokers,
    StartConnector,
    Stop,
    StopAdvertising,
    StopConnector,
    TemporaryQueue,
    Topic,
    TouchLock,
    TransportConnector,
    Unsubscribe,
    Wait,
    WaitUntil,
    WriteFile,
)
from mqlab.trace import Comparison, Event, Kind, Ledger, Rule, Trace
from mqlab.verbs import (
    Lab,
    check,
    compare,
    explain,  # the room of that name stays importable as mqlab.explain
    faults,
    figure,
    figures,
    load,
    outcomes,
    run,
    save,
    upgrade,
    view,
    what_if,
)

__version__ = "0.1.0"

__all__ = [
    # verbs
    "check", "compare", "explain", "faults", "figure", "figures", "load", "outcomes", "run", "save", "upgrade",
    "view", "what_if",
    # step by step
    "Lab",
    # the network
    "Around", "Broker", "Destination", "Endpoint", "Link", "Network", "NetworkConnector", "Queue", "Scenario",
    "Topic", "TransportConnector",
    # what happens to it
    "Acknowledge", "Close", "Commit", "Consumer", "Pause", "Producer", "Receive", "Redelivery",
    "RequestReply", "Restart", "Resume", "Rollback", "Settle", "Snapshot", "Start",
    "StartConnector", "Stop", "StopConnector", "Wait", "WaitUntil",
    # clients with addresses
    "Client", "CloseClient", "OpenSession", "ReceiveOnce", "SampleOrders", "StartBrokers",
    "TemporaryQueue", "Unsubscribe",
    # faults
    "Advertise", "CopyStore", "Crash", "Cut", "DatabaseDown", "DatabaseUp", "DeleteLock", "Heal",
    "HostDown", "SendAway", "SetEndpoint", "SlowDisk", "Sniff", "StopAdvertising", "TouchLock",
    "WriteFile",
    # what comes of it
    "Comparison", "Event", "Kind", "Ledger", "Rule", "Trace",
    # what went wrong
    "MqlabError",
]  # fmt: skip

_ROOMS = ("artemis", "formats", "openmq", "replay", "runtime", "scenarios", "views", "widgets")


def __getattr__(name: str) -> Any:
    """Enter a room at first use."""
    if name in _ROOMS:
        return importlib.import_module(f"mqlab.{name}")
    raise AttributeError(f"module 'mqlab' has no attribute {name!r}")
