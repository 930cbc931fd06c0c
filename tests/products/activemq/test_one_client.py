"""A client is the same whatever carries it: a connection of its own to a broker, or one with an address."""

import pytest

import mqlab as mq

Q, R, T = mq.Queue("Q"), mq.Queue("R"), mq.Topic("T")


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


CASES = [
    pytest.param({}, lambda on: (mq.Producer("P", on=on, sends=4, to=mq.Queue("Q,R")),
                                 mq.Consumer("C", on=on, reads=Q)), id="composite destination"),
    pytest.param({"queue_prefetch": 0}, lambda on: (mq.Producer("P", on=on, sends=4, to=Q),
                                                   mq.Consumer("C", on=on, reads=Q)), id="prefetch 0 of the policy"),
    pytest.param({"memory_limit": 3 * 1024}, lambda on: (mq.Producer("P", on=on, sends=9, to=Q, in_background=True),
                                                        mq.Wait("1s")), id="no room"),
    pytest.param({"memory_limit": 3 * 1024}, lambda on: (mq.Producer("P", on=on, sends=9, to=Q, in_background=True),
                                                        mq.Wait("1s"), mq.Consumer("C", on=on, reads=Q)), id="room again"),
    pytest.param({}, held(ack_mode="client", prefetch=4), id="client acknowledge extends the window"),
    pytest.param({"use_prefetch_extension": False}, held(ack_mode="client", prefetch=4), id="no extension"),
    pytest.param({}, lambda on: (*held(ack_mode="individual")(on), mq.Acknowledge("C")), id="individual"),
    pytest.param({}, lambda on: (*held(ack_mode="individual")(on), mq.Acknowledge("C", 2), mq.Close("C")), id="last two"),
    pytest.param({}, topic(ack_mode="dups_ok", prefetch=4), id="dups_ok puts off"),
    pytest.param({}, lambda on: (*topic(ack_mode="dups_ok", prefetch=8)(on), mq.Close("C")), id="dups_ok at the end"),
    pytest.param({}, topic(prefetch=2, receiving=False), id="a slow subscriber"),
    pytest.param({}, transacted(mq.Commit("C")), id="commit"),
    pytest.param({}, transacted(mq.Rollback("C")), id="rollback"),
    pytest.param({}, transacted(mq.Rollback("C"), mq.Rollback("C")), id="too often"),
    pytest.param({}, transacted(mq.Rollback("C"), delay="50ms"), id="a rollback while it works"),
    pytest.param({}, lambda on: (mq.Consumer("C", on=on, reads=Q, receiving=False), mq.Producer("P", on=on, sends=5, to=Q),
                                 mq.Receive("C", 2), mq.Pause("C"), mq.Resume("C")), id="held"),
    pytest.param({}, lambda on: (mq.Consumer("C", on=on, reads=Q, selector="x > 1"),
                                 mq.Producer("P", on=on, sends=6, to=Q, properties={"x": [1, 2, 3]})), id="selector"),
]  # fmt: skip

FATES = ("Held", "Dispatched", "Redelivered", "Received", "Acknowledged", "Returned", "DeadLettered")


def fates(trace):
    """Return who received how many, which messages had which fate in which order, and what waits where."""
    kinds = {}
    for event in trace.events():
        if event.kind.name in FATES:
            kinds.setdefault(event.kind.name, []).append(event.message)
    return trace.received(), kinds, trace.waiting()


@pytest.mark.parametrize("edition", ["5.5", "5.17"])
@pytest.mark.parametrize(("policy", "actions"), CASES)
def test_a_client_with_an_address_does_what_one_without_does(policy, actions, edition):
    network = mq.Network(mq.Broker("A", policies=({"queue": ">", **policy},)), edition=edition)
    client = mq.Client("u", uri="tcp://A:61616", redelivery=mq.Redelivery(maximum=1, delay=20))
    alone, with_address = mq.run(network, *actions("A")), mq.run(network, client, *actions("u"))
    assert fates(with_address) == fates(alone)
    assert fates(alone)[1]
