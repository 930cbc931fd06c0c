"""Dead letters: what is too old, or came back too often (ActiveMQ rules 27.4 and 27.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker

SHARED = "ActiveMQ.DLQ"
CAUSE = "dlqDeliveryFailureCause"
OWN = "dead_letter_strategy", "dead_letter_queue_prefix", "process_expired", "process_non_persistent"


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


def _had(broker: Broker, policy: JsonObject, message: Message) -> bool:
    """Whether the strategy has buried it before, perhaps from another queue (`AbstractDeadLetterStrategy`).

    The usual strategy is one for all destinations, and for all brokers of a program.
    """
    rows, process = OPTIONS["policyEntry"], broker.lab.processes[broker.name]
    own = any(policy[name] != rows[name].default for name in OWN)
    pattern = policy.get("queue") or policy.get("topic") if own else ""
    alone = own or process.member.process or not broker.lab.by_calls
    life = f"{broker.name} {process.incarnation}" if alone else ""
    return broker.lab.audits[f"dead letters {life} {pattern}"].add(message.number)


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
    if strategy == "discarding" or not keeps or dest.name == name or _had(broker, policy, message):
        return
    letter = message.copy()
    letter.dest, letter.expires, letter.persistent = Destination("queue", name), 0, True
    letter.dest_no = broker.lab.name_destination(letter.dest)
    if broker.lab.edition != "5.5":  # there only what a listener has thrown is a cause (`setPoisonCause`)
        letter.properties = {**message.properties, CAUSE: why}
    advisory.of_message(broker, "MessageDLQd", message)
    broker.take_over(letter, broker.entry(broker.node), row)
