"""What the page says stands in one table: each text of it is used, and numbers have a plural."""

import re

import pytest

pytest.importorskip("bokeh", reason="the extra lab is not installed")

from mqlab.views import host, player
from tests import sentences
from tests.conftest import ROOT

PAGE = ROOT / "mqlab" / "views" / "page"
CODE = "\n".join((PAGE / name).read_text() for name in player.SCRIPTS)


def test_every_text_is_used_and_every_used_text_is_there():
    used = set(re.findall(r'\bworded\(\s*"(\w+)"', CODE))
    assert used | set(host.HOST_TEXTS) == set(player.words())
    script = (PAGE.parent / "host.js").read_text()
    assert set(re.findall(r'\bsaid\(model, "(\w+)"', script)) == set(host.HOST_TEXTS)
    assert len(used) > 200


def test_no_script_has_a_sentence_of_its_own():
    assert sentences.wrong("script", "mqlab") == []


def test_a_text_fills_in_as_many_values_as_it_is_given():
    for key, text in player.words().items():
        for form in text.split(" | "):
            numbers = sorted(set(map(int, re.findall(r"\{(\d)\}", form))))
            assert numbers == list(range(len(numbers))), key


def test_a_number_has_a_singular_and_a_plural():
    counted = re.compile(rf"\{{0\}} (?:more )?(?:{sentences.NOUNS})\b")
    alone = [key for key, text in player.words().items() if counted.search(text) and " | " not in text]
    assert alone == []


def test_a_language_lacks_nothing_that_english_has():
    assert player.words("zh").keys() == player.words().keys()
