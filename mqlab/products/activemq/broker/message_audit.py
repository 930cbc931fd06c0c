"""An audit: by what a client, a broker or a durable subscription knows a message that it has had before.

A broker and its clients remember the last messages of each producer, not all: `auditDepth`,
`maxAuditDepth` (2048 messages) and `auditMaximumProducerNumber`, `maxProducersToAudit` (64 producers), the
defaults of `ActiveMQMessageAudit`. So what they remember does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

DEPTH, PRODUCERS = 2048, 64


@dataclass(eq=False, slots=True)
class MessageAudit:
    """The numbers of messages that were here, of the last ones.

    A producer's messages have numbers that follow each other: a block of `DEPTH` of them is remembered bit
    by bit, and for each that is begun beyond `PRODUCERS` the oldest is forgotten. With few producers this
    reaches further back than the brokers' own does. `blocks` is which block -> a bit for each number in it.
    """

    blocks: dict[int, int] = field(default_factory=dict)

    def __contains__(self, number: int) -> bool:
        return bool(self.blocks.get(number // DEPTH, 0) >> number % DEPTH & 1)

    def add(self, number: int) -> bool:
        """Remember a number; return whether it was here before."""
        blocks, block, bit = self.blocks, number // DEPTH, 1 << number % DEPTH
        if block in blocks:
            known = blocks[block]
            blocks[block] = known | bit
            return known & bit != 0
        blocks[block] = bit
        if len(blocks) > PRODUCERS:
            del blocks[next(iter(blocks))]
        return False

    def discard(self, numbers: Iterable[int]) -> None:
        """Forget numbers, as if they had not been here."""
        for number in numbers:
            if number in self:
                self.blocks[number // DEPTH] ^= 1 << number % DEPTH

    def clear(self) -> None:
        """Forget all."""
        self.blocks.clear()
