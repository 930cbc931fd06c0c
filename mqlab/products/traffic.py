"""Traffic for a network that has none, such as one of configuration files: a load, clients in few words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec import codec
from mqlab.spec.action import Action, Consumer, Producer
from mqlab.spec.json_types import JsonDict
from mqlab.spec.network import Network
from mqlab.spec.scenario import AnyNetwork, Scenario
from mqlab.spec.values import Destination, Queue, Topic, as_typed

MESSAGES = 10  # of each producer of a default load
LOADS = ("default",)
_CLIENT = re.compile(r"(?P<name>[^=@]+)=(?P<destination>[^@]+)@(?P<broker>[^@:]+)(:(?P<count>[^@]*))?")
_WILD = ("*", ">", "#")


def default_load(what: AnyNetwork | Scenario, messages: int = MESSAGES) -> tuple[Action, ...]:
    """Return a consumer and a producer at every broker, for each destination that the configuration names.

    Without one it is the queue TEST.FOO; each producer sends so many *messages*.

    >>> from mqlab.spec import Broker
    >>> [action.name for action in default_load(Network(Broker("A")))]
    ['consumer-A', 'producer-A']
    """
    network = what.network if isinstance(what, Scenario) else what
    found = list(dict.fromkeys(_destinations(network))) or [Queue("TEST.FOO")]
    reads, sends = list[Action](), list[Action]()
    for destination in found:
        alike = sum(one.name == destination.name for one in found) > 1  # a queue and a topic
        more = f"-{destination.kind}" * alike + f"-{destination.name}" if len(found) > 1 else ""
        for name in network.names:
            reads.append(Consumer(f"consumer-{name}{more}", on=name, reads=destination))
            sends.append(Producer(f"producer-{name}{more}", on=name, sends=messages, to=destination))
    return (*reads, *sends)


def _destinations(network: AnyNetwork) -> Iterator[Destination]:
    """Yield what a configuration names, wildcards aside."""
    for queue in getattr(network, "queues", ()):  # of Artemis: clients name its address
        address = queue.address or queue.name
        yield Queue(address) if queue.routing == "anycast" else Topic(address)
    if not isinstance(network, Network):
        return
    lists = ("statically_included_destinations", "dynamically_included_destinations")
    given = chain.from_iterable(c.get(name) or () for _, c in network.connectors() for name in lists)
    included = (Destination.parse(one) if isinstance(one, str) else one for one in given)  # of files: texts
    composites = (Destination.parse(one["name"]) for broker in network.brokers for one in broker.composites)
    for destination in chain(included, composites):
        if not any(sign in destination.name for sign in _WILD):
            yield destination


def traffic_of(
    what: AnyNetwork | Scenario, load: str | None, consumers: Iterable[str], producers: Iterable[str]
) -> tuple[Action, ...]:
    """Return the actions of a load by name, and of clients as the command line writes them.

    ``C1=ORDERS@A`` is a consumer, ``P1=ORDERS@A:100`` a producer; a topic is ``topic://NEWS``. Raises
    `BadValue` or `UnknownName`.
    """
    if load is not None and load not in LOADS:
        raise UnknownName.of("load", load, LOADS)
    found = list(default_load(what)) if load else []
    for text in consumers:
        name, destination, broker, count = _client(text, example := "--consumer C1=ORDERS@A")
        if count is not None:
            raise BadValue(f"{text!r}: only a producer has a number of messages; use e.g. {example}")
        found.append(Consumer(name, on=broker, reads=destination))
    for text in producers:
        name, destination, broker, count = _client(text, "--producer P1=ORDERS@A:100")
        found.append(Producer(name, on=broker, sends=MESSAGES if count is None else count, to=destination))
    return tuple(found)


def _client(text: str, example: str) -> tuple[str, Destination, str, int | None]:
    parts = _CLIENT.fullmatch(text)
    if parts is None:
        raise BadValue(f"{text!r} is not a client; use e.g. {example}")
    count = parts["count"]
    if count is not None and not re.fullmatch("[0-9]{1,10}", count):
        raise BadValue(f"{text!r}: {count!r} is not a number of messages; use e.g. {example}")
    destination = parts["destination"]
    named = destination if "://" in destination else f"queue://{destination}"
    return parts["name"], Destination.parse(named), parts["broker"], None if count is None else int(count)


def action_of(text: str, product: str) -> Action:
    """Return an action as the command line writes it: its noun, its names in their order, options, a time.

    Raises `BadValue` or `UnknownName` for what is none.

    >>> action_of("Cut A B how=hang at 2s", "activemq")
    Cut('A', other='B', how='hang', at='2s')
    """
    try:
        words = shlex.split(text)
    except ValueError:
        raise BadValue(f"--do {text!r}: a quotation mark is not closed") from None
    item: JsonDict = {"do": words.pop(0) if words else ""}
    if words[-3:-2] == ["at"] and words[-2][:1].isdigit():  # a time with a blank before its unit
        words[-2:] = ["".join(words[-2:])]
    if words[-2:-1] == ["at"]:
        item["at"] = words[-1]
        words = words[:-2]
    noun = codec.nouns(product).get(item["do"])
    places = [field.name for field in fields(noun) if not field.kw_only] if noun else []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and not places and noun:
            raise BadValue(f"--do {text!r}: {word!r} is too much; use e.g. --do 'Crash A at 2s'")
        key = name if equals or not places else places.pop(0)
        item[key] = as_typed(value if equals else word)
    try:
        return codec.read(item, product)
    except MqlabError as error:
        raise type(error)(f"--do {text!r}: {error}", calls=error.calls) from None
