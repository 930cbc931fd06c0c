"""Very many brokers in a real browser: groups open and close, by mouse, by keyboard and by what is selected."""

import pytest

import mqlab as mq
from mqlab.spec import topology
from mqlab.trace.kinds import Kind
from tests.browser.test_stage import DRAWN, LENS, PLACE, SELECTED

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]
FOO = mq.Queue("TEST.FOO")
SEEK = "t => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.storyTime(t)); }"
SEEN = "() => Bokeh.documents[0].mqlab.player.panels[0].data('brokers').name"
# Where the tab of the open group is on the page.
TAB = """() => { const p = Bokeh.documents[0].mqlab.player.panels[0], g = p.data("groups");
  const i = g.node.indexOf(p.data("plan").open[0]), view = Bokeh.index.find_one(p.source("stage"));
  const box = view.el.getBoundingClientRect(), [x, y] = p.xy(g.x[i] - g.w[i] / 2 + 8, g.y[i] - g.h[i] / 2 - 9);
  return [box.left + x, box.top + y]; }"""
FLYING = """() => Bokeh.documents[0].mqlab.player.panels[0].marks.map((m) => {
  const p = Bokeh.documents[0].mqlab.player.panels[0], w = p.ways;
  const name = (node) => p.data("brokers").name[p.brokerOf.get(node)];
  return [name(w.frm[m.way]), name(w.to_node[m.way]), m.count]; })"""


@pytest.fixture(scope="module")
def trace():
    """Return a run of ten rows of brokers: the first sends to the second, five messages stay in the ninth."""
    net = topology.network("mesh", 100)
    sends = mq.Producer("P", on="M1.3", sends=5, to=FOO, at="200ms", every="0ms")
    stay = mq.Producer("Q", on="M9.1", sends=5, to=mq.Queue("LEFT"), at="200ms")
    return mq.run(net, mq.Consumer("C", on="M2.3", reads=FOO, at="1ms"), sends, stay, until="400ms")


def test_a_click_opens_a_group_and_one_at_its_tab_closes_it(opened, trace):
    page = opened(trace)
    page.evaluate(SEEK, 199)
    rows = [f"M{i}" for i in range(1, 11)]
    assert page.evaluate(SEEN) == rows
    page.mouse.move(*page.evaluate(PLACE, ["brokers", "M1"]))
    page.wait_for_function(LENS)
    assert "10 brokers" in page.evaluate(LENS)
    page.mouse.click(*page.evaluate(PLACE, ["brokers", "M1"]))
    assert sorted(page.evaluate(SEEN)) == sorted([f"M1.{i}" for i in range(1, 11)] + rows[1:])
    assert page.evaluate(SELECTED) is None
    words = page.evaluate(DRAWN, "words")["text"]
    assert "\N{MINUS SIGN} M1, 10 brokers" in words
    assert "P" in words, "the producer stands at its broker"
    assert words.count("\N{MULTIPLICATION SIGN}10") >= 9, "each of the others says how many it stands for"
    page.mouse.click(*page.evaluate(TAB))
    assert page.evaluate(SEEN) == rows


def test_the_keyboard_opens_and_closes_the_group_it_is_at_and_stays_there(opened, trace):
    page = opened(trace)
    button = page.get_by_role("button", name="M4: 10 brokers")
    button.focus()
    assert button.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert "M4.7" in page.evaluate(SEEN)
    page.keyboard.press("Enter")
    assert "M4.7" not in page.evaluate(SEEN)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "M5.7" in page.evaluate(SEEN), "Tab goes to the next group"
    assert "M4.7" not in page.evaluate(SEEN), "one is open at a time"


def test_who_selects_what_is_in_a_closed_group_opens_it(opened, trace):
    page = opened(trace)
    select = "part => Bokeh.documents[0].mqlab.player.select(part)"
    page.evaluate(select, {"kind": "broker", "name": "M7.2"})
    assert "M7.2" in page.evaluate(SEEN)
    page.evaluate(select, {"kind": "producer", "name": "P"})
    assert "M1.3" in page.evaluate(SEEN)
    page.evaluate(select, {"kind": "broker", "name": "M1.9"})
    assert "M1.9" in page.evaluate(SEEN), "who is in the open one leaves it open"


def test_messages_between_closed_groups_fly_between_these_and_wait_in_them(opened, trace):
    page = opened(trace)
    forwarded = next(event for event in trace.events() if event.kind == Kind.Forwarded and event.to == "M2.3")
    page.evaluate(SEEK, forwarded.t / 1000 + 0.5)
    flying = page.evaluate(FLYING)
    assert ("M1", "M2") in {(a, b) for a, b, _ in flying}
    assert {(a, b) for a, b, _ in flying} <= {("M1", "M2"), ("M2", "M1")}
    page.evaluate(SEEK, 400)
    page.mouse.move(*page.evaluate(PLACE, ["brokers", "M9"]))
    page.wait_for_function(LENS)
    assert "5 messages waiting" in page.evaluate(LENS)
