"""Which broker an address in a file leads to: its host and port against what the brokers listen on.

An address leads to the broker that listens on just this host and port; or to the one that is called like the
host; or, if the host is this very machine, to the only one that has the port. All others lead nowhere here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mqlab.errors import UnknownName
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.spec import uri as uris
from mqlab.spec.connector import HEARD

PORT = 61616  # of a broker that says nothing else
MACHINE = "127.0.0.1"
ANYWHERE = ("0.0.0.0", "::", "[::]", "*", "")
HERE = ("localhost", "127.0.0.1", "[::1]", "::1", *ANYWHERE)
_HOST = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://(?:[^@/?]*@)?)([^:/?]+)")


@dataclass(frozen=True, slots=True)
class Listener:
    """What a transport connector listens on; no *port* is any."""

    broker: str
    host: str
    port: int | None


class AddressBook:
    """The addresses of brokers, by the name each has in the lab."""

    def __init__(self, found: Mapping[str, BrokerElement], hosts: Mapping[str, str]) -> None:
        self.names = list(found)
        self.called = {broker.name: name for name, broker in reversed(list(found.items()))}
        self.hosts = hosts
        self.listeners = []
        for name, broker in found.items():
            for transport in broker.transports:
                address = uris.read(transport.uri) if transport.openwire else None
                if address is not None and address.scheme != "vm":
                    self.listeners.append(Listener(name, address.host or "", address.port))

    def find(self, host: str, port: int | None, home: str) -> str | None:
        """Return the broker that an address leads to from *home*; None if that is nobody here."""
        if host in self.hosts:
            return str(self.hosts[host])
        there = [at for at in self.listeners if port is None or at.port in (port, None)]
        exact = {at.broker for at in there if at.host.lower() == host.lower()}
        if len(exact) == 1 and host not in HERE:
            return exact.pop()
        if host not in HERE:  # who is called like it, or like the first part of its name
            if host in self.names:
                return host
            first = host.partition(".")[0].lower()
            alike = [name for name in self.names if name.lower() == first]
            return self.called.get(host, alike[0] if len(alike) == 1 else None)
        local = [at.broker for at in there if at.host in HERE]
        if home in local:
            return home
        if len(set(local)) == 1:
            return local[0]
        return None  # not even the broker that is called localhost, as one without a name is

    def ports(self, broker: str) -> list[int]:
        """Return the ports that a broker is known to listen on; none where it may be any."""
        own = [at.port for at in self.listeners if at.broker == broker]
        return [] if None in own else [port for port in own if port is not None]

    def of_client(self, uri: str) -> str:
        """Return a client's address with brokers' names for hosts; raises `UnknownName` for a host of nobody.

        A port that its broker listens on is left out, so that what stays is what a real broker would refuse.
        """

        def there(leaf: uris.Uri) -> str | None:
            host = leaf.host or ""
            name = self.find(host, leaf.port, "")
            if name is None:
                at = {one.broker for one in self.listeners if one.host.lower() == host.lower()}
                if len(at) != 1 and host not in self.names:
                    listed = (f"tcp://{one.host}:{one.port} ({one.broker})" for one in self.listeners)
                    raise UnknownName(f"{leaf} leads to no broker; these files listen on {', '.join(listed)}")
                name = host if len(at) != 1 else at.pop()
            return f"{name}:" if leaf.port in self.ports(name) else name

        return rewritten(uri, there)

    def resolved(self, uri: str, home: str) -> tuple[str, list[str]]:
        """Return an address with brokers' names for hosts, and the hosts that are no broker here."""
        nowhere: list[str] = []

        def there(leaf: uris.Uri) -> str | None:
            name = self.find(leaf.host or "", leaf.port, home)
            if name is None:
                if leaf.host in self.names:  # this machine, and not the broker that is called like it
                    name = MACHINE
                nowhere.append(name or leaf.host or leaf.path or "")
            return name

        return rewritten(uri, there), [host for host in nowhere if host]


def rewritten(uri: str, host_of: Callable[[uris.Uri], str | None]) -> str:
    """Return an address with other hosts, where *host_of* has one for a part; a bad address stays.

    A host with a port of its own, as in ``B:61616``, takes the place of host and port; ``B:`` of both, too.
    """
    address, made, place = uris.read(uri), "", 0
    for leaf in address.leaves() if address is not None else ():
        start = uri.index(leaf.text, place)
        made += uri[place:start]
        place = start + len(leaf.text)
        host = None if leaf.scheme in (*HEARD, "") else host_of(leaf)
        made += leaf.text if host is None else _with_host(leaf.text, host)
    return made + uri[place:]


def _with_host(text: str, host: str) -> str:
    found = _HOST.match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    if ":" in host:
        rest = re.sub(r"\A:\d*", "", rest)
    return found[1] + host.removesuffix(":") + rest
