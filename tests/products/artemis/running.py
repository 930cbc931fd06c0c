"""Two real Artemis brokers in a cluster, with their consoles and messages that wait, for tests."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import stomp

from mqlab.real import ports
from mqlab.real.install import install
from mqlab.real.processes import Processes
from tests.products.activemq.running import PASSWORD, USER

VERSION = "2.31.2"
UP = "AMQ241004"  # the console is there
FEW = "-Xms64M -Xmx384M -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


def distribution(folder: Path) -> Path:
    """Return the folder of a distribution, which Maven brings into *folder*."""
    return install(f"artemis:{VERSION}", folder).folder


class Cluster(Processes):
    """Brokers A and B as `artemis create` makes them, and so with max-hops 0."""

    def __init__(self, home: Path) -> None:
        super().__init__(("A", "B"))
        self.home = home
        self.consoles = dict(zip(self.names, ports.take(self.host, len(self.names)), strict=True))

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        ports.give_back(self.consoles.values())

    def made(self, name: str) -> Path:
        """Return the folder of a broker as the product makes it: with a folder for its log."""
        return self.own[name] / "instance"

    def prepare(self, name: str) -> None:
        super().prepare(name)
        core, own = self.ports[name][0], self.made(name)
        (other,) = (self.ports[one][0] for one in self.names if one != name)
        asked = [
            self.home / "bin" / "artemis", "create", "--silent", "--name", name,
            "--user", USER, "--password", PASSWORD, "--require-login",
            "--clustered", "--cluster-user", "cluster", "--cluster-password", "cluster",
            "--static-cluster", f"tcp://{self.host}:{other}", "--host", self.host,
            "--default-port", core, "--http-port", self.consoles[name], "--no-autotune",
            "--no-amqp-acceptor", "--no-mqtt-acceptor", "--no-hornetq-acceptor", "--disable-persistence", own,
        ]  # fmt: skip
        said = self.ask([*map(str, asked)])
        assert (own / "bin").is_dir(), said
        file, profile = own / "etc" / "broker.xml", own / "etc" / "artemis.profile"
        file.write_text(file.read_text().replace(":61613?", f":{self.ports[name][1]}?"))
        text = re.sub(r"-Xms\S+ -Xmx\S+", FEW, profile.read_text())
        profile.write_text(re.sub(r"-XX:\+Use(G1GC|StringDeduplication)", "", text))

    def command(self, name: str) -> list[str]:
        return [str(self.made(name) / "bin" / "artemis"), "run"]

    def serves(self, name: str) -> bool:
        return UP in self.log(name) and super().serves(name)

    def waits(self, said: Sequence[str]) -> bool:
        return False

    def address(self, name: str) -> str:
        """Return where a broker's management is, with user and password."""
        user = f"{USER}:{PASSWORD.replace('/', '%2F').replace('@', '%40')}"
        return f"jolokia:http://{user}@localhost:{self.consoles[name]}/console/jolokia"

    def client(self, broker: str) -> stomp.Connection12:
        """Return a connection of a client."""
        connection = stomp.Connection12([(self.host, self.ports[broker][1])])
        connection.connect(USER, PASSWORD, wait=True)
        return connection


def messages_wait(brokers: Cluster) -> stomp.Connection12:
    """Send four messages to A whose consumer is at B, and return this consumer's connection."""
    reader, sender = brokers.client("B"), brokers.client("A")
    anycast = {"destination-type": "ANYCAST", "subscription-type": "ANYCAST"}
    reader.subscribe("ORDERS", id="1", ack="auto", headers=anycast)
    time.sleep(2)  # until A has heard of it
    for no in range(4):
        name = sender.begin()
        sender.send("ORDERS", str(no), transaction=name, headers={"persistent": "true", **anycast})
        sender.commit(name)
    sender.disconnect()
    return reader
