"""A network is drawn: parts are put by a click, connectors drawn as a pipe, options stand beside the part."""

from itertools import combinations

import pytest

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.desk_page import open_desk
from tests.browser.test_stage import PLACE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]
AT = """name => { const p = Bokeh.documents[0].mqlab.player.panels[0], b = p.data('brokers');
  const i = b.name.indexOf(name), box = Bokeh.index.find_one(p.source('stage')).el.getBoundingClientRect();
  const [x, y] = p.xy(b.x[i], b.y[i]); return [box.left + x, box.top + y]; }"""

# How wide a broker is (px).
WIDE = """name => { const p = Bokeh.documents[0].mqlab.player.panels[0], b = p.data('brokers');
  return b.w[b.name.indexOf(name)] * p.unit(); }"""
NAMES = "() => Bokeh.documents.at(-1)?.mqlab?.player?.panels[0].data('brokers').name ?? []"


@pytest.fixture
def build(page):
    """Return a function that begins a network of a product in a drawing; returns its picture."""

    def begin(product):
        picture = open_desk(page, mq.run("fuse:2.1"), "fuse:2.1")
        page.get_by_role("button", name="Build", exact=True).click()
        page.get_by_role("button", name=f"New: {product}").click()
        page.wait_for_function(f"() => ({NAMES})().join() === 'A'")
        page.get_by_role("button", name="Δ").wait_for(state="hidden")
        page.evaluate(STEADY)
        return picture

    return begin


def tool(page, name):
    page.get_by_role("toolbar", name="Parts to draw").get_by_role("button", name=name).click()


def put(page, share_x, share_y):
    """Click at a share of the stage; return where that is (px)."""
    box = page.locator(".bk-Figure").first.bounding_box()
    at = box["x"] + box["width"] * share_x, box["y"] + box["height"] * share_y
    page.mouse.click(*at)
    return at


def changes(page, count):
    page.get_by_role("button", name=f"Δ {count} change").wait_for()
    page.evaluate(STEADY)


@pytest.mark.parametrize(
    ("product", "tools"),
    [
        ("ActiveMQ", ["Broker", "Pair", "Producer", "Consumer", "Connector", "Duplex"]),
        ("OpenMQ", ["Broker", "Producer", "Consumer"]),
        ("Artemis", ["Broker", "Pair", "Producer", "Consumer"]),
    ],
)  # fmt: skip
def test_a_network_of_each_product_is_drawn(page, build, product, tools):
    picture = build(product)
    offered = page.get_by_role("toolbar", name="Parts to draw").get_by_role("button").all()
    assert [one.inner_text().strip() for one in offered] == tools
    tool(page, "Broker")
    at = put(page, 0.85, 0.85)
    changes(page, 1)
    assert page.evaluate(AT, "B") == pytest.approx(at, abs=8), "it stands where it was put"
    if "Connector" in tools:
        tool(page, "Duplex")
        page.mouse.move(*page.evaluate(AT, "A"))
        page.mouse.down()
        page.mouse.move(*page.evaluate(AT, "B"), steps=4)
        page.get_by_text("A_to_B: release here").wait_for()
        page.mouse.up()
        changes(page, 2)
        assert picture.desk.shown[0].body["connectors"][0]["duplex"] is True
    tool(page, "Consumer")
    page.mouse.click(*page.evaluate(PLACE, ["brokers", "B"]))
    page.get_by_role("group", name="Options of the selected part").get_by_text("C2").wait_for()
    assert picture.desk.traces[0].received()["C2"] > 0


def test_options_stand_beside_the_part_and_problems_beside_the_field(page, build):
    picture = build("ActiveMQ")
    tool(page, "Broker")
    put(page, 0.85, 0.85)
    changes(page, 1)
    tool(page, "Connector")
    page.mouse.move(*page.evaluate(AT, "A"))
    page.mouse.down()
    page.mouse.move(*page.evaluate(AT, "B"), steps=4)
    page.mouse.up()
    changes(page, 2)
    editor = page.get_by_role("group", name="Options of the selected part")
    editor.get_by_label("networkTTL").fill("many")
    editor.get_by_label("networkTTL").press("Enter")
    assert "many" in editor.get_by_role("alert").inner_text()
    editor.get_by_label("networkTTL").fill("0")
    editor.get_by_label("networkTTL").press("Enter")
    changes(page, 3)
    assert picture.desk.shown[0].body["connectors"][0]["network_ttl"] == 0
    assert len(picture.desk.state.branches) == 1, "while one builds nothing is forked"
    editor.get_by_role("button", name="Fix: ").first.wait_for()
    # A numbered sign at the part.
    page.wait_for_function("() => Bokeh.documents[0].get_model_by_name('draw wedges').data.w.includes(1.5)")


def test_escape_ends_drawing_and_puts_nothing(page, build):
    picture = build("ActiveMQ")
    tool(page, "Broker")
    page.keyboard.press("Escape")
    put(page, 0.85, 0.85)
    page.wait_for_timeout(400)
    assert len(picture.desk.shown[0].body["brokers"]) == 1


def test_a_broker_put_beside_the_palette_does_not_lie_below_it(page, build):
    build("ActiveMQ")
    tool(page, "Broker")
    put(page, 0.17, 0.8)
    changes(page, 1)
    palette = page.get_by_role("toolbar", name="Parts to draw").bounding_box()
    middle, _ = page.evaluate(AT, "B")
    assert middle - page.evaluate(WIDE, "B") / 2 > palette["x"] + palette["width"]


def test_what_is_typed_while_the_kernel_works_is_done_in_turn_and_nothing_is_lost(page, build):
    build("ActiveMQ")
    page.evaluate("""() => { const ask = window.toKernel;
      window.toKernel = async (text) => { window.waits = true;
        await (window.held ??= new Promise((done) => { window.go = done; }));
        return ask(text); }; }""")
    name, queue = page.get_by_label("Name of the broker"), page.get_by_label("Queue of the consumer")
    name.click()
    for text in ("north", "south", "far east"):
        page.keyboard.type(f"{text}\n")
    page.wait_for_function("() => window.waits")
    queue.click()
    page.keyboard.type("ORDERS")
    page.evaluate("() => { window.go(); }")
    page.get_by_role("alert").filter(has_text="no spaces").wait_for()
    page.evaluate(STEADY)
    assert page.evaluate(NAMES) == ["A", "north", "south"]
    assert (name.input_value(), queue.input_value()) == ("far east", "ORDERS")
    cards = page.evaluate("""() => { const b = Bokeh.documents.at(-1).mqlab.player.panels[0].data('brokers');
      return b.x.map((x, i) => [x, b.y[i], b.w[i], b.h[i]]); }""")
    for (x, y, w, h), (x2, y2, *_) in combinations(cards, 2):
        assert abs(x - x2) > w or abs(y - y2) > h


def test_the_focus_stays_where_one_went_while_the_kernel_worked(page, build):
    build("ActiveMQ")
    queue = page.get_by_label("Queue of the consumer")
    page.get_by_label("Name of the broker").fill("north")
    page.get_by_label("Name of the broker").press("Enter")
    queue.click()
    page.keyboard.type("ORDERS")
    page.wait_for_function(f"() => ({NAMES})().includes('north')")
    page.evaluate(STEADY)
    page.keyboard.type(".NEW")
    assert queue.input_value() == "ORDERS.NEW"
