"""Virtual topics of any prefix and composite queues and topics, as a broker 5.17.2 plays them (tests/real)."""

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName
from mqlab.products.activemq import files
from mqlab.spec.origin import SourceFile

Q, T = mq.Queue, mq.Topic
COMPOSITES = (
    {
        "name": "topic://NEWS",
        "forward_to": ["queue://ARCHIVE", {"to": "queue://BIG", "selector": "n IN ('4', '5', '6')"}],
        "forward_only": False,
    },
    {
        "name": "IN",
        "forward_to": [
            {"to": "queue://ODD", "selector": "n = '1'"},
            {"to": "topic://EVEN", "selector": "n = '2'"},
        ],
        "forward_only": True,
    },
    {
        "name": "MAYBE",
        "forward_to": [{"to": "queue://ODD", "selector": "n = '1'"}],
        "forward_only": True,
        "send_when_not_matched": True,
    },
)
TOPICS = ("topic://A.>?prefix=C.*.", "topic://S.>?selectorAware=true", "topic://VirtualTopic.>")
NETWORK = mq.Network(mq.Broker("A", composites=COMPOSITES, virtual_topics=TOPICS))
READS = {
    "news": T("NEWS"), "archive": Q("ARCHIVE"), "big": Q("BIG"), "odd": Q("ODD"), "even": T("EVEN"),
    "in": Q("IN"), "maybe": Q("MAYBE"), "c1": Q("C.x.A.B"), "c2": Q("Consumer.x.A.B"), "c3": Q("C.y.A.>"),
    "v": Q("Consumer.z.VirtualTopic.O"),
}  # fmt: skip
STORY = (
    *(mq.Consumer(name, on="A", reads=reads) for name, reads in READS.items()),
    mq.Consumer("s", on="A", reads=Q("Consumer.x.S.B"), selector="n = '2'"),
    mq.Producer("p1", on="A", sends=6, to=T("NEWS"), properties={"n": ["1", "2", "3", "4", "5", "6"]}),
    mq.Producer("p2", on="A", sends=6, to=Q("IN"), properties={"n": ["1", "2", "3"]}),
    mq.Producer("p3", on="A", sends=4, to=Q("MAYBE"), properties={"n": ["1", "2"]}),
    mq.Producer("p4", on="A", sends=3, to=T("A.B")),
    mq.Producer("p5", on="A", sends=4, to=T("S.B"), properties={"n": ["1", "2"]}),
    mq.Producer("p6", on="A", sends=2, to=T("VirtualTopic.O")),
)
RECEIVED = {
    "news": 6, "archive": 6, "big": 3, "odd": 4, "even": 2, "in": 0, "maybe": 2, "c1": 3, "c2": 0, "c3": 3,
    "v": 2, "s": 2,
}  # fmt: skip


def test_copies_go_where_the_broker_sends_them():
    trace = mq.run(NETWORK, *STORY)
    assert trace.received() == RECEIVED
    assert trace.waiting() == {}


def test_a_virtual_topic_that_is_aware_of_selectors_leaves_nothing_for_a_queue_without_consumers():
    def story(topics):
        gone = mq.Consumer("s", on="A", reads=Q("Consumer.x.S.B")), mq.Close("s")
        trace = mq.run(
            mq.Network(mq.Broker("A", virtual_topics=topics)),
            *gone,
            mq.Producer("p", on="A", sends=3, to=T("S.B")),
        )
        return sum(len(numbers) for numbers in trace.waiting().get("A", {}).values())

    assert story(("topic://S.>",)) == 3
    assert story(("topic://S.>?selectorAware=true",)) == 0


def test_a_local_virtual_topic_copies_nothing_that_came_over_the_network():
    def received(topics):
        link = mq.NetworkConnector("ab", "static:(tcp://B:61616)")
        net = mq.Network(mq.Broker("A", link), mq.Broker("B", virtual_topics=topics))
        return mq.run(
            net,
            mq.Consumer("t", on="B", reads=T("V.X")),
            mq.Consumer("c", on="B", reads=Q("Consumer.c.V.X")),
            mq.Producer("far", on="A", sends=2, to=T("V.X")),
            mq.Producer("near", on="B", sends=3, to=T("V.X")),
        ).received()

    assert received(("topic://V.>",)) == {"t": 5, "c": 5}
    assert received(("topic://V.>?local=true",)) == {"t": 5, "c": 3}


@pytest.mark.parametrize("prefix", ["Consumer.*.", "C.*."])
def test_a_consumer_of_a_queue_behind_a_virtual_topic_is_demand_for_the_topic(prefix):
    link = mq.NetworkConnector("ab", "static:(tcp://B:61616)", use_virtual_dest_subs=True)
    behind = mq.Broker("B", use_virtual_dest_subs=True, virtual_topics=(f"topic://V.>?prefix={prefix}",))
    trace = mq.run(
        mq.Network(mq.Broker("A", link), behind),
        mq.Consumer("c", on="B", reads=Q(f"{prefix.replace('*', 'c')}V.X")),
        mq.Producer("p", on="A", sends=3, to=T("V.X")),
    )
    assert trace.received() == {"c": 3}


def test_what_is_saved_is_read_back_and_an_unchanged_file_is_the_same():
    ((name, text),) = files.write(NETWORK).items()
    assert '<compositeTopic name="NEWS" forwardOnly="false">' in text
    assert """<filteredDestination queue="ODD" selector="n = '1'"/>""" in text
    assert '<virtualTopic name="A.&gt;" prefix="C.*."/>' in text
    read = files.read([SourceFile(name, text)])
    assert read.brokers[0].composites == COMPOSITES
    assert tuple(read.brokers[0].options["virtual_topics"]) == TOPICS
    assert mq.run(read, *STORY).received() == RECEIVED
    assert files.write(read) == {name: text}
    assert not [problem for problem in mq.check(read) if problem.rule == "left-out"]


@pytest.mark.parametrize(("topic", "told"), [
    ("topic://A.>?prefx=C.*.", "did you mean 'prefix'"),
    ("topic://A.>?local=maybe", "local is 'maybe'; expected true or false"),
])  # fmt: skip
def test_a_virtual_topic_that_is_written_wrong_is_told(topic, told):
    with pytest.raises((BadValue, UnknownName), match=told):
        mq.run(
            mq.Network(mq.Broker("A", virtual_topics=(topic,))), mq.Producer("p", on="A", sends=1, to=T("A.B"))
        )


STARTED = """<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A">
  <destinations>
    <queue physicalName="Consumer.A.VirtualTopic.T"/> <!-- kept -->
    <topic physicalName="T"/>
  </destinations>
</broker>
"""


def test_a_queue_that_is_there_from_the_start_gets_the_copies_of_a_virtual_topic():
    """A broker 5.16.7 plays it so: what is sent before anyone reads waits there, and at no other queue."""
    net = files.read([SourceFile("a.xml", STARTED)])
    assert net.brokers[0].options["destinations"] == ("queue://Consumer.A.VirtualTopic.T", "topic://T")
    script = (
        mq.Producer("before", on="A", sends=3, to=T("VirtualTopic.T")),
        mq.Consumer("C", on="A", reads=mq.Queue("Consumer.A.VirtualTopic.T")),
        mq.Producer("behind", on="A", sends=2, to=T("VirtualTopic.T")),
        mq.Consumer("D", on="A", reads=mq.Queue("Consumer.B.VirtualTopic.T")),
    )
    assert mq.run(net, *script).received() == {"C": 5, "D": 0}
    assert mq.run(net.change("A", destinations=()), *script).received() == {"C": 2, "D": 0}


@pytest.mark.parametrize(("now", "old", "new"), [
    (("queue://Consumer.A.VirtualTopic.T",), '    <topic physicalName="T"/>\n', ""),
    (("queue://Consumer.A.VirtualTopic.T", "topic://T", "queue://Q"),
     '"T"/>\n', '"T"/>\n    <queue physicalName="Q"/>\n'),
])  # fmt: skip
def test_a_changed_list_of_destinations_is_edited_where_it_has_changed(now, old, new):
    net = files.read([SourceFile("a.xml", STARTED)])
    changed = net.change("A", destinations=now)
    (text,) = files.write(changed).values()
    assert text == STARTED.replace(old, new)
    assert files.read([SourceFile("a.xml", text)]) == changed
    fresh = mq.Network(mq.Broker("A", destinations=now))
    (text,) = files.write(fresh).values()
    assert files.read([SourceFile("a.xml", text)]).brokers[0].options["destinations"] == now
