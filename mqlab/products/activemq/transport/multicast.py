"""A local network with multicast groups: who announces itself, and who hears of it.

Whoever has a discovery address says so at once, again at once, and every keepAliveInterval, and says
good-bye at an orderly end; ten intervals of silence are a good-bye too (Fuse 1, "Multicast
discovery agent").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client.query import flag, number, options
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.client.discovery import DiscoveryTransport
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector

KEEP_ALIVE = 500  # ms
SILENT_INTERVALS = 10
BEATS = 1.1  # spread of an interval: an agent looks whether it is over when something comes
FORGIVEN = 60_000_000  # us without a failure, after which earlier ones do not count
DEFAULT_HOST, DEFAULT_PORT = "239.255.2.3", "6155"


def group_of(uri: str) -> tuple[str, str]:
    """Return multicast address and group of an agent's address."""
    scheme, _, rest = uri.partition("://")
    place, _, query = rest.partition("?")
    host, _, port = place.partition(":")
    host = DEFAULT_HOST if host in ("", "default") else host
    return f"{scheme}://{host}:{port or DEFAULT_PORT}", options(query).get("group", "default")


class AnnouncedService:
    """One service that is announced, and whose process must run for it."""

    def __init__(self, lan: MulticastNetwork, address: str, uri: str, process: BrokerService | None) -> None:
        self.lan, self.address, self.process = lan, address, process
        self.group = group_of(uri)
        query = options(uri.partition("?")[2])
        self.interval = number(query, "keepAliveInterval", KEEP_ALIVE) * 1000
        self.on = True
        self.life = process.incarnation if process is not None else 0
        self.say("alive")
        self.tick(None)

    @property
    def gone(self) -> bool:
        """Whether nobody is left to announce it."""
        return not self.on or (self.process is not None and self.process.incarnation != self.life)

    def tick(self, _: None) -> None:
        """Say that it is alive, as long as it is."""
        if self.gone:
            return
        if self.process is None or not self.process.paused:
            self.say("alive")
        clock = self.lan.lab.clock
        if self.interval > 0:
            clock.schedule_background(
                clock.now + self.lan.lab.random_duration(self.interval, BEATS), self.tick, None
            )

    def say(self, what: str) -> None:
        """Send one datagram to the group."""
        self.lan.send(self.group, what, self.address)

    def stop(self) -> None:
        """Say good-bye."""
        if not self.gone:
            self.say("dead")
        self.on = False


class MulticastDiscoveryAgent:
    """One listener of a group: what it knows, and when it heard it last."""

    def __init__(
        self,
        lan: MulticastNetwork,
        uri: str,
        listener: DiscoveryNetworkConnector | DiscoveryTransport,
    ) -> None:
        self.lan, self.listener = lan, listener
        self.group = group_of(uri)
        query = options(uri.partition("?")[2])
        self.interval = number(query, "keepAliveInterval", KEEP_ALIVE) * 1000
        self.last_heard: dict[str, int] = {}
        self.suppressed: dict[str, int] = {}  # until when (us) a failed service is not told of
        self.failures: dict[str, int] = {}
        self.reported: set[str] = set()
        self.initial = number(query, "initialReconnectDelay", 5000) * 1000
        self.maximum = number(query, "maxReconnectDelay", 30_000) * 1000
        self.exponential = flag(query, "useExponentialBackOff", False)
        self.factor = number(query, "backOffMultiplier", 2)
        self.limit = number(query, "maxReconnectAttempts", 0)
        self.own = ""

    def hear(self, what: str, address: str) -> None:
        """A datagram has come."""
        if address == self.own:
            return
        if what == "dead":
            self.forget(address)
            return
        now = self.lan.lab.clock.now
        self.last_heard[address] = now
        if address in self.reported and now - self.suppressed.get(address, now) > FORGIVEN:
            self.failures.pop(address, None)
        if address not in self.reported and now > self.suppressed.get(address, -1):
            if self.limit > 0 and self.failures.get(address, 0) > self.limit:
                return
            self.reported.add(address)
            self.listener.on_service(address)

    def forget(self, address: str) -> None:
        """A service has gone, and with it what is known of its failures."""
        for known in (self.last_heard, self.suppressed, self.failures):
            known.pop(address, None)
        if address in self.reported:
            self.reported.discard(address)
            self.listener.on_service_gone(address)

    def look(self) -> None:
        """Forget what has been silent for too long."""
        now = self.lan.lab.clock.now
        for address, when in list(self.last_heard.items()):
            if now - when > SILENT_INTERVALS * self.interval:
                self.forget(address)

    def failed(self, address: str) -> None:
        """A connection to a service failed: do not tell of it again for a while.

        The exponential mode reckons backOffMultiplier to the power of the failures in **ms**, with
        the default of 2 next to nothing (reference, section 6).
        """
        self.reported.discard(address)
        count = self.failures[address] = self.failures.get(address, 0) + 1
        wait = min(self.factor ** min(count, 63) * 1000, self.maximum) if self.exponential else self.initial
        self.suppressed[address] = self.lan.lab.clock.now + wait


class MulticastNetwork:
    """All groups of one local network."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.listeners: list[MulticastDiscoveryAgent] = []
        self.advertisers: list[AnnouncedService] = []
        self.sniffed: set[tuple[str, str]] = set()
        self.looking = False

    def listen(
        self, uri: str, listener: DiscoveryNetworkConnector | DiscoveryTransport
    ) -> MulticastDiscoveryAgent:
        """Let *listener* hear of the services of a group."""
        heard = MulticastDiscoveryAgent(self, uri, listener)
        self.listeners.append(heard)
        if not self.looking:
            self.looking = True
            self.lab.clock.schedule_background(self.lab.clock.now + KEEP_ALIVE * 1000, self.on_look, None)
        return heard

    def on_look(self, _: None) -> None:
        """Let everybody look for silent services."""
        for listener in list(self.listeners):
            listener.look()
        self.lab.clock.schedule_background(self.lab.clock.now + KEEP_ALIVE * 100, self.on_look, None)

    def advertise(self, address: str, uri: str, process: BrokerService | None) -> None:
        """Announce a service from now on."""
        self.advertisers.append(AnnouncedService(self, address, uri, process))

    def withdraw(self, address: str) -> None:
        """Say good-bye for a service."""
        for advertiser in self.advertisers:
            if advertiser.address == address:
                advertiser.stop()

    @property
    def expects(self) -> bool:
        """Whether somebody will hear of a service that it does not know yet."""
        return any(
            advertiser.group == listener.group
            and not advertiser.gone
            and advertiser.address not in (*listener.reported, *listener.suppressed, listener.own)
            for listener in self.listeners
            for advertiser in self.advertisers
        )

    def send(self, group: tuple[str, str], what: str, address: str) -> None:
        """Carry a datagram to all who listen to *group*."""
        if group in self.sniffed:
            text = f"{group[1]}.ActiveMQ-4.{what}.%localhost%{self.lab.directory.shown_url(address)}"
            self.lab.record(Kind.Announced, rule=Reason.multicast, detail={"text": text})
        for listener in list(self.listeners):
            if listener.group == group and not self.lab.loses():
                self.lab.clock.schedule(self.lab.clock.now, self.deliver, (listener, what, address))

    def deliver(self, datagram: tuple[MulticastDiscoveryAgent, str, str]) -> None:
        """A datagram has come to one listener."""
        listener, what, address = datagram
        if listener in self.listeners:
            listener.hear(what, address)
