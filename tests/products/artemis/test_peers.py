"""Clusters out of the product's own test suite: each row is played, and checked where it says so."""

from __future__ import annotations

import pytest

from mqlab.products.artemis.lab import ArtemisLab
from mqlab.spec import Scenario
from mqlab.spec.artemis import Network
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.artemis.words import actions_of
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind
from tests.conftest import peer_cases


def cases():
    found = peer_cases("network_cases")
    return [case for case in found if case["family"] == "artemis-cluster"]


def server(case, node):
    """Return a node; several connections of one kind between the same two are one here."""
    rows = [row for row in case["connectors"] if row["from"] == node]
    (options,) = {(row["load_balancing"], row["max_hops"]) for row in rows}
    to = sorted({f"n{row['to']}" for row in rows if row["to"] is not None})
    keys = {"to": to, "message_load_balancing": options[0], "max_hops": options[1]}
    if "OneWayChain" in case["source"]["file"]:  # all calls of that class say so, and the table does not
        keys["allow_direct_connections_only"] = True
    return Broker(f"n{node}", keys={"cluster": keys})


def colour(name):
    return f"color = '{name}'"


class Player:
    """Plays the steps of one row on a lab."""

    def __init__(self, case):
        servers = [server(case, node) for node in case["brokers"]]
        self.lab = ArtemisLab(Scenario(Network(*servers)))
        self.ends = {row["name"]: (row["from"], row["to"]) for row in case["connectors"]}
        self.first = 1  # number of the first message of the last send
        self.names: dict[int, str] = {}  # consumer -> its name in the lab, a new one for each life
        self.known: dict[int, int] = {}  # consumer -> messages that were expected of it so far

    def play(self, step):
        getattr(self, step["op"])(**{key: value for key, value in step.items() if key != "op"})

    def take(self, do, **keys):
        for action in actions_of([Step(do, keys)]):
            self.lab.do(action)
        self.lab.rest()

    def start(self, nodes):
        self.take("start", brokers=[f"n{node}" for node in nodes])
        self.take("wait", ms=2000)  # the tests wait until they know the bindings of others

    def stop(self, nodes):
        self.take("stop", brokers=[f"n{node}" for node in nodes])

    def queue(self, node, address, queue, filter, durable):
        """Make a queue, bound to an address that many queues share."""
        broker = self.lab.brokers[f"n{node}"]
        self.lab.new_queue(broker, queue, address, durable, colour(filter) if filter else None)

    def consume(self, id, node, queue, filter):
        self.names[id] = f"C{len(self.lab.clients.consumers)}"
        self.take("open_consumer", consumer=self.names[id], broker=f"n{node}", queue=queue,
                  **({"selector": colour(filter)} if filter else {}))  # fmt: skip

    def close(self, id):
        self.take("close_consumer", consumer=self.names[id])
        self.known.pop(id, None)

    def send(self, node, address, count, durable, filter_value):
        self.first = self.lab.clients.numbers + 1
        self.take("send", broker=f"n{node}", topic=address, count=count, persistent=durable,
                  properties={"color": filter_value} if filter_value else {})  # fmt: skip
        self.take("settle")

    # What a row expects

    def expect(self, **what):
        for name, expected in what.items():
            getattr(self, f"expect_{name}")(expected)

    def received(self, id):
        """Return what a consumer got of the last send, counted from 0."""
        numbers = self.lab.clients.consumers[self.names[id]].received
        return [number - self.first for number in numbers if number >= self.first]

    def expect_round_robin(self, expected):
        ids = expected["consumers"]
        for place, id in enumerate(ids):
            assert self.received(id) == [*range(place, expected["count"], len(ids))]
            self.known[id] = self.known.get(id, 0) + len(self.received(id))

    def expect_each_receives_all(self, expected):
        for id in expected["consumers"]:
            assert self.received(id) == [*range(expected["count"])]
            self.known[id] = self.known.get(id, 0) + expected["count"]

    def expect_nothing_more(self, ids):
        for id in ids:
            assert len(self.lab.clients.consumers[self.names[id]].received) == self.known.get(id, 0)

    def expect_bindings(self, expected):
        here = self.lab.brokers[f"n{expected['node']}"]
        others = list(self.lab.balancing.remote(here))
        queues = [q for at in ([here] if expected["local"] else others)
                  for q in at.served_journal.queues.values() if q.topic == expected["address"]]  # fmt: skip
        assert len(queues) == expected["queues"]
        assert sum(len(q.consumers) for q in queues) == expected["consumers"]

    def expect_cluster_metrics(self, expected):
        """Of the numbers of a connection: how many messages have gone over it."""
        frm, to = self.ends[expected["connection"]]
        gone = [e for e in self.lab.trace.events() if e.kind == Kind.Forwarded
                and (e.frm, e.to) == (f"n{frm}", f"n{to}")]  # fmt: skip
        assert len(gone) == expected["messages_acknowledged"]


# A queue that is deleted while it has a consumer elsewhere: no scenario of the lab has that step.
NOT_TRANSLATED = {"net-0165"}


@pytest.mark.parametrize("case", [
    pytest.param(case, id=case["id"]) for case in cases() if case["id"] not in NOT_TRANSLATED
])  # fmt: skip
def test_clusters(case):
    player = Player(case)
    for step in case["steps"]:
        player.play(step)


def test_every_row_is_played():
    assert len(cases()) == 22
