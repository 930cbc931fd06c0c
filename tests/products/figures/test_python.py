"""Every figure prints as code with nouns, and the code is the figure."""

import pytest

import mqlab as mq
from mqlab import products
from mqlab.products.activemq.files import lab_file

FIGURES = [pytest.param(figure, id=figure.id) for figure in mq.figures()]
PRINTED = """import mqlab as mq

net = mq.Network(
    mq.Broker(
        "A",
        mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", network_ttl=2),
        mq.TransportConnector("openwire", update_cluster_clients=True),
        policies=({"queue": ">", "prioritized_messages": True},),
    ),
    mq.Broker("B", at=(0.5, 0.25)),
    edition="6.1",
    around=mq.Around(endpoints=(mq.Endpoint("X", mode="silent"), mq.Endpoint("Y")), lines=(("line", "B"),)),
)
scenario = mq.Scenario(
    net,
    (
        mq.Start(),
        mq.Crash("A", at="2s"),
        mq.Cut("A", "B", how="hang"),
        mq.Producer("P", on="A", sends=2, to=mq.Queue("Q"), properties={"n": [1, 2]}),
        mq.Consumer("C", on="B", reads=mq.Topic("T"), selector="n = '\\"'", redelivery=mq.Redelivery(maximum=1)),
    ),
)
"""  # noqa: E501


def executed(code):
    names = {}
    exec(code, names)
    return names["scenario"]


@pytest.mark.parametrize("figure", FIGURES)
def test_the_code_of_a_figure_is_the_figure(figure):
    scenario = executed(figure.python())
    if scenario.product == "activemq":
        assert scenario == figure.scenario
        assert scenario.about == figure.scenario.about
    else:  # the others' steps may say what is so by default, or leave a sender without a name
        assert products.python(scenario) == figure.python()
    assert products.python(figure.scenario) == figure.python()
    assert mq.run(scenario, jitter="1ms").digest() == mq.run(figure, jitter="1ms").digest()


def test_what_nobody_wrote_is_not_printed():
    net = mq.Network(
        mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", network_ttl=2),
                  mq.TransportConnector(update_cluster_clients=True),
                  policies=({"queue": ">", "prioritized_messages": True},)),
        mq.Broker("B", at=(0.5, 0.25)), edition="6.1",
        around=mq.Around((mq.Endpoint("X", "silent"), mq.Endpoint("Y")), (("line", "B"),)),
    )  # fmt: skip
    scenario = mq.Scenario(net, (
        mq.Start(), mq.Crash("A", at="2s"), mq.Cut("A", "B", how="hang"),
        mq.Producer("P", "A", 2, mq.Queue("Q"), properties={"n": [1, 2]}),
        mq.Consumer("C", "B", mq.Topic("T"), selector="n = '\"'",
                    redelivery=mq.Redelivery(maximum=1)),
    ))  # fmt: skip
    code = products.python(scenario)
    assert executed(code) == scenario
    assert code == PRINTED


def test_an_address_that_only_its_broker_judges_stays_unjudged():
    connector = mq.NetworkConnector.as_written("ab", "static:(tcp://B:61616")
    net = mq.Network(mq.Broker("A", connector), around=mq.Around(lines=(("line", "A"),)))
    scenario = mq.Scenario(net, (mq.Restart("A"),), pace="calls")
    assert 'mq.NetworkConnector.as_written("ab", uri="static:(tcp://B:61616")' in products.python(scenario)
    again = executed(products.python(scenario))
    assert again == scenario
    assert not again.network.brokers[0].connectors[0].judged
    assert lab_file.read(lab_file.write(again)) == scenario
