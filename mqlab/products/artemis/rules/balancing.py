"""What a script shows of message-load-balancing: messages at one broker, and their consumers at others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.artemis.rules import examples as ex
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.action import Close, Consumer, Producer, Stop
from mqlab.spec.artemis.actions import ForcedFailover
from mqlab.spec.faults import Crash
from mqlab.spec.naming import destination_in

MOVES = ("ON_DEMAND", "OFF_WITH_REDISTRIBUTION")
Stray = dict[tuple[str, ...], tuple[Element, Mapping[str, object]]]


def strays(set_up: SetUp, wanted: Literal["sent", "left"]) -> Stray:
    """Return what is *sent* where only others may read it, or what is *left* behind by its consumers.

    By queue and broker: what comes last of one holds.
    """
    network = set_up.network
    lives = {s.name: s for s in network.brokers if s.role in ("live", "master", "colocated")}
    readers: dict[str, tuple[str, str]] = {}  # consumer -> queue, broker
    lying: dict[tuple[str, str], str] = {}  # queue, broker -> kind of balancing there
    found: dict[str, Stray] = {"sent": {}, "left": {}}
    for action in set_up.script:
        if isinstance(action, Close):
            readers.pop(action.consumer, None)
        elif isinstance(action, (Stop, ForcedFailover, Crash)):
            lying = {key: kind for key, kind in lying.items() if key[1] != action.broker}
            readers = {name: key for name, key in readers.items() if key[1] != action.broker}
        dest = destination_in(action)
        if not isinstance(action, (Consumer, Producer)) or dest is None or not dest.is_queue:
            continue
        queue, place = dest.name, action.on
        if action.others or place not in lives:
            continue
        if isinstance(action, Consumer):
            readers[action.name] = (queue, place)
            lying.pop((queue, place), None)
            for key, kind in lying.items():
                at = lives[key[1]]
                delay = network.setting(at, queue, "redistribution_delay")
                knows = network.option(at, "clustered") and network.option(lives[place], "clustered")
                if key[0] == queue and knows and (delay < 0 or kind not in MOVES):
                    fixes = [] if delay >= 0 else ["set redistribution-delay to 0 or more"]
                    fixes += [] if kind in MOVES else ["set message-load-balancing to ON_DEMAND"]
                    facts = {"off": _off(kind), "queue": queue, "reader": place, "fix": " and ".join(fixes)}
                    found["left"][key] = set_up.element(at), facts
        else:
            kind = network.option(lives[place], "message_load_balancing")
            there = {broker for name, broker in readers.values() if name == queue}
            if not there:
                lying[queue, place] = kind
            elif kind == "OFF" and place not in there and network.option(lives[place], "clustered"):
                found["sent"][queue, place] = set_up.element(lives[place]), {"queue": queue}
    return found[wanted]


def _off(kind: str) -> str:
    if kind in MOVES:
        return "redistribution-delay is -1"
    return f"message-load-balancing is {kind}"


@rule(
    "off-remote",
    "error",
    finds="message-load-balancing OFF where all consumers are remote",
    what="message-load-balancing is OFF, and {queue} has remote consumers but no local one: every send "
    "fails with an internal error",
    fix="use ON_DEMAND",
    source="Artemis rule 8.3",
    example=lambda: Example(ex.apart("OFF", *ex.EARLY), ex.apart("ON_DEMAND", *ex.EARLY)),
)
def _off_remote(set_up: SetUp) -> Found:
    yield from strays(set_up, "sent").values()


@rule(
    "no-redistribution",
    "warning",
    finds="messages that are not redistributed to their consumers",
    what="{off}: messages already in {queue} here are not redistributed when a consumer connects to {reader}",
    fix="{fix}",
    source="Artemis rule 8.4",
    example=lambda: Example(
        ex.apart("ON_DEMAND", *ex.LATE), ex.apart("ON_DEMAND", *ex.LATE, redistribution_delay=0)
    ),
)
def _no_redistribution(set_up: SetUp) -> Found:
    yield from strays(set_up, "left").values()
