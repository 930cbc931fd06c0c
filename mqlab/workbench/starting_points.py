"""What a picture can begin with: a figure, a network of one of the guides' shapes, one of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab import products
from mqlab.spec import Consumer, Network, Producer, Queue, Scenario
from mqlab.spec.topology import network
from mqlab.workbench import building

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

FOO = Queue("TEST.FOO")
SIZE, MESSAGES = 5, 12


def figure(id: str) -> Scenario:
    """Return the scenario of a figure; raises `UnknownName`."""
    return products.figure(id).scenario


def topology(name: str, size: int = SIZE, messages: int = MESSAGES) -> Scenario:
    """Return a network of one of the guides' shapes with messages across it; raises `UnknownName`."""
    made = network(name, size)
    # Its connectors lead from the first layer to the second: consumers belong there.
    middle = made.names[-2] if name == "concentrator" else None
    return across(made, messages, middle, title=f"{name}, {len(made.names)} brokers")


def empty() -> Scenario:
    """Return a network with nothing in it, to build in."""
    return across(Network(), title="My network")


def across(made: Network, messages: int = MESSAGES, middle: str | None = None, **about: object) -> Scenario:
    """Return messages from a network's first broker to consumers in its middle and at its last one.

    In an empty network there is nobody to send.
    """
    if not made.names:
        return Scenario.of(made, **about)
    last, first = made.names[-1], made.names[0]
    between = middle or made.names[len(made.names) // 2]
    return Scenario.of(
        made,
        Consumer("C1", on=last, reads=FOO),
        Consumer("C2", on=between, reads=FOO),
        Producer("P", on=first, sends=messages, to=FOO),
        **about,
    )


def new(product: str) -> Scenario:
    """Return the smallest scenario of a product in which a message moves; raises `UnknownName`."""
    body = building.new(product)
    return products.product_of(body).read(body)
