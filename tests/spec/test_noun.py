"""A noun with a field that it does not have, or without one that it needs, says what to write."""

import copy
import inspect
import pickle

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

Q = mq.Queue("Q")


@pytest.mark.parametrize(
    ("make", "kind", "told"),
    [
        (lambda: mq.Consumer("C", on="A", read=Q), UnknownName, "did you mean 'reads'"),
        (lambda: mq.Producer("P", on="A", sends=1, to=Q, priority=7), UnknownName, "'jms_priority'"),
        (lambda: mq.Crash("A", when="2s"), UnknownName, "Known: broker, at"),
        (lambda: mq.Link(dely="3ms"), UnknownName, "'delay'"),
        (lambda: mq.Consumer("C", "A"), BadValue, "'reads'; expected Consumer(name, on, reads)"),
        (lambda: mq.Crash("A", "B"), BadValue, "expected Crash(broker)"),
        (lambda: mq.Broker("A", conduit=True), UnknownName, "is an option of networkConnector"),
        (lambda: mq.Broker("A", network_ttl=2), UnknownName, "'network_ttl' is an option of networkConnector"),
        (lambda: mq.NetworkConnector("n", uri="static:(tcp://B:61616)", conduit=True), UnknownName,
         "'conduit_subscriptions'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_what_to_write(make, kind, told):
    with pytest.raises(kind) as found:
        make()
    assert told in str(found.value)


def test_editors_and_help_see_the_fields():
    assert list(inspect.signature(mq.Crash).parameters) == ["broker", "at"]
    assert "selector" in inspect.signature(mq.Consumer).parameters


def test_a_noun_is_copied_and_pickled_as_before():
    crash = mq.Crash("A", at="2s")
    assert copy.deepcopy(crash) == crash == pickle.loads(pickle.dumps(crash))


def test_an_error_inside_a_constructor_stays_itself():
    class Odd(mq.spec.action.Action):
        def __init__(self):
            raise TypeError("its own")

    with pytest.raises(TypeError, match="its own"):
        Odd()
