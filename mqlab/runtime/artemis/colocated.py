"""Colocated brokers: a live broker and, in its process, backups of others (AMQ Broker 7.1, 21.3)."""

from __future__ import annotations

from typing import Any

from mqlab.formats import artemis as files
from mqlab.runtime.artemis.broker import Broker, Room
from mqlab.trace.kinds import Kind, Rule

MS = 1000
FIRST = 300 * MS
PORT = 61616


class Colocated(Room):
    """Requests for a place, and what a hosted backup looks like."""

    def started(self, broker: Broker) -> None:
        """A colocated broker asks for a host as soon as it is live."""
        if broker.server.role == "colocated" and broker.element("request_backup"):
            self.lab.soon(broker, FIRST, self._ask)

    def _ask(self, broker: Broker) -> None:
        """Ask the least loaded broker that has a place; else again after the interval, for ever.

        backup-request-retries is read and not counted (artemis-observed.md, section 7).
        """
        hosts = [o for o in self.lab.brokers.values() if o is not broker and o.serves
                 and o.server.role == "colocated" and broker.reaches(o)
                 and len(o.hosted) < o.element("max_backups")]  # fmt: skip
        if hosts:
            self._host(min(hosts, key=lambda o: len(o.hosted)), broker)
        else:
            interval = broker.element("backup_request_retry_interval") * MS
            self.lab.soon(broker, interval, self._ask)

    def _host(self, host: Broker, requester: Broker) -> None:
        # The product joins the count and "1" as text: _01, _11, _21.
        name = f"colocated_backup_{len(host.hosted)}1"
        slave = Broker(self.lab, host.server.part("slave", f"{host.name}/{name}"), host)
        host.hosted[name] = slave
        slave.pair = requester.pair
        self.lab.event(Kind.Told, requester, to=host.node, rule=Rule.hosted)
        if slave.server.policy == "shared_store":
            self.lab.store.start(slave)
        else:
            self.lab.replication.search(slave, slave.pair)

    def rows(self, host: Broker) -> dict[str, Any]:
        """Return the hosted backups as the recordings write them."""
        return {name: self._row(host, no, name, slave)
                for no, (name, slave) in enumerate(host.hosted.items(), start=1)}  # fmt: skip

    def _row(self, host: Broker, no: int, name: str, slave: Broker) -> dict[str, Any]:
        """Ports are shifted by the offset for each backup; one that scales down takes no client."""
        scales = slave.server.scales_down
        shared = slave.server.policy == "shared_store"
        shift = 0 if scales else no * host.element("backup_port_offset")
        kept = host.element("excludes") or ()
        others = [f"to_{other}" for other in sorted(self.lab.brokers) if other != host.name]
        keys = host.server.keys
        in_vm = [f"{keys['in_vm_connector']} vm {keys.get('in_vm_id', 0) + shift}"
                 for key in keys if key == "in_vm_connector"]  # fmt: skip
        own, *rest = (f"{connector} tcp {PORT + (0 if connector in kept else shift)}"
                      for connector in (host.name, *others))  # fmt: skip
        return {
            **files.state(slave, topology=True), "name": name,
            "journal": f"data-{slave.pair}/journal" if shared else f"data-{host.name}/journal{name}",
            "acceptors": [] if scales else [*in_vm, f"netty tcp {PORT + shift}"],
            "connectors": [own, *in_vm, *rest],
        }  # fmt: skip
