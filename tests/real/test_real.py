"""Real ActiveMQ brokers from exported files: they start, and they do what the lab says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api.real_comparison import Beside
from mqlab.errors import CannotRun
from mqlab.products.activemq.files import lab_file as lab
from mqlab.products.activemq.real import brokers
from mqlab.products.real_play import play
from mqlab.products.unsupported_steps import unplayable
from mqlab.real.home import find
from tests.conftest import ROOT, missing, packed
from tests.products.activemq import test_virtual_destinations as virtual

try:
    HOME = find()
except CannotRun as error:
    HOME, WHY = None, str(error)

# Of every theme of the recordings those with few brokers; each was recorded to be the same every time.
SCENARIOS = """
composite_and_virtual: composite_send virtual_topic_local
conduit_topics: conduit_off_wildcard_then_exact_topic conduit_off_topic_nonpersistent
 conduit_on_exact_then_wildcard_queue
connectors: parallel3_local_and_remote parallel3_one_consumer parallel2_conduit_off_queue
 duplex_same_queue
dispatch: exclusive_with_priority exclusive_late exclusive_one backlog_first_consumer_takes_all expiry
durable_subscriptions: durable_conduit_off durable_and_plain durable_local durable_chain
dynamic_propagation: backlog_local_then_remote connector_target_starts_late advisory_off_dynamic
filters: wildcard_local_topic wildcard_queue_consumer example_2_4_depth_of_star included_queue_only
hops_and_ttl: chain3_message_ttl_minus_one chain3_ttl_zero chain4_default_ttl
load_balancing: balance_12_conduit_on_remote_first balance_12_conduit_on balance_12_conduit_off
master_slave: memory_restart_loses_messages failover_persistent_prefetched
 failover_persistent_while_sending failover_nonpersistent_prefetched network_to_master_slave_static_waiting
replay: replay_local_consumer_elsewhere_audit_off
 replay_local_consumer_elsewhere_audit_on replay_off_two_way replay_on_audit_left_on_two_way
routes_and_priority: consumer_priority_three_levels consumer_priority_local decrease_local_consumer_wins
selectors: selector_local selector_conduit_same_broker selector_local_and_conduit
static_propagation: restart_new_broker_id fig_2_16_self_avoiding fig_2_15a_static_duplex
topologies: hub_and_spoke
"""
NAMES = [
    f"{theme}/{name}"
    for line in SCENARIOS.replace("\n ", " ").split("\n") if line
    for theme, _, names in [line.partition(":")] for name in names.split()
]  # fmt: skip


PATIENCE = 500  # s for a network, beside three others, on a machine that has other work


@pytest.fixture(scope="module")
def home():
    if HOME is None:
        missing(WHY)
    return HOME


def test_every_theme_is_there():
    themes = {path.split("/")[2] for path in packed("activemq") if "/scenarios/" in path}
    assert {name.split("/")[0] for name in NAMES} == themes
    assert len(NAMES) >= 40


def processes():
    """Return the command lines of running brokers."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended since the list was made
            lines.append(path.read_bytes())
    return [line for line in lines if b"mqlab-real-" in line]


FOO = mq.Queue("TEST.FOO")
PAIR = mq.Network(mq.Broker("A1", shared_store="a"), mq.Broker("A2", shared_store="a"))


def test_a_bridge_with_a_user_crosses_to_a_broker_that_has_users(home):
    rights = [f"{name}?read=bridges&write=bridges&admin=bridges" for name in ("queue://>", "topic://>")]
    behind = mq.Broker("B", users=["bridge?password=secret&groups=bridges"], authorization=rights)
    link = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", user_name="bridge", password="secret")
    script = mq.Consumer("C", on="B", reads=FOO), mq.Producer("P", on="A", sends=5, to=FOO)
    both = mq.real(mq.Network(mq.Broker("A", link), behind), *script, limit=PATIENCE)
    assert both.rows == {"C received": (5, 5)}


OWN = """<beans xmlns="http://www.springframework.org/schema/beans"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="
    http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
    http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
  <bean class="org.springframework.beans.factory.config.PropertyPlaceholderConfigurer">
    <property name="locations"><value>file:${activemq.conf}/credentials.properties</value></property>
  </bean>
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="${name}" dataDirectory="${activemq.data}">
    <destinationInterceptors><virtualDestinationInterceptor><virtualDestinations>
      <virtualTopic name=">" prefix="C.*."/>
      <compositeTopic name="ALL" forwardOnly="false"><forwardTo>
        <filteredDestination selector="n = 'x'" queue="SOME"/><queue physicalName="EVERY"/>
      </forwardTo></compositeTopic>
    </virtualDestinations></virtualDestinationInterceptor></destinationInterceptors>
    <systemUsage><systemUsage>
      <memoryUsage><memoryUsage limit="64 mb"/></memoryUsage>
    </systemUsage></systemUsage>
    <transportConnectors>
      <transportConnector name="openwire" uri="tcp://0.0.0.0:61616?maximumConnections=1000"/>
      <transportConnector name="amqp" uri="amqp://0.0.0.0:5672"/>
    </transportConnectors>
  </broker>
  <import resource="jetty.xml"/>
</beans>
"""


def recorded(name):
    """Return how the brokers of a recorded scenario did beside the lab."""
    scenario = lab.read(packed("activemq")[f"activemq/scenarios/{name}.json"])
    return Beside("", play(scenario, HOME, PATIENCE).outcome, products.outcome_of(mq.run(scenario)))


def stays(mode, ends):
    """Receive two messages and end the transaction, or acknowledge; and receive two more."""
    return mq.real(
        mq.Network(mq.Broker("A")), mq.Producer("P", on="A", sends=5, to=FOO),
        mq.Consumer("C", on="A", reads=FOO, ack_mode=mode, acknowledge=False, receiving=False),
        mq.Receive("C", 2), ends, mq.Receive("C", 2), mq.Close("C"),
        mq.Consumer("D", on="A", reads=FOO), limit=PATIENCE,
    )  # fmt: skip


def on_own_files():
    topic, queue = mq.Topic, mq.Queue
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "activemq.xml")
        file.write_text(OWN)
        return mq.real(
            mq.load(file, values={"name": "A"}),
            mq.Consumer("S", on="A", reads=queue("SOME")),
            mq.Consumer("E", on="A", reads=queue("EVERY")),
            mq.Consumer("V", on="A", reads=queue("C.x.NEWS")),
            mq.Producer("P", on="A", sends=4, to=topic("ALL"), properties={"n": ["x", "y", "x", "y"]}),
            mq.Producer("N", on="A", sends=4, to=topic("NEWS")), limit=PATIENCE,
        )  # fmt: skip


PLAYS = {  # begun together, as brokers mostly wait
    **{name: partial(recorded, name) for name in NAMES},
    "killed": lambda: mq.real(PAIR, mq.Producer("P", on="A1", sends=5, to=FOO), mq.Crash("A1"),
                              mq.Consumer("C", on="A2", reads=FOO), limit=PATIENCE),
    "traced": lambda: mq.real("fuse:2.20", limit=PATIENCE),
    "transacted": lambda: stays("transacted", mq.Commit("C")),
    "client": lambda: stays("client", mq.Acknowledge("C")),
    "selected": lambda: mq.real(
        mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B")),
        mq.Consumer("C", on="B", reads=FOO, selector="n > 2.5 AND kind = 'x'"),
        mq.Producer("P", on="A", sends=8, to=FOO, properties={"n": [1, 2, 3, 10], "kind": ["x", "y"]}),
        limit=PATIENCE),
    "copied": lambda: mq.real(virtual.NETWORK, *virtual.STORY, limit=PATIENCE),
    "own files": on_own_files,
}  # fmt: skip


@pytest.fixture(scope="module")
def plays(home, request):
    """Return name -> what is to come of the plays that were asked for: a few networks side by side."""
    asked = {item.callspec.params.get("name") for item in request.session.items
             if hasattr(item, "callspec")}  # fmt: skip
    with ThreadPoolExecutor(4) as pool:
        yield {name: pool.submit(work) for name, work in PLAYS.items() if name in asked}
        pool.shutdown(cancel_futures=True)


@pytest.fixture
def both(plays, name):
    return plays[name].result()


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_real_network_does_what_the_lab_says(name, both):
    assert both.rows or name.endswith("loses_messages")
    assert not both.differs, str(both)
    assert not both.problems


@pytest.mark.parametrize("name", ["killed"])
def test_a_killed_master_is_replaced_by_its_slave(name, both):
    assert both.rows == {"C received": (5, 5)}
    assert "Real broker and mqlab agree." in str(both)


@pytest.mark.parametrize("name", ["traced"])
def test_what_real_clients_saw_is_a_trace(name, both):
    trace = both.trace
    assert trace.received() == {"C1": 6, "C2": 3, "C3": 3}
    assert trace.path("P-2") == [["A", "B"]]
    lab = {name: got["paths"] for name, got in both.lab["consumers"].items()}
    assert {name: got["paths"] for name, got in both.real["consumers"].items()} == lab
    assert [event.t for event in trace.events()] == sorted(event.t for event in trace.events())
    assert mq.view(trace) is not None


@pytest.mark.parametrize("name", ["transacted", "client"])
def test_what_was_not_committed_or_acknowledged_stays(name, both):
    assert both.rows == {"C received": (4, 4), "D received": (3, 3)}


@pytest.mark.parametrize("name", ["selected"])
def test_a_selector_reads_the_texts_of_stomp_as_numbers(name, both):
    assert both.rows == {"C received": (2, 2), "TEST.FOO at B": (6, 6)}  # the conduit takes all


@pytest.mark.parametrize("name", ["copied"])
def test_copies_of_virtual_topics_and_composite_destinations_go_where_the_lab_says(name, both):
    assert not both.differs, both


@pytest.mark.parametrize("name", ["own files"])
def test_real_brokers_run_on_the_users_own_files(name, both):
    """What the reader overlooks would be in no file that the lab writes."""
    assert both.rows["S received"] == (2, 2)
    assert both.rows["E received"] == both.rows["V received"] == (4, 4)
    assert "-  <import resource=" in both.changes
    assert "Real brokers ran on your files" in str(both)


def test_what_was_recorded_conforms(home, mqlab, tmp_path):
    done = mqlab("real", "fuse:2.20", "--record", "seen.json", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["differs"], told["version"]) == (0, [], home.version)
    judged = mqlab("conform", "seen.json", "--json")
    assert json.loads(judged.stdout)["result"] == "agree"


def test_a_broker_that_does_not_start_is_told_with_its_own_words(home):
    policies = ({"queue": ">", "advisory_for_dispatched": True},)
    net = mq.Network(mq.Broker("B"), mq.Broker("A", policies=policies))
    seen = brokers.Brokers(net, home)
    file = seen.own["A"] / "activemq.xml"
    file.write_text(file.read_text().replace("brokerId", "brokerIdea"))
    with seen, pytest.raises(CannotRun, match=r"(?s)broker A did not start; .*brokerIdea"):
        seen.start(["A", "B"])
    assert not seen.folder.exists()
    assert not any(str(seen.folder).encode() in line for line in processes())


def heeds_interrupts():
    """What a shell starts in the background ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.sample(2)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_when_it_is_interrupted(home, number, tmp_path):
    code = "import mqlab as mq; mq.real('fuse:2.15a')"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env=env,
        stderr=subprocess.DEVNULL,
        preexec_fn=heeds_interrupts,
    )
    own = str(tmp_path).encode()
    for _ in range(600):
        if any(own in line for line in processes()):
            break
        time.sleep(0.05)
    child.send_signal(number)
    assert child.wait(timeout=60) != 0
    for _ in range(100 if number == signal.SIGKILL else 1):  # its watcher sees the end, and tidies
        left = [line for line in processes() if own in line], list(tmp_path.glob("mqlab-real-*"))
        if left == ([], []):
            break
        time.sleep(0.05)
    assert left == ([], [])


def test_time_is_limited(home):
    with pytest.raises(CannotRun, match="time limit for the real brokers was exceeded"):
        mq.real("fuse:2.20", limit=0.01)


def test_what_cannot_be_played_is_told_before_anything_starts():
    before = set(threading.enumerate())  # clients of earlier tests may end meanwhile
    lists = mq.Scenario.of(mq.Network(mq.Broker("A")), mq.Producer("P", "A", 1, FOO, properties={"n": True}))
    assert unplayable(lists) == [
        "typed properties (STOMP has only strings, which ActiveMQ's selectors convert to numbers)"
    ]
    assert unplayable(mq.figure("fuse:2.20").scenario) == []
    back = mq.Scenario.of(mq.Network(mq.Broker("A")), mq.Consumer(
        "C", "A", FOO, ack_mode="transacted", acknowledge=False, prefetch=5), mq.Rollback("C"))  # fmt: skip
    assert [reason.partition(":")[0] for reason in unplayable(back)] == [
        "a prefetch without acknowledgements",
        "messages aborted by a STOMP client are not redelivered until its connection ends",
    ]
    assert "endpoints that are not brokers, or links to cut" in unplayable(
        mq.Scenario.of(mq.Network(mq.Broker("A"), around=mq.Around((mq.Endpoint("x"),))))
    )
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(("uri", "told"), [
    ("failover:(tcp://A:61616,tcp://B:61616)?randomize=false&maxReconnectDelay=200", []),
    ("failover:(tcp://A:61616)?timeout=500", ["timeout of a client's address, which STOMP does not have"]),
    ("multicast://lan", [
        "a client with the address 'multicast://lan': brokers of the network are to be listed by name"
    ]),
])  # fmt: skip
def test_a_client_is_played_that_lists_brokers(uri, told):
    network = mq.Network(mq.Broker("A"), mq.Broker("B"))
    script = mq.Client("C", uri=uri), mq.Producer("P", on="C", sends=1, to=FOO, at="2s")
    assert unplayable(mq.Scenario.of(network, *script)) == told


def test_clients_go_on_at_the_slave_when_the_master_crashes_at_a_time(home):
    uri = "failover:(tcp://A1:61616,tcp://A2:61616)?randomize=false"
    pair = mq.Network(*(
        mq.Broker(name, shared_store="a", lock_acquire_sleep_interval_ms=500) for name in ("A1", "A2")
    ))  # fmt: skip
    both = mq.real(
        pair, mq.Restart("A1"), mq.Restart("A2", wait=False), mq.Client("C", uri=uri),
        mq.Producer("P", on="C", sends=8, to=FOO, every="200ms", in_background=True, persistent=False),
        mq.Wait("4s"), mq.Consumer("K", on="C", reads=FOO), mq.Crash("A1", at="1100ms"),
        mq.WaitUntil("received", {"consumer": "K", "count": 2}), limit=PATIENCE,
    )  # fmt: skip
    assert both.real["problems"] == []
    assert 0 < len(both.real["consumers"]["K"]["received"]) < 8, "what was not stored is lost"
    assert not both.differs, str(both)


def test_where_no_activemq_is_installed_it_is_told_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTIVEMQ_HOME", str(tmp_path))
    with pytest.raises(CannotRun, match=r"where no bin/activemq\.jar is; set it to the folder"):
        mq.real("fuse:2.20")
