"""Brokers with their connectors, what lies around them, and the network that they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec import broker_checks
from mqlab.spec.action import Action, Restart, Settle, Snapshot, Start
from mqlab.spec.around import Around
from mqlab.spec.clients import StartBrokers
from mqlab.spec.connector import HasOptions, NetworkConnector, TransportConnector, check_name
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.manual import documented
from mqlab.spec.naming import BEGIN
from mqlab.spec.network_names import check
from mqlab.spec.option import DEFAULT_EDITION, edition_of
from mqlab.spec.origin import Origin
from mqlab.spec.rows import OPTIONS, policy_of, read_options
from mqlab.spec.scenario import AnyNetwork, check_change, check_slash, no_broker, others

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import BrokerOptions, NetworkChanges
    from mqlab.spec.running import Running

OPENWIRE = TransportConnector()  # of a broker that says nothing of it
NOTHING_AROUND = Around()
_BROKER = (
    "an ActiveMQ broker; use mq.Broker('A'), or for other products mq.openmq.Network(...), "
    "mq.artemis.Network(...)"
)


@documented(OPTIONS["broker"].values(), policies=OPTIONS["policyEntry"].values())
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class Broker(HasOptions):
    """A broker by name, with the network connectors it defines, and, if given, its transport connector.

    `policies` are destination policies, each with the destinations that it is for and its options:
    ``{"queue": "ORDERS.>", "enable_audit": False}``. `composites` are composite queues and topics:
    ``{"name": "queue://Q", "forward_to": ["queue://A", "topic://B"], "forward_only": True}``. In place of a
    name ``{"to": "queue://A", "selector": "n > 3"}`` forwards what the selector takes. `at` is the preferred
    position of the broker in drawings (unit square, y upwards).
    """

    name: str
    connectors: tuple[NetworkConnector, ...]
    pairs: tuple[tuple[str, object], ...]
    policies: tuple[JsonObject, ...] = field(hash=False)
    composites: tuple[JsonObject, ...] = field(hash=False)
    at: tuple[float, float] | None
    transport: TransportConnector

    def __init__(
        self,
        name: str,
        *connectors: NetworkConnector | TransportConnector,
        policies: tuple[Mapping[str, object], ...] = (),
        composites: tuple[Mapping[str, object], ...] = (),
        at: tuple[float, float] | None = None,
        **options: Unpack[BrokerOptions],
    ) -> None:
        check_name("broker", name)
        for connector in connectors:
            if not isinstance(connector, (NetworkConnector, TransportConnector)):
                raise BadValue(
                    f"broker {name!r}: {shown(connector)} is not a connector; use e.g. "
                    "mq.NetworkConnector('ab', uri='static:(tcp://B:61616)')"
                )
        seen: dict[str, str] = {}
        listens = [c for c in connectors if isinstance(c, TransportConnector)]
        if len(listens) > 1:
            raise BadValue(f"broker {name!r}: only one TransportConnector is supported; remove the other")
        object.__setattr__(self, "transport", (*listens, OPENWIRE)[0])
        connectors = tuple(c for c in connectors if isinstance(c, NetworkConnector))
        for connector in connectors:
            if connector.name in seen:
                both = f"{seen[connector.name]} and {connector.uri}"
                raise BadValue(
                    f"broker {name!r}: two network connectors are called {connector.name!r}, {both}; a "
                    "broker refuses the second bridge of that name, so give each its own name"
                )
            seen[connector.name] = connector.uri
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "connectors", connectors)
        checked = read_options("broker", options, f"broker {name!r}")
        object.__setattr__(self, "pairs", tuple(checked.items()))
        broker_checks.around(name, policies, composites, at)
        if broker_checks.TEXTS & checked.keys():
            broker_checks.texts(name, checked)
        read = (policy_of(policy, f"broker {name!r}, policy") for policy in policies)
        object.__setattr__(self, "policies", tuple(read))
        named = ({**c, "name": str(c["name"]).removeprefix("queue://")} for c in composites)
        object.__setattr__(self, "composites", tuple(named))
        if composites:
            broker_checks.circle(name, self.composites)
        object.__setattr__(self, "at", at)

    ELEMENT = "broker"

    def __repr__(self) -> str:
        parts = [repr(self.name), *map(repr, self.connectors)]
        parts += [repr(self.transport)] if self.transport.pairs else []
        around = {"policies": self.policies, "composites": self.composites, "at": self.at}
        given = {**{name: value for name, value in around.items() if value}, **self.options}
        parts += [f"{name}={value!r}" for name, value in given.items()]
        return f"Broker({', '.join(parts)})"

    def replace(self, *connectors: NetworkConnector, **options: object) -> Broker:
        """Return the broker with other connectors and *options*, among them name, policies, composites, at."""
        own = {"policies": self.policies, "composites": self.composites, "at": self.at}
        given = {**own, **self.options, **options}
        return Broker(given.pop("name", self.name), *connectors, self.transport, **given)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Network(AnyNetwork):
    """Brokers with their connectors, of one ActiveMQ version.

    `origin` is the files that it was read from, `running` what stood in it when it was read while it ran.

    Raises `BadValue` for duplicate broker names, `UnknownName` for a connector to a broker
    that is not there or for an unknown edition.
    """

    product: ClassVar[str] = "activemq"
    brokers: tuple[Broker, ...]
    edition: str
    around: Around
    origin: Origin | None = field(compare=False)
    running: Running | None = field(compare=False)
    names: tuple[str, ...] = field(compare=False)  # of the brokers, in order

    def __init__(
        self,
        *brokers: Broker,
        edition: str = DEFAULT_EDITION,
        around: Around | None = None,
        origin: Origin | None = None,
        running: Running | None = None,
    ) -> None:
        if strange := [given for given in brokers if not isinstance(given, Broker)]:
            raise no_broker(strange[0], _BROKER)
        around = NOTHING_AROUND if around is None else around
        if not isinstance(around, Around):
            raise BadValue(f"around is {shown(around)}; expected mq.Around(...)")
        names = [
            *(broker.name for broker in brokers),
            *(end.name for end in around.endpoints),
            *(line for line, _ in around.lines),
        ]
        for name in names:
            if names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        for broker in brokers:
            for connector in broker.connectors:
                for target in connector.targets:
                    if connector.judged and target not in names:
                        where = f"broker {broker.name!r}, networkConnector {connector.name!r}"
                        raise UnknownName.of("broker", target, names, where)
            master = broker.options.get("pure_slave_of")
            if master is not None and master not in names:
                where = f"broker {broker.name!r}, pure_slave_of (a name, not an address)"
                raise UnknownName.of("broker", master, names, where)
        object.__setattr__(self, "brokers", tuple(brokers))
        object.__setattr__(self, "edition", edition_of(edition))
        object.__setattr__(self, "around", around)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "running", running)
        object.__setattr__(self, "names", tuple(broker.name for broker in brokers))

    def __repr__(self) -> str:
        if self.running is not None:
            return str(self.running)
        return f"Network({', '.join([*map(repr, self.brokers), f'edition={self.edition!r}'])})"

    def broker(self, name: str) -> Broker:
        """Return the broker called *name*."""
        for broker in self.brokers:
            if broker.name == name:
                return broker
        raise UnknownName.of("broker", name, self.names)

    def connectors(self) -> tuple[tuple[Broker, NetworkConnector], ...]:
        """Return every connector with the broker that defines it."""
        return tuple((b, connector) for b in self.brokers for connector in b.connectors)

    def change(self, path: str, **changes: Unpack[NetworkChanges]) -> Network:  # type: ignore[override]
        """Return the network with options set on what *path* names.

        A path is ``broker`` or ``broker/connector``; ``*`` for either means all of them. Beside its options a
        broker has `name`, `policies`, `composites` and `at`, a connector `name` and `uri`. Where a broker is
        renamed, the addresses of connectors follow.

        >>> pair = Network(Broker("A", NetworkConnector("ab", "static:(tcp://B:61616)")), Broker("B"))
        >>> pair.change("B", name="office").connectors()[0][1].uri
        'static:(tcp://office:61616)'
        """
        if not isinstance(path, str):
            raise BadValue(f"{shown(path)} is not a path; expected 'A' or 'A/linkToBrokerB'")
        options: JsonDict = {**changes}
        check_change(path, options)
        broker_name, _, connector_name = path.partition("/")
        known = [f"{b.name}/{c.name}" for b, c in self.connectors()]
        check_slash(path, self.names, known)
        if broker_name not in ("*", *self.names):
            near = next((one for one in known if one.endswith(f"/{path}")), None)
            raise UnknownName.of("broker", broker_name, self.names, near=near)
        if "name" in options and not connector_name:
            renamed = self._renamed(broker_name, options.pop("name"))
            new = renamed.names[self.names.index(broker_name)]
            return renamed.change(new, **options) if options else renamed
        changed, hits = [], 0
        for broker in self.brokers:
            if broker_name not in ("*", broker.name):
                changed.append(broker)
                continue
            if not connector_name:
                changed.append(broker.replace(*broker.connectors, **options))
                hits += 1
                continue
            chosen = [c.name for c in broker.connectors if connector_name in ("*", c.name)]
            hits += len(chosen)
            changed.append(
                broker.replace(*(c.change(**options) if c.name in chosen else c for c in broker.connectors))
            )
        if not hits and path != "*":
            raise UnknownName.of("network connector", path, known)
        return self.made_of(*changed, edition=self.edition)

    def _renamed(self, old: str, new: object) -> Network:
        if old == "*":
            raise BadValue("name: rename one broker at a time, e.g. change('B', name='office')")
        check_name("broker", new)
        host = re.compile(rf"(?<=//){re.escape(old)}(?=[:/,)?]|$)")
        moved = (
            broker.replace(
                *(c.change(uri=host.sub(str(new), c.uri)) for c in broker.connectors),
                **({"name": new} if broker.name == old else {}),
                **({"pure_slave_of": new} if broker.options.get("pure_slave_of") == old else {}),
            )
            for broker in self.brokers
        )
        return self.made_of(*moved, edition=self.edition)

    def with_(self, *brokers: Broker) -> Network:
        """Return the network with these brokers added."""
        return self.made_of(*self.brokers, *brokers, edition=self.edition)

    def without(self, path: str) -> Network:
        """Return the network without what *path* names: ``broker`` or ``broker/connector``.

        Connectors that lead only to the broker go with it. Raises `UnknownName` for what is not there,
        `BadValue` for a broker that is one of several in the address of a connector.

        >>> pair = Network(Broker("A", NetworkConnector("ab", "static:(tcp://B:61616)")), Broker("B"))
        >>> pair.without("B"), pair.without("A/ab").connectors()
        (Network(Broker('A'), edition='5.17'), ())
        """
        name, _, connector = str(path).partition("/")
        owner = self.broker(name)
        if connector:
            if connector not in (known := [c.name for c in owner.connectors]):
                raise UnknownName.of("network connector", path, [f"{name}/{one}" for one in known])
            kept = owner.replace(*(c for c in owner.connectors if c.name != connector))
            return self.made_of(*(kept if b is owner else b for b in self.brokers), edition=self.edition)
        for broker, link in self.connectors():
            if broker is not owner and {name} < {*link.targets}:
                raise BadValue(
                    f"{broker.name}/{link.name}: {link.uri} names {name!r} and others; change it first"
                )
        left = (
            b.replace(*(c for c in b.connectors if name not in c.targets))
            for b in others(self, self.brokers, name)
        )
        return self.made_of(*left, edition=self.edition)

    def under(self, edition: str) -> Network:
        """Return the same network run by another edition (one of 5.5, 5.17, 5.18, 6.1)."""
        return self.made_of(*self.brokers, edition=edition)

    def made_of(self, *brokers: Broker, edition: str) -> Network:
        """Return a network of these brokers in the same place."""
        return Network(*brokers, edition=edition, around=self.around, origin=self.origin, running=self.running)

    def script(self, actions: tuple[Action, ...], pace: str) -> tuple[Action, ...]:
        """Return the actions: the lab plays them as they are."""
        check(self, actions, strictly=pace == "rest")
        return actions

    def completed(self, actions: tuple[Action, ...]) -> tuple[Action, ...]:
        """Return *actions* after a start of all brokers, unless they begin with one, and up to a rest."""
        first = () if isinstance(next(iter(actions), None), (Start, Restart, StartBrokers)) else (BEGIN,)
        return (*first, *actions, Settle(), Snapshot("final"))
