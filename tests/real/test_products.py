"""What drives Artemis and Open Message Queue: files, commands, ports, clients, ends; by stand-ins for both.

So this says that they would be called as their manuals say, not that the products do what the lab says: that is
seen on the products themselves, in `test_figures.py` and `test_running_cluster.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api import artemis, openmq
from mqlab.errors import CannotRun
from mqlab.products.artemis.real.brokers import ArtemisBrokers
from mqlab.products.openmq.real import brokers as real_openmq
from mqlab.products.openmq.real.brokers import OpenMQBrokers
from mqlab.products.unsupported_steps import unplayable
from mqlab.real.home import find
from mqlab.real.processes import LOG
from mqlab.spec.artemis import WORDS
from tests.conftest import packed
from tests.real import standin
from tests.real.test_real import processes

Q = mq.Queue("Q")
# What a backup logs, one after the other, and what it is then.
LOGGED = (
    ("AMQ221034: Waiting indefinitely to obtain live lock", "starting"),
    ("AMQ221024: Backup server is synchronized with live server", "backup_in_sync"),
    ("AMQ221031: backup announced", "backup_in_sync"), ("AMQ221007: Server is now live", "live"),
    ("AMQ221002: stopped", "stopped"),
)  # fmt: skip


@pytest.fixture
def homes(tmp_path, monkeypatch):
    """Give both products a home, where stand-ins are installed."""
    for variable, programs in (
        ("ARTEMIS_HOME", ("artemis",)),
        ("IMQ_HOME", ("imqbrokerd", "imqcmd")),
    ):
        (tmp_path / variable / "bin").mkdir(parents=True)
        (tmp_path / variable / "lib").mkdir()
        for name in programs:
            program = tmp_path / variable / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {standin.__file__} {name} "$@"\n')
            program.chmod(0o755)
        monkeypatch.setenv(variable, str(tmp_path / variable))
    (tmp_path / "ARTEMIS_HOME" / "lib" / "artemis-server-2.31.2.jar").touch()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def pair(*actions):
    """Return a live broker and its backup on a shared store, with a script."""
    return artemis.Network(
        artemis.Broker("M 1", "shared_store", "master", shared_store="s"),
        artemis.Broker("S1", "shared_store", "slave", shared_store="s"),
        queues=[artemis.AddressQueue("Q")],
    ).with_actions(artemis.Start(), *actions)


def test_where_they_are_and_which_rules_the_lab_takes_for_them(homes):
    home = find("artemis")
    assert (str(home), home.edition(pair()).network.edition) == ("ActiveMQ Artemis 2.31.2", "2.28")
    assert set(WORDS) == {"2.4", "2.5", "2.28"}
    assert str(find("openmq")) == "Open Message Queue 6.5.0"


@pytest.mark.parametrize(("variable", "what", "told"), [
    ("ARTEMIS_HOME", "artemis:21.1", "where no bin/artemis is; set it to the folder of a binary distribution"),
    ("IMQ_HOME", "openmq:4-1", "where no bin/imqbrokerd is"),
])  # fmt: skip
def test_where_they_are_not_it_is_told_how_to_get_them(tmp_path, monkeypatch, variable, what, told):
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(CannotRun, match=told):
        mq.real(what)


def test_a_backup_takes_over_and_clients_follow(homes):
    script = pair(
        artemis.Producer("P", "M 1", 5, Q), artemis.Consumer("C", "M 1", Q, receiving=False),
        artemis.Receive("C", 2), artemis.Crash("M 1"), artemis.WaitForRole("S1", "live"),
        artemis.WaitForFailover("C"), artemis.Receive("C", 2), artemis.Settle(), artemis.Snapshot("end"),
    )  # fmt: skip
    assert unplayable(script) == []
    both = mq.real(script, limit=300)
    assert both.real["problems"] == []
    assert both.real["consumers"]["C"]["received"] == [1, 2, 3, 4]
    assert {k: v for k, v in both.rows.items() if k != "Q at S1"} == {
        "C received": (4, 4), "M 1 is": ("down", "down"), "S1 is": ("live", "live")}  # fmt: skip
    assert both.rows["Q at S1"][0] == 1  # as `queue stat` says
    assert "ActiveMQ Artemis 2.31.2" in str(both)
    assert both.trace.received() == {"C": 4}
    assert not any(str(homes).encode() in line for line in processes())
    assert not list(homes.glob("mqlab-real-*"))


def test_a_client_of_a_backup_connects_once_that_is_live(homes):
    """It has heard of no other broker yet: the lab's waits, and real ones began at the live broker."""
    at_backup = pair(
        artemis.Consumer("C", "S1", Q), artemis.Producer("P", "M 1", 3, Q), artemis.Settle(),
        artemis.Snapshot("live"), artemis.Crash("M 1"), artemis.WaitForRole("S1", "live"), artemis.Wait("3s"),
    )  # fmt: skip
    both = mq.real(at_backup, limit=300)
    assert both.real["snapshots"]["live"]["received_so_far"] == {"C": 0}
    assert both.real["consumers"]["C"]["received"] == [1, 2, 3]
    assert not both.differs, str(both)


def test_the_file_is_the_labs_at_ports_and_in_folders_of_this_machine(homes):
    brokers = ArtemisBrokers(pair().network, find("artemis"))
    found = {name: ElementTree.fromstring(brokers.files[name][1])[0] for name in ("M 1", "S1")}
    text = {name: {e.tag.partition("}")[2]: e.text for e in core} for name, core in found.items()}
    assert text["M 1"]["journal-directory"] == text["S1"]["journal-directory"]
    assert text["M 1"]["journal-directory"].startswith(str(brokers.folder))
    assert text["M 1"]["security-enabled"] == "false"
    space = standin.SPACE
    ways = {c.get("name"): c.text for c in found["S1"].iter(f"{space}connector")}
    assert ways["to_M 1"] == f"tcp://127.0.0.1:{brokers.ports['M 1'][0]}"
    stomp = found["S1"].find(f"{space}acceptors")[1].text
    assert stomp.startswith(f"tcp://127.0.0.1:{brokers.ports['S1'][1]}?protocols=STOMP;")
    with brokers:
        pass


def test_a_broker_that_does_not_start_is_told_with_its_own_words(homes):
    net = artemis.Network(artemis.Broker("refused")).with_actions(artemis.Start())
    with pytest.raises(CannotRun, match=r"(?s)broker refused did not start; .*AMQ224097"):
        mq.real(net)
    assert not list(homes.glob("mqlab-real-*"))


def test_roles_are_read_from_the_log(homes):
    brokers = ArtemisBrokers(pair().network, find("artemis"))
    with brokers:
        brokers.own["S1"].mkdir()
        brokers.is_running = lambda name: True
        for line, role in LOGGED:
            with (brokers.own["S1"] / LOG).open("a") as log:
                print(line, file=log)
            assert brokers.role("S1") == role


def test_a_broker_of_openmq_is_driven(homes):
    script = openmq.Network("b1").with_actions(
        openmq.Start(), openmq.Producer("P", "b1", 5, Q),
        openmq.Consumer("C", "b1", Q, receiving=False), openmq.Receive("C", 2), openmq.Settle(),
        openmq.Snapshot("end"),
    )  # fmt: skip
    both = mq.real(script, limit=300)
    assert both.rows == {"C received": (2, 2), "Q at b1": (3, 3)}
    assert "Open Message Queue 6.5.0" in str(both)
    assert not both.differs
    assert not any(str(homes).encode() in line for line in processes())


def test_a_cluster_gets_the_properties_of_its_files(homes, monkeypatch):
    monkeypatch.setattr(real_openmq, "own_address", lambda: "127.0.0.1")
    cluster = products.figure("openmq:4-1").scenario
    brokers = OpenMQBrokers(cluster.network, find("openmq"))
    with brokers:
        own = brokers.properties("b2")
        at = [f"127.0.0.1:{brokers.ports[name][0]}" for name in ("b1", "b2", "b3")]
        assert (own["imq.cluster.brokerlist"], own["imq.cluster.masterbroker"]) == (
            ",".join(at),
            at[0],
        )
        assert own["imq.bridge.activelist"] == "stomp"
        words = brokers.command("b2")
        assert words[words.index("-port") + 1] == str(brokers.ports["b2"][0])
        assert Path(words[words.index("-passfile") + 1]).read_text().startswith("imq.imqcmd.password=")
        told = "".join(f"mq://host:{brokers.ports[n][0]}   OPERATING\n" for n in ("b1", "b3"))
        brokers.ask = lambda command: told
        assert brokers.linked("b2") == {"b1", "b3"}


def test_where_there_is_only_loopback_a_cluster_is_refused(homes, monkeypatch):
    class Alone:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def connect(self, place):
            raise OSError("no network")

    monkeypatch.setattr(real_openmq.socket, "socket", lambda *kind: Alone())
    with pytest.raises(CannotRun, match="refuses to form a cluster on loopback addresses"):
        mq.real("openmq:4-1")


@pytest.mark.parametrize(("theme", "least"), [("artemis", 90), ("openmq", 55)])
def test_many_recorded_scripts_can_be_played(theme, least):
    scenarios = [products.product_of(body).read(body) for name, body in packed(theme).items()]
    assert sum(not unplayable(scenario) for scenario in scenarios) >= least


def test_what_cannot_be_played_is_told():
    assert unplayable(products.figure("artemis:21.3").scenario) == [
        "colocated brokers: the ports of hosted backups are chosen by the product"]  # fmt: skip
    assert unplayable(products.figure("openmq:4-4").scenario) == [
        "a cluster of the model 'enhanced': its database is not available", "the step 'wait_for'"]  # fmt: skip
