"""The proof is causal: take the named cause away and the consumer gets the message; an unnamed one, and not.

Cases are drawn from the recordings of all products (their scenarios, as the lab plays them) and from random
networks with faults: 200 of them, of which a day tries half, and 2,000 with --all.
"""

from __future__ import annotations

import copy
from functools import cache
from random import Random

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import MqlabError
from mqlab.experiments.what_if import MOST, changes_of
from mqlab.trace.kinds import Kind
from tests.conftest import ALL, packed

CASES = 2000 if ALL else 200
CHUNKS = 20
SETS = ("activemq", "activemq-editions", "failover", "combined", "openmq", "artemis", "random")
LONGEST = 1000  # events of a run that is asked; longer ones are not proved to the end
STRUCTURE = (
    "name", "from", "to", "uri", "at", "process", "do", "consumer", "producer", "client", "broker",
    "on", "reads", "sends", "session", "properties", "options", "id", "limit",
)  # fmt: skip


@cache
def bodies(name):
    return [value["scenario"] for _, value in sorted(packed(name).items()) if "scenario" in value]


def random_body(random):
    """Draw a network of ActiveMQ with consumers, producers and perhaps a fault."""
    names = "ABCD"[: random.randint(2, 4)]
    connectors = [
        {"name": f"c{no}", "from": home, "to": random.choice([n for n in names if n != home]),
         **dict(random.sample(sorted({
             "network_ttl": 2, "duplex": True, "conduit_subscriptions": False,
             "excluded_destinations": ["queue://Q"], "decrease_network_consumer_priority": True,
         }.items()), random.randint(0, 3)))}
        for no, home in enumerate(random.choices(names, k=random.randint(1, 4)))
    ]  # fmt: skip
    reads = lambda: {random.choice(["queue", "queue", "topic"]): "Q"}  # noqa: E731 - used twice below
    consumers = [
        {"do": "open_consumer", "consumer": f"C{no}", "broker": random.choice(names), **reads(),
         **random.choice([{}, {}, {"selector": "n > 1"}, {"receiving": False}, {"exclusive": True},
                          {"priority": 5}, {"prefetch": 1}])}
        for no in range(random.randint(1, 3))
    ]  # fmt: skip
    sends = {"do": "send", "producer": "P", "broker": random.choice(names), "count": 3, **reads(),
             "properties": {"n": [0, 1, 2], **random.choice([{}, {"JMSXGroupID": "g"}])}}  # fmt: skip
    faults = random.choice([[], [], [{"do": "kill", "broker": random.choice(names)}],
                            [{"do": "stop_broker", "broker": random.choice(names)}],
                            [{"do": "close_consumer", "consumer": "C0"}]])  # fmt: skip
    steps = [*consumers, sends]
    if random.random() < 0.3:
        random.shuffle(steps)
    for fault in faults:  # a consumer closes after it was opened
        steps.insert(random.randint(len(steps) if "consumer" in fault else 0, len(steps)), fault)
    return {
        "brokers": [{"name": name} for name in names], "connectors": connectors, "pace": "rest",
        "steps": [{"do": "start"}, *steps, {"do": "settle"}],
    }  # fmt: skip


def played(body, seed=0):
    product = products.product_of(body)
    lab = product.lab(product.read(body, "drawn"), seed=seed, limit=20 * LONGEST)
    lab.play()
    return lab.trace


def got(trace, name, consumer):
    """Whether a consumer got the message of that name; read off the rows, as a stranger would."""
    nodes = trace.names["node"]
    sent_by, number = name.rpartition("-")[0], 0
    columns = [trace.column(name) for name in ("kind", "frm", "msg", "to")]
    for kind, frm, msg, _ in zip(*columns, strict=True):
        if kind == Kind.Sent and nodes[frm] == sent_by:
            number += 1
            if f"{sent_by}-{number}" == name:
                return any(k == Kind.Received and m == msg and nodes[to] == consumer
                           for k, _, m, to in zip(*columns, strict=True))  # fmt: skip
    return False


def draw(random):
    """Draw a run, and a message of it that one of its consumers did not get."""
    while True:
        name = random.choice(SETS)
        body = random_body(random) if name == "random" else random.choice(bodies(name))
        try:
            trace = played(body)
        except MqlabError:
            continue  # it is one that the product refuses
        sent = [m for k, m in zip(trace.column("kind"), trace.column("msg"), strict=True) if k == Kind.Sent]
        consumers = sorted(trace.received())
        if not sent or not consumers or len(trace) > LONGEST:
            continue
        message, consumer = trace.message_name(random.choice(sent)), random.choice(consumers)
        whole = len(list(changes_of(trace, message, consumer))) <= MOST
        if whole and not got(trace, message, consumer):
            return trace, message, consumer


def written(body):
    """Yield the lab file without one of its options, and what that is: read without the room that is tested."""
    for part in ("connectors", "actions"):
        for no, item in enumerate(body.get(part, ())):
            opens = part == "connectors" or item["do"] in ("Consumer", "Producer")
            for key in item if opens else ():
                if key not in STRUCTURE:
                    without = copy.deepcopy(dict(body))
                    del without[part][no][key]
                    yield (part, no, key), without


@pytest.mark.slow
@pytest.mark.sample(2)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_causes_are_proved(chunk):
    random = Random(chunk)
    for _ in range(CASES // CHUNKS):
        trace, message, consumer = draw(random)
        body = trace.header["scenario"]
        told = mq.explain(trace, message=message, why_not=consumer)
        assert told.causes, told
        named = set()
        for cause in told.causes:
            if cause.change is not None:
                named |= {edit.path for edit in cause.change.edits}
                assert got(played(cause.change.apply(body)), message, consumer), (cause, body)
        options = [pair for pair in written(body) if pair[0] not in named]
        for where, without in random.sample(options, min(2, len(options))):
            try:
                other = played(without)
            except MqlabError:
                continue  # without it, it cannot be
            assert not got(other, message, consumer), (where, message, consumer, told, body)
