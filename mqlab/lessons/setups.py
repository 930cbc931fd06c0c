"""The scenarios of tasks: made from a lesson's data, changed by learners or by a wrong rule, and run."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from mqlab import products
from mqlab.errors import UnknownName
from mqlab.lessons.data import Setup
from mqlab.spec.change import Body
from mqlab.trace.trace import Trace

LIMIT = 200_000  # events: a task is a small thing


def scenario(setup: Setup, learner: str = "") -> Any:
    """Return the scenario of a setup, with the numbers of messages that are this learner's."""
    if setup.figure:
        found = products.figure(setup.figure).scenario
    else:
        found = products.product_of(setup.lab).read(setup.lab, "lesson")
    for path, options in setup.change.items():
        found = found.change(path, **options)
    if not setup.vary or not learner:
        return found
    changed = copy.deepcopy(body(found))
    for who, counts in setup.vary.items():
        mine = counts[sha256(f"{learner} {who}".encode()).digest()[0] % len(counts)]
        for step in changed["steps"]:
            if step.get("producer") == who:
                step["count"] = mine
    return read(changed)


def body(found: Any) -> dict[str, Any]:
    """Return the lab file of a scenario."""
    return products.product_of_scenario(found).write(found)


def read(changed: Body) -> Any:
    """Return the scenario of a lab file; raises `MqlabError`."""
    return products.product_of(changed).read(changed, "lesson")


@lru_cache(maxsize=64)
def _play(key: str, seed: int) -> Trace:
    return products.play(read(json.loads(key)), seed, limit=LIMIT)


def play(found: Any, seed: int = 0) -> Trace:
    """Run a scenario; the same one gives the same trace again, without another run."""
    return _play(json.dumps(body(found)), seed)


def changed(found: Any, values: Mapping[str, Any]) -> Any:
    """Return a scenario with option values by ``path.option``; raises `MqlabError` for a bad one."""
    for place, value in values.items():
        path, dot, option = place.rpartition(".")
        if not dot:
            raise UnknownName(f"{place!r} is no place of an option; write broker/connector.option")
        found = found.change(path, **{option: value})
    return found


def in_order(found: Any, order: tuple[str, ...]) -> Any:
    """Return a scenario whose connectors lead from each broker to the next of *order*.

    The options of the connectors stay, the first one's first.
    """
    new = copy.deepcopy(body(found))
    kept = new.get("connectors", [])
    pairs = itertools.pairwise(order)
    new["connectors"] = [
        {**(kept[no] if no < len(kept) else kept[-1] if kept else {}),
         "name": f"{one}-{other}", "from": one, "to": other}
        for no, (one, other) in enumerate(pairs)
    ]  # fmt: skip
    return read(new)
