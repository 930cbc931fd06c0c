"""`broker.xml` of Artemis: files to a network and back; the fragments of the guide's chapter 21."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab.api import artemis
from mqlab.errors import BadFile
from mqlab.products.artemis.files import broker_xml
from mqlab.products.inputs import scenario_of
from mqlab.spec.artemis.broker import ROLES
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.origin import SourceFile
from tests.conftest import recorded

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs")


def read(*texts, **more):
    return broker_xml.read([SourceFile(f"{no}/broker.xml", text) for no, text in enumerate(texts)], **more)


def again(texts):
    return broker_xml.read([SourceFile(name, text) for name, text in texts.items()])


def still(scenario):
    """Return a scenario in which nothing happens, which is what files hold."""
    return scenario.network


def core(inside="", name="A", host="0.0.0.0", connectors=""):
    return (f'<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n<name>{name}</name>\n'
            f"<connectors>{connectors}</connectors>\n<acceptors><acceptor name='in'>tcp://{host}:61616"
            f"?tcpSendBufferSize=1048576</acceptor></acceptors>\n{inside}\n</core>\n"
            "</configuration>\n")  # fmt: skip


def policy(inside):
    return core(f"<ha-policy>\n{inside}\n</ha-policy>")


TO_B = '<connector name="server1-connector">tcp://b.example.org:61616</connector>'
B = core("<ha-policy><live-only/></ha-policy>", "B", "b.example.org")
COLOCATED = ("<replication>\n<colocated>\n<request-backup>true</request-backup>\n<max-backups>1</max-backups>\n"
             "<backup-request-retries>-1</backup-request-retries>\n<backup-request-retry-interval>5000"
             "</backup-request-retry-interval>\n<backup-port-offset>150</backup-port-offset>\n<master>\n"
             "</master>\n<slave>\n</slave>\n</colocated>\n</replication>")  # fmt: skip
SAMPLE = """<replication> <colocated> <backup-request-retries>44</backup-request-retries>
<backup-request-retry-interval>33</backup-request-retry-interval> <max-backups>3</max-backups>
<request-backup>false</request-backup> <backup-port-offset>33</backup-port-offset> <master>
<group-name>purple</group-name> <check-for-live-server>true</check-for-live-server>
<cluster-name>abcdefg</cluster-name> </master> <slave> <group-name>tiddles</group-name>
<max-saved-replicated-journals-size>22</max-saved-replicated-journals-size>
<cluster-name>33rrrrr</cluster-name> <restart-backup>false</restart-backup> <scale-down>
<!--a group--> <group-name>boo!</group-name> <!--or a discovery group-->
<discovery-group-ref discovery-group-name="wahey"/> </scale-down> </slave> </colocated> </replication>"""
# section -> (files, what A is, the rules that find something)
FRAGMENTS = {
    "21.1.1 master": ([policy("<replication>\n<master/>\n</replication>")],
                      artemis.Broker("A", "replication", "master"), {"no-cluster"}),
    "21.1.1 slave": ([policy("<replication>\n<slave/>\n</replication>")],
                     artemis.Broker("A", "replication", "slave"), {"no-cluster"}),
    "21.1.2 master": ([policy("<replication><master>\n<check-for-live-server>true</check-for-live-server>\n"
                              "</master></replication>")],
                      artemis.Broker("A", "replication", "master", check_for_live_server=True), {"no-cluster"}),
    "21.1.2 slave": ([policy("<replication><slave>\n<allow-failback>true</allow-failback>\n"
                             "</slave></replication>")],
                     artemis.Broker("A", "replication", "slave", allow_failback=True), {"no-cluster"}),
    "21.1.3 master": ([policy("<replication><master><group-name>fish</group-name></master></replication>")],
                      artemis.Broker("A", "replication", "master", group_name="fish"), {"no-cluster"}),
    "21.1.3 slave": ([policy("<replication><slave><group-name>fish</group-name></slave></replication>")],
                     artemis.Broker("A", "replication", "slave", group_name="fish"), {"no-cluster"}),
    "21.3.1": ([policy(COLOCATED)], artemis.Broker(
        "A", "replication", "colocated", request_backup=True, max_backups=1, backup_request_retries=-1,
        backup_request_retry_interval=5000, backup_port_offset=150, master={}, slave={}),
        {"no-cluster"}),
    "21.3.2 empty": ([policy("<replication><colocated><excludes> </excludes></colocated></replication>")],
                     artemis.Broker("A", "replication", "colocated", excludes=[]),
                     {"colocated-half", "no-cluster"}),
    "21.3.2": ([policy("<replication><colocated><excludes> <connector-ref>remote-connector</connector-ref>"
                       " </excludes></colocated></replication>")],
               artemis.Broker("A", "replication", "colocated", excludes=["remote-connector"]),
               {"colocated-half", "no-cluster"}),
    "21.4.1": ([core("<ha-policy> <live-only> <scale-down> <connectors> <connector-ref>server1-connector"
                     "</connector-ref> </connectors> </scale-down> </live-only> </ha-policy>",
                     connectors=TO_B), B],
               artemis.Broker("A", scale_down={"connectors": ["to_B"]}), set()),
    "21.4.2": ([policy("<live-only> <scale-down> <discovery-group-ref discovery-group-name="
                       '"my-discovery-group"/> </scale-down> </live-only>')],
               artemis.Broker("A", scale_down={"discovery_group_ref": "my-discovery-group"}), set()),
    "21.4.3": ([policy("<live-only> <scale-down> <group-name>my-group-name</group-name> </scale-down> "
                       "</live-only>")],
               artemis.Broker("A", scale_down={"group_name": "my-group-name"}),
               {"scale-down-target"}),
    "21.4.4": ([policy(SAMPLE)], artemis.Broker(
        "A", "replication", "colocated", backup_request_retries=44, backup_request_retry_interval=33,
        max_backups=3, request_backup=False, backup_port_offset=33,
        master={"group_name": "purple", "check_for_live_server": True, "cluster_name": "abcdefg"},
        slave={"group_name": "tiddles", "max_saved_replicated_journals_size": 22, "cluster_name": "33rrrrr",
               "restart_backup": False,
               "scale_down": {"group_name": "boo!", "discovery_group_ref": "wahey"}}),
               {"no-cluster", "no-effect-artemis"}),
}  # fmt: skip


@pytest.mark.parametrize("section", FRAGMENTS)
def test_a_fragment_is_read_checked_written_and_read_again(section):
    texts, expected, rules = FRAGMENTS[section]
    net = read(*texts)
    assert net.brokers[0] == expected.change(clustered=False)  # a fragment has no cluster connection
    found = mq.check(net)
    assert {problem.rule for problem in found} == rules
    lines = texts[0].splitlines()
    assert {p.file for p in found} <= {"0/broker.xml"}
    assert all(p.line == 6 or f"<{p.what.split()[0]}>" in lines[p.line - 1] for p in found)
    assert list(broker_xml.write(net).values()) == texts
    other = net.change("A", network_check_list="10.0.0.1")
    written = broker_xml.write(other)
    assert "tcpSendBufferSize" in written["0/broker.xml"]
    assert again(written) == other


def test_a_file_in_the_words_of_a_later_edition_is_read_as_one_of_it():
    """The schema of 2.28 has the number of old journals in a replication master, those before have not."""
    inside = "<max-saved-replicated-journals-size>7</max-saved-replicated-journals-size>"
    for role, edition, refused in (("master", "2.5", True), ("primary", "2.28", False)):
        net = read(policy(f"<replication><{role}>{inside}</{role}></replication>"))
        assert net.edition == edition
        assert ("refused" in {problem.rule for problem in mq.check(net)}) == refused
        other = net.change("A", network_check_list="10.0.0.1")
        assert again(broker_xml.write(other)) == other


@pytest.mark.parametrize("bad", [
    "<colocated> <excludes> </excludes> ... <colocated>",  # as it is printed in 21.3.2
    "<backup-request-retry-interval>5000</backup-request-retry-interval/>",  # and in 21.3.1
])  # fmt: skip
def test_the_misprints_of_the_guide_are_refused_with_their_line(bad):
    with pytest.raises(BadFile, match=r"^0/broker\.xml, line \d+, column \d+: not XML"):
        read(policy(f"<replication>{bad}</replication>"))


@pytest.mark.parametrize("figure", mq.figures("artemis"), ids=lambda figure: figure.id)
def test_a_figure_reads_back_as_itself(figure):
    net = still(figure.scenario)
    texts = broker_xml.write(net)
    assert again(texts) == net
    assert broker_xml.write(again(texts)) == texts


@pytest.mark.parametrize("value", recorded("artemis", lambda path: True))
def test_a_recorded_network_reads_back_as_itself(value):
    net = still(scenario_of(value))
    assert again(broker_xml.write(net)) == net


TEXTS = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f"),
                min_size=1, max_size=6).filter(lambda text: text == text.strip())  # fmt: skip


def values_of(row):
    if row.type is bool:
        return st.booleans()
    if row.type is int:
        return st.integers(max(row.low or 1, 1), 5000)
    return st.sampled_from(row.choices) if row.choices else TEXTS


def drawn(rows):
    plain = [row for row in rows if row.type in (bool, int, str)]
    return st.fixed_dictionaries({}, optional={row.name: values_of(row) for row in plain})


@st.composite
def networks(draw):
    names = draw(st.lists(st.sampled_from(["A", "b 2", "c/d", "ü", "x&<y>'"]), min_size=1, max_size=4,
                          unique=True))  # fmt: skip

    def broker(name):
        kind = draw(st.sampled_from(list(ROLES)))
        role = draw(st.sampled_from(ROLES[kind]))
        rows = [row for row in ELEMENTS.values() if kind in row.policies and role in row.roles]
        elements = draw(drawn(rows))
        if role == "colocated":
            halves = [r for r in ELEMENTS.values() if kind in r.policies]
            elements["master"] = draw(drawn([r for r in halves if "master" in r.roles]))
            elements["slave"] = draw(drawn([r for r in halves if "slave" in r.roles]))
        if role == "live" and draw(st.booleans()):
            elements["scale_down"] = draw(drawn(OPTIONS["scale-down"].values()))
            if draw(st.booleans()):
                elements["scale_down"]["connectors"] = [f"to_{draw(st.sampled_from(names))}"]
        more = draw(drawn(OPTIONS["core"].values())) | draw(drawn(OPTIONS["cluster-connection"].values()))
        more |= draw(st.sampled_from([{}, {"shared_store": "s"}, {"cluster_password": "<&"}]))
        return artemis.Broker(name, kind, role, elements, **more)

    queues = draw(st.lists(st.builds(
        artemis.AddressQueue, TEXTS, routing=st.sampled_from(["anycast", "multicast"]),
        address=st.none() | TEXTS, on=st.none() | st.just((names[0],))), max_size=2))  # fmt: skip
    more = draw(drawn([*OPTIONS["cluster-connection"].values(), *OPTIONS["address-setting"].values()]))
    return artemis.Network(*map(broker, names), queues=tuple(queues), **more)


@given(networks())
@settings(max_examples=40, deadline=None)
def test_a_network_reads_back_as_itself(net):
    texts = broker_xml.write(net)
    assert again(texts) == net
    assert broker_xml.write(again(texts)) == texts


BAD = {
    "no core": ("<configuration/>", r"line 1: holds no core; write <core xmlns="),
    "a core of nobody": ('<configuration><core xmlns="urn:x"/></configuration>', "its core is of 'urn:x'"),
    "a policy that is none": (policy("<replicated/>"), "line 7, replicated: there is no such policy"),
    "a number that is none": (policy("<replication><slave><quorum-size>two</quorum-size></slave>"
                                     "</replication>"), "line 7, quorum-size: quorum-size: 'two' is not a"),
    "a note that is none": (core("<?mqlab 7?>"), r"line 6: the content of <\?mqlab"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_with_file_and_line(name):
    text, told = BAD[name]
    with pytest.raises(BadFile, match=rf"^0/broker\.xml, .*{told}"):
        read(text)


def test_a_broker_may_have_no_name_and_a_policy_no_role():
    """The product calls such a broker localhost, and one without a role is live only."""
    bare = read("<configuration><core/></configuration>")
    assert bare.names == ("localhost",)
    assert read(policy("<replication/>")).brokers[0].policy == "live_only"
    assert broker_xml.write(bare) == {"0/broker.xml": "<configuration><core/></configuration>"}


def test_brokers_of_one_name_are_told_apart_by_their_folders():
    files = [SourceFile(f"x/server{no}/broker.xml", core(name="0.0.0.0")) for no in range(2)]
    assert broker_xml.read(files).names == ("server0", "server1")


def test_files_without_a_cluster_connection_are_no_cluster():
    net = read(core(), core(name="B"))
    send = artemis.Producer("P", on="A", sends=2, to=mq.Queue("q"))
    run = mq.run(net, artemis.Start(), artemis.Consumer("C", on="B", reads=mq.Queue("q")), send)
    assert run.received() == {"C": 0}
    joined = mq.run(
        net.change("*", clustered=True),
        artemis.Start(),
        artemis.Consumer("C", on="B", reads=mq.Queue("q")),
        send,
    )
    assert joined.received() == {"C": 2}


def test_a_connector_to_nobody_is_told_and_the_rest_is_read():
    """Such a file is one of several; the product starts even if no connector has the name."""
    down = "<ha-policy><live-only><scale-down><connectors>{}</connectors></scale-down></live-only></ha-policy>"
    refs = "<connector-ref>server1-connector</connector-ref>\n<connector-ref>x</connector-ref>"
    net = read(core(down.format(refs), connectors=TO_B))
    assert net.brokers[0].scale_down == {"connectors": []}
    told = [problem for problem in mq.check(net) if problem.rule == "leads-nowhere"]
    assert [(problem.line, problem.what.partition(":")[0]) for problem in told] == [
        (6, "connector server1-connector"), (7, "connector x")]  # fmt: skip
    assert "b.example.org:61616 is not a broker of these files" in told[0].what
    assert "no <connector> of this file has this name" in told[1].what


def test_files_of_two_products_are_told(tmp_path):
    (tmp_path / "a.xml").write_text(core())
    (tmp_path / "b.xml").write_text('<broker xmlns="http://activemq.apache.org/schema/core"/>')
    with pytest.raises(BadFile, match="files of different products cannot be combined into one network"):
        mq.load(tmp_path / "a.xml", tmp_path / "b.xml")


def test_files_are_checked_and_run_from_the_verbs(tmp_path):
    net = still(mq.figure("artemis:21.1.2").scenario)
    mq.save(net, f"{tmp_path}/net/")
    back = mq.load(tmp_path / "net")
    assert back == net
    actions = [artemis.Producer("P", on="M1", sends=3, to=mq.Queue("q")), artemis.Crash("M1")]
    assert mq.run(back, *actions).digest() == mq.run(net, *actions).digest()
    lone = mq.load(tmp_path / "net" / "S1" / "broker.xml") if False else back.change("M1", quorum_size=0)
    assert "refused" in [problem.rule for problem in mq.check(lone)]


def test_a_connection_that_is_one_address_has_the_products_names_for_its_parameters():
    """`ClusterConnectionConfiguration` of 2.31.2 has them; what is not played is told."""
    given = "messageLoadBalancingType=STRICT;maxHops=2;connectionTTL=7;clientFailureCheckPeriod=8"
    given += ";clientId=3;duplicateDetection=true"
    text = (
        "<core><cluster-connections>\n<cluster-connection-uri name='c' "
        f"address='static://(tcp://b:1)?connectorName=x;{given};xNew=1'/></cluster-connections></core>"
    )
    net = broker_xml.read([SourceFile("a.xml", text)])
    names = ("message_load_balancing", "max_hops", "connection_ttl", "check_period")
    assert [net.option(net.brokers[0], name) for name in names] == ["STRICT", 2, 7, 8]
    told = [(p.line, p.what.partition(" is")[0]) for p in mq.check(net) if p.rule == "not-played"]
    path = "cluster-connections/cluster-connection-uri@address?"
    assert told == [(2, f"{path}clientId"), (2, f"{path}xNew")]


def test_what_only_the_files_of_others_can_tell_is_not_said_of_a_file_alone():
    slave = "<core><name>S</name><ha-policy><shared-store><slave/></shared-store></ha-policy></core>"
    down = "<scale-down><group-name>g</group-name><discovery-group-ref discovery-group-name='d'/></scale-down>"
    live = f"<core><name>L</name><ha-policy><live-only>{down}</live-only></ha-policy></core>"
    files = [SourceFile("s.xml", slave), SourceFile("l.xml", live)]
    told = {"group-alone", "scale-down-group"}
    assert told <= {p.rule for p in mq.check(broker_xml.read(files))}
    for file in files:
        assert not told & {p.rule for p in mq.check(broker_xml.read([file]))}


ONLY = {"allow_direct_connections_only": True}


@pytest.mark.parametrize(("to", "only", "bridges"), [
    ((["b"], ["a"], ["a"], ["a"]), "", {"a": "bcd", "b": "acd", "c": "abd", "d": "abc"}),
    ((["b"], ["a"], ["a"], ["a"]), "a", {"a": "b", "b": "acd", "c": "abd", "d": "abc"}),
    ((["b"], ["c"], [], []), "ab", {"a": "b", "b": "c", "c": "", "d": ""}),
    ((["b"], [], ["d"], []), "", {"a": "b", "b": "", "c": "d", "d": ""}),
    ((None, None, None, None), "", {"a": "bcd", "b": "acd", "c": "abd", "d": "abc"}),
])  # fmt: skip
def test_a_cluster_connection_leads_to_all_that_its_brokers_know(to, only, bridges):
    """A 2.31.2 played the first case: what is sent to `a` reaches consumers on `d`, which only lists `a`."""
    brokers = (
        artemis.Broker(name, to=listed, **(ONLY if name in only else {}))
        for name, listed in zip("abcd", to, strict=True)
    )
    net = artemis.Network(*brokers)
    assert net.bridged() == {name: set(onto) for name, onto in bridges.items()}
    topic = mq.Topic("T")
    script = (artemis.Consumer("C", on="d", reads=topic), artemis.Producer("P", on="a", sends=2, to=topic))
    assert mq.run(net, *script).received() == {"C": 2 if "d" in bridges["a"] else 0}
