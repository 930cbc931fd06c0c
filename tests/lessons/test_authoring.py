"""Writing a lesson, checking it, and what a class has done with it: the command line and what is behind it."""

import json

import pytest

from mqlab import lessons
from mqlab.errors import BadFile, BadValue
from mqlab.lessons import checking, report, skeleton


def test_a_new_lesson_can_be_opened_run_and_checked(mqlab, tmp_path):
    done = mqlab("lesson", "new", "why-slow")
    assert done.returncode == 0, done.stderr
    opened = lessons.open(str(tmp_path / "why-slow.toml"), file=tmp_path / "p.jsonl")
    assert opened.predict("first", C1=10, C2=0).right
    assert opened.fill("then", duplex=True).right
    checked = mqlab("lesson", "check", "why-slow.toml")
    assert checked.returncode == 1  # there is too little to do in it yet, and nothing else is wrong
    assert [line.strip() for line in checked.stdout.splitlines()[1:]] == [
        line for line in checking.problems(str(tmp_path / "why-slow.toml")) if " min" in line
    ]
    again = mqlab("lesson", "new", "why-slow")
    assert again.returncode == 2
    assert "already exists" in again.stderr


def test_all_lessons_pass_their_own_check(mqlab):
    done = mqlab("lesson", "check", "00-start-here", "01-first-network", "--json")
    assert done.returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"lesson": name, "problems": []} for name in ("00-start-here", "01-first-network")
    ]


FAULTS = [
    ('mistakes = ["connectors_lead_both_ways"]', "mistakes = []", "lists no mistakes"),
    (
        'mistakes = ["connectors_lead_both_ways"]',
        'mistakes = ["duplex_is_one_way"]',
        "gives the right answer",
    ),
    ('mistakes = ["connectors_lead_both_ways"]', 'mistakes = ["moon"]', "unknown mistake 'moon'"),
    ('kind = "received"\ntext', 'kind = "recieved"\ntext', "did you mean 'received'"),
    ("is = 10", "is = 11", "its solution does not pass"),
    ("is = 10", "is = 0", "its checks pass before anything is changed"),
    (
        'source = "Fuse 2, Network connectors, figure 2.1"',
        'source = ""',
        "lacks a concluding text (told) or a source",
    ),
    ('"Does B have a connector to forward over?"', "", "needs at least two hints"),
    ('figure = "fuse:2.1"\nkind', 'figure = "fuse:2.11"\nkind', "things in the first picture"),
    ('id = "first"', 'id = "other"', "other is not asked in the notebook"),
    ('duplex" = true', 'duplecks" = true', "cannot be run"),
]


@pytest.mark.parametrize(("old", "new", "word"), FAULTS, ids=lambda text: text[:30])
def test_each_fault_of_a_lesson_is_found(old, new, word, tmp_path):
    data, _ = skeleton.write("mine", tmp_path)
    text = data.read_text()
    assert old in text
    data.write_text(text.replace(old, new))
    assert any(word in line for line in checking.problems(str(data))), checking.problems(str(data))


def test_a_long_stretch_without_a_task_is_found(tmp_path):
    data, notebook = skeleton.write("mine", tmp_path)
    book = json.loads(notebook.read_text())
    book["cells"][-1]["source"] = "word " * 2000
    notebook.write_text(json.dumps(book))
    assert any("min without a task" in line for line in checking.problems(str(data)))


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "My Lesson!"])
def test_a_bad_name_is_refused(name, tmp_path):
    with pytest.raises(BadValue, match="not a valid lesson name: a name has letters, digits and hyphens"):
        skeleton.write(name, tmp_path)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BadFile, match=r"folder .*none does not exist; create it first"):
        skeleton.write("mine", tmp_path / "none")


@pytest.mark.parametrize(
    "text", ["", "title = 3", "not toml", "title = 't'\nquestion = 'q'\nminutes = 1\n[[predict]]"]
)
def test_a_bad_file_is_told(text, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(BadFile, match="bad"):
        lessons.open(str(file))
    with pytest.raises(BadFile, match="lesson not found"):
        lessons.open(str(tmp_path / "none.toml"))


@pytest.fixture
def class_folder(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    for name, tries in {"ana": [6], "bob": [4, 6], "cem": [4, 4], "dua": [12]}.items():
        opened = lessons.open("01-first-network", file=folder / f"{name}.jsonl")
        for first in tries:
            opened.predict("conduit", C1=first, C2=(12 - first) // 2, C3=(12 - first) // 2)
    return folder


def test_a_class_is_summarised(class_folder):
    (row,) = report.summarise(class_folder)
    assert (row.lesson, row.task, row.learners) == ("01-first-network", "conduit", 4)
    assert (row.done, row.first, row.tries) == (0.5, 0.25, 1.5)
    assert row.mistakes == (("conduit_counts_consumers", 2), ("nearest_takes_all", 1))
    assert row.open == ("cem", "dua")


def test_names_are_told_only_when_asked_for(class_folder, mqlab):
    plain = mqlab("workshop", "report", class_folder)
    assert plain.returncode == 0
    assert "conduit counts consumers: 2" in plain.stdout
    assert "cem" not in plain.stdout
    assert "cem" not in mqlab("workshop", "report", class_folder, "--json").stdout
    assert "cem, dua" in mqlab("workshop", "report", class_folder, "--names").stdout


def test_a_folder_without_progress_is_told(mqlab, tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        done = mqlab("workshop", "report", folder)
        assert done.returncode == 2
        assert "mqlab: " in done.stderr
