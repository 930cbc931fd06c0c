"""Artemis brokers in high-availability set-ups: a network of them, and the script of what happens.

Sources: AMQ Broker 7.1, chapter 21; Artemis rules 11 to 16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.action import Action, Restart
from mqlab.spec.artemis.actions import StartAs
from mqlab.spec.artemis.addresses import matches, most_specific
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.artemis.options import OPTIONS, Options, default, read_options
from mqlab.spec.artemis.script import ScriptReader
from mqlab.spec.edition import ARTEMIS, ArtemisRules
from mqlab.spec.manual import documented
from mqlab.spec.option import release_of
from mqlab.spec.options import unknown
from mqlab.spec.origin import Origin
from mqlab.spec.scenario import AnyNetwork, check_change, no_broker, others
from mqlab.spec.shape import OBJECT

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import ArtemisNetworkOptions
    from mqlab.spec.running import Running

# Edition -> what it calls the two of a pair.
WORDS = {**dict.fromkeys(ARTEMIS, ("master", "slave")), "2.28": ("primary", "backup")}
PLAYED_AS = {"2.28": "2.5"}  # an edition of which little was recorded -> by whose rules it plays


@dataclass(frozen=True, slots=True, repr=False)
class ArtemisNetwork(AnyNetwork):
    """Brokers, their queues and cluster connections.

    Raises `UnknownName` or `BadValue` for what cannot be; what the product itself refuses at start
    is told by `Server.refused`. `edition` is one of `WORDS`: in 2.4, voters do not forget a
    crashed broker (Artemis rule 1.1). `origin` is the files that it was read from, if it was.
    """

    product: ClassVar[str] = "artemis"
    FIRST: ClassVar[tuple[type[Action], ...]] = (Restart, StartAs)
    brokers: tuple[Broker, ...]
    queues: tuple[AddressQueue, ...] = ()
    cluster: Options = field(default_factory=dict, hash=False)
    addresses: Options = field(default_factory=dict, hash=False)
    clients: Options = field(default_factory=dict, hash=False)
    edition: str = "2.5"
    origin: Origin | None = field(default=None, compare=False)
    running: Running | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for broker in self.brokers:
            if not isinstance(broker, Broker):
                raise no_broker(broker, "an Artemis broker; use artemis.Broker('A')")
        for queue in self.queues:
            if not isinstance(queue, AddressQueue):
                raise BadValue(f"{shown(queue)} is not a queue; use artemis.AddressQueue('ORDERS')")
        for name in self.names:
            if self.names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        edition = release_of(self.edition) if isinstance(self.edition, str) else ""
        if edition not in WORDS:
            raise UnknownName.of("Artemis version", self.edition, WORDS)
        object.__setattr__(self, "edition", edition)
        for slot, section, where in (
            ("cluster", "cluster-connection", "cluster"),
            ("addresses", "address-setting", "address settings"),
            ("clients", "url", "clients"),
        ):
            object.__setattr__(self, slot, read_options(section, getattr(self, slot), where))
        for where, name in self._mentioned():
            if name not in self.names:
                raise UnknownName.of("broker", name, self.names, where)

    def _mentioned(self) -> Iterator[tuple[str, str]]:
        """Yield each place outside of the script that names a broker."""
        for queue in self.queues:
            yield from ((f"queue {queue.name!r}", name) for name in queue.on or ())
        for broker in self.brokers:
            for half in (broker, *broker.halves()):
                for connector in (half.scale_down or {}).get("connectors", ()):
                    yield f"scale-down of {half.name!r}", str(connector).removeprefix("to_")
            for bridge, options in broker.parts("bridges").items():
                yield from (
                    (f"bridge {bridge!r} of {broker.name!r}", str(name)) for name in options.get("to") or ()
                )

    def __repr__(self) -> str:
        if self.running is not None:
            return str(self.running)
        return f"Network({', '.join(map(repr, self.brokers))})"

    @property
    def names(self) -> tuple[str, ...]:
        """The brokers' names in order."""
        return tuple(broker.name for broker in self.brokers)

    def script(self, actions: tuple[Action, ...], pace: str = "rest") -> tuple[Action, ...]:
        """Return actions as a lab plays them; raises for those that these brokers and clients cannot do."""
        return tuple(map(self.reader().read, actions))

    def reader(self) -> ScriptReader:
        """Return what reads actions one by one."""
        return ScriptReader(self.names)

    @property
    def rules(self) -> ArtemisRules:
        """In what its edition differs from the others."""
        return ARTEMIS[self.edition]

    def option(self, broker: Broker, key: str) -> Any:
        """Return an option of a broker's cluster connection: its own, the scenario's, the default."""
        own = broker.keys.get("cluster") or {}
        return own.get(key, self.cluster.get(key, default("cluster-connection", key)))

    def cluster_of(self, broker: Broker) -> Options:
        """Return what is written for a broker's cluster connection: its own, and what the network says."""
        own = broker.keys.get("cluster") or {}
        return own if own.get("clustered") is False else {**self.cluster, **own}

    def bridged(self) -> dict[str, set[str]]:
        """Return to whom the cluster connection of each broker makes bridges.

        They are the brokers that it lists and, unless it is to connect to these only, all that it learns of: a
        broker tells whom it knows to those that connect to it, and knows these. One that lists none
        makes none (`ClusterConnectionImpl.nodeUP`; played by 2.31.2).
        """
        listed = {one.name: self.option(one, "to") for one in self.brokers if self.option(one, "clustered")}
        ways = {name: {*(listed if to is None else to)} - {name} for name, to in listed.items()}
        spreads = [one for one in self.brokers if listed.get(one.name)]
        spreads = [one for one in spreads if not self.option(one, "allow_direct_connections_only")]
        knows = {name: {name} for name in listed}
        size = -1
        while spreads and size != (size := sum(map(len, knows.values()))):
            for name, onto in ways.items():
                for other in onto & set(knows):
                    knows[name] |= knows[other]
                    knows[other].add(name)
            for one in spreads:
                ways[one.name] |= knows[one.name] - {one.name}
        return ways

    def settings_of(self, broker: Broker) -> Mapping[str, Options]:
        """Return match -> settings of addresses that are written for a broker, the network's under ``#``."""
        own: dict[str, Options] = dict(broker.keys.get("address_settings") or {})
        whole = {**self.addresses, **own.get("#", {})}
        return {**own, "#": whole} if whole else own

    def _said(self, broker: Broker) -> tuple[object, ...]:
        """Return what is written for a broker, wherever it is written."""
        own = {key: it for key, it in broker.keys.items() if key not in ("cluster", "address_settings")}
        policy = broker.name, broker.policy, broker.role, broker.elements
        return (*policy, own, self.cluster_of(broker), self.settings_of(broker))

    def __eq__(self, other: object) -> bool:
        """Whether the same is written for all brokers, be it for each or for the network."""
        if not isinstance(other, ArtemisNetwork):
            return NotImplemented
        if (self.names, self.edition, self.clients) != (other.names, other.edition, other.clients):
            return False
        queues = (
            [(*q.plain, *q.limits, [q.is_at(name) for name in net.names]) for q in net.queues]
            for net in (self, other)
        )
        said = ([net._said(broker) for broker in net.brokers] for net in (self, other))
        return next(queues) == next(queues) and next(said) == next(said)

    def setting(self, broker: Broker, address: str, key: str) -> Any:
        """Return what a broker's settings say of an address: the most specific match that says something.

        >>> net = Network(Broker("A", address_settings={"a.#": {"redistribution_delay": 5}}))
        >>> [net.setting(net.brokers[0], name, "redistribution_delay") for name in ("a.b", "b")]
        [5, -1]
        """
        own = self.settings_of(broker)
        for match in most_specific(match for match in own if key in own[match] and matches(match, address)):
            return own[match][key]
        return default("address-setting", key)

    def too_small_for_a_page(self, broker: Broker) -> Iterator[tuple[str, int, int]]:
        """Yield the addresses of a broker that page and hold no more than a page does, with both sizes."""
        names = ("address_full_policy", "max_size_bytes", "page_size_bytes")
        for address in dict.fromkeys(one.address or one.name for one in self.queues if one.is_at(broker.name)):
            policy, most, page = (self.setting(broker, address, name) for name in names)
            if policy == "PAGE" and -1 < most <= page:
                yield address, most, page

    def sets(self, *keys: str) -> bool:
        """Whether settings of any address, of any broker, say something of one of these options."""
        return any(set(keys) & set(s) for one in self.brokers for s in self.settings_of(one).values())

    def change(self, path: str, **options: object) -> ArtemisNetwork:
        """Return the network with options changed: of the broker called *path*, or with ``*`` of all.

        What cluster connections and addresses have is changed for the whole network with ``*``. None takes
        an option back.

        >>> Network(Broker("A")).change("*", max_hops=2).cluster
        {'max_hops': 2}
        """
        if path != "*" and path not in self.names:
            raise UnknownName.of("broker", path, [*self.names, "*"])
        check_change(path, options)
        cluster, addresses = dict(self.cluster), dict(self.addresses)
        whole: dict[str, object] = {}  # what is changed for the network, and no broker has for itself
        for section, home in (("cluster-connection", cluster), ("address-setting", addresses)):
            for name in OPTIONS[section] if path == "*" else ():
                if name in options:
                    home[name] = whole[name] = options.pop(name)
        brokers = tuple(
            broker.change(**options) if options and path in ("*", broker.name) else broker
            for broker in (one.as_the_network(whole) if whole else one for one in self.brokers)
        )
        given = ({k: v for k, v in home.items() if v is not None} for home in (cluster, addresses))
        cluster, addresses = given
        return replace(self, brokers=brokers, cluster=cluster, addresses=addresses)

    def with_(self, *brokers: Broker) -> ArtemisNetwork:
        """Return the network with these brokers added.

        >>> Network(Broker("A")).with_(Broker("B")).names
        ('A', 'B')
        """
        return replace(self, brokers=(*self.brokers, *brokers))

    def without(self, path: str) -> ArtemisNetwork:
        """Return the network without the broker called *path*; raises `UnknownName`."""
        brokers = tuple(one.unbridged(path) for one in others(self, self.brokers, path))
        queues = tuple(
            queue if queue.on is None else replace(queue, on=tuple(name for name in queue.on if name != path))
            for queue in self.queues
            if queue.on != (path,)
        )
        return replace(self, brokers=brokers, queues=queues)

    def under(self, edition: str) -> ArtemisNetwork:
        """Return the same network of another edition."""
        return replace(self, edition=edition)


@documented(
    [*OPTIONS["cluster-connection"].values(), *OPTIONS["address-setting"].values()],
    clients=OPTIONS["url"].values(),
)
def Network(  # noqa: N802 - reads like the guide's noun
    *brokers: Broker,
    queues: tuple[AddressQueue, ...] = (),
    edition: str = "2.5",
    version: str | None = None,
    clients: Options | None = None,
    **options: Unpack[ArtemisNetworkOptions],
) -> ArtemisNetwork:
    """Return a network of Artemis brokers in which nothing has happened yet.

    Keyword options are those of all cluster connections and address settings; `clients` are URL
    options of all clients (rows in `spec/options`); `version` is the name that `edition` had before.

    >>> net = Network(Broker("A"), Broker("B"), message_load_balancing="STRICT", max_hops=2)
    >>> net.option(net.brokers[0], "max_hops")
    2
    """
    known = {**OPTIONS["cluster-connection"], **OPTIONS["address-setting"]}
    for name in options:
        if name not in known:
            raise unknown("artemis", name, known, "network")
    if not isinstance(queues, (tuple, list)):
        raise BadValue(f"queues is {shown(queues)}; expected a list such as [artemis.AddressQueue('ORDERS')]")
    OBJECT.check(clients or {}, "clients")
    addresses = {name: it for name, it in options.items() if name in OPTIONS["address-setting"]}
    cluster = {name: it for name, it in options.items() if name not in addresses}
    return ArtemisNetwork(brokers, tuple(queues), cluster, addresses, dict(clients or {}), version or edition)


def votes_needed(size: int) -> int:
    """Return how many votes a cluster of a size asks for (Artemis rule 13.1).

    >>> [votes_needed(size) for size in range(7)]
    [0, 0, 1, 2, 3, 3, 4]
    """
    return {1: 0, 2: 1}.get(size, size // 2 + 1) if size > 0 else 0
