"""The page from a file: no network, no kernel."""

import pytest

import mqlab as mq
from mqlab import views
from tests.browser.conftest import IDLE
from tests.browser.picture import FOLDER, SCHEMES, take
from tests.browser.test_notebook import GET, PLAYER, moves
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


@pytest.fixture
def opened(opened):
    """Return a function that opens the page of a run, with its events in sight."""

    def open_page(what):
        page = opened(what)
        page.get_by_role("tab", name="Events").click()
        return page

    return open_page


# What the state of a run says at this moment: consumer and how many it has received, and how deep brokers are.
STATE = """n => { const { player } = Bokeh.documents[0].mqlab, p = player.panels[n];
  const s = player.stateOf(p, player.t);
  const { node, name } = p.data("consumers"), brokers = p.data("brokers");
  return [name.map((one, i) => `${one}: ${s.consumers.get(node[i])?.got ?? 0}`).sort(),
          brokers.node.map((one) => s.brokers.get(one)?.depth ?? 0)]; }"""


def counts(page, panel=0):
    return page.evaluate(STATE, panel)[0]


def test_it_plays(opened):
    page = opened("fuse:2.20")
    page.get_by_role("button", name="Play").click()
    assert moves(page, 0)


def test_keys_step_jump_and_play(opened):
    page = opened("fuse:2.20")
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("End")
    assert counts(page) == ["C1: 6", "C2: 3", "C3: 3"]
    assert page.evaluate(STATE, 0)[1] == [0, 0]
    page.keyboard.press("Home")
    assert counts(page) == ["C1: 0", "C2: 0", "C3: 0"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(PLAYER, [0, "t"]) > 0
    page.keyboard.press(" ")
    assert page.evaluate(PLAYER, [0, "playing"])


def now(page):
    """Return the number of the marked row of the table, the first being 1."""
    return int(page.locator(".mq-log .row.now").get_attribute("aria-rowindex"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("id", ["fuse:4.4", "artemis:21.1.2"])
def test_the_page_has_the_columns_as_they_were(opened, id):
    """The page's half of the packing; what the page itself changes is left out."""
    trace = mq.run(id)
    page, columns = opened(trace), views.scene(trace).columns
    for table in ("events", "flights", "clock", "steps", "spans", "folds", "rules", "nodes"):
        assert page.evaluate(GET, [0, table, "data"]) == columns[table]


def test_a_row_of_the_table_is_a_moment(opened):
    page = opened("fuse:2.20")
    rows = page.evaluate(GET, [0, "events", "data"])
    page.locator(".mq-log .row").nth(5).click()
    assert now(page) == 6
    assert page.evaluate(PLAYER, [0, "t"]) == pytest.approx(rows["play"][5], abs=0.01)


def test_step_skips_no_row_and_only_rows_in_sight_are_elements(opened):
    page = opened("article:conduit")
    rows = len(page.evaluate(GET, [0, "events", "data"])["play"])
    assert rows > 1500
    in_sight = page.locator(".mq-log").bounding_box()["height"] / 22
    assert page.locator(".mq-log .row").count() < in_sight + 12
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("Home")
    first = now(page)
    for number in range(1, 60):
        page.keyboard.press("ArrowRight")
        assert now(page) == first + number
    page.keyboard.press("ArrowLeft")
    assert now(page) == first + 58
    page.keyboard.press("End")
    assert now(page) == rows


# Where the table is some rows after its reader has touched it, and how long after that is (ms).
READ = """(log) => new Promise((done) => {
  const { player } = Bokeh.documents[0].mqlab, begun = performance.now(), { row } = player;
  log.dispatchEvent(new PointerEvent('pointerdown'));
  player.on("time", () => {
    if (player.row > row + 3) setTimeout(() => done([log.scrollTop, performance.now() - begun])); }); })"""


def test_the_table_stays_where_its_reader_scrolls(opened):
    page = opened("article:conduit")
    page.get_by_role("button", name="Play").click()
    page.locator(".mq-log").hover()
    log = page.locator(".mq-log").element_handle()
    for _ in range(10):
        page.mouse.wheel(0, 12_000)
        page.wait_for_function("log => log.scrollTop > 10_000", arg=log)
        top, waited = page.evaluate(READ, log)
        if waited < 3000:  # as long as a reader is waited for; a busy machine may have taken longer
            break
    assert waited < 3000
    assert top > 10_000


def test_tab_goes_through_the_page_and_leaves_it(opened):
    page = opened("fuse:2.20")
    page.get_by_role("button", name="Play").click()
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("""() => { let at = document.activeElement;
          while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
          return at === document.body ? 'BODY' : at.tagName + (at.getAttribute('role') ?? '') }""")
        )
    assert any(one.startswith("SELECT") for one in seen)
    assert len(set(seen)) > 2, seen  # it does not stay at one place
    assert not any("row" in one for one in seen)


def test_two_runs_play_on_one_clock(opened):
    figure = mq.figure("fuse:2.20")
    off = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    page = opened(mq.compare(mq.run(figure), mq.run(off)))
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("End")
    assert counts(page) == ["C1: 6", "C2: 3", "C3: 3"]
    assert counts(page, 1) == ["C1: 4", "C2: 4", "C3: 4"]
    titles = [page.evaluate(GET, [0, meta, "data"])["title"][0] for meta in ("meta", "meta 2")]
    assert titles == [figure.title, "linkToBrokerB: conduitSubscriptions false"]


def test_reduced_motion_puts_messages_on_their_way_and_leaves_them_there(chromium, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(views.html(mq.run("fuse:2.20")), encoding="utf-8")
    page = chromium.new_page(reduced_motion="reduce")
    page.goto(file.as_uri())
    page.wait_for_function(IDLE)
    first, again = (
        page.evaluate(
            """share => { const { player } = Bokeh.documents[0].mqlab, rows = player.panels[0].flights;
              const i = rows.msg.findIndex((msg) => msg === 1);
              player.seek(rows.t0[i] + share * rows.took[i]);
              const mark = player.panels[0].marks.find((m) => m.msg === 1); return [mark.x, mark.y]; }""",
            share,
        )
        for share in (0.1, 0.8)
    )
    assert first == again
    page.close()


MARKS = """([t, most]) => { const { player } = Bokeh.documents[0].mqlab;
  player.moving.most = most;
  player.seek(t); const { under, marks } = player.panels[0];
  return [under.total, under.marks, under.k, marks.reduce((sum, m) => sum + m.count, 0)]; }"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("id", ["fuse:2.12", "fuse:4.4", "article:conduit"])
def test_nothing_that_moves_vanishes_in_silence(opened, id):
    page = opened(id)
    flights = page.evaluate(GET, [0, "flights", "data"])
    spans = [(t, t + took) for t, took in zip(flights["t0"], flights["took"], strict=True)]
    busiest = max((sum(a <= t < b for a, b in spans), t) for t, _ in spans)
    true, t = busiest
    assert true >= 3
    total, marks, each, told = page.evaluate(MARKS, [t, 400])
    assert (total, each, told) == (true, 1, true)
    total, fewer, _, told = page.evaluate(MARKS, [t, 1])
    assert (total, told) == (true, true)
    assert fewer <= marks


def test_one_story_in_three_products_is_one_picture_of_three(opened):
    orders = mq.Queue("ORDERS")
    story = mq.Consumer("C", on="B", reads=orders), mq.Producer("P", on="A", sends=4, to=orders)
    page = opened(mq.compare_products(*story))
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("End")
    assert [counts(page, panel) for panel in range(3)] == [["C: 4"]] * 3
    headings = page.evaluate(
        """() => Bokeh.documents[0].mqlab.player.panels.map((p) => p.heading?.textContent)"""
    )
    assert [text[0] for text in headings] == ["1", "2", "3"]
    for text, product in zip(headings, ("ActiveMQ", "OpenMQ", "Artemis"), strict=True):
        assert product in text


def test_two_runs_side_by_side_show_one_time(opened):
    """A crash late in one of them; the other is over by then."""
    calm = mq.run("fuse:4.2")
    crash = mq.run("fuse:4.4")
    page = opened(mq.compare(calm, crash))
    for share in (0.1, 0.35, 0.6, 0.9):
        page.evaluate(
            "share => { const { player } = Bokeh.documents[0].mqlab; player.seek(share * player.duration) }",
            share,
        )
        one, other = page.evaluate("""() => { const { player } = Bokeh.documents[0].mqlab;
          return player.panels.map((panel) => player.runTime(panel, player.t)); }""")
        assert one == other


def test_names_are_text_and_never_markup(opened):
    evil = "<img src=x onerror=alert(1)>"
    queue = mq.Queue(evil)
    net = mq.Network(mq.Broker(evil), mq.Broker("<script>throw 1</script>"))
    page = opened(mq.run(net, mq.Consumer(evil + "c", on=evil, reads=queue),
                         mq.Producer("</script>", on=evil, sends=2, to=queue)))  # fmt: skip
    assert page.evaluate("() => document.querySelectorAll('img').length") == 0
    assert page.evaluate(GET, [0, "brokers", "data"])["name"] == [evil, "<script>throw 1</script>"]
    page.locator(".bk-Figure").first.hover()


def test_dark_follows_the_system(chromium, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(views.html(mq.run("fuse:2.20")), encoding="utf-8")
    page = chromium.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    page.wait_for_function(IDLE)
    page.wait_for_function("() => document.body.style.background === 'rgb(17, 20, 24)'")
    page.close()


@pytest.mark.sample(2)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pictures_of_the_readme_come_from_runs(page, tmp_path, scheme):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for file in take(page, tmp_path, scheme):
        assert f"notebooks/images/{file.name}" in readme
        for made in (file, FOLDER / file.name):
            assert made.stat().st_size > 20_000
