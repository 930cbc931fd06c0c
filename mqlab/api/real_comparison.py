"""The same script on real brokers and in mqlab, and both outcomes, side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from mqlab import products
from mqlab.errors import BadValue
from mqlab.products import inputs
from mqlab.products.real_play import play
from mqlab.products.unsupported_steps import steps
from mqlab.real.home import find
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.plural import counted
from mqlab.trace.grid import TextTable
from mqlab.trace.trace import Trace

Outcome = JsonObject


@dataclass(frozen=True, slots=True, repr=False)
class Beside(TextTable):
    """Two outcomes of one script: that of real brokers of a `version`, and that of mqlab.

    `rows` are the totals of both: messages that each consumer received, messages that lie in each queue
    in the end, and what each broker is then where the product has roles. `differs` names those in
    which they are not alike. `trace` is what the real clients saw:
    the way of each message that was received, and when; it can be viewed and asked as that of a run.
    `failures` is what ended threads within the real brokers: bugs of theirs, for which the script was
    played again. `changes` is how the files that the real brokers ran on differ from the user's own, as a diff.
    """

    version: str
    real: Outcome = field(hash=False)
    lab: Outcome = field(hash=False)
    trace: Trace | None = field(default=None, hash=False, compare=False)
    product: str = "ActiveMQ"
    failures: tuple[str, ...] = ()
    changes: str = field(default="", hash=False, compare=False)

    @property
    def rows(self) -> dict[str, tuple[int | str, int | str]]:
        """What is compared: name -> the real number, mqlab's number."""
        real, lab = dict(_totals(self.real)), dict(_totals(self.lab))
        return {name: (real.get(name, 0), lab.get(name, 0)) for name in {**real, **lab}}

    @property
    def differs(self) -> list[str]:
        """The rows in which the two differ."""
        return [name for name, (real, lab) in self.rows.items() if real != lab]

    @property
    def problems(self) -> list[str]:
        """What went wrong for clients of the real brokers, and within these."""
        failed = (f"repeated, because a thread of the real broker failed: {one}" for one in self.failures)
        return [*self.real.get("problems", ()), *failed]

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then a line for each total."""
        lines = [
            [name, str(real), str(lab), "" if real == lab else "differs"]
            for name, (real, lab) in self.rows.items()
        ]
        return [["", f"{self.product} {self.version}", "mqlab", ""], *lines]

    def __str__(self) -> str:
        told = "Real broker and mqlab agree." if not self.differs else f"{len(self.differs)} differ."
        lines = sum(line[:1] == "+" and line[:3] != "+++" for line in self.changes.splitlines())
        own = f"Real brokers ran on your files; {counted(lines, 'line')} set for this machine: see `changes`."
        return "\n".join([TextTable.__str__(self), told, *([own] if self.changes else []), *self.problems])


def _totals(outcome: Outcome) -> Iterator[tuple[str, int | str]]:
    """Yield what each consumer received, and in the end what brokers are and what lies in their queues."""
    for name, got in sorted(outcome["consumers"].items()):
        yield f"{name} received", got["count"]
    for shot in list(outcome["snapshots"].values())[-1:]:
        for broker, state in sorted(shot["brokers"].items()):
            if "role" in state:
                yield f"{broker} is", state["role"]
            for queue, depth in sorted(_depths(state)):
                if depth:
                    yield f"{queue} at {broker}", depth


def _depths(state: JsonObject) -> Iterator[tuple[str, int]]:
    """Yield the messages that lie in each queue; those of a cluster of OpenMQ lie at their home broker."""
    for queue, held in state.get("queues", {}).items():
        if not queue.startswith(("store_and_forward:", "temporary:")):
            yield queue, held["depth"]
    for name, held in state.get("destinations", {}).items():
        kind, _, queue = name.partition("://")
        if kind == "queue":
            yield queue, held["messages"] - held["remote"]


def real(
    what: object, actions: tuple[Action, ...], record: str | os.PathLike[str] | None, limit: float
) -> Beside:
    """Run *what* on real brokers of its product and in mqlab; see `mqlab.real`."""
    scenario = inputs.scenario_of(what, *actions)
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 86400:
        raise BadValue(f"limit: {limit!r} is not a number of seconds; use e.g. 120")
    product = products.product_of_scenario(scenario)
    home = find(product.name)
    scenario = home.edition(scenario)
    with ExitStack() as stack:
        file: Path | None = None
        if record is not None:
            file = stack.enter_context(inputs.writing(record))  # before anybody waits
        played = play(scenario, home, limit)
        if file is not None:
            body = {**product.write(scenario), "steps": steps(scenario)}
            body = recording(body, played.outcome, home.version)
            file.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    ours = products.outcome_of(products.play(scenario))
    return Beside(
        home.version, played.outcome, ours, played.trace, home.product.title, played.failures, played.changes
    )


def recording(scenario: JsonObject, outcome: Outcome, version: str) -> JsonDict:
    """Return a recording of one real run, in the form of recordings (Recordings rules 1 and 2).

    STOMP shows what was received and what waits, not the counters and subscriptions of brokers: so it is
    compared by its totals.
    """
    body = {key: value for key, value in scenario.items() if key not in ("edition", "actions")}
    return {
        "scenario": {**body, "version": version},
        "observed": {
            "product_version": version,
            "runs": 1,
            "deterministic": "totals",
            "outcomes": [{"seen_in_runs": 1, "outcome": dict(outcome)}],
        },
    }
