"""What JMS has and mqlab calls otherwise: each name leads to a noun that can be written as it is told."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import Call
from mqlab.products.traffic import action_of
from mqlab.spec.jms_names import INSTEAD


def test_each_name_leads_to_a_noun_that_can_be_made():
    for call in {str(call): call for call in INSTEAD.values()}.values():
        made = eval(str(call), {"mq": mq})
        if call.noun in ("Queue", "Topic"):
            assert str(made) == call.option()
            continue
        product = call.noun.rpartition(".")[0] or "activemq"
        assert action_of(call.option()[6:-1], product) == made


@pytest.mark.parametrize("module", [mq, mq.openmq, mq.artemis])
def test_a_name_of_jms_is_answered_with_the_noun(module):
    for name in ("TopicSubscriber", "MessageListener", "createQueue", "JMSContext"):
        with pytest.raises(AttributeError, match=r"; use mq\."):
            getattr(module, name)


def test_an_error_holds_what_to_write_as_a_value():
    net = mq.Network(mq.Broker("A"))
    consumer = mq.Consumer("C", on="A", reads=mq.Topic("T"), durable=True)
    with pytest.raises(mq.MqlabError) as told:
        mq.run(net, consumer, mq.Unsubscribe("C", "C"))
    (call,) = told.value.calls
    assert str(call) in str(told.value)
    assert str(call) == "mq.Close('C', unsubscribe=True)"
    assert call.option() == '--do "Close C unsubscribe=True"'
    assert Call("Crash", "A", at="2s").option() == '--do "Crash A at=2s"'
