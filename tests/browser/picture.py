"""Makes the README's pictures from real runs, light and dark: python -m tests.browser.picture [FOLDER]."""

import shutil
import sys
import tempfile
from pathlib import Path

import mqlab as mq
from mqlab import views
from mqlab.site import book
from mqlab.site.writing import Site
from tests.browser.conftest import IDLE
from tests.conftest import FLAGS, ROOT

FOLDER = ROOT / "notebooks" / "images"
SCHEMES = {"light": "", "dark": "-dark"}
# The master has crashed, and its client looks for another.
MOMENT = "() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration * 0.71); }"
# The picture of the task, at a moment in which messages are on their way.
IN_THE_MIDDLE = """() => {
  const { place } = mqlabSite.pictures.find((one) => one.place.matches(".task .drawn"));
  const { player } = place.querySelector("[data-mqlab=view]").mqlab.document.mqlab;
  player.seek(player.duration * 0.42);
  place.closest(".task").scrollIntoView(); }"""
LESSON, TASK, GIVEN = "01-first-network", "conduit", {"C1": 4, "C2": 4, "C3": 4}


def take(page, folder: Path, scheme: str) -> list[Path]:
    """Take the pictures of one scheme with a browser's page; returns their files."""
    page.emulate_media(color_scheme=scheme)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}{SCHEMES[scheme]}.png" for name in ("player", "lesson")]
    with tempfile.TemporaryDirectory() as scratch:
        for taken, file in zip((_player, _lesson), files, strict=True):
            taken(page, Path(scratch))
            page.wait_for_timeout(500)
            page.screenshot(path=file)
    return files


def _player(page, scratch: Path) -> None:
    """Show the page of a run at a moment."""
    page.set_viewport_size({"width": 1280, "height": 800})
    file = scratch / "page.html"
    file.write_text(views.html(mq.run("fuse:4.4")), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_function(IDLE)
    page.evaluate(MOMENT)


def _lesson(page, scratch: Path) -> None:
    """Show a lesson's page with a prediction that follows a wrong rule, and the run below it."""
    page.set_viewport_size({"width": 1280, "height": 1000})
    list(Site(scratch / "site").write(book.chosen([LESSON])))
    page.goto((scratch / "site" / f"{LESSON}.html").as_uri())
    section = page.locator(f".task:has(#q-{TASK})")
    for name, value in GIVEN.items():
        section.locator(f'form [name="{name}"]').fill(str(value))
    section.locator("form button.main").click()
    page.wait_for_function(IDLE)
    page.wait_for_function("() => mqlabSite.pictures.some((one) => one.place.matches('.task .drawn'))")
    page.evaluate(IN_THE_MIDDLE)


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for one in SCHEMES:
            print(*take(chromium.new_page(), target, one), sep="\n")
