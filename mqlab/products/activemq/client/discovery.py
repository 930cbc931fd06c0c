"""From an address to a transport: tcp, failover:, and discovery: over its agents.

`discovery:` is a failover transport that an agent feeds with addresses (Fuse 1, "Discovery"). It
swallows options it does not know, backOffMultiplier among them (`discovery_back_off_multiplier`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.client import addresses as uris
from mqlab.products.activemq.client import jms
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.failover_transport import FailoverTransport
from mqlab.products.activemq.client.query import number, options, prefixed
from mqlab.products.activemq.transport.openwire import Command
from mqlab.products.activemq.transport.sockets import (
    CHECK_AFTER,
    CHECK_EVERY,
    CLOSED,
    Transport,
    TransportListener,
)

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab

HEARD = ("multicast", "rendezvous")  # agents that hear of services on the local network
INACTIVITY = "wireFormat.maxInactivityDuration"
GROUPED = (*HEARD, "zeroconf")  # those that want a group; only zeroconf has none unless told


class PlainTransport:
    """One socket to one address: when it goes, all is over."""

    reconnecting = False

    def __init__(self, lab: Lab, owner: TransportListener, address: str) -> None:
        self.lab, self.owner, self.address = lab, owner, address
        self.source: Transport | None = None

    @property
    def away(self) -> bool:
        """Whether there is no connection to send over."""
        return self.source is None

    def start(self) -> None:
        """Open the socket."""
        self.owner.on_attached(self.address)

    def send(self, command: Command) -> None:
        """Send *command*."""
        if self.source is not None:
            self.source.send(command)

    def stop(self) -> None:
        """Close the socket."""
        source, self.source = self.source, None
        if source is not None:
            source.close()

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came in."""
        self.owner.on_command(source, command)

    def on_closed(self, source: Transport) -> None:
        """The socket is gone."""
        if source is self.source:
            self.source = None
            self.owner.on_failed(source.failure)


class NestedTransport:
    """A composite address as one address of another list: its transport acts as a socket."""

    def __init__(self, lab: Lab, client_end: Any, uri: str) -> None:
        self.lab, self.client_end, self.name = lab, client_end, client_end.owner.name
        self.node = client_end.owner.node
        self.alive = True
        self.last_delivered_sequence_id: int | None = None
        self.failure = CLOSED
        self.transport = composite_transport(lab, self, uri)
        self.transport.start()

    def send(self, command: Command) -> None:
        """Send *command* as soon as the inner transport has a connection."""
        self.transport.send(command)

    def close(self) -> None:
        """Close it for good."""
        self.alive = False
        if self.transport.source is not None:
            self.transport.source.last_delivered_sequence_id = self.last_delivered_sequence_id
        self.transport.stop()

    def on_attached(self, address: str) -> None:
        """The inner transport has a connection."""

    def replay(self, source: Transport) -> None:
        """What a broker must know is sent again by the owner of the outer transport."""
        self.client_end.owner.replay(source)

    def on_interrupted(self) -> None:
        """The inner transport looks for another; nobody outside hears of it."""

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came in."""
        self.client_end.on_command(self, command)

    def on_failed(self, error: Refused) -> None:
        """The inner transport has given up: the outer one goes on as after a loss.

        Not when a command waited for a connection: then each waits for the other's lock, for ever
        (played three times with 5.17.2).
        """
        if self.alive and not self.transport.left_waiting:
            self.alive = False
            self.failure = error
            self.client_end.on_closed(self)


def open_transport(lab: Lab, owner: TransportListener, uri: str) -> FailoverTransport | PlainTransport:
    """Return the transport of a client's address; raises `Refused` as the factory would."""
    scheme = uris.scheme_of(uri)
    if uri == scheme:
        raise Refused("IOException", f"Transport not scheme specified: [{uri}]")
    if scheme in uris.TRANSPORT_LISTS:
        try:
            for element in filter(None, uris.split(uri).elements):
                uris.check_syntax(element)
        except Refused:
            raise Refused("IOException", f"Invalid location: {uri}") from None
        return composite_transport(lab, owner, uri)
    if uri.count("(") != uri.count(")"):
        raise Refused("IOException", f"Invalid location: {uri}")
    uris.check_scheme(scheme)
    plain = PlainTransport(lab, owner, uri)
    plain.source = lab.directory.dial(plain, jms.without(uri))
    return plain


def composite_transport(lab: Lab, owner: TransportListener, uri: str) -> FailoverTransport:
    """Return the transport of a failover: or a discovery: address."""
    if uris.scheme_of(uri) == "discovery":
        return discovery_transport(lab, owner, uri)
    return failover_transport(lab, owner, uri)


def failover_transport(lab: Lab, owner: TransportListener, uri: str) -> FailoverTransport:
    """Return the transport of a failover: address."""
    found = uris.split(uri)
    options = uris.failover_options(found.options, lab.edition)
    return FailoverTransport(lab, owner, options, found.elements)


def discovery_transport(lab: Lab, owner: TransportListener, uri: str) -> FailoverTransport:
    """Return the transport of a discovery: address, fed by its agent."""
    found = uris.split(uri)
    if not found.elements:
        raise Refused("ArrayIndexOutOfBoundsException", f"discovery: takes an agent: {uri}")
    agent = found.elements[0]  # any further one is not looked at
    options = uris.failover_options(found.options, lab.edition, strict=False)
    transport = FailoverTransport(lab, owner, options, [])
    extra = prefixed(found.options, "discovered.")
    scheme = known_agent(lab, agent)
    if scheme in ("static", "simple"):
        for element in uris.split(agent).elements:
            transport.addresses.learn(uris.with_options(element, extra))
    elif scheme == "masterslave":
        transport.addresses.learn(uris.with_options(masterslave(agent), extra))
    elif scheme in HEARD:
        lab.lan.listen(agent, DiscoveryTransport(transport, extra))
    return transport


def known_agent(lab: Lab, agent: str) -> str:
    """Return the scheme of a discovery agent; raises `Refused` when there is no such agent."""
    scheme = uris.scheme_of(agent)
    if agent == scheme:
        raise Refused("IOException", f"DiscoveryAgent scheme not specified: [{agent}]")
    known = (*uris.AGENTS, *(uris.OLD_AGENTS if lab.edition == "5.5" else ()))
    if scheme not in known or (lab.edition == "5.5" and scheme == "masterslave"):
        raise Refused("IOException", f"DiscoveryAgent scheme NOT recognized: [{scheme}]")
    query = agent.partition("?")[2] if scheme in GROUPED else ""
    unnamed = bool(query) and not options(query).get("group", "default")
    if unnamed or (scheme == "zeroconf" and "group=" not in agent):
        raise Refused("IOException", "You must specify a group to discover")
    return scheme


def masterslave(agent: str) -> str:
    """Return the one failover: address that masterslave: stands for (Fuse 4; since 5.6)."""
    elements = uris.split(agent).elements
    if len(elements) < 2:
        raise Refused("IllegalArgumentException", "Expecting at least 2 arguments")
    return f"failover:({','.join(elements)})?randomize=false&maxReconnectAttempts=0"


class DiscoveryTransport:
    """Passes what a multicast agent hears on to a failover transport."""

    def __init__(self, transport: FailoverTransport, extra: dict[str, str]) -> None:
        self.transport, self.extra = transport, extra

    def on_service(self, address: str) -> None:
        """A service was heard of for the first time."""
        self.transport.add(uris.with_options(address, self.extra))

    def on_service_gone(self, address: str) -> None:
        """A service said good-bye, or was silent for too long."""
        self.transport.addresses.forget(uris.with_options(address, self.extra))


def inactivity(query: Mapping[str, str]) -> tuple[int, int]:
    """Return after how many ms, and then how often, silence is looked for."""
    every = number(query, INACTIVITY, CHECK_EVERY)
    return number(query, "wireFormat.maxInactivityDurationInitalDelay", CHECK_AFTER), every
