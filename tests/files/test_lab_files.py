"""Lab files: every recording's scenario and any scenario at all reads back as itself."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.products.activemq.files import lab_file
from mqlab.spec import Scenario
from tests.conftest import recorded

NAMES = st.sampled_from(["A", "B", "C"])
QUEUES = st.builds(mq.Destination, st.sampled_from(["queue", "topic"]),
                   st.sampled_from(["FOO", "A.>", "*.x", "<b>"]))  # fmt: skip
OPTIONS = st.fixed_dictionaries({}, optional={
    "network_ttl": st.integers(-1, 9), "duplex": st.booleans(),
    "conduit_subscriptions": st.booleans(), "prefetch_size": st.integers(1, 2000),
    "statically_included_destinations": st.lists(QUEUES.map(str), max_size=2).map(tuple),
})  # fmt: skip


@st.composite
def networks(draw):
    def connectors(name):
        targets = draw(st.lists(NAMES.filter(lambda n: n != name), max_size=2))
        return [
            mq.NetworkConnector(f"{name}{i}", uri=f"static:(tcp://{to}:61616)", **draw(OPTIONS))
            for i, to in enumerate(targets)
        ]

    brokers = [mq.Broker(name, *connectors(name)) for name in "ABC"]
    return mq.Network(*brokers, edition=draw(st.sampled_from(["5.5", "5.17", "5.18", "6.1"])))


@st.composite
def scenarios(draw):
    consumers = draw(st.lists(NAMES, max_size=3))
    actions = [mq.Consumer(f"K{i}", on=on, reads=draw(QUEUES), prefetch=draw(st.none() | st.just(7)))
               for i, on in enumerate(consumers)]  # fmt: skip
    actions += draw(st.lists(st.builds(
        mq.Producer, st.just("P"), NAMES, st.integers(0, 5),
        QUEUES.filter(lambda dest: not dest.has_wildcard),
        persistent=st.booleans(), properties=st.just({"region": ["us", "emea"]}),
    ), max_size=3))  # fmt: skip
    return Scenario.of(draw(networks()), *actions)


@given(scenarios())
@settings(max_examples=100, deadline=None)
def test_what_is_written_reads_back_as_itself(scenario):
    assert lab_file.read(json.loads(lab_file.dumps(scenario))) == scenario


@pytest.mark.parametrize("value", recorded("activemq", lambda path: "/random/" in path))
def test_a_recording_reads_back_as_itself(value):
    scenario = lab_file.read(value)
    assert lab_file.read(lab_file.write(scenario)) == scenario


def test_save_and_load(tmp_path):
    scenario = mq.figure("fuse:2.11").scenario
    mq.save(scenario, tmp_path / "x.json")
    assert mq.load(tmp_path / "x.json") == scenario


def test_save_returns_what_was_written(tmp_path):
    net = mq.Network(mq.Broker("A"), mq.Broker("B"))
    assert mq.save(net, f"{tmp_path}/out/") == [f"{tmp_path}/out/{name}/activemq.xml" for name in "AB"]
    trace = mq.run("fuse:2.20")
    for ending, begins in (
        (".json", "{"),
        (".svg", "<svg "),
        (".html", "<!DOCTYPE html>"),
        (".parquet", "PAR1"),
    ):
        (path,) = mq.save(trace, tmp_path / f"run{ending}")
        assert path == str(tmp_path / f"run{ending}")
        assert Path(path).read_bytes().lstrip().startswith(begins.encode())
    with pytest.raises(BadValue, match="a picture shows one run"):
        mq.save(mq.compare(trace, mq.run("fuse:2.21")), tmp_path / "two.svg")


@pytest.mark.parametrize(
    "uri", ["${network.uri}", "static:()", "static:(${b.uri})", "static:(tcp://gone:61616)"]
)
def test_an_address_that_only_its_broker_judges_is_kept(tmp_path, uri):
    """Files of others have placeholders, empty lists and hosts nobody knows: `check` tells, `save` keeps."""
    net = mq.Network(mq.Broker("A", mq.NetworkConnector.as_written("ab", uri, network_ttl=2)))
    mq.save(net, tmp_path / "x.json")
    found = mq.load(tmp_path / "x.json").network
    assert found == net
    assert [(one.uri, one.judged) for _, one in found.connectors()] == [(uri, False)]
    with pytest.raises(mq.MqlabError):
        mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri)))
