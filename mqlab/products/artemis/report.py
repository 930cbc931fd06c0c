"""What came of a lab's run, in the form of the recordings (Recordings rule 7.4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Journal
from mqlab.products.artemis.broker.paging_store import PagingManager
from mqlab.products.artemis.client.clients import Client
from mqlab.spec.naming import called

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site

PORT = 61616
Told = dict[str, object]  # a part of an outcome


def outcome(lab: Site) -> Told:
    """Return what came of a lab's run so far."""
    consumers, senders = lab.clients.consumers, lab.clients.senders
    sent = {n for client in senders.values() for n in client.sent}  # of consumers nothing is written down
    served = [broker.journal for broker in lab.live_brokers()]
    here = {item.message.number for data in served for _, item in data.items() if item.due <= lab.clock.now}
    kept = [row.message for data in served for mail in data.store_and_forward.values() for row in mail]
    here |= {message.number for message in kept if message.due <= lab.clock.now}
    got = Counter((n, c.dest.is_queue or c.name) for c in consumers.values() for n in c.received)
    return {
        "consumers": {name: _client(client) for name, client in consumers.items()},
        "senders": {name: _client(client) for name, client in senders.items()},
        "waits": lab.waits,
        "files": lab.folders,
        "refused": lab.refused,
        "snapshots": lab.snapshots,
        "lost": sorted(sent - {n for n, _ in got} - here),
        "received_more_than_once": sorted({n for (n, _), times in got.items() if times > 1}),
    }


def never_connected(lab: Site) -> list[dict[str, str]]:
    """Return the clients that never connected, each with where it looked, as a trace's header has it.

    With unlimited attempts a client stays with the address that it began with (Artemis rule 2.10).
    """
    rows = []
    for action in lab.scenario.actions:
        name = getattr(action, "name", "")
        client = lab.clients.consumers.get(name) or lab.clients.senders.get(name)
        if client is None or client.state not in ("new", "failed") or client.node_id:
            continue
        if getattr(action, "on", "") not in ("", *lab.brokers):  # it is on a client, which is told
            continue
        limited = client.options["initial_connect_attempts"] >= 0
        where = " and ".join(client.addresses if limited else client.addresses[:1])
        stays = "" if limited else ", where it stays with unlimited attempts (initialConnectAttempts)"
        slaves = [name for name in client.addresses if lab.brokers[name].role.startswith("backup")]
        if len(slaves) == len(client.addresses):
            stays += f"; {slaves[0]} is a slave, which takes no clients: name its master, too"
        rows.append({"what": called(action), "why": f"never connected: no broker answered at {where}{stays}"})
    return rows


def _client(client: Client) -> Told:
    got = getattr(client, "received", None)
    sent = {"sent": list(client.sent)}
    counts = sent if got is None else {"count": len(got), "received": list(got)}
    told = ("failed" if got is None else "redelivered", "results", "failovers")
    return counts | {key: getattr(client, key) for key in told if getattr(client, key, None)}


def state(broker: Broker, topology: bool) -> Told:
    """Return a broker's state now, with what it believes of its cluster if asked for."""
    # One that waits for its lock is told by what its process has said of itself (Recordings rule 7.4).
    waits = broker.role in ("backup_queued", "backup_holding_lock")
    found: Told = {"role": "backup_announced" if waits and broker.announced else broker.role}
    if broker.voted_out:  # a thread of its own holds what it would have to ask for its role
        found = {"role": "live"}
    has_ended = broker.voted_out or (broker.stopped_itself and broker.role == "stopped")
    if topology and has_ended:  # its process is there
        return {**found, "largest_cluster_seen": broker.max_cluster_size, "topology": []}
    if broker.voted_out:
        return found
    searching = broker.role == "backup_searching"
    if broker.role == "live" or (broker.role.startswith("backup") and not searching):
        found["pair"] = broker.node_id
    if topology and broker.runs:
        if found["role"] != "backup_queued":  # behind another slave, it has not begun to look around
            found["largest_cluster_seen"] = broker.max_cluster_size
        elif broker.hosting_broker is not None:  # its host says nothing of its lock
            found["role"] = "backup"
        found["topology"] = [
            f"{pair}: live {live}, backup {backup}"
            for pair, (live, backup) in sorted(broker.topology.items())
            if not searching and broker.role != "backup_queued" and broker.option("clustered")
        ]
    if broker.role == "live":
        if broker.journal.prepared:
            found["prepared_transactions"] = len(broker.journal.prepared)
        found["queues"] = queues(broker.journal, broker.lab.clock.now)
        if broker.hosted:
            found["hosts"] = {
                name: _hosted(broker, no, name, slave)
                for no, (name, slave) in enumerate(broker.hosted.items(), 1)
            }
    return found


def _hosted(host: Broker, no: int, name: str, slave: Broker) -> Told:
    """Ports are shifted by the offset for each backup; one that scales down takes no client."""
    scales, keys = slave.spec.scales_down, host.spec.keys
    shift = 0 if scales else no * host.element("backup_port_offset")
    others = [f"to_{other}" for other in sorted(host.lab.brokers) if other != host.name]
    in_vm = [f"{keys[key]} vm {keys.get('in_vm_id', 0) + shift}" for key in keys if key == "in_vm_connector"]
    own, *rest = (
        f"{connector} tcp {PORT + shift * (connector not in host.element('excludes'))}"
        for connector in (host.name, *others)
    )
    shared = slave.spec.policy == "shared_store"
    return {
        **state(slave, topology=True),
        "name": name,
        "journal": f"data-{slave.node_id}/journal" if shared else f"data-{host.name}/journal{name}",
        "acceptors": [] if scales else [*in_vm, f"netty tcp {PORT + shift}"],
        "connectors": [own, *in_vm, *rest],
    }


def snapshot(lab: Site, topology: bool) -> Told:
    """Return the state of all brokers now, and how much each consumer has received."""
    return {
        "received_so_far": {n: len(c.received) for n, c in lab.clients.consumers.items()},
        "brokers": {name: state(broker, topology) for name, broker in lab.brokers.items()},
    }


def queues(journal: Journal, now: int) -> dict[str, Told]:
    """Return a broker's queues at *now* (us) as the recordings write them.

    Plain subscribers of one topic have queues of one name: the second is told as `NAME#2`.
    """
    rows: dict[str, Told] = {}
    seen: Counter[str] = Counter()
    for queue in journal.queues.values():
        seen[queue.name] += 1
        due = queue.due(now)
        scheduled = len(queue.waiting) - len(due)
        waiting = [item.message.number for item in due if item.was_read or not item.paged]
        waiting += [number for number in PagingManager.browsed(journal, queue) if number not in waiting]
        rows[f"{queue.name}#{seen[queue.name]}" if seen[queue.name] > 1 else queue.name] = row = {
            "depth": queue.depth,
            "in_flight": len(queue.held) + len(queue.stranded),
            "consumers": len(queue.consumers),
            "enqueued": queue.enqueued,
            "waiting": waiting,
        }
        if queue.held:
            row["delivering"] = sorted(item.message.number for item in queue.held)
        if scheduled:
            row["scheduled"] = scheduled
    return rows
