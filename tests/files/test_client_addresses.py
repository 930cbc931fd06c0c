"""Clients of a network from files: their addresses are read as real clients would, and a wrong port is told."""

import pytest

import mqlab as mq
from mqlab.errors import UnknownName

Q = mq.Queue("Q")
SENDS = mq.Producer("P", on="c", sends=3, to=Q)
BROKER = """<beans xmlns="http://www.springframework.org/schema/beans">
<broker xmlns="http://activemq.apache.org/schema/core" brokerName="{name}" brokerId="{name}">
<transportConnectors><transportConnector name="openwire" uri="tcp://{host}"/></transportConnectors>
</broker></beans>"""


@pytest.fixture
def net(tmp_path):
    for name, host in (("west", "0.0.0.0:61617"), ("east", "east-host:61616")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "activemq.xml").write_text(BROKER.format(name=name, host=host))
    return mq.load(tmp_path)


@pytest.mark.parametrize(("uri", "broker"), [
    ("tcp://west:61617", "west"), ("tcp://localhost:61617", "west"), ("tcp://east-host:61616", "east"),
    ("failover:(tcp://east-host:61616,tcp://localhost:61617)?randomize=false", "east"),
])  # fmt: skip
def test_an_address_leads_to_who_listens_there(net, uri, broker):
    trace = mq.run(net, mq.Client("c", uri=uri), SENDS)
    assert (trace.path("P-1"), trace.undone) == ([[broker]], ())
    assert mq.run(trace).undone == ()  # its lab file has no files beside it
    assert len(mq.check(net, mq.Client("c", uri=uri), SENDS)) == 0


@pytest.mark.parametrize(("uri", "wrong", "right"), [
    ("tcp://west:61616", "port 61616 of west", "tcp://west:61617"),
    ("tcp://west:61999", "port 61999 of west", "tcp://west:61617"),
    ("failover:(tcp://east-host:61617)?timeout=2000", "port 61617 of east", "tcp://east:61616"),
])  # fmt: skip
def test_a_wrong_port_is_told_with_the_right_address(net, uri, wrong, right):
    client = mq.Client("c", uri=uri)
    (row,) = mq.run(net, client, SENDS).undone
    assert row.what == f"Client c, {wrong}"
    assert row.why.startswith("a real broker refuses it")
    assert row.why.endswith(f"write {right}")
    (problem,) = mq.check(net, client, SENDS)
    assert (problem.rule, problem.remedy) == ("client-port", f"use {right}")


def test_a_host_of_nobody_is_refused_with_the_addresses_that_there_are(net):
    listed = r"client 'c': tcp://nowhere:1 leads to no broker; .* tcp://0.0.0.0:61617 \(west\)"
    with pytest.raises(UnknownName, match=listed):
        mq.run(net, mq.Client("c", uri="tcp://nowhere:1"), SENDS)
