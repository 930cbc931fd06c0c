"""A cluster of two real Artemis brokers with messages that wait: loaded by Jolokia, checked, and asked why."""

from __future__ import annotations

import shutil
import time

import pytest

import mqlab as mq
from tests.conftest import missing
from tests.products.activemq.running import PASSWORD
from tests.products.artemis.running import Cluster, distribution, messages_wait


@pytest.fixture(scope="session")
def artemis_console(tmp_path_factory):
    """Return a distribution of Artemis with its web console."""
    if not (shutil.which("mvn") and shutil.which("java")):
        missing("mvn and java are not installed")
    return distribution(tmp_path_factory.mktemp("artemis"))


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
