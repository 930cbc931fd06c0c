"""ActiveMQ's brokers as processes: their files, how they are started, and what their logs tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mqlab.files.markup import encoded, encoding_of
from mqlab.products.activemq import files
from mqlab.products.activemq.files.reading import sources
from mqlab.real.home import Home
from mqlab.real.processes import JAVA_OPTIONS, LOOPBACK, Processes, differences
from mqlab.spec import Network
from mqlab.spec.member import BrokerSettings

_LOG4J = """log4j.rootLogger=INFO, out
log4j.logger.org.apache.activemq.network=DEBUG
log4j.logger.org.apache.activemq.broker.region.AbstractRegion=DEBUG
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p %m%n
"""
_LOG4J2 = """rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
logger.network.name=org.apache.activemq.network
logger.network.level=DEBUG
logger.region.name=org.apache.activemq.broker.region.AbstractRegion
logger.region.level=DEBUG
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %-5p %m%n
"""
_PROPERTIES = re.compile(r"file:\$\{activemq\.(?:conf|base)\}/([\w.-]+\.properties)")
_UP = re.compile(r"Network connection between .*:(\d+)(?:@\d+)? .* has been established")
_FAILED = re.compile(r"ERROR (Error in thread .*)\n(.*)")
_QUEUE = re.compile(r"(adding|removing) destination: queue://(\S+)", re.IGNORECASE)


class Brokers(Processes):
    """The brokers of a network of ActiveMQ."""

    def __init__(self, network: Network, home: Home) -> None:
        super().__init__(network.names)
        self.network, self.home = network, home
        shared = str(self.folder / "shared")
        self.at = {
            name: files.Place(LOOPBACK, openwire, stomp, shared, stamped=True)
            for name, (openwire, stomp) in self.ports.items()
        }
        texts = files.write(network, self.at)
        self.values = dict(network.origin.values) if network.origin is not None else {}
        now = dict(zip(network.names, texts.values(), strict=True))
        self.changes = differences(
            (one.document.where, one.document.text, name, now[name]) for name, one in sources(network).items()
        )
        for name, (file, text) in zip(network.names, texts.items(), strict=True):
            own = self.own[name] = self.folder / Path(file).parent
            own.mkdir(parents=True)
            (self.folder / file).write_bytes(encoded(text, encoding_of(text)))
            for beside in _PROPERTIES.findall(text):  # their values are on the command line
                (own / beside).touch()
            (own / "log4j.properties").write_text(_LOG4J)
            (own / "log4j2.properties").write_text(_LOG4J2)

    def command(self, name: str) -> list[str]:
        """Return the command that runs a broker, by its own file alone."""
        base = self.own[name]
        options = {
            "activemq.home": self.home.folder,
            "activemq.base": base,
            "activemq.conf": base,
            "activemq.data": base / "data",
            "java.io.tmpdir": base,
            "log4j.configuration": f"file:{base / 'log4j.properties'}",
            "log4j2.configurationFile": base / "log4j2.properties",
            **self.values,
        }
        return [
            self.home.java,
            *JAVA_OPTIONS,
            *(f"-D{key}={value}" for key, value in options.items()),
            "-jar",
            str(self.home.starter),
            "start",
            "xbean:file:activemq.xml",
        ]

    def rename(self, name: str) -> None:
        """Give a broker a new broker id, as one has that is set up anew; from its next start on."""
        file = self.own[name] / "activemq.xml"
        before = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r'(brokerId="[^"]*)"', r'\1-new"', before), encoding="utf-8")

    def waits(self, said: Sequence[str]) -> bool:
        """Whether it is a slave that waits for the lock."""
        return any("could not be locked" in line or ("lock" in line and "waiting" in line) for line in said)

    def bridges(self) -> int:
        """Return how many bridges have come up so far, each counted where its connector is defined."""
        listening = {place.port for place in self.at.values()}
        ends = (int(port) for name in self.own for port in _UP.findall(self.log(name)))
        return sum(port in listening for port in ends)

    def is_bridged(self, name: str, to: str) -> bool:
        """Whether a bridge of a broker to another has come up since that broker's last start."""
        return str(self.at[to].port) in _UP.findall("\n".join(self.said(name)))

    def role(self, name: str) -> str:
        """Return what a broker is, as the lab calls it."""
        if not self.is_running(name):
            return "down"
        served = "master" if name in sets_of(self.network) else "running"
        return served if self.serves(name) else "slave"

    def failures(self) -> list[str]:
        """Return what ended threads within brokers, as their logs tell.

        ActiveMQ 5.17.2 does so now and then: when an advisory goes to several bridges at once, one thread
        takes away what another one is writing (NullPointerException in tightMarshalByteSequence2), and a
        bridge never hears of a consumer.
        """
        return [
            f"{name}: {what}: {why[:200]}"
            for name in self.names
            for what, why in _FAILED.findall(self.log(name))
        ]

    def queues(self, name: str) -> list[str]:
        """Return the queues that a broker has, as its log says."""
        there: dict[str, None] = {}
        for what, queue in _QUEUE.findall(self.log(name)):
            if what.lower() == "adding":
                there[queue] = None
            else:
                there.pop(queue, None)
        return [queue for queue in there if not any(sign in queue for sign in "*>,")]


def expected_bridges(network: Network, serving: Iterable[str]) -> int:
    """Return how many bridges come up at once between brokers that serve."""
    there = set(serving)
    own = [connector for broker, connector in network.connectors() if broker.name in there]
    found = [(one.uri.startswith("static:(tcp"), len(there.intersection(one.targets))) for one in own]
    return sum(count if each else min(1, count) for each, count in found)


def sets_of(network: Network) -> dict[str, str]:
    """Return broker -> the store that it shares; others are not in it."""
    members = (BrokerSettings.of(broker, network.edition) for broker in network.brokers)
    return {m.name: m.locker.store for m in members if m.locker is not None}
