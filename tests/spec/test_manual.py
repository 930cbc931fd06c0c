"""What help and editors know of options: all of it, and from the rows."""

import ast
import inspect
import pydoc
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab.spec import rows
from mqlab.spec.manual import defaults
from mqlab.spec.options import __main__ as types_file
from mqlab.spec.options import tables
from tests.conftest import ROOT


def options_of(product, *elements):
    return [row for element in elements for row in tables(product)[element].values()]


NOUNS = {
    "NetworkConnector": (mq.NetworkConnector, options_of("activemq", "networkConnector")),
    "TransportConnector": (mq.TransportConnector, options_of("activemq", "transportConnector")),
    "Broker": (mq.Broker, options_of("activemq", "broker", "policyEntry")),
    "openmq.Broker": (mq.openmq.Broker, options_of("openmq", "broker")),
    "openmq.Network": (mq.openmq.Network, options_of("openmq", "broker")),
    "artemis.Broker": (mq.artemis.Broker, options_of("artemis", "ha-policy", "core")),
    "artemis.Network": (mq.artemis.Network, options_of("artemis", "cluster-connection", "url")),
}


def shown_help(thing):
    return pydoc.plain(pydoc.render_doc(thing))


@pytest.mark.parametrize("name", NOUNS)
def test_help_lists_every_option_with_type_default_and_sentence(name):
    noun, options = NOUNS[name]
    text = " ".join(shown_help(noun).replace("|", " ").split())
    for row in options:
        assert f" {row.name}: " in text
        assert " ".join(f"{row.guide}: {row.sentence} [{row.source}]".split()) in text
        assert f"default {defaults(row)} {row.guide}:" in text


def test_a_default_is_told_for_each_edition():
    row = rows.OPTIONS["networkConnector"]["always_sync_send"]
    assert defaults(row) == "true; in 5.5: false; not in 5.5"


@pytest.mark.parametrize("name", NOUNS)
def test_the_help_of_options_fits_80_columns(name):
    lines = shown_help(NOUNS[name][0]).partition("Options:")[2].partition("Method")[0].splitlines()
    assert len(lines) > 10
    assert max(map(len, lines[:-1])) <= 80


@pytest.mark.parametrize("name", NOUNS)
def test_a_notebook_completes_the_options(name):
    """Jupyter's completer asks for the signature."""
    noun, options = NOUNS[name]
    known = inspect.signature(noun).parameters
    others = (*options_of("activemq", "policyEntry"), *options_of("artemis", "url"))
    taken = [row for row in options if row not in others]
    assert {row.name for row in taken} <= set(known)


def test_help_of_mqlab_is_one_screen_and_leads_on():
    lines = shown_help(mq).splitlines()
    assert lines.index("PACKAGE CONTENTS") <= 32  # a screen; what pydoc adds is the list of rooms
    assert len(lines) < 70
    assert max(map(len, lines[: lines.index("PACKAGE CONTENTS")])) <= 80
    assert "help(mq.NetworkConnector)" in "\n".join(lines)


@pytest.mark.complete
def test_the_types_of_options_are_those_of_the_rows():
    """If this fails: python -m mqlab.spec.options; ruff format mqlab."""
    written = types_file.FILE.read_text()
    same = ast.dump(ast.parse(written)) == ast.dump(ast.parse(types_file.text()))
    assert same, "the rows have changed; run: python -m mqlab.spec.options; ruff format mqlab"


RIGHT = """
import mqlab as mq
ab = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", conduit_subscriptions=True, network_ttl=3)
net = mq.Network(mq.Broker("A", ab, store="kahadb"), mq.Broker("B"))
trace = mq.run(net, mq.Consumer("C", on="B", reads=mq.Queue("Q")))
got: dict[str, int] = trace.received()
other = net.change("A/ab", network_ttl=2, name="link").change("A", name="office", policies=({"queue": ">"},))
cluster = mq.openmq.Network("b1", model="peer", autocreate_queue=False)
pair = mq.artemis.Broker("M", "replication", "master", max_hops=2)
"""
WRONG = {
    'mq.NetworkConnector("ab", uri="static:(tcp://B)", conduit=True)': '"conduit"',
    'mq.NetworkConnector("ab", uri="static:(tcp://B)", network_ttl="many")': "network_ttl",
    'mq.Broker("A", store="floppy")': "store",
    'mq.TransportConnector(update_cluster=True)': "update_cluster",
    'mq.openmq.Broker("b1", autocreate_queu=True)': "autocreate_queu",
    'mq.artemis.Network(max_hop=1)': "max_hop",
    'mq.Network(mq.Broker("A")).change("A", stor="memory")': '"stor"',
}  # fmt: skip


def test_a_type_checker_finds_what_is_no_option(tmp_path, types):
    _, cache = types
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("import mqlab as mq\n" + "\n".join(WRONG))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"),
         "--no-error-summary", "--cache-dir", str(cache), "right.py", "wrong.py"],
        cwd=tmp_path, capture_output=True, text=True, env={"MYPYPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    found = dict(line.split(": error: ") for line in lines)
    assert list(found) == [f"wrong.py:{no}" for no in range(2, 2 + len(WRONG))], done.stdout
    for told, option in zip(found.values(), WRONG.values(), strict=True):
        assert option in told


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "mqlab" / "py.typed").exists()
    assert 'packages = ["mqlab"]' in (ROOT / "pyproject.toml").read_text()
