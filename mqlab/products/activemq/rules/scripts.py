"""What scripts ask of brokers of ActiveMQ that ends in nothing, or in something else than was meant."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.products.activemq.rules.examples_at_rest import QUEUE, reads, row, sent
from mqlab.spec import Producer
from mqlab.spec.headers import unusual_priorities
from mqlab.spec.values import Destination, matches

Sends = tuple[CheckContext, Producer]


def producers(context: CheckContext) -> Iterator[Sends]:
    """Yield each producer of a script."""
    return ((context, action) for action in context.actions if isinstance(action, Producer))


@rule(
    "priority-ignored",
    "warning",
    finds="messages with a JMS priority in a queue that does not look at it",
    what="no broker has prioritizedMessages for {to}: its messages keep their order, whatever their priority",
    fix="give its broker a policy, such as {policy}",
    source="ActiveMQ, per destination policies",
    unshown="only the order of messages differs",
    of=(producers,),
)
def _priority_ignored(of: Sends) -> Found:
    context, sends = of
    policies = (policy for broker in context.network.brokers for policy in broker.policies)
    looks = any(
        policy.get("prioritized_messages") and matches(str(policy.get("queue", "")), sends.to.name)
        for policy in policies
    )
    if sends.to.is_queue and unusual_priorities(sends.jms_priority) and not looks:
        policy = {"queue": sends.to.name, "prioritized_messages": True}
        yield Element(f"producer {sends.name}"), {"to": sends.to, "policy": policy}


@rule(
    "nearly-same",
    "warning",
    finds="a destination that is sent to, and one that is read and differs in its kind or in capitals alone",
    what="{name} sends to {to}, and {reader} reads {other}: these are two, which share no messages",
    fix="write mq.{kind}({of!r}) in both",
    source="JMS 1.1, destinations",
    example=lambda: Example(
        sent(row("AB"), reads(reads=Destination("topic", QUEUE.name))), sent(row("AB"), reads())
    ),
    of=(producers,),
)
def _nearly_same(of: Sends) -> Found:
    context, sends = of
    read = [(consumer.name, one) for consumer in context.consumers for one in consumer.reads.elements()]
    if any(one.takes(sends.to) for _, one in read):
        return
    for reader, one in read:
        alike = one.name.lower() == sends.to.name.lower()
        if alike and not (one.is_temporary or sends.to.is_temporary):
            facts = {"name": sends.name, "to": sends.to, "reader": reader, "other": one}
            kind = sends.to.kind.title()
            yield Element(f"producer {sends.name}"), {**facts, "kind": kind, "of": sends.to.name}
            return


@rule(
    "one-name",
    "warning",
    finds="a producer and a consumer of one name",
    what="a consumer is called {name}, too: what a trace tells of {name} is of both",
    fix="give one of them another name",
    source="mqlab",
    unshown="only what is told of them is of both",
    of=(producers,),
)
def _one_name(of: Sends) -> Found:
    context, sends = of
    if any(consumer.name == sends.name for consumer in context.consumers):
        yield Element(f"producer {sends.name}"), {"name": sends.name}
