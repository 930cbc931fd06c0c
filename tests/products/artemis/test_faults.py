"""Brokers die and come back while messages travel: what is persistent and was accepted is not lost."""

from __future__ import annotations

import random

import pytest

from mqlab.api import artemis
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.lab import ArtemisLab
from tests.products.artemis.ha import body, master, slave, store

Q = artemis.Queue("Q")

BACK = {"A": master(check_for_live_server=True), "A2": slave(allow_failback=True), "B": None}
SHARED = {"shared_store": "a"}
SETS = {
    "two brokers": ({"A": None, "B": None}, "AB"),
    "a shared store and another broker": (
        {"A": {**store("master"), **SHARED}, "A2": {**store("slave"), **SHARED}, "B": None}, "AB"),
    "a replicated pair and another broker": (BACK, "B"),  # a copy may not be complete again
}  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", SETS)
def test_nothing_persistent_is_lost_while_brokers_die_and_come_back(name, seed):
    chance = random.Random(f"{name}{seed}")
    brokers, mortal = SETS[name]
    lab = ArtemisLab(lab_file.read(body(brokers, "wait ms=5000")), seed, chance.choice([0, "5ms", "50ms"]))
    lab.play()
    lab.do(artemis.Consumer("C", on=chance.choice("AB"), reads=Q))
    lab.do(artemis.Producer("P", on="A", sends=400, to=Q, every="10ms", in_background=True))
    time = lab.now // 1000
    for _ in range(chance.randint(1, 3)):
        who, ends = chance.choice(mortal), chance.choice([artemis.Crash, artemis.Stop])
        time += chance.randint(0, 1500)
        us = time * 1000 + chance.randrange(20_000)
        lab.do(ends(who, at=f"{us}us"))
        time += chance.randint(1000, 12_000)
        lab.do(artemis.Restart(who, at=f"{time}ms"))
    lab.until(f"{time + 90_000}ms")
    assert lab.trace.lost() == []
    assert sum(len(sender.sent) for sender in lab.clients.senders.values()) == 400


@pytest.mark.parametrize("do", ["receive", "close_consumer", "hold", "resume"])
def test_who_is_not_open_yet_is_named(do):
    keys = {"consumer": "C", "count": 1} if do == "receive" else {"consumer": "C"}
    lab = ArtemisLab(lab_file.read({**body({"A": None}, "wait ms=9000"), "steps": [
        {"do": "open_consumer", "consumer": "C", "broker": "A", "queue": "Q", "at": "5s"},
        {"do": do, **keys, "at": "1s"}]}))  # fmt: skip
    with pytest.raises(LookupError, match="'C'"):
        lab.until("9s")
