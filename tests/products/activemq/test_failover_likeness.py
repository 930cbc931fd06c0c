"""What must not matter to a run does not: names, the order of definitions, a later start, a bystander.

Each change of a recorded scenario says how its outcome changes with it; all recordings are tried.
"""

from __future__ import annotations

import copy
import json
import re

import pytest

from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import play
from tests.conftest import packed

PLACES = ("broker", "endpoint", "link", "from", "to", "by", "client", "consumer")
TEXTS = ("message", "cause")  # of errors: they name ports


def played(scenario, shift=0, times=True):
    """Return the outcome of a scenario, its steps counted from *shift*, perhaps without times."""
    found = outcome(play(timed_recordings.read({"scenario": scenario}), limit=100_000))
    del found["step_began_ms"]
    hidden = TEXTS if times else (*TEXTS, "ms", "gap_ms", "longest_send_ms", "step", "attempts")

    def plain(value):
        if isinstance(value, dict):
            return {k: v - shift if k == "step" else plain(v)
                    for k, v in value.items() if k not in hidden and v != {}}  # fmt: skip
        return [plain(one) for one in value] if isinstance(value, list) else value

    return plain(found)


def renamed(scenario):
    """Give everybody another name, in the other alphabetical order."""
    names = [one["name"] for key in ("brokers", "endpoints") for one in scenario.get(key, ())]
    steps = scenario["steps"]
    names += [step["client"] for step in steps if step["do"] == "connect"]
    names += [step["consumer"] for step in steps if step["do"] == "open_consumer"]
    new = {name: f"n{99 - no}{name}" for no, name in enumerate(dict.fromkeys(names))}

    def text(uri):
        return re.sub(r"\{(\w+)", lambda found: "{" + new.get(found[1], found[1]), uri)

    def other(item):
        for key, value in list(item.items()):
            if key in PLACES or key in ("name", "pure_slave_of"):
                item[key] = new.get(value, value)
            elif key == "brokers":
                item[key] = [new[name] for name in value]
            elif key in ("uri", "text"):
                item[key] = text(value)

    changed = copy.deepcopy(scenario)
    for key in ("brokers", "endpoints", "connectors", "files", "steps"):
        for item in changed.get(key, ()):
            other(item)
    found = json.dumps(played(changed))
    for old, name in new.items():
        found = found.replace(name, old)
    return played(scenario), json.loads(found)


def defined_in_another_order(scenario):
    changed = copy.deepcopy(scenario)
    for key in ("brokers", "endpoints"):
        changed[key] = changed.get(key, [])[::-1]
    return played(scenario), played(changed)


def later(scenario):
    first = {"do": "wait_ms", "ms": 777}
    changed = {**scenario, "steps": [first, *scenario["steps"]]}
    return played(scenario), played(changed, shift=1)


def with_a_bystander(scenario):
    """A broker and a client with a consumer that have nothing to do with the others."""
    more = [{"do": "start_broker", "broker": "Z"}, {"do": "connect", "client": "ZC", "uri": "{Z}"},
            {"do": "open_consumer", "client": "ZC", "consumer": "ZK", "queue": "Q"}]  # fmt: skip
    changed = {**scenario, "brokers": [*scenario.get("brokers", ()), {"name": "Z"}],
               "steps": [*more, *scenario["steps"]]}  # fmt: skip
    found = played(changed, shift=len(more))

    def alone(value):
        if isinstance(value, dict):
            rest = {k: alone(v) for k, v in value.items() if k not in ("Z", "ZC", "ZK")}
            return {k: v for k, v in rest.items() if v != {} and k != "account"}
        rows = [row for row in value if row.get("client") != "ZC"] if value and isinstance(
            value, list) and isinstance(value[0], dict) else value  # fmt: skip
        return [alone(row) for row in rows] if isinstance(rows, list) else rows

    usual = alone(played(scenario))
    return {k: v for k, v in usual.items() if v}, {k: v for k, v in alone(found).items() if v}


def sent_in_two_halves(scenario):
    steps = []
    for step in scenario["steps"]:
        count = step.get("count", 1) if step["do"] == "send" and not step.get("in_background") else 1
        if count > 1:
            steps.append({**step, "count": count // 2})
            step = {**step, "count": count - count // 2}
        steps.append(step)
    both = [played({**scenario, "steps": some}, times=False) for some in (scenario["steps"], steps)]
    for found in both:
        found.pop("results", None)
    return tuple(both)


CHANGES = (renamed, defined_in_another_order, later, with_a_bystander, sent_in_two_halves)


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_does_not_matter_changes_no_outcome(change):
    scenarios = {name: value["scenario"] for name, value in packed("failover").items()}
    differ = []
    for name, scenario in scenarios.items():
        usual, changed = change(scenario)
        if usual != changed:
            differ.append(name)
    assert differ == []


def test_the_comparison_sees_a_change():
    scenario = packed("failover")["activemq-failover/survives/auto_ack_prefetched.json"]["scenario"]
    other = copy.deepcopy(scenario)
    other["steps"][2]["count"] += 1
    assert played(other, times=False) != played(scenario, times=False)
