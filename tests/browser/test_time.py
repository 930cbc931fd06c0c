"""Watching a run, stopping it and reading it: the strips below the stage, in a page from a file."""

from pathlib import Path

import pytest

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.test_notebook import GET, PLAYER

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]

ACCESS = Path(__file__).with_name("access.js").read_text(encoding="utf-8")
EVENTS = "() => Bokeh.documents[0].get_model_by_name('events').data"


@pytest.fixture
def opened(opened):
    """Return a function that opens the page of a run, with the focus on the player."""

    def open_page(what, width=1366, height=768):
        page = opened(what, width, height)
        page.locator(".bk-Figure").first.click(position={"x": 5, "y": 5})
        return page

    return open_page


def row(page):
    return page.evaluate(PLAYER, [0, "row"])


def caption(page):
    return page.locator(".caption .said").inner_text()


def test_the_overview_is_the_seek_bar(opened):
    page = opened("fuse:4.4")
    strip = page.get_by_role("slider", name="Time")
    box = strip.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 40)
    middle = page.evaluate(PLAYER, [0, "t"])
    assert 0.4 < middle / page.evaluate(PLAYER, [0, "duration"]) < 0.7
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 40)
    page.mouse.up()
    assert page.evaluate(PLAYER, [0, "t"]) > middle
    strip.focus()
    page.keyboard.press("Home")
    assert strip.get_attribute("aria-valuenow") == "0.000"
    page.keyboard.press("PageUp")
    events = page.evaluate(EVENTS)
    assert events["chapter"][row(page)] == "broker1 acquires the lock"
    assert strip.get_attribute("aria-valuetext") == "500 ms"
    page.keyboard.press("PageUp")
    page.keyboard.press("PageDown")
    assert events["chapter"][row(page)] == "broker1 acquires the lock"


def test_the_caption_says_what_happens_and_why_and_is_spoken_while_it_stands_still(opened):
    page = opened("fuse:2.20")
    place = page.locator(".caption")
    page.keyboard.press("Home")
    for _ in range(30):
        page.keyboard.press("ArrowRight")
        said = page.evaluate(
            "() => { const { player } = Bokeh.documents[0].mqlab; return player.said(player.row); }"
        )
        assert said.startswith(caption(page).removesuffix("."))
    assert place.get_attribute("aria-live") == "polite"
    page.keyboard.press(" ")
    assert place.get_attribute("aria-live") == "off"
    page.keyboard.press(" ")
    assert place.get_attribute("aria-live") == "polite"


def test_what_is_folded_says_so(opened):
    page = opened("fuse:4.4")
    folds = page.evaluate(GET, [0, "folds", "data"])
    page.evaluate("t => Bokeh.documents[0].mqlab.player.seek(t)", (folds["x0"][-1] + folds["x1"][-1]) / 2)
    assert caption(page) == "249 failed attempts in 8.2 s."


def test_a_breakpoint_stops_it_and_is_a_sentence(opened):
    page = opened("fuse:4.4")
    page.keyboard.press("p")
    box = page.get_by_role("dialog", name="Breakpoints")
    box.get_by_label("Stop when").select_option("broker")
    box.get_by_label("Which").select_option("broker2")
    box.get_by_role("button", name="Add").click()
    assert box.get_by_role("listitem").inner_text().startswith("an event occurs at broker2")
    page.keyboard.press("Escape")
    page.locator(".bk-Figure").first.click(position={"x": 5, "y": 5})
    page.keyboard.press("Home")
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.storyTime(1000)) }")
    page.keyboard.press(" ")
    page.wait_for_function("() => !Bokeh.documents[0].mqlab.player.playing")
    events = page.evaluate(EVENTS)
    assert events["broker"][row(page)] == "broker2"
    assert events["broker"].index("broker2") == row(page)


def test_a_breakpoint_for_a_deep_queue(opened):
    page = opened("fuse:4.4")
    stopped = page.evaluate("""() => { const { player } = Bokeh.documents[0].mqlab;
      player.addBreak("depth", 5); player.seek(10); player.setPlaying(true);
      return new Promise((done) => player.on(
        "play", (on) => on || done(player.runTime(player.panels[0], player.t)))); }""")
    trace = mq.run("fuse:4.4")
    sixth = [event.t for event in trace.events() if event.kind.name == "Enqueued"][5]
    assert stopped == pytest.approx(sixth / 1000)


# The moments that are shown until it has gone back three times.
TURNS = """() => new Promise((done) => {
  const { player } = Bokeh.documents[0].mqlab, seen = [];
  player.seek(2);
  player.setPlaying(true);
  player.on("time", (t) => { seen.push(t);
    if (seen.filter((one, i) => one < seen[i - 1]).length === 3) done(seen); }); })"""


def test_a_range_plays_in_a_loop(opened):
    page = opened("fuse:2.20")
    page.evaluate("() => { Bokeh.documents[0].mqlab.player.seek(2) }")
    page.keyboard.press("[")
    page.evaluate("() => { Bokeh.documents[0].mqlab.player.seek(2.6) }")
    page.keyboard.press("]")
    seen = page.evaluate(TURNS)
    assert all(1.99 <= t <= 2.6 for t in seen)
    assert page.evaluate(PLAYER, [0, "playing"])


def test_keys_go_to_the_next_of_a_kind(opened):
    page = opened("fuse:2.20")
    events = page.evaluate(EVENTS)
    page.keyboard.press("Home")
    page.get_by_label("Kind of the next event").select_option("Received")
    page.locator(".bk-Figure").first.click(position={"x": 5, "y": 5})
    for _ in range(3):
        page.keyboard.press("n")
        assert events["kind"][row(page)] == "Received"
    third = [no for no, kind in enumerate(events["kind"]) if kind == "Received"][2]
    assert row(page) == third
    page.keyboard.press("Shift+ArrowLeft")
    assert events["kind"][row(page)] == "Received"
    assert row(page) < third
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog", name="Keys").is_visible()


def test_letters_typed_into_a_field_are_no_keys(opened):
    page = opened("fuse:2.20")
    page.keyboard.press("p")
    page.get_by_label("Which number").fill("")
    before = page.evaluate(PLAYER, [0, "t"])
    page.keyboard.type("7 ")
    assert page.get_by_label("Which number").input_value() == "7"
    assert page.evaluate(PLAYER, [0, "t"]) == before
    assert not page.evaluate(PLAYER, [0, "playing"])


DRAWN = """() => { const { shadow_el } = Bokeh.index.find_one(Bokeh.documents[0].get_model_by_name('foot'));
  const c = shadow_el.querySelector('.tracks canvas'), pen = c.getContext('2d');
  const d = pen.getImageData(0, 0, c.width, c.height).data;
  let n = 0;
  for (let i = 0; i < d.length; i++) n = (n * 31 + d[i]) % 1e9;
  return [n, c.height]; }"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("track", ["depth", "unacknowledged", "received", "latency", "roles", "spacetime"])
def test_tracks_are_drawn_and_follow_a_selection(opened, track):
    page = opened("fuse:2.20")
    page.get_by_label("Tracks").select_option(track)
    page.evaluate(STEADY)
    first = page.evaluate(DRAWN)
    assert first[1] > 40
    chosen = (
        {"kind": "message", "msg": 3}
        if track == "spacetime"
        else {"kind": "consumer", "name": "A" if track in ("depth", "roles") else "C1"}
    )
    page.evaluate("sel => Bokeh.documents[0].mqlab.player.select(sel)", chosen)
    page.wait_for_function(f"([before]) => ({DRAWN})()[0] !== before", arg=first)


def test_who_sent_how_many_to_whom(opened):
    page = opened("fuse:2.20")
    page.get_by_label("Tracks").select_option("flow")
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration) }")
    page.evaluate(STEADY)
    table = page.get_by_role("table", name="Messages by sender and receiver")
    rows = {cells[0]: cells[1:] for cells in (line.split("\t") for line in table.inner_text().split("\n"))}
    heads = rows["from \\ to"]
    assert rows["A"][heads.index("B")] == "6"
    assert rows["A"][heads.index("C1")] == "6"
    assert rows["P"][heads.index("A")] == "12"


SIZES = [(600, 900), (900, 800), (1366, 768), (1900, 1000)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_page_of_its_own_uses_its_window(opened, width, height):
    page = opened("fuse:2.20", width, height)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    tracks = page.locator(".tracks").bounding_box()
    assert height - 60 <= tracks["y"] + tracks["height"] <= height + 1
    figure = page.locator(".bk-Figure").first.bounding_box()
    assert figure["width"] <= width
    assert figure["height"] >= 150


@pytest.mark.sample(3)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_in_a_notebook_it_takes_three_fifths_of_the_window(opened, width, height):
    page = opened("fuse:2.20", width, height)
    page.evaluate("() => { document.body.dataset.mqlab = 'view'; dispatchEvent(new Event('resize')); }")
    page.evaluate(STEADY)
    page.evaluate("() => dispatchEvent(new Event('resize'))")
    page.evaluate(STEADY)
    top = page.evaluate("() => Bokeh.documents[0].mqlab.player.element.getBoundingClientRect().top")
    strip = page.get_by_role("slider", name="Time").bounding_box()
    if width >= 1366:
        assert strip["y"] + strip["height"] - top <= 0.6 * height + 30
    assert strip["y"] + strip["height"] <= height
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_nothing_of_an_old_canvas_is_left_after_resizing(opened):
    page = opened("fuse:2.20", 1900, 1000)
    page.evaluate("() => { Bokeh.documents[0].mqlab.player.seek(3) }")
    for width in (900, 1366, 700, 1500):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(STEADY)
        figure = page.locator(".bk-Figure").first.bounding_box()
        canvases = page.locator("canvas.mq-moving")
        assert canvases.count() == 1
        box = canvases.bounding_box()
        assert (box["width"], box["height"]) == pytest.approx((figure["width"], figure["height"]), abs=1.5)
        edges = [canvas.bounding_box() for canvas in page.locator(".foot canvas").all()]
        assert all(edge is None or edge["x"] + edge["width"] <= width + 1 for edge in edges)


def test_dark_follows_while_it_is_open(opened):
    page = opened("fuse:2.20")
    ink = "getComputedStyle(Bokeh.documents[0].mqlab.player.element).getPropertyValue('--mq-ink')"
    for scheme, colour in (("light", "#16202a"), ("dark", "#ebeff3")):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"colour => {ink} === colour", arg=colour)


def test_under_reduced_motion_it_plays_from_event_to_event(opened):
    page = opened("fuse:2.20")
    page.emulate_media(reduced_motion="reduce")
    shown = page.evaluate("""() => new Promise((done) => {
      const { player } = Bokeh.documents[0].mqlab, rows = [];
      player.seek(1); player.setPlaying(true);
      player.on("time", (t, row) => {
        if (rows.push(row) === 4) { player.setPlaying(false); done(rows); } }); })""")
    assert len(set(shown)) == len(shown)


@pytest.mark.sample(4)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("id", ["fuse:2.20", "fuse:4.4"])
def test_text_can_be_read_and_everything_has_a_name(opened, id, scheme):
    page = opened(id)
    page.emulate_media(color_scheme=scheme)
    page.keyboard.press("p")
    page.evaluate(STEADY)
    assert page.evaluate(ACCESS) == {"faint": [], "nameless": []}


def drag(page, share, other, modifier=None):
    """Pull from one share of the overview to another, with a key held."""
    box = page.get_by_role("slider", name="Time").bounding_box()
    gutter, span = 158, box["width"] - 158 - 22
    at = [box["x"] + gutter + span * one for one in (share, other)]
    if modifier:
        page.keyboard.down(modifier)
    page.mouse.move(at[0], box["y"] + 30)
    page.mouse.down()
    page.mouse.move(sum(at) / 2, box["y"] + 30)
    page.mouse.move(at[1], box["y"] + 30)
    page.mouse.up()
    if modifier:
        page.keyboard.up(modifier)


def test_a_range_is_drawn_on_the_overview_to_zoom_or_to_loop_and_its_handles_pull(opened):
    page = opened("fuse:2.20")
    # The tracks have one ruler with the overview; what they show is told by where a click in them leads.
    ends = """() => { const { player } = Bokeh.documents[0].mqlab, found = [];
      const foot = Bokeh.documents[0].get_model_by_name('foot');
      const box = Bokeh.index.find_one(foot).shadow_el.querySelector('.tracks');
      const { left, width, top } = box.getBoundingClientRect();
      for (const x of [left + 159, left + width - 23]) {
        box.dispatchEvent(new MouseEvent('click', { clientX: x, clientY: top + 5 }));
        found.push(player.t / player.duration);
      }
      return found; }"""
    drag(page, 0.25, 0.75, "Shift")
    assert page.evaluate(ends) == pytest.approx([0.25, 0.75], abs=0.02)
    drag(page, 0.75, 0.5)
    assert page.evaluate(ends) == pytest.approx([0.25, 0.5], abs=0.02)
    drag(page, 0.6, 0.8, "Alt")
    assert page.get_by_role("button", name="Loop a range").get_attribute("aria-pressed") == "true"
    page.keyboard.press("0")
    assert page.evaluate(ends) == pytest.approx([0, 1], abs=0.02)


def test_the_part_of_the_overview_opens_to_the_width_of_what_lies_below(opened):
    page = opened("fuse:2.20")
    # The colours of the strip's ruler, half way between a handle and the end of the axis.
    pixel = """() => { const foot = Bokeh.documents[0].get_model_by_name('foot');
      const canvas = Bokeh.index.find_one(foot).shadow_el.querySelector('.overview canvas');
      const ratio = devicePixelRatio || 1, x = 158 + (canvas.width / ratio - 180) * 0.12, y = 17 + 34 + 9 + 13;
      return [...canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1).data].join(); }"""
    before = page.evaluate(pixel)
    high = """() => { const foot = Bokeh.documents[0].get_model_by_name('foot');
      return Bokeh.index.find_one(foot).shadow_el.querySelector('.tracks').offsetHeight; }"""
    low = page.evaluate(high)
    drag(page, 0.25, 0.75, "Shift")
    assert page.evaluate(pixel) != before
    assert page.evaluate(high) > low, "the part has a ruler of its own"
    page.keyboard.press("0")
    assert page.evaluate(pixel) == before
    assert page.evaluate(high) == low


# What was written while it played for two seconds or more, for each second.
WRITES = """() => new Promise((done) => {
  const { player } = Bokeh.documents[0].mqlab, { shadow_el } = Bokeh.index.find_one(
    Bokeh.documents[0].get_model_by_name('foot'));
  const counts = {}, watch = new MutationObserver((found) => {
    for (const { type, target } of found) {
      const name = `${(target.className ?? '') || target.parentElement?.className} ${type}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  });
  watch.observe(shadow_el, { subtree: true, childList: true, characterData: true, attributes: true });
  player.seek(player.duration * 0.2);
  player.setPlaying(true);
  const begun = performance.now(), look = () => {
    const seconds = (performance.now() - begun) / 1000;
    if (seconds < 2 || !(counts["clock childList"] > 5)) { setTimeout(look, 100); return; }
    watch.disconnect();
    player.setPlaying(false);
    done(Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / seconds])));
  };
  look();
})"""


def test_while_it_plays_words_change_ten_times_a_second_and_few_canvases_are_composed(opened):
    page = opened("fuse:2.20")
    counts = page.evaluate(WRITES)
    assert counts["clock childList"] <= 12
    texts = [count for name, count in counts.items() if name.endswith("childList")]
    assert max(texts) <= 12, "what is drawn sixty times a second is no text"
    seen = page.locator("canvas").evaluate_all("all => all.filter(c => c.offsetWidth).map(c => c.className)")
    assert len(seen) == 5, "stage, what moves, overview, its names, tracks"


def test_the_axis_keeps_its_width_while_a_theme_changes(opened):
    """JupyterLab hides all for a moment then: what was drawn to no width stayed so."""
    page = opened("fuse:2.20")
    widths = """() => [...Bokeh.documents[0].mqlab.player.place('foot').querySelectorAll('canvas')]
      .map(one => one.style.width)"""
    before = page.evaluate(widths)
    page.evaluate("""() => { const { player } = Bokeh.documents[0].mqlab, { style } = document.body;
      style.display = 'none'; player.emit('theme', player.dark); style.display = ''; }""")
    assert page.evaluate(widths) == before
    assert len({*before} - {""}) > 0
