"""`every`: a producer waits between two sends, whatever the product; in the background nobody waits for it."""

import itertools

import pytest

import mqlab as mq
from mqlab.trace.kinds import Kind

Q = mq.Queue("Q")
PRODUCTS = [mq, mq.openmq, mq.artemis]


def run(product, *actions, **options):
    net = product.Network(product.Broker("A"), product.Broker("B"))
    return mq.run(net, mq.Consumer("C", on="A", reads=Q), *actions, **options)


def sent(trace, producer):
    column, name = trace.column("frm"), trace.names["node"].index(producer)
    return [trace.event(row).t for row in trace.rows(Kind.Sent) if column[row] == name]


@pytest.mark.parametrize("product", PRODUCTS)
def test_sends_are_so_far_apart(product):
    trace = run(product, mq.Producer("P", on="A", to=Q, sends=100, every="1s"))
    assert trace.received() == {"C": 100}
    gaps = [later - one for one, later in itertools.pairwise(sent(trace, "P"))]
    assert all("1s" <= gap <= "1005ms" for gap in gaps)
    assert trace.undone == ()


@pytest.mark.parametrize("product", PRODUCTS)
def test_in_the_background_two_send_at_once_and_the_run_waits_for_both(product):
    slow = mq.Producer("slow", on="A", to=Q, sends=5, every="200ms", in_background=True)
    trace = run(product, slow, mq.Producer("quick", on="A", to=Q, sends=2, every="100ms"))
    assert trace.received() == {"C": 7}
    assert sent(trace, "quick")[-1] < sent(trace, "slow")[1]
    assert trace.undone == ()


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_crash_between_two_sends_ends_the_run_all_the_same(product):
    trace = run(product, mq.Producer("P", on="A", to=Q, sends=50, every="1s", in_background=True),
                mq.Crash("A", at="20s"), until="200s")  # fmt: skip
    assert 0 < trace.received()["C"] < 25
    assert any("messages never sent" in one.why or "never" in one.why for one in trace.undone)
