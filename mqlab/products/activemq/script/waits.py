"""What `WaitUntil` waits for, and what a rest has to wait for."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import TYPE_CHECKING

from mqlab.engine.limits import LONGEST_REST
from mqlab.engine.unfinished import unfinished
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.values import told_time

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab

About = JsonObject  # what a `WaitUntil` is about


def master(lab: Lab, about: About) -> bool:
    """Whether one of the brokers is the master."""
    return any(lab.processes[name].role == "master" for name in about["brokers"])


def role(lab: Lab, about: About) -> bool:
    """Whether a broker has a role."""
    return lab.processes[about["broker"]].role == str(about["role"])


def connected(lab: Lab, about: About) -> bool:
    """Whether a client has a connection, to the named broker if one is named."""
    client = lab.clients_by_name[about["client"]]
    if client.state != "connected" or client.connected_to is None:
        return False
    return about.get("to") in (None, client.connected_to)


def received(lab: Lab, about: About) -> bool:
    """Whether a consumer has received so many messages."""
    return lab.consumers[about["consumer"]].count >= int(about["count"])


def bridge(lab: Lab, about: About) -> bool:
    """Whether the bridge from one broker to another is up: it was told so, and not told that it is down."""
    names = {p.member.broker_name: name for name, p in lab.processes.items()}
    to = names.get(about["to"], about["to"])
    home = lab.processes.get(about["from"])
    up = home is not None and home.role != "down" and home.bridged.get(str(to)) == home.incarnation
    return up == bool(about.get("up", True))


def configured(lab: Lab, about: About) -> bool:
    """Whether a list of a fail-over client is so long: `uris` (configured), `updated` or `backups`."""
    transport = lab.clients_by_name[about["client"]].failover
    if transport is None:
        return False
    addresses = transport.addresses
    known: dict[str, Sized] = {"updated": addresses.updated, "backups": transport.backups.backups}
    return len(known.get(about.get("list", "uris"), addresses.configured)) == int(about["count"])


def attempts(lab: Lab, about: About) -> bool:
    """Whether somebody has opened so many sockets, to whatever is named."""
    by, to = about.get("by"), about.get("to")
    opened = lab.directory.attempts.items()
    found = sum(number for (who, where), number in opened if by in (None, who) and to in (None, where))
    return found >= int(about["count"])


def acts(lab: Lab, about: About) -> bool:
    """Whether all calls have come back, those too that the script has left behind."""
    return all(call.done for call in lab.acts.calls)


WAITS: dict[str, Callable[[Lab, About], bool]] = {
    "master": master,
    "role": role,
    "connected": connected,
    "received": received,
    "bridge": bridge,
    "configured": configured,
    "attempts": attempts,
    "acts": acts,
}


def expecting(lab: Lab) -> str:
    """Whom housekeeping will change something for, though nothing moves now; empty if nobody."""
    for process in lab.processes.values():
        if process.locker is not None and process.locker.expects:
            return f"{process.name} will have the lock"
    for attempt in [*lab.trying]:
        connector = attempt.connector
        if not (attempt.waits or attempt.transport is not None) or attempt not in connector.attempts:
            del lab.trying[attempt]  # it is up, or over: of thousands nearly all are
        elif attempt.expects:
            return f"connector {connector.spec.name} of {connector.process.name} will find a broker"
    for client in lab.clients_by_name.values():
        if client.failover is not None and client.failover.expects:
            return f"client {client.name} will find a broker"
    return "a service will be discovered" if lab.lan.expects else ""


def undone(lab: Lab) -> list[JsonDict]:
    """Return what of the script has not happened; clients give up too late for a run to wait for it."""
    rows = unfinished(lab)
    for client in lab.clients_by_name.values():
        transport = client.failover
        if transport is None or not transport.away or transport.stopped or transport.error is not None:
            continue
        if transport.gives_up_in > LONGEST_REST:
            end = (lab.clock.now + transport.gives_up_in) // 1_000_000 + 1
            why = f"still trying to connect at {told_time(lab.clock.now)}; it gives up at about {end} s"
            rows.append({"what": f"Client {client.name}", "why": f"{why}: set until='{end}s'"})
    return rows
