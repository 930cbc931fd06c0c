"""The waits of the static discovery agent between its tries (Fuse 1, "Static discovery agent")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mqlab.products.activemq.client.query import flag, number, value_of


class ExponentialBackOff:
    """The waits of the static agent for one address; times in us."""

    OPTIONS: ClassVar[Mapping[str, object]] = {
        "initialReconnectDelay": 0,
        "maxReconnectDelay": 0,
        "useExponentialBackOff": False,
        "backOffMultiplier": 0,
        "maxReconnectAttempts": 0,
        "minConnectTime": 0,
        "services": "",
    }

    @classmethod
    def knows(cls, key: str, value: str) -> bool:
        """Whether the agent takes an option; the others stay with the addresses it finds."""
        return key in cls.OPTIONS and value_of(value, cls.OPTIONS[key]) is not None

    def __init__(self, options: dict[str, str]) -> None:
        self.initial = number(options, "initialReconnectDelay", 1000) * 1000
        self.maximum = number(options, "maxReconnectDelay", 30_000) * 1000
        self.exponential = flag(options, "useExponentialBackOff", True)
        self.factor = number(options, "backOffMultiplier", 2)
        self.limit = number(options, "maxReconnectAttempts", 0)
        self.least = number(options, "minConnectTime", 5000) * 1000
        self.failures = 0
        self.delay = -1  # until the first wait

    def after(self, lasted: int) -> int | None:
        """Return the wait after an attempt, with its bridge, that *lasted* so long (us); None is never again.

        What ends within minConnectTime is one failure more, whether a bridge came of it or not: the waits go on
        growing. Whatever lived longer begins anew, and counts as no failure (`SimpleDiscoveryAgent` of 5.17.2;
        ActiveMQ rule 12.2). A wait of 0 is one without an end: the agent waits to be woken, and
        nobody wakes it.
        """
        if lasted >= self.least:
            self.failures, self.delay = 0, self.initial
        else:
            self.failures += 1
            if 0 < self.limit <= self.failures:
                return None
            grows = self.exponential and self.delay >= 0
            self.delay = min(self.delay * self.factor, self.maximum) if grows else self.initial
        return self.delay if self.delay > 0 else None
