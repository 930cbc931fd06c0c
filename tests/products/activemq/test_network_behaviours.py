"""What network connectors do: 49 behaviours of guides and classes (ActiveMQ rules 26).

Where ActiveMQ rules 1 to 6 correct one, the corrected statement is held. "F" are the defaults
of the guide's own broker (edition 5.5), "M" those of today (5.18).
"""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue
from tests.products.activemq.behaviours import (
    FOO,
    NEWS,
    Behaviours,
    depth,
    forwarded,
    network,
    reads,
    send,
    subscriptions,
)

behaviour = Behaviours(49)
STATIC = {"statically_included_destinations": ["queue://TEST.FOO"]}


def step_until(lab: mq.Lab, crossed: int) -> None:
    """Step a lab until that many messages have been handed to bridges."""
    while sum(forwarded(lab.trace).values()) < crossed:
        assert lab.step(), "so many never were"


@behaviour(1)
def _():
    assert depth(mq.run(network("A>B"), send(10))) == {"A": 10}


@behaviour(2)
def _():
    trace = mq.run(network("A>B B>C C>E", network_ttl=3), send(10), *reads("C1@E"))
    assert trace.received() == {"C1": 10}
    assert trace.path("P-1") == [["A", "B", "C", "E"]]


@behaviour(3)
def _():
    trace = mq.run(network("A>B B>C C>E", network_ttl=2), send(10), *reads("C1@E"))
    assert depth(trace) == {"A": 10}
    assert trace.received() == {"C1": 0}
    assert subscriptions(trace, "B")
    assert not subscriptions(trace, "A")


@behaviour(4)
def _():
    trace = mq.run(network("A>B"), *reads("C1@A"), send(10, on="B"))
    assert trace.received() == {"C1": 0}
    assert depth(trace) == {"B": 10}


@behaviour(5)
def _():
    for text in ("A>B B>A", "A=B"):
        trace = mq.run(network(text), *reads("C1@A", mq.Queue("X")), *reads("C2@B", mq.Queue("Y")),
                       send(3, "B", mq.Queue("X")), send(4, "A", mq.Queue("Y")))  # fmt: skip
        assert trace.received() == {"C1": 3, "C2": 4}


@behaviour(6)
def _():
    trace = mq.run(network("A>B"), *reads("C1@B C2@B", NEWS), send(1, to=NEWS))
    assert forwarded(trace) == {"A>B": 1}
    assert trace.received() == {"C1": 1, "C2": 1}


@behaviour(7)
def _():
    trace = mq.run(network("A>B", conduit_subscriptions=False), *reads("C1@B C2@B", NEWS),
                   send(1, to=NEWS))  # fmt: skip
    assert forwarded(trace) == {"A>B": 2}
    assert trace.received() == {"C1": 2, "C2": 2}


def load_balance(count: int, edition: str = "5.5", **options):
    return mq.run(network("A>B", edition, **options), *reads("C1@A C2@B C3@B"), send(count))


@behaviour(8)
def _():
    assert load_balance(12).received() == {"C1": 6, "C2": 3, "C3": 3}


@behaviour(9)
def _():
    trace = load_balance(12, conduit_subscriptions=False)
    assert trace.received() == {"C1": 4, "C2": 4, "C3": 4}


@behaviour(10)
def _():
    for conduit, expected in ((True, [75, 75, 150]), (False, [100, 100, 100])):
        trace = mq.run(network("B>A", conduit_subscriptions=conduit), *reads("C1@A C2@A C3@B"),
                       send(300, "B"))  # fmt: skip
        assert list(trace.received().values()) == expected


@behaviour(11)
def _():
    on, off = load_balance(30), load_balance(30, conduit_subscriptions=False)
    assert on.received()["C1"] == 15
    assert sum(on.received().values()) == 30
    assert off.received() == {"C1": 10, "C2": 10, "C3": 10}


@behaviour(12)
def _():
    assert load_balance(12, "5.18").received() == {"C1": 12, "C2": 0, "C3": 0}


@behaviour(13)
def _():
    stalled = mq.Consumer("C1", on="A", reads=FOO, prefetch=5, receiving=False)
    trace = mq.run(network("A>B", "5.18"), stalled, *reads("C2@B"), send(12))
    assert depth(trace) == {"A": 5}
    assert trace.received() == {"C1": 0, "C2": 7}


@behaviour(14)
def _():
    trace = mq.run(network("A>B B>C C>D C>E", network_ttl=3, **STATIC), send(10))
    assert depth(trace) == {"D": 5, "E": 5}


@behaviour(15)
def _():
    trace = mq.run(network("A>B B>C C>D C>E", network_ttl=3, **STATIC), send(10), *reads("C1@E"))
    assert depth(trace) == {"D": 5}
    assert trace.received() == {"C1": 5}


def star(count: int, on: str):
    return mq.run(network("C=B C=D C=E", network_ttl=3, **STATIC), send(count, on))


@behaviour(16)
def _():
    assert depth(star(10, "B")) == {"D": 5, "E": 5}


@behaviour(17)
def _():
    assert depth(star(9, "C")) == {"B": 3, "D": 3, "E": 3}


@behaviour(18)
def _():
    trace = mq.run(network("A=B B=C C=A", network_ttl=2, edition="5.17", **STATIC), send(100))
    assert depth(trace) == {"B": 50, "C": 50}
    for broker, other in (("B", "C"), ("C", "B")):
        waiting = trace.waiting()[broker][str(FOO)]
        assert all(trace.path(number) == [["A", other, broker]] for number in waiting)


@behaviour(19)
def _():
    trace = mq.run(network("A=B B=C C=A", network_ttl=1, edition="5.17", **STATIC), send(100))
    assert depth(trace) == {"B": 50, "C": 50}
    assert trace.path(1) in ([["A", "B"]], [["A", "C"]])


@behaviour(20)
def _():
    net = network("A>B", statically_included_destinations=["queue://TEST.*"], edition="5.17")
    deep = mq.Queue("TEST.FOO.BAR")
    trace = mq.run(net, send(5), send(5, to=deep))
    assert depth(trace) == {"B": 5}
    assert depth(trace, deep) == {"A": 5}


@behaviour(21)
def _():
    net = network("A>B", excluded_destinations=["queue://TRADE.STOCK.NYSE.*"],
                  dynamically_included_destinations=["queue://TRADE.STOCK.>"])  # fmt: skip
    names = ("TRADE.STOCK.NASDAQ.IBM", "TRADE.STOCK.NYSE.IBM", "TRADE.STOCK.NYSE.X.Y", "OTHER")
    actions = []
    for no, name in enumerate(names):
        actions += [*reads(f"C{no}@B", mq.Queue(name)), send(1, to=mq.Queue(name))]
    assert mq.run(net, *actions).received() == {"C0": 1, "C1": 0, "C2": 1, "C3": 0}


@behaviour(22)
def _():
    net = network("A>B", dynamically_included_destinations=["topic://>"])
    trace = mq.run(net, *reads("C1@B"), *reads("S1@B", NEWS), send(2), send(2, to=NEWS))
    assert trace.received() == {"C1": 0, "S1": 2}


@behaviour(23)
def _():
    def connector(name, on, kind):
        return mq.NetworkConnector(name, uri="static:(tcp://B)", conduit_subscriptions=on,
                                   dynamically_included_destinations=[f"{kind}://>"])  # fmt: skip

    net = mq.Network(
        mq.Broker("A", connector("queues", False, "queue"), connector("topics", True, "topic")),
        mq.Broker("B"), edition="5.5",
    )  # fmt: skip
    queues = mq.run(net, *reads("C1@A C2@B C3@B"), send(12))
    topics = mq.run(net, *reads("C1@A C2@B C3@B", NEWS), send(1, to=NEWS))
    assert queues.received() == {"C1": 4, "C2": 4, "C3": 4}
    assert topics.received() == {"C1": 1, "C2": 1, "C3": 1}


def by_region(order: str, conduit: bool):
    net = network("A>B A>C", conduit_subscriptions=conduit)
    regions = {"B": "us", "C": "emea"}
    takers = [mq.Consumer(f"C{b}", on=b, reads=FOO, selector=f"region = '{regions[b]}'") for b in order]
    return mq.run(net, *takers, send(6, properties={"region": ["us", "emea"]}))


@behaviour(24)
def _():
    lucky, unlucky = by_region("BC", True), by_region("CB", True)
    assert lucky.received() == {"CB": 3, "CC": 3}
    assert unlucky.received() == {"CC": 0, "CB": 0}
    assert depth(unlucky) == {"B": 3, "C": 3}


@behaviour(25)
def _():
    trace = by_region("CB", False)
    assert trace.received() == {"CC": 3, "CB": 3}
    assert not depth(trace)


@behaviour(26)
def _():
    net = network("B=E B=A A=D D=E B=C C=F F=E", "5.17", network_ttl=3,
                  decrease_network_consumer_priority=True)  # fmt: skip
    trace = mq.run(net, *reads("C1@E"), send(6, on="B"))
    seen = {s["from_broker"]: s["priority"] for s in subscriptions(trace, "B")}
    assert seen == {"E": -5, "A": -9, "C": -9}
    assert set(forwarded(trace)) == {"B>E"}


@behaviour(27)
def _():
    net = network("A>B A>C B>E C>E", network_ttl=3, decrease_network_consumer_priority=True,
                  prefetch_size=2)  # fmt: skip
    trace = mq.run(net, *reads("C1@E"), send(12, persistent=False))
    crossed = forwarded(trace)
    assert crossed["A>B"] > 0
    assert crossed["A>C"] > 0
    assert trace.received() == {"C1": 12}


def triangle(suppress: bool = False, decrease: bool = True, **more):
    return network("A>B A>C C>B", network_ttl=2, decrease_network_consumer_priority=decrease,
                   suppress_duplicate_queue_subscriptions=suppress, edition="5.17", **more)  # fmt: skip


@behaviour(28)
def _():
    trace = mq.run(triangle(), *reads("C1@B"))
    routes = {s["from_broker"]: s["priority"] for s in subscriptions(trace, "A")}
    assert routes == {"B": -5, "C": -8}


@behaviour(29)
def _():
    lab = mq.Lab(triangle(prefetch_size=1))
    lab.do(mq.Consumer("C1", on="B", reads=FOO, delay="5ms"))
    lab.rest()
    lab.do(send(40, persistent=False))
    for _ in range(150):
        lab.step()
    lab.do(mq.Close("C1"))
    lab.rest()
    stuck = len(lab.trace.waiting().get("C", {}).get(str(FOO), []))
    lab.do(mq.Consumer("C2", on="A", reads=FOO))
    lab.rest()
    assert stuck
    assert len(lab.trace.waiting()["C"][str(FOO)]) == stuck


@behaviour(30)
def _():
    for text in ("A>B A>C C>B", "C>B A>C A>B"):
        net = network(text, network_ttl=2, decrease_network_consumer_priority=True,
                      suppress_duplicate_queue_subscriptions=True, edition="5.17")  # fmt: skip
        trace = mq.run(net, *reads("C1@B"))
        assert [s["from_broker"] for s in subscriptions(trace, "A")] == ["B"]


@behaviour(31)
def _():
    net = mq.Network(
        mq.Broker("A", *(
            mq.NetworkConnector(f"to{b}", uri=f"static:(tcp://{b})", network_ttl=2,
                                suppress_duplicate_queue_subscriptions=True, auto_start=b == "C")
            for b in "BC"
        )),
        mq.Broker("B"), mq.Broker("C", mq.NetworkConnector("CB", uri="static:(tcp://B)")),
    )  # fmt: skip
    trace = mq.run(net, *reads("C1@B"), mq.StartConnector("toB"))
    assert [s["from_broker"] for s in subscriptions(trace, "A")] == ["C"]


@behaviour(32)
def _():
    for suppress, copies in ((True, 1), (False, 2)):
        net = network("A>B A>C C>B", network_ttl=2, edition="5.17",
                      suppress_duplicate_topic_subscriptions=suppress)  # fmt: skip
        trace = mq.run(net, *reads("S1@B", NEWS), send(1, to=NEWS))
        assert trace.received() == {"S1": copies}


@behaviour(33)
def _():
    net = mq.Network(
        mq.Broker("A", *(
            mq.NetworkConnector(n, uri="static:(tcp://B)", configured_name="NC") for n in "xy"
        )),
        mq.Broker("B"),
    )  # fmt: skip
    trace = mq.run(net, *reads("C1@B"), send(4))
    assert len(subscriptions(trace, "A")) == 1
    assert trace.received() == {"C1": 4}


@behaviour(34)
def _():
    net = network("A>B A>B A>B", edition="5.17")
    trace = mq.run(net, *reads("C1@B"), send(9))
    by_link: dict = {}
    for event in trace.events():
        if event.kind == mq.Kind.Forwarded:
            by_link[event.link] = by_link.get(event.link, 0) + 1
    assert sorted(by_link.values()) == [3, 3, 3]
    plain = network("A>B A>B A>B", edition="5.17", suppress_duplicate_topic_subscriptions=False)
    copies = mq.run(plain, *reads("S1@B", NEWS), send(1, to=NEWS))
    assert forwarded(copies) == {"A>B": 3}, "with suppression on, the default, one crosses"


@behaviour(35)
def _():
    static = mq.NetworkConnector("BC", uri="static:(tcp://C)", network_ttl=1, **STATIC)
    net = mq.Network(
        mq.Broker("A", mq.NetworkConnector("AB", uri="static:(tcp://B)", network_ttl=3, **STATIC)),
        mq.Broker("B", static), mq.Broker("C"),
    )  # fmt: skip
    assert depth(mq.run(net, send(4))) == {"B": 4}


@behaviour(36)
def _():
    browser = mq.Consumer("C1", on="B", reads=FOO, browser=True, receiving=False)
    assert not subscriptions(mq.run(network("A>B"), browser, send(2)), "A")


@behaviour(37)
def _():
    for options, crossed in (({}, 0), (STATIC, 5)):
        net = network("A>B", **options).change("B", advisory_support=False)
        assert mq.run(net, *reads("C1@B"), send(5)).received() == {"C1": crossed}


@behaviour(38)
def _():
    net = network("A>B", edition="5.17", static_bridge=True, **STATIC)
    other = mq.Queue("OTHER")
    trace = mq.run(net, *reads("C1@B"), *reads("C2@B", other), send(3), send(3, to=other))
    assert trace.received() == {"C1": 3, "C2": 0}


@behaviour(39)
def _():
    net = network("A>B", destination_filter="NO_DESTINATION")
    assert mq.run(net, *reads("C1@B"), send(3)).received() == {"C1": 0}


@behaviour(40)
def _():
    held = reads("C1@B C2@B", receiving=False)
    trace = mq.run(network("A>B"), *held, mq.Snapshot("two"), mq.Close("C1"), mq.Snapshot("one"),
                   mq.Close("C2"), mq.Snapshot("none"))  # fmt: skip
    counts = [len(subscriptions(trace, "A", label)) for label in ("two", "one", "none")]
    assert counts == [1, 1, 0]
    lab = mq.Lab(network("A>B", "5.17", prefetch_size=5))
    lab.do(mq.Consumer("C1", on="B", reads=FOO))
    lab.rest()
    lab.do(send(5, persistent=False))
    step_until(lab, 5)
    lab.do(mq.StopConnector("AB0"))
    lab.rest()
    assert depth(lab.trace) == {"A": 5}


@behaviour(41)
def _():
    for policy, got in (({}, 0), ({"replay_when_no_consumers": True}, 40)):
        net = network("A=B", edition="5.17", network_ttl=2)
        brokers = [
            mq.Broker(b.name, *b.connectors, store="kahadb",
                      policies=({"queue": ">", **policy},) if policy else ())
            for b in net.brokers
        ]  # fmt: skip
        held = mq.Consumer("C1", on="B", reads=FOO, receiving=False)
        trace = mq.run(mq.Network(*brokers), held, send(40), mq.Stop("B"),
                       *reads("C2@A"), mq.Snapshot("away"), mq.Restart("B"))  # fmt: skip
        away = trace.header["snapshots"]["away"]["received_so_far"]["C2"]
        assert away == 0
        assert trace.received()["C2"] == got


@behaviour(42)
def _():
    for broker_id, back in (("fixed", 0), ("new", 6)):
        net = network("A=B", edition="5.17", network_ttl=3)
        brokers = [mq.Broker(b.name, *b.connectors, store="kahadb") for b in net.brokers]
        held = mq.Consumer("C1", on="B", reads=FOO, receiving=False)
        trace = mq.run(mq.Network(*brokers), held, send(6), mq.Close("C1"), mq.Stop("A"),
                       mq.Restart("A", broker_id), *reads("C2@A"))  # fmt: skip
        assert trace.received()["C2"] == back


@behaviour(43)
def _():
    for options, waits in (
        ("", [1, 2, 4, 8, 16, 30, 30]),
        ("?useExponentialBackOff=false", [1, 1, 1, 1, 1, 1, 1]),
    ):
        net = mq.Network(
            mq.Broker("A", mq.NetworkConnector("AB", uri=f"static:(tcp://B){options}")),
            mq.Broker("B"),
        )
        lab = mq.Lab(net)
        lab.do(mq.Stop("B"))
        lab.rest()
        begun = lab.clock.now
        lab.until("200s")
        tries = [e.t for e in lab.trace.events() if e.kind == mq.Kind.Attempted and e.t > begun]
        gaps = [b - a for a, b in zip([begun, *tries], tries, strict=False)]
        assert [round(gap / 1e6) for gap in gaps[: len(waits)]] == waits


@behaviour(44)
def _():
    for sync, got in ((False, 2), (True, 3)):
        lab = mq.Lab(network("A>B", edition="5.17", always_sync_send=sync))
        lab.do(mq.Consumer("C1", on="B", reads=FOO))
        lab.rest()
        lab.do(send(3, persistent=False, every="10ms"))
        step_until(lab, 2)
        lab.step()  # without alwaysSyncSend: it counts as forwarded, and is still on the way
        lab.do(mq.StopConnector("AB0"))
        lab.do(mq.StartConnector("AB0"))
        lab.rest()
        # What was acknowledged to nobody comes again (ActiveMQ rule 23.1).
        came = {e.message for e in lab.trace.events() if e.kind == mq.Kind.Received}
        assert len(came) == got


@behaviour(45)
def _():
    exclusive = mq.Consumer("C2", on="B", reads=FOO, exclusive=True)
    trace = mq.run(network("A>B", edition="5.17"), *reads("C1@A"), exclusive, send(6))
    assert trace.received() == {"C1": 0, "C2": 6}


@behaviour(46)
def _():
    for edition, holds, got in (("5.18", 2, [4, 4, 4]), ("5.5", 1, [6, 3, 3])):
        net = network("A>B B>C B>D", edition, network_ttl=2,
                      decrease_network_consumer_priority=False)  # fmt: skip
        trace = mq.run(net, *reads("C1@A C2@C C3@D"), send(12))
        remote = [s for s in subscriptions(trace, "A") if s["kind"] == "network"]
        assert len(remote) == holds
        assert sorted(trace.received().values()) == sorted(got)


@behaviour(47)
def _():
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("self", uri="static:(tcp://A)")))
    trace = mq.run(net, *reads("C1@A"), send(2))
    assert trace.received() == {"C1": 2}
    assert not any(e.kind == mq.Kind.Connected for e in trace.events())


@behaviour(48)
def _():
    durable = mq.Consumer("D1", on="B", reads=NEWS, durable=True, client_id="D", receiving=True)
    again = mq.Consumer("D2", on="B", reads=NEWS, durable=True, client_id="D",
                        subscription_name="D1")  # fmt: skip
    trace = mq.run(network("A>B", edition="5.17"), durable, mq.Close("D1"), send(5, to=NEWS),
                   mq.Snapshot("stored"), again)  # fmt: skip
    stored = trace.header["snapshots"]["stored"]["brokers"]["B"]["durable_subscriptions"]
    assert [row["pending"] for row in stored] == [5]
    assert trace.received() == {"D1": 0, "D2": 5}


@behaviour(49)
def _():
    for edition, decrease, expected in (
        ("5.5", False, {"C": 6, "D": 6}),
        ("5.17", False, {"C": 4, "D": 8}),
        ("5.18", True, {"C": 6, "D": 6}),
    ):
        net = network("A>B A>C B>D", edition, network_ttl=2,
                      decrease_network_consumer_priority=decrease, **STATIC)  # fmt: skip
        assert depth(mq.run(net, send(12))) == expected


@pytest.mark.parametrize("check", behaviour.cases())
def test_network_connector_behaviour(check):
    assert check is not None, "no check has this number"
    check()


@pytest.mark.parametrize("size", [-1, 0])
def test_a_prefetch_that_the_edition_refuses(size):
    with pytest.raises(BadValue):
        mq.run(network("A>B", edition="5.17", prefetch_size=size), send(1))
