"""What the player of a long run sends to its page, without a page."""

import json
import time
from itertools import pairwise

import pytest

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.replay import long, store
from mqlab.spec.values import Duration
from mqlab.trace import Kind
from mqlab.views.scene import scene
from mqlab.views.sizes import ROOMS
from mqlab.views.stage import Kept
from mqlab.widgets import replay as widget
from tests.conftest import work_of_at_most
from tests.replay.test_long import hub

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = long.run(*hub(6000), out=tmp_path_factory.mktemp("player") / "run", rows=1 << 13)
    mq.replay.extend(folder)
    return folder


@pytest.fixture
def player(run_folder):
    made = mq.widgets.ReplayPlayer(run_folder)
    yield made
    made.close()


def shown(player):
    return json.loads(player.view.columns)


def strip(player):
    return {name: column[0] for name, column in shown(player)["window"].items()}


def test_what_is_shown_is_told_with_its_level(player):
    first, last = (edge / 1000 for edge in player.tiles.span)
    player.look(first, last)
    assert strip(player)["told"] == f"{player.tiles.events_count:,} of {player.tiles.events_count:,} events"
    level = player.tiles.level_for(*player.tiles.span, widget.BUCKETS)
    wide = (1 << player.tiles.shift + level) / 1000  # ms
    assert wide < 1000
    assert strip(player)["level"] == f"level {level + 1} of {player.tiles.levels}: sums of {wide:g} ms"
    player.look(1000, 3000)
    assert strip(player)["level"].startswith("computed from the events: sums of ")
    player.look(1000, 1100)
    assert player.single
    assert strip(player)["level"] == "unaggregated: every message is shown"
    assert shown(player)["meta"]["events"][0] == player.tiles.count(*player.window)


def test_a_part_takes_the_kernel_a_moment(player):
    """Down to single messages; of the processor, as how long one waits depends on who else has the machine."""
    low, high = (edge / 1000 for edge in player.tiles.span)
    player.look(low, high)
    while not player.single:
        low, high = 0.4 * high + 0.6 * low, 0.95 * high + 0.05 * low
        with work_of_at_most(0.3):
            player.look(low, high)


@pytest.mark.parametrize("part", [(0, 99_000), (1000, 3000)], ids=["levels", "events"])
def test_connectors_are_as_wide_as_what_crossed(player, part):
    player.look(*part)
    crossed = shown(player)["traffic"]["count"]
    events = player.tiles.events(*player.window).column("link").to_pylist()
    assert crossed == [events.count(link) for link in range(len(player.tiles.names["link"]))]


@pytest.mark.parametrize("marginal", ["link", "broker", "dest"])
def test_counted_events_are_the_tile_of_the_same_buckets(player, marginal):
    tiles, (t0, t1) = player.tiles, player.tiles.span
    wide = tiles.tile(marginal, t0, t1, 100_000)
    most = ((t1 >> tiles.shift) - (t0 >> tiles.shift)) + 1
    assert tiles.width_for(t0, t1, most) == tiles.shift
    assert tiles.counted(marginal, t0, t1, most).equals(wide)


def test_a_wish_for_a_message_shows_all_that_happened_to_it_alone(player):
    player.view.seen = {"wish.data": {"from": [], "to": [], "msg": [4321], "no": [7]}}
    assert strip(player)["no"] == 7
    assert (
        strip(player)["told"]
        == f"message 4321: all of its {len(mq.replay.path(player.folder, 4321))} events in the run"
    )
    assert {msg for msg in shown(player)["events"]["msg"] if msg >= 0} == {4321}
    player.view.seen = {"wish.data": {"from": [10.0], "to": [20.0], "msg": [], "no": [8]}}
    assert (strip(player)["from"], strip(player)["to"], strip(player)["no"]) == (10, 20, 8)


def test_a_wish_for_a_message_that_is_not_there_changes_nothing(player):
    player.look(0, 100)
    before = player.view.columns
    player.view.seen = {"wish.data": {"from": [], "to": [], "msg": [10**6], "no": [9]}}
    assert player.view.columns == before


def at_first(folder, count):
    """Let a folder be as it was when it had its first files; return its manifest of today."""
    whole = store.manifest(folder)
    part = whole["files"][:count]
    store.switch(folder, {**whole, "files": part, "grows": True,
                          "events": sum(file["events"] for file in part)})  # fmt: skip
    return whole


@pytest.mark.parametrize(
    ("part", "moves"),
    [((0, 9000), (False, True)), ((500, 9000), (True, True)), ((500, 600), (False, False)),
     ((4300, 9000), (False, False))],
    ids=["the whole", "its end", "elsewhere", "messages at its end"],
)  # fmt: skip
def test_new_time_comes_at_the_right(tmp_path, part, moves):
    folder = long.run(*hub(3000), out=tmp_path / "run", rows=1 << 13)
    whole = at_first(folder, 2)
    player = mq.widgets.ReplayPlayer(folder)
    assert player.live == "the run is still in progress"
    player.look(*part)
    before = strip(player)
    store.switch(folder, whole)
    end = time.monotonic() + 60
    while strip(player)["live"] != "the run has ended" and time.monotonic() < end:
        time.sleep(0.02)
    after = strip(player)
    assert after["high"] == whole["files"][-1]["t1"] / 1000 > before["high"]
    assert (after["from"] > before["from"], after["to"] > before["to"]) == moves
    assert after["told"].endswith(f" of {whole['events']:,} events")


def test_a_player_that_is_closed_follows_no_more(tmp_path):
    folder = long.run(*hub(3000), out=tmp_path / "run", rows=1 << 13)
    whole = at_first(folder, 2)
    player = mq.widgets.ReplayPlayer(folder)
    player.close()
    store.switch(folder, whole)
    time.sleep(1.2)
    assert player.live == "the run is still in progress"


def test_a_run_that_has_not_written_yet_has_a_player(tmp_path):
    folder = long.run(*hub(100), out=tmp_path / "run")
    at_first(folder, 0)
    player = mq.widgets.ReplayPlayer(folder)
    assert "0 of 0 events" in player.view.item or player._told()[0] == "0 of 0 events"
    player.close()


@pytest.mark.parametrize("figure", ["fuse:4.1", "artemis:21.1"])
def test_stages_that_are_kept_are_those_of_each_part(tmp_path, figure):
    """A client that goes to another broker in between stands elsewhere in one part than in the next."""
    tiles = mq.replay.open(mq.replay.write(mq.run(figure), tmp_path / "run"))
    first, last = tiles.span
    cuts = [first + (last - first) * part // 6 for part in range(7)]
    parts = [tiles.window(*ends) for ends in pairwise(cuts)]
    kept = Kept()
    for part in parts:
        assert scene(part, build=kept.build).columns == scene(part).columns
    made = len(kept.stages)
    for part in parts:
        scene(part, build=kept.build)
    assert len(kept.stages) == made < len(ROOMS) * len(parts)


def test_what_is_told_of_an_event_stays_with_it(tmp_path):
    """Roles are told beside the events, by row; a part has rows of its own."""
    trace = mq.run("fuse:4.4")
    tiles = mq.replay.open(mq.replay.write(trace, tmp_path / "run"))
    rows = [row for row in range(len(trace)) if trace.event(row).kind == mq.Kind.RoleChanged]
    times = list(trace.column("t"))
    assert len(rows) > 2
    for row in rows:
        part = tiles.window(times[row], tiles.span[1])
        assert part.detail(row - times.index(times[row])) == trace.detail(row) != {}


def test_a_window_takes_texts_and_durations_as_well_as_microseconds(tmp_path):
    tiles = mq.replay.open(mq.replay.write(mq.run("fuse:2.20"), tmp_path / "run"))
    parts = [tiles.window("2ms", "5ms"), tiles.window(2000, 5000), tiles.window(Duration(2000), "5000us")]
    assert len({len(part) for part in parts}) == 1
    assert min(parts[0].column("t")) >= 2000
    with pytest.raises(BadValue, match="t0: 'soon' is not a duration"):
        tiles.window("soon", "5ms")
    with pytest.raises(BadValue, match="ends at 2 ms, before it begins"):
        tiles.window("5ms", "2ms")
    with pytest.raises(BadValue, match="message is 'P-1'; expected its number"):
        tiles.of_message("P-1")


def test_a_part_of_a_run_says_nothing_of_what_the_run_did_beside_it(tmp_path):
    trace = mq.run("fuse:2.20")
    tiles = mq.replay.open(mq.replay.write(trace, tmp_path / "run"))
    first, last = tiles.span
    for part in (
        tiles.window(first, (first + last) // 2),
        tiles.window(last + 1, last + 9),
        tiles.of_message(7),
    ):
        assert part.undone == ()
        with pytest.raises(BadValue, match="this trace is a part of its run; ask for the number of a message"):
            mq.explain(part, message="P-7")
    assert "received by" in mq.explain(tiles.of_message(7), message=7).title


def test_what_a_window_cuts_off_is_no_fate(tmp_path):
    """Each message of the run is consumed; a part tells what it saw of that, and which part it is."""
    trace = mq.run(mq.chain(3), mq.Consumer("C", on="B3", reads=mq.Queue("Q")),
                   mq.Producer("P", on="B1", sends=20, to=mq.Queue("Q")))  # fmt: skip
    tiles = mq.replay.open(mq.replay.write(trace, tmp_path / "run"))
    begin = trace.column("t")[trace.rows(Kind.Sent)[0]]
    seen = set()
    for end in range(begin, trace.end, 500):
        part = tiles.window(begin + (end - begin) // 2, end)
        seen |= set(part.account().counts())
    assert seen == {"consumed", "waiting", "cut off"}
    part = tiles.window("0s", begin)
    told = f"from 0 ms to {begin // 1000} ms of {trace.end}; what happened before and after is outside"
    assert f"a part    {told}" in str(part)
    assert "1 sent: 1 cut off" in str(part)
    for explained in (
        mq.explain(part),
        mq.explain(part, message=1),
        mq.explain(part, "P"),
        mq.explain(part, "B1"),
    ):
        assert told in str(explained)
    assert "never sent" not in str(mq.explain(part, "P"))
    assert part.message_name(1) == "1"


@pytest.mark.parametrize("question", [
    lambda part: part.counters(), lambda part: part.downtime(), lambda part: part.unavailable("A"),
    lambda part: part.master("A", 0), lambda part: mq.explain(part, message=1, why_not="C1"),
    lambda part: mq.what_if(part, message=1, consumer="C1")])  # fmt: skip
def test_a_part_refuses_what_hangs_on_the_beginning_of_its_run(tmp_path, question):
    tiles = mq.replay.open(mq.replay.write(mq.run("fuse:2.20"), tmp_path / "run"))
    with pytest.raises(BadValue, match="from its beginning; this trace is a part: the events of message 1"):
        question(tiles.of_message(1))
