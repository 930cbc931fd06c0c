"""Users of connectors and clients: whom a broker lets in, and what it lets them do.

Played with 5.17.2. A connection needs a known user, and with an authorization plugin one that may create
the advisory topics. A bridge connects to both of its brokers with the connector's `userName`: it reads
advisories and sends at the remote one, and reads at home. Each refusal ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused
from mqlab.spec.security import Security
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration

CONNECTIONS = Destination("topic", "ActiveMQ.Advisory.Connection")
CONSUMERS = Destination("topic", "ActiveMQ.Advisory.Consumer.Queue.>")
TEMPORARY = Destination("topic", "ActiveMQ.Advisory.TempQueue")
Rights = tuple[tuple[str, Destination], ...]
Denial = tuple["SecurityContext", Rights]
SAID = {"read": "read from", "write": "write to", "admin": "create"}


class SecurityContext:
    """A user at a broker; `groups` is None where it is not let in."""

    def __init__(self, broker: Broker, name: str | None, password: str | None) -> None:
        self.broker, self.name = broker, name
        users, authorization = broker.spec.get("users"), broker.spec.get("authorization")
        self.security = Security(users, authorization) if broker.secured else None
        self.groups = frozenset[str]() if self.security is None else self.security.groups(name, password)

    def may(self, right: str, dest: Destination) -> bool:
        """Whether the user has a right at a destination; nobody needs one to create what is there."""
        if self.security is None or (right == "admin" and dest in self.broker.by_name):
            return True
        return self.groups is not None and self.security.may(self.groups, right, dest)

    def may_all(self, rights: Rights) -> bool:
        """Whether the user has all of some rights."""
        return all(self.may(right, dest) for right, dest in rights)

    def refusal(self, *rights: tuple[str, Destination]) -> int:
        """Return why the user cannot connect, or do all of this; 0 if it can."""
        if self.groups is None:
            return Reason.not_authenticated
        return 0 if self.may_all((("admin", CONNECTIONS), *rights)) else Reason.not_authorized

    def check(self, *rights: tuple[str, Destination]) -> None:
        """Raise `Refused`, as a client hears it, for what the user may not do."""
        kind = "JMSSecurityException"
        if self.groups is None:
            raise Refused(kind, f"User name [{self.name}] or password is invalid.")
        for right, dest in rights:
            if not self.may(right, dest):
                raise Refused(kind, f"User {self.name} is not authorized to {SAID[right]}: {dest}")


def of_connector(broker: Broker, settings: NetworkBridgeConfiguration) -> SecurityContext:
    """Return the user of a connector at one of its brokers."""
    return SecurityContext(broker, settings.user_name, settings.password)


def users_of(
    home: Broker, remote: Broker, settings: NetworkBridgeConfiguration
) -> dict[Broker, SecurityContext]:
    """Return the user of a bridge at those of its brokers that have users."""
    return {broker: of_connector(broker, settings) for broker in (home, remote) if broker.secured}


def of_bridge(home: Broker, remote: Broker, settings: NetworkBridgeConfiguration) -> int:
    """Return why a bridge does not come up, 0 if its user may connect to both brokers."""
    there = () if settings.static_bridge else (("read", CONSUMERS),)
    back = there if settings.duplex else ()
    return of_connector(remote, settings).refusal(*there) or of_connector(home, settings).refusal(*back)
