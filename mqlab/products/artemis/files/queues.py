"""The queues that a file lists, wherever it does, and the edits of those that have changed.

A queue below ``addresses`` has the routing type that it stands in. One of the older ``queues`` is multicast,
and one below ``jms``, beside the core, is anycast and has its own address (2.31.2 makes them so).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mqlab.errors import BadFile, shown
from mqlab.files.editing import Putting, attribute, holder, removed, written
from mqlab.files.markup import Edit, Element, tag
from mqlab.products.artemis.files.core import Core
from mqlab.products.artemis.files.new_file import MOST, PURGE, one_queue
from mqlab.products.artemis.files.policy import leaf
from mqlab.spec.artemis.broker import AddressQueue


@dataclass(frozen=True, slots=True)
class Listed:
    """A queue in a file: its name, routing and address, its element, and the one that goes with it."""

    plain: tuple[str, str, str]
    element: Element
    address: Element
    selector: str = "filter"  # the element that has its selector


def listed(core: Core) -> Iterator[Listed]:
    """Yield the queues of a file; raises `BadFile` for one without a name."""
    for address in core.element.below("addresses", "address"):
        called = _named(core, address)
        for routing in address.all("anycast", "multicast"):
            for queue in routing.all("queue"):
                yield Listed((_named(core, queue), routing.name, called), queue, address)
    for queue in core.element.below("queues", "queue"):
        at, name = queue.first("address"), _named(core, queue)
        yield Listed((name, "multicast", name if at is None else core.text(at) or name), queue, queue)
    for jms in core.document.root.all("jms") if core.element is not core.document.root else ():
        for queue in jms.all("queue"):
            name = _named(core, queue)
            yield Listed((name, "anycast", name), queue, queue, "selector")


def _named(core: Core, element: Element) -> str:
    name = core.attribute(element, "name")
    if not name:
        raise BadFile(
            f"{core.document.where}, line {element.line}, {element.name}: the name is missing; add name=..."
        )
    return name


def read(core: Core) -> list[AddressQueue]:
    """Return the queues that are listed."""
    return [_queue(core, one) for one in listed(core)]


def _queue(core: Core, one: Listed) -> AddressQueue:
    name, routing, address = one.plain
    selectors = (core.attribute(child, "string") for child in one.element.all(one.selector))
    most = core.attribute(one.element, MOST) or "-1"
    if not most.removeprefix("-").isdecimal():
        place = f"{core.document.where}, line {one.element.line}, queue"
        raise BadFile(f"{place}: {MOST} is {shown(most)}; expected a whole number")
    return AddressQueue(
        name,
        routing=routing,
        address=None if address == name else address,
        filter=next(filter(None, selectors), None),  # an empty one is none
        purge_on_no_consumers=core.attribute(one.element, PURGE) == "true",
        max_consumers=None if int(most) < 0 else int(most),
        durable=all(core.text(child) != "false" for child in one.element.all("durable")),
    )


def queue_edits(
    core: Core, put: Putting, was: Iterable[AddressQueue], now: Iterable[AddressQueue]
) -> Iterator[Edit]:
    """Yield the edits by which a file that lists the queues of *was* lists those of *now*."""
    before, after = ({queue.plain: queue for queue in queues} for queues in (was, now))
    there = {one.plain: one for one in reversed([*listed(core)])}
    yield from (_removed(core, there[key]) for key in before if key not in after)
    made = ""
    for key, queue in after.items():
        if key in before:
            yield from _changed(core, put, there[key], before[key], queue)
            continue
        _, routing, address = key
        at = _address_of(core, address)
        holds = None if at is None else at.first(routing)
        if at is None:
            made += holder("address", holder(routing, one_queue(queue)), {"name": address})
        elif holds is None:
            yield from put(at, holder(routing, one_queue(queue)))
        else:
            yield from put(holds, one_queue(queue))
    yield from more(core, put, "addresses", made)


def more(core: Core, put: Putting, name: str, lines: str) -> Iterator[Edit]:
    """Yield the edit that puts lines into a child of the core, which is made if need be."""
    there = core.element.first(name)
    if lines and there is None:
        yield from put(core.element, holder(name, lines))
    elif lines and there is not None:
        yield from put(there, lines)


def _changed(core: Core, put: Putting, one: Listed, was: AddressQueue, now: AddressQueue) -> Iterator[Edit]:
    element, document = one.element, core.document
    if was.purge_on_no_consumers != now.purge_on_no_consumers:
        yield from attribute(document, element, PURGE, "true" if now.purge_on_no_consumers else None)
    if was.max_consumers != (most := now.max_consumers):
        yield from attribute(document, element, MOST, None if most is None else str(most))
    if was.durable != now.durable:
        said = element.first("durable")
        text = str(now.durable).lower()
        yield from put(element, leaf("durable", text, "")) if said is None else written(document, said, text)
    if was.filter == now.filter:
        return
    there = element.first(one.selector)
    if there is None:
        yield from put(element, tag(one.selector, {"string": str(now.filter)}))
    elif now.filter is None:
        yield removed(document, there)
    else:
        yield from attribute(document, there, "string", now.filter)


def _address_of(core: Core, address: str) -> Element | None:
    there = core.element.below("addresses", "address")
    return next((at for at in there if core.attribute(at, "name") == address), None)


def _removed(core: Core, one: Listed) -> Edit:
    """Return the edit that takes a queue out, and its address if that has nothing else."""
    alone = sum(1 for other in one.address.walk() if other.name == "queue") == 1
    return removed(core.document, one.address if alone and len(one.address.children) == 1 else one.element)
