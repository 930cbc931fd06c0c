"""Random deaths, cuts, pauses and restarts: what is acknowledged is not lost where locks hold.

Each safe set-up is driven by a state machine; for each unsafe one the shortest schedule of faults
that loses, or shares out, acknowledged messages is found and is the stored one.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from mqlab.products.activemq.files import timed_recordings
from mqlab.products.activemq.outcome_in_time import outcome
from mqlab.products.activemq.runtime import Lab
from mqlab.spec.steps import noun_of
from tests.conftest import ALL
from tests.products.activemq.safety import SAFE, address, missing, not_received, setting
from tests.products.activemq.timed import body
from tests.trace import state

EXAMPLES = 2000 if ALL else 80
CONNECTORS = ("", "masterslave:({A},{B})", "static:({A},{B})",
              "static:failover:({A},{B})?maxReconnectAttempts=0")  # fmt: skip


class Faults(RuleBasedStateMachine):
    """A set of brokers, perhaps with another broker in front that has a connector to it."""

    def act(self, do, **keys):
        if "uri" in keys:  # only the reader of recordings knows places
            keys["uri"] = re.sub(r"\{(\w+)\}", r"tcp://\1:61616", keys["uri"])
        self.lab.do(noun_of({"do": do, **keys}))

    @initialize(name=st.sampled_from(sorted(SAFE)), connector=st.sampled_from(CONNECTORS),
                seed=st.integers(0, 9))  # fmt: skip
    def begin(self, name, connector, seed):
        members, version, _ = SAFE[name]
        self.names = list(members)
        more = dict(members)
        through = connector if len(self.names) == 2 else ""
        if through:
            more["R"] = {"process": True, "store": "kahadb"}
        value = body(" ".join(more), more=more, version=version,
                     connectors=[("R", through)] if through else [])  # fmt: skip
        self.lab = Lab(timed_recordings.read(value), seed=seed, limit=400_000)
        self.lines = [n for n in self.names if members[n].get("link")]
        self.brokers = list(more)
        self.uri = address(self.names)
        self.sends = 0
        for broker in self.brokers:
            self.act("start_broker", broker=broker)
        uri = "failover:({R})?maxReconnectDelay=200" if through else self.uri
        self.act("connect", client="P", uri=uri)
        self.act("connect", client="C", uri=self.uri)
        self.time = 8000
        self.lab.until(self.time)
        self.open_lines()  # a broker that waits for a lock is not up at the end of its step
        self.act("open_consumer", client="C", consumer="K", queue="Q")

    def open_lines(self):
        for line in self.lines:
            if self.lab.processes[line].open:
                self.act("heal", link=line)

    @rule(ms=st.sampled_from([1, 10, 200, 1000, 3000]))
    def let_time_pass(self, ms):
        self.time += ms
        self.lab.until(f"{max(self.time * 1000, int(self.lab.now))}us")  # an action may have taken longer

    @rule(count=st.integers(1, 4))
    def send(self, count):
        self.sends += 1
        self.act("send", client="P", queue="Q", count=count, session=f"s{self.sends}")

    @rule(data=st.data(), do=st.sampled_from(["kill", "stop_broker", "pause", "resume"]))
    def trouble(self, data, do):
        self.act(do, broker=data.draw(st.sampled_from(self.brokers)))

    @rule(data=st.data())
    def restart(self, data):
        self.act("start_broker", broker=data.draw(st.sampled_from(self.brokers)))

    @precondition(lambda self: self.lines)
    @rule(data=st.data(), how=st.sampled_from(["refuse", "reset_once", "hang", "drop_replies"]))
    def cut(self, data, how):
        self.act("cut", link=data.draw(st.sampled_from(self.lines)), how=how)

    @precondition(lambda self: self.lines)
    @rule(data=st.data())
    def heal(self, data):
        self.act("heal", link=data.draw(st.sampled_from(self.lines)))

    def teardown(self):
        if not hasattr(self, "lab"):
            return
        for broker in self.brokers:
            self.act("resume", broker=broker)
        self.let_time_pass(200)
        for broker in self.brokers:
            self.act("start_broker", broker=broker)
        self.let_time_pass(10_000)  # one of them serves
        for line in self.lines:  # that of a slave would take a connector in, which then never tries the other
            self.act("cut", link=line, how="refuse")
        self.open_lines()
        self.let_time_pass(60_000)
        self.act("connect", client="Drain", uri=self.uri)
        self.let_time_pass(2000)
        self.act("open_consumer", client="Drain", consumer="L", queue="Q")
        self.act("open_consumer", client="Drain", consumer="M", queue="ActiveMQ.DLQ")
        self.let_time_pass(60_000)
        found = outcome(self.lab.trace)
        assert all(row.get("ok") for row in found["results"] if row["do"] == "send")
        assert not_received(found) == []
        state.check(self.lab)


TestSafeSets = Faults.TestCase
TestSafeSets.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=15, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
TestSafeSets = pytest.mark.timeout(900)(TestSafeSets)


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize("rate", [0.2, 1, 3])
def test_random_faults_lose_nothing_where_locks_hold(name, rate):
    members, version, persistent = SAFE[name]
    scenario = setting(members, version, persistent)
    assert [seed for seed in range(5) if missing(scenario, seed, rate)] == []
