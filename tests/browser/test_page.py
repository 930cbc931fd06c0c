"""The page from a file: no network, no kernel."""

import pytest

import mqlab as mq
from mqlab import views
from tests.browser.picture import FILE, take
from tests.browser.test_notebook import GET, IDLE, moves

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


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


def counts(page):
    return sorted(page.evaluate(GET, [0, "clients", "data"])["text"])


def test_it_plays(opened):
    page = opened(mq.run("fuse:2.20"))
    page.get_by_role("button", name="Play").click()
    assert moves(page, 0)


def test_keys_step_jump_and_play(opened):
    page = opened(mq.run("fuse:2.20"))
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("End")
    assert counts(page) == ["C1: 6", "C2: 3", "C3: 3", "P"]
    assert set(page.evaluate(GET, [0, "brokers", "data"])["gauge"]) == {""}
    page.keyboard.press("Home")
    assert counts(page) == ["C1: 0", "C2: 0", "C3: 0", "P"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(GET, [0, "time", "value"]) > 0
    page.keyboard.press(" ")
    assert page.evaluate(GET, [0, "play", "active"])


def test_a_row_of_the_table_is_a_moment(opened):
    page = opened(mq.run("fuse:2.20"))
    rows = page.evaluate(GET, [0, "events", "data"])
    page.evaluate(
        "() => { Bokeh.documents[0].get_model_by_name('events').selected.indices = [40] }"
    )
    assert page.evaluate(GET, [0, "time", "value"]) == pytest.approx(rows["play"][40], abs=0.01)


def test_two_runs_play_on_one_clock(opened):
    figure = mq.figure("fuse:2.20")
    off = figure.change("A/linkToBrokerB", conduit_subscriptions=False)
    page = opened(mq.compare(mq.run(figure), mq.run(off)))
    page.locator(".bk-Figure").first.click()
    page.keyboard.press("End")
    assert counts(page) == ["C1: 6", "C2: 3", "C3: 3", "P"]
    other = page.evaluate(GET, [0, "clients 2", "data"])["text"]
    assert sorted(other) == ["C1: 4", "C2: 4", "C3: 4", "P"]
    titles = [page.evaluate(GET, [0, words, "data"])["text"][0] for words in ("words", "words 2")]
    assert titles == [figure.title, "linkToBrokerB: conduitSubscriptions false"]


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
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.body.style.background") == "rgb(27, 30, 34)"
    page.close()


def test_the_picture_of_the_readme_comes_from_a_run(chromium, tmp_path):
    assert FILE.stat().st_size > 20_000
    take(chromium, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 20_000
