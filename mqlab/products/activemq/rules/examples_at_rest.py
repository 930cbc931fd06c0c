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


def _row(names: str, **options: object) -> Network:
    """Return brokers in a row, each with a connector to the next."""
    links = {one: (_link(one, other, **options),) for one, other in itertools.pairwise(names)}
    return Network(*(Broker(name, *links.get(name, ())) for name in names))


def _reads(
    name: str = "C", on: str = "B", reads: Destination = QUEUE, **options: object
) -> Consumer:
    return Consumer(name, on=on, reads=reads, **options)  # type: ignore[arg-type]


def _sent(
    network: Network, *readers: Action, to: Destination = QUEUE, **options: object
) -> Scenario:
    """Return five messages that are sent at A, once the readers are there."""
    sends = Producer("P", on="A", sends=5, to=to, **options)  # type: ignore[arg-type]
    return Scenario.of(network, *readers, sends)


def _triangle() -> Network:
    ends = {name: [_link(name, other, network_ttl=2) for other in "ABC" if other != name]
            for name in "ABC"}  # fmt: skip
    return Network(*(Broker(name, *links) for name, links in ends.items()))


def _forwards(lists: dict[str, list[str]], mend: str) -> Example:
    """Return two brokers whose connector has lists of destinations, and the same without one of them."""
    return mended(_sent(_row("AB", **lists), _reads()), {AB: {mend: []}})


def _two_names(**second: str) -> Scenario:
    """Return two connectors from A to B, the second for the queue that is read."""
    queues = {"one": "OTHER", "two": "Q"}
    own = {"one": {"configured_name": "link"}, "two": second}
    links = [NetworkConnector.as_written(name, "static:(tcp://B:61616)", **own[name],
                                         dynamically_included_destinations=[f"queue://{queue}"])
             for name, queue in queues.items()]  # fmt: skip
    return _sent(Network(Broker("A", *links), Broker("B")), _reads())


def _files(uri: str, attributes: str = "") -> Network:
    """Return the network of three brokers' files; A's connector leads to *uri*."""
    connector = f'<networkConnector name="out" uri="{uri}" {attributes}/>'
    inside = {"A": f"<networkConnectors>{connector}</networkConnectors>"}
    listens = (
        '<transportConnectors><transportConnector uri="tcp://0.0.0.0:61616"/></transportConnectors>'
    )
    texts = {name: f'<broker xmlns="{SCHEMA}" brokerName="{name}" brokerId="{name}">'
                   f"{inside.get(name, '')}{listens}</broker>" for name in "ABC"}  # fmt: skip
    return files.read([SourceFile(f"{name}.xml", text) for name, text in texts.items()], {}, {})


def _filtered(second: str) -> Scenario:
    net = _files("static:(tcp://B:61616)", f'destinationFilter="Queue.OTHER,{second}"')
    return _sent(net, _reads())


def _odd_name(name: str) -> Scenario:
    reads = _reads(on="A", reads=Destination("queue", name))
    return _sent(Network(Broker("A")), reads, to=Destination("queue", "SHOP.EU.ORDERS"))


def _secret(reads: str) -> Scenario:
    secret = Destination("queue", "Q.SECRET")
    net = _row("AB", excluded_destinations=[str(secret)])
    both = _reads("C1", "A", secret), _reads("C2", reads=Destination("queue", reads))
    return _sent(net, *both, to=secret)


_FAR = _sent(_row("ABC"), _reads(on="C"))
_NOBODY = Network(
    Broker("A", NetworkConnector.as_written("a-b", "static:(tcp://gone:61616)")), Broker("B")
)

PAIRS = {
    "ttl-zero": mended(_sent(_row("AB", network_ttl=0), _reads()), {AB: {"network_ttl": 1}}),
    "ttl-short": mended(_FAR, {"*/*": {"network_ttl": 2}}),
    "ttl-distance": mended(_FAR, {"*/*": {"network_ttl": 2}}),
    "no-target": Example(_sent(_NOBODY, _reads()), _sent(_row("AB"), _reads())),
    "unknown-host": Example(_sent(_files("static:(tcp://B:61616,tcp://gone:61616)"), _reads(on="C")),
                         _sent(_files("static:(tcp://B:61616,tcp://C:61616)"), _reads(on="C"))),
    "conduit-off-topics": mended(
        _sent(_row("AB", conduit_subscriptions=False), _reads("C1", reads=TOPIC),
              _reads("C2", reads=TOPIC), to=TOPIC), {AB: {"conduit_subscriptions": True}}),
    "topic-cycle": mended(
        _sent(_triangle(), _reads("C1", reads=TOPIC), _reads("C2", "C", TOPIC), to=TOPIC),
        {"*/*": {"network_ttl": 1}}),
    "selector-conduit": mended(
        _sent(_row("AB"), _reads("C1", "A"), _reads("C2", selector="n = 1"), properties={"n": [1, 2]}),
        {AB: {"conduit_subscriptions": False, "excluded_destinations": ["topic://>"]}}),
    "static-no-consumer": mended(
        _sent(_row("AB", statically_included_destinations=["queue://Q"])),
        {AB: {"statically_included_destinations": []}}),
    "excluded-static": _forwards({"statically_included_destinations": ["queue://Q"],
                                  "excluded_destinations": ["queue://>"]}, "excluded_destinations"),
    "excluded-included": _forwards({"dynamically_included_destinations": ["queue://Q"],
                                    "excluded_destinations": ["queue://>"]}, "excluded_destinations"),
    "excluded-wildcard": Example(_secret("Q.>"), _secret("Q.OPEN")),
    "wildcard-inside": Example(_odd_name("SHOP.>.ORDERS"), _odd_name("SHOP.*.ORDERS")),
    "advisory-off": mended(_sent(Network(Broker("A", _link("A", "B")), Broker("B", advisory_support=False)),
                                 _reads()), {"B": {"advisory_support": True}}),
    "filter-prefix": Example(_filtered("Queue.Q"), _filtered("ActiveMQ.Advisory.Consumer.Queue.Q")),
    "no-effect": mended(_sent(_row("AB", static_bridge=True), _reads()),
                        {AB: {"statically_included_destinations": ["queue://Q"]}}),
    "same-name": Example(_two_names(configured_name="link"), _two_names()),
    "prefetch-zero": mended(_sent(_row("AB", prefetch_size=0), _reads()).under("5.5"),
                            {AB: {"prefetch_size": 1}}),
}  # fmt: skip
