"""Which product family a lab file belongs to, and where its reader and its runtime are.

A family has a module of its name in `formats` (`claims`, `read`, `write`, `differences`), in `runtime`
(`play`, `outcome`) and in `problems` (`check`), and figures in `scenarios`. The core knows none of them:
they are looked for by name, so that a family can be taken out by deleting its modules. What no family
claims is a network of ActiveMQ brokers.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mqlab import runtime, scenarios
from mqlab.errors import CannotRun, UnknownName
from mqlab.formats import failover, recording, timing
from mqlab.formats import lab as lab_files
from mqlab.problems import check
from mqlab.runtime.activemq.outcome import outcome as timed_outcome
from mqlab.scenarios import crash, timed
from mqlab.spec import Scenario
from mqlab.trace.outcome import outcome
from mqlab.trace.trace import Trace

# In this order they are asked: a timed scenario is known by single steps that others have too.
NAMES = ("openmq", "artemis")


class Core:
    """The family of ActiveMQ."""

    name = "activemq"
    write = staticmethod(lab_files.write)
    play = staticmethod(runtime.play)

    @staticmethod
    def read(value: Mapping[str, Any], where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file, or of a recording at rest or in time."""
        body = value.get("scenario", value)
        return (failover if failover.claims(body) else lab_files).read(value, where)

    @staticmethod
    def outcome(trace: Trace) -> dict[str, Any]:
        """Return what came of a run, in the form of the recordings at rest or in time."""
        return timed_outcome(trace) if trace.header.get("began") else outcome(trace)

    @staticmethod
    def differences(found: Mapping[str, Any], observed: Mapping[str, Any]) -> list[str]:
        """Return in what an outcome differs from a recording."""
        return (timing if "step_began_ms" in found else recording).differences(found, observed)

    @staticmethod
    def check(what: Any) -> Any:
        """Return the problems of a network or scenario."""
        return check(what)


class Family:
    """A family of its own: its modules, entered at first use."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.formats = importlib.import_module(f"mqlab.formats.{name}")

    def __getattr__(self, what: str) -> Any:
        if what in ("claims", "read", "write", "differences"):
            return getattr(self.formats, what)
        if what == "figures":
            return importlib.import_module(f"mqlab.scenarios.{self.formats.SCENARIOS}").figures
        room = "problems" if what == "check" else "runtime"
        return getattr(importlib.import_module(f"mqlab.{room}.{self.name}"), what)


def known() -> list[Family]:
    """Return the families that are there."""
    found = []
    for name in NAMES:
        try:
            found.append(Family(name))
        except ModuleNotFoundError as error:
            if error.name != f"mqlab.formats.{name}":
                raise
    return found


def family_of(value: Mapping[str, Any]) -> Family | type[Core]:
    """Return the family of a lab file's JSON value; plain ActiveMQ when none claims it."""
    body = value.get("scenario", value)
    for family in known():
        if isinstance(body, Mapping) and family.claims(body):
            return family
    return Core


def family_of_scenario(scenario: Any) -> Family | type[Core]:
    """Return the family of a scenario value; raises `CannotRun` for what no family made."""
    if isinstance(scenario, Scenario):
        return Core
    for family in known():
        if type(scenario).__module__ == f"mqlab.spec.{family.formats.SPEC}":
            return family
    raise CannotRun(f"{type(scenario).__name__} is no scenario of a family that is installed")


def is_scenario(what: Any) -> bool:
    """Whether a value is a scenario of some family."""
    try:
        family_of_scenario(what)
    except CannotRun:
        return False
    return True


def figures(guide: str | None = None) -> tuple[Any, ...]:
    """Return the figures of every family, or of one guide; raises `UnknownName` for no guide."""
    found: list[Any] = [*scenarios.figures(), *timed.figures()]
    for family in known():
        found += family.figures()
    found += crash.figures(
        {"failover": Core.read, **{family.name: family.read for family in known()}}
    )
    guides = list(dict.fromkeys(figure.id.partition(":")[0] for figure in found))
    if guide is not None and guide not in guides:
        raise UnknownName.of("guide", guide, guides)
    return tuple(f for f in found if guide is None or f.id.startswith(f"{guide}:"))


def figure(id: str) -> Any:
    """Return a figure of any family by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``."""
    try:
        return scenarios.figure(id)
    except UnknownName:
        ours = {figure.id: figure for figure in figures()}
        found = ours.get(id) or ours.get(f"{id}a")
        if found is None:
            raise UnknownName.of("figure", id, ours) from None
        return found


def load(path: str | Path) -> Any:
    """Read the scenario of a lab file or recording of any family; raises `BadFile`."""
    value = lab_files.read_json(path)
    return family_of(value).read(value, str(path))


def play(scenario: Any, seed: int = 0, jitter: int | str = 0, limit: int | None = None) -> Trace:
    """Play a scenario of any family; raises `BadValue` beyond *limit* events."""
    return family_of_scenario(scenario).play(scenario, seed, jitter, limit)


def outcome_of(trace: Trace) -> Any:
    """Return a trace's outcome in the form of its family's recordings."""
    body = trace.header.get("scenario", {})
    return family_of(body if isinstance(body, Mapping) else {}).outcome(trace)
