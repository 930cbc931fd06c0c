"""The ordinary network of a running one: as management tells it, and with what only its files say."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from mqlab.errors import BadFile
from mqlab.products.activemq import files
from mqlab.products.activemq.files.addresses import HERE, rewritten
from mqlab.products.activemq.files.elements import BrokerElement, ConnectorElement
from mqlab.products.activemq.live import reading
from mqlab.spec import uri as uris
from mqlab.spec.around import Around, Endpoint
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.network import Broker, Network
from mqlab.spec.option import DEFAULT_EDITION, edition_of
from mqlab.spec.origin import SourceFile
from mqlab.spec.rows import OPTIONS
from mqlab.spec.running import Running, RunningConnector


def read(
    consoles: Sequence[str],
    sources: tuple[SourceFile, ...],
    values: Mapping[str, str],
    hosts: Mapping[str, str],
) -> Network:
    """Return the network that runs, with what stands in it as its `running`.

    Options are those of the running brokers; what management does not tell, such as lists of destinations and
    policies, is as the files have it. Raises `CannotRun` if no broker can be read, `BadFile` for files.
    """
    running = reading.read(consoles)
    plain = files.read(sources, values, hosts) if sources else Network()
    written = _by_name(plain)
    maker = _Maker(running, plain, written)
    names = dict.fromkeys(
        [*(one.name for one in running.brokers), *(one.remote for one in running.bridges), *plain.names]
    )
    brokers = [maker.broker(name) for name in names]
    ends = [end for end in plain.around.endpoints if end.name not in names]
    known = {end.name for end in ends}
    ends += [Endpoint(host) for host in maker.nowhere if host not in known and host not in names]
    around = Around(tuple(ends), plain.around.lines, plain.around.files)
    edition, notes = _edition(running)
    notes += maker.notes
    return Network(*brokers, edition=edition, around=around, origin=plain.origin, running=running.noted(*notes))


def _by_name(plain: Network) -> dict[str, BrokerElement]:
    """Return what files say of brokers, by the names that these have themselves; raises `BadFile` for two."""
    found: dict[str, BrokerElement] = {}
    for broker in files.sources(plain).values():
        if broker.name in found:
            both = f"{found[broker.name].document.where} and {broker.document.where}"
            raise BadFile(f"two files are of broker {broker.name!r}: {both}; give the one that it runs with")
        found[broker.name] = broker
    return found


def _edition(running: Running) -> tuple[str, list[str]]:
    """Return the edition by which the lab plays, and what is to be said of it."""
    versions = list(dict.fromkeys(broker.version for broker in running.brokers))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = edition_of(versions[0]) if versions[0] else DEFAULT_EDITION
    notes = [str(one.message) for one in told]
    if len(versions) > 1:
        notes.append(
            f"the brokers are of several versions ({', '.join(versions)}); the lab plays all as {found}"
        )
    return found, notes


class _Maker:
    """Makes the brokers of the network."""

    def __init__(self, running: Running, plain: Network, written: Mapping[str, BrokerElement]) -> None:
        self.running, self.plain, self.written = running, plain, written
        self.edition = _edition(running)[0]
        self.nowhere: dict[str, None] = {}
        self.notes: list[str] = []
        self.persistent = {one.name: one.persistent for one in running.brokers}
        read = [(one.name, uris.read(uri)) for one in running.brokers for _, uri in one.transports]
        self.ports = [(name, address) for name, address in read if address is not None]

    def broker(self, name: str) -> Broker:
        """Return a broker: with the connectors that it runs, or those of its file if it was not read."""
        base = self.plain.broker(name) if name in self.plain.names else Broker(name)
        if name not in self.persistent:
            if name in self.written:
                self.notes.append(f"broker {name} was not read while it runs: it is as its file says")
            return base
        mine = {one.name: one for one in self.running.connectors if one.broker == name}
        elements = {one.name: one for one in self.written[name].connectors} if name in self.written else {}
        noun = {connector.name: connector for connector in base.connectors}
        ordered = [mine[own] for own in dict.fromkeys([*elements, *mine]) if own in mine]
        found = (self.connector(one, elements.get(one.name), noun.get(one.name)) for one in ordered)
        made = [connector for connector in found if connector is not None]
        store = {} if self.persistent[name] else {"store": "memory"}
        return base.replace(*made, **store)

    def connector(
        self, running: RunningConnector, element: ConnectorElement | None, noun: NetworkConnector | None
    ) -> NetworkConnector | None:
        """Return a connector with the options that it runs with, and what else its file says.

        Of one that has neither a bridge nor a file, where it leads is unknown: there is none.
        """
        options = {**(noun.options if noun else {}), **_changed(running, noun, self.edition)}
        remotes = {
            one.address: one.remote
            for one in self.running.bridges
            if (one.broker, one.connector) == (running.broker, running.name) and not one.by_duplex
        }
        if element is not None:
            uri = rewritten(element.uri, lambda leaf: self._leads(leaf, remotes, running.broker))
            return NetworkConnector(running.name, uri, **options)
        if not remotes:
            self.notes.append(
                f"{running.broker}/{running.name} is left out: no bridge stands, and management does not tell "
                f"where it leads; give the file of {running.broker}"
            )
            return None
        ends = ",".join(f"tcp://{name}:61616" for name in dict.fromkeys(remotes.values()))
        return NetworkConnector(running.name, f"static:({ends})", **options)

    def _leads(self, leaf: uris.Uri, remotes: Mapping[str, str], home: str) -> str:
        """Return the broker that a part of an address leads to; an endpoint, called like the host, for none."""
        for address, remote in remotes.items():
            told = uris.read(address)
            if told is not None and (told.host, told.port) == (leaf.host, leaf.port):
                return remote
            if len(remotes) == 1 and told is not None and leaf.port is not None and told.port == leaf.port:
                return remote
        there = [
            name
            for name, at in self.ports
            if at.port == leaf.port and name != home and (at.host == leaf.host or leaf.host in HERE)
        ]
        host = leaf.host or "unknown"
        if len(set(there)) == 1:
            return there[0]
        if host not in self.plain.names and host not in self.persistent:
            self.nowhere[host] = None
        return host


def _changed(running: RunningConnector, noun: NetworkConnector | None, edition: str) -> dict[str, object]:
    """Return the options of a running connector that differ from its file, or else from the defaults."""
    told = dict(running.options)
    if noun is None and (ttl := told.get("message_ttl")) == told.get("consumer_ttl"):
        told = {key: value for key, value in told.items() if key not in ("message_ttl", "consumer_ttl")}
        told["network_ttl"] = ttl
    base = noun or NetworkConnector("default", "static:(tcp://unread:0)")
    rows = OPTIONS["networkConnector"]
    return {
        name: value
        for name, value in told.items()
        if value is not None and name in rows and base.get(name, edition) != value
    }
