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
from mqlab.explain import explain  # the verb; its room stays importable as mqlab.explain
from mqlab.spec import (
    Acknowledge,
    Broker,
    Close,
    Commit,
    Consumer,
    Destination,
    Network,
    NetworkConnector,
    Pause,
    Producer,
    Queue,
    Receive,
    Redelivery,
    RequestReply,
    Restart,
    Resume,
    Rollback,
    Scenario,
    Settle,
    Snapshot,
    Start,
    StartConnector,
    Stop,
    StopConnector,
    Topic,
    Wait,
)  # fmt: skip
from mqlab.trace import Comparison, Event, Kind, Ledger, Rule, Trace
from mqlab.verbs import check, compare, faults, figure, figures, load, run, save, upgrade, view

__version__ = "0.1.0"

__all__ = [
    # verbs
    "check", "compare", "explain", "faults", "figure", "figures", "load", "run", "save", "upgrade",
    "view",
    # step by step
    "Lab",
    # the network
    "Broker", "Destination", "Network", "NetworkConnector", "Queue", "Scenario", "Topic",
    # what happens to it
    "Acknowledge", "Close", "Commit", "Consumer", "Pause", "Producer", "Receive", "Redelivery",
    "RequestReply", "Restart", "Resume", "Rollback", "Settle", "Snapshot", "Start",
    "StartConnector", "Stop", "StopConnector", "Wait",
    # what comes of it
    "Comparison", "Event", "Kind", "Ledger", "Rule", "Trace",
    # what went wrong
    "MqlabError",
]  # fmt: skip

_ROOMS = ("formats", "replay", "runtime", "scenarios", "views", "widgets")


def __getattr__(name: str) -> Any:
    """Enter a room, or fetch the `Lab`, at first use."""
    if name == "Lab":
        return importlib.import_module("mqlab.runtime").Lab
    if name in _ROOMS:
        return importlib.import_module(f"mqlab.{name}")
    raise AttributeError(f"module 'mqlab' has no attribute {name!r}")
