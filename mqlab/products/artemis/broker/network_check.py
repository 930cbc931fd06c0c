"""The network check: a broker stops itself while no address that it asks answers (`network-check-list`)."""

from __future__ import annotations

from mqlab.products.artemis.broker.broker import Broker


def answers(broker: Broker) -> bool:
    """Whether one of the addresses that a broker's network check asks answers, if it asks any.

    The gateway is that of the URLs; of other addresses only the loopback is there.
    """
    core = broker.spec.keys.get("core", {})
    addresses = str(core.get("network_check_list", "")).split(",")
    loopback = any(address.strip().startswith(("127.", "localhost")) for address in addresses)
    gateway = broker.spec.asks_gateway and broker.lab.gateway.get(broker.name, False)
    return loopback or gateway or not broker.spec.checks_network


def hold(broker: Broker) -> None:
    """A broker that nobody answers at its start waits; a slave has started by then, and stops."""
    broker.stopped_itself = True
    if broker.spec.role == "slave":
        broker.lab.role(broker, "stopped")


def check(broker: Broker) -> None:
    """A broker that finds nobody stops itself; it starts again when somebody answers.

    One that was stopped asks nobody: its process has ended.
    """
    stopped = broker.role == "stopped" and not broker.stopped_itself
    if stopped or broker.role in ("down", "not_started", "paused"):
        return
    if not answers(broker) and not broker.stopped_itself:
        broker.lab.end(broker, orderly=True)
        broker.stopped_itself = True
    elif answers(broker) and broker.stopped_itself:
        broker.lab.start(broker)
