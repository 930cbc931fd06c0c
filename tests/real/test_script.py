"""What a script on real brokers is told by the machine it runs on."""

import json
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import mqlab as mq
from mqlab import conform
from mqlab.api import real_comparison
from mqlab.api.real_comparison import Beside
from mqlab.errors import BadValue, CannotRun
from mqlab.products import real_play as playing
from mqlab.products.activemq.product import ActiveMQ
from mqlab.products.activemq.real.brokers import Brokers
from mqlab.products.activemq.real.networks import NetworkScript
from mqlab.products.artemis.real.brokers import ArtemisBrokers
from mqlab.products.face import Player
from mqlab.products.real_play import Played
from mqlab.real import home, processes, steps
from mqlab.real.connections import NUMBER, PRODUCER, RESENT, SENT, Refused
from mqlab.real.consumers import Consumer
from mqlab.real.processes import Processes


@pytest.mark.parametrize(("load", "times"), [(0.1, 1), (6.0, 3), (100.0, 8)])
def test_on_a_busy_machine_rest_is_waited_for_longer(monkeypatch, load, times):
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0, 0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert steps.busy() == times


class Silent(NetworkScript):
    """A script whose brokers say nothing, and work for some looks at them."""

    def __init__(self, works):
        self.looks = iter(works)
        self.open, self.consumers, self.waited, self.by_calls = {}, {}, 0, False
        self.brokers = SimpleNamespace(logged=lambda: 0, worked=self.worked, at_work=self.at_work)
        self.waits_for_a_processor = 0  # looks

    def at_work(self):
        self.waits_for_a_processor -= 1
        return self.waits_for_a_processor >= 0

    def worked(self):
        self.waited += 1
        return next(self.looks, {"A": 9.0, "B": 1.0})


def test_brokers_that_say_nothing_but_work_are_not_at_rest(monkeypatch):
    monkeypatch.setattr(steps, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr("os.getloadavg", lambda: (0, 0, 0))
    script = Silent([{"A": 8.0}, {"A": 8.2}, {"A": 8.2}, {"A": 8.4, "B": 1.0}])
    script.rest()
    assert script.waited == 6, "two looks with work between them, twice; the third has none"
    script = Silent([{}] * 9)
    script.rest()
    assert script.waited == 2, "where no system tells of work, silence is enough"


def test_brokers_that_wait_for_a_processor_are_not_at_rest(monkeypatch):
    monkeypatch.setattr(steps, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr("os.getloadavg", lambda: (0, 0, 0))
    script = Silent([])
    script.waits_for_a_processor = 700
    script.rest()
    assert script.waits_for_a_processor == -500, "half a second in which nobody waits, in looks"


def test_brokers_that_log_without_end_are_waited_for_once(monkeypatch):
    """As one that tries an address for ever: there is no store for its keys, or nobody at the other end."""
    for name in ("QUIET_SECONDS", "LOOK_SECONDS"):
        monkeypatch.setattr(steps, name, 0.01)
    monkeypatch.setattr(steps, "REST_SECONDS", 1)
    monkeypatch.setattr("os.getloadavg", lambda: (0, 0, 0))
    script, lines = Silent([]), iter(range(1_000_000))
    script.brokers.logged, script.problems = lambda: next(lines), []
    script.rest()
    assert script.problems == [
        "a broker logs without end; from then on only what clients receive is waited for"
    ]
    begun = time.monotonic()
    script.rest()
    assert time.monotonic() - begun < 0.5
    assert len(script.problems) == 1


@pytest.mark.parametrize(("does", "state"), [("input()", "S"), ("while True: pass", "R")])
def test_a_process_that_works_is_told_from_one_that_sleeps(does, state):
    process = subprocess.Popen([sys.executable, "-c", does], stdin=subprocess.PIPE)
    limit = time.monotonic() + 60
    while (found := processes._threads(process.pid)) != {state} and time.monotonic() < limit:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert found == {state}
    assert processes._threads(process.pid) == set(), "it has ended"


def test_a_state_is_waited_for_as_much_longer_as_the_machine_is_busy(monkeypatch):
    script, begun = Silent([]), time.monotonic()
    monkeypatch.setattr(steps, "busy", lambda: 4)
    assert not script.wait_until(lambda: False, 0.1)
    assert time.monotonic() - begun >= 0.4


class Heard(Consumer):
    """A consumer that is nowhere: frames are handed to it."""

    def open(self):
        self.connection, self.broker = SimpleNamespace(ack=lambda id_: None), "A"

    def hear(self, **more):
        headers = {
            NUMBER: "1",
            PRODUCER: "P",
            SENT: "0",
            "destination": "/queue/Q",
            "ack": "a",
            **more,
        }
        self.on_message(SimpleNamespace(headers=headers))


def test_what_a_producer_sent_again_after_a_fail_over_counts_once():
    consumer = Heard([], {"consumer": "C", "queue": "Q"})
    consumer.hear()
    consumer.hear(**{RESENT: "true"})
    assert consumer.taken == [1], "a JMS client's broker drops it"
    consumer.hear()
    assert consumer.taken == [1, 1], "a real duplicate is seen"


LOG = """2026-11-23 03:32:04,079 DEBUG setting prefetch: 1000
2026-11-23 03:32:04,080 ERROR Error in thread 'ActiveMQ BrokerService[B] T'
java.lang.NullPointerException: "data" is null
	at org.apache.activemq.openwire.v12.BaseDataStreamMarshaller.tightMarshalByteSequence2(434)
2026-11-23 03:32:11,664 DEBUG B adding consumer
"""
FAILED = """B: Error in thread 'ActiveMQ BrokerService[B] T': java.lang.NullPointerException: "data" is null"""


class Failing(Processes):
    """Brokers of which some runs fail."""

    runs: list[str]

    def __init__(self, network, home):
        self.names = list(network.names)

    def __enter__(self):
        self.text = self.runs.pop(0)
        return self

    def __exit__(self, *_):
        pass

    def log(self, name):
        return self.text if name == "B" else ""

    failures = Brokers.failures
    command = waits = None


class Still(NetworkScript):
    """A script of which nothing comes."""

    def do(self, step):
        pass


@pytest.mark.parametrize(("bad", "left"), [(0, 3), (1, 2), (2, 1), (3, 1)])
def test_a_run_in_which_a_thread_of_a_broker_failed_is_played_again(monkeypatch, bad, left):
    monkeypatch.setattr(Failing, "runs", [LOG] * bad + [""] * (4 - bad), raising=False)
    monkeypatch.setattr(ActiveMQ, "player", lambda self: Player(Failing, Still))
    played = playing.play(mq.Scenario.of(mq.Network(mq.Broker("A"), mq.Broker("B"))), home=None)
    assert played.failures == (FAILED,) * bad
    assert len(Failing.runs) == left, "three runs at most"
    told = Beside("5.17.2", played.outcome, played.outcome, failures=played.failures)
    assert str(told).count("repeated, because a thread of the real broker failed: B: ") == bad


@pytest.mark.parametrize(("step", "seconds"), [({"time": "1s"}, 1), ({"ms": 250}, 0.25), ({"time": 5}, 0.005)])
def test_a_wait_lasts_as_long_as_it_says(monkeypatch, step, seconds):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    Silent([]).do_wait({"do": "wait", **step})
    assert slept == [seconds]


@pytest.mark.parametrize(("logs", "waits"), [
    ({"A": "AMQ221007", "B": "AMQ221109", "C": "AMQ221109\nAMQ221024\nAMQ221031"}, True),
    ({"A": "AMQ221007", "B": "AMQ221109", "C": "AMQ221109"}, False),  # one of them is to be in sync soon
    ({"A": "AMQ221007", "B": "", "C": "AMQ221024"}, False),
    ({"A": "", "B": "AMQ221000: backup\nAMQ221043", "C": ""}, True),  # nobody is live whom it could follow
    ({"A": "", "B": "AMQ221000: live\nAMQ221043", "C": ""}, False),
])  # fmt: skip
def test_a_second_slave_of_2_31_waits_once_another_is_in_sync(monkeypatch, logs, waits):
    """It says that it started as a backup, and nothing more (replicated-multiple-failover on 2.31.2)."""
    brokers = object.__new__(ArtemisBrokers)
    brokers.own = dict.fromkeys(logs)
    monkeypatch.setattr(ArtemisBrokers, "said", lambda self, name: logs[name].splitlines())
    monkeypatch.setattr(ArtemisBrokers, "is_running", lambda self, name: True)
    assert brokers.waits(logs["B"].splitlines()) == waits
    assert brokers.role("B") == ("backup_searching" if waits else "starting")
    assert (brokers.role("C") == "backup_in_sync") == ("AMQ221024" in logs["C"])


def outcome(**received):
    """Return what came of a play: what consumers received, and a queue that is empty in the end."""
    consumers = {name: {"count": count} for name, count in received.items()}
    end = {"brokers": {"A": {"queues": {"Q": {"depth": 0}}}}}
    return {"consumers": consumers, "snapshots": {"final": end}}


@pytest.mark.parametrize(("counts", "asked", "plays", "differs", "said"), [
    ([5], None, 1, [], "Real broker and mqlab agree."),
    ([4] * 5, None, 5, ["C received"], "1 total differs in 5 plays."),
    ([4, 5, 5, 6, 4], None, 5, [], "Varies in 5 plays of the real brokers: C received: 4, 5, 5, 6, 4. "
                                   "mqlab shows one possible course: 5."),
    ([3, 4, 3, 3, 3], None, 5, ["C received"], "mqlab shows 5, never seen."),
    ([5, 6], 2, 2, [], "Varies in 2 plays of the real brokers: C received: 5, 6."),
])  # fmt: skip
def test_real_brokers_that_race_play_it_again_and_what_varied_is_told(
    monkeypatch, tmp_path, counts, asked, plays, differs, said
):
    left = [Played(outcome(C=count), None) for count in counts]
    monkeypatch.setattr(
        real_comparison, "find", lambda _: home.Home(home.PRODUCTS["activemq"], None, "5.17.2", "")
    )
    monkeypatch.setattr(real_comparison, "play", lambda *_: left.pop(0))
    on_the_way = []
    monkeypatch.setattr(real_comparison, "tell", on_the_way.append)
    queue, record = mq.Queue("Q"), tmp_path / "record.json"
    script = mq.Consumer("C", on="A", reads=queue), mq.Producer("P", on="A", sends=5, to=queue)
    both = mq.real(mq.Network(mq.Broker("A")), *script, plays=asked, record=record)
    assert (both.plays, both.differs, left) == (plays, differs, [])
    assert said in str(both)
    assert "Playing on ActiveMQ 5.17.2: 1 broker to start" in on_the_way[0]
    assert [one[:11] for one in on_the_way[1:]] == [f"Play {n} of {plays}" for n in range(2, plays + 1)]
    assert json.loads(record.read_text())["observed"]["runs"] == plays
    assert (conform.judge(record).result == "agree") == (5 in counts)


def test_where_they_differ_it_is_told_what_the_lab_did_not_do():
    told = {"undone": ("Broker A: 2 elements not played: check names them",)}
    differs = Beside("2.31.2", outcome(C=3), outcome(C=6), more=(outcome(C=3),), **told)
    assert "mqlab did not do all: Broker A: 2 elements not played: check names them" in str(differs)
    assert "did not do all" not in str(Beside("2.31.2", outcome(C=6), outcome(C=6), **told))


def test_where_there_is_no_time_for_a_second_play_that_is_told(monkeypatch):
    monkeypatch.setattr(
        real_comparison, "find", lambda _: home.Home(home.PRODUCTS["activemq"], None, "5.17.2", "")
    )

    def slow(*_):
        time.sleep(0.06)
        return Played(outcome(C=1), None)

    monkeypatch.setattr(real_comparison, "play", slow)
    both = mq.real(mq.Network(mq.Broker("A")), limit=0.1)
    assert both.plays == 1
    assert "Played once: a longer time limit, or more plays" in str(both)
    with pytest.raises(BadValue, match="plays: 0 is not a number of plays"):
        mq.real(mq.Network(mq.Broker("A")), plays=0)


def test_a_consumer_that_a_broker_refuses_is_told_and_the_rest_goes_on(monkeypatch):
    """Open Message Queue refuses durable subscriptions while its master broker is down (openmq:4-2)."""

    def refused(*_):
        raise Refused("the broker returned an error: no permission")

    monkeypatch.setattr(steps, "Consumer", refused)
    script = Silent([])
    script.until, script.refused, script.problems, script.snapshots = time.monotonic() + 9, set(), [], {}
    monkeypatch.setattr(Silent, "places", lambda *_: [])
    script.do({"do": "open_consumer", "consumer": "S9", "broker": "b2", "topic": "T"})
    script.do({"do": "receive", "consumer": "S9", "count": 2})
    script.do({"do": "close_consumer", "consumer": "S9"})
    assert script.outcome()["consumers"] == {"S9": {"count": 0, "received": [], "paths": []}}
    assert script.problems == ["consumer S9: the broker returned an error: no permission"]


class Timed(NetworkScript):
    """A script that notes when it did what, from its begin in tenths of a second."""

    def __init__(self):
        super().__init__(None, time.monotonic() + 9)
        self.done, self.begun = [], time.monotonic()

    def do_start(self, step):
        time.sleep(0.3)  # the lab says nothing of it

    def do_wait(self, step):
        time.sleep(step["ms"] / 1000)

    def do_kill(self, step):
        if step["broker"] == "X":
            raise CannotRun("there is no X")
        self.done.append((step["broker"], round(10 * (time.monotonic() - self.begun))))


def test_a_step_with_a_time_is_done_when_the_lab_does_it_from_the_step_in_which_it_falls():
    script = Timed()
    steps = [{"do": "start"}, {"do": "wait", "ms": 400}, {"do": "kill", "broker": "A", "at": 250},
             {"do": "kill", "broker": "X", "at": 100}, {"do": "kill", "broker": "L", "at": 9999}]  # fmt: skip
    script.play(steps, {0: 0.0, 1: 0.05, 2: 0.25, 3: 0.1})
    assert script.done == [("A", 5)], (
        "0.3 s for the start, 0.2 s into the wait; what the lab never did is left out"
    )
    assert script.problems == ["kill: there is no X"]


def test_roles_and_bridges_are_read_from_logs_and_ports(monkeypatch):
    network = mq.Network(mq.Broker("A", shared_store="s"), mq.Broker("B", shared_store="s"), mq.Broker("C"))
    brokers = object.__new__(Brokers)
    brokers.network, brokers.at = network, {"B": SimpleNamespace(port=7002), "C": SimpleNamespace(port=7003)}
    up = "Network connection between vm://A#0 and tcp:///127.0.0.1:7002@40 (B) has been established"
    monkeypatch.setattr(Brokers, "said", lambda *_: ["INFO " + up])
    monkeypatch.setattr(Brokers, "is_running", lambda _, name: name != "C")
    monkeypatch.setattr(Brokers, "serves", lambda _, name: name == "A")
    assert [brokers.role(name) for name in "ABC"] == ["master", "slave", "down"]
    assert (brokers.is_bridged("A", "B"), brokers.is_bridged("A", "C")) == (True, False)
