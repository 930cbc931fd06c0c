"""Makes contact sheets of the stage: python -m tests.browser.sheets FOLDER [WORD ...].

Every figure, and every topology at 2, 5, 12, 25 and 60 brokers, light and dark, at its start, middle and end;
with words only those whose name holds one of them. One picture for each twelve; for eyes, not for a test.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import mqlab as mq
from mqlab import products, views
from mqlab.spec import topology
from tests.conftest import FLAGS

SIZES = (2, 5, 12, 25, 60)
SHARES = (0.0, 0.5, 1.0)
ACROSS, DOWN, WIDE = 3, 4, 620  # cells of a sheet; px of a cell
FOO = mq.Queue("TEST.FOO")
SEEK = "share => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration * share); }"


def runs(words):
    """Yield (name, trace) of all that is shown."""
    for figure in products.figures():
        if _is_wanted(figure.id, words):
            yield figure.id, products.play(figure.scenario)
    for shape in topology.TOPOLOGIES:
        for size in SIZES:
            if _is_wanted(f"{shape} {size}", words):
                net = topology.network(shape, size)
                reads = mq.Consumer("C", on=net.names[-1], reads=FOO)
                sends = mq.Producer("P", on=net.names[0], sends=12, to=FOO)
                yield f"{shape} {size}", mq.run(net, reads, sends)


def _is_wanted(name, words):
    return not words or any(word in name for word in words)


def pictures(browser, trace, folder, schemes):
    """Yield (scheme, picture) of one run's stage, at its start, middle and end for each scheme."""
    file = Path(folder) / "page.html"
    file.write_text(views.html(trace), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("pageerror", lambda error: print(f"error: {error}"))
    page.goto(file.as_uri())
    page.wait_for_function(
        "() => window.Bokeh?.documents?.[0]?.is_idle && Bokeh.documents[0].mqlab?.player?.begun"
    )
    page.wait_for_timeout(250)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        for share in SHARES:
            page.evaluate(SEEK, share)
            page.wait_for_timeout(120)
            shot = page.locator(".bk-Figure").first.screenshot()
            yield scheme, Image.open(io.BytesIO(shot)).convert("RGB")
    page.close()


def sheet(cells):
    """Return one picture of rows of (name, three pictures)."""
    high = max(int(picture.height * WIDE / picture.width) for _, row in cells for picture in row)
    found = Image.new("RGB", (ACROSS * WIDE, len(cells) * (high + 18)), "white")
    pen = ImageDraw.Draw(found)
    for y, (name, row) in enumerate(cells):
        pen.text((6, y * (high + 18) + 3), name, fill="black")
        for x, picture in enumerate(row):
            small = picture.resize((WIDE, int(picture.height * WIDE / picture.width)), Image.LANCZOS)
            found.paste(small, (x * WIDE, y * (high + 18) + 18))
    return found


def make(browser, folder, words=(), schemes=("light", "dark")):
    """Write the sheets into a folder and return their files."""
    rows = {scheme: [] for scheme in schemes}
    files = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, trace in runs(words):
            taken = list(pictures(browser, trace, scratch, schemes))
            for scheme in schemes:
                rows[scheme].append((name, [picture for of, picture in taken if of == scheme]))
    for scheme, cells in rows.items():
        for start in range(0, len(cells), DOWN):
            file = Path(folder) / f"{scheme}-{start // DOWN + 1:02}.png"
            sheet(cells[start : start + DOWN]).save(file)
            files.append(file)
    return files


def main(make):
    """Write the pictures that *make* makes into the folder of the command line; words choose among them."""
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        print(*make(chromium, target, sys.argv[2:]), sep="\n")


if __name__ == "__main__":
    main(make)
