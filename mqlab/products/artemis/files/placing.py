"""A user's own `broker.xml`, made ready to run on this machine: ports, addresses and folders change.

Security is switched off, too: the clients of a comparison have no users. What a real broker does with such a
file tells what the reader of the lab has overlooked; a file that the lab has written anew could not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mqlab.files.editing import Putting, attribute, holder, removed, written
from mqlab.files.markup import Edit, Element, edited, plain, prefixed, quoted
from mqlab.products.artemis.files.core import CONNECTIONS, Core, Directory

FOLDERS = ("paging", "bindings", "journal", "large-messages")
# As JMS clients of the product have it (consumerWindowSize, 1 MiB): STOMP's own default is 10 KiB.
STOMP = "protocols=STOMP;anycastPrefix=/queue/;multicastPrefix=/topic/;stompConsumerCredits=1048576"
_PLACE = re.compile(r"(?<=://)[^/?,;()]*")
_SETTINGS = {"security-enabled": "false"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a broker runs: its host, its port and that of STOMP, and the folder of its data."""

    host: str
    port: int
    stomp: int
    data: str

    def settings(self) -> dict[str, str]:
        """Return element -> text of what is set in every file."""
        return {f"{kind}-directory": f"{self.data}/{kind}" for kind in FOLDERS} | _SETTINGS


def texts(cores: Mapping[str, Core], hosts: Mapping[str, str], places: Mapping[str, Place]) -> dict[str, str]:
    """Return broker -> its file for its place, of those that have one."""
    directory = Directory(cores, hosts)
    return {
        name: edited(
            core.document.text,
            prefixed(core.document, core.element, _edits(name, core, directory, places)),
        )
        for name, core in cores.items()
        if name in places
    }


def _edits(name: str, core: Core, directory: Directory, places: Mapping[str, Place]) -> Iterator[Edit]:
    put, document, place = Putting(core.document), core.document, places[name]

    def moved(address: str) -> str:
        there = places.get(directory.broker_at(address) or "")
        return address if there is None else _PLACE.sub(f"{there.host}:{there.port}", address, count=1)

    for connector in core.element.below("connectors", "connector"):
        address = core.text(connector)
        if (new := moved(address)) != address:
            yield from written(document, connector, new)
    # A connection that never comes up is logged without end, so that no run of real brokers would come to rest.
    for above, element, key in (
        ("cluster-connections", CONNECTIONS[1], "address"),
        ("broker-connections", "amqp-connection", "uri"),
    ):
        for connection in core.element.below(above, element):
            inside = core.attribute(connection, key)
            new = re.sub(r"\w+://[^/?,;()]+", lambda found: moved(found[0]), inside)
            if new != inside:
                yield from attribute(document, connection, key, new)
    yield from _acceptors(core, place, put)
    if core.note is not None:
        before = document.text[: core.note.start]
        yield Edit(len(before.rstrip()), core.note.end, "")
    for element, text in place.settings().items():
        there = core.element.first(element)
        if there is None:
            yield from put(core.element, f"<{element}>{plain(text)}</{element}>\n")
        else:
            yield from written(document, there, text)
    yield from put.rest()


def _acceptors(core: Core, place: Place, put: Putting) -> Iterator[Edit]:
    """Yield the edits after which a broker listens at its place for its clients and STOMP, and nowhere else."""
    own: Element | None = None
    for one in core.element.below("acceptors", "acceptor"):
        address = core.text(one)
        if own is None and address.startswith("tcp:"):
            own = one
            yield from written(core.document, one, _PLACE.sub(f"{place.host}:{place.port}", address, count=1))
        elif not address.startswith("vm:"):
            yield removed(core.document, one)
    lines = _acceptor("stomp", f"tcp://{place.host}:{place.stomp}?{STOMP}")
    if own is None:
        lines = _acceptor("artemis", f"tcp://{place.host}:{place.port}") + lines
    there = core.element.first("acceptors")
    if there is None:
        yield from put(core.element, holder("acceptors", lines))
    elif own is None:
        yield from put(there, lines)
    else:  # those behind it are taken out, so that the end of the list is no place
        yield Edit(own.end, own.end, "\n" + lines.rstrip("\n"))


def _acceptor(name: str, address: str) -> str:
    return f"<acceptor name={quoted(name)}>{plain(address)}</acceptor>\n"
