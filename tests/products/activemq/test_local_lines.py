"""The line of a client that is on a broker by itself: it ends as one with that broker's plain address."""

import pytest

import mqlab as mq
from mqlab.spec.faults import WAYS

Q = mq.Queue("Q")
PAIR = mq.Network(mq.Broker("A"), mq.Broker("B"))
ALONE = mq.Network(mq.Broker("A", store="kahadb"))
CUTS = {
    **{
        f"{how}, {then}": ((mq.Cut("A", "x", how=how, at="1500ms"), *heal))
        for how in WAYS
        for then, heal in {
            "for good": (),
            "healed soon": (mq.Heal("A", "x", at="3s"),),
            "healed when silence is noticed": (mq.Heal("A", "x", at="75s"),),
        }.items()
    },
    "hang twice": (
        mq.Cut("A", "x", how="hang", at="1500ms"),
        mq.Heal("A", "x", at="3s"),
        mq.Cut("A", "x", how="hang", at="50s"),
    ),
    "hang, then refuse": (mq.Cut("A", "x", how="hang", at="1500ms"), mq.Cut("A", "x", at="2s")),
    "all lines to the broker": (mq.Cut("A", at="1500ms"), mq.Heal("A", at="3s")),
    "cut before it opens": (mq.Cut("A", "x", at="50ms"),),
    "hang before it opens": (mq.Cut("A", "x", how="hang", at="50ms"), mq.Heal("A", "x", at="5s")),
    "silent before it opens": (mq.Cut("A", "x", how="drop_replies", at="50ms"),),
    "the broker is suspended": (mq.Pause("A", at="1500ms"), mq.Resume("A", at="4s")),
    "the broker is suspended for long": (mq.Pause("A", at="1500ms"), mq.Resume("A", at="79s")),
    "the broker dies": (mq.Crash("A", at="1500ms"), mq.Restart("A", at="3s")),
}
DIES = "the broker dies"  # that a client on it has failed goes without saying, and is no event  # fmt: skip


def over(line, cut):
    """Return faults of the line "x" as faults of another line."""
    if isinstance(cut, mq.Cut):
        return mq.Cut("A", line if cut.other else None, how=cut.how, at=cut.at)
    return mq.Heal("A", line if cut.other else None, at=cut.at) if isinstance(cut, mq.Heal) else cut


def play(opened, cuts, others):
    """Return the trace of one client whose line is cut: it opens at 100 ms, others follow."""
    return mq.run(ALONE, *opened, *cuts, *others, until="160s")


def happened(trace, wanted, *names):
    """Return the times (ms) and messages of the events of one kind that some took part in."""
    return [(e.t // 1000, e.message) for e in trace.events()
            if e.kind is wanted and {e.frm, e.to} & {*names}]  # fmt: skip


@pytest.mark.parametrize("delay", [0, "10ms"], ids=["quick", "slow"])
@pytest.mark.parametrize("ack", ["auto", "client"])
@pytest.mark.parametrize("cut", CUTS)
def test_a_consumer_on_a_broker_ends_as_one_with_its_plain_address(cut, ack, delay):
    found = []
    for home in ("A", "plain"):
        line = "plain" if home == "plain" else "desk"
        client = [mq.Client("plain", uri="tcp://A:61616", at="100ms")] * (home == "plain")
        desk = mq.Consumer("desk", home, Q, ack_mode=ack, delay=delay, at="100ms")
        traffic = (mq.Producer("till", "A", 30, Q, every="50ms", at="1s"),
                   mq.Consumer("late", "A", Q, at="140s"))  # fmt: skip
        trace = play([*client, desk], [over(line, one) for one in CUTS[cut]], traffic)
        kinds = (mq.Kind.Received, mq.Kind.Redelivered)
        seen = {kind.name: sorted(m for _, m in happened(trace, kind, "desk", "late")) for kind in kinds}
        who = [e.message for e in trace.events()
               if e.kind is mq.Kind.Received and e.to == "desk"]  # fmt: skip
        failed = [t for t, _ in happened(trace, mq.Kind.Failed, "desk", "plain") if cut != DIES]
        found.append((seen, who, trace.waiting(), trace.lost(), failed))
    assert found[0] == found[1]


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("cut", CUTS)
def test_a_producer_on_a_broker_ends_as_one_with_its_plain_address(cut, persistent):
    found = []
    for home in ("A", "plain"):
        line = "plain" if home == "plain" else "till"
        client = [mq.Client("plain", uri="tcp://A:61616", at="1s")] * (home == "plain")
        till = mq.Producer("till", home, 30, Q, persistent=persistent, every="50ms", at="1s")
        trace = play([*client, till], [over(line, one) for one in CUTS[cut]], ())
        arrived = [m for _, m in happened(trace, mq.Kind.Enqueued, "A")]
        failed = [t for t, _ in happened(trace, mq.Kind.Failed, "till", "plain") if cut != DIES]
        sent = [m for _, m in happened(trace, mq.Kind.Sent, "till")]
        # Done, a producer closes the connection of its own; a client's stays, and can still fail.
        found.append((arrived, trace.waiting(), failed if len(sent) < 30 else []))
    assert found[0] == found[1]


@pytest.mark.parametrize("how", ["refuse", "reset_once"])
def test_a_list_of_brokers_leads_past_a_cut_line(how):
    trace = mq.run(
        PAIR, mq.Consumer("desk", "A", Q, others=("B",)), mq.Cut("A", "desk", how=how, at="1s"),
        mq.Producer("a", "A", 1, Q, at="2s"), mq.Producer("b", "B", 2, Q, at="2s"), until="5s",
    )  # fmt: skip
    assert trace.received() == {"desk": 2}


LOST = {
    "refuse": 1,
    "reset_once": 1,
    "hang": 20,
    "drop_replies": 0,
}  # one on the line; 20 held by it


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("how", WAYS)
def test_a_producer_with_a_list_sends_every_message_to_one_broker_or_the_other(how, persistent):
    trace = mq.run(
        PAIR, mq.Producer("till", "A", 40, Q, others=("B",), every="100ms", persistent=persistent,
                          in_background=True),
        mq.Cut("A", "till", how=how, at="2000.5ms"), until="120s",
    )  # fmt: skip
    waits = how in ("hang", "drop_replies")
    places = {name: queues["queue://Q"] for name, queues in trace.waiting().items()}
    missing = {*range(1, 41)} - {number for numbers in places.values() for number in numbers}
    # Who waits for answers sends the one on the line again; the others of the line are lost.
    assert len(missing) == (0 if persistent else LOST[how])
    assert sum(map(len, places.values())) == 40 - len(missing)
    if persistent or not waits:  # otherwise it has done before it notices
        assert places["A"][-1] < places["B"][0]


def test_a_consumer_finds_its_broker_again_when_the_line_is_healed():
    trace = mq.run(
        ALONE, mq.Consumer("desk", "A", Q, others=("A",)), mq.Cut("A", "desk", at="1s"),
        mq.Producer("till", "A", 3, Q, at="2s"), mq.Heal("A", "desk", at="4s"), until="9s",
    )  # fmt: skip
    assert [e.t // 1_000_000 for e in trace.events() if e.kind is mq.Kind.Received] == [4] * 3
