"""The message groups of a queue: which subscription owns each, and how many each owns (ActiveMQ rule 25.1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.subscription import Subscription


@dataclass(eq=False)
class MessageGroups:
    """Group -> its owner, and owner -> how many groups it has; `used` is whether there ever was one.

    A value of its own: CPython 3.11 finds the attributes of an object quicker while there are fewer than 30 of
    them, and a queue had as many (a chain of four brokers took a tenth longer with one more).
    """

    owners: dict[str, Subscription] = field(default_factory=dict)
    owned: Counter[Subscription] = field(default_factory=Counter)
    used: bool = False

    def give(self, group: str, owner: Subscription) -> None:
        """Let a subscription own a group."""
        if self.owners.get(group) is not owner:
            self.free(group)
            self.owners[group] = owner
            self.owned[owner] += 1

    def free(self, group: str) -> None:
        """Let a group have no owner any more."""
        owner = self.owners.pop(group, None)
        if owner is not None:
            self.owned[owner] -= 1

    def forget(self, owner: Subscription) -> None:
        """Free all groups of a subscription that leaves."""
        self.owners = {group: one for group, one in self.owners.items() if one is not owner}
        self.owned.pop(owner, None)
