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
        self.delay = self.initial

    def after(self, lasted: int, was_up: bool) -> int | None:
        """Return the wait after an attempt that *lasted* so long (us); None is never again.

        A bridge that was up, or an attempt that took minConnectTime, makes it the first failure
        (recordings `bridge_lived_2_s`, `bridge_lived_6_s`); the limit counts only what failed
        sooner than that. A wait of 0 is one without an end: the
        agent waits to be woken, and nobody wakes it.
        """
        self.failures = 1 if was_up or lasted >= self.least else self.failures + 1
        if lasted < self.least and 0 < self.limit <= self.failures:
            return None
        if not self.exponential or self.failures == 1:
            self.delay = self.initial
        else:
            self.delay = min(self.delay * self.factor, self.maximum)
        return self.delay if self.delay > 0 else None
