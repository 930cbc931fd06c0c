"""A bridge: one live direction of a network connector, from its home broker to a remote one.

Messages go from home to remote; consumer advisories come back, and what the bridge makes of it is in
`advised`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, temporary
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.broker.security import users_of
from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration
from mqlab.products.activemq.network.demand_forwarding import DemandForwardingBridge
from mqlab.products.activemq.network.demand_subscription import DemandSubscription
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.transport.sockets import Socket


class NetworkBridge(DemandForwardingBridge):
    """One direction of a connector between two running brokers."""

    def __init__(
        self,
        lab: Lab,
        home: Broker,
        remote: Broker,
        connector: str,
        settings: NetworkBridgeConfiguration,
        mirror: bool,
        over: Socket | None = None,
    ) -> None:
        self.lab, self.local_broker, self.remote_broker = lab, home, remote
        self.connector, self.settings, self.is_duplex_reverse = connector, settings, mirror
        # The other half of a duplex connector belongs to the broker that defines it, too.
        owner = remote if mirror else home
        self.name = f"{owner.name}/{connector}" + (" (duplex back)" if mirror else "")
        self.no = lab.name_link(self.name, home.name, remote.name)
        self.link = lab.new_link(home.name, remote.name)
        self.link_back = lab.new_link(remote.name, home.name)
        self.transport, self.accept_cost_us = over, lab.random_duration(lab.timing.taking)
        self.entry = remote.entry(home.node, self.no)
        self.demand: list[DemandSubscription] = []
        self.leaving: dict[DemandSubscription, tuple[int, int]] = {}  # with rule and cause
        self.temps: list[Destination] = []  # the other broker's temporary destinations, made here
        self.up, self.denied = False, None
        # Who it is at each of its brokers, where that decides anything.
        self.user_at = users_of(home, remote, settings) if home.secured or remote.secured else {}

    # Coming and going

    def start(self) -> None:
        """Come up: listen to the remote broker's consumer advisories, and subscribe what is static."""
        home, remote = self.local_broker, self.remote_broker
        self.up = True
        home.record(Kind.Connected, frm=home.node, to=remote.node, link=self.no)
        home.bridges.append(self)
        if home.advisory_subscribers or remote.advisory_subscribers:
            advisory.of_bridge(self, started=True)
        for text in self.settings.statically_included_destinations:
            self.subscribe_static(Destination.parse(text))
        if home.durables and self.settings.conduit_subscriptions and not self.settings.dynamic_only:
            self.restore_durable_subscriptions()
        if not self.settings.static_bridge:
            remote.listeners.append(self)
            for sub in list(remote.subs) if remote.advises else ():
                if not sub.dest.is_advisory and (not sub.inactive or self.settings.syncs(sub)):
                    self.link_back.carry(self.on_consumer_advisory, (sub.info, -1))
            if self.settings.bridge_temp_destinations and remote.advises:
                for dest, path in remote.temporary.items():
                    self.link_back.carry(self.on_temporary_destination, (dest, path, True))

    def stop(self) -> None:
        """Go down: nothing is subscribed any more, what was not acknowledged goes back."""
        if not self.up:
            return
        self.up = False
        home, remote = self.local_broker, self.remote_broker
        home.bridges.remove(self)
        if home.advisory_subscribers or remote.advisory_subscribers:
            advisory.of_bridge(self, started=False)
        if self in remote.listeners:
            remote.listeners.remove(self)
        row = home.record(Kind.Disconnected, frm=home.node, to=remote.node, link=self.no)
        for demand in (*self.demand, *self.leaving):
            for message in demand.dispatched:
                message.was_out()
                message.repeated = True
                if message.crossed and message.persistent and message.dest.is_queue:
                    # It has arrived, but here nobody knows.
                    remote.store.seen.add((message.number, message.dest_no, *message.path))
            if demand in home.subs:
                home.unsubscribe(demand, Reason.bridge_down, row)
        self.demand, self.leaving = [], {}
        for dest in self.temps:
            temporary.remove(home, dest)
        self.temps = []

    def on_temporary_destination(self, advised: temporary.Advised) -> None:
        """A temporary destination beyond was made, or has gone: so it is here, if it has not come too far."""
        if not self.passes(False, self.on_temporary_destination, advised):
            return
        (dest, path, made), home = advised, self.local_broker
        if not self.up or home.id in path or (path and len(path) >= self.settings.consumer_ttl):
            return
        if made:
            self.temps.append(dest)
            temporary.add(home, dest, (*path, self.remote_broker.id))
        elif dest in self.temps:
            self.temps.remove(dest)
            temporary.remove(home, dest)

    # Messages

    def on_forwarded(self, passage: tuple[DemandSubscription, Message, int]) -> None:
        """A message has arrived at the remote broker; the answer goes back."""
        over = self.transport
        demand, message, row = passage
        if over is not None and over.impaired and not self.passes(True, self.on_forwarded, passage):
            if over.swallows(back=self.is_duplex_reverse):
                self._lose(demand, message, row, Reason.connection_lost)
            return
        if not self.up or not self.remote_broker.running:
            self._lose(demand, message, row, Reason.bridge_down)
            return
        if self.user_at and not self._may_send(message, row):
            return
        copy = message.copy(self.local_broker.id)
        message.crossed = True
        if message.received:  # that it was out, and how often, goes along (`Message.copy`; ActiveMQ rule 1.9)
            copy.received, copy.redeliveries = message.received, message.redeliveries
            copy.repeated = message.repeated
        remote = self.remote_broker
        if remote.limits_memory and remote.destination(copy.dest).memory.full_for(
            copy, self.on_forwarded, passage
        ):
            return
        if (remote.store.seen or remote.audits_network) and remote.has_had(copy):
            remote.record_message(Kind.Discarded, copy, rule=Reason.duplicate, cause=row)
        else:
            remote.take_over(copy, self.entry, row)
        wait = 0
        if self.accept_cost_us:  # it answers once it is done with what it was sent before
            now = self.lab.clock.now
            remote.taken = max(remote.taken, now) + self.accept_cost_us
            wait = remote.taken - now
        self.link_back.carry(demand.on_answered, (demand, message, copy), wait)

    def _lose(self, demand: DemandSubscription, message: Message, row: int, rule: Reason) -> None:
        """A message does not arrive; one that was sent without waiting for an answer is lost."""
        if message not in demand.dispatched:
            self.local_broker.record_message(Kind.Discarded, message, rule=rule, cause=row)

    def _may_send(self, message: Message, cause: int) -> bool:
        """Whether the remote broker takes a message from the connector's user; its error ends the bridge."""
        user, remote = self.user_at.get(self.remote_broker), self.remote_broker
        rights = ("admin", message.dest), ("write", message.dest)
        if user is None or user.may_all(rights):
            return True
        self.denied = user, rights
        remote.record_message(Kind.Refused, message, rule=Reason.not_authorized, cause=cause)
        self.end()
        return False

    def on_answered(self, passage: tuple[DemandSubscription, Message, Message]) -> None:
        """The remote broker has the message: the home broker may forget it."""
        over = self.transport
        if over is not None:
            over.last_heard_us = self.lab.clock.now
            if over.impaired and not self.passes(False, self.on_answered, passage):
                return
        demand, message, copy = passage
        if self.up and message in demand.dispatched:
            copy.answered = True
            demand.acknowledge(message)
        if self.leaving and not demand.dispatched:
            self.on_completed(demand)

    def on_not_permitted(self, demand: DemandSubscription, message: Message) -> None:
        """A wildcard subscription was handed what the lists hold back: it keeps it for ever.

        So the real broker does (ActiveMQ rule 2.10): the message
        stays in flight, counts against the prefetch, and nobody gets it.
        """
        home = self.local_broker
        way = home.node, self.remote_broker.node, self.no, demand.no
        row = home.record_message(Kind.Refused, message, *way, Reason.not_permitted, message.row)
        if not (message.persistent or self.settings.rules.tests_messages):  # 5.5 waited for no answer
            clock = self.lab.clock
            clock.schedule(clock.now, self.on_lost, (demand, message, row))

    def on_lost(self, passage: tuple[DemandSubscription, Message, int]) -> None:
        """Home forgets a message that the other end does not take (ActiveMQ rule 5.5)."""
        passage[0].acknowledge(passage[1])
        self._lose(*passage, Reason.not_permitted)
