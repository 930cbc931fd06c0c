"""Wrong rules by which learners predict: the scenario is run under each, and who predicts what comes of it
is told which rule it was.

What a wrong rule says about itself stands with the other texts, under its name (``data/*/words.toml``).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

from mqlab.errors import MqlabError, UnknownName
from mqlab.lessons import answers, setups
from mqlab.lessons.answers import Answer
from mqlab.lessons.data import Prediction
from mqlab.spec.change import Body
from mqlab.spec.json_types import JsonDict
from mqlab.trace.accounts import SERVING, roles
from mqlab.trace.trace import Trace

Rule = Callable[[dict[str, object]], None]
KILLS = ("Crash", "Stop", "Shutdown", "ForcedFailover", "HostDown")


def _every_connector(**options: object) -> Rule:
    def under(body: JsonDict) -> None:
        for connector in body.get("connectors", ()):
            connector.update(options)

    return under


def ttl_counts_brokers(body: JsonDict) -> None:
    """A TTL of n reaches n brokers, the first one counted."""
    for connector in body.get("connectors", ()):
        connector["network_ttl"] = max(0, connector.get("network_ttl", 1) - 1)


def ttl_does_not_matter(body: JsonDict) -> None:
    """Messages go as far as there are connectors."""
    for connector in body.get("connectors", ()):
        connector["network_ttl"] = len(body["brokers"])


def static_does_nothing(body: JsonDict) -> None:
    """Messages only go where somebody has asked for them."""
    for connector in body.get("connectors", ()):
        connector.pop("static", None)
        connector.pop("statically_included_destinations", None)


def connectors_carry_all(body: JsonDict) -> None:
    """Connectors carry whatever comes, whether or not somebody has asked for it."""
    for connector in body.get("connectors", ()):
        connector["statically_included_destinations"] = ["queue://>"]


def nothing_dies(body: JsonDict) -> None:
    """A network goes on as if no broker had died."""
    body["actions"] = [action for action in body["actions"] if action["do"] not in KILLS]


def stores_die_with_their_broker(body: JsonDict) -> None:
    """What was sent before a broker died is gone."""
    actions = body["actions"]
    dead = next((no for no, action in enumerate(actions) if action["do"] in KILLS), 0)
    body["actions"] = [one for no, one in enumerate(actions) if no > dead or "sends" not in one]


def no_failback(body: JsonDict) -> None:
    """Who has taken over keeps it."""
    for broker in body["brokers"]:
        broker.get("ha", {}).pop("allow_failback", None)


def nothing_is_moved(body: JsonDict) -> None:
    """A broker that goes keeps its messages."""
    for broker in body["brokers"]:
        broker.get("ha", {}).pop("scale_down", None)


def no_filters(body: JsonDict) -> None:
    """Lists of destinations at a connector change nothing."""
    for connector in body.get("connectors", ()):
        for name in [key for key in connector if "included" in key or "excluded" in key]:
            del connector[name]


def no_selectors(body: JsonDict) -> None:
    """A consumer's selector does not matter for who gets what."""
    for action in body["actions"]:
        action.pop("selector", None)


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
                                        connectors_carry_all,
                                        nothing_dies, stores_die_with_their_broker, no_failback,
                                        nothing_is_moved, no_filters, no_selectors)},
}  # fmt: skip


def equal_shares(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """Everybody gets the same."""
    total, count = sum(_numbers(key)), len(key)
    return {name: round(total / count) for name in key} if count else {}


def only_the_first(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """Of several connectors the first carries everything."""
    total = sum(_numbers(key))
    return {name: int(total) if no == 0 else 0 for no, name in enumerate(key)}


def too_late(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """A consumer gets nothing of what was sent before it came: all waits at the first broker."""
    return only_the_first(dict.fromkeys(key, trace.index.count / max(1, len(key))), trace, task)


def messages_follow_the_consumer(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """What waits anywhere is given to the consumer that came last."""
    waiting = sum(sum(map(len, queues.values())) for queues in trace.waiting().values())
    *others, last = key.items()
    return {**dict(others), last[0]: last[1] + waiting}  # type: ignore[operator]


def the_first_master_returns(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """Who served first serves again as soon as it is back."""
    began = {name: time for name, told in roles(trace).items() for time, role in told[::-1] if role in SERVING}
    return dict.fromkeys(key, min(began, key=lambda name: began[name]))


def nobody_takes_over(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """Only those serve that served before anybody died, and live."""
    told = roles(trace)
    first = min((time for spans in told.values() for time, role in spans if role == "down"), default=0)
    alive = [
        name
        for name, spans in told.items()
        if spans[-1][1] in SERVING and any(time < first and role in SERVING for time, role in spans)
    ]
    return dict.fromkeys(key, " ".join(alive))


def shared_hop_by_hop(key: Answer, trace: Trace, task: Prediction) -> Answer:
    """Every broker keeps half, and passes the other half on."""
    homes = dict(zip(trace.names["node"], trace.names["node_home"], strict=True))
    brokers = list(dict.fromkeys(homes[name] for name in key))
    left, shares = float(trace.index.count), {}
    for broker in brokers:
        shares[broker] = left if broker == brokers[-1] else left / 2
        left -= shares[broker]
    beside = [homes[name] for name in key]
    return {name: round(shares[homes[name]] / beside.count(homes[name])) for name in key}


Guess = Callable[[Answer, Trace, Prediction], Answer]
_WHOLE: tuple[Guess, ...] = (
    equal_shares,
    only_the_first,
    too_late,
    messages_follow_the_consumer,
    shared_hop_by_hop,
    the_first_master_returns,
    nobody_takes_over,
)
GUESSES: Mapping[str, Guess] = {
    # A queue gives each consumer every message, as a topic does.
    "everybody_gets_all": lambda key, trace, task: dict.fromkeys(key, trace.index.count),
    # Messages always find their way.
    "nothing_waits": lambda key, trace, task: dict.fromkeys(key, 0),
    # Somebody else serves at the moment when a broker dies.
    "at_once": lambda key, trace, task: dict.fromkeys(key, 0.0),
    # A topic is shared among its readers.
    "shared_like_a_queue": lambda key, trace, task: (
        {name: trace.index.count // len(key) for name in key} if key else {}
    ),
    # Any two brokers of a network are one hop apart.
    "one_hop": lambda key, trace, task: dict.fromkeys(key, 1),
    # Two steps along the sides of a mesh are one across.
    "diagonally": lambda key, trace, task: {
        name: value // 2 if isinstance(value, int) else value for name, value in key.items()
    },
    # A message goes straight from its producer's broker to its consumer's.
    "straight_there": lambda key, trace, task: {
        name: " ".join((way := str(value).split())[:1] + way[-1:]) for name, value in key.items()
    },
    # Whatever was sent is received, by whoever asks for it.
    "everything_arrives": lambda key, trace, task: dict.fromkeys(key, trace.index.count),
    # What the guide says, where the real broker does something else.
    "as_the_guide_says": lambda key, trace, task: {**dict.fromkeys(key, 0), **task.guide},
    # What a master has, its slave has too.
    "everything_is_copied": lambda key, trace, task: dict.fromkeys(key, 0),
    **{guess.__name__: guess for guess in _WHOLE},
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
    key = answers.key(asked, trace)
    if name in GUESSES:
        return GUESSES[name](key, trace, asked)
    if name not in RULES:
        raise UnknownName.of("mistake", name, names())
    changed = copy.deepcopy(dict(body))
    RULES[name](changed)
    try:
        under = setups.play(setups.read(changed))
        return answers.key(asked, under)
    except MqlabError:  # the wrong rule cannot be played in this network
        return None


def found(given: Answer, asked: Prediction, body: Body, trace: Trace) -> str:
    """Return the wrong rule under which *given* would be right; "" if none of the task's is."""
    key = answers.key(asked, trace)
    for name in asked.mistakes:
        under = answer(name, asked, body, trace)
        if under is None or answers.same(under, key, asked.within):
            continue
        if answers.same(given, under, asked.within):
            return name
    return ""
