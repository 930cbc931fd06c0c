"""Colocated brokers: a live broker and, in its process, backups of others (AMQ Broker 7.1, 21.3)."""

from __future__ import annotations

from mqlab.products.artemis.broker.broker import Broker, Subsystem
from mqlab.trace.kinds import Kind, Reason

MS = 1000
FIRST = 300 * MS


class Colocated(Subsystem):
    """Who asks for a backup, and who hosts it."""

    def started(self, broker: Broker) -> None:
        """A colocated broker asks for a host as soon as it is live."""
        if broker.spec.role == "colocated" and broker.element("request_backup"):
            self.lab.soon(broker, FIRST, self._ask)

    def _ask(self, broker: Broker) -> None:
        """Ask the least loaded broker that has a place; else again after the interval, for ever.

        backup-request-retries is read and not counted (Artemis rule 7.1).
        """
        hosts = [
            o
            for o in self.lab.brokers.values()
            if o is not broker
            and o.serves
            and o.spec.role == "colocated"
            and broker.reaches(o)
            and len(o.hosted) < o.element("max_backups")
        ]
        if hosts:
            self._host(min(hosts, key=lambda o: len(o.hosted)), broker)
        else:
            interval = broker.element("backup_request_retry_interval") * MS
            self.lab.soon(broker, interval, self._ask)

    def _host(self, host: Broker, requester: Broker) -> None:
        # The product joins the count and "1" as text: _01, _11, _21.
        name = f"colocated_backup_{len(host.hosted)}1"
        slave = Broker(self.lab, host.spec.part("slave", f"{host.name}/{name}"), host)
        host.hosted[name] = slave
        slave.node_id, slave.stored_journal = requester.node_id, host.left_behind.pop(name, None)
        self.lab.event(Kind.Told, requester, to=host.node, rule=Reason.hosted)
        if slave.spec.policy == "shared_store":
            self.lab.store.start(slave)
        else:
            self.lab.replication.search(slave, slave.node_id)
