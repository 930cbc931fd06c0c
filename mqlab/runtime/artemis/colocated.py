"""Colocated brokers: a live broker and, in its process, backups of others (AMQ Broker 7.1, 21.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.broker import PORT, Broker
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000
FIRST = 300 * MS


class Colocated:
    """Requests for a place, and what a hosted backup looks like."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab

    def started(self, broker: Broker) -> None:
        """A colocated broker asks for a host as soon as it is live."""
        if broker.element("request_backup"):
            self.lab.soon(broker, FIRST, self._ask)

    def _ask(self, broker: Broker) -> None:
        """Ask the least loaded broker that has a place; else again after the interval, for ever.

        backup-request-retries is read and not counted (artemis-observed.md, section 7).
        """
        if not broker.serves:
            return
        hosts = [o for o in self.lab.brokers.values() if o is not broker and o.serves
                 and o.server.role == "colocated" and self.lab.topology.reach(broker, o)
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
            self.lab.store.start_slave(slave)
        else:
            self.lab.role(slave, "backup_searching")
            self.lab.replication.look(slave)

    def rows(self, host: Broker) -> dict[str, Any]:
        """Return the hosted backups as the recordings write them."""
        return {name: self._row(host, no, name, slave)
                for no, (name, slave) in enumerate(host.hosted.items(), start=1)}  # fmt: skip

    def _row(self, host: Broker, no: int, name: str, slave: Broker) -> dict[str, Any]:
        found = self.lab.state(slave, topology=True)
        if slave.server.policy == "shared_store":
            here = [host.name, "-"] if slave.role == "live" else ["-", host.name]
            found["topology"] = [f"{slave.pair}: live {here[0]}, backup {here[1]}"]
            found["largest_cluster_seen"] = 0
        shift = (
            0 if slave.server.scale_down is not None else no * host.element("backup_port_offset")
        )
        shared = slave.server.policy == "shared_store"
        found["name"] = name
        found["journal"] = (
            f"data-{slave.pair}/journal" if shared else f"data-{host.name}/journal{name}"
        )
        found["acceptors"] = self._acceptors(host, shift) if slave.server.scale_down is None else []
        found["connectors"] = self._connectors(host, shift)
        return found

    def _acceptors(self, host: Broker, shift: int) -> list[str]:
        return [*self._in_vm(host, shift), f"netty tcp {PORT + shift}"]

    def _connectors(self, host: Broker, shift: int) -> list[str]:
        kept = host.element("excludes") or ()
        names = [host.name, *(f"to_{other}" for other in sorted(self.lab.brokers)
                              if other != host.name)]  # fmt: skip
        rows = [f"{name} tcp {PORT + (0 if name in kept else shift)}" for name in names]
        return [rows[0], *self._in_vm(host, shift), *rows[1:]]

    @staticmethod
    def _in_vm(host: Broker, shift: int) -> list[str]:
        keys = host.server.keys
        if "in_vm_connector" not in keys:
            return []
        return [f"{keys['in_vm_connector']} vm {keys.get('in_vm_id', 0) + shift}"]
