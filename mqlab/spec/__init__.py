"""WHAT NETWORK: frozen values that describe brokers, connectors, clients and what they do."""

from mqlab.spec.action import (
    Acknowledge,
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Receive,
    Recover,
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
)
from mqlab.spec.around import Around, Endpoint
from mqlab.spec.clients import (
    Client,
    CloseClient,
    OpenSession,
    ReceiveOnce,
    SampleOrders,
    StartBrokers,
    TemporaryQueue,
    Unsubscribe,
    WaitUntil,
)
from mqlab.spec.connector import NetworkConnector, TransportConnector
from mqlab.spec.faults import (
    Advertise,
    CopyStore,
    Crash,
    Cut,
    DatabaseDown,
    DatabaseUp,
    DeleteLock,
    Heal,
    HostDown,
    SendAway,
    SetEndpoint,
    SlowDisk,
    Sniff,
    StopAdvertising,
    TouchLock,
    WriteFile,
)
from mqlab.spec.link import Link
from mqlab.spec.network import Broker, Network
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import Destination, Queue, Topic

__all__ = [
    # the network
    "Around", "Broker", "Endpoint", "Link", "Network", "NetworkConnector", "TransportConnector",
    # destinations
    "Destination", "Queue", "Topic",
    # what happens to it
    "Acknowledge", "Close", "Commit", "Consumer", "Pause", "Producer", "Receive",
    "Recover", "Redelivery", "RequestReply", "Restart", "Resume", "Rollback", "Settle", "Snapshot", "Start",
    "StartConnector", "Stop", "StopConnector", "Wait", "WaitForSends",
    # clients with addresses
    "Client", "CloseClient", "OpenSession", "ReceiveOnce", "SampleOrders", "StartBrokers",
    "TemporaryQueue", "Unsubscribe", "WaitUntil",
    # faults
    "Advertise", "CopyStore", "Crash", "Cut", "DatabaseDown", "DatabaseUp", "DeleteLock", "Heal",
    "HostDown", "SendAway", "SetEndpoint", "SlowDisk", "Sniff", "StopAdvertising", "TouchLock",
    "WriteFile",
    # all of it together
    "Scenario",
]  # fmt: skip
