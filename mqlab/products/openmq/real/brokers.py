"""Open Message Queue's brokers as processes: an instance each, with the properties of the lab's files.

Clients speak STOMP, which the broker's STOMP bridge serves. Brokers of a cluster refuse loopback addresses, so
they listen at an address of this machine.
Sources: Administration Guide 4.x, chapter 3 (starting brokers), chapter 12 (the STOMP bridge),
chapter 16 (imqbrokerd, imqcmd).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence

from mqlab.errors import CannotRun
from mqlab.products.openmq.files import placing
from mqlab.real.home import Home
from mqlab.real.processes import JAVA_OPTIONS, LOOPBACK, Processes, differences
from mqlab.spec.openmq import OpenMQNetwork

_READY = re.compile(r"Broker .*:\d+.* ready")
_LINKED = re.compile(r":(\d+)\s+OPERATING")
_MESSAGES = re.compile(r"Current Number of Messages\s*:?\s+Actual\s*:?\s+(\d+)(?:\s+Remote\s*:?\s+(\d+))?")
_NO_DESTINATION = "Could not locate destination"
_PASSWORDS = "imq.imqcmd.password=admin\nimq.bridge.admin.password=admin\n"
_BRIDGE = {
    "imq.bridge.enabled": "true",
    "imq.bridge.activelist": "stomp",
    "imq.bridge.admin.user": "admin",
    "imq.bridge.stomp.tcp.enabled": "true",
}
_NO_ROUTE = ("192.0.2.1", 9)  # a documentation address: nothing is sent there


class OpenMQBrokers(Processes):
    """The brokers of a cluster of Open Message Queue."""

    def __init__(self, cluster: OpenMQNetwork, home: Home) -> None:
        self.host = own_address() if len(cluster.brokers) > 1 else LOOPBACK
        super().__init__([member.name for member in cluster.brokers])
        self.cluster, self.home = cluster, home
        self.passwords = self.folder / "passwords"
        self.passwords.write_text(_PASSWORDS, encoding="utf-8")
        at = {name: f"{self.host}:{own}" for name, (own, _) in self.ports.items()}
        self.found = placing.placed(cluster, at)
        if cluster.origin is not None:
            before = placing.written(cluster)
            self.changes = differences(
                (f"{name}: properties", _lines(before[name]), name, _lines(self.properties(name)))
                for name in self.names
            )

    def properties(self, name: str) -> Mapping[str, str]:
        """Return a broker's properties: those of its files, at addresses of this machine."""
        stomp = {
            "imq.hostname": self.host,
            "imq.bridge.stomp.hostname": self.host,
            "imq.bridge.stomp.tcp.port": str(self.ports[name][1]),
        }
        return {**self.found[name], **_BRIDGE, **stomp}

    def command(self, name: str) -> list[str]:
        """Return the command that runs a broker's instance, in a folder of its own."""
        instance = f"broker{self.names.index(name) + 1}"
        return [
            str(self.home.starter),
            "-tty",
            "-name",
            instance,
            "-port",
            str(self.ports[name][0]),
            "-varhome",
            str(self.own[name]),
            "-passfile",
            str(self.passwords),
            "-vmargs",
            " ".join(JAVA_OPTIONS),
            *(f"-D{key}={value}" for key, value in self.properties(name).items()),
        ]

    def serves(self, name: str) -> bool:
        """Whether a broker has said that it is ready, and its STOMP bridge answers."""
        return any(_READY.search(line) for line in self.said(name)) and super().serves(name)

    def waits(self, said: Sequence[str]) -> bool:
        """No broker waits for its turn: one that starts serves."""
        return False

    def linked(self, name: str) -> set[str]:
        """Return the brokers of the cluster that operate, as this one sees it: ``imqcmd list bkr``."""
        ports = {str(own): other for other, (own, _) in self.ports.items()}
        seen = _LINKED.findall(self.administer(name, "list", "bkr"))
        return {ports[port] for port in seen if port in ports}

    def administer(self, name: str, *words: str) -> str:
        """Return what ``imqcmd`` prints at a broker."""
        at = f"{self.host}:{self.ports[name][0]}"
        imqcmd = self.home.folder / "bin" / "imqcmd"
        who = ("-u", "admin", "-passfile", self.passwords)
        return self.ask([imqcmd, *words, "-b", at, *who, "-f"])

    def held(self, name: str, destination: str) -> dict[str, int]:
        """Return how many messages of a destination a broker has, and how many of them are another's."""
        kind, _, queue = destination.partition("://")
        return messages_in(self.administer(name, "query", "dst", "-t", kind[0], "-n", queue))


def _lines(properties: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in properties.items())


def messages_in(text: str) -> dict[str, int]:
    """Return the messages that ``imqcmd query dst`` tells; raises `CannotRun` where it tells none.

    >>> messages_in("Current Number of Messages\\n    Actual     5\\n    Remote     2")
    {'messages': 5, 'remote': 2}
    >>> messages_in("Could not locate destination Q")
    {'messages': 0, 'remote': 0}
    """
    if _NO_DESTINATION in text:
        return {"messages": 0, "remote": 0}
    found = _MESSAGES.search(text)
    if found is None:
        raise CannotRun(f"'imqcmd query dst' printed no message count:\n{text[-600:]}")
    return {"messages": int(found[1]), "remote": int(found[2] or 0)}


def own_address() -> str:
    """Return an address of this machine that is none of its loopback; raises `CannotRun` without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(_NO_ROUTE)
            found = str(one.getsockname()[0])
        except OSError:
            found = LOOPBACK
    if found.startswith("127."):
        raise CannotRun(
            "Open Message Queue refuses to form a cluster on loopback addresses, and this machine has no "
            "others; connect it to a network"
        )
    return found
