"""Changes of a recorded scenario that cannot matter, or matter in a known way, for every recording.

A rule passes them; a case made for one recording does not.
"""

from __future__ import annotations

import copy
import json
import re

import pytest

from mqlab.files.places import differ
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.openmq.files import lab_file
from tests.conftest import once, recorded

NAMES = ("consumer", "producer", "queue", "topic", "client_id", "subscription_name")
PLACES = ("broker", "brokers", "between", "to", "from", "of", "target", "options")


def seen(value, seed=0):
    """Return what consumers received and what the snapshots show."""
    found = json.loads(json.dumps(outcome(play(lab_file.read(value), seed=seed, limit=200_000))))
    return {"consumers": found["consumers"], "snapshots": found["snapshots"]}


plain = once(seen)


def renamed(value, table):
    """Return *value* with whole words replaced, in keys too."""
    if isinstance(value, str) and table:
        words = "|".join(map(re.escape, sorted(table, key=len, reverse=True)))
        return re.sub(rf"(?<!\w)({words})(?!\w)", lambda found: table[found[0]], value)
    if isinstance(value, list):
        return [renamed(item, table) for item in value]
    if isinstance(value, dict):
        return {renamed(key, table): renamed(item, table) for key, item in value.items()}
    return value


def with_steps(value, steps):
    new = copy.deepcopy(value)
    new["scenario"]["steps"] = steps
    return new


def names(value):
    """Return the names of clients, destinations and subscriptions in the order of the alphabet."""
    found = {step[key] for step in value["scenario"]["steps"] for key in NAMES if key in step}
    return sorted(n for n in found if not n.startswith(("temp:", "mq.sys")))


def brokers(value):
    return [b if isinstance(b, str) else b["name"] for b in value["scenario"]["brokers"]]


def without(found, *unwanted):
    """Return an outcome without what was added to the scenario: clients, destinations, brokers."""
    if isinstance(found, dict):
        return {k: without(v, *unwanted) for k, v in found.items() if k not in unwanted}
    return found


def same(one, other):
    assert differ("", one, other) == []


RECORDINGS = [p for name in ("openmq", "openmq-later") for p in recorded(name, lambda path: True)]
every_recording = pytest.mark.parametrize("value", RECORDINGS)


def those(keep):
    return pytest.mark.parametrize("value", [p for p in RECORDINGS if keep(p.values[0])])


@every_recording
def test_names_do_not_matter(value):
    table = {name: f"x{name}" for name in names(value)}
    steps = [{k: renamed(v, table) if k in NAMES else v for k, v in step.items()}
             for step in value["scenario"]["steps"]]  # fmt: skip
    same(renamed(plain(value), table), seen(with_steps(value, steps)))


@those(lambda value: len(brokers(value)) > 2)  # of two brokers one may be the master
def test_brokers_are_alike_but_for_what_the_scenario_says_of_them(value):
    one, other = brokers(value)[-2:]
    table = {one: other, other: one}
    steps = [{k: renamed(v, table) if k in PLACES else v for k, v in step.items()}
             for step in value["scenario"]["steps"]]  # fmt: skip
    new = with_steps(value, steps)
    new["scenario"]["cluster"] = renamed(value["scenario"]["cluster"], table)
    new["scenario"]["brokers"] = sorted(renamed(value["scenario"]["brokers"], table),
                                        key=lambda b: b if isinstance(b, str) else b["name"])  # fmt: skip
    # Who wins a takeover is a race that the seed decides.
    seeds = range(8 if value["scenario"]["cluster"]["model"] == "enhanced" else 1)
    wanted = renamed(plain(value), table)
    assert any(differ("", wanted, seen(new, seed)) == [] for seed in seeds)


def no_creation_waits(value):
    rows = [row for found in value["observed"]["outcomes"] for row in found["outcome"].get("operations", ())]
    return ("create_destination", "blocked") not in [(row["do"], row.get("result")) for row in rows]


def no_winner_decides(value):
    found = [row for entry in value["observed"]["outcomes"] for row in entry["outcome"]["consumers"].values()]
    moved = any("homes" in row for row in found)
    return not (moved and value["scenario"]["cluster"]["model"] == "enhanced")


def nothing_is_reaped_soon(value):
    return "reaptime" not in json.dumps(value["scenario"])


# A creation gives up after a minute, which looking takes longer than. While a client seeks its broker, or a
# destination is about to be reaped, each look takes a second, too; and who takes over what it had is a race.
@those(lambda value: no_creation_waits(value) and no_winner_decides(value) and nothing_is_reaped_soon(value))
def test_to_wait_until_nothing_moves_and_to_look_changes_nothing(value):
    steps = [more for no, step in enumerate(value["scenario"]["steps"])
             for more in (step, {"do": "settle"}, {"do": "snapshot", "label": f"look{no}"})]  # fmt: skip
    found = seen(with_steps(value, steps))
    same(plain(value), without(found, *(f"look{no}" for no in range(len(steps)))))


def can_be_split(step):
    dealt = isinstance(step.get("jms_priority"), list) or "properties" in step
    return step["do"] == "send" and step["count"] > 1 and not dealt and "in_background" not in step


def no_credit_ends(value):
    """Whether no consumer has a small credit: word of more comes behind a burst, and is shared out by homes."""
    return re.search('"(ConsumerFlowLimit|flow_limit|shared)"', json.dumps(value["scenario"])) is None


@those(no_credit_ends)  # where one is used up, a rest between the two lets word of more come
def test_sending_in_two_steps_is_sending_in_one(value):
    steps = []
    for step in value["scenario"]["steps"]:
        half = step["count"] // 2 if can_be_split(step) else 0
        steps += [{**step, "count": half}, {**step, "count": step["count"] - half}] if half else [step]
    same(plain(value), seen(with_steps(value, steps)))


@those(lambda value: value["scenario"]["steps"][0] == {"do": "start"})  # all brokers are there
def test_clients_of_other_destinations_do_not_matter(value):
    steps = value["scenario"]["steps"]
    first, last = brokers(value)[0], brokers(value)[-1]
    more = [{"do": "open_consumer", "consumer": "Z1", "broker": last, "topic": "Z"},
            {"do": "open_consumer", "consumer": "Z2", "broker": first, "queue": "Z",
             "receiving": False}]  # fmt: skip
    found = seen(with_steps(value, [steps[0], *more, *steps[1:]]))
    same(plain(value), without(found, "Z1", "Z2", "topic://Z", "queue://Z"))


# It may take over in an enhanced cluster, and a credit is divided by the number of brokers (OpenMQ rule 2.3).
@those(lambda value: value["scenario"]["cluster"]["model"] != "enhanced" and no_credit_ends(value))
def test_one_more_broker_does_not_matter_where_none_is_taken_over(value):
    new = copy.deepcopy(value)
    new["scenario"]["brokers"].append("b9")
    same(plain(value), without(seen(new), "b9"))


# A second set of clients uses other destinations after each step. What tells the two apart: the second
# creation without a database blocks, the second send after a failure is no longer the first.
ONCE = ("peer/database_down.json", "crash/producer_fails_over.json", "enhanced/prepared_ack.json")


@pytest.mark.parametrize("value", recorded("openmq", lambda path: not path.endswith(ONCE)))
def test_two_sets_of_clients_each_get_what_one_alone_would(value):
    table, steps, numbers, count, old = {n: f"{n}zz" for n in names(value)}, [], {}, 0, 0
    for step in value["scenario"]["steps"]:
        twin = {k: renamed(v, table) if k in NAMES else v for k, v in step.items()}
        both = [step, twin] if any(k in step for k in NAMES) else [step]
        steps += both
        sent = step["count"] if step["do"] == "send" else 0
        for _ in both if sent else ():
            numbers |= {count + no: old + no for no in range(1, sent + 1)}
            count += sent
        old += sent
    found = seen(with_steps(value, steps))
    alone = without(plain(value), "queue://mq.sys.dmq")  # both share it
    for mine in (True, False):
        same(alone, half(found, numbers, mine))


def shared(key, value):
    """Return what has no name in it: brokers, and sessions of which every line stands there twice."""
    return value if key == "homes" else value[::2] if key == "transactions" else None


def half(found, numbers, mine):
    """Return what one of the two sets sees of everything, with the numbers it would have alone."""
    if isinstance(found, dict):
        kept = {k: v for k, v in found.items() if ("sys" not in k and ("zz" in k) != mine)
                or not re.match(r"[A-Z][A-Z0-9]*(zz)?$|queue:|topic:", k)}  # fmt: skip
        found = {k.replace("zz", ""): shared(k, v) or half(v, numbers, mine) for k, v in kept.items()}
        return {k: v for k, v in found.items() if k != "durable_subscriptions" or v}
    if isinstance(found, list) and found and isinstance(found[0], int):
        return [numbers[number] for number in found]
    if isinstance(found, list):
        return [line.replace("zz", "") for line in found if ("zz" in line) != mine]
    return found
