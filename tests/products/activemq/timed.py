"""Timed scenarios in few words, for tests: a step is ``do key=value ...``, values are JSON or text."""

from __future__ import annotations

import json
from typing import Any

from mqlab.engine.timing import RECORDED
from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import play
from mqlab.spec import Scenario as TimedScenario


def word(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def step(text: str) -> dict[str, Any]:
    do, *pairs = text.split()
    return {"do": do, **{k: word(v) for k, _, v in (pair.partition("=") for pair in pairs)}}


def body(brokers="", script="", down="", connectors=(), more=None, version="5.17.2", **about):
    """Return a scenario: *brokers* by name with the keys of *more*, *down* listeners that refuse."""
    return {
        "version": version,
        "brokers": [{"name": name, **(more or {}).get(name, (more or {}).get("*", {}))}
                    for name in brokers.split()],
        "endpoints": [{"name": n, "mode": "refuse"} if "=" not in n else
                      dict(zip(("name", "mode"), n.split("="), strict=True)) for n in down.split()],
        "connectors": [{"name": f"link{no}", "from": home, "uri": uri, **(rest[0] if rest else {})}
                       for no, (home, uri, *rest) in enumerate(connectors)],
        "steps": [step(line) for line in script.strip().splitlines() if line.strip()],
        **about,
    }  # fmt: skip


def scenario(*arguments, **more) -> TimedScenario:
    return timed_recordings.read(body(*arguments, **more), "test")


def run(*arguments, seed=0, **more) -> dict[str, Any]:
    return outcome(play(scenario(*arguments, **more), seed=seed, limit=200_000))


def trace(*arguments, seed=0, **more):
    return play(scenario(*arguments, **more), seed=seed, limit=200_000)


def absolute(found: dict[str, Any], entry: dict[str, Any]) -> int:
    """Return the ms since the beginning of an event of an outcome."""
    return found["step_began_ms"][entry["step"]] + entry["ms"][0]


def tries(found, who="C") -> list[str]:
    return [entry["to"] for entry in found.get("attempts", {}).get(who, [])]


def gaps(found, who="C") -> list[int]:
    """Return the waits between tries (ms), without what a round of tries takes besides."""
    took = RECORDED.round // 1000
    return [e["gap_ms"][0] - took for e in found["attempts"][who] if e.get("gap_ms", [0])[0] > took]


def path(found, who="C") -> list[str]:
    """Return where a client was connected, ``-`` for a loss."""
    return [e.get("to", "-") for e in found.get("connections", {}).get(who, [])]


def roles(found, who) -> list[str]:
    return [e["role"] for e in found.get("roles", {}).get(who, [])]


def when(found, who, role) -> int:
    """Return when a broker first had a role, in ms since the beginning."""
    return absolute(found, next(e for e in found["roles"][who] if e["role"] == role))


def errors(found) -> list[str]:
    return [row["error"]["class"] for row in found["results"] if row.get("ok") is False
            and "error" in row]  # fmt: skip


def result(found, label):
    return next(row for row in found["results"] if row.get("label") == label)
