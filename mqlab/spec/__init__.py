"""WHAT NETWORK: frozen values that describe brokers, connectors, clients and what they do."""

from mqlab.spec.action import (
    Acknowledge,
    Action,
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Receive,
    RequestReply,
    Restart,
    Resume,
    Rollback,
    Settle,
    Snapshot,
    Start,
    StartConnector,
    Stop,
    StopConnector,
    Wait,
    WaitForSends,
)  # fmt: skip
from mqlab.spec.network import Broker, Network, NetworkConnector
from mqlab.spec.option import EDITIONS, Option
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import Destination, Queue, Topic

__all__ = [
    # the network
    "Broker", "Network", "NetworkConnector",
    # destinations
    "Destination", "Queue", "Topic",
    # what happens to it
    "Acknowledge", "Action", "Close", "Commit", "Consumer", "Pause", "Producer", "Receive",
    "Redelivery", "RequestReply", "Restart", "Resume", "Rollback", "Settle", "Snapshot", "Start",
    "StartConnector", "Stop", "StopConnector", "Wait", "WaitForSends",
    # options and editions
    "EDITIONS", "OPTIONS", "Option",
    # all of it together
    "Scenario",
]  # fmt: skip
