"""A cluster of two real Artemis brokers with messages that wait: loaded by Jolokia, checked, and asked why."""

from __future__ import annotations

import json
import time
import zipfile

import mqlab as mq
from mqlab.api import artemis
from tests.products.activemq.running import PASSWORD
from tests.products.artemis.running import Cluster, messages_wait
from tests.real import schemas


def test_what_files_are_held_against_is_the_products_own_schema(artemis_console):
    (jar,) = (artemis_console / "lib").glob("artemis-server-*.jar")
    with zipfile.ZipFile(jar) as opened:
        rows = schemas.artemis(opened)
    kept = json.loads(schemas.place("artemis").read_text(encoding="utf-8"))
    for name, parts in rows.items():  # ours has what a later release adds, too; it may replace a type
        ours = dict(part.split(":", 1) for part in kept[name].split())
        for word, kind in (part.split(":", 1) for part in parts):
            assert ours[word] == kind or kind in rows, f"{name}: {word}"


def test_a_running_cluster_is_read_checked_and_asked(artemis_console):
    with Cluster(artemis_console) as brokers:
        brokers.start(brokers.names)
        reader = messages_wait(brokers)
        files = [brokers.made(name) / "etc" / "broker.xml" for name in brokers.names]
        text = files[0].read_text()
        assert "<max-hops>0</max-hops>" in text
        limit = time.monotonic() + 20
        while True:
            live = mq.load(*map(brokers.address, brokers.names), *files)
            if live.running.depth("ORDERS", "A") == 4 or time.monotonic() > limit:
                break
            time.sleep(0.2)
        files[0].write_text(text.replace("<max-hops>0<", "<max-hops>1<"))
        changed = mq.load(*map(brokers.address, brokers.names), *files)
        reader.disconnect()
    assert {(queue.name, queue.broker): queue.depth for queue in live.running.queues if queue.depth} == {
        ("ORDERS", "A"): 4
    }
    assert sorted((one.broker, one.remote) for one in live.running.bridges) == [("A", "B"), ("B", "A")]
    found = mq.explain(live, queue="ORDERS", on="A", why_not="consumer of ORDERS at B")
    assert [str(change) for change in found.changes] == ["the network without max_hops=0"]
    assert not [one for one in mq.check(live) if one.rule == "cluster-differs"]
    (differs,) = [one for one in mq.check(changed) if one.rule == "cluster-differs"]
    assert differs.what == "max-hops is 1 in the file and 0 in the broker"
    assert PASSWORD not in str(live) + str(mq.check(live))


OWN = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><name>{name}</name>
  <connectors><connector name="own">tcp://localhost:{port}</connector>
  <connector name="other">tcp://localhost:{other}</connector></connectors>
  <acceptors><acceptor name="in">tcp://0.0.0.0:{port}?protocols=CORE</acceptor></acceptors>
  <cluster-connections><cluster-connection name="c"><connector-ref>own</connector-ref>
    <message-load-balancing>ON_DEMAND</message-load-balancing>
    <static-connectors><connector-ref>other</connector-ref></static-connectors></cluster-connection>
  </cluster-connections>
  <addresses><address name="Q"><anycast><queue name="Q"/></anycast></address></addresses>
</core></configuration>
"""


def test_real_brokers_run_on_the_users_own_files(artemis_console, tmp_path, monkeypatch):
    for name, port, other in (("A", 1, 2), ("B", 2, 1)):
        (tmp_path / name).mkdir()
        text = OWN.format(name=name, port=port, other=other)
        (tmp_path / name / "broker.xml").write_text(text)
    monkeypatch.setenv("ARTEMIS_HOME", str(artemis_console))
    queue = mq.Queue("Q")
    both = mq.real(
        mq.load(tmp_path), artemis.Consumer("C", on="B", reads=queue),
        artemis.Producer("P", on="A", sends=4, to=queue), limit=200,
    )  # fmt: skip
    assert both.rows == {"C received": (4, 4)}
    assert '+  <connectors><connector name="own">tcp://127.0.0.1:' in both.changes
    assert "-  <addresses>" not in both.changes


def test_real_queues_take_what_their_filter_lets_pass_and_topics_everything(artemis_console, monkeypatch):
    monkeypatch.setenv("ARTEMIS_HOME", str(artemis_console))
    some = artemis.AddressQueue("SOME", filter="n = 'a'")
    purged = artemis.AddressQueue("PURGED", purge_on_no_consumers=True)
    net = artemis.Network(artemis.Broker("X"), queues=(some, purged))
    sends = [
        artemis.Producer(f"to {name}", on="X", sends=4, to=mq.Queue(name), properties={"n": ["a", "b"]})
        for name in ("SOME", "PURGED")
    ]
    reads = [artemis.Consumer(name, on="X", reads=mq.Queue(name)) for name in ("SOME", "PURGED")]
    news = mq.Topic("NEWS")  # more than fit into the window of messages that ActiveMQ's header would mean
    topic = artemis.Consumer("T", on="X", reads=news), artemis.Producer("to T", on="X", sends=9, to=news)
    both = mq.real(net, *sends, *reads, *topic, limit=100)
    assert both.rows == {"SOME received": (2, 2), "PURGED received": (0, 0), "T received": (9, 9)}
