"""Artemis scenarios in few words, for tests: a step is ``do key=value ...``, values are JSON or text."""

from __future__ import annotations

from typing import Any

from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.rules import check
from tests.products.activemq.timed import step


def ha(policy: str, role: str | None = None, **elements) -> dict[str, Any]:
    return {"policy": policy, **({"role": role} if role else {}), **elements}


def master(**elements):
    return ha("replication", "master", **elements)


def slave(**elements):
    return ha("replication", "slave", **elements)


def pairs(count, of=None, **elements):
    """Return *count* masters M1 ... and a slave S1 of M1, kept to it by a group."""
    found = {f"M{no}": master(**(elements if no > 1 else {"group_name": "g", **elements}))
             for no in range(1, count + 1)}  # fmt: skip
    return {**found, "S1": slave(group_name="g", **(of or {}))}


def store(role, where="store", **elements):
    """Return a broker with a shared store; it has more keys than its policy."""
    return {"ha": ha("shared_store", role, **elements), "shared_store": where}


def body(brokers, script="", version="2.5", queues="Q", start=True, **more):
    """Return a scenario: *brokers* by name, each a policy or its keys. All are started first."""
    items = []
    for name, given in brokers.items():
        keys = {"ha": given} if given and "policy" in given else given or {}
        if version == "2.4" and "ha" in keys:  # its schema has no retries of votes
            keys = {**keys, "ha": {k: v for k, v in keys["ha"].items() if not k.startswith("vote_retr")}}
        items.append({"name": name, **keys})
    return {
        "version": version, "brokers": items,
        "queues": [{"name": name} for name in queues.split()] if isinstance(queues, str) else queues,
        "steps": [{"do": "start"}] * start
        + [step(line) for line in script.strip().splitlines() if line.strip()],
        **more,
    }  # fmt: skip


def trace(brokers, script="", seed=0, **more):
    return play(lab_file.read(body(brokers, script, **more), "test"), seed=seed, limit=100_000)


def run(brokers, script="", seed=0, **more) -> dict[str, Any]:
    """Return what came of a script, with a snapshot "end" after its last step."""
    return outcome(trace(brokers, f"{script}\nsnapshot label=end topology=true", seed, **more))


def at(found, broker, label="end"):
    return found["snapshots"][label]["brokers"][broker]


def roles(found, label="end"):
    return {name: state["role"] for name, state in found["snapshots"][label]["brokers"].items()}


def got(found, consumer):
    return found["consumers"][consumer]["received"]


def waiting(found, broker, queue="Q", label="end"):
    return at(found, broker, label)["queues"][queue]["waiting"]


def problems(brokers, script="", **more):
    return [str(problem) for problem in check(lab_file.read(body(brokers, script, **more)))]
