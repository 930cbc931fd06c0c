"""Each element of a `broker.xml` is played, kept or told by `check`: none is left out in silence."""

from __future__ import annotations

from random import Random

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.errors import BadFile
from mqlab.files.parsing import document_of
from mqlab.products.activemq import files as activemq
from mqlab.products.artemis.files import broker_xml, treatment
from mqlab.products.artemis.files.core import PLAIN
from mqlab.products.openmq.files import properties
from mqlab.products.openmq.files import treatment as openmq
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.openmq.options import OPTIONS as PROPERTIES
from mqlab.spec.origin import SourceFile


def checked(inside):
    net = broker_xml.read([SourceFile("broker.xml", f"<core>\n{inside}\n</core>")])
    return [p for p in mq.check(net) if p.rule in ("not-played", "unknown-element")]


@pytest.mark.parametrize("seed", range(20))
def test_an_element_that_nobody_knows_is_told_with_its_line(seed):
    random = Random(seed)
    name = "x-" + "".join(random.choice("abcdefgh-") for _ in range(8)) + "z"
    for inside, path in (
        (f"<{name}/>", name),
        (f"<address-settings><address-setting match='#'><{name}>1</{name}></address-setting>"
         "</address-settings>",
         f"address-settings/address-setting/{name}"),
        (f"<ha-policy><replication><slave><{name}/></slave></replication></ha-policy>",
         f"ha-policy/replication/slave/{name}"),
        (f"<addresses><address name='a'><anycast><queue name='q' {name}='1'/></anycast></address>"
         "</addresses>",
         f"addresses/address/anycast/queue@{name}"),
        (f"<cluster-connections><cluster-connection name='c'><{name}/></cluster-connection>"
         "</cluster-connections>",
         f"cluster-connections/cluster-connection/{name}"),
    ):  # fmt: skip
        (problem,) = checked(inside)
        assert problem.line == 2
        assert path.replace("@", "/").rpartition("/")[2] in problem.what
        assert problem.rule == "unknown-element"


def test_what_the_option_rows_name_is_played_or_kept():
    for row in (*OPTIONS["address-setting"].values(), *PLAIN.values(), *OPTIONS["core"].values()):
        places = ("{}", "address-settings/address-setting/{}", "cluster-connections/cluster-connection/{}")
        found = {treatment.treatment(place.format(row.guide)) for place in places}
        assert found & {"kept" if row.kept else "played"}, row.guide


@pytest.mark.parametrize(("inside", "told"), [
    ("<federations/>", "forwards no messages"),
    ("<addresses><address name='a'><anycast><queue name='q' enabled='false'/></anycast></address>"
     "</addresses>", "takes messages"),
    ("<security-settings/>", "lets every client do everything"),
    *((f"<acceptors><acceptor name='a'>tcp://h:1?protocols=CORE;{option}=2</acceptor></acceptors>", text)
      for option, text in (("connectionsAllowed", "any number of clients"), ("bogus", "as if it were not"))),
    ("<ha-policy><replication><primary><manager/></primary></replication></ha-policy>",
     "as if it were not there"),
])  # fmt: skip
def test_what_is_not_played_says_what_might_differ(inside, told):
    (problem,) = checked(inside)
    assert told in problem.what


QUEUE = "<addresses><address name='a'><anycast><queue name='q' {}/></anycast></address></addresses>"
SETTING = "<address-settings><address-setting match='#'>{}</address-setting></address-settings>"


@pytest.mark.parametrize("inside", [
    "<journal-type>NIO</journal-type><jmx-management-enabled>true</jmx-management-enabled>",
    "<persistence-enabled>true</persistence-enabled><max-disk-usage>90</max-disk-usage>",
    "<security-enabled>false</security-enabled><security-settings/>",
    SETTING.format("<max-size-bytes>1000</max-size-bytes><address-full-policy>PAGE</address-full-policy>"),
    SETTING.format("<auto-create-queues> true </auto-create-queues><max-size-messages>-1</max-size-messages>"),
    SETTING.format("<auto-delete-queues>false</auto-delete-queues><auto-delete-queues-delay>5</auto-delete-queues-delay>"),
    QUEUE.format("group-rebalance-pause-dispatch='true'"),
])  # fmt: skip
def test_what_has_no_effect_on_a_run_is_not_told(inside):
    assert not checked(inside)


@pytest.mark.parametrize("holder", ["ha-policy", "address-settings", "addresses", "connectors"])
def test_what_is_included_is_told(holder):
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="more.xml"/>'
    (problem,) = checked(f"<{holder}>{include}</{holder}>")
    assert problem.what == f"{holder}/include is not played: what stands in the other file is not read"


@pytest.mark.parametrize(("inside", "path"), [
    (SETTING.format("<auto-create-addresses>false</auto-create-addresses>"), "auto-create-addresses"),
    (SETTING.format("<max-size-bytes>1k</max-size-bytes><page-limit-bytes>2k</page-limit-bytes>"),
     "page-limit-bytes"),
    ("<max-disk-usage>50</max-disk-usage>", "max-disk-usage"),
    (SETTING.format("<auto-delete-queues-delay>5</auto-delete-queues-delay>"), "auto-delete-queues-delay"),
    (QUEUE.format("group-rebalance-pause-dispatch='true' group-rebalance='true'"), "rebalance-pause"),
    ("<persistence-enabled>false</persistence-enabled>"
     "<ha-policy><shared-store><master/></shared-store></ha-policy>", "persistence-enabled"),
    ("<security-enabled>true</security-enabled><security-settings/>", "security-settings"),
])  # fmt: skip
def test_a_value_that_means_something_else_than_the_lab_does_is_told(inside, path):
    assert path in checked(inside)[0].what


def test_what_stands_beside_a_broker_is_told():
    text = "<configuration>\n<web/>\n<core/></configuration>"
    (problem,) = (p for p in mq.check(broker_xml.read([SourceFile("b.xml", text)])) if p.rule == "not-played")
    assert (problem.line, problem.what.partition(" is")[0]) == (2, "configuration/web")
    imports = '<import resource="jetty.xml"/>\n<import resource="more.xml"/>'
    text = f'<beans>\n{imports}<broker xmlns="{CORE}"/></beans>'
    told = [p for p in mq.check(activemq.read([SourceFile("a.xml", text)])) if p.rule == "left-out"]
    assert [(p.line, p.what) for p in told] == [
        (3, "beans/import is not played: what stands in the other file is not read")
    ]


@pytest.mark.parametrize(("attribute", "told"), [
    ("", 0), ("futureOnly='true'", 0), ("ttlCeiling='0'", 0), ("ttlCeiling='500'", 1),
    ("zeroExpirationOverride='9' processNetworkMessages='true'", 1),
])  # fmt: skip
def test_a_plugin_that_sets_times_is_told_where_messages_expire_by_it(attribute, told):
    plugin = f"<plugins><timeStampingBrokerPlugin {attribute}/></plugins>"
    net = activemq.read([SourceFile("a.xml", f'<broker xmlns="{CORE}">{plugin}</broker>')])
    found = [p.what for p in mq.check(net) if p.rule == "left-out"]
    assert len(found) == told
    assert all("expirations of their producers" in what for what in found)


def test_a_run_says_that_something_of_its_file_is_not_played():
    net = broker_xml.read([SourceFile("broker.xml", "<core><federations/><broker-connections/></core>")])
    (undone,) = mq.run(net, artemis.Start()).undone
    assert str(undone) == "Broker localhost: 2 elements of broker.xml not played: check names them"


ALL_OF_ARTEMIS = """<core>
<acceptors><acceptor name="a">tcp://h:1</acceptor></acceptors>
<connectors><connector name="c">tcp://h:2</connector></connectors>
<ha-policy><replication><colocated><max-backups>1</max-backups><excludes><connector-ref>c</connector-ref></excludes>
<master><group-name>g</group-name></master><slave><scale-down><connectors><connector-ref>c</connector-ref>
</connectors></scale-down></slave></colocated></replication></ha-policy>
<cluster-connections><cluster-connection name="x"><max-hops>1</max-hops>
<static-connectors><connector-ref>c</connector-ref></static-connectors></cluster-connection>
</cluster-connections><address-settings><address-setting match="#"><redelivery-delay>1</redelivery-delay>
</address-setting></address-settings><addresses><address name="q"><anycast><queue name="q"/></anycast>
<multicast><queue name="m"/></multicast></address></addresses></core>"""
ALL_OF_ACTIVEMQ = """<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A">
<destinationInterceptors><virtualDestinationInterceptor><virtualDestinations>
<virtualTopic name="V.>"/><compositeQueue name="q"><forwardTo><queue physicalName="a"/>
<filteredDestination topic="b" selector="x = 1"/></forwardTo></compositeQueue>
</virtualDestinations></virtualDestinationInterceptor></destinationInterceptors>
<destinationPolicy><policyMap><policyEntries><policyEntry queue="p">
<deadLetterStrategy><individualDeadLetterStrategy/></deadLetterStrategy>
<dispatchPolicy><roundRobinDispatchPolicy/></dispatchPolicy>
<networkBridgeFilterFactory><conditionalNetworkBridgeFilterFactory replayDelay="1"/>
</networkBridgeFilterFactory>
<pendingMessageLimitStrategy><constantPendingMessageLimitStrategy limit="1"/></pendingMessageLimitStrategy>
</policyEntry></policyEntries></policyMap></destinationPolicy>
<ioExceptionHandler><leaseLockerIOExceptionHandler/></ioExceptionHandler>
<networkConnectors><networkConnector name="n" uri="static:(tcp://b:1)">
<dynamicallyIncludedDestinations><queue physicalName="d"/></dynamicallyIncludedDestinations>
<excludedDestinations><topic physicalName="e"/></excludedDestinations></networkConnector></networkConnectors>
<persistenceAdapter><kahaDB><locker><shared-file-locker/></locker></kahaDB></persistenceAdapter>
<transportConnectors><transportConnector uri="tcp://h:1"/></transportConnectors></broker>"""
# What has an unknown attribute that is kept: stores are files of which the lab shows nothing.
STORES = {"kahaDB", "locker", "shared-file-locker"}
REFUSE = {"ha-policy"}  # whatever stands in it means something


@pytest.mark.parametrize(("text", "read"), [
    (ALL_OF_ARTEMIS, broker_xml.read), (ALL_OF_ACTIVEMQ, activemq.read),
])  # fmt: skip
def test_what_nobody_knows_is_told_or_refused_wherever_it_stands(text, read):
    elements = [one for one in document_of(SourceFile("x.xml", text)).root.walk() if one.name not in STORES]
    assert len(elements) > 20
    for one in elements:
        places = [(one.inside - (2 if one.empty else 1), " xNew='1'")]
        places += [] if one.empty or one.text.strip() else [(one.inside, "<xNew/>")]
        for place, new in places:
            line = one.line + text[one.start : place].count("\n")
            changed = [SourceFile("x.xml", text[:place] + new + text[place:])]
            if one.name in REFUSE and new.startswith("<"):
                with pytest.raises(BadFile, match=f"x.xml, line {line}, xNew: "):
                    read(changed)
                continue
            net = read(changed)
            told = {p.line for p in mq.check(net) if "xNew" in p.what}
            assert line in told or told == {one.line}, (one.name, new, told)


CORE = "http://activemq.apache.org/schema/core"


@pytest.mark.parametrize(("inside", "path", "text"), [
    ("<destinations><tempQueue physicalName='x'/></destinations>", "destinations/tempQueue",
     "not there until a client makes it"),
    ("<plugins><jaasAuthenticationPlugin configuration='x'/></plugins>",
     "plugins/jaasAuthenticationPlugin", "lets every client and connector do everything"),
    ("<destinationInterceptors><mirroredQueue/></destinationInterceptors>",
     "destinationInterceptors/mirroredQueue", "no copies are made"),
    ("<plugins><redeliveryPlugin/></plugins>", "plugins/redeliveryPlugin", "as if it were not there"),
    *((f"<transportConnectors><transportConnector uri='tcp://0.0.0.0:61616?trace=true&amp;{option}=2'/>"
       "</transportConnectors>", f"transportConnectors/transportConnector@uri?{option}", text)
      for option, text in (("maximumConnections", "any number of clients"),
                           ("wireFormat.maxFrameSize", "messages of any size"), ("bogus", "ignores names"))),
])  # fmt: skip
def test_what_of_an_activemq_file_is_not_played_is_told_with_its_line(inside, path, text):
    file = f'<broker xmlns="{CORE}" brokerId="a" useJmx="false">\n{inside}\n</broker>'
    told = [p for p in mq.check(activemq.read([SourceFile("activemq.xml", file)])) if p.rule == "left-out"]
    assert [p.line for p in told] == [2]
    assert f"{path} is not played: " in told[0].what
    assert text in told[0].what


def test_a_run_says_that_something_of_an_activemq_file_is_not_played():
    file = f'<broker xmlns="{CORE}" brokerName="A"><jmsBridgeConnectors/><systemUsage/></broker>'
    net = activemq.read([SourceFile("a.xml", file)])
    (undone,) = mq.run(net).undone
    assert str(undone) == "Broker A: 2 elements of a.xml not played: check names them"


BROKERS = "imq.cluster.brokerlist=b1:7676,b2:7677\n"


def broker(name, port, more=""):
    return SourceFile(
        f"{name}.properties", f"imq.instancename={name}\nimq.portmapper.port={port}\n{BROKERS}{more}"
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_property_that_nobody_knows_is_told_with_its_line(seed):
    random = Random(seed)
    key = "imq." + "".join(random.choice("qxz") for _ in range(8)) + ".limit"
    files = [broker("b1", 7676), broker("b2", 7677, f"imq.log.level=INFO\n{key}=3\n")]
    told = [p for p in mq.check(properties.read(files)) if p.rule == "property-not-played"]
    assert [(p.file, p.line) for p in told] == [("b2.properties", 5)]
    assert told[0].what == f"{key} is not played: mqlab runs as if it were not there"


def test_properties_that_limit_a_broker_say_what_might_differ_and_the_run_counts_them():
    net = properties.read([broker("b1", 7676, "imq.system.max_count=10\n"), broker("b2", 7677)])
    (told,) = (p for p in mq.check(net) if p.rule == "property-not-played")
    assert "accepts any number and size of messages" in told.what
    assert [str(one) for one in mq.run(net).undone] == [
        "Broker b1: 1 element of b1.properties not played: check names them"
    ]


def test_a_default_of_the_broker_is_not_told():
    defaults = "imq.system.max_count=-1\nimq.jms.max_threads=1000\nimq.authentication.type=digest\n"
    net = properties.read([broker("b1", 7676, defaults), broker("b2", 7677, "imq.jms.max_threads=10\n")])
    told = [p for p in mq.check(net) if p.rule == "property-not-played"]
    assert [(p.file, p.what.partition(" ")[0]) for p in told] == [("b2.properties", "imq.jms.max_threads")]


def test_every_property_of_the_option_rows_is_played_or_kept():
    for row in PROPERTIES["broker"].values():
        assert openmq.treatment(row.guide) == ("kept" if row.kept else "played"), row.guide


@pytest.mark.parametrize(("address", "told"), [
    ("tcp://h:1?protocols=CORE,AMQP;anycastPrefix=q.", ["acceptors/acceptor?anycastPrefix"]),
    ("tcp://h:1?anycastPrefix=q.", ["acceptors/acceptor?anycastPrefix"]),
    ("tcp://h:1?protocols=HORNETQ,STOMP;anycastPrefix=q.", []),
    ("tcp://h:1?\n  protocols=CORE;\n  connectionsAllowed=2", ["acceptors/acceptor?connectionsAllowed"]),
])  # fmt: skip
def test_options_of_an_acceptor_count_where_jms_clients_connect(address, told):
    problems = checked(f"<acceptors><acceptor name='a'>{address}</acceptor></acceptors>")
    assert [one.what.partition(" is ")[0] for one in problems] == told


ALWAYS = " alwaysRetroactive='{}'"


@pytest.mark.parametrize(("always", "told"), [("", 0), (ALWAYS.format("false"), 0), (ALWAYS.format("true"), 2)])
def test_earlier_messages_are_for_retroactive_consumers_alone(always, told):
    """In 5.17.2 a topic asks its recovery policy for these, and where the policy says alwaysRetroactive."""
    recovers = "<subscriptionRecoveryPolicy><lastImageSubscriptionRecoveryPolicy/></subscriptionRecoveryPolicy>"
    entry = f"<policyEntry topic='t'{always}>{recovers}</policyEntry>"
    policies = f"<policyMap><policyEntries>{entry}</policyEntries></policyMap>"
    text = f"<broker xmlns='{CORE}'><destinationPolicy>{policies}</destinationPolicy></broker>"
    net = activemq.read([SourceFile("a.xml", text)])
    assert len([one for one in mq.check(net) if one.rule == "left-out"]) == told
