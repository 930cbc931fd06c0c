"""What lessons tell of real brokers: the recording is there, its numbers are told, the lab does the same."""

import re

import pytest

import mqlab as mq
from mqlab import lessons
from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.lessons import data
from mqlab.lessons.data import Discovery
from mqlab.lessons.discoveries import Discovered

ALL = [(name, found) for name in data.names() for found in data.lesson(name).discoveries]
WORDS = data.texts()["words"]


def test_the_surprising_rules_are_told():
    assert len(ALL) >= 80
    families = {found.recorded.split("/")[0] for _, found in ALL}
    assert families == {"activemq", "activemq-editions", "activemq-failover", "activemq-combined",
                        "openmq", "artemis"}  # fmt: skip


@pytest.mark.parametrize(("name", "discovery"), ALL, ids=lambda v: getattr(v, "recorded", v))
def test_what_is_told_is_what_the_recording_shows_and_what_the_lab_does(name, discovery):
    found = Discovered(discovery, WORDS)
    assert found.recorded.agrees
    for what, real, here in found.said():
        assert real == here, what
        assert real not in ("", "-"), what
    assert "{" not in found.told
    assert discovery.source
    assert f'mq.recorded("{discovery.recorded}")' in repr(found)
    assert repr(mq.recorded(discovery.recorded).broker).strip("'") in found.seen()


def test_a_number_that_is_not_in_the_recording_is_an_error_that_names_those_that_are():
    wrong = Discovery(asks="?", recorded="activemq/hops_and_ttl/one_hop", told="{C9 received}", source="x")
    with pytest.raises(BadFile, match=re.compile("no 'C9 received'; it has .*C1 received")):
        _ = Discovered(wrong, WORDS).told


def test_a_translation_tells_the_same_numbers():
    english, chinese = (lessons.open("07-load-balancing", language=code).discoveries
                        for code in ("en", "zh"))  # fmt: skip
    for one, other in zip(english, chinese, strict=True):
        assert one.discovery.asks != other.discovery.asks
        assert {row[0] for row in one.said()} == {row[0] for row in other.said()}


def test_html_opens_at_a_press_and_keeps_markup_as_text():
    shown = Discovered(Discovery(asks="<b>?", recorded="activemq/hops_and_ttl/one_hop",
                                 told="{C1 received} & more", source="x"), WORDS)._repr_html_()  # fmt: skip
    assert shown.startswith("<details")
    assert "&lt;b&gt;" in shown
    assert "&amp; more" in shown


def test_a_lesson_that_hides_its_discoveries_is_told_so(tmp_path):
    from mqlab.lessons import checking

    lesson = data.lesson("07-load-balancing")
    assert list(checking._of_notebook(lesson, [{"cell_type": "code", "source": "1"}]))[4].startswith(
        "lesson.discoveries is not shown"
    )


# mq.recorded


@pytest.mark.parametrize("id", ["fuse:2.16", "fuse:4.4", "openmq:4-1", "artemis:21.4"])
def test_a_figure_has_the_recording_of_its_situation(id):
    found = mq.recorded(id)
    assert found.agrees
    assert found.name == mq.recorded(mq.figure(id)).name
    assert all(real == here for _, real, here in found.rows())
    assert mq.run(found).header["scenario"]


@pytest.mark.slow
def test_every_recording_of_a_figure_is_there_and_none_disagrees():
    from mqlab import conform
    from mqlab.conform.recorded import names
    from mqlab.products.activemq import figures

    known = [figure.id for figure in mq.figures()]
    table = {id: figures.recording_of(id) for id in known if _has(id)}
    assert len(table) >= 60
    assert set(table.values()) <= set(names())
    results = {name: conform.compare(mq.recorded(name).value).result for name in table.values()}
    assert set(results.values()) <= {"agree", "unjudged"}


def _has(id):
    try:
        mq.recorded(id)
    except UnknownName:
        return False
    return True


def test_names_that_nobody_or_several_have_are_refused_with_words():
    with pytest.raises(UnknownName, match="use one of them"):
        mq.recorded("balance_two_hops_conduit_on")
    with pytest.raises(UnknownName, match="did you mean"):
        mq.recorded("balance_two_hops_conduit_onn")
    with pytest.raises(UnknownName, match="recording of figure"):
        mq.recorded("fuse:2.7")
    with pytest.raises(BadValue, match="neither a figure nor the name"):
        mq.recorded(7)


def test_the_recordings_that_are_told_can_be_packed_for_a_place_of_their_own(tmp_path, monkeypatch):
    from mqlab.conform import recorded

    one = "openmq/delivery/local_only"
    (tmp_path / "told.tar.gz").write_bytes(recorded.pack([one, one]))
    value = mq.recorded(one).value
    monkeypatch.setattr(recorded, "folder", lambda: tmp_path)
    for cached in (recorded.names, recorded._read):
        cached.cache_clear()
    try:
        assert list(recorded.names()) == [one]
        assert recorded.recorded("local_only").value == value
    finally:
        for cached in (recorded.names, recorded._read):
            cached.cache_clear()
