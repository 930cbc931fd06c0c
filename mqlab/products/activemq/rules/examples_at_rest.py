"""Networks of ActiveMQ whose actions happen one after the other: five messages that stay, stray or double.

All of them send at A. What only files can say is read from files here, too.
"""

from __future__ import annotations

import itertools

from mqlab.checks.example import Example, mended
from mqlab.products.activemq import files
from mqlab.spec import Broker, Consumer, Network, NetworkConnector, Producer, Scenario
from mqlab.spec.action import Action
from mqlab.spec.origin import SourceFile
from mqlab.spec.values import Destination

QUEUE, TOPIC = Destination("queue", "Q"), Destination("topic", "T")
AB = "A/a-b"
SCHEMA = "http://activemq.apache.org/schema/core"


def _link(one: str, other: str, **options: object) -> NetworkConnector:
    name = f"{one}-{other}".lower()
    return NetworkConnector.as_written(name, f"static:(tcp://{other}:61616)", **options)


def row(names: str, **options: object) -> Network:
    """Return brokers in a row, each with a connector to the next."""
    links = {one: (_link(one, other, **options),) for one, other in itertools.pairwise(names)}
    return Network(*(Broker(name, *links.get(name, ())) for name in names))


def linked(uri: str) -> Network:
    """Return A with a connector of that address, and B."""
    return Network(Broker("A", NetworkConnector.as_written("a-b", uri)), Broker("B"))


def reads(name: str = "C", on: str = "B", reads: Destination = QUEUE, **options: object) -> Consumer:
    """Return a consumer."""
    return Consumer(name, on=on, reads=reads, **options)  # type: ignore[arg-type]


def sent(network: Network, *readers: Action, to: Destination = QUEUE, **options: object) -> Scenario:
    """Return five messages that are sent at A, once the readers are there."""
    sends = Producer("P", on="A", sends=5, to=to, **options)  # type: ignore[arg-type]
    return Scenario.of(network, *readers, sends)


def triangle() -> Network:
    """Return three brokers, each with connectors to the others, which pass messages on."""
    ends = {name: [_link(name, other, network_ttl=2) for other in "ABC" if other != name] for name in "ABC"}
    return Network(*(Broker(name, *links) for name, links in ends.items()))


def forwards(which: str) -> Example:
    """Return two brokers whose connector has Q in a list, and excludes all, and the same without exclusion."""
    network = row("AB", **{which: ["queue://Q"]}, excluded_destinations=["queue://>"])
    return mended(sent(network, reads()), {AB: {"excluded_destinations": []}})


def two_names(**second: str) -> Scenario:
    """Return two connectors from A to B, the second for the queue that is read."""
    queues = {"one": "OTHER", "two": "Q"}
    own = {"one": {"configured_name": "link"}, "two": second}
    links = [
        NetworkConnector.as_written(
            name, "static:(tcp://B:61616)", **own[name], dynamically_included_destinations=[f"queue://{queue}"]
        )
        for name, queue in queues.items()
    ]
    return sent(Network(Broker("A", *links), Broker("B")), reads())


def from_files(uri: str, attributes: str = "") -> Network:
    """Return the network of three brokers' files; A's connector leads to *uri*."""
    connector = f'<networkConnector name="out" uri="{uri}" {attributes}/>'
    inside = {"A": f"<networkConnectors>{connector}</networkConnectors>"}
    listens = '<transportConnectors><transportConnector uri="tcp://0.0.0.0:61616"/></transportConnectors>'
    texts = {
        name: f'<broker xmlns="{SCHEMA}" brokerName="{name}" brokerId="{name}">'
        f"{inside.get(name, '')}{listens}</broker>"
        for name in "ABC"
    }
    return files.read([SourceFile(f"{name}.xml", text) for name, text in texts.items()], {}, {})


def filtered(second: str) -> Scenario:
    """Return a connector with a destinationFilter of two parts, the second as told."""
    net = from_files("static:(tcp://B:61616)", f'destinationFilter="Queue.OTHER,{second}"')
    return sent(net, reads())


def odd_name(name: str) -> Scenario:
    """Return a consumer of queues by a name with a wildcard, and what is sent to one of them."""
    reader = reads(on="A", reads=Destination("queue", name))
    return sent(Network(Broker("A")), reader, to=Destination("queue", "SHOP.EU.ORDERS"))


def secret(name: str) -> Scenario:
    """Return a queue that a connector excludes, with a consumer at A, and one at B of what is told."""
    excluded = Destination("queue", "Q.SECRET")
    net = row("AB", excluded_destinations=[str(excluded)])
    both = reads("C1", "A", excluded), reads("C2", reads=Destination("queue", name))
    return sent(net, *both, to=excluded)


def far() -> Scenario:
    """Return a consumer two hops away, beyond the default TTL."""
    return sent(row("ABC"), reads(on="C"))


def nobody() -> Network:
    """Return two brokers, of which the first has a connector to a third that is not there."""
    gone = NetworkConnector.as_written("a-b", "static:(tcp://gone:61616)")
    return Network(Broker("A", gone), Broker("B"))


def silent() -> Network:
    """Return two brokers in a row, of which the second sends no advisories."""
    return Network(Broker("A", _link("A", "B")), Broker("B", advisory_support=False))


def virtual_demand() -> Example:
    """Return a consumer behind a virtual topic at B, which tells A of it only with a flag of its own."""
    virtual, behind = Destination("topic", "VirtualTopic.T"), Destination("queue", "Consumer.C.VirtualTopic.T")
    topics = row("AB", use_virtual_dest_subs=True, excluded_destinations=["queue://>"])
    bad = sent(topics, reads(reads=behind), to=virtual)
    return mended(bad, {"B": {"use_virtual_dest_subs": True}})


def all_in_one() -> Example:
    """Return a consumer of a queue as virtual topics usually have it, and a prefix that has another one."""
    virtual, behind = Destination("topic", "VirtualTopic.T"), Destination("queue", "Consumer.C.VirtualTopic.T")
    own = "topic://VirtualTopic.>?prefix=Consumer."
    bad = sent(Network(Broker("A", virtual_topics=[own])), reads(on="A", reads=behind), to=virtual)
    return mended(bad, {"A": {"virtual_topics": [f"{own}*."]}})
