"""The state of a timed scenario under a label, in the form of the recordings' snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.activemq.queue import Queue

if TYPE_CHECKING:
    from mqlab.runtime.activemq.clients.client import Client
    from mqlab.runtime.activemq.process import Process
    from mqlab.runtime.activemq.timed import FailoverLab


def take(lab: FailoverLab) -> dict[str, Any]:
    """Return roles and depths of brokers, what clients know, what consumers have received."""
    found: dict[str, Any] = {
        "brokers": {n: _broker(p) for n, p in lab.processes.items() if n in lab.script.named},
        "clients": {name: _client(lab, c) for name, c in lab.clients_by_name.items()
                    if c.state != "closed"},
    }  # fmt: skip
    if lab.consumers_by_name:
        found["received_so_far"] = {n: len(c.received) for n, c in lab.consumers_by_name.items()}
    return found


def _broker(process: Process) -> dict[str, Any]:
    row: dict[str, Any] = {"role": process.role}
    if process.paused:
        row["paused"] = True
        return row
    queues = {
        dest.name: len(queue.held) for dest, queue in process.broker.by_name.items()
        if isinstance(queue, Queue) and not dest.is_temporary
    }  # fmt: skip
    if queues and process.role != "down":
        row["queues"] = queues
    return row


def _client(lab: FailoverLab, client: Client) -> dict[str, Any]:
    row: dict[str, Any] = {"connected_to": client.connected_to}
    transport = client.failover
    if transport is not None:
        row["configured"] = [lab.shown_configured(a) for a in transport.known.configured]
        if transport.known.told:
            row["told"] = [lab.shown_configured(a) for a in transport.known.told]
        if transport.spares.held:
            row["backups"] = len(transport.spares.held)
    return row
