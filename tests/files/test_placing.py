"""A user's own files for brokers on this machine: they say what they said, at other ports, in other folders."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api import artemis
from mqlab.errors import MqlabError
from mqlab.files.parsing import document_of
from mqlab.products.activemq import files
from mqlab.products.artemis.files import broker_xml
from mqlab.products.artemis.files.placing import STOMP, Place
from mqlab.products.openmq.files import placing as openmq
from mqlab.products.openmq.files import properties
from mqlab.spec.origin import SourceFile
from tests.files.test_corpus import CORPUS, networks
from tests.files.test_corpus import files as files_of

OWN = """<beans xmlns="http://www.springframework.org/schema/beans">
  <!-- kept -->
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="a" dataDirectory="/var/lib/a">
    <networkConnectors>
      <networkConnector name="ab" uri="static:(tcp://localhost:61617,tcp://elsewhere:61616)"/>
    </networkConnectors>
    <persistenceAdapter><kahaDB directory="/shared/x y"/></persistenceAdapter>
    <transportConnectors>
      <transportConnector name="amqp" uri="amqp://0.0.0.0:5672"/>
      <transportConnector name="o" uri="nio://0.0.0.0:61616?maximumConnections=9"/>
    </transportConnectors>
  </broker>
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="b">
    <transportConnectors><transportConnector name="o" uri="tcp://0.0.0.0:61617"/></transportConnectors>
  </broker>
  <import resource="jetty.xml"/>
</beans>
"""


def placed(network):
    at = {
        name: files.Place("127.0.0.1", 20_000 + no, 30_000 + no, "/tmp/shared", stamped=True)
        for no, name in enumerate(network.names)
    }
    return dict(zip(network.names, files.write(network, at).values(), strict=True))


def test_ports_addresses_and_folders_change_and_each_broker_has_its_own(tmp_path):
    (tmp_path / "activemq.xml").write_text(OWN)
    texts = placed(mq.load(tmp_path / "activemq.xml"))
    changed = {line.strip() for line in texts["a"].splitlines()} - {line.strip() for line in OWN.splitlines()}
    assert changed == {
        '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="a" '
        'dataDirectory="/tmp/shared/var_lib_a" brokerId="a" useJmx="false">',
        '<networkConnector name="ab" uri="static:(tcp://127.0.0.1:20001,tcp://elsewhere:61616)"/>',
        '<persistenceAdapter><kahaDB directory="/tmp/shared/shared_x_y"/></persistenceAdapter>',
        "<plugins>", "<traceBrokerPathPlugin/>", "</plugins>",
        '<transportConnector name="o" uri="nio://127.0.0.1:20000?maximumConnections=9"/>',
        '<transportConnector name="stomp" uri="stomp://127.0.0.1:30000"/>',
    }  # fmt: skip
    assert "<!-- kept -->" in texts["a"]
    assert 'brokerName="b"' not in texts["a"]
    assert 'brokerName="a"' not in texts["b"]
    assert texts["a"].index("<plugins>") > texts["a"].index("<persistenceAdapter>")


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS}: the files are not part of the project")
def test_files_that_nobody_here_wrote_say_what_they_said():
    done = 0
    for path in files_of("activemq"):
        try:
            net = mq.load(path)
        except MqlabError:
            continue
        texts = placed(net)
        sources = [SourceFile(f"{no}/activemq.xml", text) for no, text in enumerate(texts.values())]
        again = files.read(sources, dict(net.origin.values), dict(net.origin.hosts))
        for name, before, after in zip(net.names, net.brokers, again.brokers, strict=True):
            assert said(before) == said(after), (path, name)
            done += 1
    assert done >= 150


LEFT_OUT = ("shared_store", "broker_name", "users", "authorization")  # which are played as another test says


def said(broker):
    """Return what a broker's file says but for addresses, folders and ports."""
    options = {key: value for key, value in broker.options.items() if key not in LEFT_OUT}
    connectors = [(c.name, c.options, len(c.targets)) for c in broker.connectors]
    return options, broker.policies, broker.composites, broker.transport.options, connectors


ARTEMIS = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
  <name>a</name> <!-- kept -->
  <journal-directory>/var/lib/a/journal</journal-directory>
  <connectors>
    <connector name="own">tcp://localhost:61616</connector>
    <connector name="b">tcp://localhost:61617?reconnectAttempts=3</connector>
    <connector name="far">tcp://far:61616</connector>
  </connectors>
  <acceptors>
    <acceptor name="in">tcp://0.0.0.0:61616?protocols=CORE;useEpoll=true</acceptor>
    <acceptor name="amqp">tcp://0.0.0.0:5672?protocols=AMQP</acceptor>
    <acceptor name="vm">vm://0</acceptor>
  </acceptors>
  <cluster-connections>
    <cluster-connection-uri name="c" address="static://(tcp://localhost:61617,tcp://far:61616)?maxHops=1"/>
  </cluster-connections>
  <broker-connections><amqp-connection uri="tcp://localhost:61617" name="x"/></broker-connections>
  <diverts/>
</core></configuration>
"""
OTHER = """<configuration><core xmlns="urn:activemq:core"><name>b</name>
<acceptors><acceptor name="in">tcp://0.0.0.0:61617</acceptor></acceptors></core></configuration>
"""


def places(network):
    names = enumerate(network.names)
    return {name: Place("127.0.0.1", 20_000 + no, 30_000 + no, f"/tmp/{no}") for no, name in names}


def test_ports_addresses_and_folders_of_a_broker_xml_change():
    net = broker_xml.read([SourceFile("a.xml", ARTEMIS), SourceFile("b.xml", OTHER)])
    (file, text), _ = broker_xml.placed(net, places(net)).values()
    was, now = ({line.strip() for line in one.splitlines()} for one in (ARTEMIS, text))
    assert file == "a.xml"
    assert now - was == {
        "<journal-directory>/tmp/0/journal</journal-directory>",
        "<paging-directory>/tmp/0/paging</paging-directory>",
        "<bindings-directory>/tmp/0/bindings</bindings-directory>",
        "<large-messages-directory>/tmp/0/large-messages</large-messages-directory>",
        "<security-enabled>false</security-enabled>",
        '<connector name="own">tcp://127.0.0.1:20000</connector>',
        '<connector name="b">tcp://127.0.0.1:20001?reconnectAttempts=3</connector>',
        '<acceptor name="in">tcp://127.0.0.1:20000?protocols=CORE;useEpoll=true</acceptor>',
        f'<acceptor name="stomp">tcp://127.0.0.1:30000?{STOMP}</acceptor>',
        '<cluster-connection-uri name="c" '
        'address="static://(tcp://127.0.0.1:20001,tcp://far:61616)?maxHops=1"/>',
        '<broker-connections><amqp-connection uri="tcp://127.0.0.1:20001" name="x"/></broker-connections>',
    }  # fmt: skip
    gone = {line for line in was - now if "61616" not in line and "61617" not in line}
    assert gone == {
        "<journal-directory>/var/lib/a/journal</journal-directory>",
        '<acceptor name="amqp">tcp://0.0.0.0:5672?protocols=AMQP</acceptor>',
    }


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS}: the files are not part of the project")
def test_every_broker_xml_of_the_corpus_says_what_it_said_at_its_place():
    done = 0
    for net in networks("artemis").values():
        at = places(net)
        files_ = broker_xml.placed(net, at).values()
        again = broker_xml.read([SourceFile(*file) for file in files_], dict(net.origin.values))
        assert len(files_) == len(net.brokers)
        for broker, now in zip(net.brokers, again.brokers, strict=True):
            assert (now.policy, now.role, now.elements.keys()) == (
                broker.policy, broker.role, broker.elements.keys(),
            )  # fmt: skip
            was, is_ = net.cluster_of(broker), again.cluster_of(now)
            assert {k: v for k, v in was.items() if k != "to"} == {k: v for k, v in is_.items() if k != "to"}
            assert net.settings_of(broker) == again.settings_of(now)
        done += 1
    assert done >= 250


def test_names_of_what_is_written_anew_are_ids():
    net = artemis.Network(artemis.Broker("A"), artemis.Broker("B"), discovery=True)
    for text in products.configuration(net).values():
        holders = ("broadcast-groups", "discovery-groups", "cluster-connections")
        core = document_of(SourceFile("x", text)).root.children[0]
        ids = [one.attributes["name"] for holder in holders for one in core.first(holder).children]
        assert len(set(ids)) == len(ids) == 3


OPENMQ = """imq.instancename=b1
imq.portmapper.port=7676
imq.cluster.brokerlist=localhost:7676,localhost:7677
imq.jms.tcp.port=5555
imq.unknown.thing=x
"""


def test_hosts_and_ports_of_property_files_change_and_what_nobody_knows_stays():
    other = OPENMQ.replace("b1", "b2").replace("port=7676", "port=7677")
    net = properties.read([SourceFile("1.properties", OPENMQ), SourceFile("2.properties", other)])
    made = openmq.placed(net, {"b1": "127.0.0.1:1", "b2": "127.0.0.1:2"})
    assert made["b1"] == {
        "imq.cluster.brokerlist": "127.0.0.1:1,127.0.0.1:2", "imq.unknown.thing": "x",
    }  # fmt: skip
    assert openmq.written(net)["b1"]["imq.jms.tcp.port"] == "5555"


SECURED = """<broker xmlns="http://activemq.apache.org/schema/core" brokerName="a"><plugins>
  <simpleAuthenticationPlugin><users>
    <authenticationUser username="u" password="p" groups="users"/>
  </users></simpleAuthenticationPlugin>
  <authorizationPlugin><map><authorizationMap><authorizationEntries>
    <authorizationEntry queue="&gt;" read="users" write="admins" admin="admins"/>
  </authorizationEntries></authorizationMap></map></authorizationPlugin>
</plugins></broker>
"""


def test_clients_of_a_real_broker_are_a_user_of_all_its_groups():
    net = files.read([SourceFile("a.xml", SECURED)])
    read = files.read([SourceFile("a.xml", placed(net)["a"])]).brokers[0].options
    before = net.brokers[0].options
    assert read["users"] == (*before["users"], "guest?password=guest&groups=admins,users")
    assert read["authorization"] == before["authorization"]


PREFIXED = """<beans xmlns="http://www.springframework.org/schema/beans"
  xmlns:amq="http://activemq.apache.org/schema/core">
  <amq:broker brokerName="a">
    <amq:networkConnectors><amq:networkConnector name="ab" uri="static:(tcp://b:1)"/></amq:networkConnectors>
    <amq:plugins>
      <amq:simpleAuthenticationPlugin/><amq:authorizationPlugin/><amq:loggingBrokerPlugin/>
    </amq:plugins>
    <amq:transportConnectors><amq:transportConnector uri="tcp://0.0.0.0:61616"/></amq:transportConnectors>
  </amq:broker>
</beans>
"""


def namespaces(text, name):
    (own,) = [one for one in document_of(SourceFile("x", text)).root.walk() if one.name == name]
    return {one.namespace for one in own.walk()}


def test_what_is_put_into_an_element_with_a_prefix_has_it_too():
    net = files.read([SourceFile("a.xml", PREFIXED)])
    core = {"http://activemq.apache.org/schema/core"}
    text = placed(net)["a"]
    assert namespaces(text, "broker") == core
    assert "amq:loggingBrokerPlugin" in text
    assert "uthenticationPlugin" not in text
    assert "authorizationPlugin" not in text
    policy = {"queue": ">", "memory_limit": 5, "dead_letter_strategy": "individual"}
    changed = net.change("a", policies=(policy,), destinations=("queue://Q",)).change(
        "a/ab", excluded_destinations=("queue://E",), network_ttl=2
    )
    (text,) = files.write(changed).values()
    assert namespaces(text, "broker") == core
    assert files.read([SourceFile("a.xml", text)]) == changed
    own = '<c:core xmlns:c="urn:activemq:core"><c:name>a</c:name></c:core>'
    net = broker_xml.read([SourceFile("a.xml", own)])
    queue = artemis.AddressQueue("Q", filter="a < b")
    changed = net.change("a", clustered=True, address_settings={"#": {"expiry_address": "E"}})
    changed = type(changed)(changed.brokers, (queue,), edition=changed.edition, origin=changed.origin)
    for text in (
        *broker_xml.write(changed).values(),
        broker_xml.placed(net, {"a": Place("h", 1, 2, "/d")})["a"][1],
    ):
        assert namespaces(text, "core") == {"urn:activemq:core"}
