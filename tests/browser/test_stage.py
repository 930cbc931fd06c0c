"""The stage in a real browser: it tells the truth, what is pointed at is told and selected."""

import pytest

import mqlab as mq
from mqlab import views
from tests.browser.test_notebook import IDLE

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


@pytest.fixture
def opened(page, tmp_path):
    """Return a function that opens the page of a run."""

    def open_page(what):
        file = tmp_path / "page.html"
        file.write_text(views.html(what), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_function(IDLE)
        page.wait_for_timeout(300)
        return page

    return open_page


def words(page):
    return page.evaluate(DRAWN, "words")["text"]


def test_a_takeover_is_told_by_roles_the_lock_and_the_client(opened):
    page = opened(mq.run("fuse:4.4"))
    page.evaluate(SEEK, 7_440)
    assert words(page).count("master") == 1
    assert words(page).count("slave") == 2
    assert "at broker1" in words(page)
    assert {"C", "K"} <= set(words(page)), "the consumer keeps its name on its client's card"
    page.evaluate(SEEK, 10_000)
    said = words(page)
    assert "✕ crashed" in said
    assert "master" not in said
    assert "reconnects" in said
    assert any(word.startswith("\N{MULTIPLICATION SIGN}") for word in said), (
        "attempts are counted at their lines"
    )
    assert "/" in page.evaluate(DRAWN, "cards")["hatch"]
    page.evaluate(SEEK, 14_818)
    assert "at broker2" in words(page)
    assert words(page).count("master") == 1


def test_cells_are_the_messages_of_the_queue_and_hollow_when_dispatched(opened):
    page = opened(mq.run("fuse:2.20"))
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


def test_going_back_gives_the_same_state_as_going_on(opened):
    page = opened(mq.run("article:conduit"))
    shares = [0.2, 0.9, 0.4, 0.05, 0.4, 0.9, 0.2]
    seen = {}
    for share in shares:
        drawn = page.evaluate(STATE, share)
        assert seen.setdefault(share, drawn) == drawn
    assert len(set(seen.values())) == len(seen)


def test_pointing_tells_and_a_click_selects(opened):
    page = opened(mq.run("fuse:2.20"))
    page.evaluate(SEEK, 13.5)
    x, y = page.evaluate(PLACE, ["brokers", "A"])
    page.mouse.move(x, y)
    page.wait_for_timeout(300)
    assert "TEST.FOO" in page.evaluate(LENS)
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
    page.evaluate(
        "() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration); }"
    )
    assert {"Δ 6, not 4", "Δ 3, not 4"} <= set(words(page))
    page = opened(mq.compare(mq.run(figure), mq.run(figure)))
    page.evaluate(
        "() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration / 2); }"
    )
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
