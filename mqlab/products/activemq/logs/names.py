"""Names in logs: which broker has an address or an ID, which connector a bridge is of, what consumers read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from mqlab.products.activemq.logs.lines import Log, Said

_HOST = re.compile(r"//+(?:[^@/]*@)?(\[[^\]]*\]|[^:/?@)]*):(\d+)")


@dataclass
class Known:
    """What is known of names from all lines: who has which address, broker ID, connector and subscription."""

    remotes: dict[tuple[str, str], str] = field(default_factory=dict)  # broker, address of a bridge -> remote
    hosts: dict[str, str] = field(default_factory=dict)  # host:port -> broker
    ids: dict[str, str] = field(default_factory=dict)  # broker ID -> broker
    backs: dict[tuple[str, str], str] = field(
        default_factory=dict
    )  # broker, address -> the other end's connector
    connectors: dict[str, dict[str, set[str]]] = field(
        default_factory=dict
    )  # broker -> connector -> its addresses
    destinations: dict[str, str] = field(default_factory=dict)  # consumer -> destination
    clients: dict[str, str] = field(default_factory=dict)  # connection -> client ID, as advisories have it
    replaced: set[str] = field(default_factory=set)  # consumers of bridges that made room for a better route

    @staticmethod
    def of(logs: Iterable[Log], said: Iterable[Said]) -> Known:
        """Return what lines tell of names."""
        known, asked = Known(), defaultdict[str, list[str]](list)
        for one in said:
            words, broker = one.words, one.broker
            address = words.get("address", "")
            match one.what:
                case "starting" | "started" if "id" in words:  # 5.5 has it with the second alone
                    known.ids[words["id"]] = broker
                case "up":
                    known.remotes[broker, address] = words["remote"]
                    if "back" in words:
                        known.backs[broker, address] = words["back"]
                    elif host := host_of(address):
                        known.hosts[host] = words["remote"]
                case "asked":
                    asked[broker].append(host_of(address))
                case "connector":
                    named = known.connectors.setdefault(broker, {})
                    taken = {host for hosts in named.values() for host in hosts}
                    reached = (host for host in asked.pop(broker, ()) if host not in taken)
                    named.setdefault(words["connector"], set()).update(reached)
                case "connection":
                    known.clients[words["id"]] = words["client"]
                case "demand" | "consumer" if "destination" in words:
                    known.destinations[words["sub"]] = words["destination"]
                case "replaced":
                    known.replaced.add(words["sub"])
                case "bridging":
                    known.destinations[words["sub"]] = words["destination"]
        for log in logs:
            known.destinations |= log.destinations
        same = [pair for log in logs for pair in log.same]
        while found := {own: known.destinations[to] for own, to in same if to in known.destinations}.items() - (
            known.destinations.items()
        ):  # a bridge's consumer may be for one of another bridge
            known.destinations |= dict(found)
        return known

    def link(self, broker: str, address: str, remote: str) -> str:
        """Return what a bridge is called: by its connector, where the logs tell which one that is."""
        if (broker, address) in self.backs:
            return f"{remote}/{self.backs[broker, address]} (duplex back)"
        own = self.connectors.get(broker, {})
        host = host_of(address)
        named = [name for name, hosts in own.items() if host in hosts] or list(own)
        return f"{broker}/{named[0]}" if len(named) == 1 else f"{broker} to {remote}"

    def broker_at(self, address: str) -> str:
        """Return the broker at an address, or its host and port."""
        host = host_of(address)
        return self.hosts.get(host, host or address)


def host_of(address: str) -> str:
    """Return host:port of an address as logs write it.

    >>> host_of("tcp:///127.0.0.1:62617@35244"), host_of("ssl://b.example:61617?x=1")
    ('127.0.0.1:62617', 'b.example:61617')
    """
    match = _HOST.search(address)
    return f"{match[1]}:{match[2]}" if match else ""
