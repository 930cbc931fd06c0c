"""A client is the same whatever carries it: a connection of its own to a broker, or one with an address."""

import pytest

import mqlab as mq

Q, T = mq.Queue("Q"), mq.Topic("T")


def held(**options):
    """Return a consumer that waits to be told, and five messages for it."""
    return lambda on: (
        mq.Consumer("C", on=on, reads=Q, acknowledge=False, **options), mq.Producer("P", on=on, sends=5, to=Q),
    )  # fmt: skip


def transacted(*ends, **options):
    def actions(on):
        redelivery = {"redelivery": mq.Redelivery(maximum=1, delay=20)} if on == "A" else {}
        return (
            mq.Consumer("C", on=on, reads=Q, ack_mode="transacted", acknowledge=False, **redelivery, **options),
            mq.Producer("P", on=on, sends=5, to=Q), *ends,
        )  # fmt: skip

    return actions


def topic(**options):
    return lambda on: (mq.Consumer("C", on=on, reads=T, **options), mq.Producer("P", on=on, sends=9, to=T))


def sending(sends, to, *more, **options):
    """Return a producer and what comes after it; *more* is made for where it happens."""
    return lambda on: (mq.Producer("P", on=on, sends=sends, to=to, **options), *(one(on) for one in more))


def reading(**options):
    return lambda on: mq.Consumer("C", on=on, reads=Q, **options)


def then(actions, *more):
    return lambda on: (*actions(on), *more)


ROOM = {"memory_limit": 3 * 1024}
WAITS = sending(9, Q, lambda _: mq.Wait("1s"), in_background=True)
INDIVIDUAL = held(ack_mode="individual")
CASES = {
    "composite destination": ({}, sending(4, mq.Queue("Q,R"), reading())),
    "prefetch 0 of the policy": ({"queue_prefetch": 0}, sending(4, Q, reading())),
    "browser": ({}, sending(4, Q, reading(browser=True))),
    "no room": (ROOM, WAITS),
    "room again": (ROOM, lambda on: (*WAITS(on), reading()(on))),
    "client acknowledge extends the window": ({}, held(ack_mode="client", prefetch=4)),
    "no extension": ({"use_prefetch_extension": False}, held(ack_mode="client", prefetch=4)),
    "individual": ({}, then(INDIVIDUAL, mq.Acknowledge("C"))),
    "last two": ({}, then(INDIVIDUAL, mq.Acknowledge("C", 2), mq.Close("C"))),
    "dups_ok puts off": ({}, topic(ack_mode="dups_ok", prefetch=4)),
    "dups_ok at the end": ({}, then(topic(ack_mode="dups_ok", prefetch=8), mq.Close("C"))),
    "a slow subscriber": ({}, topic(prefetch=2, receiving=False)),
    "commit": ({}, transacted(mq.Commit("C"))),
    "rollback": ({}, transacted(mq.Rollback("C"))),
    "too often": ({}, transacted(mq.Rollback("C"), mq.Rollback("C"))),
    "a rollback while it works": ({}, transacted(mq.Rollback("C"), delay="50ms")),
    "held": (
        {},
        lambda on: (
            reading(receiving=False)(on),
            *sending(5, Q)(on),
            mq.Receive("C", 2),
            mq.Pause("C"),
            mq.Resume("C"),
        ),
    ),
    "selector": (
        {},
        lambda on: (reading(selector="x > 1")(on), *sending(6, Q, properties={"x": [1, 2, 3]})(on)),
    ),
}
FATES = ("Held", "Browsed", "Dispatched", "Redelivered", "Received", "Acknowledged", "Returned", "DeadLettered")


def fates(trace):
    """Return who received how many, which messages had which fate in which order, and what waits where."""
    kinds = {}
    for event in trace.events():
        if event.kind.name in FATES:
            kinds.setdefault(event.kind.name, []).append(event.message)
    return trace.received(), kinds, trace.waiting()


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
@pytest.mark.parametrize("case", CASES)
def test_a_client_with_an_address_does_what_one_without_does(case, edition):
    policy, actions = CASES[case]
    network = mq.Network(mq.Broker("A", policies=({"queue": ">", **policy},)), edition=edition)
    client = mq.Client("u", uri="tcp://A:61616", redelivery=mq.Redelivery(maximum=1, delay=20))
    alone, with_address = mq.run(network, *actions("A")), mq.run(network, client, *actions("u"))
    assert fates(with_address) == fates(alone)
    assert fates(alone)[1]


def test_no_local_keeps_a_client_from_what_it_sends_itself():
    trace = mq.run(
        mq.Network(mq.Broker("A")),
        mq.Client("u", uri="tcp://A:61616"),
        mq.Consumer("own", on="u", reads=T, no_local=True),
        mq.Consumer("all", on="u", reads=T),
        mq.Producer("P", on="u", sends=2, to=T),
        mq.Producer("other", on="A", sends=1, to=T),
    )
    assert trace.received() == {"own": 1, "all": 3}
