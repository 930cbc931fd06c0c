"""The glossary: each term once, with a meaning and a source; the command and the page show all of it."""

import json
from collections import Counter

import pytest

from mqlab.errors import UnknownName
from mqlab.reference.glossary import glossary, page, terms


def test_each_term_stands_once_with_a_meaning_and_a_source():
    count = Counter(word for one in glossary() for word in (one.name, *one.instead_of))
    assert [word for word, number in count.items() if number > 1] == []
    assert all(one.meaning.endswith(".") and one.source for one in glossary())
    assert len(glossary()) >= 40


def test_no_meaning_uses_a_variant():
    texts = " ".join(one.meaning for one in glossary())
    assert [word for one in glossary() for word in one.instead_of if f" {word} " in texts] == []


def test_terms_are_found_by_their_variants_too():
    assert [one.name for one in terms("stands still")] == ["suspend, resume"]
    for asked in ("ttl", "TTL", "time to live", "networkTTL", "max-hops"):
        assert [one.name for one in terms(asked)] == ["time-to-live"]
    assert [one.name for one in terms("dlq")] == ["dead letter queue"]
    with pytest.raises(UnknownName, match="unknown term 'zzz'"):
        terms("zzz")


def test_the_page_has_every_term():
    assert all(f"| {one.name} | {one.meaning} |" in page() for one in glossary())


def test_the_command_lists_them(mqlab):
    shown = mqlab("terms", "failback")
    assert shown.returncode == 0
    assert "The original master becomes active again" in shown.stdout
    lines = mqlab("terms", "--json").stdout.splitlines()
    assert [json.loads(line)["term"] for line in lines] == [one.name for one in glossary()]
