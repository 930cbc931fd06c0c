"""A step of a script: an action as it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the script: what to do, and its keys."""

    do: str
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def at(self) -> int | str | None:
        """When it happens (such as ``"2s"``); None when its turn has come."""
        return self.keys.get("at")

    def get(self, key: str, default: object = None) -> object:
        """Return the value of a key."""
        return self.keys.get(key, default)
