"""Which consumers of a queue get messages from one of its brokers, where their number is limited.

Each consumer has a position, and those of the first positions are active. Every broker keeps a list of its own:
it hears of a consumer with the position that this took when it was opened, so that the lists may differ once
backups have moved up (OpenMQ rule 2.5; 6.5.0: `Queue.getPosition`, `Queue.consumerListChanged`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.destinations import PhysicalDestination
    from mqlab.products.openmq.broker.model import Broker
    from mqlab.products.openmq.client.state import Consumer
    from mqlab.spec.values import Destination


def first_free(taken: Iterable[int]) -> int:
    """Return the first position that nobody has."""
    used = set(taken)
    return next(place for place in range(len(used) + 1) if place not in used)


def died_unnoticed(consumers: Iterable[Consumer], unnoticed: set[Broker]) -> set[Consumer]:
    """Return who died with a broker whose end has not been noticed: for all that is known they are there."""
    dead = {consumer for consumer in consumers if consumer.home in unnoticed and consumer.lost >= 0}
    return {c for c in dead if not (c.open or c.closed or c.step.options.get("reconnect"))}


def takes_no_more(broker: Broker, dest: Destination) -> bool:
    """Whether a destination has as many consumers as it may have, or no position is free at this broker."""
    instance = broker.instances[dest]
    active, backup = (int(instance.option(f"MaxNum{which}Consumers")) for which in ("Active", "Backup"))
    if min(active, backup) < 0:
        return False
    most = active + backup
    return len(broker.consumers(dest)) >= most or (dest.is_queue and broker.free_position(dest) >= most)


@dataclass(eq=False, slots=True)
class ActiveConsumers:
    """One broker's list: what it does when a consumer comes or goes, and when a limit changes."""

    instance: PhysicalDestination = field(repr=False)
    positions: dict[Consumer, int] = field(default_factory=dict)  # as it heard of them
    active: set[Consumer] = field(default_factory=set)
    local: set[Consumer] = field(default_factory=set)  # those of its own clients, also backups that have left
    # Active, and nothing is given to them where local ones come first.
    passed_over: set[Consumer] = field(default_factory=set)

    def of(self, known: list[Consumer]) -> list[Consumer]:
        """Return who of those that the broker knows now is active."""
        gone = self.positions.keys() - set(known)
        for consumer in gone:
            del self.positions[consumer]
        self.local -= gone & self.active  # it does not count down for a backup (`Queue.removeConsumer`)
        self.active -= gone
        self.passed_over -= gone
        if gone:
            self.change()
        for consumer in known:
            if consumer not in self.positions:
                self._add(consumer)
        return [consumer for consumer in known if consumer in self.active]

    def _add(self, consumer: Consumer) -> None:
        """A consumer has come; the first local one may be preferred to who is active (`Queue.addConsumer`)."""
        self.positions[consumer] = consumer.position
        if self._most < 0 or consumer.position < self._most:
            self._activate(consumer)
        if consumer.home is self.instance.broker:
            self.local.add(consumer)
            if len(self.local) == 1 < len(self.active):
                self.change()

    def _activate(self, consumer: Consumer) -> None:
        self.active.add(consumer)
        self._prefer(consumer)

    def _prefer(self, consumer: Consumer) -> None:
        """Pass a remote consumer over as long as there are local ones, if those are preferred."""
        remote = consumer.home is not self.instance.broker
        passes = self.instance.prefers_local and remote and bool(self.local)
        (self.passed_over.add if passes else self.passed_over.discard)(consumer)

    def taken(self, known: list[Consumer]) -> set[int]:
        """Return the positions that a new consumer here cannot have.

        Those in this list, and those that others have locked in the whole cluster: a backup that has moved up
        may have another position at its own broker (`Queue.getPosition`).
        """
        self.of(known)
        dest = self.instance.dest
        theirs = ((c, c.home.instances.get(dest)) for c in known if c.home is not self.instance.broker)
        locked = (there.limited.positions.get(c, c.position) for c, there in theirs if there and there.limited)
        return {*self.positions.values(), *locked}

    @property
    def _most(self) -> int:
        return int(self.instance.option("MaxNumActiveConsumers"))

    def change(self) -> None:
        """Move backups up where there is room; who is active too much becomes a backup if one more may be.

        Where any number may be active from now on, those who are backups stay so.
        """
        most, backups = self._most, int(self.instance.option("MaxNumBackupConsumers"))
        for consumer, position in list(self.positions.items()):
            if consumer in self.active:
                if not 0 <= most <= position:
                    self._prefer(consumer)
                elif len(self.positions) - len(self.active) < backups:
                    self.active.discard(consumer)
                    self.passed_over.discard(consumer)
            elif position < most:
                self._activate(consumer)
            elif len(self.active) < most and (free := first_free(self.positions.values())) < most:
                self.positions[consumer] = free
                self._activate(consumer)
