"""To look only where messages have moved leads to the same as to look everywhere after every event."""

import random

import pytest

from mqlab.products.openmq.broker import settling
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.lab import ClusterLab
from tests.products.openmq import test_machine as machine
from tests.products.openmq.cluster import body

# More of what makes messages wait, come back and die than the scripts of `test_machine` have.
WORDS = {
    "queue": ["Q", "R", "S"], "topic": ["Q", "T"], "count": [0, 1, 4, 30], "delay_ms": [1, 5, 300],
    "time_to_live_ms": [1, 50, 5000], "selector": ["n > 1", "JMSPriority > 4"], "flow_limit": [1, 2, 5],
    "jms_priority": [[4, 9, 1]], "properties": [{"n": [0, 1, 2, 3]}], "size": [10, 20_000], "name": ["same"],
    "ack_mode": ["auto", "client", "transacted", "dups_ok"], "shared": [True], "acknowledge": [True],
    "options": [{"MaxNumMsgs": 3, "LimitBehavior": "FLOW_CONTROL"}, {"UseDMQ": False},
                {"MaxNumMsgs": 3, "LimitBehavior": "REMOVE_LOW_PRIORITY"}],
}  # fmt: skip
TIMED = ("kill", "stop", "start_broker", "send", "open_consumer", "cut", "heal")


def scenario(seed):
    """Return a random scenario whose steps are partly in the background, or in the midst of each other."""
    chance, opened, time = random.Random(seed), {"consumer": [], "producer": []}, 6000
    value = body(**machine.MODELS[chance.choice(list(machine.MODELS))])
    for no in range(40):
        step = machine.any_step(chance, no, opened)
        if step is None:
            continue
        if step["do"] == "snapshot":
            step.pop("properties", None)  # those of WORDS are of messages
        if step["do"] == "send":
            step["in_background"] = chance.random() < 0.4
        if step["do"] in TIMED and chance.random() < 0.4:
            time += chance.choice([0, 1, 2, 3, 5, 300, 8000])
            step["at"] = f"{time}ms"
        value["steps"].append(step)
    return lab_file.read(value)


def played(given, jitter):
    lab = ClusterLab(given, 1, jitter, limit=50_000)
    lab.play()
    return lab.trace.digest()


@pytest.mark.parametrize("jitter", [0, "3ms"])
@pytest.mark.parametrize("seed", range(20))
def test_to_look_where_messages_have_moved_is_enough(seed, jitter, monkeypatch):
    monkeypatch.setattr(machine, "WORDS", machine.WORDS | WORDS)
    given = scenario(seed)
    narrow = played(given, jitter)
    monkeypatch.setattr(settling, "settle", settling.settle_all)
    assert played(given, jitter) == narrow
