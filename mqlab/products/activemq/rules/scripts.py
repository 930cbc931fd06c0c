"""What scripts ask of brokers of ActiveMQ that ends in nothing, or in something else than was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mqlab.checks.client_ids import client_id_rule, same_client_id
from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.products.activemq.rules.examples_at_rest import QUEUE, reads, row, sent
from mqlab.products.activemq.rules.reachability import overlapping
from mqlab.spec import Consumer, Producer
from mqlab.spec.clients import Client
from mqlab.spec.headers import unusual_priorities
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import ADVISORIES, KINDS, Destination, matches, misspelt

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")  # what a selector can name

Sends = tuple[CheckContext, Producer]


def producers(context: CheckContext) -> Iterator[Sends]:
    """Yield each producer of a script."""
    return ((context, action) for action in context.actions if isinstance(action, Producer))


@rule(
    "priority-ignored",
    "warning",
    finds="messages with a JMS priority in a destination that does not look at it",
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
        policy.get("prioritized_messages") and matches(str(policy.get(sends.to.kind, "")), sends.to.name)
        for policy in policies
    )
    if not sends.to.is_temporary and unusual_priorities(sends.jms_priority) and not looks:
        policy = {sends.to.kind: sends.to.name, "prioritized_messages": True}
        yield Element(f"producer {sends.name}"), {"to": sends.to, "policy": policy}


@rule(
    "nearly-same",
    "warning",
    finds="a destination that is sent to, and one that is read and differs in its kind, capitals or one letter",
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
        slip = one.kind == sends.to.kind and misspelt(one.name, sends.to.name)
        alike = slip or one.name.lower() == sends.to.name.lower()
        if alike and not (one.is_temporary or sends.to.is_temporary):
            facts = {"name": sends.name, "to": sends.to, "reader": reader, "other": one}
            kind = sends.to.kind.title()
            yield Element(f"producer {sends.name}"), {**facts, "kind": kind, "of": sends.to.name}
            return


# Advisories that a broker sends only if a policy says so, by what their topics begin with (`AdvisorySupport`).
ASKED_FOR = {
    "SlowConsumer": "advisory_for_slow_consumers",
    "FastProducer": "advisory_for_fast_producers",
    "MessageDiscarded": "advisory_for_discarding_messages",
    "MessageDelivered": "advisory_for_delivery",
    "MessageDispatched": "advisory_for_dispatched",
    "MessageConsumed": "advisory_for_consumed",
    "FULL": "advisory_when_full",
    "NoConsumer": "send_advisory_if_no_consumers",
}


@rule(
    "advisory-unsent",
    "warning",
    finds="a consumer of advisories that no broker sends",
    what="it reads {reads}, and no broker sends these advisories: {option} is not set",
    fix="set {option} to true",
    source="ActiveMQ, advisory messages",
    unshown="no effect: nothing is sent there",
)
def _advisory_unsent(context: CheckContext) -> Found:
    brokers, edition = context.network.brokers, context.network.edition
    policies = {name for broker in brokers for policy in broker.policies for name in policy if policy[name]}
    for consumer in context.consumers:
        kind, is_one, name = consumer.reads.name.partition(ADVISORIES)
        asked = ASKED_FOR.get(name.partition(".")[0])
        option = OPTIONS["policyEntry"][asked].guide if asked and asked not in policies else ""
        if not any(broker.get("advisory_support", edition) for broker in brokers):
            option = OPTIONS["broker"]["advisory_support"].guide
        if is_one and not kind and option:
            yield Element(f"consumer {consumer.name}"), {"reads": consumer.reads, "option": option}


@rule(
    "policy-again",
    "warning",
    finds="two policies of a broker for one pattern",
    what="it has two policies for {kind}s {pattern}: only the last one is in force",
    fix="use one policy for both",
    source="ActiveMQ, per destination policies",
    unshown="no effect: the option is ignored",
)
def _policy_again(context: CheckContext) -> Found:
    for broker in context.network.brokers:
        patterns = [(kind, policy[kind]) for policy in broker.policies for kind in policy if kind in KINDS[:2]]
        for kind, pattern in dict.fromkeys(patterns):
            if patterns.count((kind, pattern)) > 1 and not context.broker(broker.name).file:
                yield context.broker(broker.name), {"kind": kind, "pattern": pattern}


@rule(
    "nearly-listed",
    "warning",
    finds="an unused destination in a list or policy, one letter away from one that is used",
    what="{option} names {listed}, which is neither read nor sent to; {near} is",
    fix="write {near}",
    source="mqlab",
    unshown="only who wrote it knows what was meant",
)
def _nearly_listed(context: CheckContext) -> Found:
    read = [one for consumer in context.consumers for one in consumer.reads.elements()]
    used = [*read, *(one.to for _, one in producers(context))]
    for element, option, listed in _listed(context):
        if any(overlapping(listed, one) for one in used):
            continue
        for near in (one for one in used if one.kind == listed.kind and misspelt(one.name, listed.name)):
            yield element, {"option": option, "listed": listed, "near": near}
            break


def _listed(context: CheckContext) -> Iterator[tuple[Element, str, Destination]]:
    """Yield the destinations that connectors and policies name, each with the option."""
    for link in context.links():
        for name, value in link.connector.options.items():
            for text in value if isinstance(value, tuple) else ():
                yield link.element, OPTIONS["networkConnector"][name].guide, Destination.parse(text)
    for broker in context.network.brokers:
        forwards = [text for one in broker.composites for text in (one["name"], *one.get("forward_to", ()))]
        for one in (*(broker.options.get("destinations") or ()), *forwards):
            text = one["to"] if isinstance(one, Mapping) else one  # beside a selector
            yield context.broker(broker.name), "a destination", Destination.parse(str(text))
        for policy in broker.policies:
            kind = "queue" if "queue" in policy else "topic"
            yield context.broker(broker.name), "a policy", Destination(kind, policy[kind])


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


@rule(
    "property-name",
    "warning",
    finds="a property whose name no selector can have",
    what="property {name!r} is not a Java identifier, as JMS requires: no selector can name it",
    fix="use letters, digits, _ and $ alone, e.g. {better!r}",
    source="JMS 1.1, 3.8.1.1",
    unshown="no effect until a selector uses it",
    of=(producers,),
)
def _property_name(of: Sends) -> Found:
    _, sends = of
    for name in sends.properties:
        if not IDENTIFIER.fullmatch(name):
            yield Element(f"producer {sends.name}"), {"name": name, "better": re.sub(r"\W|^(?=\d)", "_", name)}


@client_id_rule("same-client-id", "ActiveMQ rule 11.17", "mqlab only that of a client with an address")
def _same_client_id(context: CheckContext) -> Found:
    yield from same_client_id(context.actions)


@rule(
    "no-client-id",
    "warning",
    finds="a durable subscriber on a client without a client ID",
    what="{client} has no client_id, and a real client refuses it a durable subscription; mqlab takes its name",
    fix="give {client} a client_id",
    source="JMS 1.1, 6.11.1",
    unshown="mqlab takes the client's name for its client ID",
)
def _no_client_id(context: CheckContext) -> Found:
    unnamed = {action.name for action in context.actions if isinstance(action, Client) and not action.client_id}
    for action in context.actions:
        if isinstance(action, Consumer) and action.durable and action.on in unnamed:
            yield Element(f"consumer {action.name}"), {"client": action.on}
