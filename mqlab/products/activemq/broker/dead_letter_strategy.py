"""Dead letters: what is too old, or came back too often (ActiveMQ rules 27.4 and 27.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker

SHARED = "ActiveMQ.DLQ"
CAUSE = "dlqDeliveryFailureCause"


def expired(broker: Broker, message: Message) -> None:
    """Bury a message that is too old."""
    row = broker.record_message(Kind.Expired, message, rule=Reason.expired, cause=message.row)
    advisory.of_message(broker, "Expired", message)
    if broker.policy_for(message.dest)["process_expired"]:
        _bury(broker, message, row, "Message Expired.")


def poisoned(broker: Broker, message: Message) -> None:
    """Bury a message that a client has given back as often as it may."""
    row = broker.record_message(
        Kind.DeadLettered, message, rule=Reason.redelivered_too_often, cause=message.row
    )
    _bury(broker, message, row, "Delivery exceeds redelivery policy limit.")


def _bury(broker: Broker, message: Message, row: int, why: str) -> None:
    policy = broker.policy_for(message.dest)
    strategy = policy["dead_letter_strategy"]
    dest = message.dest
    name = SHARED
    if strategy == "individual":
        name = f"{SHARED}.Topic.{dest.name}"
        if dest.is_queue:
            name = f"{policy['dead_letter_queue_prefix']}{dest.name}"
    keeps = message.persistent or policy["process_non_persistent"]
    if strategy == "discarding" or not keeps or dest.name == name:
        return
    letter = message.copy()
    letter.dest, letter.expires, letter.persistent = Destination("queue", name), 0, True
    letter.dest_no = broker.lab.name_destination(letter.dest)
    if broker.lab.edition != "5.5":  # there only what a listener has thrown is a cause (`setPoisonCause`)
        letter.properties = {**message.properties, CAUSE: why}
    advisory.of_message(broker, "MessageDLQd", message)
    broker.take_over(letter, broker.entry(broker.node), row)
