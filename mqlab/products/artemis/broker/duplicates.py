"""Duplicate detection: a broker takes a message with one id once for an address.

What a bridge brings has an id of the bridge, which stands instead (`PostOfficeImpl.checkDuplicateID` of 2.4.0).
"""

from __future__ import annotations

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message
from mqlab.trace.kinds import Kind, Reason

ID = "_AMQ_DUPL_ID"
REFUSED = "JMSException / ActiveMQDuplicateIdException"  # of a commit


def knows(broker: Broker, message: Message) -> bool:
    """Whether a message with its id has been there for its address."""
    return message.properties.get(ID) in broker.journal.ids.get(message.dest.name, ())


def drops(broker: Broker, message: Message, rejects: bool = True) -> bool:
    """Whether a message is dropped, as one with its id has been there; else its id is known from now on.

    Those of one transaction were looked up before, so that they do not know of each other. What a broker itself
    sends to another address is not rejected (`PostOfficeImpl.checkDuplicateID` of 2.4.0).
    """
    found = rejects and message.routed is None and knows(broker, message)
    if found:
        broker.lab.message(Kind.Discarded, message, broker, rule=Reason.duplicate_id, cause=message.row)
    elif ID in message.properties:
        broker.journal.ids.setdefault(message.dest.name, set()).add(message.properties[ID])
    return found
