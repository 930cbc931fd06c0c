"""The scripts of the page: one closure, in which a name is declared once; what tsc and biome say of them."""

import re
import shutil
import subprocess
from collections import Counter

import pytest

pytest.importorskip("bokeh", reason="the extra lab is not installed")

from mqlab.views import player
from mqlab.views.scene import SHAPES
from tests.conftest import ROOT, missing

PAGE = ROOT / "mqlab" / "views" / "page"


def test_no_name_is_declared_twice():
    found = Counter()
    for name in player.SCRIPTS:
        text = (PAGE / name).read_text()
        found.update(re.findall(r"^(?:const|let|function|class) ([\w$]+)", text, re.MULTILINE))
        found.update(re.findall(r"^  ([A-Z][A-Z_]+) = ", text, re.MULTILINE))
    assert len(found) > 50
    assert [name for name, count in found.items() if count > 1] == []


def test_the_formatter_lets_them_pass(from_npm):
    done = biome(from_npm, "format")
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_name_is_idle():
    """Neither tsc nor the linter can tell: a name at the top of a script may be for another one."""
    texts = [(PAGE / name).read_text() for name in player.SCRIPTS]
    code = "\n".join(re.sub(r"^\s*(//|/\*\*).*$", "", text, flags=re.MULTILINE) for text in texts)
    used = Counter(re.findall(r"[\w$]+", code))
    declared = re.findall(r"^(?:const|let|function|class) ([\w$]+)", code, re.MULTILINE)
    assert len(declared) > 200
    assert [name for name in declared if used[name] < 2] == []


def test_every_script_is_in_the_page():
    assert sorted(player.SCRIPTS) == sorted(path.name for path in PAGE.glob("*.js"))


def tsc(folder, page=PAGE):
    return subprocess.run(
        [folder / "node_modules" / ".bin" / "tsc", "-p", page / "jsconfig.json"],
        capture_output=True, text=True,
    )  # fmt: skip


def test_the_types_let_them_pass(from_npm):
    done = tsc(from_npm)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("script", "right", "wrong", "said"),
    [
        ("lines.js", 'p.data("bridges").back', 'p.data("bridges").backwards', "'backwards'"),
        ("clock.js", 'p.data("meta")', 'p.data("metas")', '"metas"'),
        ("moving.js", 'player.on("theme"', 'player.on("themes"', '"themes"'),
        ("model.js", "consumer.got++", "consumer.gott++", "'gott'"),
        ("lines.js", 'ink.put("halos", { xs, ys, w:', 'ink.put("halos", { xs, ys, wide:', "'wide'"),
    ],
)
def test_a_slip_of_the_pen_is_found(from_npm, tmp_path, script, right, wrong, said):
    """Columns, tables, events, the state and rows of glyphs have types, or tsc would have nothing to say."""
    page = tmp_path / "page"
    shutil.copytree(PAGE, page)
    text = (page / script).read_text()
    assert right in text
    (page / script).write_text(text.replace(right, wrong))
    done = tsc(from_npm, page)
    assert done.returncode != 0
    assert f"{script}(" in done.stdout
    assert said in done.stdout


def test_what_needs_no_browser_does_what_it_says():
    if not shutil.which("node"):
        missing("node is not installed")
    done = subprocess.run(
        ["node", "--test", ROOT / "tests" / "views" / "pure.test.mjs"], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)[1]) > 20


def biome(folder, *arguments, cwd=ROOT):
    return subprocess.run(
        [folder / "node_modules" / ".bin" / "biome", *arguments], cwd=cwd, capture_output=True, text=True
    )  # fmt: skip


def test_the_linter_lets_them_pass(from_npm):
    done = biome(from_npm, "lint", "--error-on-warnings")
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"Checked (\d+) files", done.stdout + done.stderr)
    assert int(told[1]) > 50


def test_the_types_name_every_column():
    """`Tables` in types.d.ts has the tables of a scene and their columns, and no others."""
    text = (PAGE / "types.d.ts").read_text()
    shared = {
        name: set(re.findall(r"(\w+): ", row))
        for name, row in re.findall(r"^type (Boxes|Curves) = (\{.*?\});", text, re.MULTILINE)
    }
    tables = re.search(r"^interface Tables \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)[1]
    found = {
        name: set(re.findall(r"(\w+): ", row)).union(*(shared[one] for one in more.split(" & ")[:-1]))
        for name, more, row in re.findall(
            r"^  (\w+): ((?:\w+ & )?)\{(.*?)\};$", tables, re.MULTILINE | re.DOTALL
        )
    }
    assert found == {name: set(columns.split()) for name, columns in SHAPES.items()}
