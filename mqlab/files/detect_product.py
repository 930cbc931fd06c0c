"""Whose a lab file is, and which of its forms: told by the keys of its scenario object alone."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.spec.steps import PLAIN

# What a step of ActiveMQ's timed form has and the same step of the plain form has not.
_TIMED_KEYS = {"client", "wait", "wait_ms", "at_ms", "max_ms", "session"}


def scenario_in(value: object) -> object:
    """Return what should be a scenario object: that of a recording, or the value itself."""
    return value.get("scenario", value) if isinstance(value, Mapping) else value


def openmq(body: Mapping[str, object]) -> bool:
    """Whether a scenario object is an OpenMQ cluster: it has a cluster with a model."""
    cluster = body.get("cluster")
    product = body.get("product", "openmq")
    return product == "openmq" and isinstance(cluster, Mapping) and "model" in cluster


def artemis(body: Mapping[str, object]) -> bool:
    """Whether a scenario object is one of Artemis: it says so, lists queues, or gives a broker an HA policy."""
    if "product" in body or "steps" not in body:
        return body.get("product") == "artemis"
    brokers = body.get("brokers")
    rows = brokers if isinstance(brokers, list) else []
    return "queues" in body or any(isinstance(row, Mapping) and "ha" in row for row in rows)


def activemq_in_time(body: Mapping[str, object]) -> bool:
    """Whether a scenario object is of ActiveMQ's timed form: it has listeners, lines, files or timed steps."""
    if body.get("product", "activemq") != "activemq" or {"cluster", "pace", "actions"} & set(body):
        return False
    if any(key in body for key in ("endpoints", "files", "lines")):
        return True
    written = body.get("steps")
    steps = [s for s in written if isinstance(s, dict)] if isinstance(written, list) else []
    if any(step.get("do") not in PLAIN for step in steps):
        return True
    return any(_TIMED_KEYS & set(step) for step in steps if step.get("do") != "send") or any(
        "client" in step for step in steps
    )
