"""OpenMQ's property files: to a cluster and back; what mqlab does not know stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab.api import openmq
from mqlab.errors import BadFile
from mqlab.files import properties
from mqlab.products.inputs import scenario_of
from mqlab.products.openmq.files import properties as openmq_files
from mqlab.spec.options import tables
from mqlab.spec.origin import SourceFile
from tests.conftest import recorded

CLUSTER = """# the brokers of the shop
imq.cluster.brokerlist = east:7676, west:7777
imq.cluster.masterbroker=east:7676
imq.cluster.transport:tcp
"""
EAST = "imq.instancename=east\nimq.autocreate.queue=false\nimq.log.level=INFO\n"
WEST = "imq.portmapper.port = 7777\nimq.instancename : broker2\n"


def read(*texts, **more):
    files = [SourceFile(f"{no}/config.properties", text) for no, text in enumerate(texts)]
    return openmq_files.read(files, **more)


def again(texts):
    return openmq_files.read([SourceFile(name, text) for name, text in texts.items()])


def test_files_make_a_cluster():
    assert read(CLUSTER, EAST, WEST) == openmq.Network(
        openmq.Broker("east", autocreate_queue=False), "broker2", model="master", master="east"
    )
    assert read(CLUSTER, EAST).brokers[1].name == "west"
    assert read(CLUSTER, EAST, WEST, hosts={"east": "broker2"}).master == "broker2"


def test_an_instance_is_called_like_its_folder():
    files = [SourceFile(f"var/instances/{name}/props/config.properties", "a=1\n") for name in ("b1", "b2")]
    assert openmq_files.read(files).names == ("b1", "b2")


@pytest.mark.parametrize("given", [True, False])
def test_a_cluster_file_that_brokers_name_by_url_is_taken_if_it_is_given(given):
    url = "imq.cluster.url=file:/etc/imq/shop.properties\nimq.passfile.enabled=true\nimq.passfile.name=p\n"
    files = [SourceFile("east/props/config.properties", url), SourceFile("west/props/config.properties", url)]
    shop = SourceFile("conf/shop.properties", CLUSTER.replace(":7777", ""))
    network = openmq_files.read([*files, shop] if given else files)
    told = [problem.what for problem in mq.check(network) if "imq.cluster.url" in problem.what]
    assert network.names == ("east", "west")
    assert (network.master, len(told)) == (("east", 0) if given else (None, 2))


def test_a_file_of_something_else_is_not_taken_for_a_broker():
    own = SourceFile("var/instances/b1/props/config.properties", "")
    other = SourceFile("kafka.properties", "bootstrap.servers=x\nbroker.id=0\n")
    assert openmq_files.read([own]).names == ("b1",)
    for files in ([other], [own, other]):
        with pytest.raises(
            BadFile, match=r"^kafka\.properties: no imq\.\* property in it; this is not a config"
        ):
            openmq_files.read(files)


def test_a_change_touches_only_what_it_changes():
    net = read(CLUSTER, EAST, WEST)
    assert list(openmq_files.write(net).values()) == [CLUSTER, EAST, WEST]
    other = net.change("east", autocreate_queue=None, autocreate_topic=False).change("*", cluster_reaptime=9)
    texts = list(openmq_files.write(other).values())
    assert texts == [
        CLUSTER + "imq.cluster.reaptime=9\n",
        "imq.instancename=east\nimq.log.level=INFO\nimq.autocreate.topic=false\n",
        WEST,
    ]
    assert read(*texts) == other


@pytest.mark.parametrize("model", ["none", "peer", "enhanced"])
def test_the_model_follows_from_the_properties(model):
    net = openmq.Network("b1", openmq.Broker("b2", brokerid="two"), model=model)
    texts = openmq_files.write(net)
    assert again(texts) == net
    assert "#mqlab" not in "".join(texts.values())
    assert again(openmq_files.write(again(texts).change("*", model="none"))).model == "none"


@pytest.mark.parametrize("value", recorded("openmq", lambda path: True))
def test_a_recorded_cluster_reads_back_as_itself(value):
    net = scenario_of(value).network
    texts = openmq_files.write(net)
    assert again(texts) == net
    assert openmq_files.write(again(texts)) == texts


def values_of(row):
    if row.type is bool:
        return st.booleans()
    if row.type is int:
        return st.integers(max(row.low or 1, 1), 5000)
    return st.sampled_from(row.choices) if row.choices else st.text(min_size=1, max_size=6)


OPTIONS = st.fixed_dictionaries(
    {}, optional={name: values_of(row) for name, row in tables("openmq")["broker"].items()}
)
NAMES = st.sampled_from(["b1", "b2", "a b", "ü", "x=y:z", "#c", "d\\e"])


@st.composite
def clusters(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    model = draw(st.sampled_from(["none", "peer", "enhanced", "master"]))
    brokers = [openmq.Broker(name, listed=draw(st.booleans()), **draw(OPTIONS)) for name in names]
    master = draw(st.sampled_from(names)) if model == "master" else None
    return openmq.Network(*brokers, model=model, master=master, **draw(OPTIONS))


@given(clusters())
@settings(max_examples=60, deadline=None)
def test_a_cluster_reads_back_as_itself(net):
    texts = openmq_files.write(net)
    assert again(texts) == net
    assert openmq_files.write(again(texts)) == texts


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=9), max_size=5))
def test_a_property_file_says_what_was_written(wanted):
    assert properties.mapping(properties.changed("", wanted, "x"), "x") == wanted


BAD = {
    "a value without a key": ("\n=5", r"0/config\.properties, line 2: a value without a key"),
    "a number that is none": ("imq.instancename=a\nimq.autocreate.reaptime=soon",
                              r"0/config\.properties, line 2: imq\.autocreate\.reaptime: 'soon' is not a"),
    "a note that is none": ("imq.instancename=a\n#mqlab [", "line 2: not a line written by mqlab"),
    "no broker": ("a=b", "no broker named"),
    "a master nobody lists": (
        "imq.instancename=b1\nimq.cluster.brokerlist=b1,b2:7676\nimq.cluster.masterbroker=b3:7676",
        r"0/config\.properties, line 3: master broker b3 is in none of these files"),
}  # fmt: skip


def test_a_master_broker_is_found_by_its_host():
    text = "imq.instancename=b1\nimq.hostname=h1\nimq.cluster.brokerlist={}\nimq.cluster.masterbroker=h1:7676"
    for listed in ("h1:7676,h2", "", "b1"):
        assert openmq_files.read([SourceFile("0/config.properties", text.format(listed))]).master == "b1"


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_with_file_and_line(name):
    text, told = BAD[name]
    file = SourceFile("cluster.properties" if name == "no broker" else "0/config.properties", text)
    with pytest.raises(BadFile, match=told):
        openmq_files.read([file])


def test_problems_have_file_and_line(mqlab, tmp_path):
    for name, text in {
        "cluster": CLUSTER,
        "east": EAST,
        "broker2": WEST + "imq.autocreate.queue=true",
    }.items():
        (tmp_path / f"{name}.properties").write_text(text)
    found = mq.check(mq.load(tmp_path))
    assert [(p.rule, p.file.rsplit("/")[-1], p.line) for p in found] == [
        ("must-match", "broker2.properties", 3)
    ]
    assert mqlab("check", "cluster.properties", "east.properties", "broker2.properties").returncode == 1
