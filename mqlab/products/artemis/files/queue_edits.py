"""The queues of a broker that have changed: edits of its file where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mqlab.files.editing import Putting, attribute, holder, removed
from mqlab.files.markup import Edit, Element, tag
from mqlab.products.artemis.files.core import PURGE, Core
from mqlab.products.artemis.files.new_file import one_queue
from mqlab.spec.artemis.broker import AddressQueue


def queue_edits(
    core: Core, put: Putting, was: Iterable[AddressQueue], now: Iterable[AddressQueue]
) -> Iterator[Edit]:
    """Yield the edits by which a file that lists the queues of *was* lists those of *now*."""
    before, after = ({queue.plain: queue for queue in queues} for queues in (was, now))
    yield from (_removed(core, key) for key in before if key not in after)
    made = ""
    for key, queue in after.items():
        if key in before:
            yield from _changed(core, put, before[key], queue)
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


def _changed(core: Core, put: Putting, was: AddressQueue, now: AddressQueue) -> Iterator[Edit]:
    _, element = _found(core, was.plain)
    if was.purge_on_no_consumers != now.purge_on_no_consumers:
        yield from attribute(core.document, element, PURGE, "true" if now.purge_on_no_consumers else None)
    if was.filter == now.filter:
        return
    there = element.first("filter")
    if there is None:
        yield from put(element, tag("filter", {"string": str(now.filter)}))
    elif now.filter is None:
        yield removed(core.document, there)
    else:
        yield from attribute(core.document, there, "string", now.filter)


def _address_of(core: Core, address: str) -> Element | None:
    there = core.element.below("addresses", "address")
    return next((at for at in there if core.attribute(at, "name") == address), None)


def _found(core: Core, key: tuple[str, str, str]) -> tuple[Element, Element]:
    """Return a queue's address and the queue."""
    name, routing, address = key
    return next(
        (at, queue)
        for at in core.element.below("addresses", "address")
        if core.attribute(at, "name") == address
        for holds in at.all(routing)
        for queue in holds.all("queue")
        if core.attribute(queue, "name") == name
    )


def _removed(core: Core, key: tuple[str, str, str]) -> Edit:
    """Return the edit that takes a queue out, and its address if that has nothing else."""
    at, queue = _found(core, key)
    alone = sum(1 for one in at.walk() if one.name == "queue") == 1
    return removed(core.document, at if alone and len(at.children) == 1 else queue)
