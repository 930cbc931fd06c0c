"""Every recorded scenario, changed so that what must come out of it is known: the rules hold, not the cases."""

from __future__ import annotations

import copy
import json
import re

import pytest

from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.files import lab_file
from tests.conftest import once, recorded

CALLS = ("open_consumer", "open_producer", "open_client", "receive", "resume", "hold", "send",
         "close_consumer", "commit", "rollback", "xa", "wait_failover")  # fmt: skip
NUMBERS = ("received", "redelivered", "sent", "waiting", "delivering", "lost",
           "received_more_than_once")  # fmt: skip
SPOKEN = (
    "do",
    "role",
    "act",
    "ack_mode",
    "label",
    "selector",
    "properties",
    "core",
    "durable_name",
)

ALL = [p for name in ("artemis", "artemis-later") for p in recorded(name, lambda path: True)]


def run(value, **more):
    body = {**value["scenario"], "version": value["observed"]["version"], **more}
    return json.loads(json.dumps(outcome(play(lab_file.read(body), limit=100_000))))


plain = once(run)


def renamed(value, names):
    """Return a JSON value with other names, where they stand as words."""
    if isinstance(value, str):
        return re.sub(r"[A-Za-z0-9]+", lambda word: names.get(word[0], word[0]), value)
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    if isinstance(value, dict):
        return {renamed(key, names): item if key in SPOKEN and isinstance(key, str) else
                renamed(item, names) for key, item in value.items()}  # fmt: skip
    return value


def everywhere(value, number, step):
    """Return an outcome with other numbers of messages and steps."""
    if isinstance(value, list):
        return [everywhere(item, number, step) for item in value]
    if isinstance(value, str):
        text = re.sub(r"\bstep (\d+)", lambda m: f"step {step(int(m[1]))}", value)
        text = re.sub(r"(?<=acknowledge )(\d+)", lambda m: str(number(int(m[1]))), text)
        text = re.sub(r"^(\d+)(?= )", lambda m: str(number(int(m[1]))), text)
        return re.sub(r"^sender(\d+)$", lambda m: f"sender{step(int(m[1]))}", text)
    if isinstance(value, dict):
        found = {everywhere(key, number, step): [number(n) for n in item]
                 if key in NUMBERS and isinstance(item, list) else
                 everywhere(item, number, step) for key, item in value.items()}  # fmt: skip
        return {**found, "step": step(value["step"])} if "step" in value else found
    return value


def same(number):
    return number


def named(steps, *keys):
    return {step[key] for step in steps for key in keys if key in step}


@pytest.mark.parametrize("value", ALL)
def test_names_carry_no_meaning(value):
    body = value["scenario"]
    names = {b["name"] for b in body["brokers"]} | {q["name"] for q in body["queues"]}
    names |= named(body["steps"], "consumer", "producer", "client", "queue", "topic")
    others = {name: f"z{name}" for name in names}
    parts = {key: renamed(body[key], others) for key in ("brokers", "queues", "steps")}
    found, before = run(value, **parts), plain(value)
    expected = renamed(before, others)
    expected["snapshots"] = {label: renamed(shot, others)
                             for label, shot in before["snapshots"].items()}  # fmt: skip
    assert found == expected


@pytest.mark.parametrize("value", ALL)
def test_looking_changes_nothing(value):
    steps = [one for no, step in enumerate(value["scenario"]["steps"])
             for one in (step, {"do": "snapshot", "label": f"extra{no}", "topology": True})]  # fmt: skip
    found = run(value, steps=steps)
    found["snapshots"] = {label: shot for label, shot in found["snapshots"].items()
                          if not label.startswith("extra")}  # fmt: skip
    assert found == everywhere(plain(value), same, lambda no: 2 * no)


def halves(steps):
    """Return steps with each send in two, the new number of each, and (step, messages of the first)."""
    found, places, cuts = [], {}, []
    for no, step in enumerate(steps):
        places[no] = len(found)
        dealt = max([1, *(len(v) for v in step.get("properties", {}).values())])
        first = step.get("count", 0) // 2 // dealt * dealt
        if step["do"] == "send" and first and not step.get("in_background"):
            cuts.append((len(found), first))
            found += [{**step, "count": first}, {**step, "count": step["count"] - first}]
        else:
            found.append(step)
    return found, places, cuts


@pytest.mark.parametrize("value", ALL)
def test_two_sends_are_as_good_as_one(value):
    steps, places, cuts = halves(value["scenario"]["steps"])
    found, expected = run(value, steps=steps), everywhere(plain(value), same, places.__getitem__)
    for place, _ in cuts:
        second = found["senders"].pop(f"sender{place + 1}", {})
        for key in ("sent", "failed"):
            if second.get(key):
                found["senders"][f"sender{place}"][key] += second[key]
    assert found == expected


def twins(steps, names):
    """Return steps with a twin of each call on queues of its own, and what became of the numbers."""
    found, places, numbers, sent, all_sent = [], {}, {}, 0, 0
    for no, step in enumerate(steps):
        places[no] = len(found)
        found.append(step)
        if step["do"] in CALLS:
            twin = {key: item if key in SPOKEN or key == "broker" else renamed(item, names)
                    for key, item in step.items()}  # fmt: skip
            found.append(twin)
        if step["do"] == "send":
            numbers |= {sent + n: all_sent + n for n in range(1, step["count"] + 1)}
            sent, all_sent = sent + step["count"], all_sent + 2 * step["count"]
    return found, places, numbers


def without(found, twin, numbers):
    """Return an outcome without what belongs to twins."""
    found = copy.deepcopy(found)
    for key in ("consumers", "senders"):
        found[key] = {name: told for name, told in found[key].items() if not twin(name)}
    for key in ("lost", "received_more_than_once"):
        found[key] = [number for number in found[key] if number in numbers]
    found["waits"] = [wait for wait in found["waits"] if not twin(wait["broker"])]
    for shot in found["snapshots"].values():
        shot["received_so_far"] = {n: c for n, c in shot["received_so_far"].items() if not twin(n)}
        for broker in shot["brokers"].values():
            for state in (broker, *broker.get("hosts", {}).values()):
                state.pop("prepared_transactions", None)  # both are told together
                if "queues" in state:
                    state["queues"] = {n: q for n, q in state["queues"].items() if not twin(n)}
    for client in found["senders"].values():
        if "results" in client:
            client["results"] = [re.sub(r"\d+ in doubt", "in doubt", text)
                                 for text in client["results"]]  # fmt: skip
    return found


# The calls of a twin take time. Where the plays of a recording differ by moments, so would these two.
AGREED = [p for p in ALL if p.values[0]["observed"]["deterministic"] != "none"]


@pytest.mark.parametrize("value", AGREED)
def test_queues_do_not_know_of_each_other(value):
    body = value["scenario"]
    names = {q["name"] for q in body["queues"]}
    names |= named(body["steps"], "consumer", "producer", "client", "queue", "topic", "client_id")
    names = {name: f"twin{name}" for name in names}
    steps, places, numbers = twins(body["steps"], names)
    senders = {f"sender{no}" for no in set(range(len(steps))) - set(places.values())}
    found = run(value, steps=steps, queues=[*body["queues"], *renamed(body["queues"], names)])
    before = everywhere(plain(value), numbers.__getitem__, places.__getitem__)
    mine = set(numbers.values())
    assert without(found, lambda name: "twin" in name or name in senders, mine) == (
        without(before, lambda name: False, mine)
    )
