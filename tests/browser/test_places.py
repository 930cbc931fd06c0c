"""Cards are put where one wants them: lines follow, and they stay through all that is done with the run."""

import re

import pytest

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.desk_page import READY, open_desk
from tests.browser.test_stage import PLACE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]
BOX = """([table, name]) => { const p = Bokeh.documents.at(-1).mqlab.player.panels.at(-1), t = p.data(table);
  const i = t.name.indexOf(name); return [t.x[i], t.y[i], t.w[i], t.h[i]]; }"""
# Where the first connector, and the way of its messages, end.
ENDS = """() => { const p = Bokeh.documents.at(-1).mqlab.player.panels.at(-1), l = p.data('links'), w = p.ways;
  const [a, b] = p.data('brokers').node, e = w.to_node.findIndex((to, i) => to === b && w.frm[i] === a);
  return [[l.x1[0], l.y1[0]], [w.x1[e], w.y1[e]]]; }"""


def drag(page, table, name, dx, dy):
    x, y = page.evaluate(PLACE, [table, name])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def lies_on(point, box):
    """Whether a point is at the rim of a box."""
    (x, y), (bx, by, w, h) = point, box
    return abs(max(abs(x - bx) - w / 2, abs(y - by) - h / 2)) < 14


def test_a_card_goes_where_it_is_dragged_and_its_lines_follow(opened):
    page = opened("fuse:2.20")
    before = page.evaluate(BOX, ["brokers", "B"])
    drag(page, "brokers", "B", 40, 160)
    after = page.evaluate(BOX, ["brokers", "B"])
    assert after[1] > before[1] + 60
    for point in page.evaluate(ENDS):
        assert lies_on(point, after)
        assert not lies_on(point, before)
    chosen = "() => Bokeh.documents[0].mqlab.player.selection"
    assert page.evaluate(chosen) is None, "a drag is no click"
    page.evaluate("() => Bokeh.documents[0].mqlab.player.seek(1)")
    page.set_viewport_size({"width": 1500, "height": 1090})
    assert page.evaluate(BOX, ["brokers", "B"]) == after


def test_by_keyboard_and_back(opened):
    page = opened("fuse:2.20")
    before = page.evaluate(BOX, ["clients", "C1"])
    page.mouse.click(*page.evaluate(PLACE, ["clients", "C1"]))
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Alt+ArrowRight")
    after = page.evaluate(BOX, ["clients", "C1"])
    assert after[0] == pytest.approx(before[0] + 20, abs=0.1)
    page.keyboard.press("0")
    assert page.evaluate(BOX, ["clients", "C1"]) == before


def test_places_are_kept_through_a_fork_and_beside_its_other_run(page):
    open_desk(page, mq.run("fuse:2.20"))
    drag(page, "brokers", "A", 0, -70)
    at = page.evaluate(BOX, ["brokers", "A"])
    page.get_by_role("button", name="Inject fault").click()
    page.get_by_role("menuitem").first.click()
    page.get_by_role("button", name=re.compile("^2 Δ ")).wait_for()
    page.evaluate(STEADY)
    assert page.evaluate(BOX, ["brokers", "A"])[:2] == pytest.approx(at[:2], abs=1)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function("() => Bokeh.documents.at(-1).mqlab?.player?.panels.length === 2")
    page.wait_for_function(READY)
    page.evaluate(STEADY)
    height = "() => Bokeh.documents.at(-1).mqlab.player.panels.at(-1).data('plan').height[0]"
    above = page.evaluate(BOX, ["brokers", "A"])[1] - page.evaluate(height) / 2
    kept = page.evaluate("() => Bokeh.documents.at(-1).mqlab.memory.places['']['broker A'][1]")
    assert above == pytest.approx(kept, abs=1)


def test_places_belong_to_their_network_alone(page):
    open_desk(page, mq.run("fuse:2.20"), "fuse:2.20")
    before = page.evaluate(BOX, ["brokers", "A"])
    drag(page, "brokers", "A", 0, -70)
    at = page.evaluate(BOX, ["brokers", "A"])
    assert at != before
    _begin(page, "fuse:2.21")
    places = "() => Object.keys(Bokeh.documents.at(-1).mqlab.memory.places['fuse:2.21'] ?? {})"
    assert page.evaluate(places) == []
    _begin(page, "fuse:2.20")
    assert page.evaluate(BOX, ["brokers", "A"])[:2] == pytest.approx(at[:2], abs=1)


def _begin(page, figure):
    page.evaluate("(figure) => Bokeh.documents.at(-1).mqlab.player.ask('begin', { figure })", figure)
    page.wait_for_function("(figure) => Bokeh.documents.at(-1).mqlab.memory.network === figure", arg=figure)
    page.evaluate(STEADY)
