"""What the panels tell of a run: its problems with a fix, its code, and how it differs from another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from mqlab import products
from mqlab.experiments import fixes
from mqlab.experiments.cures import cures
from mqlab.experiments.outcomes import Outcome
from mqlab.explain import sentence
from mqlab.products.activemq.figures.claims import claims
from mqlab.spec.change import Body, Change
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.spec.values import matches
from mqlab.trace.difference import Comparison
from mqlab.trace.fates import CODE, Fate
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.workbench.branch import Branch
from mqlab.workbench.parts import destinations, parts
from mqlab.workbench.questions import consequence, consequences, sent

MOST_MOVED = 40  # messages that end elsewhere, told by number


def checked(branch: Branch) -> tuple[list[dict[str, object]], list[Change | None]]:
    """Return each problem with the part that it is about, and a change that takes it away, if one does.

    A fix is found by trying; what it `brings` are problems that were not there before.
    """
    found = fixes.problems(branch.body)
    named = [f"{kind}://{name}" for kind, name in destinations(branch.body)] or ["queue://TEST.FOO"]
    told: list[dict[str, object]] = []
    changes: list[Change | None] = []
    for problem in found:
        fix, brings = fixes.fix(branch.body, problem, found, named)
        changes.append(fix)
        told.append(
            {
                "level": problem.level,
                "where": problem.where,
                "what": problem.what,
                "remedy": problem.remedy,
                "source": problem.source,
                "part": _part(branch.body, problem.where),
                "fix": None if fix is None else fix.text,
                "brings": brings,
            }
        )
    return told, changes


def cured(branch: Branch, broker: str, destination: str) -> tuple[JsonDict, tuple[Change, ...]]:
    """Return the changes that deliver what is stuck in a queue of a broker, with what else each would do."""
    found, tried = cures(branch.trace, broker, destination)
    title = f"What would deliver the messages of {destination} at {broker}?"
    changes = consequences(branch, found)
    return {"title": title, "changes": changes, "tried": tried, "all": True}, found[: len(changes)]


def _part(body: Body, where: str) -> dict[str, str] | None:
    """Return the part that a problem's place names: the longest path or name that stands in it."""
    best: tuple[int, str, str] | None = None
    for part in parts(body):
        called = f"{part.home}/{part.name}" if part.kind == "connector" else part.name
        if re.search(rf"(?<![\w/]){re.escape(called)}(?![\w/])", where):
            size = len(called) + (100 if part.kind in where or part.kind == "connector" else 0)
            if best is None or size > best[0]:
                best = (size, part.kind, part.name)
    return None if best is None else {"kind": best[1], "name": best[2]}


def code(branch: Branch) -> dict[str, str]:
    """Return the run's scenario as Python, and as a lab file."""
    product = products.product_of(branch.body)
    scenario = product.read(branch.body)
    body = product.write(scenario)
    return {"python": product.python(scenario), "lab": json.dumps(body, indent=1)}


def guide_says(branch: Branch) -> list[str]:
    """Return what the guide says of an ActiveMQ figure, each with whether the run does it."""
    said = branch.body.get("guide_says") if branch.product == "activemq" else None
    return [str(claim) for claim in claims(said, branch.trace)] if said else []


def said(name: str, branch: Branch) -> JsonDict:
    """Return the question of the figure *name*, and what its guide says of the run as it is printed."""
    known = next((figure for figure in products.figures() if figure.id == name), None)
    if known is None or branch.changes:
        return {"question": "", "notes": []}
    real = "" if branch.trace.header.get("real") else known.real  # then the answer to "why" has it
    notes = [known.answer, *guide_says(branch), real]
    return {"question": known.question, "notes": [text for text in notes if text]}


def compared(one: Trace, other: Trace) -> dict[str, object]:
    """Return how two runs differ: the first difference in words, counts, messages that end elsewhere."""
    pair = Comparison(one, other)
    first = pair.first_difference()
    told = None
    if first is not None:
        traces = (one, other)
        told = [
            None if event is None else {"ms": event.t / 1000, "text": _said(trace, event.row), "row": event.row}
            for trace, event in zip(traces, first, strict=True)
        ]
    moved = list(_moved(one, other))
    return {
        **consequence(one, other),
        "first": told,
        "moved": moved[:MOST_MOVED],
        "more": max(0, len(moved) - MOST_MOVED),
        "messages": one.index.count,
        "events": [len(one), len(other)],
        "ends": [max(t.column("t"), default=0) / 1000 for t in (one, other)],
    }


def _said(trace: Trace, row: int) -> str:
    event = trace.event(row)
    told = sentence(trace, event)
    return event.what if told is None else told.said()


def _moved(one: Trace, other: Trace) -> Iterator[str]:
    """Yield the messages that ended elsewhere: with other consumers, or nowhere."""
    left, right = _ends(one), _ends(other)
    for name in dict.fromkeys([*left, *right]):
        if left.get(name) != right.get(name):
            yield name


def _ends(trace: Trace) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {trace.message_name(number): [] for number in sent(trace)}
    for row in trace.rows(Kind.Received):
        event = trace.event(row)
        if event.message is not None:
            found[trace.message_name(event.message)].append(str(event.to))
    return {name: sorted(who) for name, who in found.items()}


def left(trace: Trace) -> JsonDict:
    """Return how many messages wait, are lost, came twice or expired; in words, queues without a consumer."""
    names, dests = trace.names["dest"], trace.column("dest")
    read = {names[dests[row]] for row in trace.rows(Kind.Subscribed)}
    outcome, unread = Outcome.of(trace), list[str]()
    for broker, waiting in trace.waiting().items():
        for dest, messages in waiting.items():
            kind, _, name = dest.partition("://")
            if kind == "queue" and not any(matches(one.partition("://")[2], name) for one in read):
                wait = counted(len(messages), "message waits", "messages wait")
                unread.append(f"{wait} in {name} at {broker}: no consumer subscribes to it")
    return {
        "waiting": sum(count for _, count in outcome.waiting),
        "lost": outcome.lost,
        "twice": outcome.twice,
        "expired": [*trace.tally().fates].count(CODE[Fate.expired]),
        "unread": unread,
    }
