"""What changes nothing is told: each action of each product, of nothing, twice, or in the wrong state."""

from dataclasses import replace

import pytest

import mqlab as mq
from mqlab import reference
from tests.conftest import ROOT

TABLE = ROOT / "tests" / "trace" / "in_vain.txt"
PAIR = (("M", "master"), ("S", "slave"))
O, R = mq.openmq, mq.artemis  # noqa: E741 - as the table has them
Q, T = mq.Queue("Q"), mq.Topic("T")


def consumer(on="A", reads=Q, **more):
    return mq.Consumer("C", on=on, reads=reads, **more)


NAMES = {
    **{name: getattr(mq, name) for name in dir(mq) if name[:1].isupper()},
    "O": O, "R": R, "Q": Q, "T": T,
    "C": consumer, "P": lambda on="A", **more: mq.Producer("P", on=on, sends=3, to=Q, **more),
    "K": mq.Client("K", uri="tcp://A:61616"),
    "held": lambda **more: consumer(receiving=False, **more),
    "client": lambda **more: consumer(ack_mode="client", acknowledge=False, **more),
    "tx": lambda: consumer(ack_mode="transacted", acknowledge=False),
    "opened": lambda **options: O.OpenProducer("P", "A", Q, options=options),
    "session": lambda **more: R.Session("S", on="A", to=Q, **more),
}  # fmt: skip


def network(name):
    link = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")
    return {
        "activemq": lambda: mq.Network(mq.Broker("A", link), mq.Broker("B")),
        "hosts": lambda: mq.Network(mq.Broker("A", link, host="h"), mq.Broker("B")),
        "memory": lambda: mq.Network(mq.Broker("A", store="memory"), mq.Broker("B")),
        "jdbc": lambda: mq.Network(mq.Broker("A", store="jdbc"), mq.Broker("B", store="jdbc")),
        "shared": lambda: mq.Network(mq.Broker("A", shared_store="s"), mq.Broker("B", shared_store="s")),
        "openmq": lambda: O.Network("A", "B"),
        "peer": lambda: O.Network("A", "B", model="peer"),
        "enhanced": lambda: O.Network("A", "B", model="enhanced"),
        "master": lambda: O.Network("A", "B", model="master", master="A"),
        "artemis": lambda: R.Network(R.Broker("A"), R.Broker("B")),
        "pair": lambda: R.Network(*(R.Broker(n, "replication", role) for n, role in PAIR)),
    }[name]()


def rows():
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            places, *rest = (part.strip() for part in line.split("|"))
            yield from ((place, *rest) for place in places.split())


def play(place, script):
    """Return what the run tells, or how it was refused."""
    try:
        actions = eval(f"[{script}]", dict(NAMES))
        trace = mq.run(network(place), *actions)
    except mq.MqlabError as error:
        return f"refused: {error}"
    return "\n".join(map(str, trace.undone))


@pytest.mark.parametrize(("place", "action", "state", "script", "told"), [*rows()], ids=lambda one: one[:40])
def test_what_changes_nothing_is_told(place, action, state, script, told):
    found = play(place, script)
    if told == "-":  # it does something: the state says what
        assert found == ""
    else:
        assert told in found


def timed(place, actions):
    """Play actions at times of their own, which begin when all brokers are up."""
    at = [replace(action, at=f"{8 + 2 * no}s") for no, action in enumerate(actions)]
    return mq.run(network(place), *at, until="120s")


def step_by_step(place, actions):
    """Play actions in a lab, one after the other."""
    lab = mq.Lab(network(place))
    lab.rest()
    for action in actions:
        lab.do(action)
        lab.rest()
    return lab.trace


@pytest.mark.parametrize("how", [timed, step_by_step])
@pytest.mark.parametrize(
    ("place", "script"),
    [(place, script) for place, _, _, script, told in rows() if told != "-" and "Start()" not in script],
    ids=lambda one: one[:60],
)
def test_so_it_is_at_times_and_in_a_lab(place, script, how):
    try:
        found = how(place, eval(f"[{script}]", dict(NAMES))).undone
    except mq.MqlabError as error:
        found = [error]
    assert found


PRODUCTS = {
    "activemq": ("activemq", "hosts", "memory", "jdbc", "shared"),
    "openmq": ("openmq", "peer", "enhanced", "master"),
    "artemis": ("artemis", "pair"),
}
# What no state makes vain: it opens, or looks, or lets time pass.
ALWAYS = {
    "Wait", "Settle", "Snapshot", "Look", "Files", "Sniff", "SampleOrders", "WaitForSends", "WriteFile",
}  # fmt: skip


@pytest.mark.complete
def test_the_table_has_every_action_of_every_product():
    written = {(place, action) for place, action, *_ in rows()}
    for action, (takers, _) in reference.actions().rows.items():
        for product in takers if action not in ALWAYS else ():
            places = PRODUCTS[product]
            assert any((place, action) in written for place in places), (
                f"{action} of {product} has no row of a state in which it changes nothing: add one to "
                "tests/trace/in_vain.txt, and let its function tell so (`runner.lab.tell`); or, if it never is "
                "in vain, name it in ALWAYS of tests/trace/test_in_vain.py"
            )
