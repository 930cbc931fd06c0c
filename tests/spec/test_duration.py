"""A `Duration` is what traces and labs answer where a time is asked: it prints its unit and goes in again."""

import json
import pickle

import pytest

import mqlab as mq
from mqlab.spec.values import Duration, duration

Q = mq.Queue("Q")
NET = mq.Network(mq.Broker("A"), mq.Broker("B"))


def test_it_prints_its_unit_and_is_a_number_of_microseconds():
    time = Duration(2_500)
    assert (str(time), repr(time), f"{time}") == ("2.5 ms", "Duration('2.5ms')", "2.5 ms")
    assert (time, time.ms, time.s, json.dumps([time])) == (2_500, 2.5, 0.0025, "[2500]")
    assert pickle.loads(pickle.dumps(time)) == time
    assert hash(time) == hash(2_500)


@pytest.mark.parametrize("text", ["2500us", "2.5 ms", "0.0025s"])
def test_it_compares_with_texts(text):
    time = Duration(2_500)
    assert time == text
    assert time <= text
    assert time >= text
    assert not (time < text)
    assert not (time > text)
    assert time == text
    assert time + text == 2 * time
    assert type(time - text) is Duration
    assert time != "soon"
    assert time is not None


@pytest.mark.parametrize("wrong", ["soon", "-1ms", ""])
def test_only_times_can_be_before_it(wrong):
    with pytest.raises(mq.MqlabError, match="is not a duration"):
        Duration(1) < wrong  # noqa: B015


def test_what_a_trace_answers_can_be_asked_again():
    trace = mq.run(NET, mq.Consumer("C", on="A", reads=Q), mq.Producer("P", on="A", to=Q, sends=5))
    assert all(type(event.t) is type(event.age) is Duration for event in trace.events())
    crash = mq.Crash("B", at=trace.end)
    assert crash == mq.Crash("B", at=str(trace.end).replace(" ", ""))  # and not so many seconds
    again = mq.run(NET, *trace.actions, crash)
    assert next(e.t for e in again.events() if e.kind.name == "Crashed") == trace.end
    assert duration(trace.end) == trace.end


def test_a_time_is_no_number_of_messages():
    with pytest.raises(mq.MqlabError, match="expected a whole number"):
        mq.Producer("P", on="A", to=Q, sends=Duration(5))


@pytest.mark.parametrize("product", [mq, mq.openmq, mq.artemis])
def test_a_lab_shows_what_its_user_needs(product):
    lab = mq.Lab(product.Network(product.Broker("A")))
    lab.do(mq.Consumer("C", on="A", reads=Q), mq.Producer("P", on="A", to=Q, sends=3))
    lab.rest()
    assert lab.trace.received() == {"C": 3}
    assert type(lab.now) is Duration
    assert dir(lab) == sorted(dir(lab))
    assert all(hasattr(lab, name) for name in dir(lab))
    assert not any(name.startswith("_") for name in dir(lab))
    assert len(dir(lab)) < 15


@pytest.mark.parametrize("noun", [mq.Consumer, mq.Producer, mq.Crash, mq.Client, mq.Link])
def test_help_has_no_pages_of_dataclasses(noun):
    import pydoc

    text = pydoc.plain(pydoc.render_doc(noun))
    assert "__" not in text
    assert noun.__name__ in text
    assert len(text.splitlines()) < 40


def test_help_says_what_consumer_and_producer_take():
    for word in ("dups_ok", "individual", "transacted", "`exclusive`", "`others`", "`client_id`"):
        assert word in str(mq.Consumer.__doc__)
    assert "`in_background`" in str(mq.Producer.__doc__)
    assert "enable_audit" in str(mq.Broker.__doc__)


def test_a_broker_prints_its_policies():
    broker = mq.Broker("A", policies=({"queue": ">", "enable_audit": False},), at=(0, 1))
    assert repr(broker) == "Broker('A', policies=({'queue': '>', 'enable_audit': False},), at=(0, 1))"
    assert eval(repr(broker), vars(mq)) == broker
