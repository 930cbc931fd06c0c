"""Values, options, addresses, networks: what they accept, what they say to what they do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mqlab as mq
from mqlab.api import openmq
from mqlab.errors import BadValue, UnknownName, UriError
from mqlab.spec import graph, topology, uri
from mqlab.spec.option import EDITIONS
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import duration, matches


def link(name="ab", to="B", **options):
    return mq.NetworkConnector(name, uri=f"static:(tcp://{to}:61616)", **options)


@pytest.mark.parametrize(("pattern", "name", "fits"), [
    ("A.>", "A", True), ("A.>", "A.B.C", True), ("A.>", "AB", False), (">", "X.Y", True),
    ("A.*", "A.B", True), ("A.*", "A", False), ("A.*", "A.B.C", False), ("*.*", "A.B", True),
    ("A.*.C", "A.B.C", True), ("A.*.>", "A", False), ("A.*.>", "A.B", True), ("A.B*", "A.BC", False),
    ("A.>.>", "A", True), ("A.>.B", "A.X.B", False), ("a", "A", False), ("A..B", "A..B", True),
])  # fmt: skip
def test_wildcards(pattern, name, fits):
    assert matches(pattern, name) is fits


def test_in_5_5_the_rest_is_never_empty():
    assert not matches("A.>", "A", parent=False)
    assert matches("A.>", "A.B", parent=False)


@pytest.mark.parametrize(("text", "us"), [("500ms", 500_000), ("2s", 2_000_000), (3, 3000),
                                          ("1.5 s", 1_500_000), ("7us", 7)])  # fmt: skip
def test_durations(text, us):
    assert duration(text) == us


@pytest.mark.parametrize("text", ["", "soon", "-1s", -1, True, None])
def test_a_bad_duration_says_what_to_write(text):
    with pytest.raises(BadValue, match="'500ms'"):
        duration(text, "wait")


def test_every_option_row_is_complete_and_its_default_passes_its_own_reader():
    for element, rows in OPTIONS.items():
        for name, row in rows.items():
            assert row.name == name
            assert row.sentence.endswith("."), f"[{element}.{name}]: no sentence, or no full stop"
            assert row.source, f"[{element}.{name}]: its source is missing"
            for edition in EDITIONS:
                default = row.default_for(edition)
                if default is not None:
                    assert row.read(default, element) == default


def test_the_default_of_decrease_depends_on_the_edition():
    name = "decrease_network_consumer_priority"
    assert [link().get(name, edition) for edition in EDITIONS] == [False, False, True, True]


def test_network_ttl_sets_both_others_and_each_can_be_set_alone():
    both = link(network_ttl=4, consumer_ttl=2)
    assert (both.message_ttl, both.consumer_ttl) == (4, 2)
    assert (link().message_ttl, link(network_ttl=0).consumer_ttl) == (1, 0)


def test_a_change_makes_a_new_network():
    net = mq.Network(mq.Broker("A", link()), mq.Broker("B"))
    changed = net.change("A/ab", duplex="true")
    assert changed.broker("A").connectors[0].duplex is True
    assert net.broker("A").connectors[0].duplex is False
    assert changed.change("A/ab", duplex=None) == net.change("A/ab", duplex=None)


@pytest.mark.parametrize(("make", "kind", "told"), [
    (lambda: link(network_ttl=-2), BadValue, "networkTTL: -2 is too low; expected -1 or more"),
    (lambda: link(network_tll=2), UnknownName, "did you mean 'network_ttl'"),
    (lambda: link(duplex=3), BadValue, "expected true or false"),
    (lambda: link(prefetch_size="many"), BadValue, "not a whole number"),
    (lambda: mq.NetworkConnector("x", uri="tcp://B:1"), BadValue, r"use static:\(tcp://B:1\)"),
    (lambda: mq.Broker("A", link(), link()), BadValue, "two network connectors are called 'ab'"),
    (lambda: mq.Network(mq.Broker("A"), mq.Broker("A")), BadValue, "two brokers are called 'A'"),
    (lambda: mq.Network(mq.Broker("A", link())), UnknownName, "unknown broker 'B'"),
    (lambda: mq.Network(edition="four"), UnknownName, "unknown edition 'four'"),
    (lambda: mq.Broker(""), BadValue, "not a name"),
    (lambda: mq.Queue(" "), BadValue, "needs a name"),
    (lambda: mq.Destination.parse("queu://A"), UnknownName, "did you mean 'queue'"),
    (lambda: mq.Consumer("C", on="A", reads="Q"), BadValue, r"mq\.Queue"),
    (lambda: mq.Consumer("C", on="A", reads=mq.Queue("Q"), ack_mode="later"), UnknownName, "auto"),
    (lambda: mq.Producer("P", on="A", sends=-1, to=mq.Queue("Q")), BadValue, "0 to 1000000000"),
])  # fmt: skip
def test_bad_input_says_where_and_what_to_write(make, kind, told):
    with pytest.raises(kind, match=told):
        make()


@pytest.mark.parametrize(("text", "scheme", "hosts", "parameters"), [
    ("static:(tcp://B:61616,tcp://C:61617)?a=1&b", "static", ["B", "C"], {"a": "1", "b": None}),
    ("failover:tcp://a:1,tcp://b:2?x=1", "failover", ["a", "b"], {}),
    ("static:failover:(tcp://a:1,tcp://b:2)?maxReconnectAttempts=0", "static", ["a", "b"], {}),
    ("masterslave:(tcp://M:1,tcp://S:1)", "masterslave", ["M", "S"], {}),
    ("discovery:(multicast://default)?initialReconnectDelay=100", "discovery", ["default"],
     {"initialReconnectDelay": "100"}),
])  # fmt: skip
def test_addresses(text, scheme, hosts, parameters):
    parsed = uri.parse(text)
    assert parsed.scheme == scheme
    assert [leaf.host for leaf in parsed.leaves()] == hosts
    assert parsed.parameters == parameters


@pytest.mark.parametrize("text", ["", "B", "static:(tcp://B", "tcp://B:99999", "static:(,)"])
def test_a_bad_address_shows_the_place(text):
    with pytest.raises(UriError, match=r"\^"):
        uri.parse(text)


@given(st.text())
def test_any_text_is_an_address_or_a_clear_error(text):
    told = text
    try:
        uri.parse(text)
    except UriError as error:
        told = str(error)
    assert text in told


@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_topologies_have_the_size_asked_for_and_a_ttl_that_reaches_everywhere(shape):
    for size in (2, 3, 10, 25):
        net = topology.network(shape, size)
        assert len(net.names) == size
        ttl = net.connectors()[0][1].network_ttl
        assert ttl == graph.diameter(net)


def test_a_wrong_topology_is_told():
    with pytest.raises(UnknownName, match="did you mean 'mesh'"):
        topology.network("mash", 3)
    with pytest.raises(BadValue, match="write 2 or more"):
        topology.network("mesh", 1)


@pytest.mark.parametrize("noun", [mq.StartBrokers, openmq.StartBrokers])
def test_brokers_to_start_are_named_one_by_one_or_in_a_row(noun):
    one = noun("A", "B", at="2s")
    assert one == noun(("A", "B"), at="2s") == noun(brokers=["A", "B"], at="2s")
    assert (one.brokers, one.at) == (("A", "B"), "2s")
    for wrong in ((), (3,), (("A", None),)):
        with pytest.raises(mq.MqlabError, match="expected the brokers' names"):
            noun(*wrong)
