"""Open Message Queue clusters: brokers, the cluster they make, and the script of what happens.

Sources: the Technical Overview, chapter 4; reference/openmq-clusters.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import BadValue, UnknownName

MODELS = ("master", "none", "peer", "enhanced")

# Properties that must be alike on linked brokers (Administration Guide, chapter 10).
MUST_MATCH = ("imq.service.activelist", "imq.autocreate.queue", "imq.autocreate.topic",
              "imq.cluster.clusterid", "imq.cluster.masterbroker")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Member:
    """One broker: its name, its own properties, and whether the others' list names it."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    not_listed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the script: what to do, and its keys."""

    do: str
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ClusterScenario:
    """A cluster and what happens to it.

    `model` is one of `MODELS`: with a master broker, without any record, of peers with a shared
    record, or enhanced. Raises `UnknownName` or `BadValue` for a cluster that cannot be.
    """

    members: tuple[Member, ...]
    model: str
    master: str | None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    steps: tuple[Step, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    version: str = "6.5"

    def __post_init__(self) -> None:
        names = [member.name for member in self.members]
        if self.model not in MODELS:
            raise UnknownName.of("cluster model", self.model, MODELS)
        for name in names:
            if names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        if self.master is not None and self.master not in names:
            raise UnknownName.of("master broker", self.master, names)
        for step in self.steps:
            given = step.keys.get("broker")
            for broker in given if isinstance(given, (list, tuple)) else [given]:
                if broker not in (None, "any") and broker not in names:
                    raise UnknownName.of("broker", broker, names, f"step {step.do}")

    def option(self, name: str, key: str, default: Any = None) -> Any:
        """Return a property of a broker: its own, else the cluster's, else the default."""
        member = next(m for m in self.members if m.name == name)
        return member.options.get(key, self.options.get(key, default))
