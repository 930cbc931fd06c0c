"""A network connector at work: which bridges it opens, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.activemq.bridge import Bridge
from mqlab.runtime.activemq.settings import BridgeSettings
from mqlab.spec import NetworkConnector
from mqlab.spec import uri as uris
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.activemq.broker import Broker
    from mqlab.runtime.activemq.lab import Lab


FIRST_WAIT, LONGEST_WAIT, FACTOR = 1000, 30_000, 2.0  # ms, of the static agent


class Waits:
    """How long the agent waits between attempts at one address: 1, 2, 4, ... at most 30 seconds.

    (activemq-failover-discovery.md, section 5; options of ``static:(...)?initialReconnectDelay=``)
    """

    def __init__(self, uri: uris.Uri) -> None:
        options = uri.parameters
        self.first = float(options.get("initialReconnectDelay") or FIRST_WAIT)
        self.longest = float(options.get("maxReconnectDelay") or LONGEST_WAIT)
        grows = (options.get("useExponentialBackOff") or "true").lower() == "true"
        self.factor = float(options.get("backOffMultiplier") or FACTOR) if grows else 1.0
        self.next = self.first
        self.pending = False

    def take(self) -> int:
        """Return the next wait (us)."""
        wait, self.next = self.next, min(self.next * self.factor, self.longest)
        return round(wait * 1000)


class Connector:
    """A connector of the broker *owner*: one bridge for each broker its address lists.

    With `masterslave:` or a nested `failover:` there is one bridge, to the first broker of the
    list that serves (Fuse 4, Example 4.8).
    """

    def __init__(self, lab: Lab, owner: str, spec: NetworkConnector) -> None:
        self.lab, self.owner, self.spec, self.name = lab, owner, spec, spec.name
        self.settings = BridgeSettings(spec, lab.edition, lab.rules)
        self.title = spec.get("configured_name") or spec.name  # what the broker itself calls it
        parsed = uris.parse(spec.uri)
        inner = parsed.components[0].scheme if len(parsed.components) == 1 else ""
        self.picks_one = parsed.scheme == "masterslave" or inner == "failover"
        self.wanted = False
        self.bridges: list[Bridge] = []
        self.waits = {target: Waits(parsed) for target in spec.targets}

    def start(self) -> None:
        """Open what bridges can be opened; a duplex connector opens each both ways."""
        self.wanted = True
        home = self.lab.broker(self.owner)
        self.bridges = [bridge for bridge in self.bridges if bridge.up]
        if not home.running:
            return
        for target in self.spec.targets:
            remote = self.lab.broker(target)
            if self.picks_one and self.bridges:
                return
            if self.leads_to(target):
                continue
            if not remote.running:
                self.try_later(target)
                continue
            self.waits[target].next = self.waits[target].first
            if remote is home or self.name_in_use(target):
                self.lab.problem(f"bridge {self.name} did not come up")
                continue
            ways = [Bridge(self.lab, home, remote, self.title, self.settings, mirror=False)]
            if self.settings.duplex:
                ways.append(Bridge(self.lab, remote, home, self.title, self.settings, mirror=True))
            self.bridges += ways
            for bridge in ways:
                bridge.start()

    def lost(self, broker: Broker) -> None:
        """A broker has gone: begin to try whether it is back."""
        if self.wanted and self.lab.broker(self.owner).running and broker.name in self.waits:
            self.bridges = [bridge for bridge in self.bridges if bridge.up]
            self.try_later(broker.name)

    def try_later(self, target: str) -> None:
        """Wait for the next attempt; a broker that comes up meanwhile is found at once."""
        waits = self.waits[target]
        if not waits.pending:
            waits.pending = True
            clock = self.lab.clock
            clock.later(clock.now + waits.take(), self.on_try, target)

    def on_try(self, target: str) -> None:
        """Try whether the broker is back."""
        self.waits[target].pending = False
        home, remote = self.lab.broker(self.owner), self.lab.broker(target)
        if self.wanted and home.running and not remote.running:
            home.record(Kind.Attempted, frm=home.node, to=remote.node, rule=Rule.nobody_listens)
            self.try_later(target)

    def name_in_use(self, target: str) -> bool:
        """Whether the broker has a bridge of that configured name to *target*, which is refused."""
        return any(
            other is not self and other.owner == self.owner and other.title == self.title
            and other.leads_to(target)
            for other in self.lab.connectors
        )  # fmt: skip

    def leads_to(self, broker: str) -> bool:
        """Whether a live bridge to *broker* exists."""
        return any(bridge.remote.name == broker for bridge in self.bridges)

    def stop(self) -> None:
        """Close all bridges and do not open them again."""
        self.wanted = False
        for bridge in self.bridges:
            bridge.stop()
        self.bridges = []
