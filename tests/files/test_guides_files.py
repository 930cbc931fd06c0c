"""Every fragment of a configuration file in the guides: read, checked, written back, changed, read again.

Where a fragment says only a part, the least that makes it a file is written around it.
"""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadFile, UriError
from mqlab.products.activemq import files
from mqlab.spec import uri as uris
from mqlab.spec.origin import SourceFile

CORE = "http://activemq.apache.org/schema/core"
B_AT_61002 = (
    f'<broker xmlns="{CORE}" brokerName="brokerB" brokerId="B"><transportConnectors>'
    '<transportConnector uri="tcp://0.0.0.0:61002"/></transportConnectors></broker>'
)
A_AT_61001 = B_AT_61002.replace("brokerB", "brokerA").replace('"B"', '"A"').replace("61002", "61001")
PORTS = '<transportConnectors>\n<transportConnector name="openwire" uri="tcp://0.0.0.0:61001"/>\n</transportConnectors>'


def broker(inside, attributes='brokerName="brokerA" brokerId="A"'):
    return f'<beans>\n<broker xmlns="{CORE}"\n{attributes}>\n...\n{inside}\n</broker>\n</beans>\n'


def link(options="", inside="", uri="static:(tcp://localhost:61002)", name='name="linkToBrokerB"'):
    return (f'<networkConnectors>\n<networkConnector {name}\nuri="{uri}"\n{options}\n>{inside}'
            "</networkConnector>\n</networkConnectors>\n")  # fmt: skip


def listed(word, *destinations):
    rows = (f'<{kind} physicalName="{name}"/>' for kind, name in destinations)
    return f"<{word}>\n" + "\n".join(rows) + f"\n</{word}>\n"


def connector(**options):
    name = options.pop("name", "linkToBrokerB")
    return mq.NetworkConnector(name, uri="static:(tcp://brokerB:61002)", **options)


B = mq.Broker("brokerB")
HEARD = mq.Broker("brokerA", mq.TransportConnector("openwire", discovery_uri="multicast://default"))


def brokers(*connectors, other=B, **options):
    return (mq.Broker("brokerA", *connectors, **options), other)


DYNAMIC_QUEUES = ("dynamicallyIncludedDestinations", ("queue", "&gt;"))
# example -> (files, edition, the brokers that they are, the rules that find something)
FRAGMENTS = {
    "fuse 1.1": (
        [broker('<networkConnectors><networkConnector uri="multicast://default" /> </networkConnectors>\n'
                '<transportConnectors> <transportConnector name="openwire" uri="tcp://0.0.0.0:61616"\n'
                'discoveryUri="multicast://default"\nupdateClusterClients="true"\n'
                'updateClusterFilter="*A*,*B*" /> </transportConnectors>', ""),
         broker('<transportConnectors><transportConnector uri="tcp://0.0.0.0:61617" '
                'discoveryUri="multicast://default"/></transportConnectors>',
                'brokerName="brokerB" brokerId="B"')],
        "5.5", None, {"filter-expression", "no-broker-name", "no-broker-id"}),
    "fuse 1.3": (
        [broker('<transportConnectors>\n<transportConnector\nname="openwire"\n'
                'uri="tcp://localhost:61716"\ndiscoveryUri="multicast://default"/>\n</transportConnectors>')],
        "5.5", (HEARD,), set()),
    "fuse 1, two connectors": (
        [broker('<transportConnectors>\n<transportConnector\nname="openwire"\n'
                'uri="tcp://localhost:61716"\ndiscoveryUri="multicast://default"/>\n<transportConnector\n'
                'name="stomp"\nuri="stomp://localhost:61613"\ndiscoveryUri="multicast://default"/>\n'
                "</transportConnectors>")],
        "5.5", (HEARD,), set()),
    "fuse 2.1": ([broker(link('networkTTL="3"') + PORTS), B_AT_61002], "5.5",
                 brokers(connector(network_ttl=3)), set()),
    "fuse 2.2": (
        [A_AT_61001, broker(
            link('networkTTL="3"', name='name="linkToBrokerA"', uri="static:(tcp://localhost:61001)")
            + PORTS.replace("61001", "61002"), 'brokerName="brokerB" brokerId="B"')],
        "5.5", brokers(other=mq.Broker("brokerB", mq.NetworkConnector(
            "linkToBrokerA", uri="static:(tcp://brokerA:61001)", network_ttl=3))), set()),
    "fuse 2.3": ([broker(link('networkTTL="3"\nduplex="true"')), B_AT_61002], "5.5",
                 brokers(connector(network_ttl=3, duplex=True)), set()),
    "fuse 2.4": (
        [broker("<networkConnectors>" + "".join(
            f'<networkConnector name="link0{no}ToBrokerB"\nuri="static:(tcp://localhost:61002)"\n'
            'networkTTL="3"\n/>' for no in (1, 2, 3)) + "</networkConnectors>"), B_AT_61002],
        "5.5", brokers(*(connector(name=f"link0{no}ToBrokerB", network_ttl=3) for no in (1, 2, 3))), set()),
    "fuse 2, static": (
        [broker(link('networkTTL="3"', listed("staticallyIncludedDestinations", ("queue", "TEST.FOO")))),
         B_AT_61002], "5.5",
        brokers(connector(network_ttl=3, statically_included_destinations=["queue://TEST.FOO"])), set()),
    "fuse 2, broker id": ([broker("", 'brokerName="brokerA"\nbrokerId="A"')], "5.5",
                          (mq.Broker("brokerA"),), set()),
    "fuse 2, Example 2.4": (
        [broker(link('networkTTL="3"', listed(
            "dynamicallyIncludedDestinations", ("queue", "TRADE.STOCK.&gt;"), ("topic", "PRICE.STOCK.&gt;"))
            + listed("excludedDestinations", ("queue", "TRADE.STOCK.NYSE.*"),
                     ("topic", "PRICE.STOCK.NYSE.*")))),
         B_AT_61002], "5.5",
        brokers(connector(
            network_ttl=3,
            dynamically_included_destinations=["queue://TRADE.STOCK.>", "topic://PRICE.STOCK.>"],
            excluded_destinations=["queue://TRADE.STOCK.NYSE.*", "topic://PRICE.STOCK.NYSE.*"])), set()),
    "fuse 2, priority": (
        [broker(link('networkTTL="3"\ndecreaseNetworkConsumerPriority="true"')), B_AT_61002], "5.5",
        brokers(connector(network_ttl=3, decrease_network_consumer_priority=True)), set()),
    "fuse 2, shortest route": (
        [broker(link('networkTTL="3"\ndecreaseNetworkConsumerPriority="true"\n'
                     'suppressDuplicateQueueSubscriptions="true"')), B_AT_61002], "5.5",
        brokers(connector(network_ttl=3, decrease_network_consumer_priority=True,
                          suppress_duplicate_queue_subscriptions=True)), set()),
    "fuse 3, conduit off": (
        [broker(link('networkTTL="3"\nconduitSubscriptions="false"')), B_AT_61002], "5.5",
        brokers(connector(network_ttl=3, conduit_subscriptions=False)), {"conduit-off-topics"}),
    "fuse 2.5": (
        [broker("<networkConnectors>" + "".join(
            f'<networkConnector name="{kind}sOnly"\nuri="static:(tcp://localhost:61002)"\nnetworkTTL="3"\n'
            f'conduitSubscriptions="{flag}">' + listed("dynamicallyIncludedDestinations", (kind, "&gt;"))
            + "</networkConnector>" for kind, flag in (("queue", "false"), ("topic", "true")))
            + "</networkConnectors>"), B_AT_61002], "5.5",
        brokers(connector(name="queuesOnly", network_ttl=3, conduit_subscriptions=False,
                          dynamically_included_destinations=["queue://>"]),
                connector(name="topicsOnly", network_ttl=3, conduit_subscriptions=True,
                          dynamically_included_destinations=["topic://>"])), set()),
    "fuse 4.2 and 4.4": (
        [f'<broker brokerName="master"\nwaitForSlave="true"\nshutdownOnSlaveFailure="false"\n'
         f'xmlns="{CORE}" brokerId="m">\n<transportConnectors>\n<transportConnector '
         'uri="tcp://masterhost:62001"/>\n</transportConnectors>\n</broker>',
         f'<broker brokerName="slave"\nmasterConnectorURI="tcp://masterhost:62001"\n'
         f'shutdownOnMasterFailure="false"\nxmlns="{CORE}" brokerId="s">\n<transportConnectors>\n'
         '<transportConnector uri="tcp://slavehost:61616"/>\n</transportConnectors>\n</broker>'],
        "5.5", (mq.Broker("master", wait_for_slave=True, shutdown_on_slave_failure=False),
                mq.Broker("slave", pure_slave_of="master", shutdown_on_master_failure=False)),
        {"pure-split-brain"}),
    "fuse 4.3": (
        [A_AT_61001.replace("61001", "62001"),
         broker('<services>\n<masterConnector\nremoteURI="tcp://localhost:62001"\nuserName="James"\n'
                'password="Cheese"/>\n</services>\n<transportConnectors>\n<transportConnector '
                'uri="tcp://slavehost:61616"/>\n</transportConnectors>', 'brokerName="slave" brokerId="s"')],
        "5.5", brokers(other=mq.Broker("slave", pure_slave_of="brokerA")),
        {"left-out", "pure-split-brain"}),
    "fuse 4.3 today": (
        [A_AT_61001.replace("61001", "62001"),
         broker('<services>\n<masterConnector\nremoteURI="tcp://localhost:62001"/></services>',
                'brokerName="slave" brokerId="s"')], "5.17", None, {"removed"}),
    "fuse 4.5": (
        [broker("<persistenceAdapter> <kahaDB directory=\"/sharedFileSystem/sharedBrokerData\"/> "
                "</persistenceAdapter>")], "5.5",
        (mq.Broker("brokerA", shared_store="/sharedFileSystem/sharedBrokerData"),), set()),
    "fuse 4.6": (
        [broker('<persistenceAdapter> <amqPersistenceAdapter directory="/sharedFileSystem/sharedBrokerData"/>'
                " </persistenceAdapter>")], "5.5",
        (mq.Broker("brokerA", shared_store="/sharedFileSystem/sharedBrokerData"),), set()),
    "fuse 4.6 today": (
        [broker('<persistenceAdapter> <amqPersistenceAdapter directory="/x/y"/> </persistenceAdapter>')],
        "5.17", None, {"removed"}),
    "fuse 4.7": (
        ['<beans xmlns="http://www.springframework.org/schema/beans"\n'
         'xmlns:amq="http://activemq.apache.org/schema/core"\n'
         'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n'
         'xsi:schemaLocation="http://www.springframework.org/schema/beans\n'
         "http://www.springframework.org/schema/beans/spring-beans-2.0.xsd\n"
         "http://activemq.apache.org/schema/core\n"
         'http://activemq.apache.org/schema/core/activemq-core-5.3.1.xsd">\n'
         f'<broker xmlns="{CORE}"\nbrokerName="brokerA">\n<persistenceAdapter>\n'
         '<jdbcPersistenceAdapter dataSource="#oracle-ds"/>\n</persistenceAdapter>\n</broker>\n'
         '<bean id="oracle-ds"\nclass="org.apache.commons.dbcp.BasicDataSource"\ndestroy-method="close">\n'
         '<property name="driverClassName" value="oracle.jdbc.driver.OracleDriver"/>\n</bean>\n</beans>'],
        None, (mq.Broker("brokerA", store="jdbc"),), set()),
    "fuse 4.8": (
        [broker('<networkConnectors> <networkConnector name="linkToCluster" uri="static:failover:'
                '(tcp://masterHost:61002,tcp://slaveHost:61002)?maxReconnectAttempts=0" /> '
                "</networkConnectors>"), B_AT_61002.replace("0.0.0.0", "masterHost"),
         B_AT_61002.replace("0.0.0.0", "slaveHost").replace("brokerB", "brokerC").replace('"B"', '"C"')],
        "5.5", (mq.Broker("brokerA", mq.NetworkConnector(
            "linkToCluster", uri="static:failover:(tcp://brokerB:61002,tcp://brokerC:61002)"
            "?maxReconnectAttempts=0")), B, mq.Broker("brokerC")), set()),
    "amq6 3, static": (
        [broker(link('networkTTL="3"', listed("staticallyIncludedDestinations", ("queue", "TEST.FOO")))),
         B_AT_61002], "5.17",
        brokers(connector(network_ttl=3, statically_included_destinations=["queue://TEST.FOO"])), set()),
    "amq6 3, broker id": ([broker("", 'brokerName="brokerA"\nbrokerId="A"')], "5.17",
                          (mq.Broker("brokerA"),), set()),
    "article, first": (
        [broker('<networkConnectors>\n<networkConnector uri="static:(tcp://localhost:62001)"/>\n'
                "</networkConnectors>"), B_AT_61002.replace("61002", "62001")], "5.17",
        brokers(mq.NetworkConnector("NC", uri="static:(tcp://brokerB:62001)")), set()),
    "article, list": (
        [broker('<networkConnectors>\n<networkConnector uri="static:(tcp://host1:61616,tcp://host2:61616,'
                'tcp://..)"/>\n</networkConnectors>'), B_AT_61002.replace("0.0.0.0:61002", "host1:61616"),
         B_AT_61002.replace("0.0.0.0:61002", "host2:61616").replace("B", "C")], "5.17", None,
        {"unknown-host"}),
    "article, lists": (
        [broker('<networkConnectors>\n<networkConnector uri="static:(tcp://localhost:61617)"\nname="bridge"\n'
                'conduitSubscriptions="true"\ndecreaseNetworkConsumerPriority="false">\n'
                + listed("dynamicallyIncludedDestinations", ("queue", "include.test.foo"),
                         ("topic", "include.test.bar"))
                + listed("excludedDestinations", ("queue", "exclude.test.foo"), ("topic", "exclude.test.bar"))
                + listed("staticallyIncludedDestinations", ("queue", "always.include.queue"),
                         ("topic", "always.include.topic"))
                + "</networkConnector>\n</networkConnectors>"), B_AT_61002.replace("61002", "61617")], "5.17",
        brokers(mq.NetworkConnector(
            "bridge", uri="static:(tcp://brokerB:61617)", conduit_subscriptions=True,
            decrease_network_consumer_priority=False,
            dynamically_included_destinations=["queue://include.test.foo", "topic://include.test.bar"],
            excluded_destinations=["queue://exclude.test.foo", "topic://exclude.test.bar"],
            statically_included_destinations=["queue://always.include.queue",
                                              "topic://always.include.topic"])), set()),
    "article, filter": (
        [broker('<networkConnectors><networkConnector uri="static:(tcp://host)" destinationFilter='
                '"Queue.include.test.foo,ActiveMQ.Advisory.Consumer.Topic.include.test.bar">\n'
                + listed("dynamicallyIncludedDestinations", ("queue", "include.test.foo"),
                         ("topic", "include.test.bar")) + "</networkConnector></networkConnectors>"),
         B_AT_61002.replace("0.0.0.0", "host")], "5.17",
        brokers(mq.NetworkConnector(
            "NC", uri="static:(tcp://brokerB)",
            destination_filter="Queue.include.test.foo,ActiveMQ.Advisory.Consumer.Topic.include.test.bar",
            dynamically_included_destinations=["queue://include.test.foo", "topic://include.test.bar"])),
        set()),
    "article, replay": (
        [broker('<destinationPolicy>\n<policyMap>\n<policyEntries>\n<policyEntry queue="TEST.>" >\n'
                '<conditionalNetworkBridgeFilterFactory replayWhenNoConsumers="true" enableAudit="false"/>\n'
                "</policyEntry>\n</policyEntries>\n</policyMap>\n</destinationPolicy>")], "5.17",
        (mq.Broker("brokerA",
                   policies=({"queue": "TEST.>", "replay_when_no_consumers": True},)),), {"unknown-name"}),
}  # fmt: skip


def read(texts):
    return files.read([SourceFile(f"{no}.xml", text) for no, text in enumerate(texts)])


@pytest.mark.parametrize("example", FRAGMENTS)
def test_a_fragment_is_read_checked_written_and_read_again(example):
    texts, edition, expected, rules = FRAGMENTS[example]
    net = read(texts)
    net = net if edition is None else net.under(edition)
    if expected is not None:
        assert net.brokers == expected
    assert {problem.rule for problem in mq.check(net)} == rules
    assert all(problem.line for problem in mq.check(net))
    assert list(files.write(read(texts)).values()) == texts
    other = net.change("*", advisory_support=False)
    for place, _ in ((f"{b.name}/{c.name}", c) for b, c in net.connectors()):
        other = other.change(place, prefetch_size=7)
    written = files.write(other)
    assert read(written.values()) == other
    mq.run(net)


def test_the_example_with_a_missing_blank_is_refused_with_its_line():
    inside = (
        '<networkConnectors>\n<networkConnectoruri="static:(tcp://localhost:62001)"/>\n</networkConnectors>'
    )
    with pytest.raises(BadFile, match=r"^0\.xml, line 6, column \d+: not XML"):
        read([broker(inside)])


ADDRESSES = [
    "failover://(tcp://0.0.0.0:61616)?initialReconnectDelay=100",
    "discovery://(multicast://default)?connectionTimeout=2000",
    "simple://(tcp://localhost:61716,tcp://localhost:61816)",
    "static://(tcp://localhost:61716,tcp://localhost:61816)",
    "discovery://(static://(tcp://localhost:61716,tcp://localhost:61816))",
    "multicast://224.1.2.3:6255?group=mygroupname",
    "multicast://default",
    "multicast://239.255.2.3:6155?group=default",
    "rendezvous://groupA",
    "discovery://(rendezvous://groupA)",
    "failover://(tcp://brokerA:61616,tcp://brokerB:61616,tcp://brokerC:61616)",
    "failover://(tcp://masterhost:61616,tcp://slavehost:61616)?randomize=false",
    "failover:(tcp://broker1:61616,tcp://broker2:61616,tcp://broker3:61616)",
    "static:failover:(tcp://masterHost:61002,tcp://slaveHost:61002)?maxReconnectAttempts=0",
    "masterslave:(tcp://host1:61616,tcp://host2:61616,tcp://..)",
    "static:(tcp://host1:61616,tcp://host2:61616,tcp://..)",
    "static:(tcp://localhost:61617)",
    "static:(tcp://host)",
]
AGENTS = ("static", "simple", "multicast", "masterslave", "rendezvous")


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_is_read_and_stands_in_a_file_and_comes_back(address):
    parsed = uris.parse(address)
    assert str(parsed) == address
    net = mq.Network(mq.Broker("A", mq.NetworkConnector.as_written("ab", address)))
    assert read(files.write(net).values()) == net
    refused = {"no-agent"} if parsed.scheme not in AGENTS else set()
    if parsed.scheme == "rendezvous":
        refused = {"no-agent"}  # gone after 5.5
    rules = {problem.rule for problem in mq.check(read(files.write(net).values()))}
    assert rules & {"no-agent", "bad-address"} == refused


def test_an_address_that_is_none_is_told_with_its_place():
    with pytest.raises(UriError, match=r"never closed|unbalanced"):
        uris.parse("static:(tcp://localhost:61002")
