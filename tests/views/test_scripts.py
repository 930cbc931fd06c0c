"""The scripts of the page are one closure: a name is declared once in all of them, and each is in it."""

import re
from collections import Counter

import pytest

pytest.importorskip("bokeh", reason="the extra lab is not installed")

from mqlab.views import player
from tests.conftest import ROOT

PAGE = ROOT / "mqlab" / "views" / "page"


def test_no_name_is_declared_twice():
    found = Counter()
    for name in player.SCRIPTS:
        for line in (PAGE / name).read_text().splitlines():
            if head := re.match(r"(?:const|let|function|class) ([\w$]+)", line):
                found[head[1]] += 1
                found.update(re.findall(r", ([A-Z][A-Z_]+) = ", line))
    assert len(found) > 50
    assert [name for name, count in found.items() if count > 1] == []


def test_every_script_is_in_the_page():
    assert sorted(player.SCRIPTS) == sorted(path.name for path in PAGE.glob("*.js"))
