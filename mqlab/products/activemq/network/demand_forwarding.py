"""What a bridge makes of the consumers beyond: which subscriptions it holds at home, and for whom.

It listens to the remote broker's advisories and turns
consumer advisories from there into subscriptions at home ("demand");
ActiveMQ rules 1.1 to 1.5, 1.7, 1.11 and 1.12, in the order in which the broker checks them:

1. an advisory that has come through too many brokers (consumerTTL), that has been here already, or that
   is about a destination the lists do not let pass, is refused;
2. conduit: if a subscription of this bridge covers the consumer, it joins it;
3. duplicate suppression: of several routes to one consumer, keep the first or the better one;
4. else there is a new subscription, which is announced in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mqlab.products.activemq.broker import durable
from mqlab.products.activemq.broker.message import ConsumerInfo
from mqlab.products.activemq.network.demand_subscription import DemandSubscription
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.security import Denial, SecurityContext
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration
    from mqlab.products.activemq.network.network_bridge import NetworkBridge
    from mqlab.products.activemq.transport.sockets import Socket

COMPLETION = 30_000_000  # us that a subscription which is given up waits for answers
FULL = 1 << 30  # more than any prefetch


class DemandForwardingBridge:
    """The half of a bridge that hears of consumers; `demand` are its subscriptions at home."""

    lab: Lab
    local_broker: Broker
    remote_broker: Broker
    settings: NetworkBridgeConfiguration
    connector: str
    is_duplex_reverse: bool
    no: int
    transport: Socket | None
    user_at: dict[Broker, SecurityContext]
    denied: Denial | None  # what its user may not do, which has ended it
    demand: list[DemandSubscription]
    leaving: dict[DemandSubscription, tuple[int, int]]
    up: bool

    def subscribe_static(self, dest: Destination) -> None:
        """Subscribe *dest* as if a consumer were attached to the remote broker."""
        if self.settings.tests_statics and self.settings.among(self.settings.excluded_destinations, dest):
            self.refuse(dest, Reason.not_permitted, -1)
            return
        info = ConsumerInfo(self.lab.new_id(), dest, 0, None, False)
        self.create_demand_subscription(info, Reason.static, -1, static=True)

    def passes(self, away: bool, call: Call, argument: object) -> bool:
        """Whether what comes over the connector's connection arrives; what comes *away* from home, there.

        What is held arrives later, by *call*. Messages of the mirror come back on the connection.
        """
        over = self.transport
        if over is None or not over.impaired:
            return True
        return over.lets_pass(away == self.is_duplex_reverse, call, argument) or not over.alive

    def on_consumer_advisory(self, advised: tuple[ConsumerInfo, int]) -> None:
        """An advisory of a consumer beyond has come in: make a subscription of it, or say why not."""
        if not self.passes(False, self.on_consumer_advisory, advised):
            return
        info, cause = advised
        if not self.up or not self.settings.hears(info.dest):
            return
        row = self._record_advised(Kind.Advised, info.dest, hop=len(info.path), cause=cause)
        refusal = self.refusal(info)
        if refusal or not self.settings.prefetch_size:
            self.refuse(info.dest, refusal or Reason.prefetch_full, row)
            return
        for element in self.elements(info):
            if not (self.settings.conduit_subscriptions and self.add_to_conduit(element, row)):
                self.create_demand_subscription(element, Reason.remote_demand, row)

    def elements(self, info: ConsumerInfo) -> list[ConsumerInfo]:
        """Return the consumer itself, or one for each element of a composite destination.

        The lists have been applied to the whole name: its elements are not tested again.
        """
        found = info.dest.elements()
        if len(found) == 1 or not self.settings.rules.splits_composites:
            return [info]
        return [info.on(dest) for dest in found]

    def refusal(self, info: ConsumerInfo) -> int:
        """Return the rule by which the bridge ignores a consumer, 0 if there is none."""
        # A consumer of the remote broker itself has come through none and is never refused, but over a duplex
        # connector by 0 (recording `consumer_ttl_zero_duplex`).
        if (info.path or self.settings.duplex) and len(info.path) >= self.settings.consumer_ttl:
            return Reason.consumer_ttl
        if self.local_broker.id in info.path or self.remote_broker.id in info.path:
            return Reason.loop
        return 0 if self.settings.permits(info.dest) else Reason.not_permitted

    def refuse(self, dest: Destination, rule: int, cause: int) -> None:
        """Write down that no subscription came of it."""
        self._record_advised(Kind.Refused, dest, rule=rule, cause=cause)

    def add_to_conduit(self, info: ConsumerInfo, cause: int) -> bool:
        """Let the consumer join every subscription that covers it; False if there is none."""
        merges_network = not info.dest.is_queue or self.settings.merges_network_queues
        if info.path and not merges_network:
            return False
        joined = False
        for demand in self.demand:
            direct = len(demand.info.path) == 1
            if (direct or merges_network or demand.static) and self.local_broker.fits(demand.dest, info.dest):
                joined = True
                remembers_all = not self.settings.rules.merges_network_queues
                if remembers_all or not self.is_alternative_route(demand, info):
                    demand.remote_subscription_ids.add(info.remote_subscription_id)
                way = {"sub": demand.no, "rule": Reason.conduit, "cause": cause}
                self._record_advised(Kind.Merged, info.dest, **way)
        return joined

    def is_alternative_route(self, demand: DemandSubscription, info: ConsumerInfo) -> bool:
        """Whether the advised consumer leads over another way to where the subscription leads already.

        Such a consumer counts as joined, but 5.5 does not remember it.
        """
        old, new = demand.info.path, (*info.path, self.remote_broker.id)
        return bool(old) and (old[0], old[-1]) == (new[0], new[-1]) and old != new

    def create_demand_subscription(
        self, info: ConsumerInfo, rule: int, cause: int, static: bool = False
    ) -> None:
        """Subscribe at home for *info*, unless a route as good stands already."""
        settings = self.settings
        path = (*info.path, self.remote_broker.id)
        priority = info.priority
        if settings.decrease_network_consumer_priority:  # such as -5, from the second broker on -8, -9
            priority = settings.consumer_priority_base - (len(path) + 1 if len(path) > 1 else 0)
        if static and settings.rules.bare_statics:
            path, priority = (), settings.consumer_priority_base
        local = ConsumerInfo(
            self.lab.new_id(),
            info.dest,
            priority,
            None if settings.conduit_subscriptions else info.selector,
            info.exclusive,
            path,
            (*info.origins, info.id),
            self.durable_key(info),
        )
        demand = DemandSubscription(cast("NetworkBridge", self), local, static)
        if rule != Reason.durable:  # what the store knew stands for nobody yet (ActiveMQ rule 22.3)
            demand.remote_subscription_ids.add(info.remote_subscription_id)
        one_route = (  # whether of several routes to one consumer only one is kept
            settings.suppress_duplicate_queue_subscriptions
            if local.dest.is_queue
            else settings.suppress_duplicate_topic_subscriptions
        )
        twin = self.find_duplicate_subscription(local) if one_route else None
        if twin is not None:
            if twin.priority >= local.priority:
                self.refuse(info.dest, Reason.duplicate_route, cause)
                return
            # Only of this broker's own connectors (`removeDuplicateSubscription` of 5.17.2).
            if not twin.bridge.is_duplex_reverse:
                twin.bridge.demand.remove(twin)
                twin.bridge.give_up(twin, Reason.better_route, cause)
        user = self.user_at.get(self.local_broker)
        if user is not None and not user.may_all(rights := (("admin", local.dest), ("read", local.dest))):
            self.refuse(info.dest, Reason.not_authorized, cause)
            self.denied = user, rights
            self.end()
            return
        self.demand.append(demand)
        if not self.local_broker.subscribe(demand, rule, self.remote_broker.node, self.no, cause):
            self.end()

    def end(self) -> None:
        """A broker's error ends the bridge."""
        if self.transport is not None:
            clock = self.lab.clock
            # What was on its way has arrived by then, but no answer has come.
            clock.schedule(clock.now + self.lab.timing.link * 3 // 2, self.transport.reset, None)

    def find_duplicate_subscription(self, local: ConsumerInfo) -> DemandSubscription | None:
        """Return the subscription that duplicate suppression compares a new one with."""
        for sub in self.local_broker.subs:
            if (
                isinstance(sub, DemandSubscription)
                and sub.dest.is_queue == local.dest.is_queue
                and set(sub.info.origins) & set(local.origins)
            ):
                return sub
        return None

    def durable_key(self, info: ConsumerInfo) -> durable.Key | None:
        """Return the key of the durable subscription that stands for a durable consumer."""
        forced = self.settings.among(self.settings.durable_forced, info.dest)
        if info.durable is None and not forced:
            return None
        name = info.durable[1] if info.durable else ""
        if self.settings.conduit_subscriptions or not name:
            name = f"NC-DS_{self.local_broker.name}_{info.dest.name}"
        return f"{self.connector}_{self.remote_broker.name}_inbound_{self.local_broker.name}", name

    def restore_durable_subscriptions(self) -> None:
        """Take up the durable subscriptions of this bridge that came out of the home's store.

        A broker that a duplex connector has reached looks which it has now (`TransportConnection` of 5.17.2).
        """
        for inactive in durable.restorable(self.local_broker, self.is_duplex_reverse):
            info = ConsumerInfo(self.lab.new_id(), inactive.dest, 0, None, False, durable=inactive.durable)
            if self.durable_key(info) == inactive.durable:
                self.create_demand_subscription(info, Reason.durable, -1, self.settings.rules.bare_statics)

    def on_consumer_gone(self, advised: tuple[int | durable.Key, int]) -> None:
        """A consumer beyond has gone; the subscription goes with the last one that kept it."""
        if not self.passes(False, self.on_consumer_gone, advised):
            return
        self.remove_remote_subscriptions(self.demand, *advised)

    def on_durable_consumer_inactive(self, advised: tuple[int | durable.Key, int]) -> None:
        """The user of a durable subscription beyond is away.

        A conduit's own durable subscription goes on asking for it. Without conduits it becomes inactive.
        """
        if not self.passes(False, self.on_durable_consumer_inactive, advised):
            return
        self.remove_remote_subscriptions([demand for demand in self.demand if not demand.outlives], *advised)

    def remove_remote_subscriptions(
        self, demands: list[DemandSubscription], who: int | durable.Key, cause: int
    ) -> None:
        """Forget whom some subscriptions stood for; give up those that nobody keeps any more."""
        for demand in demands[:]:
            if who in demand.remote_subscription_ids:
                demand.remote_subscription_ids.discard(who)
                if not demand.is_kept():
                    self.demand.remove(demand)
                    rule = Reason.unsubscribed if demand.outlives else Reason.consumer_left
                    self.give_up(demand, rule, cause)

    def give_up(self, demand: DemandSubscription, rule: int, cause: int) -> None:
        """Let a subscription go, once all that it has forwarded is answered, or after 30 s.

        It gets nothing meanwhile (`DemandSubscription.waitForCompletion`; ActiveMQ rule 1.9).
        """
        if not demand.dispatched:
            self.local_broker.unsubscribe(demand, rule, cause)
            return
        demand.prefetch_extension = -FULL
        self.leaving[demand] = rule, cause
        clock = self.lab.clock
        clock.schedule_background(clock.now + COMPLETION, self.on_completed, demand)

    def on_completed(self, demand: DemandSubscription) -> None:
        """A subscription that is to go has its answers, or its time is over."""
        if demand in self.leaving:
            self.local_broker.unsubscribe(demand, *self.leaving.pop(demand))

    def _record_advised(self, kind: int, dest: Destination, **columns: int) -> int:
        """Record what became of a consumer beyond."""
        home, way = self.local_broker, {"frm": self.remote_broker.node, "to": self.local_broker.node}
        return home.record(kind, **way, link=self.no, dest=self.lab.name_destination(dest), **columns)
