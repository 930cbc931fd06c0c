"""A bridge: one live direction of a network connector, from its home broker to a remote one.

Messages go from home to remote; consumer advisories come back, and what the bridge makes of it is in
`advised`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.activemq import advisory
from mqlab.runtime.activemq.advised import Advised
from mqlab.runtime.activemq.demand import Demand
from mqlab.runtime.activemq.message import Message
from mqlab.runtime.activemq.settings import BridgeSettings
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.activemq.asks import Laboratory
    from mqlab.runtime.activemq.broker import Broker
    from mqlab.runtime.activemq.sockets import Socket


class Bridge(Advised):
    """One direction of a connector between two running brokers."""

    def __init__(
        self,
        lab: Laboratory,
        home: Broker,
        remote: Broker,
        connector: str,
        settings: BridgeSettings,
        mirror: bool,
        over: Socket | None = None,
    ) -> None:
        self.lab, self.home, self.remote = lab, home, remote
        self.connector, self.settings, self.mirror = connector, settings, mirror
        # The other half of a duplex connector belongs to the broker that defines it, too.
        owner = remote if mirror else home
        self.name = f"{owner.name}/{connector}" + (" (duplex back)" if mirror else "")
        self.no = lab.name_link(self.name, home.name, remote.name)
        self.link = lab.new_link(home.name, remote.name)
        self.link_back = lab.new_link(remote.name, home.name)
        self.over, self.taking = over, lab.takes(lab.timing.taking)
        self.entry = remote.entry(home.node, self.no)
        self.redelivered_travels = settings.rules.redelivered_travels
        self.demand: list[Demand] = []
        self.up = False

    # Coming and going

    def start(self) -> None:
        """Come up: listen to the remote broker's consumer advisories, and subscribe what is static."""
        home, remote = self.home, self.remote
        self.up = True
        self._record(Kind.Connected, self.home, self.remote)
        home.bridges.append(self)
        advisory.of_bridge(home, remote, started=True, mirror=self.mirror)
        for text in self.settings.static:
            self.subscribe_static(Destination.parse(text))
        if not self.settings.dynamic_only:
            self.wake_durables()
        if not self.settings.static_bridge:
            remote.listeners.append(self)
            for sub in list(remote.subs) if remote.advises else ():
                if not sub.inactive or self.settings.syncs(sub):
                    self.link_back.carry(self.on_advised, (sub.info, -1))

    def stop(self) -> None:
        """Go down: nothing is subscribed any more, what was not acknowledged goes back."""
        if not self.up:
            return
        self.up = False
        self.home.bridges.remove(self)
        advisory.of_bridge(self.home, self.remote, started=False, mirror=self.mirror)
        if self in self.remote.listeners:
            self.remote.listeners.remove(self)
        row = self._record(Kind.Disconnected, self.home, self.remote)
        for demand in self.demand:
            for message in demand.outstanding:
                message.was_out()
                message.repeated = True
                if message.crossed:  # it has arrived, but here nobody knows
                    self.remote.had_unanswered(message)
            if demand in self.home.subs:
                self.home.unsubscribe(demand, Rule.bridge_down, row)
        self.demand = []

    # Messages

    def on_forwarded(self, passage: tuple[Demand, Message, int]) -> None:
        """A message has arrived at the remote broker; the answer goes back."""
        over = self.over
        if over is not None and over.hindered and not self.passes(True, self.on_forwarded, passage):
            return
        demand, message, row = passage
        if not self.up or not self.remote.running:
            if message not in demand.outstanding:  # sent without waiting for an answer
                self.home.note(Kind.Discarded, message, rule=Rule.bridge_down, cause=row)
            return
        copy = message.copy(self.home.id)
        message.crossed = True
        if message.repeated or self.redelivered_travels:
            copy.received, copy.redeliveries = message.received, message.redeliveries
            copy.repeated = message.repeated
        remote = self.remote
        if remote.limits_memory and remote.destination(copy.dest).memory.full_for(
            copy, self.on_forwarded, passage
        ):
            return
        if (remote.store.seen or remote.audits_network) and remote.has_had(copy):
            remote.note(Kind.Discarded, copy, rule=Rule.duplicate, cause=row)
        else:
            remote.take_over(copy, self.entry, row)
        wait = 0
        if self.taking:  # it answers once it is done with what it was sent before
            now = self.lab.clock.now
            remote.taken = max(remote.taken, now) + self.taking
            wait = remote.taken - now
        self.link_back.carry(demand.on_answered, passage, wait)

    def on_answered(self, passage: tuple[Demand, Message, int]) -> None:
        """The remote broker has the message: the home broker may forget it."""
        over = self.over
        if over is not None:
            over.said = self.lab.clock.now
            if over.hindered and not self.passes(False, self.on_answered, passage):
                return
        demand, message, _ = passage
        if self.up and message in demand.outstanding:
            demand.acknowledge(message)

    def on_not_permitted(self, demand: Demand, message: Message) -> None:
        """A wildcard subscription was handed what the lists hold back: it keeps it for ever.

        So the real broker does (ActiveMQ rule 2.10): the message
        stays in flight, counts against the prefetch, and nobody gets it.
        """
        home = self.home
        way = home.node, self.remote.node, self.no, demand.no
        home.note(Kind.Refused, message, *way, Rule.not_permitted, message.row)
