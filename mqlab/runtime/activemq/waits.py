"""What the waiting steps of a script wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mqlab.spec.step import Step

if TYPE_CHECKING:
    from mqlab.runtime.activemq.snapshot import Scene


def master(lab: Scene, step: Step) -> bool:
    """Whether one of the brokers is the master."""
    return any(lab.processes[name].role == "master" for name in step.keys["brokers"])


def role(lab: Scene, step: Step) -> bool:
    """Whether a broker has a role."""
    return lab.processes[step.keys["broker"]].role == str(step.keys["role"])


def connected(lab: Scene, step: Step) -> bool:
    """Whether a client has a connection, to the named broker if one is named."""
    client = lab.clients_by_name[step.keys["client"]]
    if client.state != "connected" or client.connected_to is None:
        return False
    return step.get("to") in (None, client.connected_to)


def received(lab: Scene, step: Step) -> bool:
    """Whether a consumer has received so many messages."""
    return len(lab.consumers_by_name[step.keys["consumer"]].received) >= int(step.keys["count"])


def bridge(lab: Scene, step: Step) -> bool:
    """Whether the bridge from one broker to another is up."""
    names = {p.member.broker_name: name for name, p in lab.processes.items()}
    to = names.get(step.keys["to"], step.keys["to"])
    home = lab.brokers.get(step.keys["from"])
    up = home is not None and any(bridge.remote.name == to for bridge in home.bridges)
    return up == bool(step.get("up", True))


def configured(lab: Scene, step: Step) -> bool:
    """Whether a client knows so many addresses."""
    transport = lab.clients_by_name[step.keys["client"]].failover
    return transport is not None and len(transport.addresses.configured) == int(step.keys["count"])


def attempts(lab: Scene, step: Step) -> bool:
    """Whether somebody has opened so many sockets."""
    return lab.directory.attempts.get(step.keys["by"], 0) >= int(step.keys["count"])


def acts(lab: Scene, step: Step) -> bool:
    """Whether all calls in the background have come back."""
    return all(call.done for call in lab.acts.calls if call.step.get("in_background"))


WAITS: dict[str, Callable[[Scene, Step], bool]] = {
    "wait_master": master, "wait_role": role, "wait_connected": connected,
    "wait_received": received, "wait_bridge": bridge, "wait_configured": configured,
    "wait_attempts": attempts, "wait_acts": acts,
}  # fmt: skip
