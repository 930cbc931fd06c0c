"""Options of consumers, producers and clients as rows, by the fields of the actions that open them.

The tables of the products hold options of brokers and connections; these are the fields that actions have.
"""

from __future__ import annotations

from mqlab.spec.action import ACK_MODES
from mqlab.spec.option import Option

_JMS, _AMQ = "JMS 1.1", "ActiveMQ, consumer features"
_SELECTOR = Option(
    guide="selector",
    name="selector",
    often=True,
    type=str,
    default=None,
    source=_JMS,
    sentence="Receives only messages that match the selector.",
)
_RECEIVING = Option(
    guide="receiving",
    name="receiving",
    type=bool,
    default=True,
    source="mqlab",
    sentence="If off, it does not consume: its prefetch window fills up.",
)
_DELAY = Option(
    guide="delay",
    name="delay",
    often=True,
    type=float,
    default=0.0,
    unit="ms",
    source="mqlab",
    sentence="Processing time per message.",
)
_COUNT = Option(
    guide="count",
    name="sends",
    often=True,
    type=int,
    default=None,
    low=0,
    unit="messages",
    source="mqlab",
    sentence="Number of messages to send.",
)
_PERSISTENT = Option(
    guide="persistent",
    name="persistent",
    often=True,
    type=bool,
    default=True,
    source=_JMS,
    sentence="Messages are stored persistently.",
)
_SIZE = Option(
    guide="size",
    name="size",
    type=int,
    default=1024,
    low=1,
    unit="bytes",
    source="mqlab",
    sentence="Body size of each message.",
)

_ACTIVEMQ = {
    "consumer": (
        Option(guide="consumer.prefetchSize", name="prefetch", often=True, type=int, default=None, low=0,
               unit="messages", source="Fuse 3, Load balancing",
               sentence="Maximum number of unacknowledged messages dispatched to it."),
        _SELECTOR,
        _DELAY,
        Option(guide="consumer.priority", name="priority", often=True, type=int, default=0, low=0, source=_AMQ,
               sentence="Consumers of a higher priority come first, 0 to 127."),
        Option(guide="consumer.exclusive", name="exclusive", often=True, type=bool, default=False, source=_AMQ,
               sentence="Only one of the exclusive consumers receives messages at a time."),
        _RECEIVING,
        Option(guide="acknowledge mode", name="ack_mode", type=str, default="auto",
               choices=ACK_MODES, source=_JMS, sentence="Acknowledge mode of its session."),
    ),
    "producer": (
        _COUNT,
        _PERSISTENT,
        Option(guide="interval", name="every", often=True, type=float, default=0.0, unit="ms",
               source="mqlab", sentence="Interval between sends."),
        Option(guide="timeToLive", name="time_to_live", type=float, default=0.0, unit="ms",
               source=_JMS, sentence="Time-to-live of messages; 0 = never expires."),
        Option(guide="JMS priority", name="jms_priority", type=int, default=4, low=0, source=_JMS,
               sentence="JMS priority, 0 to 9; honoured by queues with prioritizedMessages."),
        _SIZE,
    ),
    "client": (
        Option(guide="uri", name="uri", often=True, type=str, default=None, source="Fuse 1, Failover",
               sentence="Broker URI (brokers to try, and how)."),
    ),
}  # fmt: skip
_OPENMQ = {
    "consumer": (_SELECTOR, _DELAY, _RECEIVING),
    "producer": (),
    "client": (),
}
_ARTEMIS = {
    "consumer": (
        _SELECTOR,
        _RECEIVING,
        Option(guide="acknowledge mode", name="ack_mode", type=str, default="auto",
               choices=("auto", "client", "transacted"), source=_JMS,
               sentence="Acknowledge mode of its session."),
    ),
    "producer": (
        _COUNT,
        _PERSISTENT,
        Option(guide="interval", name="every", often=True, type=int, default=0, low=0, unit="ms",
               source="mqlab", sentence="Interval between sends."),
        _SIZE,
    ),
    "client": (),
}  # fmt: skip
CLIENT_ROWS: dict[str, dict[str, tuple[Option, ...]]] = {
    "activemq": _ACTIVEMQ,
    "openmq": _OPENMQ,
    "artemis": _ARTEMIS,
}
