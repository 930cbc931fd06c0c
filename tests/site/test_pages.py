"""What stands in a page, read without a browser."""

import json
import re
import shutil

import pytest

import mqlab as mq
from mqlab.errors import BadFile, UnknownName
from mqlab.lessons import skeleton
from mqlab.lessons.data import Prediction
from mqlab.site import book, engine, prose
from mqlab.site.parts import ASKED
from mqlab.site.writing import Site

NAME = "04-dynamic-and-static"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    list(Site(folder).write(book.chosen([NAME])))
    return folder


def inside(folder, name=f"{NAME}.html"):
    """Return the values that a page takes with it."""
    text = (folder / name).read_text(encoding="utf-8")
    found = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    return [json.loads(one) for one in found]


@pytest.mark.slow
def test_every_prediction_has_the_run_of_its_lesson(folder):
    lesson = mq.lessons.open(NAME)
    shown = {one["task"]["id"]: one["picture"] for one in inside(folder) if "task" in one}
    assert list(shown) == [task.id for task in lesson.data.tasks]
    for task in lesson.data.tasks:
        if isinstance(task, Prediction):
            assert shown[task.id]["digest"] == lesson.trace(task.id).digest()


def test_every_cell_is_there_with_what_it_gave(folder):
    page = book.page(NAME)
    cells = [c for c in page.cells if c["cell_type"] == "code" and not ASKED.search(c["source"])]
    assert [one["source"] for one in inside(folder) if "source" in one] == [c["source"] for c in cells]
    text = (folder / f"{NAME}.html").read_text(encoding="utf-8")
    html = [output["data"]["text/html"] for cell in cells for output in cell["outputs"]
            if "text/html" in output.get("data", {})]  # fmt: skip
    assert html
    assert all("".join(one) in text for one in html)


def test_slides_have_two_for_a_prediction_and_notes(folder):
    text = (folder / "slides" / "04.html").read_text(encoding="utf-8")
    lesson = mq.lessons.open(NAME).data
    assert text.count('class="slide ') == 2 + 2 * len(lesson.tasks)
    assert lesson.instructor["goal"] in text
    pictures = [one for one in inside(folder, "slides/04.html") if one.get("columns")]
    assert len(pictures) == sum(isinstance(task, Prediction) for task in lesson.tasks)


def test_the_contents_have_questions_minutes_and_translations_of_what_is_there(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    page = book.page(NAME)
    assert re.findall(r'class="title" href="(.*?)"', text) == [page.path]
    assert page.lesson.question in text
    assert f"{page.minutes} minutes" in text
    for other in book.translations(page):
        assert f'href="{other.path}" lang="{other.language}"' in text


def test_a_lesson_of_ones_own_is_a_page_beside_others(folder, mqlab, tmp_path):
    skeleton.write("mine", tmp_path)
    shutil.copytree(folder, tmp_path / "site")
    done = mqlab("lessons", "mine.toml", "--html", "site", "--without-engine")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'class="title" href="(.*?)"', text) == ["mine.html", f"{NAME}.html"]
    assert 'href="slides/mine.html"' in text
    tasks = [one["task"] for one in inside(tmp_path / "site", "mine.html") if "task" in one]
    assert [(task["lesson"], task["id"]) for task in tasks] == [("mine.toml", "first"), ("mine.toml", "then")]
    assert '"files":{"mine.toml":"title' in (tmp_path / "site" / "mine.html").read_text(encoding="utf-8")
    for ending in ("toml", "ipynb"):  # called like one of the curriculum, it takes the place of that
        (tmp_path / f"mine.{ending}").rename(tmp_path / f"{NAME}.{ending}")
    assert mqlab("lessons", f"{NAME}.toml", "--html", "again", "--without-engine").returncode == 0
    assert sorted(file.name for file in (tmp_path / "again").glob("*.html")) == [
        f"{NAME}.html",
        "index.html",
        "terms.html",
    ]
    text = (tmp_path / "again" / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'class="title" href="(.*?)">(.*?)<', text) == [(f"{NAME}.html", "Mine")]
    assert not (tmp_path / "again" / "zh").exists()
    (tmp_path / f"{NAME}.ipynb").unlink()
    assert f"{NAME}.ipynb: there is no such notebook" in mqlab("lessons", f"{NAME}.toml").stderr
    assert "other.toml: lesson not found" in mqlab("lessons", "other.toml").stderr


def test_code_that_is_too_wide_is_scrolled_by_the_keyboard():
    told = prose.markdown("```python\nprint('<a>')\n```")
    assert '<pre tabindex="0"><code class="language-python">' in told
    assert "&lt;a&gt;" in told


def test_what_is_html_in_prose_is_text_and_names_of_pages_are_links():
    told = prose.markdown("so <script>1</script> `02-connectors` `x<y`", ["02-connectors"])
    assert "<script>" not in told
    assert '<a href="02-connectors.html"><code>02-connectors</code></a>' in told
    assert "<code>x&lt;y</code>" in told


def test_without_pyodide_it_is_told_what_to_do(tmp_path):
    with pytest.raises(BadFile, match=r"npm install pyodide@\d.*--engine.*--without-engine"):
        engine.find(tmp_path)


@pytest.mark.slow
def test_the_archive_is_the_same_each_time_and_has_what_is_needed(tmp_path):
    engine.archive(tmp_path / "a")
    engine.archive(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(engine.needed()) == ["lark"]


def test_an_unknown_lesson_and_a_folder_that_is_a_file_are_told(tmp_path):
    with pytest.raises(UnknownName, match="01-first-network"):
        book.chosen(["01-first-netwrok"])
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="name another folder"):
        list(Site(tmp_path / "file" / "inner").write(book.chosen([NAME])))


def test_the_command_lists_lessons_and_writes_pages(mqlab, tmp_path):
    rows = [json.loads(line) for line in mqlab("lessons", "--json").stdout.splitlines()]
    assert rows[1] == {"lesson": "01-first-network", "title": "A first network of brokers",
                       "question": "How many messages does each consumer receive?",
                       "minutes": rows[1]["minutes"]}  # fmt: skip
    done = mqlab("lessons", "--html", "out", "--without-engine", "00-start-here")
    assert "files in out" in done.stderr
    assert (tmp_path / "out" / "00-start-here.html").exists()
    told = mqlab("lessons", "--html", "out", "--engine", "nowhere")
    assert told.returncode == 2
    assert "npm install pyodide" in told.stderr
