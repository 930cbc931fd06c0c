"""Whether a rule that is wrong is noticed: each mutation changes one rule of the lab.

First by recordings of the real product, by folder: what counts is one that agrees with the lab and differs
from the mutated one. Then by what the differential tester draws of one seed, until the mutated lab differs
from the lab, which stands in for the real product. A run that breaks counts as not noticed.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import pytest

from mqlab import conform, products
from mqlab.products.activemq.broker import snapshot
from mqlab.products.activemq.broker.broker import Broker
from mqlab.products.activemq.broker.queue import Queue
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration
from mqlab.products.activemq.network.demand_forwarding import DemandForwardingBridge
from mqlab.products.activemq.network.demand_subscription import DemandSubscription
from mqlab.products.artemis.broker import messages as artemis_messages
from mqlab.products.artemis.broker.broker import Broker as ArtemisBroker
from mqlab.products.artemis.ha import quorum
from mqlab.products.openmq.broker import delivery, physical_destinations
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.flow import Credit
from mqlab.trace.kinds import Reason
from tests.conftest import packed
from tests.real.differential.__main__ import drawn

SETS = ("activemq", "combined", "openmq", "artemis")
SEED, WITHIN = 106, 200
DEMAND = DemandForwardingBridge


def answering(owner, name, answer):
    """Return a patch: the function always says *answer*."""
    return owner, name, lambda *_: answer


def changing(owner, name, change):
    """Return a patch: *change* is given what the function returns, then its arguments."""
    function = getattr(owner, name)
    return owner, name, lambda *arguments: change(function(*arguments), *arguments)


def won(asker, agrees, patience, then, *more):
    """Hold a vote that everybody wins."""
    then(asker, True, *more)


def made_with(cls, name, change):
    """Return a patch: an attribute of each new object is changed."""
    made = cls.__init__

    def mutated(self, *arguments, **keys):
        made(self, *arguments, **keys)
        setattr(self, name, change(getattr(self, name)))

    return cls, "__init__", mutated


def unlimited(_, instance, *__):
    instance.most = instance.most_bytes = instance.largest = -1


def one_more(number, *_):
    return number + 1


def one_less(number, *_):
    return number - 1


def shown_as_set(row, *_):
    """Return a subscription's row with the prefetch of its options: only what it does is mutated."""
    return {**row, "prefetch": row["prefetch"] - 1} if row["prefetch"] else row


def where_it_has_been(refusal=DemandSubscription.refusal):
    """Return a patch: a bridge does not look where the message has been."""

    def mutated(self, message):
        path, message.path = message.path, ()
        try:
            return refusal(self, message)
        finally:
            message.path = path

    return DemandSubscription, "refusal", mutated


def untried(requeue=artemis_messages.Queue.requeue):
    """Return a patch: what goes back to its queue does not count as delivered."""

    def uncounted(queue, items):
        for item in items:
            item.delivery_count = 0
        requeue(queue, items)

    return artemis_messages.Queue, "requeue", uncounted


def strict(value, _, name):
    return "STRICT" if name == "message_load_balancing" else value


@dataclass(frozen=True)
class Mutation:
    """A rule that is changed, whose recordings are to notice, and which families of random scenarios."""

    name: str
    patches: tuple
    folders: tuple[str, ...]
    drawn: tuple[str, ...]


NETWORKS, OPENMQ, ARTEMIS = ("networks", "faults"), ("openmq",), ("artemis",)
HOPS, QUORUM = ("activemq/scenarios/hops_and_ttl",), ("artemis/quorum", "artemis/quorum_2_5")
MUTATIONS = [
    Mutation("a queue's consumers take no turns", (answering(Queue, "_turn", Reason.turn),),
             ("activemq/scenarios/load_balancing",), NETWORKS),
    Mutation("messageTTL one more", (made_with(NetworkBridgeConfiguration, "message_ttl", one_more),),
             HOPS, NETWORKS),
    Mutation("consumerTTL one more", (made_with(NetworkBridgeConfiguration, "consumer_ttl", one_more),),
             HOPS, NETWORKS),
    # One audit: of what the queue holds, and of what it had before a bridge lost the answers.
    Mutation("the queue's audit off", (answering(Queue, "_is_second", False),
                                        answering(Broker, "has_had", False)),
             ("activemq/scenarios/composite_and_virtual",), NETWORKS),
    Mutation("the network's audit off", (answering(Broker, "has_had", False),),
             ("activemq-combined/cuts",), NETWORKS),
    Mutation("prefetch one more", (made_with(Subscription, "prefetch", one_more),
                                   changing(snapshot, "_subscription", shown_as_set)),
             ("activemq/scenarios/dispatch",), NETWORKS),
    Mutation("conduit subscriptions are not merged", (answering(DEMAND, "add_to_conduit", False),),
             ("activemq/scenarios/conduit_topics",), NETWORKS),
    Mutation("a message goes back where it has been", (where_it_has_been(),),
             ("activemq/random",), NETWORKS),
    Mutation("demand goes back where it has been",
             (changing(DEMAND, "refusal", lambda rule, *_: 0 if rule == Reason.loop else rule),),
             ("activemq/scenarios/replay",), NETWORKS),
    Mutation("an exclusive consumer is ignored", (made_with(Subscription, "exclusive", lambda _: False),),
             ("activemq/scenarios/dispatch",), NETWORKS),
    Mutation("selectors ignored", (answering(delivery, "selects", True),
                                   answering(physical_destinations, "selects", True)),
             ("openmq/delivery",), OPENMQ),
    Mutation("a destination's limits ignored", (changing(PhysicalDestination, "set", unlimited),),
             ("openmq/limits",), OPENMQ),
    Mutation("consumerFlowLimit one more", (made_with(Credit, "size", one_more),),
             ("openmq/balancing",), OPENMQ),
    Mutation("a lost vote ignored", ((quorum, "hold", won),),
             QUORUM, ARTEMIS),
    Mutation("one vote less is enough", (changing(quorum, "votes_needed", one_less),),
             QUORUM, ARTEMIS),
    Mutation("message-load-balancing is STRICT", (changing(ArtemisBroker, "option", strict),),
             ("artemis/load_balancing",), ARTEMIS),
    Mutation("a delivery is not counted", (untried(),),
             ("artemis/client_reconnect",), ARTEMIS),
]  # fmt: skip


def names(mutations=MUTATIONS):
    return [pytest.param(mutation, id=mutation.name) for mutation in mutations]


@contextmanager
def mutated(mutation):
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, value in mutation.patches:
            patch.setattr(owner, name, value)
        yield


@cache
def agreeing(folder: str) -> tuple:
    """Return the recordings of a folder that hold the lab to its rules; all must agree with it."""
    found = [
        (path, value)
        for name in SETS
        for path, value in packed(name).items()
        if path.rpartition("/")[0] == folder
    ]
    verdicts = {path: conform.compare(value).result for path, value in found}
    assert set(verdicts.values()) <= {"agree", "unjudged"}, verdicts
    return tuple((path, value) for path, value in found if verdicts[path] == "agree")


@pytest.mark.parametrize("mutation", names())
def test_recordings_notice(mutation):
    known = [recording for folder in mutation.folders for recording in agreeing(folder)]
    assert known
    with mutated(mutation):
        differing = [path for path, value in known if conform.compare(value).result == "disagree"]
    assert differing, f"none of {len(known)} recordings in {', '.join(mutation.folders)} notices"


def outcome(scenario):
    value = {"scenario": scenario}
    return products.product_of(value).outcome(conform.played(value))


@cache
def scenarios(family: str) -> list:
    return [*drawn(family, SEED, 1, WITHIN).values()]


@cache
def observed(family: str, number: int) -> dict:
    """Return what the lab does, as if a real product had been recorded."""
    lab = {"outcome": json.loads(json.dumps(outcome(scenarios(family)[number]))), "count": 1}
    in_time = {"steps_ms": []} if family in NETWORKS else {}
    return {"deterministic": "exact", "outcomes": [lab], **in_time}


def notices(mutation, family: str, number: int) -> bool:
    """Whether a random scenario comes out differently, as the differential tester compares."""
    scenario, real = scenarios(family)[number], observed(family, number)
    with mutated(mutation):
        try:
            run = outcome(scenario)
        except Exception:  # a lab that breaks says nothing of the rule
            return False
    return bool(conform.differences_of(products.product_of({"scenario": scenario}))(run, real))


@pytest.mark.parametrize("family", [*NETWORKS, *OPENMQ, *ARTEMIS])
def test_without_a_mutation_nothing_differs(family):
    nothing = Mutation("none", (), (), (family,))
    assert not [number for number in range(10) if notices(nothing, family, number)]


@pytest.mark.parametrize("mutation", names())
@pytest.mark.slow
def test_random_scenarios_notice(mutation):
    """Each family of one product is asked in turn; 200 are the most that it may take."""
    assert any(
        notices(mutation, family, number) for number in range(WITHIN // len(mutation.drawn))
        for family in mutation.drawn
    )  # fmt: skip
