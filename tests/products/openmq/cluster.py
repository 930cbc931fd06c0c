"""OpenMQ scenarios in few words, for tests: a step is ``do key=value ...``, values are JSON or text."""

from __future__ import annotations

import json
from typing import Any

from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.openmq.files import lab_file


def word(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def step(text: str) -> dict[str, Any]:
    do, *pairs = text.split()
    return {"do": do, **{k: word(v) for k, _, v in (pair.partition("=") for pair in pairs)}}


FAST = {"imq.cluster.monitor.interval": 3}
ALL = ["b1", "b2", "b3"]
HOME = {"master": "b3"}  # b1 may die, and administration goes on
ENHANCED = {"model": "enhanced", "options": FAST}
S = "subscription_name=s"
TAKEN = "wait_for event=takeover_complete limit_ms=120000"


def body(script="", model="master", brokers="b1 b2 b3", options=None, own=None, **more):
    """Return a scenario; *own* are properties of single brokers. All are started first."""
    cluster: dict[str, Any] = {"model": model, "options": options or {}}
    if model == "master":
        cluster["master"] = more.pop("master", "b1")
    return {
        "cluster": cluster,
        "brokers": [{"name": n, "options": (own or {}).get(n, {})} for n in brokers.split()],
        "steps": [{"do": "start"}] * more.pop("start", True)
        + [step(line) for line in script.strip().splitlines() if line.strip()],
        **more,
    }


def trace(script="", seed=0, **more):
    return play(lab_file.read(body(script, **more), "test"), seed=seed, limit=100_000)


def run(script="", seed=0, **more) -> dict[str, Any]:
    """Return what came of a script, with a snapshot "end" after its last step."""
    return outcome(trace(f"{script}\nsettle\nsnapshot label=end", seed, **more))


def got(found, consumer):
    return found["consumers"][consumer]["received"]


def again(found, consumer):
    return found["consumers"][consumer]["redelivered"]


def result(found, id):
    return next(row["result"] for row in found["operations"] if row.get("id") == id)


def at(found, broker, label="end"):
    return found["snapshots"][label]["brokers"][broker]


def queue(found, broker, label="end", dest="queue://Q"):
    return at(found, broker, label)["destinations"][dest]


def known(found, dest, label="end"):
    """Return the brokers that list a destination."""
    return [name for name, state in found["snapshots"][label]["brokers"].items()
            if dest in state.get("destinations", {})]  # fmt: skip


def holds(found, broker, dest="queue://Q", label="end"):
    """Return how many messages a broker holds as their home."""
    row = at(found, broker, label).get("destinations", {}).get(dest)
    return row["messages"] - row["remote"] if row else 0
