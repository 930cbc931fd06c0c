"""What logs do not tell: ends without a last word, and what no line says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mqlab.products.activemq.logs.lines import Log, Said
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time

if TYPE_CHECKING:
    from mqlab.products.activemq.logs.names import Known

ENDS = ("stopping", "stopped")
DEBUG = ("demand", "merged", "gone", "replaced", "refused", "bridging")
SKEW = 1_000_000  # us by which a message may be late in a log without a word


def crashes(said: Sequence[Said], remotes: Mapping[tuple[str, str], str]) -> Iterator[Said]:
    """Yield that a broker crashed: it starts again, and had not said that it stops.

    When is not told. It is then at the first bridge to it that broke, or else with the last thing that it said.
    """
    own = defaultdict[str, list[Said]](list)
    losses = defaultdict[str, list[int]](list)
    for one in sorted(said, key=lambda one: one.time):
        own[one.broker].append(one)
        if one.what == "lost" and one.words["side"] == "remote":
            losses[remotes.get((one.broker, one.words["address"]), "")].append(one.time)
    for broker, ones in own.items():
        alive = False
        for before, one in zip([ones[0], *ones], ones, strict=False):
            if one.what == "starting" and alive:
                seen = next((time for time in losses[broker] if before.time <= time <= one.time), before.time)
                words = {"broker": broker, "after": str(before.time), "before": str(one.time)}
                yield Said(seen, "crashed", words, one.file, one.line)
            alive = one.what not in (*ENDS, "starting", "down") or (alive and one.what == "down")


def untold(logs: Sequence[Log], said: Sequence[Said], known: Known, subs: int) -> Iterator[dict[str, str]]:
    """Yield what these logs do not tell, as rows of `Trace.undone`."""
    speakers = {one.broker for one in said}
    others = sorted(set(known.remotes.values()) | set(known.ids.values()) - speakers)
    for name in (name for name in others if name not in speakers):
        yield {"what": f"Broker {name}", "why": "no log of it is here; this is what the others say of it"}
    yield from _levels(said, speakers)
    for one in said:
        if one.what == "crashed":
            gap = told_time(int(one.words["before"]) - int(one.words["after"]))
            why = f"its log does not say that it stopped before its next start; the time is known to {gap}"
            yield {"what": f"Crash of {one.broker}", "why": why}
    if subs:
        yield {"what": counted(subs, "subscription"), "why": "no line tells their destination"}
    for broker, connectors in known.connectors.items():
        if len(connectors) > 1 and not all(connectors.values()):
            yield {
                "what": f"Connectors of {broker}",
                "why": "its log does not tell which of them each bridge is of",
            }
    yield from _clocks(logs, said, known)


def _levels(said: Iterable[Said], speakers: Iterable[str]) -> Iterator[dict[str, str]]:
    debug = {one.broker for one in said if one.what in DEBUG}
    silent = sorted(set(speakers) - debug)
    where = f"in the log of {', '.join(silent)} " if debug and silent else ""
    if silent:
        why = f"nothing {where}tells of them; level DEBUG of org.apache.activemq.network does"
        yield {"what": "Demand and messages", "why": why}
    if debug:
        why = "logs tell of those that cross a bridge alone: not when they were sent, nor who consumed them"
        yield {"what": "Messages", "why": why}


def _clocks(logs: Sequence[Log], said: Iterable[Said], known: Known) -> Iterator[dict[str, str]]:
    """Yield what is odd with times: zones, steps back, a message that arrives before it is forwarded."""
    if len({zone for log in logs for zone in log.zoned}) > 1:
        why = "some have a time zone and some have none, which are taken as UTC; pass shift={'A': '-60min'}"
        yield {"what": "Times", "why": why}
    for log in logs:
        if log.back:
            line, by = log.back
            why = (
                f"at line {line} they go back by {told_time(by)}: a clock that was set, or several logs in one"
            )
            yield {"what": f"Times of {log.path.name}", "why": why}
    first: dict[tuple[str, str], int] = {}
    early: dict[tuple[str, str], int] = {}
    for one in (one for one in said if one.what == "bridging"):
        path = [known.ids.get(id_.strip(" []"), "") for id_ in one.words["path"].split(",")]
        message = one.words["message"]
        first.setdefault((message, one.broker), one.time)
        for before in path[:-1]:
            early.setdefault((before, one.broker), 0)
    sent = set[tuple[str, str, str]]()
    for one in (one for one in said if one.what == "bridging"):
        message, to = one.words["message"], one.words["remote"]
        again = (message, one.broker, to) in sent  # what was not answered before a crash crosses a second time
        sent.add((message, one.broker, to))
        if (message, to) in first and not again:
            pair = one.broker, to
            early[pair] = max(early.get(pair, 0), one.time - first[message, to])
    for (ahead, other), by in early.items():
        if by > SKEW:
            shift = f"shift={{{other!r}: '{told_time(by).replace(' ', '')}'}}"
            why = f"{other} is at least {told_time(by)} behind {ahead}; pass {shift}"
            yield {"what": f"Clock of {other}", "why": why}
