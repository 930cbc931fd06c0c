"""The lab of Artemis brokers has the face of every lab: step, until, fork, do, roles, jitter."""

from __future__ import annotations

import random

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.errors import MqlabError
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.spec.action import Producer
from mqlab.spec.faults import DatabaseDown
from mqlab.spec.step import Step
from tests.products.artemis.ha import body, master, slave
from tests.products.scenarios import of_figures, of_recordings

Q = artemis.Queue("Q")

ALL = [*of_recordings("artemis"), *of_figures("artemis")]
PAIR = {"M1": master(), "S1": slave()}


def played(scenario, seed=1, jitter="3ms"):
    lab = ArtemisLab(scenario, seed, jitter)
    lab.play()
    return lab


@pytest.mark.parametrize("scenario", ALL)
def test_step_by_step_it_is_the_same_run(scenario):
    lab = ArtemisLab(scenario, 1, "3ms")
    while lab.step():
        pass
    assert lab.trace.digest() == played(scenario).trace.digest()


@pytest.mark.parametrize("scenario", ALL)
def test_a_fork_goes_its_own_way_and_both_end_as_the_run_that_was_not_forked(scenario):
    whole = played(scenario)
    lab = ArtemisLab(scenario, 1, "3ms")
    lab.until(f"{random.Random(whole.trace.digest()).randrange(whole.now + 1)}us")
    before = lab.trace.digest()
    fork = lab.fork()
    fork.play()
    assert lab.trace.digest() == before
    lab.play()
    assert lab.trace.digest() == fork.trace.digest() == whole.trace.digest()


@pytest.mark.parametrize("scenario", [p for p in ALL if any(
    isinstance(action, Producer) for action in p.values[0].script)])  # fmt: skip
def test_the_seed_decides_what_jitter_does(scenario):
    digests = [played(scenario, seed).trace.digest() for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("scenario", ALL)
def test_until_stops_at_its_time(scenario):
    lab = ArtemisLab(scenario)
    lab.until("1234ms")
    assert lab.now == 1_234_000
    assert max(lab.trace.column("t"), default=0) <= lab.now


def lab_of(script="wait ms=1000", **more):
    return ArtemisLab(lab_file.read(body(PAIR, script, **more)))


def test_a_step_more_is_done_at_once():
    lab = lab_of()
    lab.play()
    lab.do(artemis.Consumer("C", on="M1", reads=Q))
    lab.do(artemis.Producer("P", on="M1", sends=3, to=Q))
    assert lab.trace.received() == {"C": 0}
    lab.rest()
    assert lab.trace.received() == {"C": 3}
    assert lab.roles == {"M1": "live", "S1": "backup_in_sync"}


@pytest.mark.parametrize(
    "action",
    [
        artemis.Crash("X"),
        DatabaseDown(),
        artemis.Receive("C", 1),
        artemis.Crash("M1", at="1ms"),
        Step("kill"),
    ],
)
def test_an_action_that_cannot_be_leaves_the_lab_as_it_was(action):
    lab = lab_of()
    lab.play()
    before = lab.trace.digest(), lab.trace.header["scenario"], lab.now, lab.clock.waiting
    with pytest.raises(MqlabError):
        lab.do(action)
    assert (
        lab.trace.digest(),
        lab.trace.header["scenario"],
        lab.now,
        lab.clock.waiting,
    ) == before


def test_a_step_with_a_time_happens_then_beside_the_others():
    lab = lab_of("wait ms=10000\nsnapshot label=end")
    lab.do(artemis.Crash("M1", at="9s"))
    lab.do(artemis.StartAs("M1", {}, at="11s"))
    lab.until("8999ms")
    assert lab.roles["M1"] == "live"
    lab.until("10s")
    assert lab.roles == {"M1": "down", "S1": "live"}
    lab.play()
    assert lab.snapshots["end"]["brokers"]["M1"]["role"] == "live"


def test_what_is_stopped_and_started_at_a_time_goes_on_beside_the_script():
    lab = lab_of("wait ms=20000")
    for name in ("M1", "S1"):
        lab.do(artemis.Restart(name, at="1s"))
    for name in ("S1", "M1"):
        lab.do(artemis.Stop(name, at="9s"))
    for name in ("S1", "M1"):
        lab.do(artemis.Restart(name, at="9s"))
    lab.play()
    started = [e.t for e in lab.trace.events() if e.kind.name == "Started"]
    assert len(started) == 2
    assert 9_000_000 <= started[1] <= 13_000_000


@pytest.mark.parametrize("policy", ["replication", "shared_store"])
def test_a_run_that_ends_with_a_crash_goes_on_until_the_slave_serves_and_all_have_followed(policy):
    more = {"shared_store": "s"} if policy == "shared_store" else {}
    pair = artemis.Network(artemis.Broker("L", policy, "master", **more),
                           artemis.Broker("B", policy, "slave", **more))  # fmt: skip
    q = artemis.Queue("Q")
    consumer = artemis.Consumer("C", on="L", reads=q)
    trace = mq.run(pair, consumer, artemis.Producer("P", on="L", sends=20, to=q), artemis.Crash("L"))
    told = str(mq.explain(trace, broker="B"))
    assert "B is now live" in told
    assert "B created subscription queue://Q at B by C" in told
    late = artemis.Producer("P", on="L", sends=20, to=q, at="7s", every="100ms", in_background=True)
    trace = mq.run(pair, consumer, late, artemis.Crash("L", at="8s"))
    assert trace.received() == {"C": 20}
    assert trace.undone == ()
    looked = mq.run(pair, consumer, artemis.Crash("L"), artemis.Snapshot("at once"))
    assert looked.end < trace.end, "who looks at the network last sees it as it is then"


def test_a_producer_of_a_session_with_a_topic_sends_where_it_says():
    q, session = artemis.Queue("Q"), artemis.Session("S", "A", artemis.Topic("T"))
    sends = artemis.Producer("P", "S", 2, q)
    trace = mq.run(artemis.Network(artemis.Broker("A")), session, artemis.Consumer("C", "A", q), sends)
    assert trace.received() == {"C": 2}


def test_a_lab_does_not_wait_for_who_looks_for_a_broker_over_a_cut_line_for_good():
    lab = mq.Lab(mq.artemis.Network(mq.artemis.Broker("b1"), mq.artemis.Broker("b2")))
    lab.do(mq.artemis.Client("K", uri="(tcp://b1:61616)?reconnectAttempts=-1"), mq.Cut("b1"))
    lab.rest()
    assert lab.now == "5 s"  # as its Interrupted; 600.1 s before, which is as long as a rest may take
