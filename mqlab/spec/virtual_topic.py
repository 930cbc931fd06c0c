"""What a broker's `virtual_topics` and composite destinations say, each entry taken apart.

Source: ActiveMQ, virtual destinations (`VirtualTopic`, `CompositeDestination`, `FilteredDestination`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.json_types import JsonObject
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

PREFIX = "Consumer.*."
# What a virtual topic may say beside its name, and what holds if it does not.
ATTRIBUTES = {"prefix": PREFIX, "postfix": "", "selectorAware": "false", "local": "false"}
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class VirtualTopic:
    """Topics of a pattern, and how the queues that get copies of their messages are called.

    With `selector_aware` a queue gets a copy only if a consumer there selects it; with `local` messages
    that came over the network are not copied.

    >>> VirtualTopic.of("topic://A.>?prefix=C.*.").queues("A.B")
    'C.*.A.B'
    """

    topics: Destination
    prefix: str = PREFIX
    postfix: str = ""
    selector_aware: bool = False
    local: bool = False

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(text: str) -> VirtualTopic:
        """Read ``topic://A.>?prefix=C.*.&selectorAware=true``; raises `BadValue` and `UnknownName`."""
        name, _, query = text.partition("?")
        topics, given = Destination.parse(name), dict(ATTRIBUTES)
        if topics.kind != "topic":
            raise BadValue(f"virtual topic {name}: it is not a topic; use e.g. ['topic://{topics.name}']")
        for pair in filter(None, query.split("&")):
            option, _, value = pair.partition("=")
            if option not in ATTRIBUTES:
                raise UnknownName.of("option", option, ATTRIBUTES, f"virtual topic {name}")
            if ATTRIBUTES[option] in _TRUTH and value not in _TRUTH:
                raise BadValue(f"virtual topic {name}: {option} is {value!r}; expected true or false")
            given[option] = value
        flags = _TRUTH[given["selectorAware"]], _TRUTH[given["local"]]
        return VirtualTopic(topics, given["prefix"], given["postfix"], *flags)

    def queues(self, topic: str) -> str:
        """Return the pattern of the queues behind the topic of that name."""
        return f"{self.prefix}{topic}{self.postfix}"

    def topic_of(self, queue: str) -> str | None:
        """Return the topic that has the queue of that name behind it; None if none of these has."""
        wanted, parts = self.prefix.rstrip(".").split("."), queue.removesuffix(self.postfix).split(".")
        fits = len(parts) > len(wanted) and all(w in ("*", p) for w, p in zip(wanted, parts, strict=False))
        name = ".".join(parts[len(wanted) :])
        return name if fits and self.topics.takes(Destination("topic", name)) else None


@dataclass(frozen=True, slots=True)
class Composite:
    """A composite queue or topic: where each message goes, by its selector, and whether it stays there, too."""

    name: Destination
    targets: tuple[tuple[Destination, Selector | None], ...]
    forward_only: bool = True
    send_when_not_matched: bool = False

    @staticmethod
    def of(entry: JsonObject) -> Composite:
        """Take an entry of a broker's `composites` apart; raises `BadValue` for a selector that is none."""
        return Composite(
            Destination.parse(entry["name"]),
            tuple(_targets(entry["forward_to"])),
            bool(entry.get("forward_only", True)),
            bool(entry.get("send_when_not_matched", False)),
        )


def _targets(given: Iterable[str | JsonObject]) -> Iterator[tuple[Destination, Selector | None]]:
    for one in given:
        if isinstance(one, str):
            yield Destination.parse(one), None
        else:
            yield Destination.parse(one["to"]), Selector(one["selector"]) if one.get("selector") else None
