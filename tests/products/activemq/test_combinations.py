"""Options of networks with faults, in nouns: what comes of it is what real brokers were seen to do.

Each case names the section of the rules, and in brackets the recording whose sentence it follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import mqlab as mq

Q, T = mq.Queue("Q"), mq.Topic("T")
KEPT: dict[str, Any] = {"store": "kahadb"}


@dataclass
class Case:
    """A network, what happens to it, and what must come of it."""

    net: mq.Network
    actions: tuple[Any, ...]
    received: dict[str, int]
    waiting: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    twice: dict[str, dict[int, int]] = field(default_factory=dict)
    redelivered: dict[str, list[int]] | None = None
    order: dict[str, list[int]] = field(default_factory=dict)  # consumer: messages as they came
    roles: dict[str, str] = field(default_factory=dict)  # of some brokers, at the end
    until: str | None = None


def to(*targets, name="nc", **options):
    """Return a connector to a broker, or to a pair."""
    addresses = ",".join(f"tcp://{target}:61616" for target in targets)
    kind = "static" if len(targets) == 1 else "masterslave"
    return mq.NetworkConnector(name, uri=f"{kind}:({addresses})", **options)


def chain(*names, policies=(), edition="5.17", **options):
    """Return persistent brokers, each with a connector to the next."""
    following = [*names[1:], None]
    brokers = [
        mq.Broker(one, *([to(other, **options)] if other else []), policies=policies, **KEPT)
        for one, other in zip(names, following, strict=True)
    ]
    return mq.Network(*brokers, edition=edition)


def pair(name, *connectors, **options):
    """Return two brokers with one store."""
    return [
        mq.Broker(f"{name}{n}", *connectors, shared_store=name, **options) for n in (1, 2)
    ]  # fmt: skip


def anywhere(name, *brokers, more=""):
    """Return a client that goes to whichever of the brokers is there, the first at first."""
    addresses = ",".join(f"tcp://{broker}:61616" for broker in brokers)
    uri = f"failover:({addresses})?randomize=false&maxReconnectDelay=500{more}"
    return mq.Client(name, uri=uri)


def some(first, last):
    return list(range(first, last + 1))


def queue(broker, *messages):
    return {broker: {"queue://Q": [*messages]}}


def route(**options):
    """Return three brokers, with a direct way from A to C and one by B."""
    return mq.Network(
        mq.Broker("A", to("C", name="direct", network_ttl=3, **options),
                  to("B", name="long", network_ttl=3, **options), **KEPT),
        mq.Broker("B", to("C", network_ttl=3, **options), **KEPT),
        mq.Broker("C", **KEPT),
    )  # fmt: skip


FOUR = {"n": [1, 2, 3, 4]}
GROUPS = {"JMSXGroupID": ["a", "b", "c", "d"]}
THREE = tuple(mq.Consumer(f"C{n}", on="C", reads=Q) for n in (1, 2, 3))
CASES = {
    # conduit, TTL, filters, static destinations
    "ActiveMQ rules 21 (chain_middle_killed): conduit off, a chain's middle dies": Case(
        chain("A", "B", "C", network_ttl=2, conduit_subscriptions=False),
        (*THREE, mq.Crash("B"), mq.Producer("P", "A", 6, Q), mq.Restart("B"),
         mq.Producer("P", "A", 6, Q)),
        {"C1": 4, "C2": 4, "C3": 4},
    ),
    "ActiveMQ rules 21 (chain_end_restarts): while the end is away they wait at the beginning": Case(
        chain("A", "B", "C", network_ttl=2),
        (*THREE, mq.Stop("C"), mq.Producer("P", "A", 6, Q)),
        {"C1": 0, "C2": 0, "C3": 0}, queue("A", *some(1, 6)),
    ),
    "ActiveMQ rules 24: with networkTTL 1 the next broker is the end, line cut or not": Case(
        chain("A", "B", "C", network_ttl=1),
        (mq.Consumer("C1", "C", Q), mq.Producer("P", "A", 3, Q), mq.Cut("B", "C"),
         mq.Producer("P", "A", 3, Q), mq.Heal("B", "C"), mq.Producer("P", "B", 2, Q)),
        {"C1": 2}, queue("A", *some(1, 6)),
    ),
    "ActiveMQ rules 23 (cut_traffic): TTL 2, cut and healed": Case(
        chain("A", "B", "C", network_ttl=2),
        (mq.Consumer("C1", "C", Q), mq.Producer("P", "A", 40, Q, every="40ms"),
         mq.Cut("A", "B", at="500ms"), mq.Heal("A", "B", at="3s")),
        {"C1": 40}, order={"C1": some(1, 40)},
    ),
    "ActiveMQ rules 23: while a line is cut they wait before it": Case(
        chain("A", "B"),
        (mq.Consumer("C1", "B", Q), mq.Cut("A", "B"), mq.Producer("P", "A", 5, Q)),
        {"C1": 0}, queue("A", *some(1, 5)),
    ),
    "ActiveMQ rules 21: what is excluded is so after a restart, too": Case(
        chain("A", "B", excluded_destinations=("queue://Q",)),
        (anywhere("c", "B"), mq.Consumer("C1", "c", Q), mq.Consumer("C2", "c", mq.Queue("R")),
         mq.Stop("B"), mq.Restart("B"), mq.Producer("P", "A", 3, Q), mq.Producer("O", "A", 2, mq.Queue("R"))),
        {"C1": 0, "C2": 2}, queue("A", 1, 2, 3),
    ),
    "ActiveMQ rules 21 (chain_static_middle_holds): static, the end is stopped: the middle has them": Case(
        chain("A", "B", "C", statically_included_destinations=("queue://Q",)),
        (mq.Stop("C"), mq.Producer("P", "A", 5, Q)), {}, queue("B", *some(1, 5)),
    ),
    "ActiveMQ rules 21 (chain_static_destinations): static, and they go on when the end returns": Case(
        chain("A", "B", "C", statically_included_destinations=("queue://Q",), network_ttl=2),
        (mq.Stop("C"), mq.Producer("P", "A", 5, Q), mq.Stop("B"), mq.Restart("B"), mq.Restart("C")),
        {}, queue("C", *some(1, 5)),
    ),
    "ActiveMQ rules 21 (chain_static_middle_holds): static, the middle comes with an empty store": Case(
        chain("A", "B", "C", statically_included_destinations=("queue://Q",), network_ttl=2),
        (mq.Stop("C"), mq.Producer("P", "A", 5, Q), mq.Stop("B"), mq.Restart("B", store="new"),
         mq.Restart("C")),
        {}, lost=some(1, 5),
    ),
    "ActiveMQ rules 21 (chain_static_ttl_1): hop limits hold for what a store gives back": Case(
        chain("A", "B", "C", statically_included_destinations=("queue://Q",), network_ttl=1),
        (mq.Producer("P", "A", 5, Q), mq.Crash("B"), mq.Restart("B")), {}, queue("B", *some(1, 5)),
    ),
    "ActiveMQ rules 21 (chain_consumer_leaves_meanwhile): who left leaves no demand": Case(
        chain("A", "B", "C", network_ttl=2),
        (mq.Consumer("C1", "C", Q), mq.Stop("B"), mq.Close("C1"), mq.Restart("B"),
         mq.Producer("P", "A", 3, Q)),
        {"C1": 0}, queue("A", 1, 2, 3),
    ),
    "ActiveMQ rules 21 (connector_stopped_and_started): a connector rests": Case(
        chain("A", "B", prefetch_size=2),
        (mq.Consumer("C1", "B", Q), mq.StopConnector("nc"), mq.Producer("P", "A", 4, Q),
         mq.StartConnector("nc")),
        {"C1": 4},
    ),
    # several routes
    "ActiveMQ rules 21 (routes_flip_plain): two routes, one cut: all take the other": Case(
        route(),
        (mq.Consumer("K", "C", Q), mq.Cut("A", "C"), mq.Producer("P", "A", 6, Q)), {"K": 6},
    ),
    "ActiveMQ rules 21 (routes_flip_decrease_suppress): suppression, the chosen route cut": Case(
        route(suppress_duplicate_queue_subscriptions=True,
              decrease_network_consumer_priority=True),
        (mq.Consumer("K", "C", Q), mq.Cut("A", "C"), mq.Producer("P", "A", 6, Q)),
        {"K": 0}, queue("A", *some(1, 6)),
    ),
    "ActiveMQ rules 21 (routes_flip_decrease_suppress): they wait for the heal": Case(
        route(suppress_duplicate_queue_subscriptions=True,
              decrease_network_consumer_priority=True),
        (mq.Consumer("K", "C", Q), mq.Cut("A", "C"), mq.Producer("P", "A", 6, Q),
         mq.Heal("A", "C")),
        {"K": 6},
    ),
    "ActiveMQ rules 21 (routes_flip_topic): a suppressed route to a topic is lost messages": Case(
        route(decrease_network_consumer_priority=True),
        (mq.Consumer("K", "C", T), mq.Cut("A", "C"), mq.Producer("P", "A", 4, T),
         mq.Heal("A", "C"), mq.Producer("P", "A", 2, T)),
        {"K": 2}, lost=some(1, 4),
    ),
    # lines
    "ActiveMQ rules 23 (cut_twice_duplex): duplex, cut twice": Case(
        chain("A", "B", duplex=True),
        (mq.Consumer("C1", "A", Q), mq.Producer("P", "B", 40, Q, every="40ms"),
         mq.Cut("A", "B", at="400ms"), mq.Heal("A", "B", at="700ms"),
         mq.Cut("A", "B", at="1s"), mq.Heal("A", "B", at="1300ms")),
        {"C1": 40}, order={"C1": some(1, 40)},
    ),
    "ActiveMQ rules 23 (cut_prefetch_1): network prefetch 1, cut": Case(
        chain("A", "B", prefetch_size=1),
        (mq.Consumer("C1", "B", Q), mq.Producer("P", "A", 40, Q, every="40ms"),
         mq.Cut("A", "B", at="500ms"), mq.Heal("A", "B", at="1s")),
        {"C1": 40}, order={"C1": some(1, 40)},
    ),
    "ActiveMQ rules 23 (cut_hang): a line hangs and is healed": Case(
        chain("A", "B"),
        (mq.Consumer("C1", "B", Q), mq.Producer("P", "A", 20, Q, every="40ms"),
         mq.Cut("A", "B", how="hang", at="200ms"), mq.Heal("A", "B", at="3s")),
        {"C1": 20}, order={"C1": some(1, 20)}, redelivered={},
    ),
    "ActiveMQ rules 23 (pause_b_traffic): duplex, the far broker is suspended and goes on": Case(
        chain("A", "B", duplex=True),
        (mq.Consumer("C1", "B", Q), mq.Producer("P", "A", 20, Q, every="40ms"),
         mq.Pause("B", at="200ms"), mq.Resume("B", at="3s")),
        {"C1": 20}, order={"C1": some(1, 20)}, redelivered={},
    ),
    "ActiveMQ rules 23 (cut_answers_lost): answers lost, then reset: copies are dropped": Case(
        chain("A", "B"),
        (mq.Consumer("C1", "B", Q), mq.Cut("A", "B", how="drop_replies"),
         mq.Producer("P", "A", 10, Q, at="1s"), mq.Cut("A", "B", how="reset_once", at="2s"),
         mq.Heal("A", "B", at="3s")),
        {"C1": 10},
    ),
    "ActiveMQ rules 23 (cut_answers_lost_nonpersistent): not persistent: they received twice": Case(
        chain("A", "B"),
        (mq.Consumer("C1", "B", Q), mq.Cut("A", "B", how="drop_replies"),
         mq.Producer("P", "A", 10, Q, persistent=False, at="1s"),
         mq.Cut("A", "B", how="reset_once", at="2s"), mq.Heal("A", "B", at="3s")),
        {"C1": 20}, twice={"C1": dict.fromkeys(some(1, 10), 2)}, redelivered={"C1": some(1, 10)},
    ),
    # subscribers
    "ActiveMQ rules 18 and 22 (durable_alone_b_restarts): durable, the far broker restarts": Case(
        chain("A", "B"),
        (mq.Consumer("D", "B", T, durable=True, client_id="d"), mq.Producer("P", "A", 5, T),
         mq.Stop("B"), mq.Producer("P", "A", 5, T), mq.Restart("B"),
         mq.Consumer("D", "B", T, durable=True, client_id="d"), mq.Producer("P", "A", 5, T)),
        {"D": 15}, order={"D": some(1, 15)},
    ),
    "ActiveMQ rules 22 (plain_alone_b_restarts): a plain subscriber misses what is said meanwhile": Case(
        chain("A", "B"),
        (anywhere("c", "B"), mq.Consumer("S", "c", T), mq.Producer("P", "A", 5, T), mq.Stop("B"),
         mq.Producer("P", "A", 5, T), mq.Restart("B"), mq.Producer("P", "A", 5, T)),
        {"S": 10}, lost=some(6, 10),
    ),
    "ActiveMQ rules 22 (durable_two_conduit_b_restarts): who is offline has its share at the far broker": Case(
        chain("A", "B"),
        (mq.Consumer("D", "B", T, durable=True, client_id="d"),
         mq.Consumer("E", "B", T, durable=True, client_id="e"), mq.Close("E"),
         mq.Producer("P", "A", 5, T), mq.Stop("B"), mq.Restart("B"),
         mq.Consumer("E", "B", T, durable=True, client_id="e")),
        {"D": 5, "E": 5}, order={"E": some(1, 5)},
    ),
    "ActiveMQ rules 22 (durable_chain_middle_restarts): each broker of a chain keeps for the next": Case(
        chain("A", "B", "C", network_ttl=2),
        (anywhere("c", "C"), mq.Consumer("D", "c", T, durable=True),
         mq.Producer("P", "A", 5, T), mq.Stop("B"), mq.Producer("P", "A", 5, T), mq.Restart("B"),
         mq.Producer("P", "A", 5, T)),
        {"D": 15}, order={"D": some(1, 15)},
    ),
    # pairs
    "ActiveMQ rules 19 (to_pair_sends_while_nobody_is_master): they wait before the pair": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"), mq.Consumer("K", "c", Q), mq.Crash("P1", at="1s"),
         mq.Producer("O", "R", 10, Q, at="2s")),
        {"K": 0}, queue("R", *some(1, 10)), until="5s", roles={"P1": "down", "P2": "slave"},
    ),
    "ActiveMQ rules 19 (to_pair_traffic_stop): selector, conduit off, the master is stopped": Case(
        mq.Network(mq.Broker("R", to("P1", "P2", conduit_subscriptions=False), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"), mq.Consumer("K", "c", Q, selector="n > 2"), mq.Wait("5s"),
         mq.Producer("O", "R", 40, Q, every="40ms", properties=FOUR), mq.Stop("P1", at="6s")),
        {"K": 20}, queue("R", *(n for n in some(1, 40) if (n - 1) % 4 < 2)),
        roles={"P1": "down", "P2": "master"},
    ),
    "ActiveMQ rules 19 and 25 (selector_conduit_b_restarts): conduit on, the master dies": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"), mq.Consumer("K", "c", Q, selector="n > 2"),
         mq.Producer("O", "R", 8, Q, properties=FOUR), mq.Crash("P1"),
         mq.Producer("O", "R", 4, Q, properties=FOUR)),
        {"K": 6}, queue("P2", 1, 2, 5, 6, 9, 10), roles={"P1": "down", "P2": "master"},
    ),
    "ActiveMQ rules 19 (to_pair_no_consumer_kill): what waits at a pair is there after the takeover": Case(
        mq.Network(mq.Broker("R", to("P1", "P2", statically_included_destinations=("queue://Q",)),
                             **KEPT), *pair("P")),
        (mq.Producer("O", "R", 10, Q), mq.Crash("P1")), {}, queue("P2", *some(1, 10)),
    ),
    "ActiveMQ rules 19 (to_pair_unacknowledged_kill): 16 deliveries of 10": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"),
         mq.Consumer("K", "c", Q, ack_mode="client", acknowledge=False, receiving=False),
         mq.Producer("O", "R", 10, Q), mq.Receive("K", 6), mq.Crash("P1"), mq.Resume("K")),
        {"K": 16}, queue("P2", *some(1, 10)), twice={"K": dict.fromkeys(some(1, 6), 2)},
        redelivered={},
    ),
    "ActiveMQ rules 19 (from_pair_backlog_kill): both members define the connector": Case(
        mq.Network(*pair("P", to("R")), mq.Broker("R", **KEPT)),
        (anywhere("p", "P1", "P2"), mq.Producer("O", "p", 10, Q), mq.Crash("P1"),
         mq.Consumer("K", "R", Q)),
        {"K": 10}, order={"K": some(1, 10)}, roles={"P2": "master"},
    ),
    "ActiveMQ rules 19: a suspended master keeps its lock": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"), mq.Consumer("K", "c", Q), mq.Pause("P1", at="1s"),
         mq.Producer("O", "R", 10, Q, at="2s"), mq.Resume("P1", at="15s")),
        {"K": 10}, order={"K": some(1, 10)}, roles={"P1": "master", "P2": "slave"},
    ),
    "ActiveMQ rules 19 (to_pair_duplex_both_ways_kill): a duplex connector does both ways": Case(
        mq.Network(mq.Broker("R", to("P1", "P2", duplex=True), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"), mq.Consumer("K", "c", Q), mq.Consumer("L", "R", mq.Queue("S")),
         mq.Crash("P1"), mq.Producer("O", "R", 5, Q), mq.Producer("U", "c", 5, mq.Queue("S"))),
        {"K": 5, "L": 5},
    ),
    "ActiveMQ rules 25 (poison_at_b_then_restart): a dead letter stays with the pair": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), **KEPT), *pair("P")),
        (anywhere("c", "P1", "P2"),
         mq.Consumer("K", "P1", Q, ack_mode="transacted", acknowledge=False,
                     redelivery=mq.Redelivery(maximum=1, initial_delay=0, delay=0)),
         mq.Producer("O", "R", 1, Q), mq.Rollback("K"), mq.Rollback("K"), mq.Crash("P1")),
        {"K": 2}, {"P2": {"queue://ActiveMQ.DLQ": [1]}}, twice={"K": {1: 2}},
    ),
    "ActiveMQ rules 15: a host goes down with the master and its neighbour": Case(
        mq.Network(mq.Broker("R", to("P1", "P2"), host="h1", **KEPT),
                   mq.Broker("P1", shared_store="P", host="h1"),
                   mq.Broker("P2", shared_store="P", host="h2")),
        (anywhere("c", "P1", "P2"), mq.Producer("O", "R", 5, Q), mq.HostDown("h1"), mq.Restart("R"),
         mq.Consumer("K", "c", Q)),
        {"K": 5}, roles={"R": "running", "P1": "down", "P2": "master"},
    ),
    "ActiveMQ rules 15 (consuming_over_kill): a slow disk loses nothing": Case(
        mq.Network(*pair("P")),
        (anywhere("c", "P1", "P2"), mq.SlowDisk("P", 50), mq.Consumer("K", "c", Q),
         mq.Producer("O", "c", 30, Q, every="40ms"), mq.Crash("P1", at="1s")),
        {"K": 30}, roles={"P1": "down", "P2": "master"},
    ),
    "ActiveMQ rules 15 (lock_file_deleted_no_keep_alive): both serve": Case(
        mq.Network(*pair("P", lock_keep_alive_period_ms=0)), (mq.DeleteLock("P"), mq.Wait("25s")),
        {}, roles={"P1": "master", "P2": "master"},
    ),
    "ActiveMQ rules 15 (lock_file_deleted_keep_alive_no_restart): the master stops": Case(
        mq.Network(*pair("P", lock_keep_alive_period_ms=1000, restart_allowed=False)),
        (anywhere("c", "P1", "P2"), mq.Producer("O", "c", 5, Q), mq.DeleteLock("P"),
         mq.Wait("25s")),
        {}, queue("P2", *some(1, 5)), roles={"P1": "down", "P2": "master"},
    ),
    "ActiveMQ rules 7 (database_down_no_restart): the master stops, and stays down": Case(
        mq.Network(mq.Broker("J1", store="jdbc", restart_allowed=False),
                   mq.Broker("J2", store="jdbc")),
        (anywhere("c", "J1", "J2"), mq.Producer("O", "c", 5, Q), mq.Wait("3s"), mq.DatabaseDown(),
         mq.Wait("60s"), mq.DatabaseUp(), mq.Wait("30s")),
        {}, queue("J2", *some(1, 5)), roles={"J1": "down", "J2": "master"},
    ),
    # clients that move
    "ActiveMQ rules 20 (consumer_moves_store_returns): the store comes back": Case(
        chain("A", "B"),
        (anywhere("c", "A", "B"), mq.Producer("P", "A", 10, Q), mq.Crash("A"),
         mq.Consumer("K", "c", Q), mq.Restart("A")),
        {"K": 10}, order={"K": some(1, 10)}, redelivered={},
    ),
    "ActiveMQ rules 20 (consumer_moves_memory_store): it comes back empty": Case(
        chain("A", "B"),
        (anywhere("c", "A", "B"), mq.Producer("P", "A", 10, Q), mq.Crash("A"),
         mq.Consumer("K", "c", Q), mq.Restart("A", store="new")),
        {"K": 0}, lost=some(1, 10),
    ),
    "ActiveMQ rules 20: stuck behind a client that moved": Case(
        chain("A", "B", duplex=True),
        (anywhere("c", "B", "A"), mq.Consumer("K", "c", Q, receiving=False),
         mq.Producer("P", "A", 10, Q), mq.Stop("B"), mq.Restart("B"), mq.Resume("K")),
        {"K": 0}, queue("B", *some(1, 10)),
    ),
    "ActiveMQ rules 20 (stuck_after_move_replay): replayWhenNoConsumers brings them back": Case(
        chain("A", "B", duplex=True, policies=(
            {"queue": ">", "enable_audit": False, "replay_when_no_consumers": True},)),
        (anywhere("c", "B", "A"), mq.Consumer("K", "c", Q, receiving=False),
         mq.Producer("P", "A", 10, Q), mq.Stop("B"), mq.Restart("B"), mq.Resume("K")),
        {"K": 10},
    ),
    # priorities, groups, what expires
    "ActiveMQ rules 25: prioritizedMessages, the far broker restarts": Case(
        chain("A", "B", policies=({"queue": ">", "prioritized_messages": True},)),
        (mq.Producer("P", "A", 9, Q, jms_priority=[1, 5, 9]), mq.Stop("B"), mq.Restart("B"),
         mq.Consumer("K", "B", Q)),
        {"K": 9}, order={"K": [3, 6, 9, 2, 5, 8, 1, 4, 7]},
    ),
    "ActiveMQ rules 25 (groups_local_and_remote_b_restarts): groups stay with whom they went to": Case(
        chain("A", "B"),
        (anywhere("c", "B"), mq.Consumer("L", "A", Q), mq.Consumer("K", "c", Q),
         mq.Producer("P", "A", 4, Q, properties=GROUPS), mq.Stop("B"),
         mq.Producer("P", "A", 4, Q, properties=GROUPS), mq.Restart("B"),
         mq.Producer("P", "A", 4, Q, properties=GROUPS)),
        {"L": 10, "K": 2},
    ),
    "ActiveMQ rules 25 (expired_while_b_away): dead letters where they waited": Case(
        chain("A", "B"),
        (anywhere("c", "B"), mq.Consumer("K", "c", Q), mq.Stop("B"),
         mq.Producer("P", "A", 5, Q, time_to_live="2s"), mq.Wait("5s"), mq.Restart("B")),
        {"K": 0}, {"A": {"queue://ActiveMQ.DLQ": some(1, 5)}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
def test_what_comes_of_it(case):
    lab = mq.Lab(mq.Scenario.of(case.net, *case.actions))
    lab.play(case.until)
    trace = lab.trace
    came = {
        name: [e.message for e in trace.events() if e.kind is mq.Kind.Received and e.to == name]
        for name in case.order
    }
    assert trace.received() == case.received
    assert trace.waiting() == case.waiting
    assert trace.lost() == case.lost
    assert trace.duplicated() == case.twice
    assert came == case.order
    if case.redelivered is not None:
        assert trace.redelivered() == case.redelivered
    assert {name: lab.roles[name] for name in case.roles} == case.roles
    assert trace.header["problems"] == []
