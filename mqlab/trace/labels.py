"""What runs are called when they stand side by side: their titles, and what sets equal titles apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mqlab.spec.json_types import JsonObject
from mqlab.spec.options import TITLES
from mqlab.spec.plural import counted
from mqlab.spec.rows import GUIDE_NAMES

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

_ELEMENTS = ("connectors", "brokers")
_SETTINGS = ("edition", "seed", "jitter")


def title(trace: Trace) -> str:
    """Return what a run is called: its scenario's title or name, else how many brokers it has."""
    scenario: Mapping[str, object] = trace.header.get("scenario", {})
    brokers = trace.names["node_role"].count("broker")
    named = scenario.get("title") or scenario.get("name")
    text = str(named or (f"A network of {counted(brokers, 'broker')}" if brokers != 1 else "One broker"))
    others = trace.header.get("outcomes", 1)  # that timing allows, where somebody has looked
    return text if others == 1 else f"{text} (one of at least {others} possible outcomes)"


def product(trace: Trace) -> str:
    """Return which product a run is of, and which edition: ``ActiveMQ 5.17``."""
    name = TITLES[trace.product]
    return f"{name} {trace.header.get('edition', '')}".strip()


def guide(trace: Trace) -> str:
    """Return where a run's scenario is from, as it says itself: ``figure 2.20``; empty if it does not."""
    return str(trace.header.get("scenario", {}).get("guide", ""))


def labels(traces: Sequence[Trace]) -> list[str]:
    """Return one label per run, no two alike: the title, and how it differs from its first namesake.

    >>> import mqlab as mq
    >>> figure = mq.figure("fuse:2.20")
    >>> off = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    >>> labels([mq.run(figure), mq.run(off, seed=3)])[1]
    'Load balancing with conduit subscriptions on; linkToBrokerB: conduitSubscriptions false; seed 3'
    """
    found: list[str] = []
    first: dict[str, Trace] = {}
    for trace in traces:
        name = title(trace)
        namesake = first.setdefault(name, trace)
        text = "; ".join([name, *_apart(namesake.header, trace.header)])
        same = sum(label == text or label.startswith(f"{text} (") for label in found)
        found.append(f"{text} ({same + 1})" if same else text)
    return found


def beside(traces: Sequence[Trace]) -> list[str]:
    """Return shorter labels: beside its namesake a run needs no more of a title than what sets it apart."""
    first, *others = labels(traces)
    return [first, *(other.removeprefix(f"{first}; ") for other in others)]


def _apart(one: JsonObject, other: JsonObject) -> Iterator[str]:
    """Yield what a run has that its namesake has not."""
    before, after = one.get("scenario", {}), other.get("scenario", {})
    for kind in _ELEMENTS:
        were = {row["name"]: row for row in before.get(kind, ()) if "name" in row}
        for row in after.get(kind, ()):
            yield from _changed(were.get(row.get("name"), {}), row)
    if before.get("actions") != after.get("actions"):
        yield "other actions"
    for key in _SETTINGS:
        if one.get(key) != other.get(key):
            yield f"{key} {other.get(key)}"


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    for key in dict.fromkeys([*after, *before]):
        if before.get(key) != after.get(key):
            value = json.dumps(after[key], ensure_ascii=False) if key in after else "default"
            yield f"{after.get('name')}: {GUIDE_NAMES.get(key, key)} {value}"
