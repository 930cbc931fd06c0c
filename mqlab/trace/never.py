"""Consumers that can never receive anything of what a script sends, by what they read and select."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from math import lcm
from typing import TYPE_CHECKING

from mqlab.errors import nearest
from mqlab.spec.action import Consumer, Producer
from mqlab.spec.clients import Client
from mqlab.spec.headers import NOT_OUT_YET, dealt
from mqlab.spec.options import TITLES
from mqlab.spec.plural import counted
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination, duration, misspelt
from mqlab.spec.virtual_topic import PREFIX
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

MODES = ("PERSISTENT", "NON_PERSISTENT")
HEADERS = {"JMSPriority", "JMSDeliveryMode", "AMQPriority", "AMQDurable"}  # that messages of mqlab have
BESIDES = {"activemq": {*NOT_OUT_YET}, "openmq": {"JMSMessageID", "JMSTimestamp"}}  # those of one product
PRIORITIES = range(10)  # JMS 2.0, 3.4.10
ONE_LETTER = "their names are one letter apart"
VIRTUAL = "VirtualTopic."  # what a broker's topics begin with that are virtual if it says nothing else


def never(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield consumers, and producers of virtual topics, that miss one another; each with the reason."""
    producers = [action for action in trace.actions if isinstance(action, Producer)]
    for action in trace.actions:
        if isinstance(action, Consumer):
            why = _selects_nothing(trace, action, producers) if action.selector else ""
            why = why or _sent_elsewhere(trace, action, producers) or _browsed_before(trace, action, producers)
            why = why or _not_local(trace, action, producers)
            if not why and is_usual(trace):
                why = _no_virtual_topic(action) or _not_virtual(action, producers)
            if why:
                yield f"Consumer {action.name}", why
    read = [action.reads for action in trace.actions if isinstance(action, Consumer)]
    yield from _read_elsewhere(read, producers)
    reads = [one.name for one in read]
    for one in producers if is_usual(trace) else ():
        behind = any(name.startswith("Consumer.") and name.endswith(f".{one.to.name}") for name in reads)
        if one.to.is_queue and one.to.name.startswith(VIRTUAL) and behind:
            why = f"{one.to} is a queue, and only topics are virtual; send to topic://{one.to.name}"
            yield f"Producer {one.name}", why


def idle_fields(action: Consumer | Producer) -> Iterator[str]:
    """Yield what is given of a consumer or producer and has no effect beside the rest of it."""
    if isinstance(action, Consumer) and action.durable and action.reads.is_queue:
        yield "durable=True has no effect on a queue, which keeps its messages anyway; omit it"
    if action.on in action.others:
        yield f"others names {action.on}, which it is on; name another broker"
    if isinstance(action, Consumer):
        if action.options.get("shared") and action.reads.is_queue:
            yield "shared has no effect on a queue, which consumers share anyway; remove it"
        return
    lists = {**action.properties, "jms_priority": action.jms_priority}
    for name, values in lists.items():
        if isinstance(values, list) and len(values) > action.sends > 0:
            yield f"{name} has more values than {counted(action.sends, 'message')}; send more, or give fewer"
    if not action.sends:
        yield "it sends nothing, as sends is 0; use 1 or more"
    elif action.sends == 1 and duration(action.every):
        yield "every has no effect on one message; use sends=2 or more"


def is_usual(trace: Trace) -> bool:
    """Whether virtual topics are those that ActiveMQ has by default, at all brokers of a run."""
    if trace.product != "activemq":
        return False
    brokers = trace.header.get("scenario", {}).get("brokers", ())
    return not any("virtual_topics" in (*broker, *broker.get("options", {})) for broker in brokers)


def _selects_nothing(trace: Trace, consumer: Consumer, producers: list[Producer]) -> str:
    """Return why a selector takes none of the messages that are sent; empty if it may take some."""
    reads = consumer.reads.elements()
    sent = [one for one in producers if any(dest.takes(one.to) for dest in reads)]
    if not sent or trace.received().get(consumer.name):
        return ""
    selector = Selector(str(consumer.selector))
    asked, has = selector.names(), {name for one in sent for name in one.properties}
    lacks = sorted(asked - has - HEADERS - BESIDES.get(trace.product, set()))
    names = " and ".join(lacks)
    if any(name.startswith("JMS") and not name.startswith("JMSX") for name in lacks):
        return f"its selector asks for {names}, which messages of mqlab do not have; select by a property"
    if lacks:
        told = f"its selector asks for {names}, and no message has such a property"
        texts = [name for name in lacks if re.search(rf"(?<![<>])(=|<>)\s*{re.escape(name)}\b", selector.text)]
        meant = [near for name in lacks if name not in texts and (near := nearest(name, has))]
        told += f"; write {' and '.join(meant)}" if meant else ""
        return told + (f"; a text stands in single quotes, such as '{texts[-1]}'" if texts else "")
    if asked <= {"JMSPriority", "JMSDeliveryMode"}:
        every = ({"JMSPriority": no, "JMSDeliveryMode": mode} for no, mode in product(PRIORITIES, MODES))
        if not any(selector.selects(headers, {}) for headers in every):
            return "its selector takes no message at all; a JMSPriority is 0 to 9"
    messages = [properties for one in sent for properties in _properties(one)]
    for name in sorted(asked & has):
        others = [(each[name], {**each, name: _other(each[name])}) for each in messages if name in each]
        fits = next((value for value, other in others if selector.selects({}, other)), None)
        if fits is not None and not any(selector.selects({}, each) for each in messages):
            sent_as = f"it is sent as the {_kind(fits)} {fits!r}"
            told = f"its selector compares {name} with a {_kind(_other(fits))}, and {sent_as}"
            return f"{told}: values of different types never match (JMS 2.0, 3.8.1.3)"
    return ""


def _sent_elsewhere(trace: Trace, consumer: Consumer, producers: list[Producer]) -> str:
    """Return that what a consumer reads is sent to elsewhere, by a name that is nearly the same."""
    sent, reads = list(dict.fromkeys(one.to for one in producers)), consumer.reads
    product = trace.product
    wild = product != "activemq" and any(word in (">", "*") for word in reads.name.split("."))
    meant = any(one.takes(to) for one in reads.elements() for to in sent)
    if trace.received().get(consumer.name) or reads in sent or (meant and not wild):
        return ""
    if wild and meant and reads.is_queue:
        told = f"{reads} is the name of one queue in {TITLES[product]} as mqlab plays it, not a wildcard"
        return f"{told}; name each queue"
    if product == "activemq" and sent and any(_is_odd(word) for word in reads.name.split(".")):
        return f"{reads} is one name: in ActiveMQ only * and > stand for words, each alone between dots"
    for to in sent:
        if to.name.casefold() == reads.name.casefold() or (
            to.kind == reads.kind and misspelt(to.name, reads.name)
        ):
            why = ONE_LETTER
            if to.name == reads.name:
                why = "a queue and a topic of one name differ"
            elif to.name.casefold() == reads.name.casefold():
                why = "names are case-sensitive"
            return f"it reads {reads}, and messages are sent to {to}: {why}"
        behind = reads.is_queue and not to.is_queue and reads.name.endswith(f".{to.name}")
        if product != "activemq" and behind and reads.name.startswith(PREFIX.partition(".")[0]):
            told = f"{to} is not virtual, so this queue gets no copies"
            return f"{told}: mqlab plays virtual topics of ActiveMQ only"
        if product != "activemq" and reads.name in to.name.split(","):
            return f"it reads {reads}, and {to} is one name here: only ActiveMQ's commas separate destinations"
    return ""


def _read_elsewhere(read: list[Destination], producers: list[Producer]) -> Iterator[tuple[str, str]]:
    """Yield producers to what nothing reads, beside what is sent to and read by a name one slip away."""
    sent = [one.to for one in producers]
    for one in producers:
        if any(names.takes(one.to) for dest in read for names in dest.elements()):
            continue
        for near in (dest for dest in read if dest in sent and dest.kind == one.to.kind):
            if misspelt(near.name, one.to.name):
                yield f"Producer {one.name}", f"it sends to {one.to}, and consumers read {near}: {ONE_LETTER}"


def _browsed_before(trace: Trace, consumer: Consumer, producers: list[Producer]) -> str:
    """Return that a browser came before the messages: it sees what is there, and ends."""
    if not consumer.browser or not any(consumer.reads.takes(one.to) for one in producers):
        return ""
    names, to = trace.names["node"], trace.column("to")
    if any(names[to[row]] == consumer.name for row in trace.rows(Kind.Browsed, Kind.Received)):
        return ""
    return f"it browsed {consumer.reads} and found nothing there; browse after the messages are sent"


def _not_local(trace: Trace, consumer: Consumer, producers: list[Producer]) -> str:
    """Return that no producer is on the connection whose messages a consumer does not want."""
    clients = {action.name for action in trace.actions if isinstance(action, Client)}
    used = {one.on if one.on in clients else one.connection or one.name for one in producers}
    own = consumer.on if consumer.on in clients else consumer.connection or consumer.name
    if not consumer.no_local or own in used:
        return ""
    return "no_local has no effect, as no producer is on its connection; give both one connection="


def _is_odd(word: str) -> bool:
    """Whether a part of a name looks like a wildcard, or a queue of an address, of another product."""
    return word not in ("*", ">") and any(sign in word for sign in ("*", ">", "#", "::"))


def _properties(producer: Producer) -> Iterator[dict[str, object]]:
    """Yield the properties of a producer's messages, each combination once."""
    lengths = (len(value) for value in producer.properties.values() if isinstance(value, list) and value)
    for place in range(min(lcm(*lengths), 1000)):
        yield dealt(producer.properties, place)


def _other(value: object) -> object:
    """Return a value as what it may have been meant to be: a text as number or switch, all others as text."""
    if not isinstance(value, str):
        return str(value).lower()
    try:
        return float(value)
    except ValueError:
        return {"true": True, "false": False}.get(value.lower(), value)


def _kind(value: object) -> str:
    return "text" if isinstance(value, str) else "boolean" if isinstance(value, bool) else "number"


def _no_virtual_topic(consumer: Consumer) -> str:
    """Return why a name that looks like that of a virtual topic's queue is none."""
    name, (first, *rest) = consumer.reads.name, consumer.reads.name.split(".")
    if first != PREFIX.partition(".")[0] or VIRTUAL not in f"{name}.":
        return ""
    if consumer.reads == Destination("topic", name):
        return f"the consumers of a virtual topic read a queue; read queue://{name}"
    if len(rest) > 1 and f"{rest[1]}." == VIRTUAL:
        return ""
    topic = name[name.index(VIRTUAL) :]
    return f"no virtual topic has this queue behind it; its name is Consumer.NAME.{topic}"


def _not_virtual(consumer: Consumer, producers: list[Producer]) -> str:
    """Return why a queue that would be behind a topic is not: that topic is not virtual."""
    first, _, rest = consumer.reads.name.partition(".")
    name = rest.partition(".")[2]
    sent = [one.to for one in producers]
    behind = first == PREFIX.partition(".")[0] and consumer.reads.is_queue and consumer.reads not in sent
    if not behind or not name or name.startswith(VIRTUAL) or Destination("topic", name) not in sent:
        return ""
    told = f"topic://{name} is not virtual, as only {VIRTUAL}> is by default, so this queue gets no copies"
    return f"{told}; set virtual_topics at its broker"
