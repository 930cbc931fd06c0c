"""Options that need others: each is told where the other is missing, by `check` and by the run."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.spec.needs import Condition, idle
from mqlab.spec.options import tables

Q = mq.Queue("Q")
# Beside the rows of its product: of the cluster, and of the action that has the options.
BESIDE = {"openmq": {"model", "durable"}, "addresses": {"a_second_address"}}
NEEDY = [
    pytest.param(product, element, name, clause, id=f"{product}-{element}-{name}-{no}")
    for product in ("activemq", "addresses", "artemis", "openmq")
    for element, rows in tables(product).items()
    for name, row in rows.items()
    for no, clause in enumerate(row.needs)
]


def conditions(clause):
    return [Condition.read(text) for text in clause.split(" or ")]


@pytest.mark.parametrize(("product", "element", "name", "clause"), NEEDY)
def test_what_a_row_needs_is_an_option_and_its_absence_is_told(product, element, name, clause):
    rows = {key: row for section in tables(product).values() for key, row in section.items()}
    rows |= tables(product)[element]
    values = {one.name: one for one in conditions(clause)}
    assert values.keys() <= rows.keys() | BESIDE.get(product, set())
    for other, one in values.items():
        choices = rows[other].choices if other in rows else ()
        assert not (one.wanted and choices) or one.wanted in choices
    # what holds no condition of this clause, and all of the others
    wrong = {n: one.wanted if one.other and one.wanted else one.other and "x" for n, one in values.items()}
    right = {}
    for text in tables(product)[element][name].needs:
        first = conditions(text)[0]
        right[first.name] = (first.wanted + "0" if first.wanted else "") if first.other else first.wanted or "x"
    assert not [*idle(product, element, {name: "given"}, right.get)]
    (found,) = idle(product, element, {name: "given"}, (right | wrong).get)
    assert found.guide == tables(product)[element][name].guide
    assert found.why
    assert found.fix


def test_what_is_not_set_or_as_by_default_is_not_told():
    row = tables("artemis")["address-setting"]["redistribution_delay"]
    told = [value for value in (row.default, None, False, 0) if [
        *idle("artemis", "address-setting", {row.name: value}, {}.get)]]  # fmt: skip
    assert told == [0]  # a delay of 0 is one


A, B = mq.Broker, mq.artemis.Broker
FLOW = mq.Producer("P", on="A", sends=1, to=Q), mq.Consumer("C", on="A", reads=Q)


@pytest.mark.parametrize(("network", "actions", "told"), [
    (mq.Network(A("A", lease_holder_id="x")), (), "A, leaseHolderId: has no effect: locker is not set"),
    (mq.Network(A("A", policies=[{"queue": "Q", "dead_letter_queue_prefix": "X."}])), (),
     "A, policy Q: queuePrefix: has no effect: deadLetterStrategy is shared"),
    (mq.Network(A("A", advisory_support=False, policies=[{"queue": "Q", "advisory_for_consumed": True}])),
     (),
     "A, policy Q: advisoryForConsumed: has no effect: advisorySupport is false; set advisorySupport to true"),
    (mq.Network(A("A")), [mq.Client("K", uri="failover:(tcp://A:61616)?backupPoolSize=3")],
     "Client K, backupPoolSize: has no effect: backup is false and priorityBackup is false"),
    (mq.Network(A("A")), [mq.Client("K", uri="failover:(tcp://A:61616)?backup=true")],
     "Client K, backup: has no effect: a second address is not set; set a second address"),
    (mq.Network(A("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)?bogus=1")), A("B")), (),
     "A/ab, bogus=1: static: ignores it silently; remove it"),
    (mq.artemis.Network(B("A"), message_load_balancing="OFF", redistribution_delay=0), (),
     "A, address #: redistribution-delay: has no effect: message-load-balancing is OFF; "
     "set message-load-balancing to ON_DEMAND or OFF_WITH_REDISTRIBUTION"),
    (mq.artemis.Network(B("A"), redelivery_delay=50, max_redelivery_delay=10), (),
     "A, address #: max-redelivery-delay: is below redelivery-delay, 50; set it to 50 or more"),
    (mq.artemis.Network(B("A", in_vm_id=3)), (),
     "A, in-vm serverId: has no effect: in-vm connector is not set"),
    (mq.openmq.Network(mq.openmq.Broker("A", cluster_heartbeat_interval=3)), (),
     "A, imq.cluster.heartbeat.interval: has no effect: model is none; set model to enhanced"),
    (mq.openmq.Network("A"), [mq.openmq.CreateDestination(Q, "A", options={"limit_behavior": "FLOW_CONTROL"})],
     "CreateDestination queue://Q, LimitBehavior: has no effect: MaxNumMsgs is -1 and MaxTotalMsgBytes is -1"),
])  # fmt: skip
def test_a_run_tells_of_an_option_without_effect(network, actions, told):
    (line,) = (str(one) for one in mq.run(network, *actions, *FLOW).undone)
    assert line.startswith(told)
