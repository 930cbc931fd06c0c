"""The player's clock: what tells something gets the time, what is alike is folded, and the fold says so."""

import pytest

import mqlab as mq
from mqlab import products
from mqlab.trace.kinds import Kind, Reason
from mqlab.views import scene
from mqlab.views.story import FOLD, LONGEST, Moment, PlaybackTime

FIGURES = [figure.id for figure in products.figures()]


def first(trace, kind, name=None):
    return next(event.t for event in trace.events()
                if event.kind == kind and name in (None, event.broker))  # fmt: skip


def test_a_takeover_gets_the_time_and_the_failed_attempts_do_not():
    """Of 12.3 s of the run the client tries in vain for 8.2; takeover and deliveries take 0.3."""
    trace = mq.run("fuse:4.4")
    story = PlaybackTime.of(trace)
    crash, lock = first(trace, Kind.Crashed), first(trace, Kind.Locked, "broker2")
    sent, received = first(trace, Kind.Sent), first(trace, Kind.Received)
    share = {
        "messages are sent": (sent, crash), "attempts in vain": (crash, lock),
        "takeover to the last delivery": (lock, trace.column("t")[-1]),
    }  # fmt: skip
    parts = {name: (story.at(b) - story.at(a)) / story.duration for name, (a, b) in share.items()}
    print({name: f"{part:.0%}" for name, part in parts.items()})
    assert parts["attempts in vain"] < 0.15
    assert parts["takeover to the last delivery"] > 0.25
    assert parts["messages are sent"] > 0.2
    assert story.at(received) > story.at(lock)
    attempts = [fold for fold in story.folds if fold.attempts]
    assert len(attempts) == 1
    assert attempts[0].told == "249 failed attempts in 8.2 s"
    tried = [event for event in trace.events() if event.kind == Kind.Attempted]
    within = [event for event in tried if attempts[0].begin <= event.t <= attempts[0].end]
    assert len(tried) == 264
    assert attempts[0].count == len(within)


@pytest.mark.parametrize("id", FIGURES)
def test_time_goes_forward_and_no_event_is_left_out(id):
    trace = mq.run(id)
    story = PlaybackTime.of(trace)
    assert story.times == sorted(set(story.times))
    assert all(b > a for a, b in zip(story.seconds, story.seconds[1:], strict=False))
    assert set(trace.column("t")) <= set(story.times)
    assert story.duration <= LONGEST + FOLD * len(story.folds) + 1e-6
    for one, other in zip(story.folds, story.folds[1:], strict=False):
        assert one.end <= other.begin


def test_a_short_silence_and_a_long_one_are_told_apart():
    hops = [Moment(ms * 1000, moves=1, messages=True) for ms in range(10)]
    later = [Moment(99_000 + ms * 1000, moves=1, messages=True) for ms in range(5)]
    last = [Moment(40_000_000, moves=1, messages=True)]
    folds = PlaybackTime([*hops, *later, *last]).folds
    assert [fold.text for fold in folds] == ["89 ms", "39.9 s"]
    assert folds[0].told == "89 ms without events"


def test_a_hop_takes_a_beat_however_short_it_is():
    steps = [Moment(t, moves=1, messages=True) for t in (0, 100, 200, 300)]
    assert PlaybackTime(steps).seconds == pytest.approx([0, 0.35, 0.7, 1.05])


def test_two_runs_have_one_clock_and_fold_only_what_is_silent_in_both():
    calm, crash = mq.run("fuse:4.2"), mq.run("fuse:4.4")
    both = PlaybackTime.of(calm, crash)
    assert set(calm.column("t")) | set(crash.column("t")) <= set(both.times)
    moments = [*calm.column("t"), *crash.column("t")]
    for fold in both.folds:
        if not fold.count:
            assert not any(fold.begin < t < fold.end for t in moments)


def test_the_columns_tell_the_folds_and_the_chapters():
    columns = scene(mq.run("fuse:4.4")).columns
    folds = columns["folds"]
    assert folds["told"][-1] == "249 failed attempts in 8.2 s"
    assert all(a < b for a, b in zip(folds["x0"], folds["x1"], strict=True))
    chapters = [text for text in columns["events"]["chapter"] if text]
    assert chapters == [
        "broker1 acquires the lock", "broker1 becomes master", "first message", "broker1 crashes",
        "broker2 acquires the lock", "broker2 becomes master", "C reconnects to broker2", "first delivery",
    ]  # fmt: skip


def test_an_event_names_its_cause_and_its_rule():
    trace = mq.run("fuse:2.20")
    columns = scene(trace).columns
    events, rules = columns["events"], columns["rules"]
    assert all(cause < row for row, cause in enumerate(events["cause"]))
    for row, number in enumerate(events["row"]):
        event = trace.event(number)
        sentence = rules["sentence"][events["rule"][row]]
        assert sentence == ("" if event.rule == Reason.asked else event.rule.sentence)
        assert events["broker"][row] == (event.broker or "")
