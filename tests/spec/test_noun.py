"""A noun with a field that it does not have, or without one that it needs, says what to write."""

import copy
import inspect
import pickle

import pytest

import mqlab as mq
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec.calls import fitting

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


TWO, TRACE = mq.chain(2), mq.run("fuse:2.20")


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: mq.run(), BadValue, "run: missing a required argument: 'what'; expected run(what, *actions)"),
        (lambda: mq.run(TWO, unti="2s"), UnknownName, "run: unknown argument 'unti'; did you mean 'until'?"),
        (lambda: mq.Lab(), BadValue, "expected Lab(what, *actions)"),
        (lambda: mq.explain(TRACE, msg="P-1"), UnknownName, "explain: unknown argument 'msg'"),
        (lambda: mq.mesh(2, 3), BadValue, "mesh: too many positional arguments; expected mesh(brokers)"),
        (lambda: mq.chain(3, networkTTL=2), UnknownName, "did you mean 'network_ttl'"),
        (lambda: mq.survives(), BadValue, "expected survives(what, *actions)"),
        (lambda: mq.faults(TWO), BadValue, "expected faults(what, seed=..., rate=...)"),
        (lambda: mq.replay.run(TWO), BadValue, "missing a required argument: 'out'"),
        (lambda: mq.from_networkx(), BadValue, "expected from_networkx(graph)"),
        (lambda: mq.effect(), BadValue, "expected effect(rule, *others)"),
        (lambda: mq.figure("fuse:2.20").change(), BadValue, "change: missing a required argument: 'path'"),
        (lambda: TWO.change(), BadValue, "expected change(path)"),
        (lambda: TRACE.account()[99], KeyError, "no message 99: the account has 12 messages, by number"),
        (lambda: TRACE.account()["P-1"], KeyError, "no message 'P-1'"),
        (lambda: TRACE.account()[1]["fates"], KeyError, "did you mean 'fate'"),
        (lambda: TRACE.received("C1"), BadValue, "too many positional arguments; expected received()"),
        (lambda: TRACE.master("A"), BadValue, "master: missing a required argument: 'at'; expected"),
        (lambda: mq.Lab(TWO).until(), BadValue, "expected until(time)"),
        (lambda: mq.run(mq.Crash("A"), TWO), BadValue, "pass the network before it"),
        (lambda: mq.run(TWO, mq.Producer("P", on="B1", sends=1, to=Q), mq.Close("P")), UnknownName,
         "P is a producer, which ends by itself"),
        (lambda: TRACE.event(10**9), IndexError, "no event 1000000000: the trace has "),
    ],
)  # fmt: skip
def test_a_call_that_does_not_fit_is_answered_with_what_to_write(call, kind, told):
    with pytest.raises(kind) as found:
        call()
    assert isinstance(found.value, MqlabError)
    assert told in str(found.value)


def test_functions_that_answer_so_are_what_they_were():
    assert (mq.run.__module__, next(iter(inspect.signature(mq.run).parameters))) == ("mqlab.api.verbs", "what")
    assert pickle.loads(pickle.dumps(mq.run)) is mq.run
    assert TRACE.account().get(99) is None
    assert 99 not in TRACE.account()


def test_an_error_inside_a_function_stays_itself():
    def odd(given):
        raise TypeError("its own")

    with pytest.raises(TypeError, match="its own"):
        fitting(odd)(1)


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
