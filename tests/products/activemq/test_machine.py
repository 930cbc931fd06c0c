"""Random networks under random actions hold what must always hold (DESIGN, section 6).

No message comes from nothing, none is lost without an event that says so, and none is consumed
twice from a queue unless it was given back. 200 examples here, 2,000 with --all.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, reject, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.spec.faults import WAYS
from mqlab.spec.option import EDITIONS
from tests.conftest import ALL
from tests.trace import state

QUEUES = [mq.Queue("Q.ONE"), mq.Queue("Q.TWO")]
TOPIC = mq.Topic("T.ONE")
READS = [*QUEUES, TOPIC, mq.Queue("Q.*")]
ACKS = [{}, {"ack_mode": "dups_ok"}, {"ack_mode": "client", "acknowledge": False},
        {"ack_mode": "transacted", "acknowledge": False}]  # fmt: skip
ONCE_MORE = mq.Redelivery(maximum=1, initial_delay=5)
GONE = (mq.Kind.Discarded, mq.Kind.Expired, mq.Kind.DeadLettered)

OPTIONS = st.fixed_dictionaries({
    "duplex": st.booleans(), "network_ttl": st.integers(1, 3),
    "conduit_subscriptions": st.booleans(), "prefetch_size": st.sampled_from([1, 3, 1000]),
    "decrease_network_consumer_priority": st.booleans(),
    "suppress_duplicate_queue_subscriptions": st.booleans(),
    "statically_included_destinations": st.sampled_from([(), ("queue://Q.ONE",)]),
})  # fmt: skip


@st.composite
def networks(draw) -> mq.Network:
    """Draw two to four brokers and up to five connectors between them."""
    names = "ABCD"[: draw(st.integers(2, 4))]
    ends = st.tuples(st.sampled_from(names), st.sampled_from(names)).filter(lambda e: e[0] != e[1])
    connectors: dict[str, list[mq.NetworkConnector]] = {name: [] for name in names}
    for no, (home, remote) in enumerate(draw(st.lists(ends, min_size=1, max_size=5))):
        connectors[home].append(mq.NetworkConnector(f"c{no}", uri=f"static:(tcp://{remote})", **draw(OPTIONS)))
    replay = draw(st.booleans())
    policies = ({"queue": ">", "replay_when_no_consumers": True},) if replay else ()
    pair = names[-2:] if draw(st.booleans()) else ""
    return mq.Network(
        *(mq.Broker(name, *connectors[name], policies=policies, **draw(stores(name in pair)))
          for name in names),
        edition=draw(st.sampled_from(EDITIONS)),
    )  # fmt: skip


@st.composite
def stores(draw, shared: bool):
    """Draw a store of a broker's own, or let it be one of a pair."""
    if shared:
        return {"store": "kahadb", "shared_store": "s", "lock_acquire_sleep_interval_ms": 100}
    return {"store": draw(st.sampled_from(["memory", "kahadb"]))}


class NetworkMachine(RuleBasedStateMachine):
    """A lab to which anything may happen, at rest or in the middle of things."""

    @initialize(network=networks(), seed=st.integers(0, 99), jitter=st.sampled_from([0, "2ms"]))
    def begin(self, network, seed, jitter):
        self.lab = mq.Lab(network, seed=seed, jitter=jitter, limit=5_000)
        self.opened = self.moving = 0
        self.sends = 0
        self.read = 0  # rows of the trace that the invariants have seen
        self.sent: set[int] = set()
        self.received: dict[int, int] = {}
        self.again: set[int] = set()
        self.gone: set[int] = set()

    def running(self) -> list[str]:
        return [name for name, broker in self.lab.brokers.items() if broker.running]

    def open_consumers(self) -> list[str]:
        return [name for name, consumer in self.lab.consumers.items() if not consumer.closed]

    def alone(self) -> list[str]:
        """Those that are on a broker by themselves: each has a line of its own."""
        return [name for name in self.open_consumers() if self.lab.consumers[name].spec.on in self.lab.brokers]

    @rule(data=st.data(), reads=st.sampled_from(READS), receiving=st.booleans(),
          prefetch=st.sampled_from([None, 1, 5]), ack=st.sampled_from(ACKS))  # fmt: skip
    @precondition(lambda self: self.running())
    def open(self, data, reads, receiving, prefetch, ack):
        self.opened += 1
        on = data.draw(st.sampled_from(self.running()))
        self.lab.do(mq.Consumer(f"C{self.opened}", on=on, reads=reads, receiving=receiving,
                                prefetch=prefetch, redelivery=ONCE_MORE, **ack))  # fmt: skip

    @rule(data=st.data())
    @precondition(lambda self: self.open_consumers())
    def close(self, data):
        self.lab.do(mq.Close(data.draw(st.sampled_from(self.open_consumers()))))

    @rule(data=st.data(), count=st.integers(1, 4))
    @precondition(lambda self: self.open_consumers())
    def receive(self, data, count):
        self.lab.do(mq.Receive(data.draw(st.sampled_from(self.open_consumers())), count))

    @rule(data=st.data(), what=st.sampled_from([mq.Acknowledge, mq.Commit, mq.Rollback]))
    @precondition(lambda self: self.open_consumers())
    def settle(self, data, what):
        name = data.draw(st.sampled_from(self.open_consumers()))
        spec = self.lab.consumers[name].spec
        unfit = {mq.Commit: ("client", "individual"), mq.Acknowledge: ("transacted",), mq.Rollback: ()}
        if spec.acknowledge is False and spec.ack_mode in unfit[what]:
            with pytest.raises(BadValue, match="this action needs ack_mode"):
                self.lab.do(what(name))
        else:
            self.lab.do(what(name))

    @rule(data=st.data(), count=st.integers(1, 8), to=st.sampled_from([*QUEUES, TOPIC]),
          persistent=st.booleans(), life=st.sampled_from([0, "3ms"]))  # fmt: skip
    @precondition(lambda self: self.running())
    def send(self, data, count, to, persistent, life):
        self.sends += 1
        on = data.draw(st.sampled_from(self.running()))
        self.lab.do(mq.Producer(f"P{self.sends}", on, count, to, persistent=persistent,
                                time_to_live=life))  # fmt: skip

    @rule(data=st.data())
    @precondition(lambda self: self.running())
    def stop(self, data):
        self.lab.do(mq.Stop(data.draw(st.sampled_from(self.running()))))

    @rule(data=st.data())
    @precondition(lambda self: len(self.running()) < len(self.lab.brokers))
    def restart(self, data):
        down = [name for name in self.lab.brokers if name not in self.running()]
        self.lab.do(mq.Restart(data.draw(st.sampled_from(down))))

    @rule(data=st.data(), what=st.sampled_from([mq.Crash, mq.Pause, mq.Resume]))
    def trouble(self, data, what):
        self.lab.do(what(data.draw(st.sampled_from(list(self.lab.brokers)))))

    @rule(data=st.data(), how=st.sampled_from(WAYS))
    def cut(self, data, how):
        self.lab.do(mq.Cut(data.draw(st.sampled_from(list(self.lab.brokers))), how=how))

    @rule(data=st.data(), how=st.sampled_from(WAYS), heals=st.booleans())
    @precondition(lambda self: self.alone())
    def cut_off(self, data, how, heals):
        """The line of a consumer to its broker breaks, and may be whole again."""
        name = data.draw(st.sampled_from(self.alone()))
        home = self.lab.consumers[name].spec.on
        self.lab.do(mq.Heal(home, name) if heals else mq.Cut(home, name, how=how))

    @rule(data=st.data())
    def heal(self, data):
        self.lab.do(mq.Heal(data.draw(st.sampled_from(list(self.lab.brokers)))))

    @rule(data=st.data(), count=st.integers(1, 5), persistent=st.booleans())
    def move(self, data, count, persistent):
        """A client with an address of all brokers sends and consumes."""
        self.moving += 1
        name = f"M{self.moving}"
        hosts = data.draw(st.permutations(list(self.lab.brokers)))
        uri = f"failover:({','.join(f'tcp://{host}:61616' for host in hosts)})"
        self.lab.do(mq.Client(name, uri=f"{uri}?randomize=false&maxReconnectDelay=200"))
        to = data.draw(st.sampled_from(QUEUES))
        self.lab.do(mq.Producer(name, on=name, sends=count, to=to, persistent=persistent))
        self.lab.do(mq.Consumer(f"K{self.moving}", on=name, reads=to))

    @rule(data=st.data(), up=st.booleans())
    def connect(self, data, up):
        name = data.draw(st.sampled_from([connector.spec.name for connector in self.lab.connectors]))
        self.lab.do(mq.StartConnector(name) if up else mq.StopConnector(name))

    @rule()
    def rest(self):
        try:
            self.lab.rest()
        except BadValue:  # routes multiply in cycles without suppression: no example to wait for
            reject()

    @rule(steps=st.integers(1, 12))
    def step(self, steps):
        for _ in range(steps):
            self.lab.step()

    # What must hold

    @invariant()
    def accounts_hold(self):
        trace = self.lab.trace
        queues = {str(queue) for queue in QUEUES}
        for row in range(self.read, len(trace)):
            event = trace.event(row)
            if event.message is None:
                continue
            number = event.message
            if event.kind == mq.Kind.Sent:
                assert number not in self.sent, "a number belongs to one message"
                self.sent.add(number)
                continue
            assert number in self.sent, f"{event} speaks of a message that nobody sent"
            if event.kind in (mq.Kind.Returned, mq.Kind.Redelivered, mq.Kind.TakenOver):
                self.again.add(number)
            elif event.kind in GONE:
                self.gone.add(number)
            elif event.kind == mq.Kind.Received and event.destination in queues:
                self.received[number] = self.received.get(number, 0) + 1
        self.read = len(trace)
        twice = {number for number, count in self.received.items() if count > 1}
        assert twice <= self.again, "consumed twice from a queue, and never given back"

    @invariant()
    def nothing_is_lost(self):
        """At rest every message of a queue is held, was received, or an event says it is gone."""
        if not self.lab.resting or self.lab.script or self.lab.under_way is not None:
            return
        held: set[int] = set()
        for broker in self.lab.brokers.values():
            for dest, destination in broker.by_name.items():
                if dest.is_queue:
                    held |= {message.number for message in destination.messages}
            for messages in broker.store.destinations.values():
                held |= {message.number for message in messages}
        trace = self.lab.trace
        arrived = {
            event.message for event in trace.events()
            if event.kind == mq.Kind.Enqueued and event.destination in map(str, QUEUES)
        }  # fmt: skip
        missing = arrived - held - set(self.received) - self.gone
        assert not missing, f"{sorted(missing)} are nowhere, and no event says so"

    def teardown(self):
        if hasattr(self, "lab"):
            self.rest()
            self.accounts_hold()
            self.nothing_is_lost()
            state.check(self.lab)


EXAMPLES = 2000 if ALL else 80
TestNetworks = NetworkMachine.TestCase
TestNetworks.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
