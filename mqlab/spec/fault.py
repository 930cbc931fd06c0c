"""A step as the handlers of a script read it: what to do, and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the script: what to `do`, and its keys. With `at` (us) it happens then, beside the others."""

    do: str
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)
    at: int | None = None

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key."""
        return self.keys.get(key, default)
