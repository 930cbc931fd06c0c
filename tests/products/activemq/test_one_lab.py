"""One lab for ActiveMQ: every figure step by step, copied midway, with another seed; a shop with faults."""

import pickle
from copy import deepcopy
from random import Random

import pytest

import mqlab as mq

FIGURES = [
    pytest.param(figure, id=figure.id) for figure in mq.figures() if figure.scenario.product == "activemq"
]


def steps_of(lab):
    """Step to the end; return how many steps it took."""
    steps = 0
    while lab.step():
        steps += 1
    return steps


@pytest.mark.sample(3)
@pytest.mark.parametrize("figure", FIGURES)
def test_both_futures_of_a_fork_are_that_of_the_lab(figure):
    draw = Random(figure.id)
    seed = draw.randrange(1000)
    wanted = mq.run(figure, seed=seed, jitter="2ms").digest()
    stepped = mq.Lab(figure, seed=seed, jitter="2ms")
    steps = steps_of(stepped)
    assert stepped.trace.digest() == wanted
    for _ in range(5):
        lab = mq.Lab(figure, seed=seed, jitter="2ms")
        for _ in range(draw.randrange(steps)):
            lab.step()
        before, header, now, roles = lab.trace.digest(), deepcopy(lab.trace.header), lab.now, lab.roles
        early = lab.trace  # nothing was asked of it yet
        fork = lab.fork()
        fork.play()
        assert (lab.trace.digest(), lab.now, lab.roles) == (before, now, roles)
        assert lab.trace.header == header
        lab.play()
        assert (fork.trace.digest(), lab.trace.digest()) == (wanted, wanted)
        assert pickle.loads(pickle.dumps(early)).header == early.header == header
        assert fork.roles == lab.roles == stepped.roles
        assert fork.trace.header == lab.trace.header == stepped.trace.header


@pytest.mark.parametrize("figure", FIGURES)
def test_a_fork_and_its_original_that_step_by_turns_do_not_meet(figure):
    wanted = mq.run(figure, seed=5, jitter="2ms").digest()
    labs = [mq.Lab(figure, seed=5, jitter="2ms")]
    for _ in range(Random(figure.id).randrange(40)):
        labs[0].step()
    labs += [labs[0].fork(), labs[0].fork().fork()]
    going = list(labs)
    while going:
        going = [lab for lab in going if lab.step()]
    assert [lab.trace.digest() for lab in labs] == [wanted] * 3


@pytest.mark.parametrize("figure", FIGURES)
def test_another_seed_with_jitter_is_another_trace_and_the_same_seed_is_not(figure):
    one, same, other = (mq.run(figure, seed=seed, jitter="2ms") for seed in (1, 1, 2))
    assert one.digest() == same.digest()
    if any(event.kind is mq.Kind.Sent for event in one.events()):
        assert other.digest() != one.digest()


ORDERS = mq.Queue("orders")
SHOP = mq.Network(
    mq.Broker("A1", shared_store="a"),
    mq.Broker("A2", shared_store="a"),
    mq.Broker("B", mq.NetworkConnector(
        "to-a", uri="masterslave:(tcp://A1:61616,tcp://A2:61616)", duplex=True,
        conduit_subscriptions=False,
    )),
)  # fmt: skip
DAY = (
    mq.Client("shop", uri="failover:(tcp://A1:61616,tcp://A2:61616)?maxReconnectDelay=500"),
    mq.Consumer("desk", on="B", reads=ORDERS, selector="n > 2"),
    mq.Producer("till", on="shop", sends=100, to=ORDERS, every="20ms",
                properties={"n": [1, 2, 3, 4]}),
    mq.Crash("A1", at="2s"), mq.Cut("A2", "B", at="20s"), mq.Heal("A2", "B", at="21s"),
    mq.Restart("A1", at="25s"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "jitter"), [(0, 0), (1, "2ms"), (2, "15ms")])
def test_a_shop_whose_master_dies_and_whose_line_is_cut_sells_everything_once(seed, jitter):
    trace = mq.run(SHOP, *DAY, until="40s", seed=seed, jitter=jitter)
    wanted = [number for number in range(1, 101) if (number - 1) % 4 >= 2]  # those with n > 2
    got = [e.message for e in trace.events() if e.kind is mq.Kind.Received and e.to == "desk"]
    assert sorted(got) == wanted
    others = [number for number in range(1, 101) if number not in wanted]
    assert trace.waiting() == {"A2": {"queue://orders": others}}
    assert (trace.lost(), trace.duplicated(), trace.header["problems"]) == ([], {}, [])
    masters = {time: trace.master("a", time) for time in ("1s", "2001ms", "13s", "24s", "40s")}
    assert masters == {"1s": ["A1"], "2001ms": [], "13s": ["A2"], "24s": ["A2"], "40s": ["A2"]}
    lab = mq.Lab(mq.Scenario.of(SHOP, *DAY), seed=seed, jitter=jitter)
    lab.until("40s")
    assert lab.roles == {"A1": "slave", "A2": "master", "B": "running"}
    assert lab.trace.digest() == trace.digest()


def test_the_bridge_follows_the_master_and_the_line():
    trace = mq.run(SHOP, *DAY, until="40s")
    ups = [(e.t // 1_000_000, e.kind.name, e.to) for e in trace.events()
           if e.broker == "B" and e.kind in (mq.Kind.BridgeUp, mq.Kind.BridgeDown)]  # fmt: skip
    assert ups == [
        (0, "BridgeUp", "A1"), (2, "BridgeDown", "A1"), (17, "BridgeUp", "A2"),
        (20, "BridgeDown", "A2"), (36, "BridgeUp", "A2"),
    ]  # fmt: skip
