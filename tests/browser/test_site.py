"""The lessons as pages of a plain file server: read, answered, changed and run without any other host."""

import functools
import http.server
import json
import re
import threading

import pytest
from playwright.sync_api import expect

import mqlab as mq
from mqlab.lessons import data, skeleton
from mqlab.site import book, engine
from mqlab.site.writing import Site
from tests.browser.conftest import IDLE, one_page
from tests.browser.test_axe import serious
from tests.browser.test_lessons import wrong_and_right
from tests.conftest import ALL

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
OPENED = ("01-first-network", "07-load-balancing")  # by tests of one page each
READY = ".engine[data-state=ready]"
# Two are enough: the others are drawn alike.
DRAWN = """async () => { const some = mqlabSite.pictures.slice(-2);
  for (const one of some) await one.draw();
  return some.map((one) => one.place.dataset.digest ?? ""); }"""
STORED = """([id, given]) => [...document.querySelectorAll(".task")]
  .find((one) => one.querySelector("h3").id === `q-${id}`).mqlab.stored(given)"""

# An option of the connector, changed in the picture that stands in a task.
CHANGE = """async (name) => {
  const picture = mqlabSite.pictures.find((one) => one.element.closest(".task"));
  const about = { kind: "connector", name: "linkToBrokerB" }, { rows } = await picture.ask("options", about);
  const { path } = rows.find((row) => row.name === name);
  return picture.ask("apply", { ...about, edits: [[path, false]] }); }"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, from_npm, request):
    """Return the folder of the site: its pages are those that the day's tests open, all with ``--all``."""
    folder, names = tmp_path_factory.mktemp("site"), [page.name for page in book.pages()]
    own, _ = skeleton.write("mine", tmp_path_factory.mktemp("own"))
    if not ALL:
        here = [item for item in request.session.items if getattr(item, "module", None) is request.module]
        paths = [item.callspec.params["name"] for item in here if "name" in item.fixturenames]
        names = [*OPENED, *(path.removesuffix(".html").rpartition("/")[2] for path in paths)]
    written = list(Site(folder, engine.find(from_npm)).write(book.chosen([*names, str(own)])))
    assert len(written) > (30 if ALL else len(OPENED))
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Return where a file server shows the site."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def without_engine(page):
    """Return the page with pages in it as ``--without-engine`` makes them."""

    def without(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r'"engine":\{[^}]*\}', '"engine":null', answer.text()))

    page.route("**/*.html", without)
    return page


@pytest.fixture
def asleep(page):
    return without_engine(page)


@pytest.fixture(scope="module")
def first_lesson(chromium, address):
    """Return the page of the first lesson, for those who only ask it."""
    with one_page(chromium) as page:
        without_engine(page).goto(f"{address}/01-first-network.html")
        yield page


def task_of(page, text):
    return page.locator(".task", has=page.get_by_role("heading", name=text))


def answer(page, task, given):
    section = task_of(page, task.text)
    for name, value in given.items():
        section.locator(f'form [name="{name}"]').fill(str(value))
    section.locator("form button.main").click()
    return section


def test_a_lesson_is_answered_changed_and_run_in_its_page(page, address):
    page.goto(f"{address}/01-first-network.html")
    expect(page.locator(".engine")).to_contain_text("engine")  # it says what it is doing
    page.wait_for_selector(READY, timeout=180_000)
    lesson = mq.lessons.open("01-first-network")
    task = lesson.task("conduit")
    section = answer(page, task, {"C1": 4, "C2": 4, "C3": 4})
    expect(section.locator("> .said")).to_contain_text("a broker sees each consumer behind a connector")
    section.locator("[data-mqlab=view]").wait_for()
    answer(page, task, {"C1": 6, "C2": 3, "C3": 3})
    expect(section.locator("> .said")).to_contain_text("Right: C1 6, C2 3, C3 3.")
    # Another option, in the picture of that very run.
    place = section.locator(".place")
    expect(place).to_have_attribute("data-digest", lesson.trace("conduit").digest())
    changed = page.evaluate(CHANGE, "conduitSubscriptions")
    assert changed["branches"][-1]["received"] == {"C1": 4, "C2": 4, "C3": 4}
    other = mq.run(mq.figure("fuse:2.20").change("A/linkToBrokerB", conduit_subscriptions=False))
    expect(place).to_have_attribute("data-digest", other.digest())
    # A cell, as it is and changed; those above it run first.
    sources = [cell["source"] for cell in book.page("01-first-network").cells]
    number = next(no for no, source in enumerate(sources) if source.startswith("without ="))
    cell = page.locator(f".code[data-cell='{number}']")
    cell.get_by_role("button", name="Edit").click()
    code = "mq.run(figure.change('A/linkToBrokerB', conduit_subscriptions=False)).digest()"
    cell.locator("textarea").fill(code)
    cell.locator("textarea").press("Shift+Enter")
    expect(cell.locator(".outputs")).to_have_text(f"'{other.digest()}'")
    page.locator(".code .run").nth(1).click()
    expect(page.locator(".code .told").nth(1)).to_contain_text("run here")


def test_in_a_lesson_of_ones_own_a_run_that_does_not_end_is_stopped(page, address):
    page.goto(f"{address}/index.html")
    page.get_by_role("link", name="Mine").first.click()
    page.wait_for_selector(READY, timeout=180_000)
    cell = page.locator(".code").first
    cell.get_by_role("button", name="Edit").click()
    cell.locator("textarea").fill("while True: pass")
    cell.get_by_role("button", name="Run").click()
    cell.get_by_role("button", name="Stop").click()
    expect(cell.locator(".told")).to_contain_text("Stopped")
    cell.get_by_role("button", name="Reset").click()
    cell.get_by_role("button", name="Run").click()
    expect(cell.locator(".told")).to_contain_text("run here", timeout=180_000)
    expect(cell.locator(".outputs")).to_have_text("")  # its file is there, in the new engine too
    section = page.locator(".task").last
    section.locator("form input").fill("true")
    section.locator("form button.main").click()
    expect(section.locator("> .said")).to_contain_text("duplex carries messages both ways")


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [page.path for page in [*book.pages(), *book.pages("zh")]])
def test_a_page_without_its_engine_plays_answers_and_is_accessible(name, asleep, address, axe):
    page = asleep
    page.goto(f"{address}/{name}")
    shown = book.page(name.removesuffix(".html").rpartition("/")[2], "zh" if name[:3] == "zh/" else "en")
    tasks = shown.lesson.tasks
    lesson = mq.lessons.open(shown.name, language=shown.language) if tasks else None
    for task in tasks:
        for given in wrong_and_right(task):
            typed = {key: str(value) for key, value in given.items()}
            told = page.evaluate(STORED, [task.id, typed])
            assert told["lines"] == list(said(lesson, task, typed).lines)
    if tasks:
        section = answer(page, tasks[0], wrong_and_right(tasks[0])[1])
        expect(section.locator("> .said.right")).to_be_visible()
        assert lesson.trace(tasks[0].id).digest() in page.evaluate(DRAWN)
    assert serious(page, axe) == []


def test_what_a_cell_gave_is_covered_until_the_prediction_before_it_is_made(asleep, address):
    page = asleep
    page.goto(f"{address}/07-load-balancing.html")
    cell = page.locator(".code", has=page.get_by_text('lesson.trace("two-hops")'))
    expect(cell.locator(".outputs")).to_be_hidden()
    expect(cell.locator(".covered")).to_contain_text("until you have submitted the prediction above")
    lesson = mq.lessons.open("07-load-balancing")
    asked = answer(page, lesson.task("two-hops"), {"C1": "many", "C2": 6, "C3": 3, "C4": 3})
    expect(cell.locator(".outputs")).to_be_hidden()  # nonsense is no prediction
    expect(asked.locator(".place")).to_have_count(0)  # and shows no run
    answer(page, lesson.task("two-hops"), {"C1": 12, "C2": 6, "C3": 3, "C4": 3})
    expect(cell.locator(".outputs")).to_be_visible()
    page.reload()
    expect(cell.locator(".outputs")).to_be_visible()
    other = page.locator(".code", has=page.get_by_text('mq.view(lesson.trace("producers"))'))
    expect(other.locator(".outputs")).to_be_hidden()
    other.get_by_role("button", name="Show it").click()
    expect(other.locator(".outputs")).to_be_visible()


def said(lesson, task, typed):
    if hasattr(task, "kind"):
        return lesson.predict(task.id, **typed)
    if task.pieces:
        return lesson.arrange(task.id, typed["order"].split())
    from mqlab.spec.values import as_typed

    return lesson.fill(task.id, {name: as_typed(value) for name, value in typed.items()})


NONSENSE = [{}, {"C1": "5"}, {"C1": "-1", "C2": "2"}, {"C1": "2.5", "C2": "5"}, {"C1": "it's", "C2": "1"},
            {"C1": "2000000", "C2": "1"}, {"C1": "1.0", "C2": "9"}, {"C1": "7", "C2": "7"},
            {"C1": "5", "C2": "6"}]  # fmt: skip


@pytest.mark.parametrize("given", NONSENSE)
def test_nonsense_is_told_in_the_words_of_the_lesson(given, first_lesson):
    told = first_lesson.evaluate(STORED, ["alone", given])
    assert told["lines"] == list(mq.lessons.open("01-first-network").predict("alone", **given).lines)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("wide", "scheme"), [(600, "dark"), (900, "light"), (1900, "dark")])
def test_at_every_width_in_both_schemes(wide, scheme, asleep, address, axe):
    page = asleep
    page.set_viewport_size({"width": wide, "height": 900})
    page.emulate_media(color_scheme=scheme)
    for path in ("index.html", "01-first-network.html", "slides/01.html#2"):
        page.goto(f"{address}/{path}")
        page.evaluate(DRAWN)
        assert page.evaluate("document.documentElement.scrollWidth") <= wide
        assert serious(page, axe) == []


def test_what_was_done_stays_in_the_browser_and_can_be_taken_away(asleep, address, tmp_path):
    page, task = asleep, data.lesson("01-first-network").tasks[0]
    page.goto(f"{address}/01-first-network.html")
    answer(page, task, {"C1": 5, "C2": 5})
    expect(task_of(page, task.text).locator("> .said.right")).to_be_visible()
    page.goto(f"{address}/index.html")
    expect(page.locator("li[data-lesson='01-first-network'] .progress")).to_have_text("1 of 5 done")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save as a file").click()
    taken.value.save_as(tmp_path / "progress.jsonl")
    from mqlab.lessons.report import summarise

    (row,) = summarise(tmp_path)
    assert (row.lesson, row.task, row.done) == ("01-first-network", "alone", 1.0)
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Press again").click()
    expect(page.locator("li[data-lesson='01-first-network'] .progress")).to_have_text("")


def test_slides_turn_by_key_and_notes_come_from_the_guide(asleep, address):
    page, lesson = asleep, data.lesson("01-first-network")
    page.goto(f"{address}/slides/01.html")
    expect(page.get_by_role("heading", name=lesson.title)).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".notes:visible")).to_contain_text(lesson.instructor["goal"])
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name=lesson.tasks[0].text)).to_be_visible()
    page.locator(".slide:visible [data-mqlab=view]").wait_for()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".slide:visible .right")).to_contain_text("C1 5, C2 5")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name=lesson.tasks[0].text)).to_be_visible()


def test_a_page_opened_as_a_file_plays_and_says_what_an_engine_needs(page, folder):
    page.goto((folder / "01-first-network.html").as_uri())
    expect(page.locator(".engine")).to_contain_text("python -m http.server")
    assert len(page.evaluate(DRAWN)) == 2


def test_no_page_names_another_host(folder):
    """What a page would load from elsewhere, it would name."""
    for file in [
        *folder.rglob("*.html"),
        folder / "assets" / "site.css",
        folder / "assets" / "site.js",
    ]:
        for place in re.findall(r'(?:src|href)="([^"]+)"|url\(([^)]+)\)', file.read_text()):
            assert not re.match(r"(https?:)?//", "".join(place)), (file.name, place)
        if file.suffix == ".html":  # and the browser itself would refuse it
            assert "default-src 'self' file: data: blob: 'unsafe-inline'" in file.read_text()
    settings = re.search(r'id="site">(.*?)</script>', (folder / "01-first-network.html").read_text())
    assert json.loads(settings[1])["engine"]["bytes"] > 10_000_000


def test_a_picture_of_a_lesson_is_taken_away_as_a_page_of_its_own(asleep, address, tmp_path):
    page = asleep
    page.goto(f"{address}/07-load-balancing.html")
    cell = page.locator(".code", has=page.get_by_text('mq.view(lesson.trace("producers"))'))
    cell.get_by_role("button", name="Show it").click()
    cell.locator(".place").scroll_into_view_if_needed()
    cell.locator(".place.drawn").wait_for()
    page.wait_for_function(IDLE)
    shown = "() => Bokeh.documents[0].get_model_by_name('events').data.what"
    told = page.evaluate(shown)
    cell.get_by_role("button", name="Save", exact=True).click()
    with page.expect_download() as taken:
        page.get_by_role("menuitem", name="Standalone player page").first.click()
    file = tmp_path / "taken.html"
    taken.value.save_as(file)
    page.unroute_all()
    page.goto(file.as_uri())
    page.wait_for_function(IDLE)
    page.wait_for_function("() => Bokeh.documents[0].mqlab.player.duration > 1")
    assert page.evaluate(shown) == told
    assert len(told) > 20
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => Bokeh.documents[0].mqlab.player.row > 3")
