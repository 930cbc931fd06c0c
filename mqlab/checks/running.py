"""What the rules of a network that was read while it runs have in common, whatever the product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mqlab.checks.rule import Element, Found, Level, Parts, Rule, rule
from mqlab.spec.plural import counted
from mqlab.spec.running import Running, RunningConnector

Making = Callable[[Callable[..., Found]], Rule]


def running_rule(id: str, level: Level, *, finds: str, what: str, fix: str, of: Parts = ()) -> Making:
    """Make a rule that no run of the lab shows, of the function below."""
    return rule(
        id,
        level,
        finds=finds,
        what=what,
        fix=fix,
        source="management of the running broker",
        unshown="it is about a running network",
        of=of,
    )


def waiting_rule(id: str, *, finds: str, what: str) -> Making:
    """Make a rule of messages that wait: the function below yields the facts of `waiting`."""
    fix = "ask why: mq.explain(net, queue={name!r}, on={broker!r}, why_not=CONSUMER)"
    return running_rule(id, "warning", finds=finds, what=what, fix=fix)


def waiting(running: Running | None) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the broker and the facts of each queue from which nothing takes what it holds."""
    for one in running.queues if running is not None else ():
        if one.depth and not one.consumers:
            depth = counted(one.depth, "message")
            yield one.broker, {"depth": depth, "name": one.name, "broker": one.broker}


def apart(running: Running | None) -> Iterator[RunningConnector]:
    """Yield the connectors that run without a bridge."""
    standing = {(one.broker, one.connector) for one in running.bridges} if running else set()
    for one in running.connectors if running else ():
        if (one.broker, one.name) not in standing:
            yield one


def not_read_rule(id: str, *, finds: str) -> Making:
    """Make a rule of what could not be read: the function below yields `not_read`."""
    return running_rule(id, "warning", finds=finds, what="{note}", fix="the rest is as it runs")


def not_read(running: Running | None) -> Found:
    """Yield the notes of a reading."""
    for note in running.notes if running is not None else ():
        yield Element("running network"), {"note": note}
