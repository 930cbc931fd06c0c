"""The scenarios of tasks: made from a lesson's data, changed by learners or by a wrong rule, and run."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import UnknownName
from mqlab.lessons.data import Setup
from mqlab.spec.change import Body
from mqlab.spec.json_types import JsonDict
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

LIMIT = 200_000  # events: a task is a small thing


def scenario(setup: Setup, learner: str = "") -> Scenario:
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
    for who in setup.vary:
        for action in changed["actions"]:
            if "sends" in action and who in (action.get("name"), action.get("producer")):
                action["sends"] = _mine(setup, who, learner)
    return read(changed)


def told(text: str, setup: Setup, learner: str = "") -> str:
    """Return a question with this learner's numbers of messages."""
    for who, (asked, *_) in setup.vary.items():
        text = re.sub(rf"\b{asked}\b", str(_mine(setup, who, learner)), text)
    return text


def _mine(setup: Setup, who: str, learner: str) -> int:
    counts = setup.vary[who]
    chosen = sha256(f"{learner} {who}".encode()).digest()[0] if learner else 0
    return counts[chosen % len(counts)]


def body(found: Scenario) -> JsonDict:
    """Return the lab file of a scenario."""
    return products.product_of_scenario(found).write(found)


def read(changed: Body) -> Scenario:
    """Return the scenario of a lab file; raises `MqlabError`."""
    return products.product_of(changed).read(changed, "lesson")


@lru_cache(maxsize=64)
def _play(key: str, seed: int) -> Trace:
    return products.play(read(json.loads(key)), seed, limit=LIMIT)


def play(found: Scenario, seed: int = 0) -> Trace:
    """Run a scenario; the same one gives the same trace again, without another run."""
    return _play(json.dumps(body(found)), seed)


def changed(found: Scenario, values: Mapping[str, object]) -> Scenario:
    """Return a scenario with option values by ``path.option``; raises `MqlabError` for a bad one."""
    for place, value in values.items():
        path, dot, option = place.rpartition(".")
        if not dot:
            raise UnknownName(f"{place!r} is not an option path; expected broker/connector.option")
        found = found.change(path, **{option: value})
    return found


def in_order(found: Scenario, order: tuple[str, ...]) -> Scenario:
    """Return a scenario whose connectors lead from each broker to the next of *order*.

    The options of the connectors stay, the first one's first.
    """
    new = copy.deepcopy(body(found))
    kept = new.get("connectors", [])
    pairs = itertools.pairwise(order)
    new["connectors"] = [
        {
            **(kept[no] if no < len(kept) else kept[-1] if kept else {}),
            "name": f"{one}-{other}",
            "from": one,
            "to": other,
        }
        for no, (one, other) in enumerate(pairs)
    ]
    return read(new)
