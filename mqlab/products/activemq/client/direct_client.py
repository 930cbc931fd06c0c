"""Clients that are on a broker by themselves, as with the plain address of that broker.

Opening their connection takes no time and is no event. But for that its line breaks, freezes or goes
deaf like any other, and its client has failed when it is gone, as with a plain address
(ActiveMQ rule 11.8); one that names `others` goes on with the first broker of
its list that it can reach.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.broker import Broker
from mqlab.products.activemq.client.local_subscription import LocalTransportConnection
from mqlab.products.activemq.transport.sockets import (
    CHECK_AFTER,
    CHECK_EVERY,
    Socket,
    TransportChannel,
)
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import Producer as ProducerSpec
from mqlab.trace.kinds import SLAVE

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab


class LocalConnection(Socket):
    """A transport without a handshake.

    What happens to every message passes as a call, which asks `lets_pass` only if the connection is hindered.
    """

    outlives_bridges = True

    def __init__(
        self,
        client: DirectClient,
        broker: Broker,
    ) -> None:
        lab, name = client.lab, broker.name
        process = lab.processes[name]
        lines = lab.directory.way(client.name, name, process.line)
        super().__init__(lab, client, client.name, name, process, lines)
        self.broker_end = LocalTransportConnection(process, self)
        if not lab.directory.reaches(client.name, name):  # it is refused
            self.abandon()
            return
        self.watch(CHECK_AFTER, CHECK_EVERY)
        if self.impaired:
            self.expect()
            self.out.carry(self.on_greeting, False)

    def on_greeting(self, back: bool) -> None:
        """The first word has come to the broker, or the answer *back*."""
        if self.lets_pass(back, self.on_greeting, back) and not back:
            self.back.carry(self.on_greeting, True)


class DirectClient(ABC):
    """What consumers and producers make of a connection of their own; `spec` is how they were opened."""

    def __init__(self, lab: Lab, spec: ConsumerSpec | ProducerSpec, broker: Broker, node: int) -> None:
        self.lab, self.broker, self.node = lab, broker, node
        self.name = spec.name
        self.names = (spec.on, *spec.others)
        self.connection = LocalConnection(self, broker)

    @property
    def fails_over(self) -> bool:
        """Whether it has a list of brokers."""
        return len(self.names) > 1

    @property
    def why_refused(self) -> str:
        """Why it has no connection."""
        if self.broker.running:
            return f"the link to broker {self.broker.name} is broken"
        if self.lab.processes[self.broker.name].waits_for_slave:
            return f"broker {self.broker.name} accepts no clients until a slave is attached (waitForSlave)"
        if self.lab.processes[self.broker.name].role == "slave":
            return f"broker {self.broker.name} {SLAVE}"
        return f"broker {self.broker.name} is not running"

    def reconnect(self) -> bool:
        """Connect to the first broker of its list that it can reach, the lost one last; False if none."""
        lost = self.broker.name
        names = (*(name for name in self.names if name != lost), lost)
        broker = self.lab.directory.serving(names, self.name) if self.fails_over else None
        if broker is None:
            return False
        self.broker = broker
        self.connection = LocalConnection(self, broker)
        return True

    def on_closed(self, source: TransportChannel) -> None:
        """The connection is gone, though its broker may live."""
        if source is not self.connection:
            return
        if not self.fails_over:
            self.lab.record_failure(self, source.failure)
        self.on_lost()

    @abstractmethod
    def find_broker(self) -> None:
        """Go on with a broker that it can reach, if it has lost its own."""

    @abstractmethod
    def on_lost(self) -> None:
        """There is no connection any more."""
