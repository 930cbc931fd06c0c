"""Progress is only ever added to; a file that is gone, broken or forbidden costs nobody the lesson."""

import json
import os
from pathlib import Path

import pytest

from mqlab import lessons
from mqlab.errors import BadValue
from mqlab.lessons import progress

RIGHT = {"C1": 6, "C2": 3, "C3": 3}


def opened(file, **more):
    return lessons.open("01-first-network", file=file, **more)


def test_what_was_done_is_known_in_the_next_session(tmp_path):
    file = tmp_path / "deep" / "progress.jsonl"
    opened(file).predict("conduit", C1=4, C2=4, C3=4)
    assert not opened(file).progress.done("conduit")
    opened(file).predict("conduit", **RIGHT)
    again = opened(file)
    assert again.progress.done("conduit")
    assert again.progress.tries("conduit") == 2
    assert again.progress.attempts[0].mistake == "conduit_counts_consumers"
    assert repr(again).endswith("1 of 5 tasks done.")


def test_learners_do_not_see_each_other(tmp_path):
    file = tmp_path / "progress.jsonl"
    opened(file, learner="ana").predict("nobody", A=10, B=0)
    assert opened(file, learner="ana").progress.done("nobody")
    assert not opened(file, learner="bob").progress.done("nobody")


def test_a_deleted_file_loses_nothing_of_this_session(tmp_path):
    file = tmp_path / "progress.jsonl"
    lesson = opened(file)
    lesson.predict("nobody", A=10, B=0)
    file.unlink()
    assert lesson.predict("conduit", **RIGHT).right
    assert lesson.progress.done("nobody")
    assert [json.loads(line)["task"] for line in file.read_text().splitlines()] == ["conduit"]


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\n\n",
        b"{",
        b"[]\n",
        b'{"right": 1}\n',
        b"\xff\xfe\x00",
        b'{"right": true}\n',
        b"null\n",
    ],
)
def test_broken_lines_are_passed_over(broken, tmp_path):
    file = tmp_path / "progress.jsonl"
    opened(file).predict("conduit", **RIGHT)
    with file.open("ab") as out:
        out.write(broken + b"\n")
    lesson = opened(file)
    assert lesson.progress.done("conduit")
    assert lesson.predict("nobody", A=10, B=0).right
    assert opened(file).progress.done("nobody")


def test_a_file_that_cannot_be_written_is_told_calmly(tmp_path):
    folder = tmp_path / "a file"
    folder.write_text("no folder")
    lesson = opened(folder / "progress.jsonl")
    said = lesson.predict("conduit", **RIGHT)
    assert said.right
    assert "Your progress could not be saved" in said.lines[-1]
    assert lesson.progress.done("conduit")


def test_the_file_is_in_the_users_own_folder_or_where_the_variable_says(monkeypatch, tmp_path):
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert progress.place().name == "progress.jsonl"
    assert "mqlab" in progress.place().parts
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "mine"))
    assert progress.place() == Path(os.environ[progress.VARIABLE])


def test_a_prediction_without_names_says_what_to_name(tmp_path):
    opened = lessons.open("07-load-balancing", file=tmp_path / "progress.json")
    with pytest.raises(BadValue, match=r"lesson\.predict\('article', C1=\.\.\.\)"):
        opened.predict("article", 150)
