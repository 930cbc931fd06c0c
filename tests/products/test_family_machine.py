"""Random crashes over clusters of OpenMQ and Artemis: what is persistent and confirmed is not lost.

Only what the references call safe is done: a replicated broker dies while its partner has a complete
copy (Artemis rules 12 and 14); brokers of a shared store, or with a store that comes back,
die at any time; an enhanced cluster keeps its database (OpenMQ rules 9).
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from mqlab.products.artemis.files import lab_file as artemis
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.products.openmq.files import lab_file as openmq
from mqlab.products.openmq.lab import ClusterLab
from mqlab.spec.artemis.words import actions_of
from mqlab.spec.openmq.words import noun_of
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind
from tests.conftest import ALL
from tests.trace import state

EXAMPLES = 2000 if ALL else 80
FAIL_BACK = {"check_for_live_server": True}, {"allow_failback": True}


def replicated(no, group=None):
    more = {"group_name": group} if group else {}
    master, slave = FAIL_BACK
    return [
        {"name": f"M{no}", "ha": {"policy": "replication", "role": "master", **master, **more}},
        {"name": f"S{no}", "ha": {"policy": "replication", "role": "slave", **slave, **more}},
    ]


def shared(no, slaves=1):
    return [
        {"name": f"{role[0].upper()}{no}{n or ''}", "shared_store": f"store{no}",
         "ha": {"policy": "shared_store", "role": role}}
        for n, role in enumerate(["master", *["slave"] * slaves])
    ]  # fmt: skip


ARTEMIS = {
    "a replicated pair": ("2.4", replicated(1)),
    "three replicated pairs": ("2.5", [b for n in (1, 2, 3) for b in replicated(n, f"g{n}")]),
    "a shared store": ("2.4", shared(1)),
    "a shared store with two slaves": ("2.4", shared(1, slaves=2)),
    "two shared stores": ("2.4", shared(1) + shared(2)),
    "a broker alone": ("2.4", [{"name": "A"}]),
}


class ArtemisCrashes(RuleBasedStateMachine):
    """Masters and slaves with one queue."""

    @initialize(name=st.sampled_from(sorted(ARTEMIS)), off=st.booleans())
    def begin(self, name, off):
        version, brokers = ARTEMIS[name]
        kind = "OFF" if off else "ON_DEMAND"
        body = {"version": version, "brokers": brokers, "queues": [{"name": "Q"}], "steps": [],
                "cluster": {"message_load_balancing": kind}}  # fmt: skip
        self.lab = ArtemisLab(artemis.read(body))
        self.count = 0
        self.act("start")
        self.act("wait", ms=4000)

    def act(self, do, **keys):
        for action in actions_of([Step(do, keys)]):
            self.lab.do(action)
        self.lab.rest()

    def live(self):
        return [name for name, broker in self.lab.brokers.items() if broker.serves]

    def can_die(self):
        """Those whose end loses nothing that others do not have."""
        found = []
        for name, broker in self.lab.brokers.items():
            if broker.role in ("down", "stopped", "not_started"):
                continue
            partner = broker.master or (broker.served_journal.replica if broker.served_journal else None)
            alone = broker.spec.policy != "replication"
            whole = partner is not None and "in_sync" in (broker.role, partner.role[-7:])
            if alone or (broker.serves and whole) or broker.role == "backup_searching":
                found.append(name)
        return found

    @rule(data=st.data(), count=st.integers(1, 5))
    def send(self, data, count):
        if self.live():
            broker = data.draw(st.sampled_from(self.live()))
            self.act("send", broker=broker, queue="Q", count=count)

    @rule(data=st.data(), count=st.integers(1, 3), mode=st.sampled_from(["auto", "client"]))
    def take(self, data, count, mode):
        if self.live():
            self.count += 1
            name = f"C{self.count}"
            self.act("open_consumer", consumer=name, queue="Q", ack_mode=mode, receiving=False,
                     broker=data.draw(st.sampled_from(self.live())))  # fmt: skip
            self.act("receive", consumer=name, count=count, wait_ms=100)
            if data.draw(st.booleans()):
                self.act("close_consumer", consumer=name)

    @rule(data=st.data(), orderly=st.booleans())
    def die(self, data, orderly):
        if self.can_die():
            broker = data.draw(st.sampled_from(self.can_die()))
            self.act("stop" if orderly else "kill", broker=broker)

    @rule(data=st.data())
    def start(self, data):
        name = data.draw(st.sampled_from(sorted(self.lab.brokers)))
        if self.lab.brokers[name].role in ("down", "stopped"):
            self.act("start_broker", broker=name)

    @rule(ms=st.sampled_from([10, 300, 1000, 5000, 20000]))
    def let_time_pass(self, ms):
        self.act("wait", ms=ms)

    def teardown(self):
        if not hasattr(self, "lab"):
            return
        for name, broker in self.lab.brokers.items():
            if broker.role in ("down", "stopped"):
                self.act("start_broker", broker=name)
        self.act("wait", ms=60_000)
        for client in self.lab.clients.consumers.values():
            if client.state == "connected":
                self.act("close_consumer", consumer=client.name)
        for no, name in enumerate(self.live()):
            self.act("open_consumer", consumer=f"last{no}", broker=name, queue="Q")
        self.act("settle")
        state.check(self.lab)
        sent = {n for c in self.lab.clients.senders.values() for n in c.sent}
        got = {n for c in self.lab.clients.consumers.values() for n in c.received}
        assert sent == got
        for broker in self.lab.brokers.values():
            if broker.served_journal is not None:
                assert not any(queue.items() for queue in broker.served_journal.queues.values())


class OpenMQCrashes(RuleBasedStateMachine):
    """Three brokers, one queue; in the enhanced model the database stays."""

    @initialize(model=st.sampled_from(["enhanced", "master"]), seed=st.integers(0, 9))
    def begin(self, model, seed):
        body = {"brokers": ["b1", "b2", "b3"], "steps": [], "cluster": {"model": model}}
        if model == "master":
            body["cluster"]["master"] = "b1"
        else:
            body["cluster"]["options"] = {"imq.cluster.monitor.interval": 3}
        self.lab = ClusterLab(openmq.read(body), seed)
        self.clients, self.sent = 0, 0
        self.act("start")
        self.act("create_destination", broker="b1", queue="Q")

    def act(self, do, **keys):
        before = len(self.lab.operations)
        self.lab.do(noun_of(Step(do, keys)))
        self.lab.rest()
        return self.lab.operations[-1] if len(self.lab.operations) > before else {}

    def serving(self):
        return [name for name, broker in self.lab.brokers.items() if broker.serves]

    @rule(data=st.data(), count=st.integers(1, 5))
    def send(self, data, count):
        if self.serving():
            self.clients += 1
            name = f"P{self.clients}"
            home = data.draw(st.sampled_from(self.serving()))
            opened = self.act("open_producer", producer=name, broker=home, queue="Q")
            if opened.get("result") == "ok":
                self.act("send", producer=name, count=count)
                self.act("close_producer", producer=name)

    @rule(data=st.data(), count=st.integers(1, 3))
    def take(self, data, count):
        if self.serving():
            self.clients += 1
            name = f"C{self.clients}"
            home = data.draw(st.sampled_from(self.serving()))
            opened = self.act("open_consumer", consumer=name, broker=home, queue="Q",
                              receiving=False)  # fmt: skip
            if opened.get("result") == "ok":
                self.act("receive", consumer=name, count=count, within_ms=100)
                self.act("close_consumer", consumer=name)

    @rule(data=st.data(), how=st.sampled_from(["kill", "stop"]))
    def die(self, data, how):
        if len(self.serving()) > 1:
            self.act(how, broker=data.draw(st.sampled_from(self.serving())))

    @rule(data=st.data())
    def start(self, data):
        down = [name for name, broker in self.lab.brokers.items() if not broker.running]
        if down:
            self.act("start_broker", broker=data.draw(st.sampled_from(down)))

    @rule(ms=st.sampled_from([10, 1000, 5000, 30000]))
    def let_time_pass(self, ms):
        self.act("wait", ms=ms)

    def teardown(self):
        if not hasattr(self, "lab"):
            return
        for pause in (60_000, 130_000):  # whose taker died meanwhile may not come back before
            for name, broker in self.lab.brokers.items():
                if not broker.running:
                    self.act("start_broker", broker=name)
            self.act("wait", ms=pause)
        for name in self.serving():  # at its home a message can always be had
            self.act("open_consumer", consumer=f"L{name}", broker=name, queue="Q", receiving=True)
            self.act("wait", ms=5_000)
            self.act("close_consumer", consumer=f"L{name}")
        state.check(self.lab)
        trace = self.lab.trace
        columns = zip(trace.column("kind"), trace.column("msg"), strict=True)
        accepted = {msg for kind, msg in columns if kind == Kind.Enqueued}
        got = {n for c in self.lab.consumers.values() for n in c.received}
        assert accepted <= got


@pytest.mark.slow
@pytest.mark.parametrize("machine", [ArtemisCrashes, OpenMQCrashes], ids=lambda m: m.__name__)
def test_nothing_that_is_safe_is_lost(machine):
    case = machine.TestCase
    case.settings = settings(max_examples=EXAMPLES, stateful_step_count=15, deadline=None,
                             suppress_health_check=list(HealthCheck))  # fmt: skip
    case().runTest()
