"""What was drawn how often, and in how many pairs: a generator that never draws a step says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

NAMES = {
    "at", "broker", "brokers", "broker_id", "between", "broker_name", "client", "client_id", "consumer",
    "durable_name",
    "from", "id", "label", "limit_ms", "link", "max_ms", "name", "of", "producer", "queue", "session",
    "subscription_name", "title", "theme", "topic", "xid", "to", "dir", "uri", "address", "group", "file",
    "connector",
    "timeout_ms", "time_limit_seconds", "wait_ms", "isolate", "group_name",
}  # fmt: skip


def features(scenario: Mapping[str, Any]) -> set[str]:
    """Return what a scenario consists of: steps with their keys and choices, options of brokers and lines."""
    found = set()
    for step in scenario["steps"]:
        found |= {step["do"], *(f"{step['do']} {said}" for said in _said(step) if said != f"do={step['do']}")}
    for key, value in scenario.items():
        if key not in ("steps", "name"):
            found |= {f"{key}: {said}" for said in _said({key: value})}
    return found


def _said(value: Any, key: str = "") -> Iterator[str]:
    """Yield ``key`` or ``key=choice`` for all that is in a value; numbers and names of things are left out."""
    if isinstance(value, Mapping):
        if key:
            yield key
        for inner, said in value.items():
            yield from _said(said, inner)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        yield f"{key} {len(value)}"
        for entry in value:
            yield from _said(entry, key)
    elif isinstance(value, bool) or (isinstance(value, str) and key not in NAMES and " " not in value):
        yield f"{key}={str(value).lower() if isinstance(value, bool) else value}"
    elif isinstance(value, str) and "?" in value:  # the options of a URI
        yield from (part.partition("=")[0] for part in value.partition("?")[2].split("&"))
    elif key and key not in ("name", "steps"):
        yield key


class Breadth:
    """Counts features and pairs of features over many scenarios; *language* is all that could be drawn."""

    def __init__(self, language: Iterable[str] = ()) -> None:
        self.language = set(language)
        self.drawn: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.scenarios = 0

    def add(self, scenario: Mapping[str, Any]) -> None:
        """Count one scenario."""
        here = sorted(features(scenario))
        self.scenarios += 1
        self.drawn.update(here)
        self.pairs.update(combinations(here, 2))

    @property
    def never(self) -> list[str]:
        """What the recorders' language has and was never drawn."""
        drawn = {word.partition("=")[0] for word in self.drawn}
        return sorted(word for word in self.language if word not in drawn)

    def table(self) -> str:
        """Return a table: what was drawn, in how many scenarios, with how many others."""
        partners: Counter[str] = Counter()
        for one, other in self.pairs:
            partners[one] += 1
            partners[other] += 1
        wide = max((len(name) for name in self.drawn), default=0)
        rows = [
            f"{name.ljust(wide)}  {number:5}  {partners[name]:5}" for name, number in sorted(self.drawn.items())
        ]
        all_pairs = len(self.drawn) * (len(self.drawn) - 1) // 2
        foot = f"{len(self.drawn)} words, {len(self.pairs)} of {all_pairs} pairs, in {self.scenarios} scenarios"
        never = f"never drawn: {', '.join(self.never) or 'nothing'}"
        return "\n".join([f"{'drawn'.ljust(wide)}  times  pairs", *rows, foot, never])
