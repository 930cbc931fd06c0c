"""`mqlab check` on large clusters of Artemis and Open Message Queue, with planted mistakes and without."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.files import parsing
from tests.conftest import work_of_at_most

PASSWORD = "<cluster-password>s3cret</cluster-password>"
MASTER = ("<master>\n<group-name>g{no}</group-name>\n<check-for-live-server>true</check-for-live-server>\n"
          "</master>")  # fmt: skip
SLAVE = "<slave>\n<group-name>g{no}</group-name>\n<allow-failback>true</allow-failback>\n</slave>"


def core(name, policy, others):
    """Return the file of a broker that knows all others."""
    ends = "".join(f'<connector name="to-{one}">tcp://{one}:61616</connector>\n' for one in others)
    refs = "".join(f"<connector-ref>to-{one}</connector-ref>\n" for one in others)
    return ('<configuration xmlns="urn:activemq">\n<core xmlns="urn:activemq:core">\n'
            f"<name>{name}</name>\n{PASSWORD}\n"
            f"<ha-policy>\n{policy}\n</ha-policy>\n"
            f'<connectors><connector name="own">tcp://{name}:61616</connector>\n{ends}</connectors>\n'
            '<acceptors><acceptor name="in">tcp://0.0.0.0:61616</acceptor></acceptors>\n'
            "<cluster-connections><cluster-connection name='shops'>\n<connector-ref>own</connector-ref>\n"
            f"<static-connectors>{refs}</static-connectors>\n"
            "</cluster-connection></cluster-connections>\n</core></configuration>\n")  # fmt: skip


def shops(pairs):
    """Return pairs of master and slave, each in a group of its own, and three that scale down."""
    told = {f"live{no:02}": f"<replication>{MASTER.format(no=no)}</replication>" for no in range(pairs)}
    told |= {f"backup{no:02}": f"<replication>{SLAVE.format(no=no)}</replication>" for no in range(pairs)}
    down = ("<live-only><scale-down>\n<group-name>rest</group-name>\n<connectors><connector-ref>to-{}"
            "</connector-ref></connectors></scale-down></live-only>")  # fmt: skip
    told |= {f"alone{no}": down.format(f"alone{(no + 1) % 3}") for no in range(3)}
    return {f"{name}/broker.xml": core(name, policy, [one for one in told if one != name])
            for name, policy in told.items()}  # fmt: skip


def conventional(count):
    """Return a cluster with a master broker."""
    names = [f"b{no:02}" for no in range(count)]
    listed = ",".join(f"{name}:7676" for name in names)
    files = {
        "cluster.properties": f"# shops\nimq.cluster.brokerlist={listed}\nimq.cluster.masterbroker=b00:7676\n"
    }
    return files | {f"{name}/config.properties": f"imq.instancename={name}\nimq.portmapper.port=7676\n"
                    "imq.autocreate.queue=true\nimq.cluster.clusterid=shops\n" for name in names}  # fmt: skip


def enhanced(count):
    """Return a cluster over a database."""
    files = {"cluster.properties": "imq.cluster.ha=true\nimq.persist.store=jdbc\nimq.cluster.clusterid=shops\n"}
    names = [f"h{no:02}" for no in range(count)]
    return files | {f"{name}/config.properties": f"imq.instancename={name}\nimq.brokerid={name}\n"
                    "imq.service.activelist=jms,admin\n" for name in names}  # fmt: skip


# its files, and what is planted: broker, what stood there, what stands there now, rule and line that tell it
PLANTED = {
    "artemis": (shops(10), [
        ("live02", "<check-for-live-server>true</check-for-live-server>\n", "", ("duplicates", 5)),
        ("backup04", "<allow-failback>true</allow-failback>\n", "", ("no-failback", 5)),
        ("backup06", "<group-name>g6<", "<group-name>g66<", ("group-alone", 5)),
        ("backup08", "<slave>", "<slave><quorum-size>30</quorum-size>", ("never-live", 5)),
        ("live09", "s3cret", "secret", ("cluster-password", 4)),
        ("backup01", "<slave>", "<slave><quorum-size>0</quorum-size>", ("refused", 5)),
        ("alone0", "<group-name>rest<", "<group-name>west<", ("scale-down-group", 5)),
    ]),
    "openmq": (conventional(22), [
        ("b04", "imq.autocreate.queue=true", "imq.autocreate.queue=false", ("must-match", 3)),
        ("b09", "clusterid=shops", "clusterid=shop", ("must-match", 4)),
        ("b11", "imq.instancename", "imq.brokerid=same\nimq.instancename", None),
        ("b13", "imq.instancename", "imq.brokerid=same\nimq.instancename", ("broker-id", 1)),
        ("b17", "imq.autocreate", "imq.service.activelist=jms\nimq.autocreate", ("must-match", 3)),
    ]),
    "enhanced openmq": (enhanced(22), [
        ("h03", "imq.brokerid=h03", "imq.brokerid=h02", ("broker-id", 2)),
        ("h08", "imq.brokerid", "imq.cluster.masterbroker=h00:7676\nimq.brokerid", ("ignored", 2)),
        ("h12", "imq.service", "imq.cluster.clusterid=other\nimq.service", ("must-match", 3)),
        ("h15", "jms,admin", "jms,admin,httpjms", ("must-match", 3)),
    ]),
}  # fmt: skip


def loaded(files, folder):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", PLANTED)
def test_a_large_cluster_without_mistakes_has_no_problem(name, tmp_path):
    assert mq.check(loaded(PLANTED[name][0], tmp_path)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_all_planted_mistakes_are_found_and_nothing_else(name, tmp_path):
    files, mistakes = dict(PLANTED[name][0]), PLANTED[name][1]
    assert sum("cluster.properties" not in file for file in files) >= 20
    expected = set()
    for broker, before, after, told in mistakes:
        file = next(file for file in files if file.startswith(f"{broker}/"))
        assert before in files[file]
        files[file] = files[file].replace(before, after, 1)
        expected |= {(broker, *told)} if told else set()
    folder = loaded(files, tmp_path)
    with work_of_at_most(2):
        found = mq.check(folder)
    told = {(p.file.removeprefix(f"{tmp_path}/").partition("/")[0], p.rule, p.line) for p in found}
    assert told == expected


def test_a_file_is_parsed_once(tmp_path, monkeypatch):
    parsed, document = [], parsing.Document
    monkeypatch.setattr(
        parsing, "Document", lambda where, *more: parsed.append(where) or document(where, *more)
    )
    mq.check(loaded(shops(10), tmp_path))
    assert len(parsed) == len(set(parsed)) == 23
