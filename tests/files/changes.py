"""Lab files that somebody has spoiled: random changes at any depth, each the same for the same number."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from random import Random

from tests.conftest import ROOT

FILES = ("fuse", "amq6", "article", "fuse4", "unsafe", "openmq", "artemis", "crash")
TEXTS = {path.stem: path.read_text() for path in (ROOT / "mqlab" / "products").rglob("*.json")}
SEEDS = [figure["scenario"] for name in FILES for figure in json.loads(TEXTS[name])["figures"]]
# What people, editors and programs write in the wrong place.
ODD = [
    None, 0, -1, 1, 3, -5, 0.5, 10**9, 10**20, 1e308, float("inf"), float("nan"), True, False,
    "", " ", "A", "a > 1", "queue://Q", "static:(", "1s", "inf", "-1", "9" * 30, "\u0000", "é" * 100,
    "\ud800", [], {}, [1], ["A"], ["A", "B"], [[]], [None], {"a": 1}, {"name": "A"},
]  # fmt: skip


def places(value, path=()):
    """Yield the path of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inside:
        yield (*path, key)
        if isinstance(item, (dict, list)):
            yield from places(item, (*path, key))


def used(values):
    """Return key -> all values that it has anywhere, which are right elsewhere."""
    found = defaultdict(list)
    for value in values:
        for path in places(value):
            found[path[-1]].append(at(value, path))
    return {key: items for key, items in found.items() if isinstance(key, str)}


def at(value, path):
    for key in path:
        value = value[key]
    return value


USED = used(SEEDS)


def changed(no: int, seeds=SEEDS, used=USED):
    """Return the lab file of that number: one of the *seeds*, changed in one to three places."""
    random = Random(no)
    value = copy.deepcopy(seeds[no % len(seeds)])
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        paths = list(places(value))
        if paths:
            path = random.choice(paths)
            random.choice(WAYS)(random, at(value, path[:-1]), path[-1], value, used)
    return value


def replace(random, home, key, whole, used):
    home[key] = copy.deepcopy(random.choice(ODD))


def delete(random, home, key, whole, used):
    del home[key]


def duplicate(random, home, key, whole, used):
    if isinstance(home, list):
        home.insert(key, copy.deepcopy(home[key]))
    else:
        home[random.choice(list(used))] = copy.deepcopy(home[key])


def retype(random, home, key, whole, used):
    was = home[key]
    size = len(was) if hasattr(was, "__len__") else 7
    home[key] = random.choice([[was], {"name": was}, str(was), size, float(size)])


def rename(random, home, key, whole, used):
    if isinstance(home, dict):
        home[random.choice(list(used))] = home.pop(key)


def swap(random, home, key, whole, used):
    home[key] = copy.deepcopy(at(whole, random.choice(list(places(whole)))))


def borrow(random, home, key, whole, used):
    """Take what is right elsewhere: most of these files run, and not as anybody thought."""
    of = key if isinstance(home, dict) else random.choice(("steps", "brokers", "connectors"))
    found = random.choice(used.get(of, [1]))
    home[key] = copy.deepcopy(random.choice(found) if isinstance(found, list) and found else found)


def add(random, home, key, whole, used):
    if isinstance(home, dict):
        name = random.choice(list(used))
        home[name] = copy.deepcopy(random.choice(used[name]))


def shift(random, home, key, whole, used):
    if isinstance(home[key], (int, float)):
        home[key] += random.choice((-1000, -1, 1, 1000))


def move(random, home, key, whole, used):
    if isinstance(home, list):
        home.insert(random.randrange(len(home)), home.pop(key))


WAYS = (replace, delete, duplicate, retype, rename, swap, add, add, shift, move, move,
        borrow, borrow, borrow)  # fmt: skip
