"""The stage in a real browser: it tells the truth, what is pointed at is told and selected."""

import math
import re
from xml.dom import minidom

import pytest

import mqlab as mq
from mqlab.spec import topology
from tests.browser.desk_page import open_desk
from tests.conftest import packed

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]
SEEK = "t => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.storyTime(t)); }"
DRAWN = "name => Bokeh.documents[0].get_model_by_name(`draw ${name}`).data"
# Where a card is on the page, a little above its middle.
PLACE = """([table, name]) => { const p = Bokeh.documents[0].mqlab.player.panels[0], t = p.data(table);
  const i = t.name.indexOf(name), box = Bokeh.index.find_one(p.source("stage")).el.getBoundingClientRect();
  const [x, y] = p.xy(t.x[i], t.y[i] - t.h[i] / 2 + 8); return [box.left + x, box.top + y]; }"""
SELECTED = "() => Bokeh.documents[0].mqlab.player.selection"
LENS = """() => { const { player } = Bokeh.documents[0].mqlab, stage = player.panels[0].source("stage");
  const lens = Bokeh.index.find_one(stage).shadow_el.querySelector(".mq-lens");
  return lens.hidden ? null : lens.innerText; }"""

# The state of the first run at a share of its time, as one text.
STATE = """share => { const { player } = Bokeh.documents[0].mqlab, p = player.panels[0];
  player.seek(player.duration * share);
  const s = player.stateOf(p, player.t);
  const queues = (b) => [...b.queues].map(([dest, queue]) => [dest, [...queue]]);
  return JSON.stringify([[...s.brokers].map(([node, b]) => [node, b.depth, queues(b)]),
                         [...s.consumers].map(([node, c]) => [node, c.got, [...c.window.keys()]])]); }"""


def words(page):
    return page.evaluate(DRAWN, "words")["text"]


def test_a_takeover_is_told_by_roles_the_lock_and_the_client(opened):
    page = opened("fuse:4.4")
    page.evaluate(SEEK, 2_970)
    assert words(page).count("master") == 1
    assert words(page).count("slave") == 2
    assert "at broker1" in words(page)
    assert {"C", "K"} <= set(words(page)), "the consumer keeps its name on its client's card"
    page.evaluate(SEEK, 6_000)
    said = words(page)
    assert "✕ crashed" in said
    assert "master" not in said
    assert "reconnects" in said
    assert any(word.startswith("\N{MULTIPLICATION SIGN}") for word in said), (
        "attempts are counted at their lines"
    )
    assert "/" in page.evaluate(DRAWN, "cards")["hatch"]
    page.evaluate(SEEK, 12_324)
    assert "at broker2" in words(page)
    assert words(page).count("master") == 1


def test_what_was_not_done_is_read_by_pressing_its_sign(opened):
    net, q = mq.chain(2), mq.Queue("Q")
    page = opened(mq.run(net, mq.Consumer("C", on=net.names[0], reads=q), mq.Heal(*net.names)))
    sign = page.get_by_role("button", name="not done: 1")
    line = page.get_by_text("the link was not cut")
    assert not line.is_visible()
    sign.focus()
    page.keyboard.press("Enter")
    line.wait_for()
    assert sign.get_attribute("aria-expanded") == "true"
    assert not page.get_by_text("restored").count(), "nothing says that what was whole is whole again"
    page.keyboard.press("Enter")
    line.wait_for(state="hidden")


def test_names_and_roles_are_read_in_full_and_a_vote_hides_no_queue(opened):
    page = opened("artemis:21.1.3")
    end = "() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration); }"
    page.evaluate(end)
    said = words(page)
    assert {"slave1", "master1", "slave, in sync", "backup searching"} <= set(said)
    assert not [text for text in said if "\N{HORIZONTAL ELLIPSIS}" in text]
    page = opened("artemis:21.1.1")
    page.evaluate(end)
    said = words(page)
    assert {"sender5", "no voters"} <= set(said)
    assert "orders" not in said, "the empty queue would be written over the vote"


@pytest.mark.parametrize(
    ("figure", "role"), [("openmq:4-5a", "waiting for its master"), ("artemis:21.1.2", "stopping")]
)
def test_every_role_of_a_run_is_drawn(opened, figure, role):
    page = opened(figure)
    for t in mq.run(figure).column("t"):  # an error of the page would end this
        page.evaluate(SEEK, t / 1000)
    assert role in page.evaluate("() => Bokeh.documents[0].mqlab.player.panels[0].data('roles').word")


def test_cells_are_the_messages_of_the_queue_and_hollow_when_dispatched(opened):
    page = opened("fuse:2.20")
    colours = page.evaluate(
        "() => ['d1', 'card'].map((token) => Bokeh.documents[0].mqlab.player.colour(token))"
    )
    page.evaluate(SEEK, 13.5)
    depth = page.evaluate("""() => { const { player } = Bokeh.documents[0].mqlab, p = player.panels[0];
      return [...player.stateOf(p, player.t).brokers.values()].reduce((sum, b) => sum + b.depth, 0); }""")
    cells = [fill for fill in page.evaluate(DRAWN, "cells")["fill"] if fill != "rgba(0,0,0,0)"]
    assert depth == len(cells) > 0
    assert set(cells) <= set(colours)
    assert colours[1] in cells, "one is dispatched and not acknowledged"


def test_topics_turns_memory_and_cut_off_brokers_are_drawn(opened):
    net = mq.Network(mq.Broker("A", policies=({"queue": ">", "memory_limit": 3072},)))
    queue, slow = mq.Queue("Q"), {"reads": mq.Queue("Q"), "on": "A", "prefetch": 1, "delay": "40ms"}
    page = opened(mq.run(net, mq.Consumer("C1", **slow), mq.Consumer("C2", **slow),
                         mq.Producer("P", on="A", sends=8, to=queue, at="5ms"), until="1s"))  # fmt: skip
    page.evaluate(SEEK, 60)
    assert {"turn", "memory 3 kB of 3 kB", "waits"} <= set(words(page))
    assert any(word in ("▸ C1", "▸ C2") for word in words(page))

    news = mq.Topic("NEWS")
    reads = [mq.Consumer(name, on="A", reads=news, delay="9ms", at="1ms") for name in ("C1", "C2")]
    page = opened(mq.run(mq.Network(mq.Broker("A")), *reads,
                         mq.Producer("P", on="A", sends=3, to=news, at="5ms")))  # fmt: skip
    held = """() => { const { player } = Bokeh.documents[0].mqlab, p = player.panels[0];
      return [...player.stateOf(p, player.t).brokers.values()].map((b) => b.depth); }"""
    page.evaluate(SEEK, 14)
    assert page.evaluate(held) == [3], "each is held until its slowest reader is done with it"
    page.evaluate(SEEK, 10_000)
    assert page.evaluate(held) == [0]

    link = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")
    page = opened(mq.run(mq.Network(mq.Broker("A", link), mq.Broker("B")),
                         mq.Cut("A", "B", at="5ms"), mq.Heal("A", "B", at="9s"), until="12s"))  # fmt: skip
    page.evaluate(SEEK, 4_000)
    assert "✂" in words(page)
    assert any(word.startswith("cut off: ") for word in words(page))
    page.evaluate(SEEK, 11_000)
    assert "✂" not in words(page)


def test_the_moment_can_be_taken_away_as_svg(opened):
    page = opened("fuse:2.20")
    page.evaluate(SEEK, 13.5)
    drawn = "() => Bokeh.documents[0].mqlab.player.svg()"
    found = minidom.parseString(page.evaluate(drawn)).getElementsByTagName("text")
    said = [node.firstChild.data for node in found if node.firstChild]
    shown = [word for word in words(page) if word]
    assert said[: len(shown)] == shown
    assert "6" in said[len(shown) :], "what is under way, too"


def test_going_back_gives_the_same_state_as_going_on(opened):
    page = opened("article:conduit")
    shares = [0.2, 0.9, 0.4, 0.05, 0.4, 0.9, 0.2]
    seen = {}
    for share in shares:
        drawn = page.evaluate(STATE, share)
        assert seen.setdefault(share, drawn) == drawn
    assert len(set(seen.values())) == len(seen)


def test_pointing_tells_and_a_click_selects(opened):
    page = opened("fuse:2.20")
    page.evaluate(SEEK, 13.5)
    x, y = page.evaluate(PLACE, ["brokers", "A"])
    page.mouse.move(x, y)
    page.wait_for_function(f"() => ({LENS})()?.includes('TEST.FOO')")
    page.mouse.click(x, y)
    assert page.evaluate(SELECTED)["kind"] == "broker"
    assert page.evaluate(SELECTED)["name"] == "A"
    for table, name, kind in (("clients", "P", "producer"), ("clients", "C1", "consumer")):
        page.mouse.click(*page.evaluate(PLACE, [table, name]))
        assert page.evaluate(SELECTED)["kind"] == kind
        assert page.evaluate(SELECTED)["name"] == name


def test_what_lies_elsewhere_in_the_other_run_is_marked(opened):
    figure = mq.figure("fuse:2.20")
    off = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    page = opened(mq.compare(mq.run(figure), mq.run(off)))
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration); }")
    assert {"Δ 6, not 4", "Δ 3, not 4"} <= set(words(page))
    page = opened(mq.compare(mq.run(figure), mq.run(figure)))
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration / 2); }")
    assert not any("Δ" in word for word in words(page))


def test_long_and_strange_names_lose_their_middle_and_stay_text(opened):
    queue, long = mq.Queue("Q"), "broker-" + "x" * 200 + "-east"
    net = mq.Network(mq.Broker(long), mq.Broker("🦜<i>B</i>"), mq.Broker("وسيط"))
    page = opened(mq.run(net, mq.Consumer("C" * 200, on=long, reads=queue),
                         mq.Producer("P", on=long, sends=2, to=queue)))  # fmt: skip
    said = words(page)
    cut = next(word for word in said if word.startswith("bro") and "…" in word)
    assert cut.endswith("t")
    assert len(cut) < 40
    assert {"🦜<i>B</i>", "وسيط"} <= set(said)
    assert page.evaluate("() => document.querySelectorAll('i').length") == 0


def test_turns_go_by_priority_and_consumers_say_what_sets_them_apart(opened):
    queue = mq.Queue("Q")
    sends = mq.Producer("P", on="A", sends=12, to=queue, every="1ms")
    also = {"on": "A", "reads": queue, "delay": "3ms"}
    chosen = mq.Consumer("C1", selector="region = 'us'", **also)
    first = mq.Consumer("C2", priority=5, **also)
    page = opened(mq.run(mq.Network(mq.Broker("A")), chosen, first, sends))
    page.evaluate(SEEK, 14)
    said = words(page)
    assert {"region = 'us'", "priority 5"} <= set(said)
    turn = said.index("turn")
    assert said[turn + 1 : turn + 4] == ["▸ C2", "then", "C1"]
    alone = mq.Consumer("C3", exclusive=True, **also)
    page = opened(mq.run(mq.Network(mq.Broker("A")), first, alone, sends))
    page.evaluate(SEEK, 14)
    said = words(page)
    turn = said.index("exclusive")
    assert [word.removeprefix("▸ ") for word in said[turn + 1 : turn + 3]] == ["C3", "C2"]


# The pills that say how much more or less was received, and the cards of consumers: [x, y, w, h] each.
PILLS = """() => { const p = Bokeh.documents[0].mqlab.player.panels[0], c = p.data("clients");
  const words = p.source("draw words").data, boxes = p.source("draw pills").data, found = [];
  words.text.forEach((text, i) => { if (text.startsWith("Δ")) {
    const k = boxes.x.findIndex((x, j) => Math.hypot(x - words.x[i], boxes.y[j] - words.y[i]) < 1);
    found.push([boxes.x[k], boxes.y[k], boxes.w[k], boxes.h[k]]); } });
  const said = words.text.map((text, i) => [text, words.x[i], words.y[i]]);
  return [found, said.filter(([text]) => text && !text.startsWith("Δ"))]; }"""


def test_two_runs_are_named_above_and_what_differs_covers_no_word(opened):
    figure = mq.figure("fuse:2.20")
    off = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    page = opened(mq.compare(mq.run(figure), mq.run(off)))
    headings = page.locator(".mq-heading")
    assert [text.split()[0] for text in headings.all_inner_texts()] == ["1", "2"]
    assert all("events" in text for text in headings.all_inner_texts())
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration); }")
    pills, said = page.evaluate(PILLS)
    assert len(pills) == 3
    for x, y, w, h in pills:
        covered = [t for t, wx, wy in said if abs(wx - x) < w / 2 and abs(wy - y) < h / 2 + 4]
        assert covered == []
    stage = page.evaluate("() => Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name('stage')).el"
                          ".getBoundingClientRect().top")  # fmt: skip
    assert headings.first.bounding_box()["y"] + 20 <= stage


def test_the_lens_tells_what_a_small_card_leaves_out(opened):
    net = topology.network("mesh", 60)
    queue = mq.Queue("Q")
    reader = mq.Consumer("C", on="M12", reads=queue, selector="a = 1", prefetch=3, delay="1s")
    sends = mq.Producer("P", on="M11", sends=9, to=queue, properties={"a": 1})
    page = opened(mq.run(net, reader, sends, until="3s"), height=760)
    page.evaluate(SEEK, 1_500)
    page.mouse.move(*page.evaluate(PLACE, ["brokers", "M12"]))
    page.wait_for_function(LENS)
    told = page.evaluate(LENS)
    assert "3 connectors" in told
    assert "C connected here" in told
    assert re.search(r"forwarded: \d+ in, 0 out", told)
    cells = page.locator(".mq-lens .queue i:not(.sign)")
    assert cells.count() > 0, "messages are drawn one by one"
    assert not page.locator(".mq-ring").is_hidden()
    page.mouse.move(*page.evaluate(PLACE, ["clients", "C"]))
    # What sets it apart is told where its card has no chip.
    page.wait_for_function(f"() => ({LENS})()?.includes('a = 1')")


def test_of_exclusive_consumers_the_one_that_has_the_queue_is_told(opened):
    queue = mq.Queue("Q")
    sends = mq.Producer("P", on="A", sends=12, to=queue, every="1ms")
    rivals = [mq.Consumer(name, on="A", reads=queue, exclusive=True, delay="2ms") for name in ("C1", "C2")]
    page = opened(mq.run(mq.Network(mq.Broker("A")), *rivals, sends, mq.Close("C1", at="8ms"), until="60ms"))
    page.evaluate(SEEK, 6)
    holds, waits = "exclusive: active", "exclusive: waits"
    assert {holds, waits} <= set(words(page))
    assert nearest(page, holds, ("C1", "C2")) == "C1"
    page.evaluate(SEEK, 50)
    assert nearest(page, holds, ("C1", "C2")) == "C2"


def test_on_small_cards_too_it_is_told_who_has_an_exclusive_queue(opened):
    queue = mq.Queue("Q")
    net = topology.network("hub and spokes", 12)
    rivals = [mq.Consumer(name, on="S1", reads=queue, exclusive=True, delay="2ms") for name in ("C1", "C2")]
    page = opened(mq.run(net, *rivals, mq.Producer("P", on="S2", sends=9, to=queue), until="1s"), height=700)
    page.evaluate(SEEK, 900)
    assert nearest(page, "exclusive", ("C1", "C2")) == "C1"
    assert nearest(page, "waits", ("C1", "C2")) == "C2"


def test_the_name_of_a_connector_is_never_cut_to_a_few_letters(page):
    ends = {"B0": [f"B{i}" for i in range(1, 7)], "B1": ["B7"], "B2": ["B8"], "B3": ["B9"]}
    also = {"duplex": True, "network_ttl": 3}
    brokers = [mq.Broker(f"B{i}", *(mq.NetworkConnector(f"link {to}", uri=f"static:(tcp://{to}:61616)", **also)
                                    for to in ends.get(f"B{i}", ()))) for i in range(10)]  # fmt: skip
    reads = [mq.Consumer(f"C{i}", on=f"B{i}", reads=mq.Queue("Q")) for i in (5, 7, 8)]
    sends = [mq.Producer(f"P{i}", on=f"B{i}", sends=1, to=mq.Queue("Q")) for i in (4, 9)]
    run = mq.run(mq.Network(*brokers), *reads, *sends)
    page.set_viewport_size({"width": 600, "height": 1000})
    open_desk(page, run, "ten")
    assert page.evaluate("() => Bokeh.documents[0].mqlab.player.panels[0].data('labels').text.length") > 1
    assert not [word for word in words(page) if word.startswith("l") and "…" in word]


def nearest(page, text, names):
    """Return which of the names stands nearest to a text on the stage."""
    drawn = page.evaluate(DRAWN, "words")
    at = dict(zip(drawn["text"], zip(drawn["x"], drawn["y"], strict=True), strict=True))
    return min(names, key=lambda name: math.dist(at[name], at[text]))


def test_a_vote_says_who_cast_which_ballot_and_who_did_not_answer(opened):
    def after(first, name, at):
        """Return the two words that follow one on the stage, at that time (ms) of a recording's run."""
        scenario = next(value for path, value in packed("artemis").items() if path.endswith(name))
        page = opened(mq.run(scenario))
        page.evaluate(SEEK, at)
        said = words(page)
        return said[said.index(first) + 1 :][:2]

    isolated = "quorum_2_5/three_masters_master_isolated_votes.json"
    assert after("2 of 2 required votes", isolated, 15_160) == ["✓ M2", "✓ M3"]
    apart = "quorum/three_masters_one_cut_off.json"
    assert after("0 of 2 required votes", apart, 17_100.5) == ["✕ M2", "✂ M3"]


USED = """() => { const p = Bokeh.documents[0].mqlab.player.panels[0], unit = p.unit();
  const ends = (at, size) => { const [b, c] = [p.data("brokers"), p.data("clients")].map((t) => t[at].map(
    (x, i) => [x - t[size][i] / 2, x + t[size][i] / 2])); const all = [...b, ...c].flat();
    return Math.max(...all) - Math.min(...all); };
  const { x_range: xr, y_range: yr } = p.source("stage");
  return [unit, ends("x", "w") / (xr.end - xr.start), ends("y", "h") / (yr.start - yr.end)]; }"""


def test_two_runs_beside_each_other_are_as_large_as_their_room(opened):
    one = mq.figure("fuse:2.20")
    other = one.change("A/linkToBrokerB", conduit_subscriptions=False)
    page = opened(mq.compare(mq.run(one), mq.run(other)), 1366, 620)
    _, wide, high = page.evaluate(USED)
    assert max(wide, high) > 0.85
