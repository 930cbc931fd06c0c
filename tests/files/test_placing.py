"""A user's own files for brokers on this machine: they say what they said, at other ports, in other folders."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import MqlabError
from mqlab.products.activemq import files
from mqlab.spec.origin import SourceFile
from tests.files.test_corpus import CORPUS
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


def said(broker):
    """Return what a broker's file says but for addresses, folders and ports."""
    options = {
        key: value for key, value in broker.options.items() if key not in ("shared_store", "broker_name")
    }
    connectors = [(c.name, c.options, len(c.targets)) for c in broker.connectors]
    return options, broker.policies, broker.composites, broker.transport.options, connectors
