"""What somebody meets who has never seen the picture: a laptop's window, a notebook's cell, mouse and eyes."""

import pytest

import mqlab as mq
from mqlab.spec import topology
from tests.browser.conftest import STEADY
from tests.browser.desk_page import open_desk
from tests.browser.test_lab import BROKER, DROP, PLAYER, go_to, panel, select
from tests.browser.test_notebook import notebook, run_all
from tests.browser.test_stage import PLACE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]

LAPTOP = {"width": 920, "height": 768}  # a cell beside the file browser, at 1366 x 768
# Whether what has the focus is called so.
FOCUSED = """name => { let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at.getAttribute('aria-label') === name; }"""
# How wide a list is, and how wide its longest choice wants it to be.
WIDTHS = """list => { const free = list.cloneNode(true);
  free.style.cssText = "position:absolute;width:auto;max-width:none;flex:none";
  list.parentNode.append(free);
  const found = [list.offsetWidth, free.offsetWidth];
  free.remove();
  return found; }"""


@pytest.fixture
def laptop(page):
    """Return a function that shows a run in a cell of a laptop's JupyterLab."""

    def show(trace, name="", **window):
        page.set_viewport_size({**LAPTOP, **window})
        open_desk(page, trace, name)
        return page

    return show


def test_an_answer_stands_beside_the_picture_in_a_low_window(laptop):
    page = laptop(mq.run("fuse:2.1"), "fuse:2.1")
    select(page, "consumer", "C2")
    answer = panel(page).get_by_text("Why did C2 receive nothing?")
    answer.wait_for()
    assert answer.bounding_box()["y"] < 200
    asks = panel(page).get_by_role("button", name="Why not P2-1?").bounding_box()
    assert asks["y"] + asks["height"] < LAPTOP["height"]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= LAPTOP["width"]


def test_what_if_the_conduit_were_off_takes_two_clicks(laptop):
    page = laptop(mq.run("fuse:2.20"), "fuse:2.20")
    go_to(page, 14)
    links = f"{PLAYER}.panels[0].data('links')"
    middle = page.evaluate(f"""() => {{ const p = {PLAYER}.panels[0], l = {links};
      const box = document.querySelector('.bk-Figure') ?? Bokeh.index.find_one(p.source('stage')).el;
      const [x, y] = p.xy((l.x0[0] + l.x1[0]) / 2, (l.y0[0] + l.y1[0]) / 2), r = box.getBoundingClientRect();
      return [r.x + x, r.y + y]; }}""")
    page.mouse.click(*middle)
    panel(page).get_by_role("button", name="conduitSubscriptions false").click()
    for name, counts in {"C1": "6 → 4", "C2": "3 → 4", "C3": "3 → 4"}.items():
        panel(page).locator(".bells", has_text=name).get_by_text(counts).first.wait_for()


def test_which_message_came_twice_is_said_by_name_and_a_click_tells_its_story(laptop):
    page = laptop(mq.run("artemis:21.1.2-duplicates"))
    panel(page).get_by_role("button", name="sender2-3", exact=True).click()
    panel(page).get_by_text("Why is message sender2-3 at M?").wait_for()
    assert panel(page).locator("ol.steps button").count() > 2


@pytest.mark.sample(2)
@pytest.mark.parametrize("window", [{"width": 900, "height": 1000}, LAPTOP])
def test_the_speed_can_be_read_to_its_end(laptop, window):
    page = laptop(mq.run("fuse:2.20"), "fuse:2.20", **window)
    wide, wanted = page.get_by_label("Speed").evaluate(WIDTHS)
    assert wide >= wanted


@pytest.mark.sample(2)
@pytest.mark.parametrize("width", [1700, 1900])
def test_no_list_of_the_bar_is_cut_where_keys_can_give_way(laptop, width):
    page = laptop(mq.run("artemis:21.1.2-duplicates"), width=width, height=1100)
    for one in page.get_by_role("toolbar", name="Playing").locator("select").all():
        wide, wanted = one.evaluate(WIDTHS)
        assert wide >= min(wanted, 138)  # so wide may a long list be where there is little room


def test_how_long_the_run_is_stands_only_where_there_is_room_for_it(laptop):
    page = laptop(mq.run("fuse:2.20"), "fuse:2.20", width=900, height=1000)
    bar, whole = page.get_by_role("toolbar", name="Playing"), page.locator(".transport .of")
    assert not whole.is_visible()
    narrow = bar.bounding_box()
    assert all(
        box["x"] + box["width"] <= narrow["x"] + narrow["width"] and box["height"] < 50
        for box in (one.bounding_box() for one in bar.get_by_role("button").all())
    )
    page.set_viewport_size({"width": 1440, "height": 1000})
    whole.get_by_text("/ 28.0 ms").wait_for()


def test_the_bar_above_is_one_row_and_the_title_gives_way(laptop):
    page = laptop(mq.run("fuse:2.20"), "fuse:2.20")
    tops = {one.bounding_box()["y"] for one in page.locator(".mq-top button").all()}
    save = page.get_by_role("button", name="Save").bounding_box()
    assert max(tops) - min(tops) < 8
    assert save["x"] + save["width"] <= LAPTOP["width"]


def test_a_role_leaves_the_name_of_a_small_card_whole(laptop):
    page = laptop(mq.run("fuse:4.4"), "fuse:4.4")
    drawn = f"() => {PLAYER}.panels[0].source('draw words').data.text"
    for ms in (0, 8_000, 14_650):  # not started, crashed, slave
        go_to(page, ms)
        page.evaluate(STEADY)
        assert {"broker1", "broker2", "broker3"} <= set(page.evaluate(drawn))


def test_a_thin_line_that_was_used_both_ways_is_two_lines_as_wide_as_their_traffic(laptop):
    net = topology.network("mesh", 60)
    first, last = net.names[0], net.names[-1]
    sends = {"there": (first, last, 40), "back": (last, first, 4)}
    actions = [action for name, (a, b, count) in sends.items()
               for action in (mq.Consumer(f"C-{name}", on=b, reads=mq.Queue(name)),
                              mq.Producer(name, on=a, sends=count, to=mq.Queue(name)))]  # fmt: skip
    page = laptop(mq.run(net, *actions), width=1400, height=1000)
    page.evaluate(f"() => {PLAYER}.seek({PLAYER}.duration)")
    page.evaluate(STEADY)
    used = page.evaluate(f"""() => {{
      const {{ w, xs, ys, alpha }} = {PLAYER}.panels[0].source('draw pipes').data;
      return w.map((wide, i) => [wide, xs[i].at(0), ys[i].at(0)])
        .filter((_, i) => alpha[i] === 1 && w[i] > 1.5); }}""")
    widths = sorted({round(wide, 2) for wide, _, _ in used})
    assert len(widths) == 2
    assert widths[1] > 1.4 * widths[0]
    places = [(x, y) for _, x, y in used]
    assert len(used) == 2 * 10, "ten lines lead from corner to corner"
    assert len(set(places)) == len(places), "no two lie on one another"


def test_a_click_with_the_right_button_kills_a_broker_in_jupyterlab(lab, jupyter):
    """Two actions: click B with the right button; choose Crash B. JupyterLab has a menu, too."""
    notebook(jupyter[2] / "kill.ipynb", "import mqlab as mq\nmq.view(mq.run('fuse:2.20'))")
    page = lab("kill.ipynb")
    run_all(page)
    page.wait_for_function("() => window.Bokeh?.documents?.length === 1")
    page.get_by_role("button", name="Build", exact=True).wait_for()  # the kernel has answered
    page.mouse.click(*page.evaluate(PLACE, ["brokers", "B"]), button="right")
    page.get_by_role("menuitem", name="Crash B").click()
    panel(page).get_by_text("B crashed").wait_for()
    assert page.locator(".lm-Menu").count() == 0


def test_a_form_is_sent_by_enter_in_jupyterlab_and_keeps_the_focus(lab, jupyter):
    """JupyterLab prevents line breaks in cells, and with them the Enter that sends a form."""
    notebook(jupyter[2] / "enter.ipynb", "import mqlab as mq\nmq.widgets.Workbench()")
    page = lab("enter.ipynb")
    run_all(page)
    field = panel(page).get_by_label("Name of the broker")
    for name in ("north", "south"):
        field.fill(name)
        field.press("Enter")
        page.wait_for_function(f"() => {PLAYER}.panels[0].data('brokers').name.includes('{name}')")
        page.wait_for_function(FOCUSED, arg="Name of the broker")
        assert field.input_value() == ""
    # It glides to where there is room for it.
    apart = "Math.abs(x[0] - x[1]) > w[0] || Math.abs(y[0] - y[1]) > h[0]"
    page.wait_for_function(f"""() => {{
        const {{ x, y, w, h }} = {PLAYER}.panels[0].data('brokers');
        return {apart};
    }}""")


def test_a_file_dropped_on_the_stage_in_jupyterlab_is_opened_and_chosen_above_it(lab, jupyter):
    """JupyterLab would put a file that is dropped on it into its folder."""
    notebook(jupyter[2] / "drop.ipynb", "import mqlab as mq\nmq.widgets.Workbench()")
    page = lab("drop.ipynb")
    run_all(page)
    panel(page).get_by_label("Name of the broker").wait_for()
    page.evaluate(DROP, ["hub.xml", BROKER.format("Z")])
    page.locator(".mq-top .id", has_text="hub.xml").wait_for()
    page.wait_for_function(f"() => {PLAYER}.panels[0].data('brokers').name.includes('Z')")
    page.locator(".widget-dropdown select").first.wait_for()
    assert page.locator(".widget-dropdown select").first.input_value() == "my network"
    assert not (jupyter[2] / "hub.xml").exists()
