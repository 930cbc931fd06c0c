"""Request and reply over a network: the answer goes to a temporary queue of the asker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.completion import Completion
from mqlab.products.activemq.broker.message import REPLY_TO, Message
from mqlab.products.activemq.client.direct_consumer import DirectConsumer
from mqlab.products.activemq.client.direct_producer import produce
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import Producer as ProducerSpec
from mqlab.spec import RequestReply
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.script.runner import ScriptRunner


class Responder(DirectConsumer):
    """A consumer that answers each request at its own broker."""

    def __init__(self, lab: Lab, spec: ConsumerSpec) -> None:
        super().__init__(lab, spec, lab.broker(spec.on))

    def take(self, message: Message, row: int, before: int) -> None:
        """Receive a request and send the answer to where it wants it."""
        super().take(message, row, before)
        reply_to = message.headers.get(REPLY_TO)
        if reply_to is None:
            self.lab.problem(f"{self.name}: the message says no queue for an answer (JMSReplyTo)")
            return
        if reply_to not in self.broker.by_name:
            self.lab.problem(f"{self.name}: temporary destination {reply_to} does not exist")
            return
        answer = ProducerSpec(self.name + " answers", self.broker.name, 1, reply_to)
        produce(self.lab, answer)


class Exchange:
    """Both sides open, requests go out, answers come back, both sides close: each part from a rest."""

    def __init__(self, lab: Lab, action: RequestReply) -> None:
        self.lab, self.action = lab, action
        self.reply_to = Destination("temp-queue", f"ID:{action.requester}")
        name = f"{action.requester} responder"
        self.responder = Responder(lab, ConsumerSpec(name, action.responder_on, action.to))
        spec = ConsumerSpec(action.requester, action.on, self.reply_to)
        self.asker = DirectConsumer(lab, spec, lab.broker(action.on))

    def open_asker(self, _: None) -> None:
        """So does the asker."""
        self.asker.open()
        self.lab.under_way = Completion(then=self.ask)

    def ask(self, _: None) -> None:
        """The requests go out."""
        action = self.action
        spec = ProducerSpec(f"{action.requester} asks", action.on, action.count, action.to)
        produce(self.lab, spec, {REPLY_TO: self.reply_to})
        self.lab.under_way = Completion(then=self.close)

    def close(self, _: None) -> None:
        """All is answered that will be."""
        seen = {"requests_seen": self.responder.count, "replies_received": self.asker.count}
        self.lab.replies[self.action.requester] = seen
        self.asker.leave()
        self.responder.leave()
        self.lab.under_way = Completion()


def begin(runner: ScriptRunner, action: RequestReply) -> Completion:
    """Begin an exchange, and say when it is over."""
    exchange = Exchange(runner.lab, action)
    exchange.responder.open()
    return Completion(then=exchange.open_asker)
