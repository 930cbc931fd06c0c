"""Request and reply over a network: the answer goes to a temporary queue of the asker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.activemq.clients.consumer import Consumer
from mqlab.runtime.activemq.message import REPLY_TO, Message
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import Producer as ProducerSpec
from mqlab.spec import RequestReply
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.activemq.lab import Lab


class Responder(Consumer):
    """A consumer that answers each request at its own broker."""

    def take(self, message: Message, row: int) -> None:
        """Receive a request and send the answer to where it wants it."""
        super().take(message, row)
        reply_to = message.headers[REPLY_TO]
        if reply_to not in self.broker.by_name:
            self.lab.problem(f"{self.name}: temporary destination {reply_to} does not exist")
            return
        answer = ProducerSpec(self.name + " answers", self.broker.name, 1, reply_to)
        self.lab.produce(answer)


def play(lab: Lab, action: RequestReply) -> None:
    """Let both sides open, the requests go out, the answers come back, and both sides close."""
    reply_to = Destination("temp-queue", f"ID:{action.requester}")
    responder = Responder(
        lab, ConsumerSpec(f"{action.requester} responder", action.responder_on, action.to),
        lab.broker(action.responder_on),
    )  # fmt: skip
    asker = Consumer(lab, ConsumerSpec(action.requester, action.on, reply_to),
                     lab.broker(action.on))  # fmt: skip
    responder.open()
    lab.clock.rest()
    asker.open()
    lab.clock.rest()
    requests = ProducerSpec(f"{action.requester} asks", action.on, action.count, action.to)
    lab.produce(requests, {REPLY_TO: reply_to})
    lab.clock.rest()
    lab.replies[action.requester] = {
        "requests_seen": responder.count, "replies_received": asker.count,
    }  # fmt: skip
    asker.close()
    responder.close()
