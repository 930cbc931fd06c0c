"""The same script on real brokers and in mqlab, and both outcomes, side by side."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import BadValue
from mqlab.products import inputs
from mqlab.products.real_play import Played, play
from mqlab.products.unsupported_steps import steps
from mqlab.real.home import Home, find
from mqlab.spec.action import Action
from mqlab.spec.foretold import duration, tell
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.plural import counted
from mqlab.trace.grid import TextTable
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

Outcome = JsonObject
PLAYS = 5  # of real brokers, where the first one is not as mqlab's


@dataclass(frozen=True, slots=True)
class _Compared:
    """One total: its number in each play of the real brokers, and mqlab's."""

    name: str
    seen: tuple[int | str, ...]
    lab: int | str

    @property
    def varies(self) -> bool:
        """Whether plays of the real brokers are not alike."""
        return len(set(self.seen)) > 1

    @property
    def differs(self) -> bool:
        """Whether mqlab's number is not among those that were seen, nor between two of them."""
        numbers = [one for one in self.seen if isinstance(one, int)]
        between = isinstance(self.lab, int) and bool(numbers) and min(numbers) <= self.lab <= max(numbers)
        return not (between or self.lab in self.seen)

    @property
    def how(self) -> str:
        """What the table says of it."""
        return "differs" if self.differs else "varies" if self.varies else ""

    @property
    def course(self) -> str:
        """What mqlab shows, beside what was seen."""
        if self.lab in self.seen:
            return f"mqlab shows one possible course: {self.lab}"
        return f"mqlab shows {self.lab}, {'never seen' if self.differs else 'between those'}"

    @property
    def range(self) -> str:
        """What was seen as one text: a number, the least and the greatest, or the words."""
        if self.varies and all(isinstance(one, int) for one in self.seen):
            return f"{min(self.seen)} to {max(self.seen)}"
        return ", ".join(map(str, dict.fromkeys(self.seen)))


@dataclass(frozen=True, slots=True, repr=False)
class Beside(TextTable):
    """Two outcomes of one script: that of real brokers of a `version`, and that of mqlab.

    `rows` are the totals of both: messages that each consumer received, messages that lie in each queue
    in the end, and what each broker is then where the product has roles. `differs` names those in
    which they are not alike. `trace` is what the real clients saw:
    the way of each message that was received, and when; it can be viewed and asked as that of a run.
    `failures` is what ended threads within the real brokers: bugs of theirs, for which the script was
    played again. `changes` is how the files that the real brokers ran on differ from the user's own, as a diff.

    Where real brokers race, two plays of theirs differ: `more` has the outcomes of further plays, and `varies`
    what came out otherwise in one than in another. There mqlab differs only if it is outside of what was seen.
    `undone` is what mqlab's run did not do, such as elements of files that are not played: why it may differ.
    """

    version: str
    real: Outcome = field(hash=False)
    lab: Outcome = field(hash=False)
    trace: Trace | None = field(default=None, hash=False, compare=False)
    product: str = "ActiveMQ"
    failures: tuple[str, ...] = ()
    changes: str = field(default="", hash=False, compare=False)
    more: tuple[Outcome, ...] = field(default=(), hash=False)
    undone: tuple[str, ...] = ()

    @property
    def plays(self) -> int:
        """How many times the real brokers played it."""
        return 1 + len(self.more)

    @property
    def rows(self) -> dict[str, tuple[int | str, int | str]]:
        """What is compared: name -> the real number (of the first play), mqlab's number."""
        return {one.name: (one.seen[0], one.lab) for one in self._compared()}

    @property
    def varies(self) -> dict[str, tuple[int | str, ...]]:
        """The rows in which plays of the real brokers are not alike: name -> the number of each play."""
        return {one.name: one.seen for one in self._compared() if one.varies}

    @property
    def differs(self) -> list[str]:
        """The rows in which mqlab is outside of what the real brokers did."""
        return [one.name for one in self._compared() if one.differs]

    def _compared(self) -> list[_Compared]:
        plays = [dict(_totals(outcome)) for outcome in (self.real, *self.more)]
        lab = dict(_totals(self.lab))
        names = dict.fromkeys(name for one in (*plays, lab) for name in one)
        return [_Compared(name, tuple(one.get(name, 0) for one in plays), lab.get(name, 0)) for name in names]

    @property
    def problems(self) -> list[str]:
        """What went wrong for clients of the real brokers, and within these."""
        failed = (f"repeated, because a thread of the real broker failed: {one}" for one in self.failures)
        met = (one for outcome in (self.real, *self.more) for one in outcome.get("problems", ()))
        return [*dict.fromkeys(met), *failed]

    @property
    def said(self) -> list[str]:
        """What came of the comparison, in sentences: what differs, and what varied between plays."""
        compared = self._compared()
        count = sum(one.differs for one in compared)
        often = f" in {self.plays} plays" if self.more else ""
        varied = [
            f"Varies in {self.plays} plays of the real brokers: {one.name}: {', '.join(map(str, one.seen))}. "
            f"{one.course}."
            for one in compared
            if one.varies
        ]
        if not count:
            return ["Real broker and mqlab agree.", *varied]
        told = f"{counted(count, 'total')} {'differs' if count == 1 else 'differ'}{often}."
        once = "Played once: a longer time limit, or more plays asked for, would tell whether that varies."
        reasons = (f"mqlab did not do all: {one}" for one in self.undone)
        return [told, *varied, *([] if self.more else [once]), *reasons]

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then a line for each total."""
        lines = [[one.name, one.range, str(one.lab), one.how] for one in self._compared()]
        return [["", f"{self.product} {self.version}", "mqlab", ""], *lines]

    def __str__(self) -> str:
        lines = sum(line[:1] == "+" and line[:3] != "+++" for line in self.changes.splitlines())
        own = f"Real brokers ran on your files; {counted(lines, 'line')} set for this machine: see `changes`."
        return "\n".join(
            [TextTable.__str__(self), *self.said, *([own] if self.changes else []), *self.problems]
        )


def _totals(outcome: Outcome) -> Iterator[tuple[str, int | str]]:
    """Yield what each consumer received, and in the end what brokers are and what lies in their queues."""
    for name, got in sorted(outcome.get("consumers", {}).items()):
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
            yield queue, held if isinstance(held, int) else held["depth"]
    for name, held in state.get("destinations", {}).items():
        kind, _, queue = name.partition("://")
        if kind == "queue":
            yield queue, held["messages"] - held["remote"]


def real(
    what: object,
    actions: tuple[Action, ...],
    record: str | os.PathLike[str] | None,
    limit: float,
    plays: int | None = None,
) -> Beside:
    """Run *what* on real brokers of its product and in mqlab; see `mqlab.real`."""
    scenario = inputs.scenario_of(what, *actions)
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 86400:
        raise BadValue(f"limit: {limit!r} is not a number of seconds; use e.g. 120")
    if plays is not None and (isinstance(plays, bool) or not isinstance(plays, int) or plays < 1):
        raise BadValue(f"plays: {plays!r} is not a number of plays; use e.g. 5")
    product = products.product_of_scenario(scenario)
    home = find(product.name)
    scenario = home.edition(scenario)
    with ExitStack() as stack:
        file: Path | None = None
        if record is not None:
            file = stack.enter_context(inputs.writing(record))  # before anybody waits
        both = _side_by_side(scenario, home, limit, plays)
        if file is not None:
            body = {**product.write(scenario), "steps": steps(scenario)}
            body = recording(body, (both.real, *both.more), home.version)
            file.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return both


def _side_by_side(scenario: Scenario, home: Home, limit: float, plays: int | None) -> Beside:
    """Play until mqlab agrees with the first play, or as often as tells whether real brokers vary.

    Where the first play differs there are `PLAYS` in all, if a further one has time within the limit.
    """
    until, longest, played = time.monotonic() + limit, 0.0, list[Played]()
    trace = products.play(scenario)
    ours, undone = products.outcome_of(trace), tuple(map(str, trace.undone))
    brokers = counted(len(scenario.network.names), "broker")
    tell(f"Playing on {home.product.title} {home.version}: {brokers} to start, which can take a minute.")
    while True:
        began = time.monotonic()
        played.append(play(scenario, home, until - began))
        longest = max(longest, time.monotonic() - began)
        first = played[0]
        both = Beside(
            home.version,
            first.outcome,
            ours,
            first.trace,
            home.product.title,
            tuple(failure for one in played for failure in one.failures),
            first.changes,
            tuple(one.outcome for one in played[1:]),
            undone,
        )
        wanted = plays or (PLAYS if both.differs or len(played) > 1 else 1)
        if len(played) >= wanted or time.monotonic() + longest > until:
            return both
        tell(f"Play {len(played) + 1} of {wanted}, to see what varies: about {duration(longest)} each.")


def recording(scenario: JsonObject, outcomes: Sequence[Outcome], version: str) -> JsonDict:
    """Return a recording of plays of real brokers, in the form of recordings (Recordings rules 1 and 2).

    STOMP shows what was received and what waits, not the counters and subscriptions of brokers: so it is
    compared by its totals.
    """
    body = {key: value for key, value in scenario.items() if key not in ("edition", "actions")}
    return {
        "scenario": {**body, "version": version},
        "observed": {
            "product_version": version,
            "runs": len(outcomes),
            "deterministic": "totals",
            "outcomes": [{"seen_in_runs": 1, "outcome": dict(outcome)} for outcome in outcomes],
        },
    }
