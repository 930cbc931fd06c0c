"""What mqlab says: a pattern finds no more sentences than before, and each finds what it is for."""

import pytest

from tests import sentences
from tests.sentences import NAMES, PATTERNS, Sentence, better, counts, limits, split, wrong

BAD = {
    "banned": "nobody at B can take it now",
    "is-no": "'a' is no destination",
    "double-negation": "it is not there without a store",
    "long": "word " * (sentences.LONGEST + 1),
    "plural": "it received {len(found)} messages",
    "unit": "the time in msec",
    "internal": "the broker called _dispatch here",
    "spaces": "two  words stand apart",
    "quotes": "it is \u201cquoted\u201d so",
}
GOOD = {
    "banned": "it stays at B: there is no matching subscription",
    "is-no": "there is no matching subscription; the limit is no longer reached",
    "double-negation": "it does not start, and no message is lost",
    "long": "word " * sentences.LONGEST,
    "plural": "it received {counted(len(found), 'message')}; the limit is {MOST} messages",
    "unit": "the time in ms",
    "internal": "the broker called dispatch here",
    "spaces": "two words stand apart",
    "quotes": "it is 'quoted' so",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_finds_what_is_wrong_and_leaves_what_is_right(name):
    assert PATTERNS[name](BAD[name])
    assert not PATTERNS[name](GOOD[name])


def test_a_banned_word_is_told_with_its_term():
    assert better("banned", BAD["banned"]) == " (nobody: broker, consumer, client)"
    assert better("long", BAD["banned"]) == better("banned", GOOD["banned"]) == ""


def test_every_pattern_has_its_examples():
    assert set(BAD) == set(GOOD) == set(PATTERNS)
    assert set(limits()) <= set(NAMES)


def test_each_pattern_finds_no_more_than_before():
    """Who makes it find less writes the smaller number into `sentences.toml`."""
    found, most = counts(), limits()
    more = {name: (count, most.get(name, 0)) for name, count in found.items() if count > most.get(name, 0)}
    shown = [f"{name}: {one}{better(name, one.text)}" for name in more for one in wrong(name)[:20]]
    assert not more, "\n".join(
        [f"pattern: (found, limit): {more}; python -m tests.sentences --pattern NAME", *shown]
    )


def test_the_list_has_every_kind_of_source():
    listed = list(sentences.sentences())
    assert {one.kind for one in listed} >= {"text", "docstring", "table", "document", "notebook"}
    texts = {one.text for one in listed}
    assert "it expired at {e.broker}" in texts  # of an event
    assert "the prefetch window of every subscription is full" in texts  # a reason
    assert "connect only to brokers of other sets" in texts  # a rule of check
    assert len(listed) > 4_000


def test_sentences_are_split_where_they_end():
    assert list(split("One is here. Another: with e.g. more.\n\nA third one")) == [
        "One is here.", "Another: with e.g. more.", "A third one"]  # fmt: skip
    assert list(split("One has it. 10 messages wait. b1 is back (e.g. 3 of 4). mqlab agrees.")) == [
        "One has it.", "10 messages wait.", "b1 is back (e.g. 3 of 4).", "mqlab agrees."]  # fmt: skip
    assert list(split("**Is it there?** It is here.")) == ["**Is it there?**", "It is here."]
    assert list(split("word")) == []


def test_a_grammar_is_not_prose_and_a_picture_is_its_description():
    assert not sentences.is_prose("?start: value\n  | NAME NOT name -> is_not\n")
    found = [
        text for _, _, text in sentences._markdown('<picture><img alt="The broker is here" src="a.png">\n')
    ]
    assert found == ["The broker is here"]


def test_the_command_lists_counts_and_draws(capsys):
    sentences.main(["--draw", "3", "--seed", "1", "--under", "mqlab/explain"])
    drawn = capsys.readouterr().out
    assert drawn.count("\n") == 3
    assert all(line.startswith("mqlab/explain/") for line in drawn.splitlines())
    sentences.main(["--draw", "3", "--seed", "1", "--under", "mqlab/explain"])
    assert capsys.readouterr().out == drawn
    sentences.main(["--counts", "--under", "mqlab/explain"])
    assert "sentences" in capsys.readouterr().out
    assert str(Sentence("a.py", 3, "It stays.", "text")) == "a.py:3: It stays."
