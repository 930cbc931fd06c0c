"""Addresses that are full: what a broker does with what is sent to them (`address-full-policy`).

An address holds the messages of its queues, also those that consumers have not acknowledged, those for other
brokers and those of open transactions. BLOCK grants producers no further credits, FAIL refuses messages,
DROP drops them. PAGE writes them to disk, where they outlive their broker, persistent or not.

Source: Artemis user manual, paging; played by 2.31.2 as it is here; of PAGE, Artemis rule 9.14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker, Refused, Subsystem
from mqlab.products.artemis.broker.message_sizes import REFERENCE, in_memory, in_page
from mqlab.products.artemis.broker.messages import Journal, Message, MessageReference, Queue, StoredMessage
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.artemis.broker.site import Site

# Rows after which an address may have room.
LEAVES = frozenset((Kind.Acknowledged, Kind.Discarded, Kind.Expired, Kind.DeadLettered, Kind.Failed))
FULL = "JMSException / ActiveMQAddressFullException AMQ119102"
Waiting = tuple["Call", object]


class PagingStore:
    """One address of a broker that can be full, and who waits until it no longer is."""

    def __init__(self, broker: Broker, address: str, policy: str, most: tuple[int, int]) -> None:
        self.broker, self.address, self.policy = broker, address, policy
        self.max_messages, self.max_bytes = most
        self.waiting: list[Waiting] = []
        # The trace has so many rows when this is counted next, if no message is larger (bytes).
        self.checked = self.largest = 0
        self.full_at = -1  # how many messages had left addresses when it was found full
        self.written = policy == "PAGE" and self._has_pages()
        self.paging = self.written or (policy == "PAGE" and self.is_full())
        self.latest, self.latest_paged = -1, False  # a message (its number), and whether it is in a page
        self.page_size = int(broker.lab.setting(broker, address, "page_size_bytes"))
        self.page_bytes, self.put = 0, 0  # bytes in the page that is written, references that were put in pages
        # Whether the journal knows of its pages: it counts a page as that is full, and what a transaction puts.
        self.counted = self.written

    def is_full(self, added: Message | None = None) -> bool:
        """Whether it holds more than it may (as many messages as it may); one that holds nothing is not full.

        Each message that joins it has a row in the trace, so that it is counted anew only after as many rows
        as it has room for messages; one that is full stays so until a message leaves.
        """
        rows, largest = self.broker.lab.recorder.count, self.broker.lab.clients.largest or 1
        if rows < self.checked and largest == self.largest:
            return False
        paging = self.broker.lab.paging
        if self.full_at == paging.left:
            return True
        references = [*self._messages(), *([] if added is None else [added])]
        if not references:
            return False
        messages = {message.number: in_memory(message) for message in references}
        held = len(messages)
        size = sum(messages.values()) + REFERENCE * (len(references) - held)
        rooms = []
        if self.max_messages >= 0:
            rooms.append(self.max_messages - held)
        if self.max_bytes >= 0:
            rooms.append((self.max_bytes - size) // largest)
        # What is on its way for a transaction, one of each client, has its row already.
        room = min(rooms) - len(self.broker.lab.clients.senders)
        self.checked, self.largest = rows + room, largest
        full = 0 <= self.max_messages <= held or 0 <= self.max_bytes < size
        if full:
            paging.watch()
            self.full_at = paging.left
        return full

    def pages(self, message: Message) -> bool:
        """Whether a message goes to a page, for all its queues.

        The one with which its address is full does not, but all that follow do, until what is in pages has been
        acknowledged: also where all that was in memory is gone by then (`PagingStoreImpl.addSize` of 2.4.0).
        """
        if message.number != self.latest:
            if self.written and not self._has_pages():
                self.paging = self.written = self.counted = False
                self.page_bytes = self.put = 0
            self.latest, self.latest_paged = message.number, self.paging
            self.written = self.paging
            self.paging = self.paging or self.is_full(message)
            if self.latest_paged:
                self._write(message)
        return self.latest_paged

    def _write(self, message: Message) -> None:
        """Write a message to the page, or to a new one where that would be too large."""
        size = in_page(message)
        full = self.page_bytes > 0 and self.page_bytes + size > self.page_size
        if full or not self.page_bytes:
            self.broker.journal.pages.setdefault(self.address, []).append({})
        self.page_bytes = size if full else self.page_bytes + size
        self.counted |= full

    def lost_pages(self) -> bool:
        """Whether a broker that is killed begins without its pages: the journal says nothing of them.

        It looks for pages that are through before it counts these (`PageCursorProviderImpl.processReload` of
        2.4.0). An acknowledgement of any is in the journal.
        """
        return not self.counted and sum(item.paged for item in self._items()) == self.put

    def _has_pages(self) -> bool:
        """Whether some of its messages lie in page files, also those of open transactions."""
        return any(item.paged for item in self._items()) or any(one.paged for one in self._messages())

    def _items(self) -> Iterator[MessageReference]:
        for queue in self.broker.journal.queues.values():
            if queue.address == self.address:
                yield from reversed(queue.waiting)  # a page has the latest
                yield from (*queue.held, *queue.stranded)

    def _messages(self) -> Iterator[Message]:
        journal, address = self.broker.journal, self.address
        yield from (item.message for item in self._items())
        local = (client for client in self.broker.lab.clients.at(self.broker) if client.resource is None)
        open_ones = [client.work for client in local]
        stored = [[row.message for row in mail] for mail in journal.store_and_forward.values()]
        branches = [branch.work for branch in journal.branches.values()]
        for messages in (*stored, *open_ones, *branches):
            yield from (message for message in messages if message.dest.name == address)

    def wait(self, call: Call, argument: object) -> None:
        """Let *call* happen with *argument* once there is room."""
        self.waiting.append((call, argument))
        self.broker.lab.paging.waits = True
        self.broker.lab.paging.watch()


class PagingManager(Subsystem):
    """The addresses of all brokers that can be full; `limits` says whether any can."""

    def __init__(self, lab: Site) -> None:
        super().__init__(lab)
        self.limits = lab.network.sets("max_size_messages", "max_size_bytes")
        self.stores: dict[tuple[str, str], PagingStore | None] = {}
        self.left = 0  # messages that have left an address, since one was full
        self.waits = self.due = False  # whether anybody waits for room, and is about to be let in

    def store(self, broker: Broker, address: str) -> PagingStore | None:
        """Return an address of a broker; None if it has no limit."""
        if not self.limits:
            return None
        key = broker.name, address
        if key not in self.stores:
            names = ("address_full_policy", "max_size_messages", "max_size_bytes")
            policy, *most = (self.lab.setting(broker, address, name) for name in names)
            can_be_full = max(most) >= 0
            self.stores[key] = PagingStore(broker, address, policy, (most[0], most[1])) if can_be_full else None
        return self.stores[key]

    def prevents_start(self, broker: Broker) -> bool:
        """Whether a broker fails as it makes its queues: it neither serves nor ends (Artemis rule 9.14).

        A page has to be smaller than what its address may hold in memory (`PagingStoreImpl` of 2.4.0).
        """
        asks = self.limits and not self.lab.rules.has_large_pages
        return asks and any(self.lab.network.too_small_for_a_page(broker.spec))

    def full(self, broker: Broker, address: str) -> PagingStore | None:
        """Return an address of a broker if it takes no message now; one that blocks its producers does."""
        store = self.store(broker, address)
        return store if store is not None and store.policy in ("FAIL", "DROP") and store.is_full() else None

    def pages(self, broker: Broker, queue: Queue, message: Message) -> bool:
        """Whether what joins a queue is in a page; of a transaction that is known already."""
        store = self.store(broker, queue.address)
        if store is None or store.policy != "PAGE":
            return False
        paged = store.pages(message) if message.paged is None else message.paged
        if paged:
            store.put += 1
            files = broker.journal.pages.setdefault(queue.address, [])
            place = queue.key, message.number
            if not any(place in page for page in files):
                files += [] if files else [{}]  # what else was in it, of a transaction, is through
                files[-1][place] = message
        return paged

    def plan(self, broker: Broker, message: Message) -> None:
        """See whether what a transaction sends goes to a page."""
        store = self.store(broker, message.dest.name)
        if store is not None and store.policy == "PAGE":
            message.paged = store.pages(message)
            store.counted |= message.paged
            for at, queue in message.routed or () if message.paged else ():
                if at is broker:
                    broker.journal.pages[queue.address][-1][queue.key, message.number] = message

    @staticmethod
    def put_in_order(queue: Queue) -> None:
        """What a transaction has sent to pages, and commits, stands before what was written there after it.

        So it is as long as that has not been read (`PageSubscriptionImpl.CursorIterator.moveNext` of 2.4.0).
        """
        item, others = queue.waiting[-1], queue.waiting[:-1]
        later = (
            other.paged and not other.was_read and other.message.row > item.message.row for other in others
        )
        place = next((place for place, is_later in enumerate(later) if is_later), len(others))
        queue.waiting = [*others[:place], item, *others[place:]]

    def drop_lost_pages(self, broker: Broker, kept: Journal) -> None:
        """A broker is killed: what it keeps is without the pages that are lost."""
        for store in [store for store in self.stores.values() if store is not None and store.broker is broker]:
            for queue in kept.queues.values() if store.policy == "PAGE" and store.lost_pages() else ():
                if queue.address == store.address:
                    kept.pages.pop(store.address, None)
                    queue.waiting = [item for item in queue.waiting if not item.paged]
                    queue.enqueued = len(queue.waiting)

    def depaged(
        self, broker: Broker, queue: Queue, items: list[MessageReference]
    ) -> Iterator[MessageReference]:
        """Yield what of *items* a queue can deliver: its pages are read until its address would be full.

        So what waits there for others stands before what is still in pages (`QueueImpl.needsDepage` of 2.4.0).
        """
        store = self.store(broker, queue.address)
        room = store.max_bytes if store is not None and store.policy == "PAGE" else -1
        limited = room > 0
        for item in items:
            if limited and item.paged and room <= 0:
                return
            item.was_read = item.paged
            number = len(queue.waiting)
            yield item
            if len(queue.waiting) == number:  # it stays
                room -= in_memory(item.message) - REFERENCE

    @staticmethod
    def browsed(journal: Journal, queue: Queue) -> list[int]:
        """Return what a browser finds of a queue in page files (its numbers), acknowledged or not.

        A page is deleted when all of it is acknowledged in all queues, and all pages before it are gone
        (`PageCursorProviderImpl.cleanup`, `PageSubscriptionImpl.CursorIterator.moveNext` of 2.4.0). One the
        queue is through with is passed by before that, but for the first one and the last (`moveNextPage`).
        """
        pages = journal.pages.get(queue.address, [])
        there = [one for one in journal.queues.values() if one.address == queue.address] if pages else []
        left = {(one.key, item.message.number) for one in there for item in one.items() if item.paged}
        while pages and left.isdisjoint(pages[0]):
            del pages[0]
        ends = [*pages[:1], *pages[-1:]]
        mine = [
            page for page in pages if page in ends or any(key == queue.key for key, _ in left & page.keys())
        ]
        return [
            number for page in mine for (key, number), one in page.items() if key == queue.key and not one.paged
        ]

    def drops(self, broker: Broker, message: Message, cause: int | None = None) -> bool:
        """Whether a message is dropped as its address is full; raises `Refused` if it is refused."""
        if message.routed is not None:  # its transaction no longer has it, and no row says so
            self.left += 1
        store = self.full(broker, message.dest.name)
        if store is None:
            return False
        if store.policy == "FAIL":
            raise Refused(FULL, Reason.address_full)
        cause = message.row if cause is None else cause
        self.lab.message(Kind.Discarded, message, broker, rule=Reason.address_full, cause=cause)
        self.left -= 1  # it has never been there
        store.full_at = self.left
        return True

    def turns_away(self, broker: Broker, frm: Broker, stored: StoredMessage) -> bool:
        """Whether a broker refuses a message of another, where it stays until there is room."""
        store = self.full(broker, stored.message.dest.name)
        if store is None or store.policy != "FAIL":
            return False
        self.lab.message(Kind.Held, stored.message, frm, rule=Reason.address_full, cause=stored.row)
        store.wait(self.lab.deliver, None)
        return True

    def ended(self, broker: Broker) -> None:
        """A broker has ended: who waited for one of its addresses tries again."""
        for store in [store for store in self.stores.values() if store is not None and store.broker is broker]:
            del self.stores[broker.name, store.address]
            for call, argument in store.waiting:
                self.lab.later(0, call, argument)

    # Room

    def watch(self) -> None:
        """Have it told what leaves, once an address is full."""
        self.lab.notes.on_left = self.on_left

    def on_left(self) -> None:
        """Something has left some address: let in who waits, if there is room."""
        self.left += 1
        if self.waits and not self.due:
            self.due = True
            self.lab.clock.schedule(self.lab.clock.now, self._let_in, None)

    def _let_in(self, _: object) -> None:
        self.due = False
        stores = [store for store in self.stores.values() if store is not None and store.waiting]
        for store in stores:
            if store.broker.serves and not store.is_full():
                waiting, store.waiting = store.waiting, []
                for call, argument in waiting:  # all of them: what they send may be more than there is room for
                    call(argument)
        self.waits = any(store.waiting for store in stores)
