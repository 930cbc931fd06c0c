"""What a picture can begin with: a figure, a network of one of the guides' shapes, one of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import BadFile, MqlabError
from mqlab.products import inputs, traffic
from mqlab.spec import Consumer, Network, Producer, Queue, Scenario
from mqlab.spec.topology import network
from mqlab.workbench import building

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

FOO = Queue("TEST.FOO")
SIZE, MESSAGES = 5, 12
MOST_CLIENTS = 40  # of a default load; where there would be more, there are three clients


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


UNNAMED = "imqbroker"  # what OpenMQ calls a broker whose instance has no name


def opened(files: Sequence[tuple[str, str]]) -> Scenario:
    """Return the scenario of files, each a name and its text: one lab file, or the files of one network.

    A network without traffic gets the default load. Raises `BadFile`, which names files as they are given.
    """
    with TemporaryDirectory() as made:
        folder = Path(made, UNNAMED)  # a broker without a name is called after the folder of its file
        try:
            found = inputs.read(*_written(folder, files))
            if isinstance(found, Scenario):
                return found
            network = inputs.scenario_of(found).network
        except MqlabError as error:
            raise BadFile(str(error).replace(f"{folder}/", "")) from None
    load = traffic.default_load(network)
    return Scenario.of(network, *load) if len(load) <= MOST_CLIENTS else across(network)


def _written(folder: Path, files: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Write files into a folder and return their paths; equal names are kept apart by numbers."""
    if not files:
        raise BadFile("no file was given; choose a lab file (.json) or configuration files")
    paths = list[str]()
    for number, (name, text) in enumerate(files):
        kept = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
        path = folder.joinpath(*kept[-2:])
        if path.exists() or path == folder:
            path = folder / str(number) / path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return tuple(paths)


def new(product: str) -> Scenario:
    """Return the smallest scenario of a product in which a message moves; raises `UnknownName`."""
    body = building.new(product)
    return products.product_of(body).read(body)
