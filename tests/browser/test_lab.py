"""The laboratory in the picture: ask, break, fork, compare, build; its kernel is this process.

The five questions that a new user has are answered in at most three actions each; each test that does
so counts them in its docstring.
"""

import re

import pytest
from playwright.sync_api import expect

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.desk_page import READY, open_desk
from tests.browser.test_stage import PLACE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]

# While one document takes the place of another there may be none for a moment.
PLAYER = "(Bokeh.documents.at(-1)?.mqlab?.player ?? { panels: [] })"


@pytest.fixture
def desk(page):
    """Return a function that shows a figure with its desk."""

    def show(figure):
        return open_desk(page, mq.run(figure), figure)

    return show


def select(page, kind, name):
    """Select a part as a click on the stage does: by the player."""
    chosen = {"kind": kind, "name": name} | ({"msg": int(name)} if kind == "message" else {})
    page.evaluate(f"(chosen) => {PLAYER}.select(chosen)", chosen)


def go_to(page, ms):
    page.evaluate(f"(ms) => {PLAYER}.seek({PLAYER}.storyTime(ms))", ms)


def now(page):
    """Return the time of the run that is shown (ms), on each side."""
    return page.evaluate(f"() => {PLAYER}.panels.map(p => {PLAYER}.runTime(p, {PLAYER}.t))")


def panel(page):
    """Return the open tab."""
    return page.locator(".mq-body:not([hidden])")


def settled(page):
    page.wait_for_function(READY)


# What a new user asks


def test_who_is_master_now(page, desk):
    """One action: click broker2."""
    desk("fuse:4.4")
    go_to(page, 15_500)
    select(page, "broker", "broker2")
    panel(page).get_by_text("broker2 is now master: it holds the lock of its set.").wait_for()


def test_why_did_c3_get_nothing(page, desk):
    """Two actions: click the consumer; press "Why not P-1?"."""
    desk("fuse:2.20")
    select(page, "consumer", "C3")
    panel(page).get_by_role("button", name="Why not P-1?").click()
    panel(page).get_by_text("Why did C3 not receive message P-1?").wait_for()
    panel(page).get_by_text("it was this subscription's turn").first.wait_for()
    panel(page).get_by_text("Fuse 3, Load balancing").first.wait_for()


def test_what_if_the_conduit_were_off(page, desk):
    """Three actions: click the connector and open its options (the tab); untick; apply and compare."""
    picture = desk("fuse:2.20")
    select(page, "connector", "A/linkToBrokerB")
    page.get_by_role("tab", name="Options").click()
    panel(page).get_by_label("conduitSubscriptions").uncheck()
    panel(page).get_by_role("button", name="Apply and compare").click()
    panel(page).get_by_text("Received at the end").wait_for()
    for name, counts in {"C1": "6 → 4", "C2": "3 → 4", "C3": "3 → 4"}.items():
        panel(page).locator(".bells", has_text=name).get_by_text(counts).first.wait_for()
    assert [trace.received() for trace in picture.desk.traces] == [
        {"C1": 6, "C2": 3, "C3": 3}, {"C1": 4, "C2": 4, "C3": 4}]  # fmt: skip


def test_kill_b_and_see(page, desk):
    """Three actions: click B; press X (or the button "Break B ..."); choose Crash B."""
    picture = desk("fuse:2.20")
    go_to(page, 14)
    select(page, "broker", "B")
    panel(page).get_by_role("button", name="Break B").click()
    page.get_by_role("menuitem", name="Crash B").click()
    page.get_by_role("button", name=re.compile("Crash B at 14 ms")).wait_for()
    assert now(page) == [pytest.approx(14, abs=0.5)], "the moment stays"
    crashed = next(e for e in picture.trace.events() if e.kind == mq.Kind.Crashed)
    assert crashed.t == pytest.approx(14_000, abs=600)
    panel(page).get_by_text("B crashed").wait_for()


def test_which_message_came_twice(page, desk):
    """No action: the run without a selection says it; one more (Events) shows the rows."""
    desk("artemis:21.1.2-duplicates")
    panel(page).get_by_text(re.compile("more than once|each received the same")).first.wait_for()


def test_runs_are_lanes_of_the_time_bar_and_a_lane_is_the_way_there(page, desk):
    picture = desk("fuse:2.20")
    lanes = page.get_by_role("group", name="Runs of this session")
    assert not lanes.is_visible()
    for name, ms in (("B", 14), ("A", 8), ("B", 10), ("A", 5)):
        go_to(page, ms)
        select(page, "broker", name)
        panel(page).get_by_role("button", name=f"Break {name}").click()
        page.get_by_role("menuitem", name=f"Crash {name}").click()
        lanes.get_by_role("button", name=f"Crash {name} at {ms} ms").wait_for()
    assert len(lanes.get_by_role("button").all()) == 4, "three lanes, and the way to the others"
    lanes.get_by_role("button", name="2 more runs").click()
    page.get_by_role("menuitem", name="Crash B at 14 ms").click()
    lanes.get_by_role("button", name="2 Δ Crash B at 14 ms", pressed=True).wait_for()
    assert picture.desk.state.current == 1
    lanes.get_by_role("button", name="1 as it was").click()
    lanes.get_by_role("button", name="1 as it was", pressed=True).wait_for()
    assert picture.desk.state.current == 0


# Ask


def test_a_step_of_a_story_is_a_moment(page, desk):
    desk("fuse:2.20")
    select(page, "message", "5")
    steps = panel(page).locator("ol.steps button")
    steps.nth(3).click()
    assert now(page) == [pytest.approx(12)]
    assert "now" in steps.nth(3).get_attribute("class")
    assert "later" not in steps.nth(3).get_attribute("class")
    steps.nth(0).click()
    assert now(page) == [pytest.approx(10)]
    assert "later" in steps.nth(3).get_attribute("class")


def test_what_if_forks_to_the_run_that_it_promised(page, desk):
    picture = desk("fuse:2.20")
    select(page, "message", "5")
    panel(page).get_by_role("button", name="Why not C2?").click()
    panel(page).get_by_role("button", name="What if?").click()
    panel(page).get_by_text("Result: C1 6 → 4, C2 3 → 4, C3 3 → 4.").wait_for()
    panel(page).get_by_role("button", name="Fork", exact=True).first.click()
    panel(page).get_by_text("Why is message P-5 at C2?").wait_for()
    assert picture.trace.received() == {"C1": 4, "C2": 4, "C3": 4}
    page.get_by_role("button", name="Δ 1 change").wait_for()


def test_what_would_deliver_stuck_messages_is_asked_with_one_press_and_made_with_another(page, desk):
    desk("article:stuck")
    go_to(page, 1e9)
    panel(page).get_by_text("10 of TEST.FOO stuck at A:").wait_for()
    panel(page).get_by_role("button", name="What would deliver them?").click()
    panel(page).get_by_text("replayWhenNoConsumers for queue://TEST.FOO at every broker").wait_for()
    panel(page).get_by_role("button", name="Fork", exact=True).first.click()
    settled(page)
    go_to(page, 1e9)
    panel(page).get_by_text("received so far", exact=False).wait_for()
    assert panel(page).get_by_text("stuck at").count() == 0


def test_how_else_a_run_may_end_is_played_with_progress_and_opened_with_a_press(page, desk):
    desk("unsafe:lease")
    panel(page).get_by_role("button", name="Try 100 seeds").click()
    panel(page).get_by_text("100 seeds played").wait_for()
    ends = panel(page).locator(".spread button.row:not([disabled])")
    text = ends.last.locator("span").nth(1).inner_text()
    ends.last.click()
    settled(page)
    page.get_by_role("button", name="Δ 1 change").wait_for()
    assert len(now(page)) == 2, "beside the run that it differs from"
    assert "→" in text


def test_a_spread_that_is_cancelled_says_how_many_seeds_it_has(page, desk):
    desk("unsafe:lease")
    page.evaluate(f"""() => {{ const ask = {PLAYER}.ask; {PLAYER}.ask = async (kind, data) => {{
        if (kind === "spread") await new Promise(done => setTimeout(done, 400));
        return ask(kind, data); }}; }}""")
    panel(page).get_by_role("button", name="Try 100 seeds").click()
    some = panel(page).get_by_text(re.compile(r"^[1-9]\d? seeds? played, \d+ outcomes?"))
    some.wait_for()
    panel(page).get_by_role("button", name="Cancel").click()
    some.wait_for()
    assert panel(page).get_by_role("button", name="Cancel").count() == 0


def test_a_fault_is_dragged_and_its_outcome_is_told_under_the_pointer(page, desk):
    picture = desk("unsafe:lease")
    crash = page.get_by_role("button", name=re.compile("^crash B at"))
    box = crash.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] - 80, box["y"] + 8, steps=4)
    told = page.locator(".faults .told")
    told.get_by_text("K 8 → 10").wait_for()
    page.mouse.up()
    settled(page)
    page.get_by_role("button", name="Δ 1 change").wait_for()
    assert picture.trace.received() == {"K": 10}
    assert told.is_hidden()


def test_a_fault_is_moved_by_keyboard_and_put_back_with_escape(page, desk):
    picture = desk("unsafe:lease")
    before = picture.trace
    page.get_by_role("button", name=re.compile("^crash B at")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.locator(".faults .told").get_by_text("crash B at").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".faults .told").is_hidden()
    assert picture.trace is before
    page.get_by_role("button", name=re.compile("^crash B at")).focus()
    for _ in range(10):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Δ 1 change").wait_for()
    assert picture.trace is not before


def test_an_answer_that_comes_too_late_is_not_shown(page, desk):
    desk("fuse:2.20")
    page.evaluate(f"() => {{ {PLAYER}.select({{kind: 'broker', name: 'A'}}); "
                  f"{PLAYER}.select({{kind: 'broker', name: 'B'}}); }}")  # fmt: skip
    panel(page).get_by_text("What happened at B?").wait_for()
    page.wait_for_timeout(300)
    assert panel(page).get_by_text("What happened at A?").count() == 0


# Break, fork, undo


def test_a_crash_while_it_plays_and_back(page, desk):
    picture = desk("fuse:2.20")
    first = picture.trace
    select(page, "broker", "B")
    go_to(page, 8)
    page.evaluate(f"() => {PLAYER}.setPlaying(true)")
    page.wait_for_function(f"() => {PLAYER}.runTime({PLAYER}.panels[0], {PLAYER}.t) > 8.1")
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("menuitem", name="Crash B").click()
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()
    second = picture.trace
    assert now(page)[0] > 8
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(f"() => !{PLAYER}.panels[0].data('events').what.join().includes('crashed')")
    assert picture.trace is first
    page.get_by_role("button", name="Redo").click()
    page.wait_for_function(f"() => {PLAYER}.panels[0].data('events').what.join().includes('crashed')")
    assert picture.trace is second


def test_the_menu_is_for_the_keyboard_too(page, desk):
    picture = desk("fuse:2.20")
    go_to(page, 14)
    select(page, "broker", "B")
    button = panel(page).get_by_role("button", name="Break B")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Crash B").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("menu").count() == 0
    button.wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Crash B").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=re.compile("Stop B cleanly")).wait_for()
    assert mq.Kind.Stopped in [event.kind for event in picture.trace.events()]


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const at = PLAYER.element;
  for (const kind of ["dragover", "drop"])
    at.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}""".replace("PLAYER", PLAYER)
BROKER = '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="{}"/>'


def test_files_are_opened_by_the_menu_or_dropped_and_what_was_drawn_is_kept(page, desk):
    picture = desk("fuse:2.1")
    # Around all of it: Chromium is asked to hand the dialog over, and nobody waits until it knows.
    with page.expect_file_chooser() as chosen:
        page.locator("[data-name=open]").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("menuitem").first).to_be_focused()
        page.keyboard.press("Enter")
    hub = {"name": "hub.xml", "mimeType": "text/xml", "buffer": BROKER.format("Z").encode()}
    chosen.value.set_files([hub])
    page.locator(".mq-top .id", has_text="hub.xml").wait_for()
    assert picture.trace.received() == {"consumer-Z": 10}
    page.get_by_role("button", name="Build", exact=True).click()
    panel(page).get_by_label("Name of the broker").fill("A")
    panel(page).get_by_role("button", name="Add").first.click()
    page.locator("[data-name=delta]").wait_for()
    page.evaluate(DROP, ["rim.xml", BROKER.format("R")])
    page.locator(".mq-top .id", has_text="rim.xml").wait_for()
    page.get_by_role("status").get_by_text("is kept").wait_for()
    page.locator("[data-name=open]").click()
    page.get_by_role("menuitem", name="My network: Z, A").click()
    page.locator(".mq-top .id", has_text="my network").wait_for()
    assert picture.trace.received() == {"consumer-Z": 10}


def test_what_is_no_configuration_is_told_by_its_name_and_changes_nothing(page, desk):
    picture = desk("fuse:2.1")
    first = picture.trace
    for name, text, said in (("pom.xml", "<project/>", "pom.xml"), ("<b>x</b>.json", "{", "<b>x</b>.json"),
                             ("big.xml", "x" * 2_100_000, "big.xml: 2.1 MB are too many")):  # fmt: skip
        page.evaluate(DROP, [name, text])
        page.get_by_role("status").get_by_text(said).wait_for()
    assert picture.trace is first


def test_a_bad_value_stays_with_its_field_and_there_is_a_way_back(page, desk):
    picture = desk("fuse:2.20")
    first = picture.trace
    select(page, "connector", "A/linkToBrokerB")
    page.get_by_role("tab", name="Options").click()
    field = panel(page).get_by_label("networkTTL")
    field.fill("two")
    panel(page).get_by_role("button", name="Fork with 1 change").click()
    panel(page).locator(".option", has_text="networkTTL").get_by_role("alert").wait_for()
    assert picture.trace is first
    assert field.input_value() == "two"
    panel(page).get_by_role("button", name="reset to 3").click()
    assert field.input_value() == "3"
    assert panel(page).get_by_role("alert").count() == 0
    assert panel(page).get_by_role("button", name="Fork with changes").is_disabled()


def test_the_page_to_take_away_is_of_what_is_shown_and_needs_no_kernel(page, desk, tmp_path):
    picture = desk("fuse:2.20")
    picture.desk.answer("break", {"ms": 15, "step": {"do": "Crash", "broker": "B"}})
    picture.follow()
    file = tmp_path / "page.html"
    file.write_text(picture.ask("page", {})["page"], encoding="utf-8")
    page.goto(file.as_uri())
    settled(page)
    panel(page).get_by_text("Click a message, a broker").wait_for()
    assert "B crashed." in page.evaluate(f"() => {PLAYER}.panels[0].data('events').what")
    select(page, "message", "5")
    panel(page).get_by_text("P sent it to queue://TEST.FOO at A.").wait_for()
    page.get_by_role("tab", name="Options").click()
    panel(page).get_by_text("This needs a running kernel").wait_for()


# Compare


def test_two_runs_have_one_clock_and_the_first_difference_is_a_click(page, desk):
    desk("fuse:2.20")
    go_to(page, 9)
    select(page, "broker", "B")
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("menuitem", name="Crash B").click()
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_function(f"() => {PLAYER}.panels.length === 2 && {PLAYER}.begun")
    settled(page)
    panel(page).get_by_role("button", name=re.compile(r"^Go to .* m?s")).click()
    left, right = now(page)
    assert left == pytest.approx(right)
    assert left == pytest.approx(9, abs=1)
    for seconds in (0, 1.5, 99):
        page.evaluate(f"(t) => {PLAYER}.seek(t)", seconds)
        left, right = now(page)
        assert left == pytest.approx(right)
    page.get_by_role("button", name="Watch", exact=True).click()
    page.wait_for_function(f"() => {PLAYER}.panels.length === 1 && {PLAYER}.begun")


def test_comparing_again_and_again_leaves_nothing_behind(page, desk):
    desk("fuse:2.20")
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("menuitem", name="Crash B").click()
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()
    count = "() => [Bokeh.documents.length, model.heard.length, document.querySelectorAll('*').length]"
    counts = []
    for _ in range(3):
        page.get_by_role("button", name="Compare", exact=True).click()
        page.wait_for_function(f"() => {PLAYER}.panels.length === 2 && {PLAYER}.begun")
        page.get_by_role("button", name="Watch", exact=True).click()
        page.wait_for_function(f"() => {PLAYER}.panels.length === 1 && {PLAYER}.begun")
        settled(page)
        counts.append(page.evaluate(count))
    assert counts[0] == counts[2]
    assert counts[0][0] == 1


# Another run from outside, no kernel, a lost one


def test_another_figure_while_it_plays(page, desk):
    picture = desk("fuse:2.20")
    page.evaluate(f"() => {PLAYER}.setPlaying(true)")
    for figure in ("fuse:4.4", "fuse:2.9", "openmq:4-1", "fuse:2.20", "artemis:21.1"):
        page.wait_for_timeout(150)
        picture.desk.load(mq.run(figure), figure)
        picture.follow()
        page.evaluate("(columns) => modelSet({ columns })", picture.columns)
        page.locator(".mq-top .id", has_text=figure).wait_for()
        assert page.evaluate(f"() => [{PLAYER}.playing, {PLAYER}.t]") == [False, 0]
        title = page.locator(".mq-top .title").text_content()
        assert title == mq.figure(figure).title
        lengths = page.evaluate("""() => Bokeh.documents[0].roots()[0].document._all_models
          ? [...Bokeh.documents[0]._all_models.values()].filter(m => m.type === 'ColumnDataSource')
            .map(m => new Set(Object.values(m.data).map(c => c.length)).size) : [1]""")
        assert set(lengths) <= {0, 1}
        page.evaluate(f"() => {PLAYER}.setPlaying(true)")


def test_a_lost_kernel_is_told_calmly_and_the_picture_plays_on(page, desk):
    desk("fuse:2.20")
    page.evaluate("() => { window.dead = true; model.fire('comm_live_update'); }")
    panel(page).get_by_text("The kernel was restarted.").first.wait_for()
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("status").get_by_text("run the cell again").wait_for()
    before = page.evaluate(f"() => {PLAYER}.t")
    page.evaluate(f"() => {PLAYER}.setPlaying(true)")
    page.wait_for_function(f"before => {PLAYER}.t > before", arg=before)


def test_ten_views_of_one_run_leave_nothing_when_they_go(page, desk):
    desk("fuse:2.20")
    count = "() => [Bokeh.documents.length, model.heard.length, document.querySelectorAll('*').length]"
    counts = []
    for _ in range(10):
        page.evaluate("async () => { const gone = await show(); await gone(); }")
        counts.append(page.evaluate(count))
    assert counts[-1] == counts[0]
    assert counts[0][0] == 1


# The stage itself


def place_of(page, name):
    """Return where the middle of a broker's card is on the page (px)."""
    return page.evaluate(f"""(name) => {{ const p = {PLAYER}.panels[0], b = p.data('brokers');
      const i = Array.from(b.name).indexOf(name), [x, y] = p.xy(b.x[i], b.y[i]);
      const box = Bokeh.index.find_one(p.source('stage')).el.getBoundingClientRect();
      return [box.left + x, box.top + y]; }}""", name)  # fmt: skip


def test_a_click_selects_and_a_right_click_breaks(page, desk):
    desk("fuse:2.20")
    go_to(page, 14)
    page.mouse.click(*place_of(page, "A"))
    panel(page).get_by_text("What happened at A?").wait_for()
    page.mouse.click(*place_of(page, "B"), button="right")
    page.get_by_role("menuitem", name="Crash B").click()
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()


def test_a_drag_from_broker_to_broker_connects_them_while_one_builds(page, desk):
    picture = desk("fuse:2.20")
    page.get_by_role("button", name="Build", exact=True).click()
    page.mouse.move(*page.evaluate(PLACE, ["brokers", "B"]))  # at its rim: by its middle it is moved
    page.mouse.down()
    page.mouse.move(*place_of(page, "A"), steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Δ 1 change").wait_for()
    connectors = picture.desk.shown[0].body["connectors"]
    assert [(c["name"], c["from"], c["to"]) for c in connectors][-1] == ("B_to_A", "B", "A")


def test_the_focus_stays_in_the_picture_when_its_document_is_another(page, desk):
    desk("fuse:2.20")
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("menuitem", name="Crash B").press("Enter")
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()
    page.get_by_role("button", name="Compare", exact=True).press("Enter")
    page.wait_for_function(f"() => {PLAYER}.panels.length === 2 && {PLAYER}.begun")
    page.wait_for_function(f"() => {PLAYER}.element.matches(':focus-within')")
    page.keyboard.press("End")
    assert page.evaluate(f"() => {PLAYER}.t === {PLAYER}.duration")


# Build


def test_a_network_is_drawn_by_forms_and_the_outcome_stands_below(page, desk):
    picture = desk("fuse:2.20")
    page.get_by_role("button", name="Build", exact=True).click()
    panel(page).get_by_role("button", name="New: ActiveMQ").click()
    panel(page).get_by_text("C1 receives 10").wait_for()
    panel(page).get_by_label("Name of the broker").fill("B")
    panel(page).get_by_role("button", name="Add").first.click()
    panel(page).get_by_label("Broker of the consumer").locator("option", has_text="B").wait_for(
        state="attached"
    )
    panel(page).get_by_label("Broker of the consumer").select_option("B")
    panel(page).get_by_role("button", name="Add").nth(1).click()
    panel(page).get_by_text("C2 receives 0").wait_for()
    panel(page).get_by_label("From", exact=True).select_option("A")
    panel(page).get_by_label("To", exact=True).select_option("B")
    panel(page).get_by_role("button", name="Connect").click()
    panel(page).get_by_text("C2 receives 5").wait_for()
    assert picture.trace.received() == {"C1": 5, "C2": 5}
    page.get_by_role("tab", name="Code").click()
    panel(page).get_by_text("mq.NetworkConnector(").first.wait_for()
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function(f"() => {PLAYER}.panels[0].data('events').what.length > 0")
    page.get_by_role("tab", name="Build").click()
    panel(page).get_by_text("C2 receives 0").wait_for()


def test_names_are_text(page):
    name = "<img src=x onerror=alert(1)>"
    net = mq.Network(mq.Broker(name), mq.Broker("B"))
    trace = mq.run(net, mq.Consumer("C1", on=name, reads=mq.Queue("Q")),
                   mq.Producer("P", on=name, sends=1, to=mq.Queue("Q")))  # fmt: skip
    open_desk(page, trace, name)
    select(page, "broker", name)
    panel(page).get_by_text(f"What happened at {name}?").wait_for()
    page.evaluate(f"() => {PLAYER}.emit('break')")
    page.get_by_role("menuitem", name=f"Crash {name}").click()
    page.get_by_role("button", name=re.compile("^2 Δ Crash")).wait_for()
    assert (
        page.evaluate("""() => { const all = (el) => [el, ...[...el.children].flatMap(all),
      ...(el.shadowRoot ? [...el.shadowRoot.children].flatMap(all) : [])];
      return all(document.body).filter((el) => el.tagName === 'IMG').length; }""")
        == 0
    )


def test_a_menu_stays_inside_the_output_of_a_cell(page, desk):
    desk("fuse:2.20")
    shown = page.locator("body > div").first
    shown.evaluate("box => { box.style.height = '600px'; box.style.overflow = 'auto'; }")
    page.mouse.click(*page.evaluate(PLACE, ["brokers", "B"]), button="right")
    page.get_by_role("menuitem", name="Crash B").wait_for()
    menu, output = page.get_by_role("menu").bounding_box(), shown.bounding_box()
    assert menu["y"] + menu["height"] <= output["y"] + output["height"]
    page.keyboard.press("Escape")
    shown.evaluate("box => { box.style.width = '900px'; }")
    page.evaluate(STEADY)
    page.get_by_role("button", name="Save", exact=True).click()
    menu, output = page.get_by_role("menu").bounding_box(), shown.bounding_box()
    assert menu["x"] + menu["width"] <= output["x"] + output["width"]
