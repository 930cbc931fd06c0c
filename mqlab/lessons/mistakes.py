"""Wrong rules by which learners predict: the scenario is run under each, and who predicts what comes of it
is told which rule it was.

What a wrong rule says about itself stands with the other texts, under its name (``data/*/words.toml``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from mqlab.errors import MqlabError, UnknownName
from mqlab.lessons import answers, setups
from mqlab.lessons.answers import Answer
from mqlab.lessons.data import Prediction
from mqlab.spec.change import Body
from mqlab.trace.trace import Trace

Rule = Callable[[dict[str, Any]], None]
KILLS = ("kill", "crash", "stop_broker", "stop", "host_down")


def _every_connector(**options: Any) -> Rule:
    def under(body: dict[str, Any]) -> None:
        for connector in body.get("connectors", ()):
            connector.update(options)

    return under


def ttl_counts_brokers(body: dict[str, Any]) -> None:
    """A TTL of n reaches n brokers, the first one counted."""
    for connector in body.get("connectors", ()):
        connector["network_ttl"] = max(0, connector.get("network_ttl", 1) - 1)


def ttl_does_not_matter(body: dict[str, Any]) -> None:
    """Messages go as far as there are connectors."""
    for connector in body.get("connectors", ()):
        connector["network_ttl"] = len(body["brokers"])


def static_does_nothing(body: dict[str, Any]) -> None:
    """Messages only go where somebody has asked for them."""
    for connector in body.get("connectors", ()):
        connector.pop("static", None)
        connector.pop("statically_included_destinations", None)


def nothing_dies(body: dict[str, Any]) -> None:
    """A network goes on as if no broker had died."""
    body["steps"] = [step for step in body["steps"] if step["do"] not in KILLS]


def no_filters(body: dict[str, Any]) -> None:
    """Lists of destinations at a connector change nothing."""
    for connector in body.get("connectors", ()):
        for name in [key for key in connector if "included" in key or "excluded" in key]:
            del connector[name]


def no_selectors(body: dict[str, Any]) -> None:
    """A consumer's selector does not matter for who gets what."""
    for step in body["steps"]:
        step.pop("selector", None)


RULES: Mapping[str, Rule] = {
    "conduit_counts_consumers": _every_connector(conduit_subscriptions=False),
    "all_are_one": _every_connector(conduit_subscriptions=True),
    "selectors_cross_the_conduit": _every_connector(conduit_subscriptions=False),
    "nearest_takes_all": _every_connector(decrease_network_consumer_priority=True),
    "distance_does_not_matter": _every_connector(
        decrease_network_consumer_priority=False, suppress_duplicate_queue_subscriptions=False
    ),
    "connectors_lead_both_ways": _every_connector(duplex=True),
    "duplex_is_one_way": _every_connector(duplex=False),
    **{rule.__name__: rule for rule in (ttl_counts_brokers, ttl_does_not_matter, static_does_nothing,
                                        nothing_dies, no_filters, no_selectors)},
}  # fmt: skip


def equal_shares(key: Answer, trace: Trace) -> Answer:
    """Everybody gets the same."""
    total, count = sum(_numbers(key)), len(key)
    return {name: round(total / count) for name in key} if count else {}


def everybody_gets_all(key: Answer, trace: Trace) -> Answer:
    """A queue gives each consumer every message, as a topic does."""
    return dict.fromkeys(key, trace.index().count)


def nothing_waits(key: Answer, trace: Trace) -> Answer:
    """Messages always find their way."""
    return dict.fromkeys(key, 0)


def at_once(key: Answer, trace: Trace) -> Answer:
    """Somebody else serves at the moment when a broker dies."""
    return dict.fromkeys(key, 0.0)


GUESSES: Mapping[str, Callable[[Answer, Trace], Answer]] = {
    guess.__name__: guess for guess in (equal_shares, everybody_gets_all, nothing_waits, at_once)
}


def _numbers(key: Answer) -> list[float]:
    return [value for value in key.values() if not isinstance(value, str)]


def names() -> tuple[str, ...]:
    """Return the names of all wrong rules."""
    return (*RULES, *GUESSES)


def answer(name: str, asked: Prediction, body: Body, trace: Trace) -> Answer | None:
    """Return what somebody predicts who believes in a wrong rule; None where it does not apply.

    Raises `UnknownName`.
    """
    key = answers.measure(asked.kind, trace, asked.of)
    if name in GUESSES:
        return GUESSES[name](key, trace)
    if name not in RULES:
        raise UnknownName.of("mistake", name, names())
    changed = copy.deepcopy(dict(body))
    RULES[name](changed)
    try:
        under = setups.play(setups.read(changed))
        return answers.measure(asked.kind, under, asked.of)
    except MqlabError:  # the wrong rule cannot be played in this network
        return None


def found(given: Answer, asked: Prediction, body: Body, trace: Trace) -> str:
    """Return the wrong rule under which *given* would be right; "" if none of the task's is."""
    key = answers.measure(asked.kind, trace, asked.of)
    for name in asked.mistakes:
        under = answer(name, asked, body, trace)
        if under is None or answers.same(under, key, asked.within):
            continue
        if answers.same(given, under, asked.within):
            return name
    return ""
