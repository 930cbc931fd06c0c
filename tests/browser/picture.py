"""Makes the README's picture from a real run: python -m tests.browser.picture [FILE]."""

import shutil
import sys
import tempfile
from pathlib import Path

import mqlab as mq
from mqlab import views
from tests.browser.conftest import FLAGS
from tests.conftest import ROOT

FILE = ROOT / "notebooks" / "images" / "player.png"
# The master has crashed, and its client looks for another.
MOMENT = (
    "() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration * 0.71); }"
)


def take(browser, file: Path, figure: str = "fuse:4.4") -> None:
    """Open the page of a run and take a picture of its player."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(views.html(mq.run(figure)), encoding="utf-8")
        page.goto(path.as_uri())
        page.wait_for_function("() => window.Bokeh?.documents?.[0]?.is_idle")
        page.wait_for_timeout(500)
        page.evaluate(MOMENT)
        page.wait_for_timeout(500)
        file.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=file)
    page.close()


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS
        )  # fmt: skip
        take(chromium, Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
