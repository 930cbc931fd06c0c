"""`activemq.xml`: files to the same nouns and back; what was not changed stays to the letter."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab.errors import BadFile
from mqlab.products.activemq import files as activemq
from mqlab.spec.origin import SourceFile
from mqlab.spec.rows import OPTIONS
from tests.conftest import work_of_at_most

CORE = "http://activemq.apache.org/schema/core"
REAL = """<?xml version="1.0" encoding="UTF-8"?>
<!-- the first broker -->
<beans xmlns="http://www.springframework.org/schema/beans"
       xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <bean class="org.springframework.beans.factory.config.PropertyPlaceholderConfigurer"/>
    <broker xmlns="http://activemq.apache.org/schema/core" brokerName="east" dataDirectory="${activemq.data}">
        <destinationPolicy><policyMap><policyEntries>
            <!-- slow subscribers -->
            <policyEntry topic=">" memoryLimit="2 mb" gcInactiveDestinations='true'>
                <pendingMessageLimitStrategy>
                    <constantPendingMessageLimitStrategy limit="1000"/>
                </pendingMessageLimitStrategy>
            </policyEntry>
        </policyEntries></policyMap></destinationPolicy>
        <managementContext><managementContext createConnector="false"/></managementContext>
        <networkConnectors>
            <networkConnector uri="static:(tcp://${west.host}:${west.port:61717}?wireFormat.maxInactivityDuration=0)"
                              networkTTL="${ttl}" duplex = 'true' userName="x"/>
        </networkConnectors>
        <persistenceAdapter><kahaDB directory="/mnt/nfs/pair"><locker>
            <shared-file-locker lockAcquireSleepInterval="5000"/></locker></kahaDB></persistenceAdapter>
        <systemUsage><systemUsage/></systemUsage>
        <transportConnectors>
            <transportConnector name="stomp" uri="stomp://0.0.0.0:61613"/>
            <transportConnector name="all" uri="nio://0.0.0.0:61616?maximumConnections=1000"
                                updateClusterClients="true"/>
        </transportConnectors>
    </broker>
</beans>
"""
WEST = f"""<broker xmlns="{CORE}" brokerName="west" persistent="false">
  <transportConnectors><transportConnector uri="tcp://10.0.0.7:61717"/></transportConnectors>
</broker>
"""
VALUES = {"west.host": "10.0.0.7", "ttl": "${hops}", "hops": "3"}


def read(*texts, **more):
    files = [SourceFile(f"{no}/activemq.xml", text) for no, text in enumerate(texts)]
    return activemq.read(files, **more)


def again(texts):
    return activemq.read([SourceFile(name, text) for name, text in texts.items()])


def around(inside, attributes='brokerName="A"'):
    return f'<broker xmlns="{CORE}" {attributes}>{inside}</broker>'


def test_files_become_the_nouns_of_a_network():
    net = read(REAL, WEST, values=VALUES)
    assert net == mq.Network(
        mq.Broker(
            "east",
            mq.TransportConnector("all", update_cluster_clients=True),
            mq.NetworkConnector(
                "NC", uri="static:(tcp://west:61717?wireFormat.maxInactivityDuration=0)",
                network_ttl=3, duplex=True, user_name="x"),
            policies=({"topic": ">", "memory_limit": 2**21, "pending_message_limit": 1000},),
            shared_store="/mnt/nfs/pair", locker="file", lock_acquire_sleep_interval_ms=5000,
        ),
        mq.Broker("west", store="memory"),
    )  # fmt: skip


def test_what_was_not_changed_is_written_to_the_letter():
    net = read(REAL, WEST, values=VALUES)
    assert list(activemq.write(net).values()) == [REAL, WEST]


def changes(net, other):
    """Return the lines of the files of *net* that are other in those of *other*."""
    before, after = activemq.write(net), activemq.write(other)
    assert before.keys() == after.keys()
    lines = [
        line for name in before
        for line in difflib.ndiff(before[name].splitlines(), after[name].splitlines())
        if line[0] in "+-"
    ]  # fmt: skip
    return [line[0] + " " + " ".join(line[1:].split()) for line in lines]


def test_a_change_touches_only_what_it_changes():
    net = read(REAL, WEST, values=VALUES)
    other = net.change("east/NC", network_ttl=2, excluded_destinations=["queue://LOCAL.>"])
    assert changes(net, other) == [
        '- networkTTL="${ttl}" duplex = \'true\' userName="x"/>',
        '+ networkTTL="2" duplex = \'true\' userName="x">',
        "+ <excludedDestinations>",
        '+ <queue physicalName="LOCAL.&gt;"/>',
        "+ </excludedDestinations>",
        "+ </networkConnector>",
    ]
    assert changes(net, net.change("west", advisory_support=False)) == [
        f'- <broker xmlns="{CORE}" brokerName="west" persistent="false">',
        f'+ <broker xmlns="{CORE}" brokerName="west" persistent="false" advisorySupport="false">',
    ]


@pytest.mark.parametrize("change", [
    {"store": "kahadb"}, {"shared_store": "/mnt/other"}, {"shared_store": None},
    {"locker": None, "lock_acquire_sleep_interval_ms": None}, {"virtual_topics": ["topic://V.>"]},
    {"process": True}, {"audit_network_producers": True}, {"use_virtual_dest_subs": True},
])  # fmt: skip
def test_a_changed_broker_reads_back_changed(change):
    net = read(REAL, WEST, values=VALUES)
    other = net.change("east", **change)
    texts = activemq.write(other)
    files = [SourceFile(name, text) for name, text in texts.items()]
    assert activemq.read(files, VALUES) == other
    assert "createConnector" in texts["0/activemq.xml"]


def test_brokers_and_connectors_come_and_go():
    net = read(REAL, WEST, values=VALUES)
    east, west = net.brokers
    north = mq.Broker("north", mq.NetworkConnector("nw", uri="static:(tcp://west:61616)"))
    back = west.replace(mq.NetworkConnector("we", uri="static:(tcp://east:61616,tcp://north:61616)"))
    other = net.made_of(east.replace(), back, north, edition=net.edition)
    texts = activemq.write(other)
    assert list(texts) == ["0/activemq.xml", "1/activemq.xml", "north/activemq.xml"]
    assert "NC" not in texts["0/activemq.xml"]
    assert '<networkConnector name="we"' in texts["1/activemq.xml"]
    files = [SourceFile(name, text) for name, text in texts.items()]
    assert activemq.read(files, VALUES) == other
    alone = net.made_of(west, edition=net.edition)
    assert activemq.write(alone) == {"1/activemq.xml": WEST}


URIS = ("static:(tcp://{}:61616)", "masterslave:(tcp://{},tcp://{}:1)",
        "static:(failover:(nio://{}:61616)?a=b)", "multicast://default")  # fmt: skip
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"),
                min_size=1, max_size=8).filter(str.strip)  # fmt: skip
NAMES = st.sampled_from(["A", "b 2", "c/d", "ü", "x&<y>'", "${a:b}", " e "])
PATTERNS = st.builds("{}://{}".format, st.sampled_from(["queue", "topic"]),
                     st.sampled_from(["FOO", "A.>", "*.x", "<b>&", "${x}"]))  # fmt: skip

SECURITY = {
    "users": ("u?password=p&groups=a,b", "v%20w?password=%26&groups=", "?groups=a"),
    "authorization": ("queue://A.>?read=a,b&write=&admin=a", "topic://<b>?read=a", "queue://Q"),
}


def values_of(row):
    if row.type is bool:
        return st.booleans()
    if row.type is int:
        return st.integers(row.low if row.low is not None else 0, 5000)
    if row.type is float:
        return st.floats(0, 10)
    if row.name == "virtual_topics":
        return st.lists(PATTERNS.filter(lambda name: name.startswith("topic")), max_size=2).map(tuple)
    if row.name in SECURITY:
        return st.sampled_from([SECURITY[row.name][:count] for count in range(4)])
    if row.type is tuple:
        return st.lists(PATTERNS, max_size=2).map(tuple)
    return st.sampled_from(row.choices) if row.choices else TEXTS


def options(element, but=()):
    rows = OPTIONS[element].values()
    return st.fixed_dictionaries({}, optional={r.name: values_of(r) for r in rows if r.name not in but})


@st.composite
def networks(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))

    def broker(name):
        connectors = []
        for no in range(draw(st.integers(0, 2))):
            to = draw(st.sampled_from(names))
            uri = draw(st.sampled_from(URIS))
            given_ = draw(options("networkConnector"))
            make = mq.NetworkConnector.as_written
            connectors.append(make(draw(TEXTS) + str(no), uri.format(to, to), **given_))
        transport = mq.TransportConnector(draw(TEXTS), **draw(options("transportConnector")))
        policies = draw(
            st.lists(
                st.builds(lambda pattern, more: {"queue": pattern, **more}, TEXTS, options("policyEntry")),
                max_size=2,
            )
        )
        composites = draw(
            st.lists(
                st.fixed_dictionaries(
                    {"name": TEXTS, "forward_to": st.lists(PATTERNS, min_size=1, max_size=2)},
                    optional={"forward_only": st.booleans()},
                ),
                max_size=1,
            )
        )
        given_ = draw(options("broker", but=("pure_slave_of",)))
        if draw(st.booleans()):
            given_["pure_slave_of"] = draw(st.sampled_from(names))
        at = draw(st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)))
        return mq.Broker(name, *connectors, transport, policies=tuple(policies),
                         composites=tuple(composites), at=at, **given_)  # fmt: skip

    lines = draw(st.sampled_from([(), (("line", names[0]),)]))
    edition = draw(st.sampled_from(["5.5", "5.17", "5.18", "6.1"]))
    return mq.Network(*map(broker, names), edition=edition, around=mq.Around(lines=lines))


@given(networks())
@settings(max_examples=40, deadline=None)
def test_a_network_reads_back_as_itself(net):
    texts = activemq.write(net)
    back = again(texts)
    assert back == net
    assert activemq.write(back) == texts


@given(networks(), st.data())
@settings(max_examples=20, deadline=None)
def test_a_network_that_was_read_and_changed_reads_back_as_itself(net, data):
    back = again(activemq.write(net))
    name = data.draw(st.sampled_from(net.names))
    assume("/" not in name)  # a path's own sign
    drawn = data.draw(options("broker", but=("pure_slave_of",)))
    other = back.change(name, **drawn) if drawn else back
    for connector in back.broker(name).connectors:
        given_ = data.draw(options("networkConnector"))
        other = other.change(f"{name}/{connector.name}", **given_) if given_ else other
    assert again(activemq.write(other)) == other


def test_a_note_about_a_connector_is_not_of_a_listener_of_that_name():
    cut = mq.NetworkConnector("ab", "static:(tcp://B:61616)", configured_name="in")
    net = mq.Network(mq.Broker("A", cut, mq.TransportConnector("in")), mq.Broker("B"))
    assert again(activemq.write(net)) == net


def test_a_folder_makes_one_network(tmp_path):
    net = mq.figure("fuse:2.20").scenario.network
    with pytest.raises(
        mq.errors.BadFile,
        match=r"use '.*net\.json' for a lab file, .*net/' for a folder of configuration files",
    ):
        mq.save(net, tmp_path / "net")  # no folder yet, and no lab file
    mq.save(net, f"{tmp_path}/net/")
    (tmp_path / "net" / "A" / "credentials.properties").write_text("password=x")
    (tmp_path / "net" / "A" / "jetty.xml").write_text("<beans/>")
    assert mq.load(tmp_path / "net") == net
    assert mq.load(*sorted((tmp_path / "net").glob("*/activemq.xml"))) == net
    assert list(mq.configuration(mq.load(tmp_path / "net"))) == ["A/activemq.xml", "B/activemq.xml"]
    moved = mq.load(tmp_path / "net").change("A", advisory_support=False)
    mq.save(moved, f"{tmp_path}/other/")
    assert mq.load(tmp_path / "other") == moved


def test_hosts_that_no_file_names_can_be_told(tmp_path):
    (tmp_path / "a.xml").write_text(around(
        '<networkConnectors><networkConnector uri="static:(tcp://10.1.1.1:61616,tcp://B.site.org:1)"/>'
        "</networkConnectors>"))  # fmt: skip
    (tmp_path / "b.xml").write_text(around("", 'brokerName="B"'))
    net = mq.load(tmp_path / "a.xml", tmp_path / "b.xml")
    assert net.connectors()[0][1].uri == "static:(tcp://10.1.1.1:61616,tcp://B:1)"
    assert [end.name for end in net.around.endpoints] == ["10.1.1.1"]
    net = mq.load(tmp_path / "a.xml", tmp_path / "b.xml", hosts={"10.1.1.1": "B"})
    assert net.connectors()[0][1].targets == ("B", "B")
    assert not net.around.endpoints
    with pytest.raises(BadFile, match=r"hosts: 10\.1\.1\.1 is mapped to 'C', but no file contains that broker"):
        mq.load(tmp_path / "a.xml", hosts={"10.1.1.1": "C"})


def test_two_brokers_of_one_name_are_called_by_their_folders():
    files = [SourceFile(f"{name}/conf/east-{name}.xml", around("")) for name in "xy"]
    with pytest.warns(UserWarning, match="several files name their broker 'A'; .* called east-x, east-y"):
        net = activemq.read(files)
    assert net.names == ("east-x", "east-y")
    assert net.broker("east-x").broker_name == "A"
    assert again(activemq.write(net)) == net


def test_a_network_from_files_runs():
    other = around('<networkConnectors><networkConnector uri="static:(tcp://localhost:2,tcp://gone:1)"/>'
                   '</networkConnectors>')  # fmt: skip
    b = around('<transportConnectors><transportConnector uri="tcp://0.0.0.0:2"/></transportConnectors>',
               'brokerName="B"')  # fmt: skip
    net, foo = read(other, b), mq.Queue("FOO")
    trace = mq.run(net, mq.Consumer("C", on="B", reads=foo), mq.Producer("P", on="A", sends=3, to=foo))
    assert trace.received() == {"C": 3}


BAD = {
    "an entity of its own": ('<!DOCTYPE a [<!ENTITY x "y">]>\n<a>&x;</a>', r"line 1: DTDs"),
    "a bomb": ('<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
               "<a>&b;</a>", "line 1: DTDs"),
    "something from outside": ('\n<!DOCTYPE a SYSTEM "http://127.0.0.1:1/x.dtd">\n<a/>', "line 2: DTDs"),
    "a text": ("no markup", "line 1, column 0: not XML"),
    "a template": ("{% if x %}<broker/>{% endif %}", "line 1, column 0: not XML: .*it looks like a template"),
    "a truncated file": (REAL[:700], r"line 12, column \d+: not XML"),
    "an unknown entity": ("<a>&foo;</a>", "line 1, column 3: not XML: undefined entity"),
    "elements without an end": ("<a>" * 90_000, "line 1: too deep"),
    "too many elements": ("<a>" + "<b/>" * 90_000 + "</a>", "line 1: more than 20"),
    "no broker": ("<beans>\n</beans>", "line 1: beans holds no broker; write <broker xmlns"),
    "a file of something else": ("<project/>", "line 1: not a configuration of ActiveMQ, Artemis or OpenMQ, "
                                 "as its root element is 'project'"),
    "a part of a broker": ("<networkConnectors/>", "line 1: networkConnectors holds no broker; write <broker"),
    "a broker of nobody": ('<beans>\n <broker xmlns="urn:x"/></beans>',
                           "line 2, broker: its namespace 'urn:x'"),
    "a number that is none": (around('\n<networkConnectors>\n<networkConnector networkTTL="many"/>'
                                     "</networkConnectors>"),
                              "line 3, networkConnector: networkTTL: 'many' is not a whole number"),
    "a placeholder without a value": (
        around('<networkConnectors><networkConnector networkTTL="${ttl}"/></networkConnectors>'),
        "line 1, networkConnector: networkTTL is '.{ttl}', and nothing says what ttl is"),
    "a queue without a name": (around("<networkConnectors><networkConnector>\n<excludedDestinations><queue/>"
                                      "</excludedDestinations></networkConnector></networkConnectors>"),
                               "line 2, queue: the name is missing"),
    "a note that is none": (around("<?mqlab [?>"), "line 1: the content of <.mqlab"),
    "a note that says nonsense": (around('<?mqlab {"options": {"store": "tape"}}?>'), "unknown choice 'tape'"),
    "a note of another form": (around('<?mqlab {"connectors": {"NC": 7}, "at": 7}?>'), "line 1, broker 'A'"),
}  # fmt: skip


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_file_is_told(text):
    with pytest.raises(BadFile, match=r"^0/activemq\.xml: the file is empty$"):
        read(text)


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_within_a_second(name):
    text, told = BAD[name]
    where = rf"^0/activemq\.xml, {told}" if "unknown c" not in told else told
    with work_of_at_most(1), pytest.raises(BadFile, match=where):
        read(text)


def test_files_that_are_no_texts_are_refused(tmp_path):
    file = tmp_path / "activemq.xml"
    with file.open("wb") as big:
        big.truncate(100_000_000)
    with work_of_at_most(1), pytest.raises(BadFile, match="more than 4,000,000 bytes"):
        mq.load(file)
    file.write_bytes(b'<?xml version="1.0" encoding="utf-7"?><a/>')
    with pytest.raises(BadFile, match="line 1: unknown encoding 'utf-7'"):
        mq.load(file)
    file.write_bytes(around("", 'brokerName="ü"').encode("latin-1"))
    with pytest.raises(BadFile, match="line 1: not valid utf-8"):
        mq.load(file)
    with pytest.raises(BadFile, match="there is no such file"):
        mq.load(tmp_path / "other.xml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_a_file_keeps_its_encoding(tmp_path, encoding):
    named = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{named}"?>\n' + around("\n<!-- größer -->", 'brokerName="ü"')
    (tmp_path / "activemq.xml").write_bytes(text.encode(encoding))
    net = mq.load(tmp_path / "activemq.xml")
    assert net.names == ("ü",)
    mq.save(net, f"{tmp_path}/out/")
    assert mq.load(tmp_path / "out") == net
    assert "größer" in (tmp_path / "out" / "activemq.xml").read_bytes().decode(named)


@pytest.mark.parametrize("values", [
    {"ttl": "${ttl} "}, {"ttl": "${a}${a}", "a": "${b}${b}", "b": "${a}"},
    {"ttl": "${a0}", **{f"a{no}": f"${{a{no + 1}}}" * 9 for no in range(30)}},
], ids=["one", "three", "many"])  # fmt: skip
def test_placeholders_without_an_end_are_refused(values):
    text = around('<networkConnectors><networkConnector networkTTL="${ttl}"/></networkConnectors>')
    told = "line 1, networkConnector: circular placeholders"
    with work_of_at_most(1), pytest.raises(BadFile, match=told):
        read(text, values=values)


def test_values_can_stand_in_a_property_file(tmp_path):
    (tmp_path / "a.xml").write_text(around("", 'brokerName="${name:none}"'))
    (tmp_path / "v.properties").write_text("# names\nname = west\n")
    assert mq.load(tmp_path / "a.xml", values=tmp_path / "v.properties").names == ("west",)
    assert mq.load(tmp_path / "a.xml", values={"name": "east"}).names == ("east",)
    assert mq.load(tmp_path / "a.xml").names == ("none",)


CLOSED = ("</virtualDestinations>", "</virtualDestinationInterceptor>", "</destinationInterceptors>")
VIRTUAL = "<destinationInterceptors><virtualDestinationInterceptor><virtualDestinations>{}{}{}{}"
POLICIES = "<destinationPolicy><policyMap><policyEntries>{}</policyEntries></policyMap></destinationPolicy>"


@pytest.mark.parametrize("inside", [
    POLICIES.format("\n<policyEntry topic=' '/>"),
    VIRTUAL.format("\n<virtualTopic name=''/>", *CLOSED),
    VIRTUAL.format("\n<compositeQueue><forwardTo><queue name='a'/></forwardTo></compositeQueue>", *CLOSED),
    VIRTUAL.format("<compositeTopic name='a'><forwardTo>\n<filteredDestination topic=''/></forwardTo>"
                   "</compositeTopic>", *CLOSED),
    "<destinations>\n<queue name=''/></destinations>",
])  # fmt: skip
def test_a_destination_without_a_name_is_refused_with_its_line(inside):
    """So does 5.17.2: "Invalid destination name: a non-empty name is required"."""
    with pytest.raises(BadFile, match=r"x.xml, line 2, .*the name is missing"):
        activemq.read([SourceFile("x.xml", f"<broker xmlns='{CORE}' brokerName='a'>{inside}</broker>")])
